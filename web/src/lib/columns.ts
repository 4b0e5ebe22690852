// The columns of the table of tasks: which there are, which are shown, and how their values read. A column's key is its
// name in the daemon's order and filter, so that sorting works over all tasks.
import type { Experiment, Metric, TaskSummary, Value } from '../data/types';
import { lengthName } from './axes';
import { bytes, count, decimals, duration, energy, finite, metric, param, power, when } from './format';
import { own } from './own';
import { plain } from './text';

export interface Column {
  key: string;
  label: string;
  // What the column is of, in the list of columns to choose from.
  group: 'Parameters' | 'Results' | 'Costs' | 'Other';
  text: (task: TaskSummary) => string | null;
  // The value in full, for the title.
  full?: (task: TaskSummary) => string | null;
  // Why it is not what the task's file says; null: it is.
  counted?: (task: TaskSummary) => string | null;
  left?: boolean;
  // Shown unless it is taken away.
  usual?: boolean;
  // A further metric that the list of tasks has to carry.
  metric?: string;
}

// One way of writing for a whole column, with three significant digits of each value: exponents for all where the
// values span decades, whole numbers and the few digits that someone typed as they are.
export function aligned(values: (Value | undefined)[]): (value: Value | undefined) => string | null {
  const numbers = values.filter((v): v is number => typeof v === 'number' && Number.isFinite(v) && v !== 0);
  const whole = numbers.every(Number.isInteger);
  const short =
    new Set(numbers).size <= 12 && numbers.every((v) => String(v).replace(/^-?0?\.?0*|\./g, '').length <= 3);
  const write = significant(numbers, 1e3);
  return (value) => {
    if (value === undefined || value === null) return null;
    if (typeof value !== 'number' || short || whole || !Number.isFinite(value)) return param(value);
    return write(value);
  };
}

// The same for results: three significant digits, more where they tell values apart.
export function alignedResults(values: (Metric | null | undefined)[]): (value: Metric) => string {
  const numbers = values.map(finite).filter((v): v is number => v !== null);
  const spread =
    numbers.reduce((a, b) => Math.max(a, b), -Infinity) - numbers.reduce((a, b) => Math.min(a, b), Infinity);
  const apart = spread > 0 ? Math.min(6, Math.max(0, 1 - Math.floor(Math.log10(spread)))) : 0;
  const write = significant(numbers, 1e4, apart);
  const whole = numbers.every((v) => Number.isInteger(v) && Math.abs(v) < 1e6);
  return (value) => {
    // Before the tasks are there, nothing says how many digits tell them apart.
    if (finite(value) === null || !numbers.length) return metric(value);
    return whole ? count(value as number) : write(value as number);
  };
}

// `ratio` of the largest to the smallest: from there on all have an exponent. `least` digits after the point.
function significant(numbers: number[], ratio: number, least = 0): (value: number) => string {
  let low = Infinity;
  let high = 0;
  for (const size of numbers.map(Math.abs)) {
    if (size > high) high = size;
    if (size > 0 && size < low) low = size;
  }
  if (high >= low * ratio || (high > 0 && high < 1e-3) || high >= 1e6)
    return (value) => (value !== 0 && Math.abs(value) < 0.1 ? power(value) : metric(value));
  const digits = (value: number) => Math.max(least, decimals(value));
  return (value) => value.toFixed(digits(value));
}

const FIGURE_SPACE = '\u2007';
const PUNCTUATION_SPACE = '\u2008';

// What stands behind the point of a plain number, with it; the others are not aligned.
function behind(text: string | null): number {
  const found = text === null ? null : /^-?[\d,]+(\.\d+)?$/.exec(text);
  return found ? (found[1]?.length ?? 0) : -1;
}

// Spaces as wide as digits behind the shorter ones, so that points stand below each other.
export function linedUp<T>(values: T[], text: (value: T) => string | null): (value: T) => string | null {
  // Most columns are never shown, so this waits for the first of its cells.
  let most: number | undefined;
  return (value) => {
    most ??= values.reduce((longest, one) => Math.max(longest, behind(text(one))), 0);
    const written = text(value);
    const there = behind(written);
    if (written === null || there < 0 || there >= most) return written;
    return written + (there ? '' : PUNCTUATION_SPACE) + FIGURE_SPACE.repeat(most - there - (there ? 0 : 1));
  };
}

// How the first objective is written in strip and chart; the column of the table has its points below each other.
export const bestFormat = (tasks: TaskSummary[]) => alignedResults(tasks.map(bestValue));

