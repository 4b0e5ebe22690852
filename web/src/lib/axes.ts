// The axes of the parallel coordinates: a parameter with few values is a ladder, a range is continuous,
// and the objective has a rung of its own for tasks without a value, so that failures stay in the picture.

import type { Experiment, TaskSummary, Value } from '../data/types';
import { finite, param, tick } from './format';
import { niceLinear, niceLog, scaler } from './scale';

export interface Axis {
  key: string;
  label: string;
  // Vertical place, 0 at the bottom and 1 on top; null where the task has no value on this axis.
  place: (task: TaskSummary) => number | null;
  ticks: { at: number; text: string }[];
  // What a brushed stretch means in words.
  words: (low: number, high: number) => string;
}

const LADDER = 12;
// The rung for "no value" lies below the rest.
const NONE = 0.04;
const FLOOR = 0.12;

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
  };
}

function ramp(
  key: string,
  numbers: number[],
  get: (task: TaskSummary) => number | null,
  log: boolean,
  format: (v: number) => string,
  none: boolean,
): Axis {
  let low = Math.min(...numbers);
  let high = Math.max(...numbers);
  if (low === high) [low, high] = log ? [low / 1.5, high * 1.5] : [low - 0.5, high + 0.5];
  const bottom = none ? FLOOR : 0;
  const to = scaler([low, high], [bottom, 1], log);
  const back = scaler([bottom, 1], log ? [Math.log(low), Math.log(high)] : [low, high]);
  const value = (place: number) => {
    const v = back(Math.max(bottom, place));
    return Number((log ? Math.exp(v) : v).toPrecision(4));
  };
  const same = numbers.every((v) => v === numbers[0]);
  const ticks = (same ? [numbers[0]] : log ? niceLog(low, high, 7) : niceLinear(low, high, 5)).map((v) => ({
    at: to(v),
    text: format(v),
  }));
  if (none) ticks.push({ at: NONE, text: 'none' });
  return {
    key,
    label: key,
    ticks,
    place: (task) => {
      const v = get(task);
      return v === null ? (none ? NONE : null) : to(v);
    },
    // Four digits are enough for a range that was dragged.
    words: (a, b) =>
      b <= FLOOR && none
        ? `${key} none`
        : b >= 0.995
          ? `${key} ≥ ${format(value(a))}`
          : a <= bottom + 0.005
            ? `${key} ≤ ${format(value(b))}`
            : `${key} ${format(value(a))} to ${format(value(b))}`,
  };
}

export function buildAxes(e: Experiment, tasks: TaskSummary[]): Axis[] {
  const axes: Axis[] = [];
  for (const name of e.varying) {
    const declared = e.parameters.find((p) => p.name === name);
    const seen = tasks.map((t) => t.parameters[name]).filter((v) => v !== undefined && v !== null);
    // All choices are on the axis from the beginning, so that it does not move while tasks start.
    const values = [...new Set([...(declared?.kind === 'choice' ? (declared.values ?? []) : []), ...seen])] as Value[];
    if (!values.length) continue;
    const numbers = values.filter((v): v is number => typeof v === 'number');
    if (numbers.length === values.length && values.length > LADDER) {
      const log =
        (declared?.scale === 'log' || Math.max(...numbers) / Math.min(...numbers) >= 1000) && Math.min(...numbers) > 0;
      axes.push(ramp(name, numbers, (t) => finite(t.parameters[name] as number), log, param, false));
    } else {
      values.sort((a, b) =>
        typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b)),
      );
      axes.push(ladder(name, values, (t) => t.parameters[name]));
    }
  }
  const epochs = tasks.map((t) => t.epoch).filter((v): v is number => v !== null);
  if (new Set(epochs).size > 1) {
    // where all ran as long, the axis says nothing
    const axis = ramp(`${e.step_name || 'epoch'}s run`, epochs, (t) => t.epoch, false, String, false);
    axes.push({ ...axis, ticks: axis.ticks.filter((t) => /^\d+$/.test(t.text)) });
  }
  const best = tasks.map((t) => finite(t.best?.value)).filter((v): v is number => v !== null);
  if (best.length) {
    const positive = Math.min(...best) > 0;
    const value = (t: TaskSummary) => (t.state === 'error' ? null : finite(t.best?.value));
    const none = tasks.some((t) => t.finished !== null && value(t) === null);
    axes.push(ramp(e.objective[0]?.metric ?? 'best', best, value, positive, tick, none));
  }
  return axes;
}
