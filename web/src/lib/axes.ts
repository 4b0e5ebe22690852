// The axes of the parallel coordinates: a parameter with few values is a ladder, a range is continuous,
// and the objective has a rung of its own for tasks without a value, so that failures stay in the picture.

import type { Experiment, TaskSummary, Value } from '../data/types';
import { finite, param, tick } from './format';
import { own } from './own';
import { niceLinear, niceLog, scaler } from './scale';

export interface Axis {
  key: string;
  label: string;
  // Vertical place, 0 at the bottom and 1 on top; null where the task has no value on this axis.
  place: (task: TaskSummary) => number | null;
  // The place of the rung for tasks without a value, where there is one: a brush holds it only if it was dragged there.
  none?: number;
  ticks: { at: number; text: string }[];
  // What a brushed stretch means in words.
  words: (low: number, high: number) => string;
  // The same for the address, which must mean the same when the axis has grown.
  write: (low: number, high: number) => string;
  read: (text: string) => [number, number] | null;
}

export type Brushes = Record<string, [number, number]>;

// Every brush as `axis:from~to`; an axis that is gone is left out.
export function writeBrushes(brushes: Brushes, axes: Axis[]): string {
  return axes
    .filter((axis) => own(brushes, axis.key))
    .map((axis) => `${axis.key}:${axis.write(...brushes[axis.key])}`)
    .join(';');
}

export function readBrushes(text: string, axes: Axis[]): Brushes {
  const out: Brushes = Object.create(null); // a metric may be called __proto__
  for (const part of text.split(';')) {
    const cut = part.lastIndexOf(':');
    const axis = axes.find((a) => a.key === part.slice(0, cut));
    const range = cut > 0 ? axis?.read(part.slice(cut + 1)) : null;
    if (axis && range) out[axis.key] = range;
  }
  return out;
}

const ends = (text: string) => {
  const [low, high] = text.split('~');
  return low === undefined || high === undefined ? null : [low, high];
};

const LADDER = 12;
// The rung for "no value" lies below the rest.
const NONE = 0.04;
const FLOOR = 0.12;
// A brush that ends above this goes to the top.
const FULL = 0.995;

function ladder(key: string, values: Value[], get: (task: TaskSummary) => Value | undefined): Axis {
  const places = new Map(values.map((value, i) => [value, (i + 0.5) / values.length]));
  return {
    key,
    label: key,
    place: (task) => places.get(get(task) as Value) ?? null,
    ticks: values.map((value) => ({ at: places.get(value)!, text: param(value) })),
    words: (low, high) =>
      `${key} ${
        values
          .filter((value) => places.get(value)! >= low && places.get(value)! <= high)
          .map(param)
          .join(', ') || 'none'
      }`,
    write: (low, high) => `${low.toFixed(3)}~${high.toFixed(3)}`,
    read: (text) => {
      const [low, high] = (ends(text) ?? []).map(Number);
      return low <= high ? [low, high] : null;
    },
  };
}

function ramp(
  key: string,
  bounds: [number, number],
  get: (task: TaskSummary) => number | null,
  log: boolean,
  format: (v: number) => string,
  none: boolean,
  whole = false,
): Axis {
  let [low, high] = bounds;
  const same = low === high;
  if (same) [low, high] = log ? [low / 1.5, high * 1.5] : [low - 0.5, high + 0.5];
  const bottom = none ? FLOOR : 0;
  const to = scaler([low, high], [bottom, 1], log);
  const back = scaler([bottom, 1], log ? [Math.log(low), Math.log(high)] : [low, high]);
  // Four digits are enough for a range that was dragged.
  const value = (place: number) => {
    const v = back(Math.max(bottom, place));
    return Number((log ? Math.exp(v) : v).toPrecision(4));
  };
  // Of whole numbers: those inside, and none where there is none between the two.
  const empty = (a: number, b: number) => whole && Math.ceil(value(a)) > Math.floor(value(b));
  const from = (place: number) => (whole ? Math.ceil(value(place)) : value(place));
  const till = (place: number) => (whole ? Math.floor(value(place)) : value(place));
  const ticks = (same ? [bounds[0]] : log ? niceLog(low, high, 7) : niceLinear(low, high, 5))
    .filter((v) => !whole || Number.isInteger(v))
    .map((v) => ({ at: to(v), text: format(v) }));
  if (none) ticks.push({ at: NONE, text: 'none' });
  return {
    key,
    label: key,
    none: none ? NONE : undefined,
    ticks,
    place: (task) => {
      const v = get(task);
      return v === null ? (none ? NONE : null) : to(v);
    },
    words: (a, b) => {
      if (none && b < FLOOR) return `${key} none`;
      if (none && a <= NONE && b >= FULL) return `${key} any`;
      if (empty(a, b)) return `${key} none`;
      if (b >= FULL) return `${key} ≥ ${format(from(a))}`;
      if (a <= bottom + 0.005) return `${key} ≤ ${format(till(b))}`;
      return from(a) === till(b) ? `${key} ${format(from(a))}` : `${key} ${format(from(a))} to ${format(till(b))}`;
    },
    write: (a, b) => {
      if (none && b < FLOOR) return 'none~none';
      const [low, high] = empty(a, b) ? [value(a), value(b)] : [from(a), till(b)];
      return `${a <= bottom + 0.005 ? '' : low}~${b >= FULL ? '' : high}`;
    },
    read: (text) => {
      if (none && text === 'none~none') return [0, (NONE + FLOOR) / 2];
      const [from, till] = ends(text) ?? ['x', 'x'];
      const range: [number, number] = [from === '' ? 0 : to(Number(from)), till === '' ? 1 : to(Number(till))];
      return range[0] <= range[1] ? range : null;
    },
  };
}

