// One experiment as its page shows it: the summary first, then the tasks, then their curves. Up to a thousand tasks
// are all here, and the page sorts them; of more, the daemon gives the first in the order and through the filter that
// the page asks for, and the charts show the best of those that pass. Filters are always the daemon's.
import { batch, signal } from '@preact/signals';
import { nameList, splitNames } from '../lib/names';
import { bestOf } from '../lib/order';
import { afterPaint } from '../lib/paint';
import { Pool } from '../lib/pool';
import { keep, kept } from '../lib/router';
import { ApiError, get, message, type Page } from './api';
import { merge, within } from './curves';
import {
  type Axis,
  addRow,
  axisOf,
  emptyLine,
  epochsIn,
  experiments,
  type Line,
  lineOver,
  place,
  Store,
} from './store';
import type { Curves, Experiment, MetricRows, StreamEvent, TaskSummary } from './types';

// So many tasks are all kept here.
const WHOLE = 1000;
// Tasks of a request where there are more, and as many are in the charts then.
export const PAGE = 500;
// Tasks of earlier pages that are kept, for a selection that was made there.
const KEPT = 5000;
// Points asked for in all; a curve needs few of them when there are many, and a zoom fetches the rest.
const POINTS_TOTAL = 30000;
// Digits of a value that a chart can show: those of its readings (lib/format.ts), and a tenth of a pixel.
const DIGITS = '5';
const LATER_MS = 1500;
// Up to so many changed tasks are asked for by their numbers.
const FEW = 40;

export interface Asked {
  // '': the best first
  sort: string;
  state: string;
  filter: string;
  metrics: string[];
}

type TaskPage = Page<TaskSummary>;

// The same JSON? Quicker than two texts, which takes milliseconds for the tasks of a page.
function alike(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || !a || !b) return false;
  const [x, y] = [a as Record<string, unknown>, b as Record<string, unknown>];
  const keys = Object.keys(x);
  return keys.length === Object.keys(y).length && keys.every((key) => key in y && alike(x[key], y[key]));
}

// How often each configuration is run.
export const repeatsOf = (e: Experiment) => Number(e.spec.repeats ?? 1);
export const repeated = (e: Experiment) => repeatsOf(e) > 1;
// How many runs of a configuration there will be at least: once all tasks are there, no more of it come.
export const runsOf = (e: Experiment, tasks: number) => (e.tasks.total > tasks ? repeatsOf(e) : 1);

export class ExperimentStore extends Store {
  detail = signal<Experiment | null>(null);
  // What is known: all tasks, or those of the pages that were fetched.
  tasks = signal<Map<number, TaskSummary>>(new Map());
  // The numbers that the daemon gave, in its order; null: all tasks are known and none is filtered out.
  rows = signal<number[] | null>(null);
  // The numbers that the charts show where not all tasks are known: the best that pass the filter, whatever the order.
  charted = signal<number[]>([]);
  // How many tasks pass the filter.
  total = signal(0);
  // All tasks are known.
  complete = signal(true);
  // The filter that cannot be read, in words.
  wrong = signal<string | null>(null);
  // The curves of each metric that is shown, by the task's number.
  curves = new Map<string, Map<number, Line>>();
  // Lines change in place, a hundred at a time; this says that some did.
  drawn = signal(0);
  removed = signal(false);
  // The metrics that are shown; none: that of the first objective.
  metrics: string[];
  // What the lines are over; moves together with them.
  axis = signal<Axis>('step');
  // Whether steps have epochs beside them; null: not known.
  epochsKnown = signal<boolean | null>(null);
  private wanted: Axis;
  private next: string | null = null;
  // How many rows the user asked for.
  private listed = Math.min(KEPT, Math.max(PAGE, kept('rows')));
  private changed = new Set<number>();
  private later: ReturnType<typeof setTimeout> | undefined;
  private turn = 0;
  // The rows that were asked for last.
  private coming: Promise<void> = Promise.resolve();
  private drawing = 0;
  // Rows that came while curves were fetched: the answer may be older.
  private late: MetricRows[] | null = null;
  // Tasks of the charts that had no curve when they came.
  private bare = new Set<number>();
  private range: [number, number] | null = null;
  private points = 0;
  // Values with all their digits: wanted, and here.
  private exact = false;
  private full = false;

