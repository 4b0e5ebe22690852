// What the pages show, kept current by the event stream. A page opens a store, the store fetches
// once, then follows. Events that arrive during a fetch wait for it: they may be newer than its
// answer, and all of them are whole objects or rows with a step, so applying one twice is harmless.
import { batch, signal } from '@preact/signals';
import { finite } from '../lib/format';
import { ApiError, get, list, message, taskPath } from './api';
import { link, listen } from './stream';
import { toast } from './toast';
import type {
  Curve,
  Curves,
  Experiment,
  ExperimentSummary,
  MetricRows,
  StreamEvent,
  Task,
  TaskCurves,
  TaskSummary,
} from './types';

type MetricRow = MetricRows['rows'][number];

// Bursts of events become one redraw.
const FLUSH_MS = 200;
// Points asked for in all; a curve needs few of them when there are many.
const POINTS_TOTAL = 60000;

export const now = signal(Date.now());
setInterval(() => {
  if (document.visibilityState === 'visible') now.value = Date.now();
}, 1000);

abstract class Store {
  error = signal<string | null>(null);
  missing = signal(false);
  loading = signal(true);
  private waiting: StreamEvent[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;
  private fetching = false;
  private again = false;
  private stop: (() => void) | null = null;

  protected abstract fetch(): Promise<void>;
  protected abstract apply(events: StreamEvent[]): void;

  open(): () => void {
    // What is fetched before the stream is open may change unheard: once it is open, it is fetched again.
    let early = link.value.state !== 'open';
    const unlink = link.subscribe((now) => {
      if (!early || now.state !== 'open') return;
      early = false;
      void this.load();
    });
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
    } else this.flush();
  }

  private flush() {
    this.timer = undefined;
    if (this.fetching || !this.waiting.length) return;
    const events = this.waiting;
    this.waiting = [];
    batch(() => this.apply(events));
  }
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
      if (event.type === 'notice') toast(event.data.text, { level: event.data.level });
      if (event.type !== 'experiment' && event.type !== 'removed') continue;
      if (event.type === 'experiment') next.set(event.data.id, event.data);
      else next.delete(event.data.experiment);
      moved = true;
    }
    if (moved) {
      this.items.value = next;
      this.total.value = Math.max(next.size, this.total.value);
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
}

export function toLine(curve: Curve): Line {
  return { step: curve.step, value: curve.value.map(finite), x: curve.x ?? [...curve.step] };
}

export type Axis = 'step' | 'epoch' | 'time';

// Seconds from the task's first start, as the interface counts them.
function place(axis: Axis, row: MetricRow, started: string | null | undefined): number | null {
  if (axis === 'step') return row.step;
  if (axis === 'epoch') return row.epoch ?? null;
  return started ? Math.max(0, row.time_ms - Date.parse(started)) / 1000 : null;
}

function addRow(line: Line, step: number, x: number | null, value: number | null) {
  let at = line.step.length;
  while (at > 0 && line.step[at - 1] >= step) at--;
  const same = line.step[at] === step;
  line.step.splice(at, same ? 1 : 0, step);
  line.x.splice(at, same ? 1 : 0, x);
  line.value.splice(at, same ? 1 : 0, value);
}

export class ExperimentStore extends Store {
  detail = signal<Experiment | null>(null);
  tasks = signal<Map<number, TaskSummary>>(new Map());
  total = signal(0);
  lines = new Map<number, Line>();
  // Lines change in place, a hundred at a time; this says that some did.
  drawn = signal(0);
  removed = signal(false);
  metric: string | null;
  // What the lines are over; moves together with them.
  axis = signal<Axis>('step');
  private wanted: Axis;

  constructor(
    readonly id: string,
    metric: string | null,
    axis: Axis = 'step',
  ) {
    super();
    this.metric = metric;
    this.wanted = axis;
  }

  protected async fetch() {
    const base = `/experiments/${this.id}`;
    const curves = this.fetchLines();
    // Awaited last; without this an early failure would count as unhandled.
    curves.catch(() => undefined);
    const [detail, tasks] = await Promise.all([get<Experiment>(base), list<TaskSummary>(`${base}/tasks?sort=number`)]);
    batch(() => {
      this.detail.value = detail;
      this.tasks.value = new Map(tasks.items.map((task) => [task.number, task]));
      this.total.value = tasks.total;
    });
    await curves;
  }

