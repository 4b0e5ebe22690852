// How the form becomes an experiment's document, and how a document becomes the form.
import { info } from './api';
import { type Draft, type DraftObjective, type DraftParam, emptyDraft, newParam, pruneOptions } from './draft';
import { condition, isTree, listValues, scalar, type Tree, writeAll, writeCondition } from './typed';
import type { Experiment, Value } from './types';

export function isMulti(strategy: string): boolean {
  return !!info.value?.strategies.find((s) => s.name === strategy)?.multi_fidelity;
}

export function paramSpec(p: DraftParam): unknown {
  const when = p.when.trim() ? condition(p.when) : null;
  if (p.kind === 'range') {
    const spec: Record<string, unknown> = { min: scalar(p.min), max: scalar(p.max) };
    if (p.step.trim()) spec.step = scalar(p.step);
    if (p.points.trim()) spec.points = scalar(p.points);
    if (p.log) spec.scale = 'log';
    if (when) spec.when = when;
    return { ...spec, ...p.rest };
  }
  const values: Value | Value[] = p.kind === 'list' ? listValues(p.values) : scalar(p.values);
  // `type` belongs to ranges.
  const { type: _type, ...rest } = p.rest;
  if (!when && !Object.keys(rest).length) return values;
  return { values: Array.isArray(values) ? values : [values], ...(when ? { when } : {}), ...rest };
}

// What `all` says and `shown` does not, branch by branch.
function leftOver(all: Tree, shown: Tree): Tree {
  const out: Tree = {};
  for (const [key, value] of Object.entries(all)) {
    const other = shown[key];
    if (isTree(value) && isTree(other)) {
      const rest = leftOver(value, other);
      if (Object.keys(rest).length) out[key] = rest;
    } else if (other === undefined) out[key] = value;
  }
  return out;
}

function merge(shown: Tree, extra: Tree): Tree {
  const out = { ...shown };
  for (const [key, value] of Object.entries(extra)) {
    const mine = out[key];
    if (isTree(value) && isTree(mine)) out[key] = merge(mine, value);
    else if (mine === undefined) out[key] = value;
  }
  return out;
}

const lines = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);

function readRetry(said: unknown): [times: string, factor: string] {
  const map = (typeof said === 'object' && said ? said : { times: said }) as { times?: unknown; factor?: unknown };
  const text = (value: unknown) => (value === undefined || value === null ? '' : String(value));
  return [text(map.times), text(map.factor)];
}

// 2, or {times: 2, factor: 2}; nothing where both are empty.
function retrySpec(times: string, factor: string): unknown {
  if (!times.trim() && !factor.trim()) return undefined;
  if (!factor.trim()) return scalar(times);
  return { times: times.trim() ? scalar(times) : 1, factor: scalar(factor) };
}

// Leaves out what was not filled in: the daemon's defaults are its own business.
// `multi`: the strategy looks at several fidelities.
export function toExperiment(d: Draft, multi = isMulti(d.strategy)): Record<string, unknown> {
  const set = (into: Record<string, unknown>, key: string, text: string) => {
    if (text.trim()) into[key] = scalar(text);
  };
  const search: Record<string, unknown> = { strategy: d.strategy };
  set(search, 'tasks', d.tasks);
  set(search, 'parallel', d.parallel);
  set(search, 'seed', d.seed);
  for (const [key, value] of Object.entries(d.options))
    if (value !== '') search[key] = typeof value === 'string' ? scalar(value) : value;
  const resources: Record<string, unknown> = {};
  for (const key of ['backend', 'partition', 'gpus', 'cpus', 'memory', 'time'] as const) set(resources, key, d[key]);
  if (d.sbatch.trim()) resources.options = lines(d.sbatch);
  const retry = { memory: retrySpec(d.retryMemory, d.factorMemory), time: retrySpec(d.retryTime, d.factorTime) };
  const out: Record<string, unknown> = {};
  if (d.name.trim()) out.name = d.name.trim();
  if (d.description.trim()) out.description = d.description.trim();
  out.script = d.script?.name ?? 'model.py';
  if (d.files.length) out.files = d.files.map((file) => file.path);
  out.parameters = Object.fromEntries(
    d.parameters.filter((p) => p.name.trim()).map((p) => [p.name.trim(), paramSpec(p)]),
  );
  if (d.constraints.trim()) out.constraints = lines(d.constraints);
  set(out, 'repeats', d.repeats);
  out.search = search;
  if (d.prune) {
    const prune: Record<string, unknown> = { rule: d.prune };
    for (const key of Object.keys(pruneOptions(d.prune)) as (keyof ReturnType<typeof pruneOptions>)[])
      set(prune, key, d[key]);
    out.prune = Object.keys(prune).length > 1 ? prune : d.prune;
  }
  if (multi && d.fidelity.trim()) {
    const fidelity: Record<string, unknown> = { parameter: d.fidelity.trim() };
    set(fidelity, 'min', d.fidelityMin);
    set(fidelity, 'max', d.fidelityMax);
    out.fidelity = fidelity;
  }
  const first = { metric: d.metric.trim(), goal: d.goal, ...d.take };
  const more = d.more.map((o) => ({ metric: o.metric.trim(), goal: o.goal, ...o.rest }));
  if (first.metric || more.length) out.objective = more.length ? [first, ...more] : first;
  if (d.pass) out.pass = d.pass;
  if (d.style) out.style = d.style;
  if (d.separator) out.separator = d.separator;
  const environment: Record<string, unknown> = {};
  if (d.python.trim()) environment.python = d.python.trim();
  if (d.setup.trim()) environment.setup = lines(d.setup);
  if (Object.keys(environment).length) out.environment = environment;
  if (retry.memory !== undefined || retry.time !== undefined)
    out.retry = Object.fromEntries(Object.entries(retry).filter(([, value]) => value !== undefined));
  if (Object.keys(resources).length) out.resources = resources;
  const whole = merge(out, d.extra);
  // How parameters that are gone were passed is of no use.
  if (isTree(whole.arguments)) {
    const names = Object.keys(out.parameters as Tree);
    whole.arguments = Object.fromEntries(Object.entries(whole.arguments).filter(([name]) => names.includes(name)));
    if (!Object.keys(whole.arguments as Tree).length) delete whole.arguments;
  }
  return whole;
}