  constructor(
    readonly id: string,
    metric: string | null,
    axis: Axis,
    private asked: Asked,
  ) {
    super();
    this.metrics = splitNames(metric);
    this.wanted = axis;
  }

  private get base() {
    return `/experiments/${this.id}`;
  }

  open(): () => void {
    const close = super.open();
    keep('rows', this.listed > PAGE ? this.listed : null);
    return () => {
      keep('rows', null);
      clearTimeout(this.later);
      this.later = undefined;
      this.changed.clear();
      close();
    };
  }

  protected async fetch() {
    // As soon as it is known that there are few tasks, their curves are asked for: with the rows, not after them.
    const lines = () => {
      if (this.known === undefined || this.known > WHOLE) return null;
      const asked = this.fetchLines();
      // Awaited last; without this an early failure would count as unhandled.
      asked.catch(() => undefined);
      return asked;
    };
    let curves = lines();
    const rows = this.fetchAll();
    rows.catch(() => undefined);
    this.detail.value = await get<Experiment>(this.base);
    curves ??= lines();
    await rows;
    await this.fetchCharted();
    await (curves ?? this.fetchLines());
  }

  // How many tasks there are; a page that is opened first does not know it.
  private get known(): number | undefined {
    return (this.detail.value ?? experiments.items.value.get(this.id))?.tasks.total;
  }

  // All tasks first, also where the page opens with a filter: the charts show what it leaves out, too.
  private async fetchAll() {
    const { filter, state } = this.asked;
    await this.fetchRows({ ...this.asked, filter: '', state: 'all' });
    if (filter || (state !== 'all' && !this.complete.value)) await this.fetchRows();
  }

  private path(asked: Asked, more: Record<string, string>): string {
    const { sort, state, filter, metrics } = asked;
    const query = new URLSearchParams({ sort: this.order(sort), metrics: nameList(metrics) });
    if (filter) query.set('filter', filter);
    if (state !== 'all' && !this.complete.value) query.set('state', state);
    for (const [key, value] of Object.entries(more)) query.set(key, value);
    return `${this.base}/tasks?${query}`;
  }

  // The daemon's `best` is the best first; the table's is the smallest first.
  private order(sort: string): string {
    if (!sort) return 'best';
    if (this.natural === 'best' || !/^-?best$/.test(sort)) return sort;
    return sort === 'best' ? '-best' : 'best';
  }

  private fetchRows(asked = this.asked): Promise<void> {
    const rows = this.askRows(asked);
    this.coming = rows;
    return rows;
  }

  private async askRows(asked: Asked) {
    const turn = ++this.turn;
    let page: TaskPage;
    try {
      page = await get<TaskPage>(this.path(asked, { limit: String(PAGE) }));
      // A second page makes it complete; an update brings as many as were shown.
      while (page.next && (page.total <= WHOLE || page.items.length < this.listed)) {
        const rest = await get<TaskPage>(this.path(asked, { limit: String(PAGE), cursor: page.next }));
        page = { ...rest, items: [...page.items, ...rest.items] };
      }
    } catch (error) {
      // A filter that is still being typed: what is on the screen stays.
      if (!(error instanceof ApiError) || error.status !== 400) throw error;
      if (turn === this.turn) this.wrong.value = error.message;
      return;
    }
    if (turn === this.turn) this.takeRows(asked, page);
  }

  private takeRows(asked: Asked, page: TaskPage) {
    const whole = !asked.filter;
    batch(() => {
      this.wrong.value = null;
      if (whole && asked.state === 'all') this.complete.value = page.next === null;
      if (!this.complete.value || !whole) this.tasks.value = this.with(page.items);
      else this.tasks.value = new Map(page.items.map((task) => [task.number, task]));
      this.rows.value = this.complete.value && whole ? null : page.items.map((task) => task.number);
      this.total.value = page.total;
      this.next = page.next;
    });
  }

  // What is known with these tasks. One that is as it was stays the same object, so that nothing is drawn again for it.
  private with(items: TaskSummary[]): Map<number, TaskSummary> {
    const few = this.complete.value || this.tasks.value.size + items.length <= KEPT;
    const kept = few ? [...this.tasks.value.keys()] : [...this.charted.value, ...(this.rows.value ?? [])];
    const next = new Map(kept.flatMap((n) => (this.tasks.value.has(n) ? [[n, this.tasks.value.get(n)!]] : [])));
    for (const task of items) {
      const before = next.get(task.number);
      if (!before || !alike(before, task)) next.set(task.number, task);
    }
    return next;
  }