  private async fetchLines() {
    const many = this.tasks.value.size || experiments.items.value.get(this.id)?.tasks.total || POINTS_TOTAL / 200;
    const points = Math.max(60, Math.min(300, Math.round(POINTS_TOTAL / many)));
    const axis = this.wanted;
    const name = this.metric ? `&name=${encodeURIComponent(this.metric)}` : '';
    const got = await get<Curves>(`/experiments/${this.id}/metrics?points=${points}&axis=${axis}${name}`);
    if (axis !== this.wanted) return;
    this.lines = new Map(got.tasks.map((curve) => [curve.task, toLine(curve)]));
    batch(() => {
      this.axis.value = axis;
      this.drawn.value++;
    });
  }

  async show(metric: string) {
    this.metric = metric;
    await this.fetchLines();
  }

  async over(axis: Axis) {
    if (axis === this.wanted) return;
    this.wanted = axis;
    try {
      await this.fetchLines();
    } catch (error) {
      this.error.value = message(error);
    }
  }

  get shown(): string | null {
    return this.metric ?? this.detail.value?.objective[0]?.metric ?? null;
  }

  protected apply(events: StreamEvent[]) {
    let tasks: Map<number, TaskSummary> | null = null;
    let moved = false;
    for (const event of events) {
      if (event.type === 'experiment' && event.data.id === this.id && this.detail.value) {
        // A warning says that there is none, until there is.
        if (!this.detail.value.objective.length && event.data.objective.length) void this.load();
        this.detail.value = { ...this.detail.value, ...event.data };
      } else if (event.type === 'task' && event.data.experiment === this.id) {
        tasks ??= new Map(this.tasks.value);
        tasks.set(event.data.number, event.data);
        moved = true;
      } else if (event.type === 'metrics' && event.data.experiment === this.id) {
        const name = this.shown;
        const line = this.lines.get(event.data.task) ?? { step: [], value: [], x: [] };
        const started = (tasks ?? this.tasks.value).get(event.data.task)?.started;
        this.lines.set(event.data.task, line);
        for (const row of event.data.rows) {
          if (name && name in row.values)
            addRow(line, row.step, place(this.axis.value, row, started), finite(row.values[name]));
        }
        moved = true;
      } else if (event.type === 'removed' && event.data.experiment === this.id) {
        this.removed.value = true;
      }
    }
    if (tasks) {
      this.tasks.value = tasks;
      this.total.value = Math.max(tasks.size, this.total.value);
    }
    if (moved) this.drawn.value++;
  }
}

export class TaskStore extends Store {
  task = signal<Task | null>(null);
  experiment = signal<Experiment | null>(null);
  lines = signal<Map<string, Line>>(new Map());
  axis = signal<Axis>('step');

  constructor(
    readonly id: string,
    readonly number: number,
    private wanted: Axis = 'step',
  ) {
    super();
  }

  async over(axis: Axis) {
    if (axis === this.wanted) return;
    this.wanted = axis;
    await this.load();
  }

  protected async fetch() {
    const path = taskPath(this.id, this.number);
    const axis = this.wanted;
    const [task, experiment, metrics] = await Promise.all([
      get<Task>(path),
      get<Experiment>(`/experiments/${this.id}`),
      get<TaskCurves>(`${path}/metrics?points=1000&axis=${axis}`),
    ]);
    batch(() => {
      this.task.value = task;
      this.experiment.value = experiment;
      this.axis.value = axis;
      this.lines.value = new Map(Object.entries(metrics.metrics).map(([name, curve]) => [name, toLine(curve)]));
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
        for (const row of event.data.rows) {
          for (const [name, value] of Object.entries(row.values)) {
            if (!next.has(name)) next.set(name, { step: [], value: [], x: [] });
            addRow(next.get(name)!, row.step, place(this.axis.value, row, this.task.value?.started), finite(value));
          }
        }
        this.lines.value = next;
      }
    }
    if (detail) void this.load();
  }
}
