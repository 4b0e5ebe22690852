// One axis of a chart of points: numbers on a line or by their logarithm, other values as steps.
import type { Experiment, Value } from '../data/types';
import { param } from './format';
import { niceLinear, niceLog, scaler } from './scale';

export interface Spread {
  // From 0 to 1; null where the value has no place.
  place: (value: Value | null | undefined) => number | null;
  // The number at a place; null on an axis of steps.
  value: ((place: number) => number) | null;
  ticks: { at: number; text: string }[];
  log: boolean;
  // How much of the axis one step has; 0 on a line.
  step: number;
}

export interface SpreadOptions {
  // Over how many decades numbers are shown by their logarithm: more where it is not asked for.
  log?: boolean;
  about?: number;
  choice?: boolean;
  // As it was declared: nothing is guessed from the values then, and the axis reaches over the bounds.
  scale?: 'log' | 'linear';
  bounds?: [number, number];
  // No tick between two whole numbers.
  whole?: boolean;
}

const ROOM = 0.04;
// Numbers over this many powers of ten are shown by their logarithm, and over the smaller one where it is asked for.
const DECADES = 2;
const DECADES_ASKED = 1;
const STEPS_NAMED = 12;

const known = (v: Value | null | undefined): v is Exclude<Value, null> => v !== null && v !== undefined;

export function spread(
  values: (Value | null | undefined)[],
  format: (v: number) => string,
  { log, about = 5, choice = false, scale, bounds, whole = false }: SpreadOptions = {},
): Spread {
  const there = values.filter(known);
  const numbers = there.filter((v): v is number => typeof v === 'number' && Number.isFinite(v));
  if (choice || !numbers.length || there.some((v) => typeof v !== 'number')) return steps([...new Set(there)]);
  const low = numbers.reduce((a, b) => Math.min(a, b), bounds?.[0] ?? Infinity);
  const high = numbers.reduce((a, b) => Math.max(a, b), bounds?.[1] ?? -Infinity);
  const far = log !== false && high / low >= 10 ** (log ? DECADES_ASKED : DECADES);
  const byLog = low > 0 && (scale ? scale === 'log' : far);
  const f = byLog ? Math.log : (v: number) => v;
  const pad = (f(high) - f(low)) * ROOM || (byLog ? 0.1 : Math.abs(low) * 0.1 || 0.5);
  const [a, b] = [f(low) - pad, f(high) + pad];
  const to = scaler([a, b], [0, 1]);
  const back = (place: number) => a + place * (b - a);
  const ends: [number, number] = byLog ? [Math.exp(a), Math.exp(b)] : [a, b];
  const ticks = (byLog ? niceLog(...ends, about) : niceLinear(...ends, about)).filter(
    (v) => v >= ends[0] && v <= ends[1] && (!whole || Number.isInteger(v)),
  );
  return {
    place: (v) => (typeof v === 'number' && Number.isFinite(v) && (!byLog || v > 0) ? to(f(v)) : null),
    value: (place) => (byLog ? Math.exp(back(place)) : back(place)),
    ticks: ticks.map((v) => ({ at: to(f(v)), text: format(v) })),
    log: byLog,
    step: 0,
  };
}

// How a parameter was declared, for its axis.
export function declared(e: Experiment, name: string): SpreadOptions {
  const p = e.parameters.find((one) => one.name === name);
  if (p?.kind === 'choice') return { choice: true };
  if (p?.kind !== 'range' || typeof p.min !== 'number' || typeof p.max !== 'number') return {};
  return { scale: p.scale === 'log' ? 'log' : 'linear', bounds: [p.min, p.max], whole: p.integer === true };
}

// From -1 to 1, always the same for a task: where it lies beside the others of its step.
export function aside(number: number, salt = 0): number {
  let h = Math.imul(number + 1 + salt * 7919, 0x9e3779b1);
  h = Math.imul(h ^ (h >>> 15), 0x85ebca6b);
  return (((h ^ (h >>> 13)) >>> 0) / 0xffffffff) * 2 - 1;
}

function steps(values: Value[]): Spread {
  values.sort((a, b) => (typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b))));
  const places = new Map(values.map((v, i) => [v, (i + 0.5) / values.length]));
  const every = Math.ceil(values.length / STEPS_NAMED);
  return {
    place: (v) => (known(v) ? (places.get(v) ?? null) : null),
    value: null,
    ticks: values.filter((_, i) => i % every === 0).map((v) => ({ at: places.get(v)!, text: param(v).slice(0, 14) })),
    log: false,
    step: 1 / Math.max(1, values.length),
  };
}