const known = (value: Metric | null | undefined) => (value === null || value === undefined ? null : value);

// The best value; NaN where there was never a number.
export function bestValue(task: TaskSummary): Metric | null {
  return known(task.best?.value) ?? (task.last && finite(task.last.value) === null ? task.last.value : null);
}

function parameters(e: Experiment, tasks: TaskSummary[]): Column[] {
  // The column of epochs has the same numbers.
  const length = lengthName(e, tasks);
  return e.parameters.map(({ name }) => {
    const value = (t: TaskSummary) => own(t.parameters, name);
    const all = tasks.map(value);
    const format = linedUp(all, aligned(all));
    return {
      key: `p.${name}`,
      label: name,
      group: 'Parameters',
      text: (t) => format(value(t)),
      full: (t) => (value(t) === undefined ? null : String(value(t))),
      usual: e.varying.includes(name) && name !== length,
    };
  });
}

// What was imported is a value without a curve.
export const ranHere = (task: TaskSummary) => task.attempt > 0;

function results(e: Experiment, tasks: TaskSummary[]): Column[] {
  const step = e.step_name || 'epoch';
  const [first, ...further] = e.objective.map((o) => o.metric);
  const at = (name: string, which: 'best' | 'last', label: string): Column => {
    const value = (t: TaskSummary) => known(own(t.values, name)?.[which]);
    const all = tasks.map(value).filter((v) => v !== null);
    const format = linedUp(all, alignedResults(all));
    return {
      key: which === 'best' ? `m.${name}` : `last.${name}`,
      label,
      group: 'Results',
      text: (t) => (value(t) === null ? null : format(value(t)!)),
      full: (t) => (value(t) === null ? null : String(value(t))),
      usual: which === 'best' && further.includes(name),
      metric: name,
    };
  };
  return [
    ...further.map((name) => at(name, 'best', name)),
    {
      key: 'at',
      label: `At ${step}`,
      group: 'Results',
      text: (t) => (t.best && ranHere(t) ? String(t.best.epoch ?? '') || null : null),
      counted: (t) => t.renumbered ?? null,
      usual: true,
    },
    ...e.metrics.filter((m) => m !== first && !further.includes(m)).map((m) => at(m, 'best', `${m} at best`)),
    ...e.metrics.map((m) => at(m, 'last', `${m}, last`)),
  ];
}

const COSTS: Column[] = [
  { key: 'energy', label: 'Energy', group: 'Costs', usual: true, text: (t) => measured(t.cost.energy_j, energy) },
  { key: 'cpu_time', label: 'CPU time', group: 'Costs', text: (t) => measured(t.cost.cpu_s, duration) },
  { key: 'gpu_time', label: 'GPU time', group: 'Costs', text: (t) => measured(t.cost.gpu_s, duration) },
  { key: 'memory', label: 'Memory', group: 'Costs', text: (t) => measured(t.cost.max_rss_bytes, bytes) },
];
const OTHER: Column[] = [
  { key: 'cause', label: 'Cause', group: 'Other', left: true, text: (t) => t.cause?.text ?? null },
  {
    key: 'tags',
    label: 'Tags',
    group: 'Other',
    left: true,
    usual: true,
    text: (t) => t.tags?.map(plain).join(', ') || null,
  },
  { key: 'node', label: 'Node', group: 'Other', left: true, text: (t) => t.node },
  { key: 'job', label: 'Job', group: 'Other', left: true, text: (t) => t.job },
  { key: 'started', label: 'Started', group: 'Other', text: (t) => (t.started ? when(t.started) : null) },
  { key: 'attempt', label: 'Attempts', group: 'Other', text: (t) => String(t.attempt) },
];

function measured(value: number | null | undefined, format: (v: number) => string): string | null {
  return value === null || value === undefined ? null : format(value);
}

// All columns besides number, state, epoch, best and time, which are always there.
export function allColumns(e: Experiment, tasks: TaskSummary[]): Column[] {
  return [...parameters(e, tasks), ...results(e, tasks), ...COSTS, ...OTHER];
}

// `more` are keys that the user added, `fewer` those that were taken away. A usual column without a single value is
// left out.
export function shownColumns(all: Column[], more: string[], fewer: string[], tasks: TaskSummary[]): Column[] {
  return all.filter((column) => {
    if (fewer.includes(column.key)) return false;
    if (more.includes(column.key)) return true;
    return column.usual && (column.group === 'Parameters' || tasks.some((t) => column.text(t) !== null));
  });
}
