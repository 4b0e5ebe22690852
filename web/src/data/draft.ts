// The form's contents, and what is wrong with them. What is typed is kept as text, exactly as typed, and
// only read when the experiment is built (document.ts).
import { request } from './api';
import { condition, isTree, type Tree } from './typed';
import type { FieldError } from './types';

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
  // "" is automatic: the one that was active where it is submitted, else the python3 of the machine.
  python: string;
  setup: string;
  // What the file can say and the form does not show; it is sent along unchanged.
  extra: Record<string, unknown>;
  // Set when an experiment file is edited instead of the form.
  source: { name: string; text: string } | null;
}

// Sends a file ahead of the experiment that needs it.
export async function upload(path: string, bytes: Blob): Promise<Upload> {
  const made = (await (
    await request('PUT', `/uploads/${encodeURIComponent(path.split('/').pop()!)}`, bytes)
  ).json()) as { id: string; bytes: number };
  return { path, upload: made.id, bytes: made.bytes };
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
    python: '',
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
