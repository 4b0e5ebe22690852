// One axis of a chart of points: numbers on a line or by their logarithm, other values as steps.
import type { Value } from '../data/types';
import { param } from './format';
import { niceLinear, niceLog, scaler } from './scale';

export interface Spread {
  // From 0 to 1; null where the value has no place.
  place: (value: Value | null | undefined) => number | null;
  // The number at a place; null on an axis of steps.
  value: ((place: number) => number) | null;
  ticks: { at: number; text: string }[];
  log: boolean;
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
  { log, about = 5, choice = false }: { log?: boolean; about?: number; choice?: boolean } = {},
): Spread {
  const there = values.filter(known);
  const numbers = there.filter((v): v is number => typeof v === 'number' && Number.isFinite(v));
  if (choice || !numbers.length || there.some((v) => typeof v !== 'number')) return steps([...new Set(there)]);
  const low = numbers.reduce((a, b) => Math.min(a, b));
  const high = numbers.reduce((a, b) => Math.max(a, b));
  const byLog = log !== false && low > 0 && high / low >= 10 ** (log ? DECADES_ASKED : DECADES);
  const f = byLog ? Math.log : (v: number) => v;
  const pad = (f(high) - f(low)) * ROOM || (byLog ? 0.1 : Math.abs(low) * 0.1 || 0.5);
  const [a, b] = [f(low) - pad, f(high) + pad];
  const to = scaler([a, b], [0, 1]);
  const back = (place: number) => a + place * (b - a);
  const ends: [number, number] = byLog ? [Math.exp(a), Math.exp(b)] : [a, b];
  const ticks = (byLog ? niceLog(...ends, about) : niceLinear(...ends, about)).filter(
    (v) => v >= ends[0] && v <= ends[1],
  );
  return {
    place: (v) => (typeof v === 'number' && Number.isFinite(v) && (!byLog || v > 0) ? to(f(v)) : null),
    value: (place) => (byLog ? Math.exp(back(place)) : back(place)),
    ticks: ticks.map((v) => ({ at: to(f(v)), text: format(v) })),
    log: byLog,
  };
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
  };
}
