// What the pages show, kept current by the event stream. A page opens a store, the store fetches
// once, then follows. Events that arrive during a fetch wait for it: they may be newer than its
// answer, and all of them are whole objects or rows with a step, so applying one twice is harmless.
import { batch, signal } from '@preact/signals';
import { finite } from '../lib/format';
import { go } from '../lib/router';
import { ApiError, answeredSince, get, list, message, taskPath } from './api';
import { type Epochs, haveEpochs, mixed } from './counts';
import { link, listen } from './stream';
import { toast } from './toast';
import type {
  Curve,
  Experiment,
  ExperimentSummary,
  Metric,
  MetricRows,
  Notice,
  StreamEvent,
  Task,
  TaskCurves,
  TaskSummary,
} from './types';

export type MetricRow = MetricRows['rows'][number];

// Bursts of events become one redraw.
const FLUSH_MS = 200;

export const now = signal(Date.now());
setInterval(() => {
  if (document.visibilityState === 'visible') now.value = Date.now();
}, 1000);

export abstract class Store {
  error = signal<string | null>(null);
  missing = signal(false);
  loading = signal(true);
  private waiting: StreamEvent[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;
  private fetching = false;
  private again = false;
  private early = false;
  private stop: (() => void) | null = null;

  protected abstract fetch(): Promise<void>;
  protected abstract apply(events: StreamEvent[]): void;

  open(): () => void {
    this.early = link.value.state !== 'open';
    const unlink = link.subscribe(() => this.settle());
    this.stop = listen((event) => {
      if (event.type === 'reset') {
        this.waiting = [];
        void this.load();
      } else {
        this.waiting.push(event);
        this.timer ??= setTimeout(() => this.flush(), FLUSH_MS);
      }
    });
    void this.load();
    return () => {
      this.stop?.();
      unlink();
      clearTimeout(this.timer);
      this.timer = undefined;
    };
  }

  // What was fetched before the stream began may have changed unheard; then it is fetched again.
  private settle() {
    if (!this.early || this.fetching || link.value.state !== 'open') return;
    this.early = false;
    if (!answeredSince(link.value.since)) void this.load();
  }

  async load(): Promise<void> {
    if (this.fetching) {
      this.again = true;
      return;
    }
    this.fetching = true;
    try {
      await this.fetch();
      this.error.value = null;
      this.missing.value = false;
    } catch (error) {
      // What is on the screen stays: old data under a message beats an empty page.
      if (error instanceof ApiError && error.status === 404) this.missing.value = true;
      this.error.value = message(error);
    }
    this.fetching = false;
    this.loading.value = false;
    if (this.again) {
      this.again = false;
      void this.load();
    } else {
      this.flush();
      this.settle();
    }
  }

  private flush() {
    this.timer = undefined;
    if (this.fetching || !this.waiting.length) return;
    const events = this.waiting;
    this.waiting = [];
    batch(() => this.apply(events));
  }
}

// A notice that begins with an experiment leads to it.
function notice({ text, level }: Notice) {
  const id = /^e\d+(?= )/.exec(text)?.[0];
  toast(text, { level, action: id ? { label: `Show ${id}`, run: () => go(`/e/${id}`) } : undefined });
}

class ListStore extends Store {
  items = signal<Map<string, ExperimentSummary>>(new Map());
  total = signal(0);

  protected async fetch() {
    const page = await list<ExperimentSummary>('/experiments', 2000);
    batch(() => {
      this.items.value = new Map(page.items.map((item) => [item.id, item]));
      this.total.value = page.total;
    });
  }

  // A removed experiment leaves at once; its event may come after the list is on the screen.
  forget(id: string) {
    const next = new Map(this.items.value);
    next.delete(id);
    this.items.value = next;
  }

