// The shapes of docs/internals/rest.md. Members this program does not read are left out on purpose.

export type TaskState = 'waiting' | 'submitted' | 'running' | 'finished' | 'error' | 'stopped' | 'pruned';
export type Metric = number | 'NaN' | 'Infinity' | '-Infinity';
export type Value = string | number | boolean | null;
export type Values = Record<string, Value>;

export interface Objective {
  metric: string;
  goal: 'min' | 'max';
}

export interface Cost {
  wall_s: number | null;
  cpu_s: number | null;
  gpu_s: number | null;
  max_rss_bytes?: number | null;
  energy_j: number | null;
  energy_source: string | null;
}

export interface Counts {
  total: number;
  waiting: number;
  submitted: number;
  running: number;
  finished: number;
  error: number;
  stopped: number;
  pruned: number;
}

export interface Summary {
  id: string;
  name: string;
  description: string | null;
  state: TaskState;
  created: string | null;
  started: string | null;
  finished: string | null;
  strategy: string;
  backend: string;
  script: string | null;
  objective: Objective[];
  tasks: Counts;
  best: { task: number; value: Metric; epoch: number | null; parameters: Values } | null;
  spark: (Metric | null)[];
  cost: Cost;
  note: string | null;
  waiting_for: string | null;
}

export interface Parameter {
  name: string;
  kind: 'choice' | 'range' | 'constant';
  values: Value[] | null;
  min?: number | null;
  max?: number | null;
  scale?: 'linear' | 'log' | null;
  step?: number | null;
  points?: number | null;
  when?: Record<string, unknown> | null;
}

export interface Experiment extends Summary {
  spec: Record<string, unknown>;
  parameters: Parameter[];
  varying: string[];
  parallel: number | null;
  search: {
    strategy: string;
    reason: string | null;
    seed: number | null;
    tasks: number | null;
    options: Record<string, unknown>;
  };
  metrics: string[];
  step_name: string;
  warnings: string[];
  folder: string;
  resources: Record<string, unknown>;
  pass: string;
}

export interface Cause {
  kind: string;
  code: number | null;
  signal: number | string | null;
  text: string;
  remedy: string | null;
  tail: string | null;
}

export interface Point {
  value: Metric;
  epoch: number | null;
}

export interface Task {
  id: string;
  experiment: string;
  number: number;
  state: TaskState;
  reason: string | null;
  cause: Cause | null;
  parameters: Values;
  repeat: number | null;
  seed: number | null;
  best: Point | null;
  last: Point | null;
  epoch: number | null;
  epochs: number | null;
  progress: number | null;
  submitted: string | null;
  started: string | null;
  finished: string | null;
  elapsed_s: number | null;
  attempt: number;
  node: string | null;
  gpus: string | null;
  job: string | null;
  expected_start: string | null;
  cost: Cost;
}

export interface Attempt {
  number: number;
  state: TaskState;
  cause: Cause | null;
  submitted: string | null;
  started: string | null;
  finished: string | null;
  node: string | null;
  job: string | null;
  exit_code: number | null;
  cost: Cost | null;
}

export interface TaskDetail extends Task {
  timeline: { time: string; state: TaskState; reason: string | null }[];
  attempts: Attempt[];
  folder: string;
  files: { path: string; bytes: number }[];
  metrics: string[];
  argv: string[];
}

export interface Curve {
  step: number[];
  value: (Metric | null)[];
}

export interface ExperimentMetrics {
  experiment: string;
  name: string;
  step_name: string;
  tasks: ({ task: number } & Curve)[];
}

export interface TaskMetrics {
  task: string;
  step_name: string;
  metrics: Record<string, Curve>;
}

export interface LogChunk {
  stream: string;
  attempt: number;
  offset: number;
  next: number;
  size: number;
  text: string;
}

export interface StrategyOption {
  name: string;
  type: string;
  default: Value;
  help?: string;
  words?: string[];
}
export interface Strategy {
  name: string;
  title: string;
  help: string;
  adaptive: boolean;
  multi_fidelity?: boolean;
  options: StrategyOption[];
}