// Does a brushed stretch keep the task? It agrees with the words: "≤ 0.33" does not mean tasks without a value.
export function keeps(axis: Axis, task: TaskSummary, low: number, high: number): boolean {
  const at = axis.place(task);
  if (at === null) return false;
  if (axis.none === undefined || at !== axis.none) return at >= low && at <= high;
  return high < FLOOR || (low <= NONE && high >= FULL);
}

// The parameter that says how long a task runs, where the count of steps says the same.
export function lengthName(e: Experiment, tasks: TaskSummary[]): string | null {
  const name = (e.spec?.fidelity as { parameter?: string } | undefined)?.parameter;
  const ran = tasks.filter((t) => t.state === 'finished' && t.epoch !== null);
  return name && ran.length && ran.every((t) => t.epoch === own(t.parameters, name)) ? name : null;
}

export function buildAxes(e: Experiment, tasks: TaskSummary[]): Axis[] {
  const axes: Axis[] = [];
  const epochs = tasks.map((t) => t.epoch).filter((v): v is number => v !== null);
  const lengths = new Set(epochs).size > 1;
  const same = lengths ? lengthName(e, tasks) : null;
  for (const name of e.varying) {
    if (name === same) continue;
    const declared = e.parameters.find((p) => p.name === name);
    const seen = tasks.map((t) => own(t.parameters, name)).filter((v) => v !== undefined && v !== null);
    // All choices are on the axis from the beginning, so that it does not move while tasks start.
    const values = [...new Set([...(declared?.kind === 'choice' ? (declared.values ?? []) : []), ...seen])] as Value[];
    const range = declared?.kind === 'range' && typeof declared.min === 'number' && typeof declared.max === 'number';
    if (!values.length && !range) continue;
    const numbers = values.filter((v): v is number => typeof v === 'number');
    const value = (t: TaskSummary) => finite(own(t.parameters, name) as number);
    if (range) {
      // A range is a range from the first task on; suggested and imported values may lie outside.
      const bounds: [number, number] = [least([declared.min!, ...numbers]), most([declared.max!, ...numbers])];
      const log = declared.scale === 'log' && bounds[0] > 0;
      axes.push(ramp(name, bounds, value, log, param, false, declared.integer === true));
    } else if (numbers.length === values.length && values.length > LADDER) {
      const [low, high] = [least(numbers), most(numbers)];
      const log = (declared?.scale === 'log' || high / low >= 1000) && low > 0;
      axes.push(ramp(name, [low, high], value, log, param, false, numbers.every(Number.isInteger)));
    } else {
      values.sort((a, b) =>
        typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b)),
      );
      axes.push(ladder(name, values, (t) => own(t.parameters, name)));
    }
  }
  if (lengths) {
    // where all ran as long, the axis says nothing
    const axis = ramp(
      `${e.step_name || 'epoch'}s run`,
      [least(epochs), most(epochs)],
      (t) => t.epoch,
      false,
      String,
      false,
      epochs.every(Number.isInteger),
    );
    axes.push(axis);
  }
  const best = tasks.map((t) => finite(t.best?.value)).filter((v): v is number => v !== null);
  if (best.length) axes.push(result(e.objective[0]?.metric ?? 'best', tasks, (t) => finite(t.best?.value)));
  for (const { metric } of e.objective.slice(1))
    if (tasks.some((t) => finite(own(t.values, metric)?.best) !== null))
      axes.push(result(metric, tasks, (t) => finite(own(t.values, metric)?.best)));
  return axes;
}

// An axis of results, with a rung for tasks that have none.
function result(name: string, tasks: TaskSummary[], value: (t: TaskSummary) => number | null): Axis {
  const numbers = tasks.map(value).filter((v): v is number => v !== null);
  const none = tasks.some((t) => t.finished !== null && value(t) === null);
  const [low, high] = [least(numbers), most(numbers)];
  return ramp(name, [low, high], value, low > 0, tick, none);
}

// Not Math.min(...list): a list of a hundred thousand arguments is too long.
const least = (list: number[]) => list.reduce((a, b) => (b < a ? b : a));
const most = (list: number[]) => list.reduce((a, b) => (b > a ? b : a));