  protected apply(events: StreamEvent[]) {
    const next = new Map(this.items.value);
    let moved = false;
    for (const event of events) {
      if (event.type === 'notice') notice(event.data);
      if (event.type !== 'experiment' && event.type !== 'removed') continue;
      if (event.type === 'experiment' && !event.data.archived) next.set(event.data.id, event.data);
      else if (event.type === 'experiment') next.delete(event.data.id);
      else next.delete(event.data.experiment);
      moved = true;
    }
    if (moved) {
      this.total.value = Math.max(next.size, this.total.value + next.size - this.items.value.size);
      this.items.value = next;
    }
  }
}

export const experiments = new ListStore();

// What waiting tasks wait for comes with their experiment, once for all of them; a task's own copy of it is as old as
// the task.
export function reasonNow(task: TaskSummary, e: ExperimentSummary): string | null {
  if (task.state !== 'waiting') return task.reason;
  return [task.reason, e.waiting_for].filter(Boolean).join('; ') || null;
}

export interface Line {
  step: number[];
  value: (number | null)[];
  // Where each point lies on the chosen axis; null where that is not known.
  x: (number | null)[];
  // The steps at which a value is infinite; other values without a number are NaN.
  infinite: Map<number, Metric>;
}

export const emptyLine = (): Line => ({ step: [], value: [], x: [], infinite: new Map() });

const isInfinite = (value: Metric) => value === 'Infinity' || value === '-Infinity';

export function toLine(curve: Curve): Line {
  const infinite = new Map<number, Metric>();
  curve.value.forEach((value, i) => {
    if (isInfinite(value)) infinite.set(curve.step[i], value);
  });
  return { step: curve.step, value: curve.value.map(finite), x: curve.x ?? [...curve.step], infinite };
}

// A value as it was written.
export const written = (line: Line, i: number): Metric => line.value[i] ?? line.infinite.get(line.step[i]) ?? 'NaN';

export type Axis = 'step' | 'epoch' | 'time';

// The axis that curves can be drawn over: steps where no point has a place on the one that was asked for.
export function axisOf(asked: Axis, curves: Curve[]): Axis {
  const none = curves.length > 0 && curves.every(({ x }) => x?.every((at) => at === null));
  return asked !== 'step' && none ? 'step' : asked;
}

export const lineOver = (axis: Axis, curve: Curve) => toLine(axis === 'step' ? { ...curve, x: undefined } : curve);

// Are epochs known beside the steps? Null: the curves do not say it.
export function epochsIn(asked: Axis, curves: Curve[]): boolean | null {
  if (!curves.length || asked === 'time') return null;
  return curves.some(({ epoch, x }) => (asked === 'step' ? !!epoch?.length : x?.some((at) => at !== null)));
}

// Seconds from the task's first start, as the interface counts them.
export function place(axis: Axis, row: MetricRow, started: string | null | undefined): number | null {
  if (axis === 'step') return row.step;
  if (axis === 'epoch') return row.epoch ?? null;
  return started ? Math.max(0, row.time_ms - Date.parse(started)) / 1000 : null;
}

export function addRow(line: Line, step: number, x: number | null, value: Metric) {
  let at = line.step.length;
  while (at > 0 && line.step[at - 1] >= step) at--;
  const same = line.step[at] === step;
  line.step.splice(at, same ? 1 : 0, step);
  line.x.splice(at, same ? 1 : 0, x);
  line.value.splice(at, same ? 1 : 0, finite(value));
  line.infinite.delete(step);
  if (isInfinite(value)) line.infinite.set(step, value);
}

// After so many points it is clear what a metric counts; to look at all of them at every row would hold the page.
const CLEAR = 100;

export class TaskStore extends Store {
  task = signal<Task | null>(null);
  experiment = signal<Experiment | null>(null);
  lines = signal<Map<string, Line>>(new Map());
  // The epoch of every step of a metric.
  epochs = new Map<string, Epochs>();
  // Whether the metrics count different things.
  mixed = signal(false);
  // Where none is asked for: the one that all share.
  usual = signal<Axis>('step');
  axis = signal<Axis>('step');
  epochsKnown = signal<boolean | null>(null);

  constructor(
    readonly id: string,
    readonly number: number,
    private wanted: Axis | null = null,
  ) {
    super();
  }

  async over(axis: Axis | null) {
    if (axis === this.wanted) return;
    this.wanted = axis;
    await this.load();
  }

  protected async fetch() {
    const path = taskPath(this.id, this.number);
    const wanted = this.wanted;
    const curves = (axis: Axis) => get<TaskCurves>(`${path}/metrics?points=1000&axis=${axis}`);
    const [task, experiment, counted, timed] = await Promise.all([
      get<Task>(path),
      get<Experiment>(`/experiments/${this.id}`),
      curves('epoch'),
      wanted === 'time' ? curves('time') : null,
    ]);
    const epochs = new Map(
      Object.entries(counted.metrics).map(([name, { step, x }]) => [name, new Map(step.map((s, i) => [s, x![i]]))]),
    );
    const apart = mixed(epochs);
    const usual = apart && haveEpochs(epochs) ? 'epoch' : 'step';
    const metrics = (timed ?? counted).metrics;
    const axis = axisOf(wanted ?? usual, Object.values(metrics));
    batch(() => {
      this.task.value = task;
      this.experiment.value = experiment;
      this.axis.value = axis;
      this.epochs = epochs;
      this.mixed.value = apart;
      this.usual.value = usual;
      this.epochsKnown.value = epochsIn('epoch', Object.values(counted.metrics));
      this.lines.value = new Map(Object.entries(metrics).map(([name, curve]) => [name, lineOver(axis, curve)]));
    });
  }

  protected apply(events: StreamEvent[]) {
    let detail = false;
    for (const event of events) {
      if (
        event.type === 'task' &&
        event.data.experiment === this.id &&
        event.data.number === this.number &&
        this.task.value
      ) {
        const before = this.task.value;
        this.task.value = { ...before, ...event.data };
        // The timeline and the attempts are in the detail only.
        detail ||= before.state !== event.data.state || before.attempt !== event.data.attempt;
      } else if (event.type === 'experiment' && event.data.id === this.id && this.experiment.value) {
        this.experiment.value = { ...this.experiment.value, ...event.data };
      } else if (event.type === 'metrics' && event.data.experiment === this.id && event.data.task === this.number) {
        const next = new Map(this.lines.value);
        let unclear = false;
        for (const row of event.data.rows) {
          for (const [name, value] of Object.entries(row.values)) {
            if (!next.has(name)) next.set(name, emptyLine());
            addRow(next.get(name)!, row.step, place(this.axis.value, row, this.task.value?.started), value);
            if (!this.epochs.has(name)) this.epochs.set(name, new Map());
            this.epochs.get(name)!.set(row.step, row.epoch ?? null);
            unclear ||= this.epochs.get(name)!.size <= CLEAR;
          }
        }
        this.lines.value = next;
        // A metric that counts something else has come.
        detail ||= unclear && mixed(this.epochs) !== this.mixed.value;
      }
    }
    if (detail) void this.load();
  }
}
