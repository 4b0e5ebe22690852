// The form's contents, how they become an experiment, and how an experiment becomes them. What is typed
// is kept as text, exactly as typed, and only read when the experiment is built.
import { info, request } from './api';
import type { Argument, Experiment, FieldError, Scan, Value } from './types';

export type Kind = 'list' | 'range' | 'fixed';

export interface DraftParam {
  id: number;
  name: string;
  kind: Kind;
  // "64,32,16" for a list, one value for a constant.
  values: string;
  min: string;
  max: string;
  step: string;
  // How many values of the range a grid takes, instead of a step.
  points: string;
  log: boolean;
  // "optimizer=sgd", several joined by "and"
  when: string;
  // What the script says about it; "" where it says nothing.
  help: string;
  // Keys of the file that the form does not show: type, default.
  rest: Record<string, unknown>;
}

export interface DraftObjective {
  metric: string;
  goal: 'min' | 'max';
  // take, of
  rest: Record<string, unknown>;
}

export interface Upload {
  path: string;
  upload: string;
  bytes: number;
}

// Sends a file ahead of the experiment that needs it.
export async function upload(path: string, bytes: Blob): Promise<Upload> {
  const made = (await (
    await request('PUT', `/uploads/${encodeURIComponent(path.split('/').pop()!)}`, bytes)
  ).json()) as { id: string; bytes: number };
  return { path, upload: made.id, bytes: made.bytes };
}

export interface Draft {
  name: string;
  description: string;
  script: { name: string; text: string } | null;
  files: Upload[];
  // "" is automatic: as the script takes them.
  pass: string;
  style: string;
  separator: string;
  parameters: DraftParam[];
  constraints: string;
  repeats: string;
  strategy: string;
  options: Record<string, string | boolean>;
  metric: string;
  goal: 'min' | 'max';
  // take, of of the first objective; the further objectives.
  take: Record<string, unknown>;
  more: DraftObjective[];
  tasks: string;
  parallel: string;
  seed: string;
  // "" is no pruning; the numbers belong to some of the rules.
  prune: string;
  warmup: string;
  min_tasks: string;
  reduction: string;
  threshold: string;
  // The parameter that says how long a task trains, for the strategies that look at many briefly.
  fidelity: string;
  fidelityMin: string;
  fidelityMax: string;
  backend: string;
  partition: string;
  gpus: string;
  cpus: string;
  memory: string;
  time: string;
  // How often to run again after an end for want of memory or time, and how many times as much to ask for then.
  retryMemory: string;
  factorMemory: string;
  retryTime: string;
  factorTime: string;
  sbatch: string;
  setup: string;
  // What the file can say and the form does not show; it is sent along unchanged.
  extra: Record<string, unknown>;
  // Set when an experiment file is edited instead of the form.
  source: { name: string; text: string } | null;
}

export function isMulti(strategy: string): boolean {
  return !!info.value?.strategies.find((s) => s.name === strategy)?.multi_fidelity;
}

const KEY = 'sluice.draft';
let serial = 0;

export function newParam(name = '', kind: Kind = 'list', values = ''): DraftParam {
  return {
    id: ++serial,
    name,
    kind,
    values,
    min: '',
    max: '',
    step: '',
    points: '',
    log: false,
    when: '',
    help: '',
    rest: {},
  };
}

// The four arguments of an S-TFManager script, in its order.
export function positionalParams(): DraftParam[] {
  return [
    newParam('batch_size', 'list', '64,32,16'),
    newParam('learning_rate', 'list', '0.001'),
    newParam('epochs', 'fixed', '100'),
    newParam('early_stopping', 'fixed', '50'),
  ];
}

export function emptyDraft(): Draft {
  return {
    name: '',
    description: '',
    script: null,
    files: [],
    pass: '',
    style: '',
    separator: '',
    parameters: positionalParams(),
    constraints: '',
    repeats: '',
    strategy: 'grid',
    options: {},
    metric: 'val_loss',
    goal: 'min',
    take: {},
    more: [],
    tasks: '',
    parallel: '',
    seed: '',
    prune: '',
    warmup: '',
    min_tasks: '',
    reduction: '',
    threshold: '',
    fidelity: '',
    fidelityMin: '',
    fidelityMax: '',
    backend: '',
    partition: '',
    gpus: '',
    cpus: '',
    memory: '',
    time: '',
    retryMemory: '',
    factorMemory: '',
    retryTime: '',
    factorTime: '',
    sbatch: '',
    setup: '',
    extra: {},
    source: null,
  };
}