  // The charts follow when the table is on the screen: they take longer, and few of their tasks change.
  private async fetchCharted() {
    if (this.complete.value) return;
    const { turn } = this;
    let numbers = this.rows.value ?? [];
    if (!this.asked.sort || this.asked.sort === this.natural) {
      await new Promise<void>((done) => {
        afterPaint(done);
      });
    } else {
      const page = await get<TaskPage>(this.path({ ...this.asked, sort: '' }, { limit: String(PAGE) }));
      if (turn !== this.turn) return;
      this.tasks.value = this.with(page.items);
      numbers = page.items.map((task) => task.number);
    }
    if (turn === this.turn) this.charted.value = numbers.slice(0, PAGE);
  }

  // The best first, as the table calls it.
  private get natural(): string {
    const goal = (this.detail.value ?? experiments.items.value.get(this.id))?.objective[0]?.goal;
    return goal === 'max' ? '-best' : 'best';
  }

  get more(): boolean {
    return this.next !== null && this.rows.value !== null;
  }

  // The next page of rows. An update that is under way, or that comes in between, brings them, too: then they are not
  // asked for, or left out, so that no row is there twice.
  async fetchMore() {
    const { asked } = this;
    const before = this.rows.value?.length ?? 0;
    this.listed = Math.max(this.listed, before + PAGE);
    keep('rows', this.listed);
    await this.coming.catch(() => undefined);
    const { next: cursor, turn } = this;
    if (!cursor || asked !== this.asked || (this.rows.value?.length ?? 0) > before) return;
    const page = await get<TaskPage>(this.path(this.asked, { limit: String(PAGE), cursor }));
    if (turn !== this.turn || cursor !== this.next) return;
    batch(() => {
      this.tasks.value = this.with(page.items);
      this.rows.value = [...(this.rows.value ?? []), ...page.items.map((task) => task.number)];
      this.next = page.next;
    });
  }

  // Another order, filter or column. Where all tasks are known, only a filter or a column needs the daemon.
  async ask(asked: Asked) {
    const before = this.asked;
    this.asked = asked;
    const same = (a: Asked, b: Asked) => a.filter === b.filter && a.metrics.join() === b.metrics.join();
    const moved = before.sort !== asked.sort || before.state !== asked.state;
    if (same(before, asked) && (this.complete.value || !moved)) return;
    this.listed = PAGE;
    keep('rows', null);
    try {
      await this.fetchRows();
      // Another order shows other rows; the charts stay.
      const other = !same(before, asked) || before.state !== asked.state;
      if (this.complete.value || !other) return;
      await this.fetchCharted();
      await this.fetchLines();
    } catch (error) {
      this.error.value = message(error);
    }
  }

  // The curves of the first metric.
  get lines(): Map<number, Line> {
    return this.curves.get(this.shown ?? '') ?? new Map();
  }

  private async fetchLines() {
    const drawn = this.complete.value ? null : this.charted.value;
    const names: (string | null)[] = this.metrics.length ? this.metrics : [null];
    const many = (drawn?.length || this.tasks.value.size || this.known || 1) * names.length;
    this.points = Math.max(60, Math.min(300, Math.round(POINTS_TOTAL / many)));
    const asked = this.wanted;
    const { exact } = this;
    const turn = ++this.drawing;
    this.late ??= [];
    let got: Curves[];
    let late: MetricRows[] = [];
    try {
      got = await Promise.all(
        names.map((name) => this.fetchCurves(name, { axis: asked, ...(drawn ? { tasks: drawn.join() } : {}) })),
      );
    } finally {
      // Also after a failure: nothing would take these rows, and each event would add to them.
      if (turn === this.drawing) {
        late = this.late ?? [];
        this.late = null;
      }
    }
    if (turn !== this.drawing) return;
    this.full = exact;
    this.bare.clear();
    const all = got.flatMap((curves) => curves.tasks);
    const axis = axisOf(asked, all);
    this.curves = new Map(
      got.map((curves, i) => [
        names[i] ?? curves.name ?? '',
        new Map(curves.tasks.map((curve) => [curve.task, lineOver(axis, curve)])),
      ]),
    );
    batch(() => {
      this.axis.value = axis;
      this.epochsKnown.value = epochsIn(asked, all) ?? this.epochsKnown.value;
      for (const rows of late) this.addPoints(rows, this.tasks.value);
      this.drawn.value++;
    });
    await this.fetchDetail();
  }

