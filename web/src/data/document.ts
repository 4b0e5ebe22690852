// The search of an experiment as the dialogs that change it show it. The form has the whole file (tree.ts).
import { isTree, listValues, scalar, type Tree, writeAll } from './typed';
import type { Experiment, Value } from './types';

export interface SearchParam {
  name: string;
  kind: 'list' | 'range' | 'fixed';
  // "64,32,16" for a list, one value for a constant.
  values: string;
  min: string;
  max: string;
  // Keys that the dialog does not show: step, scale, type, default.
  rest: Tree;
}

const text = (value: unknown) => (value === undefined || value === null ? '' : String(value));

function toParam(name: string, value: unknown): SearchParam {
  const none = { name, values: '', min: '', max: '', rest: {} };
  if (!isTree(value)) return { ...none, kind: Array.isArray(value) ? 'list' : 'fixed', values: writeAll(value) };
  const { min, max, when: _when, values, value: one, ...rest } = value;
  if (values === undefined && one === undefined)
    return { ...none, kind: 'range', min: text(min), max: text(max), rest };
  return { ...none, kind: values === undefined ? 'fixed' : 'list', values: writeAll(values ?? one), rest };
}

// A list or a range as the daemon takes it; it keeps the parameter's condition itself.
export function fromParam(p: SearchParam): unknown {
  if (p.kind === 'range') return { min: scalar(p.min), max: scalar(p.max), ...p.rest };
  // `type` belongs to ranges.
  const { type: _type, ...rest } = p.rest;
  const values: Value[] = listValues(p.values);
  return Object.keys(rest).length ? { values, ...rest } : values;
}

export function searchOf(e: Experiment): { tasks: string; strategy: string; parameters: SearchParam[] } {
  const spec = e.spec as Tree;
  const search = isTree(spec.search) ? spec.search : {};
  const parameters = isTree(spec.parameters) ? spec.parameters : {};
  return {
    tasks: text(search.tasks),
    strategy: text(search.strategy) || 'auto',
    parameters: Object.entries(parameters).map(([name, value]) => toParam(name, value)),
  };
}

// An objective as the dialog shows it.
export interface Aim {
  metric: string;
  // '': by the name of the metric
  goal: string;
  // take, of, at_most, at_least: these stay as they are.
  rest: Tree;
}

// {metric: memory, at_most: 4} is a limit: no task is ranked by it.
const isLimit = (one: Tree) => ('at_most' in one || 'at_least' in one) && !('goal' in one);

const written = (e: Experiment): Tree[] => {
  const said = (e.spec as Tree).objective ?? e.objective;
  return (Array.isArray(said) ? said : [said]).map((one) => (isTree(one) ? one : { metric: one }));
};

export function aimsOf(e: Experiment): Aim[] {
  const known = new Map(e.objective.map((o) => [o.metric, o.goal]));
  return written(e)
    .filter((one) => !isLimit(one))
    .map(({ metric, goal, ...rest }) => ({
      metric: text(metric),
      goal: known.get(text(metric)) ?? text(goal),
      rest,
    }));
}

// The objective as the daemon takes it, with the limits of before; null: nothing differs. A bound of a metric that is
// no objective any more is a limit of its own.
export function aimsChanged(e: Experiment, aims: Aim[]): unknown {
  const before = aimsOf(e);
  if (JSON.stringify(before) === JSON.stringify(aims)) return null;
  const one = (aim: Aim): Tree => ({ metric: aim.metric, ...(aim.goal && { goal: aim.goal }), ...aim.rest });
  const bounds = before
    .filter((aim) => !aims.some((other) => other.metric === aim.metric))
    .flatMap(({ metric, rest: { at_most, at_least } }) => [
      ...(at_most === undefined ? [] : [{ metric, at_most }]),
      ...(at_least === undefined ? [] : [{ metric, at_least }]),
    ]);
  const all = [...aims.map(one), ...bounds, ...written(e).filter(isLimit)];
  return all.length > 1 ? all : all[0];
}

// Another metric has its own goal and bounds; which value of a task counts stays.
export function renamed(aim: Aim, metric: string): Aim {
  const { at_most: _most, at_least: _least, ...rest } = aim.rest;
  return { metric, goal: '', rest };
}
