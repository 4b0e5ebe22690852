// The tasks that are compared: any of any experiments, with the curves of their metrics, kept current.
import { batch, signal } from '@preact/signals';
import { nameList } from '../lib/names';
import { get, taskPath } from './api';
import { type Axis, addRow, axisOf, emptyLine, epochsIn, type Line, lineOver, place, Store } from './store';
import type { Experiment, StreamEvent, TaskCurves, TaskList, TaskSummary } from './types';

export interface Ref {
  id: string;
  number: number;
}

export interface Compared {
  key: string; // e12/7
  task: TaskSummary;
  e: Experiment;
  lines: Map<string, Line>;
}

type Fetched = Omit<Compared, 'lines'> & { curves: TaskCurves['metrics'] };

export const keyOf = (ref: Ref) => `${ref.id}/${ref.number}`;

// "3,e5/7" beside the experiment of the address, which the bare numbers belong to.
export function parseRefs(text: string, home: string | null): Ref[] {
  const seen = new Set<string>();
  const refs: Ref[] = [];
  for (const part of text.split(',')) {
    const found = /^(?:(e\d+)\/)?(\d+)$/.exec(part.trim());
    const id = found?.[1] ?? home;
    if (!found || !id) continue;
    const ref = { id, number: Number(found[2]) };
    if (!seen.has(keyOf(ref))) refs.push(ref);
    seen.add(keyOf(ref));
  }
  return refs;
}

export class CompareStore extends Store {
  items = signal<Map<string, Compared>>(new Map());
  axis = signal<Axis>('step');
  // Whether steps have epochs beside them; null: not known.
  epochsKnown = signal<boolean | null>(null);
  // Moves whenever a line has grown in place.
  version = signal(0);

  constructor(
    private refs: Ref[],
    private wanted: Axis = 'step',
  ) {
    super();
  }

  async over(asked: Axis | null) {
    const axis = asked ?? 'step';
    if (axis === this.wanted) return;
    this.wanted = axis;
    await this.load();
  }

  async choose(refs: Ref[]) {
    this.refs = refs;
    await this.load();
  }

  private async experiment(id: string, numbers: number[], axis: Axis): Promise<Fetched[]> {
    const e = await get<Experiment>(`/experiments/${id}`);
    const filter = encodeURIComponent(numbers.map((n) => `number = ${n}`).join(' or '));
    const metrics = encodeURIComponent(nameList(e.metrics));
    const page = await get<TaskList>(`/experiments/${id}/tasks?limit=1000&filter=${filter}&metrics=${metrics}`);
    return Promise.all(
      page.items.map(async (task) => {
        const got = await get<TaskCurves>(`${taskPath(id, task.number)}/metrics?points=400&axis=${axis}`);
        return { key: task.id, task, e, curves: got.metrics };
      }),
    );
  }

  protected async fetch() {
    const asked = this.wanted;
    const ids = [...new Set(this.refs.map((ref) => ref.id))];
    const found = await Promise.all(
      ids.map((id) =>
        this.experiment(
          id,
          this.refs.filter((ref) => ref.id === id).map((ref) => ref.number),
          asked,
        ),
      ),
    );
    const curves = found.flat().flatMap((item) => Object.values(item.curves));
    const axis = axisOf(asked, curves);
    const lines = (of: TaskCurves['metrics']) =>
      new Map(Object.entries(of).map(([name, curve]) => [name, lineOver(axis, curve)]));
    const all = new Map(
      found.flat().map(({ curves, ...item }): [string, Compared] => [item.key, { ...item, lines: lines(curves) }]),
    );
    batch(() => {
      this.axis.value = axis;
      this.epochsKnown.value = epochsIn(asked, curves) ?? this.epochsKnown.value;
      this.items.value = new Map(
        this.refs.flatMap((ref) => (all.has(keyOf(ref)) ? [[keyOf(ref), all.get(keyOf(ref))!]] : [])),
      );
    });
  }

  protected apply(events: StreamEvent[]) {
    let ended = false;
    const next = new Map(this.items.value);
    for (const event of events) {
      if (event.type === 'task') {
        const item = next.get(event.data.id);
        if (!item) continue;
        ended ||= item.task.state !== event.data.state;
        next.set(item.key, { ...item, task: { ...item.task, ...event.data } });
      } else if (event.type === 'metrics') {
        const item = next.get(`${event.data.experiment}/${event.data.task}`);
        if (!item) continue;
        for (const row of event.data.rows)
          for (const [name, value] of Object.entries(row.values)) {
            if (!item.lines.has(name)) item.lines.set(name, emptyLine());
            addRow(item.lines.get(name)!, row.step, place(this.axis.value, row, item.task.started), value);
          }
        this.version.value++;
      }
    }
    this.items.value = next;
    if (ended) void this.load();
  }
}