  // The curves of tasks that came into the charts since the others were fetched.
  private async fetchNew() {
    if (this.complete.value) return;
    const { drawing } = this;
    const axis = this.axis.value;
    for (const [name, lines] of this.curves) {
      const fresh = this.charted.value.filter((n) => !lines.has(n) && !this.bare.has(n));
      if (!fresh.length) continue;
      const got = await this.fetchCurves(name, { axis, tasks: fresh.join() });
      if (drawing !== this.drawing) return;
      for (const n of fresh) this.bare.add(n);
      for (const curve of got.tasks) {
        lines.set(curve.task, lineOver(axis, curve));
        this.bare.delete(curve.task);
      }
      this.drawn.value++;
    }
  }

  private async fetchCurves(name: string | null, more: Record<string, string>): Promise<Curves> {
    const query = new URLSearchParams({ points: String(this.points), ...more });
    if (name) query.set('name', name);
    if (!this.exact) query.set('digits', DIGITS);
    try {
      return await get<Curves>(`${this.base}/metrics?${query}`);
    } catch (error) {
      // An address may name a metric that is not there, or not any more: the other curves are shown.
      if (!name || !(error instanceof ApiError) || error.status !== 404) throw error;
      return { experiment: this.id, name, step_name: 'step', tasks: [] };
    }
  }

  // Fetches what is drawn with all digits, for a table or a file.
  async fetchExact() {
    this.exact = true;
    while (!this.full) await this.fetchLines();
  }

  // Shows a stretch of the axis: curves get all the points that they have there, with the digits that tell these apart.
  async zoom(range: [number, number] | null) {
    this.range = range;
    try {
      await this.fetchDetail();
    } catch (error) {
      this.error.value = message(error);
    }
  }

  private async fetchDetail() {
    const { range, drawing } = this;
    if (!range) return;
    const axis = this.axis.value;
    for (const [name, lines] of this.curves) {
      const thin = [...lines].filter(([, line]) => !this.full || line.step.length >= this.points / 2);
      const steps = thin.map(([, line]) => within(line, range)).filter((part) => part !== null);
      if (!steps.length) continue;
      const from = Math.min(...steps.map((part) => part[0]));
      const to = Math.max(...steps.map((part) => part[1]));
      const part = thin.length < lines.size || !this.complete.value;
      const tasks: Record<string, string> = part ? { tasks: thin.map(([n]) => n).join() } : {};
      const got = await this.fetchCurves(name, { axis, from: String(from), to: String(to), ...tasks });
      if (drawing !== this.drawing || range !== this.range) return;
      for (const curve of got.tasks) {
        const line = lines.get(curve.task);
        if (line) lines.set(curve.task, merge(line, lineOver(axis, curve)));
      }
      this.drawn.value++;
    }
  }

  async show(metrics: string[]) {
    this.metrics = metrics;
    await this.fetchLines();
  }

  async over(asked: Axis | null) {
    const axis = asked ?? 'step';
    if (axis === this.wanted) return;
    this.wanted = axis;
    try {
      await this.fetchLines();
    } catch (error) {
      this.error.value = message(error);
    }
  }

  get shown(): string | null {
    return this.metrics[0] ?? this.detail.value?.objective[0]?.metric ?? null;
  }

  // Another objective gives every task another best value, and the charts other curves.
  take(shown: Experiment) {
    const before = this.detail.value?.objective;
    this.detail.value = shown;
    if (before && JSON.stringify(before) !== JSON.stringify(shown.objective)) void this.load();
  }

  // What only the daemon can say about tasks that changed: their place in its order, whether they pass the filter, and
  // their further metrics.
  private refreshLater(number: number) {
    this.changed.add(number);
    const listed = this.rows.value !== null;
    const values = this.asked.metrics.length > 0 || (this.detail.value?.objective.length ?? 0) > 1;
    if (!listed && !values) this.changed.clear();
    else this.later ??= setTimeout(() => void this.refresh(listed), (LATER_MS * this.listed) / PAGE);
  }