// The same experiment held to one configuration: each parameter is the constant the preview lists first. It needs
// nothing of the strategy, so it works for all of them.
export function toOneTask(d: Draft, first: Record<string, Value>): Record<string, unknown> {
  const all = toExperiment(d);
  const names = Object.keys(all.parameters as object).filter((name) => name in first);
  const { constraints: _c, repeats: _r, prune: _p, fidelity: _f, ...rest } = all;
  return {
    ...rest,
    name: `${d.name.trim() || d.script?.name || 'experiment'} (one task)`,
    parameters: Object.fromEntries(names.map((name) => [name, first[name]])),
    search: { strategy: 'grid' },
  };
}

const text = (value: unknown) => (value === undefined || value === null ? '' : String(value));
function fromParameter(name: string, value: unknown): DraftParam {
  if (!isTree(value)) {
    const fixed = !Array.isArray(value);
    // [[64, 64], [8]]: several values for one argument are one text.
    const items = fixed ? value : value.map((one) => (Array.isArray(one) ? one.join(' ') : one));
    return { ...newParam(name, fixed ? 'fixed' : 'list'), values: writeAll(items) };
  }
  const { min, max, step, points, scale, when, values, value: one, ...rest } = value;
  const range = values === undefined && one === undefined;
  const p = newParam(name, range ? 'range' : values === undefined ? 'fixed' : 'list');
  const shown = { min: text(min), max: text(max), step: text(step), points: text(points), log: scale === 'log' };
  if (range) Object.assign(p, shown);
  else p.values = writeAll(values ?? one);
  return { ...p, when: writeCondition(when), rest };
}

export function fromObjective(value: unknown): DraftObjective {
  const { metric, goal, ...rest } = isTree(value) ? value : { metric: value, goal: undefined };
  const word = text(goal);
  const max = word
    ? word.startsWith('max')
    : /acc|auc|f1|precision|recall|iou|dice|r2|bleu|reward|score|return/i.test(text(metric));
  return { metric: text(metric), goal: max ? 'max' : 'min', rest };
}

// The form for an experiment as its author wrote it. What the form cannot show is kept in `extra`.
export function fromDocument(doc: Tree): Draft {
  const d = emptyDraft();
  const search = isTree(doc.search) ? doc.search : {};
  const resources = isTree(doc.resources) ? doc.resources : {};
  const environment = isTree(doc.environment) ? doc.environment : {};
  const prune: Tree = isTree(doc.prune) ? doc.prune : { rule: doc.prune };
  const fidelity = isTree(doc.fidelity) ? doc.fidelity : {};
  const retry = isTree(doc.retry) ? doc.retry : {};
  const objectives = (Array.isArray(doc.objective) ? doc.objective : doc.objective ? [doc.objective] : []).map(
    fromObjective,
  );
  d.name = text(doc.name);
  d.description = text(doc.description);
  d.pass = text(doc.pass);
  d.style = text(doc.style);
  d.separator = text(doc.separator);
  d.parameters = Object.entries(isTree(doc.parameters) ? doc.parameters : {}).map(([n, v]) => fromParameter(n, v));
  d.constraints = Array.isArray(doc.constraints) ? doc.constraints.join('\n') : text(doc.constraints);
  d.repeats = doc.repeats === 1 ? '' : text(doc.repeats);
  d.metric = objectives[0]?.metric ?? '';
  d.goal = objectives[0]?.goal ?? 'min';
  d.take = objectives[0]?.rest ?? {};
  d.more = objectives.slice(1);
  const { strategy, tasks, parallel, seed, ...options } = search;
  d.strategy = text(strategy) || 'auto';
  d.tasks = text(tasks);
  d.parallel = text(parallel);
  d.seed = text(seed);
  for (const [key, value] of Object.entries(options)) d.options[key] = typeof value === 'boolean' ? value : text(value);
  d.prune = text(prune.rule);
  for (const key of ['warmup', 'min_tasks', 'reduction', 'threshold'] as const) d[key] = text(prune[key]);
  d.fidelity = text(fidelity.parameter);
  d.fidelityMin = text(fidelity.min);
  d.fidelityMax = text(fidelity.max);
  for (const key of ['backend', 'partition', 'gpus', 'cpus', 'memory', 'time'] as const) d[key] = text(resources[key]);
  [d.retryMemory, d.factorMemory] = readRetry(retry.memory);
  [d.retryTime, d.factorTime] = readRetry(retry.time);
  d.sbatch = Array.isArray(resources.options) ? resources.options.join('\n') : '';
  d.python = text(environment.python);
  d.setup = Array.isArray(environment.setup) ? environment.setup.join('\n') : '';
  const { name: _n, script: _s, files: _f, repeats: _r, ...rest } = doc;
  d.extra = leftOver(rest, toExperiment(d));
  return d;
}

export function fromExperiment(e: Experiment): Draft {
  const d = fromDocument({ ...(e.spec as Tree) });
  d.name = `${e.name} (copy)`.slice(0, 120);
  return d;
}