export interface Info {
  version: string;
  user: string;
  host: string;
  state: string;
  login: string;
  csrf: string;
  backends: string[];
  default_backend: string;
  strategies: Strategy[];
  limits: { tasks: number; body_bytes: number };
}

export interface Partition {
  name: string;
  default: boolean;
  state: string;
  nodes: number;
  cpus: number | null;
  gpus: number | null;
  gpu_type: string | null;
  gpus_per_node: number | null;
  memory_bytes: number | null;
  time_limit_s: number | null;
  idle_nodes: number | null;
}
export interface Backend {
  name: string;
  available: boolean;
  asking?: boolean;
  text?: string | null;
  version?: string;
  controller?: string;
  cluster?: string;
  accounting?: boolean;
  energy?: boolean;
  cpus?: number | null;
  cpus_busy?: number | null;
  memory_bytes?: number | null;
  gpus?: { index: number; name: string; memory_bytes: number | null; busy: boolean }[];
  partitions?: Partition[];
  limits?: { array_size: number | null; submitted_jobs: number | null; default_account: string | null };
}
export interface Cluster {
  backends: Backend[];
  examining?: boolean;
  findings: { level: 'ok' | 'warning' | 'error'; what: string; fix: string | null }[];
}

export interface Check {
  valid: boolean;
  count: number | null;
  how: string | null;
  factors: { name: string; count: number | null }[];
  finite: boolean;
  parallel: number | null;
  strategy: string;
  reason: string | null;
  sample: Values[];
  script: string;
  yaml: string;
  warnings: string[];
  estimate: { wall_s: number | null; task_s: number; tasks_s: number; basis: string } | null;
  scan?: Scan;
}
export interface Scan {
  arguments: string[];
  metrics: string[];
  columns: string[];
  checkpoint: boolean;
  pass: string | null;
  notes: string[];
}

export interface FieldError {
  field: string;
  line?: number;
  column?: number;
  message: string;
  remedy?: string | null;
}
export interface Problem {
  title: string;
  status: number;
  detail?: string;
  login?: string;
  errors?: FieldError[];
}

export interface Front {
  axes: { name: string; goal: 'min' | 'max' }[];
  runs: number;
  hypervolume: number | null;
  points: { task: number; values: number[]; front: boolean }[];
}
export interface Analysis {
  runs: number;
  importance: { parameter: string; importance: Metric; runs: number }[];
  fronts: Front[];
  agreement: { from: number; to: number; tasks: number; correlation: number | null }[];
  curves?: Forecast;
}
// What extrapolated curves are worth, and only where they earned it: where the running tasks are going.
export interface Forecast {
  earned: boolean;
  tasks: number;
  cuts: { share: number; tasks: number; correlation: number | null; plain: number | null; error: number | null }[];
  running?: { task: number; predicted: number; at: number; error: number | null }[];
}
// A strategy's state is its own: what is shown of it is looked for by name.
export interface Search {
  strategy: string;
  title: string;
  reason: string | null;
  planned: number;
  proposed: number;
  fidelities: { fidelity: number; tasks: number; finished: number }[];
  state: Record<string, unknown> | null;
}

export interface Token {
  id: number | string;
  name: string | null;
  created: string | null;
  used?: string | null;
}

export interface Page<T> {
  items: T[];
  next: string | null;
  total: number;
}

export type StreamEvent =
  | { type: 'reset' }
  | { type: 'experiment'; data: Summary }
  | { type: 'task'; data: Task }
  | {
      type: 'metrics';
      data: { experiment: string; task: number; rows: { step: number; values: Record<string, Metric> }[] };
    }
  | { type: 'log'; data: { experiment: string; task: number; stream: string; size: number } }
  | { type: 'removed'; data: { experiment: string } }
  | { type: 'notice'; data: { level: string; text: string } };
