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
