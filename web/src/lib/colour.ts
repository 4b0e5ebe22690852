// Which colour a configuration's curve has: by one parameter, never by run. Few values get separate hues;
// a range gets a ramp.
import type { Parameter, TaskSummary, Value } from '../data/types';
import { own } from './own';
import { token } from './theme';

export const HUES = 8;
const LISTED = 12;
const RAMP = 5;

export type Colourable = Pick<TaskSummary, 'parameters'>;

export interface Colouring {
  name: string | null;
  // An index into the hues, or a place on the ramp from 0 to 1.
  of: (task: Colourable) => { css: string };
  legend: { label: Value; css: string }[];
  ramp: { low: number; high: number; log: boolean } | null;
  // More words than a legend lists: the ends of the ramp that they are spread over.
  between?: { first: Value; last: Value; count: number };
  // How the ends of the ramp are written, where they are no values of a parameter.
  format?: (v: number) => string;
}

// A colour of a few dozen: charts of very many points have one shape for each.
export function coarse(css: string): string {
  if (!/^#[0-9a-f]{6}$/i.test(css)) return css;
  const part = (i: number) => Math.min(255, Math.round(parseInt(css.slice(1 + 2 * i, 3 + 2 * i), 16) / 12) * 12);
  return `#${[0, 1, 2].map((i) => part(i).toString(16).padStart(2, '0')).join('')}`;
}

function mix(a: string, b: string, share: number): string {
  const part = (hex: string, i: number) => parseInt(hex.slice(1 + 2 * i, 3 + 2 * i), 16);
  const out = [0, 1, 2].map((i) => Math.round(part(a, i) * (1 - share) + part(b, i) * share));
  return `#${out.map((n) => n.toString(16).padStart(2, '0')).join('')}`;
}

export function rampColour(place: number): string {
  const at = Math.min(1, Math.max(0, place)) * (RAMP - 1);
  const low = Math.min(RAMP - 2, Math.floor(at));
  return mix(token(`--r${low + 1}`), token(`--r${low + 2}`), at - low);
}

export function hue(index: number): string {
  return token(`--c${(index % HUES) + 1}`);
}

function compare(a: Value, b: Value): number {
  return typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b));
}

export function colouring(parameter: Parameter | undefined, tasks: Iterable<TaskSummary>): Colouring {
  if (!parameter) {
    const css = hue(1);
    return { name: null, of: () => ({ css }), legend: [], ramp: null };
  }
  const name = parameter.name;
  const seen = new Set<Value>(parameter.kind === 'choice' ? (parameter.values ?? []) : []);
  for (const task of tasks) {
    const value = own(task.parameters, name);
    if (value !== undefined) seen.add(value);
  }
  const values = [...seen].sort(compare);
  const muted = token('--text-3');
  if (parameter.kind === 'range') return ramp(parameter, values);
  if (values.length <= HUES) {
    const map = new Map(values.map((value, i) => [value, hue(i)]));
    return {
      name,
      of: (task) => ({ css: map.get(own(task.parameters, name)!) ?? muted }),
      legend: values.map((value) => ({ label: value, css: map.get(value)! })),
      ramp: null,
    };
  }
  const numbers = values.filter((value): value is number => typeof value === 'number');
  if (numbers.length < values.length) {
    const all = values.map((label, i) => ({ label, css: rampColour(i / (values.length - 1)) }));
    const map = new Map(all.map(({ label, css }) => [label, css]));
    const listed = all.length <= LISTED;
    return {
      name,
      of: (task) => ({ css: map.get(own(task.parameters, name)!) ?? muted }),
      legend: listed ? all : [],
      ramp: null,
      between: listed ? undefined : { first: values[0], last: values[values.length - 1], count: values.length },
    };
  }
  return ramp(parameter, values);
}

// From the declared bounds, so that no colour changes while tasks start; what lies beyond has the colour of the end.
function ramp(parameter: Parameter, values: Value[]): Colouring {
  const name = parameter.name;
  const muted = token('--text-3');
  const numbers = values.filter((value): value is number => typeof value === 'number');
  const low = parameter.min ?? numbers[0] ?? 0;
  const high = parameter.max ?? numbers[numbers.length - 1] ?? 1;
  const log = low > 0 && (parameter.scale === 'log' || (parameter.kind !== 'range' && high / low >= 100));
  const place = (value: number) =>
    high === low ? 0.5 : log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
  // Asked for by every chart, for every task, at every change.
  const made = new Map<number, { css: string }>();
  return {
    name,
    of: (task) => {
      const value = own(task.parameters, name);
      if (typeof value !== 'number') return { css: muted };
      if (!made.has(value)) made.set(value, { css: rampColour(place(value)) });
      return made.get(value)!;
    },
    legend: [],
    ramp: { low, high, log },
  };
}
