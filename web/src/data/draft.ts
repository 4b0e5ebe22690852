// The form's contents, how they become an experiment, and how an experiment becomes them. What is typed
// is kept as text, exactly as typed, and only read when the experiment is built.
import { info, request } from './api';
import type { Experiment, Value } from './types';

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
  // "optimizer=sgd"
  when: string;
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
  pass: string;
  parameters: DraftParam[];
  constraints: string;
  repeats: string;
  strategy: string;
  options: Record<string, string | boolean>;
  metric: string;
  goal: 'min' | 'max';
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
  // Set when an experiment file is edited instead of the form.
  source: { name: string; text: string } | null;
}

export function isMulti(strategy: string): boolean {
  return !!info.value?.strategies.find((s) => s.name === strategy)?.multi_fidelity;
}

const KEY = 'sluice.draft';
let serial = 0;

export function newParam(name = '', kind: Kind = 'list', values = ''): DraftParam {
  return { id: ++serial, name, kind, values, min: '', max: '', step: '', points: '', log: false, when: '' };
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
    pass: 'positional',
    parameters: positionalParams(),
    constraints: '',
    repeats: '',
    strategy: 'grid',
    options: {},
    metric: 'val_loss',
    goal: 'min',
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

export function listValues(text: string): Value[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map(scalar);
}

function condition(text: string): Record<string, unknown> | null {
  const found = /^\s*([\w.-]+)\s*=\s*(.+?)\s*$/.exec(text);
  if (!found) return null;
  const values = listValues(found[2]);
  return { [found[1]]: values.length === 1 ? values[0] : values };
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
    return spec;
  }
  const values: Value | Value[] = p.kind === 'list' ? listValues(p.values) : scalar(p.values);
  return when ? { values: Array.isArray(values) ? values : [values], when } : values;
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
  if (d.metric.trim()) out.objective = { metric: d.metric.trim(), goal: d.goal };
  out.pass = d.pass;
  if (d.setup.trim()) out.environment = { setup: lines(d.setup) };
  if (retry.memory !== undefined || retry.time !== undefined)
    out.retry = Object.fromEntries(Object.entries(retry).filter(([, value]) => value !== undefined));
  if (Object.keys(resources).length) out.resources = resources;
  return out;
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
const write = (value: Value) => (typeof value === 'string' && scalar(value) !== value ? `"${value}"` : String(value));

function fromCondition(when: unknown): string {
  if (!when || typeof when !== 'object') return '';
  const [key, value] = Object.entries(when)[0] ?? [];
  return key ? `${key}=${Array.isArray(value) ? value.map(write).join(',') : write(value as Value)}` : '';
}

// What the form reads of an experiment as its author wrote it.
interface Written {
  resources?: Record<string, unknown>;
  constraints?: unknown;
  repeats?: number;
  search?: Record<string, unknown>;
  prune?: string | Record<string, unknown>;
  fidelity?: Record<string, unknown>;
  environment?: { setup?: unknown };
  retry?: Record<string, unknown>;
}

export function fromExperiment(e: Experiment): Draft {
  const d = emptyDraft();
  const spec = e.spec as Written;
  const resources = spec.resources ?? e.resources ?? {};
  const prune = typeof spec.prune === 'object' ? spec.prune : { rule: spec.prune };
  d.name = `${e.name} (copy)`.slice(0, 120);
  d.description = e.description ?? '';
  d.pass = e.pass || 'flags';
  d.parameters = e.parameters.map((p) => {
    const out = newParam(p.name, p.kind === 'range' ? 'range' : p.kind === 'constant' ? 'fixed' : 'list');
    out.values = (p.values ?? []).map(write).join(',');
    out.min = text(p.min);
    out.max = text(p.max);
    out.step = text(p.step);
    out.log = p.scale === 'log';
    out.points = text(p.points);
    out.when = fromCondition(p.when);
    return out;
  });
  d.constraints = Array.isArray(spec.constraints) ? spec.constraints.join('\n') : '';
  d.repeats = spec.repeats && spec.repeats > 1 ? String(spec.repeats) : '';
  d.strategy = e.search?.strategy ?? e.strategy;
  for (const [key, value] of Object.entries(e.search?.options ?? {}))
    d.options[key] = typeof value === 'boolean' ? value : text(value);
  d.metric = e.objective[0]?.metric ?? '';
  d.goal = e.objective[0]?.goal ?? 'min';
  d.tasks = text(spec.search?.tasks);
  d.parallel = text(spec.search?.parallel);
  d.seed = text(spec.search?.seed);
  d.prune = text(prune.rule);
  for (const key of ['warmup', 'min_tasks', 'reduction', 'threshold'] as const)
    d[key] = text((prune as Record<string, unknown>)[key]);
  d.fidelity = text(spec.fidelity?.parameter);
  d.fidelityMin = text(spec.fidelity?.min);
  d.fidelityMax = text(spec.fidelity?.max);
  for (const key of ['backend', 'partition', 'gpus', 'cpus', 'memory', 'time'] as const) d[key] = text(resources[key]);
  [d.retryMemory, d.factorMemory] = readRetry(spec.retry?.memory);
  [d.retryTime, d.factorTime] = readRetry(spec.retry?.time);
  d.sbatch = Array.isArray(resources.options) ? resources.options.join('\n') : '';
  d.setup = Array.isArray(spec.environment?.setup) ? spec.environment.setup.join('\n') : '';
  return d;
}