export function loadDraft(): Draft {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? 'null') as Draft | null;
    if (kept && Array.isArray(kept.parameters)) {
      const draft = { ...emptyDraft(), ...kept };
      draft.parameters = draft.parameters.map((p) => ({ ...newParam(), ...p, id: ++serial }));
      return draft;
    }
  } catch {
    // A draft of another version: begin anew.
  }
  return emptyDraft();
}

export function saveDraft(draft: Draft) {
  try {
    localStorage.setItem(KEY, JSON.stringify(draft));
  } catch {
    // The store is full or forbidden: the form still works, only a reload would lose it.
  }
}

export function dropDraft() {
  localStorage.removeItem(KEY);
}

const NUMBER = /^[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$/;

// The scalars of YAML's core schema; quotes keep a number a string.
export function scalar(text: string): Value {
  const t = text.trim();
  if (/^(["']).*\1$/.test(t) && t.length > 1) return t.slice(1, -1);
  if (NUMBER.test(t)) return Number(t);
  if (t === 'true') return true;
  if (t === 'false') return false;
  return t;
}

// The parts of "16, \"a,b\", 32": a comma inside quotes belongs to the value.
export function listParts(text: string): string[] {
  const parts: string[] = [];
  let part = '';
  let quote = '';
  for (const c of text) {
    if (quote) quote = c === quote ? '' : quote;
    else if (c === '"' || (c === "'" && !part.trim())) quote = c;
    if (c === ',' && !quote) {
      parts.push(part);
      part = '';
    } else part += c;
  }
  return [...parts, part].map((one) => one.trim()).filter((one) => one !== '');
}

export function listValues(text: string): Value[] {
  return listParts(text).map(scalar);
}

// "optimizer=sgd and layers=2,3"; null where it is not that.
function condition(text: string): Record<string, unknown> | null {
  const out: Record<string, unknown> = {};
  for (const part of text.split(/\s+and\s+/)) {
    const found = /^\s*([\w.-]+)\s*=\s*(.+?)\s*$/.exec(part);
    if (!found) return null;
    const values = listValues(found[2]);
    out[found[1]] = values.length === 1 ? values[0] : values;
  }
  return out;
}

// The numbers that each pruning rule takes, with the daemon's defaults.
export const PRUNE_OPTIONS = {
  median: { warmup: '1', min_tasks: '4' },
  asha: { warmup: '1', min_tasks: '4', reduction: '3' },
  threshold: { warmup: '1', threshold: '' },
} as const;

export function pruneOptions(
  rule: string,
): Partial<Record<'warmup' | 'min_tasks' | 'reduction' | 'threshold', string>> {
  return PRUNE_OPTIONS[rule as keyof typeof PRUNE_OPTIONS] ?? {};
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

// The place of a row that has no name, or one that another row has.
export const rowField = (p: DraftParam) => `/rows/${p.id}`;

// What is wrong before the daemon is asked: what would be lost on the way to it, or pass as nothing.
export function draftProblems(d: Draft): FieldError[] {
  const out: FieldError[] = [];
  const seen = new Set<string>();
  const wrong = (p: DraftParam, message: string, remedy: string) => out.push({ field: rowField(p), message, remedy });
  for (const p of d.parameters) {
    const name = p.name.trim();
    const empty = p.kind === 'range' ? !p.min.trim() || !p.max.trim() : !p.values.trim();
    if (!name && (!empty || p.when.trim())) wrong(p, 'the parameter has no name', 'name it, or remove the row');
    if (name && seen.has(name)) wrong(p, `${name} is there twice`, 'remove one of the rows, or rename it');
    if (name.length > 200) wrong(p, `the name has ${name.length} letters`, 'use at most 200');
    if (name && empty)
      wrong(
        p,
        `${name} has no value`,
        p.kind === 'range' ? 'give both ends' : 'give it one ("" is the empty text), or remove the row',
      );
    if (p.when.trim() && !condition(p.when))
      out.push({
        field: `/when/${p.id}`,
        message: `'${p.when.trim()}' is no condition`,
        remedy: 'write optimizer=sgd',
      });
    if (name) seen.add(name);
  }
  if (d.prune === 'threshold' && !d.threshold.trim())
    out.push({
      field: '/prune/threshold',
      message: 'no value is given',
      remedy: 'give the worst value that may go on',
    });
  d.more.forEach((o, i) => {
    if (!o.metric.trim())
      out.push({
        field: `/objective/${i + 1}`,
        message: 'the objective has no metric',
        remedy: 'name it, or remove it',
      });
  });
  return out;
}

type Tree = Record<string, unknown>;
const isTree = (value: unknown): value is Tree => !!value && typeof value === 'object' && !Array.isArray(value);
const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

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

// The keys that are kept though the form does not show them: "retry", "environment.vars".
export function hiddenKeys(d: Draft): string[] {
  const walk = (tree: Tree, path: string): string[] =>
    Object.entries(tree).flatMap(([key, value]) =>
      isTree(value) && ['environment', 'search', 'resources', 'prune', 'fidelity', 'retry'].includes(path + key)
        ? walk(value, `${path}${key}.`)
        : [path + key],
    );
  const params = d.parameters.flatMap((p) => Object.keys(p.rest).map((key) => `${p.name}.${key}`));
  const takes = [d.take, ...d.more.map((o) => o.rest)]
    .flatMap((rest) => Object.keys(rest))
    .map((k) => `objective.${k}`);
  return [...walk(d.extra, ''), ...params, ...takes];
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
  if (d.setup.trim()) out.environment = { setup: lines(d.setup) };
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
// Quoted where it would be read as something else.
const write = (value: unknown) =>
  typeof value === 'string' && (scalar(value) !== value || value.includes(',') || value === '')
    ? `"${value}"`
    : String(value);
const writeAll = (value: unknown) => (Array.isArray(value) ? value.map(write).join(',') : write(value));

function fromCondition(when: unknown): string {
  return isTree(when)
    ? Object.entries(when)
        .map(([key, value]) => `${key}=${writeAll(value)}`)
        .join(' and ')
    : '';
}

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
  return { ...p, when: fromCondition(when), rest };
}

function fromObjective(value: unknown): DraftObjective {
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

// What the sample rows of an empty form hold, to see whether someone has changed them.
const shape = (all: DraftParam[]) => all.map(({ name, kind, values }) => [name, kind, values]);

// Values to begin with where a script by position says none.
const USUAL: [RegExp, string, Kind][] = [
  [/batch/i, '64,32,16', 'list'],
  [/rate|^lr$/i, '0.001', 'list'],
  [/epoch/i, '100', 'fixed'],
  [/stop|patience/i, '50', 'fixed'],
];

function fromArgument(arg: Argument): DraftParam | null {
  const help = arg.help ?? '';
  const list = Array.isArray(arg.default) ? arg.default.join(' ') : arg.default;
  const none = list === null || list === undefined || list === '';
  if (arg.choices?.length && !arg.several) {
    const rest = arg.choices.filter((one) => one !== list);
    const all = none || rest.length === arg.choices.length ? arg.choices : [list as Value, ...rest];
    return { ...newParam(arg.name, 'list', writeAll(all)), help };
  }
  if (!none) return { ...newParam(arg.name, 'fixed', write(list)), help };
  if (!arg.required) return null; // without a value the script has its own way
  const usual = arg.place ? USUAL.find(([name]) => name.test(arg.name)) : undefined;
  return { ...newParam(arg.name, usual?.[2] ?? 'fixed', usual?.[1] ?? ''), help };
}

// Fills the form from what was found in a script that has just been chosen. What was typed for a name stays.
export function fillFrom(d: Draft, found: Scan): Draft {
  const typed = same(shape(d.parameters), shape(positionalParams())) ? [] : d.parameters;
  const before = new Map(typed.map((p) => [p.name.trim(), p]));
  const places = found.arguments.filter((arg) => arg.place > 0).sort((a, b) => a.place - b.place);
  // S-TFManager's order: the experiment, the task, then the values.
  const ids = places.length > 2 && /exp|run|id/i.test(places[0].name) && /task|id|num/i.test(places[1].name);
  const positional = found.pass === 'positional' && (ids || !places.length || places[0].place > 1);
  const args = found.pass === 'positional' ? places.filter((arg) => !positional || arg.place > 2) : found.arguments;
  const rows = args
    .filter((arg) => arg.name !== 'help' && arg.name !== 'version')
    .map((arg) => {
      const kept = before.get(arg.name);
      return kept ? { ...kept, help: arg.help ?? '' } : fromArgument(arg);
    })
    .filter((p) => p !== null);
  const { arguments: _old, ...extra } = d.extra;
  return {
    ...d,
    extra,
    pass: positional ? 'positional' : found.pass === 'env' ? 'env' : '',
    style: '',
    separator: '',
    parameters: rows.length ? rows : positional && !args.length ? d.parameters : typed,
    ...(found.metric ? { metric: found.metric } : {}),
    ...(found.metric ? { goal: goalOf(found) } : {}),
  };
}

function goalOf(found: Scan): 'min' | 'max' {
  return found.goal === 'max' || found.goal === 'min' ? found.goal : fromObjective(found.metric).goal;
}