  // One at a time: where the daemon takes longer than tasks take to change, each answer would be older than the next
  // request, and none would be shown.
  private async refresh(listed: boolean) {
    const numbers = [...this.changed];
    this.changed.clear();
    try {
      if (listed || numbers.length > FEW) {
        await this.fetchRows();
        await this.fetchCharted();
        await this.fetchNew();
      } else {
        const filter = numbers.map((n) => `number = ${n}`).join(' or ');
        const page = await get<TaskPage>(this.path(this.asked, { limit: String(FEW), filter, sort: 'number' }));
        const tasks = new Map(this.tasks.value);
        for (const task of page.items) tasks.set(task.number, task);
        this.tasks.value = tasks;
      }
    } catch {
      // The next change asks again.
    }
    this.later = undefined;
    for (const number of this.changed) this.refreshLater(number);
  }

  // The best in the summary follows the tasks at once; the experiment's own event comes a moment later.
  private followBest(changed: Map<number, TaskSummary> | null) {
    const e = this.detail.value;
    if (!e || !changed || !e.objective.length) return;
    const max = e.objective[0].goal === 'max';
    if (repeated(e)) {
      // Of several objectives the daemon says the others' values, too.
      if (!this.complete.value || e.objective.length > 1) return;
      const best = new Pool([...changed.values()], true, runsOf(e, changed.size)).best(max);
      const same = e.best?.task === best?.task && e.best?.mean === best?.mean && e.best?.repeats === best?.repeats;
      if (best && !same) this.detail.value = { ...e, best };
      return;
    }
    const now = e.best && changed.get(e.best.task);
    const best = this.complete.value
      ? bestOf(changed.values(), max)
      : e.best && !now
        ? null
        : bestOf(changed.values(), max);
    if (!best || (e.best?.task === best.number && e.best.value === best.best!.value)) return;
    this.detail.value = {
      ...e,
      best: {
        task: best.number,
        value: best.best!.value,
        epoch: best.best!.epoch,
        state: best.state,
        parameters: best.parameters,
      },
    };
  }

  protected apply(events: StreamEvent[]) {
    let tasks: Map<number, TaskSummary> | null = null;
    let moved = false;
    for (const event of events) {
      if (event.type === 'experiment' && event.data.id === this.id && this.detail.value) {
        this.take({ ...this.detail.value, ...event.data });
      } else if (event.type === 'task' && event.data.experiment === this.id) {
        const number = event.data.number;
        const before = this.tasks.value.get(number);
        this.refreshLater(number);
        // A task that is on no page stays away; the daemon is asked where it belongs.
        if (!before && !this.complete.value) continue;
        tasks ??= new Map(this.tasks.value);
        tasks.set(number, { ...event.data, values: before?.values });
        moved = true;
      } else if (event.type === 'metrics' && event.data.experiment === this.id) {
        this.addNames(event.data);
        moved = this.addPoints(event.data, tasks ?? this.tasks.value) || moved;
      } else if (event.type === 'removed' && event.data.experiment === this.id) {
        this.removed.value = true;
      }
    }
    if (tasks) {
      this.tasks.value = tasks;
      if (this.rows.value === null) this.total.value = Math.max(tasks.size, this.total.value);
    }
    this.followBest(tasks ?? this.tasks.value);
    if (moved) this.drawn.value++;
  }

  // A metric that no task had when the experiment was fetched can be chosen from its first value on.
  private addNames(data: MetricRows) {
    const e = this.detail.value;
    const fresh = new Set(data.rows.flatMap((row) => Object.keys(row.values)));
    for (const name of e?.metrics ?? []) fresh.delete(name);
    if (e && fresh.size) this.detail.value = { ...e, metrics: [...e.metrics, ...fresh] };
  }

  private addPoints(data: MetricRows, tasks: Map<number, TaskSummary>): boolean {
    this.late?.push(data);
    if (!this.curves.size && this.shown) this.curves.set(this.shown, new Map());
    const started = tasks.get(data.task)?.started;
    let moved = false;
    for (const [name, lines] of this.curves) {
      if (!this.complete.value && !lines.has(data.task) && !this.bare.has(data.task)) continue;
      const line = lines.get(data.task) ?? emptyLine();
      for (const row of data.rows)
        if (Object.hasOwn(row.values, name))
          addRow(line, row.step, place(this.axis.value, row, started), row.values[name]);
      if (line.step.length) lines.set(data.task, line);
      moved = true;
    }
    return moved;
  }
}
