// The columns of the table of tasks: which there are, which are shown, and how their values read. A column's key is its
// name in the daemon's order and filter, so that sorting works over all tasks.
import type { Experiment, Metric, TaskSummary, Value } from '../data/types';
import { bytes, duration, energy, finite, metric, param, when } from './format';
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

// One way of writing for a whole column, so that digits stand below each other: three significant digits of the value
// in the middle, exponents for all where the values span decades, whole numbers as they are.
export function aligned(values: (Value | undefined)[]): (value: Value | undefined) => string | null {
  const numbers = values.filter((v): v is number => typeof v === 'number' && Number.isFinite(v) && v !== 0);
  const sizes = numbers.map(Math.abs).sort((a, b) => a - b);
  const whole = numbers.every(Number.isInteger);
  const low = sizes[0] ?? 1;
  const high = sizes[sizes.length - 1] ?? 1;
  const decades = !whole && (high / low >= 1e3 || high < 1e-3 || high >= 1e6);
  const middle = sizes[sizes.length >> 1] ?? 1;
  const digits = Math.min(6, Math.max(0, 2 - Math.floor(Math.log10(middle))));
  // Few digits that were typed stay as they were typed: 0.1, 0.01.
  const short =
    new Set(numbers).size <= 12 && numbers.every((v) => String(v).replace(/^-?0?\.?0*|\./g, '').length <= 3);
  return (value) => {
    if (value === undefined || value === null) return null;
    if (typeof value !== 'number' || short || whole || !Number.isFinite(value)) return param(value);
    if (decades) return value === 0 ? '0' : value.toExponential(2).replace('e+', 'e');
    return value.toFixed(digits);
  };
}

// The same for results: three significant digits of the value in the middle, more where they tell values apart.
export function alignedResults(values: (Metric | null | undefined)[]): (value: Metric) => string {
  const numbers = values.map(finite).filter((v): v is number => v !== null);
  const sizes = numbers
    .map(Math.abs)
    .filter((v) => v > 0)
    .sort((a, b) => a - b);
  const [low, high] = [sizes[0] ?? 1, sizes[sizes.length - 1] ?? 1];
  const decades = high / low >= 1e4 || high < 1e-3 || high >= 1e6;
  const middle = sizes[sizes.length >> 1] ?? 1;
  const spread =
    numbers.reduce((a, b) => Math.max(a, b), -Infinity) - numbers.reduce((a, b) => Math.min(a, b), Infinity);
  const apart = spread > 0 ? 1 - Math.floor(Math.log10(spread)) : 0;
  const digits = Math.min(6, Math.max(0, 2 - Math.floor(Math.log10(middle)), apart));
  const whole = numbers.every(Number.isInteger);
  return (value) => {
    // Before the tasks are there, nothing says how many digits tell them apart.
    if (finite(value) === null || !numbers.length) return metric(value);
    if (whole && high < 1e6) return String(value);
    if (decades) return value === 0 ? '0' : (value as number).toExponential(2).replace('e+', 'e');
    return (value as number).toFixed(digits);
  };
}

// How the first objective is written in strip, table and chart.
export const bestFormat = (tasks: TaskSummary[]) => alignedResults(tasks.map(bestValue));

const known = (value: Metric | null | undefined) => (value === null || value === undefined ? null : value);

// The best value; NaN where there was never a number.
export function bestValue(task: TaskSummary): Metric | null {
  return known(task.best?.value) ?? (task.last && finite(task.last.value) === null ? task.last.value : null);
}

function parameters(e: Experiment, tasks: TaskSummary[]): Column[] {
  return e.parameters.map(({ name }) => {
    const format = aligned(tasks.map((t) => t.parameters[name]));
    const value = (t: TaskSummary) => t.parameters[name];
    return {
      key: `p.${name}`,
      label: name,
      group: 'Parameters',
      text: (t) => format(value(t)),
      full: (t) => (value(t) === undefined ? null : String(value(t))),
      usual: e.varying.includes(name),
    };
  });
}

function results(e: Experiment, tasks: TaskSummary[]): Column[] {
  const step = e.step_name || 'epoch';
  const [first, ...further] = e.objective.map((o) => o.metric);
  const at = (name: string, which: 'best' | 'last', label: string): Column => {
    const value = (t: TaskSummary) => known(t.values?.[name]?.[which]);
    const format = alignedResults(tasks.map(value));
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
      text: (t) => (t.best ? String(t.best.epoch ?? '') || null : null),
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
