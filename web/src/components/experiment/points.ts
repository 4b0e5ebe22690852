// All tasks of an experiment of which the page has only a part, with the columns that a chart needs and no more: a row
// of numbers and words each.
import { useMemo } from 'preact/hooks';
import type { Columns, Experiment, TaskSummary, Value } from '../../data/types';
import { plural } from '../../lib/format';
import { columnList } from '../../lib/names';
import { own } from '../../lib/own';
import { query } from '../../lib/router';
import { useAsked } from './Insight';

// Of more tasks the charts show a fair sample.
const MOST = 20000;

export interface Points {
  tasks: TaskSummary[];
  // Which tasks these are, in words; null: all that pass the filter.
  part: string | null;
  sample: boolean;
  // How many pass the filter.
  total: number;
  // All tasks of the experiment are here.
  whole: boolean;
}

export interface Asked {
  // null: not here yet
  points: Points | null;
  // why they do not come
  trouble: string | null;
}

type Cell = Value | null;

// Puts a cell where a task has it.
function put(task: TaskSummary, key: string, cell: Cell) {
  const number = typeof cell === 'number' ? cell : null;
  const [, kind, name] = /^(p|m|last)\.(.+)$/s.exec(key) ?? [];
  const { cost } = task;
  if (kind === 'p') {
    if (cell !== null) task.parameters[name] = cell;
  } else if (kind) {
    task.values ??= {};
    if (!own(task.values, name)) task.values[name] = { best: null, last: null, epoch: null };
    task.values[name][kind === 'm' ? 'best' : 'last'] = cell as never;
  } else if (key === 'best') task.best = cell === null ? null : { value: cell as never, epoch: null as never };
  else if (key === 'time') task.elapsed_s = number;
  else if (key === 'epoch') task.epoch = number;
  else if (key === 'energy') cost.energy_j = number;
  else if (key === 'cpu_time') cost.cpu_s = number;
  else if (key === 'gpu_time') cost.gpu_s = number;
  else if (key === 'memory') cost.max_rss_bytes = number;
  else if (key === 'started') task.started = number === null ? null : new Date(number).toISOString();
  else if (key === 'state') task.state = cell as TaskSummary['state'];
  else if (key === 'node') task.node = cell as string | null;
}

function taskOf(columns: string[], [number, ...cells]: Cell[]): TaskSummary {
  const cost = { wall_s: null, cpu_s: null, gpu_s: null, max_rss_bytes: null, energy_j: null, energy_source: null };
  const task = {
    number,
    parameters: {},
    best: null,
    epoch: null,
    elapsed_s: null,
    started: null,
    finished: '',
    cost,
  } as unknown as TaskSummary;
  columns.forEach((key, i) => {
    put(task, key, cells[i]);
  });
  return task;
}

// `columns` null: nothing is asked for. `filtered`: only tasks that pass the filter of the table. `most`: of more tasks
// a sample; null: all.
export function usePoints(e: Experiment, columns: string[] | null, filtered = true, most: number | null = MOST): Asked {
  const state = (filtered && query.value.get('state')) || 'all';
  const filter = filtered ? (query.value.get('q') ?? '').trim() : '';
  const asked = new URLSearchParams({ of: columnList([...new Set(columns ?? [])]) });
  if (most) asked.set('most', String(most));
  if (state !== 'all') asked.set('state', state);
  if (filter) asked.set('filter', filter);
  const whole = state === 'all' && !filter;
  const what = `columns?${asked}`;
  const got = useAsked<Columns>(e, what, columns ? '' : null).value;
  // Points of another filter are no answer to this one.
  const answer = got?.what === what ? got.answer : null;
  const trouble = got?.what === what ? got.trouble : null;
  return useMemo(() => {
    if (!answer) return { points: null, trouble };
    const tasks = answer.rows.map((row) => taskOf(answer.columns, row as Cell[]));
    const part =
      answer.one_of > 1 ? `a fair sample of ${plural(tasks.length, 'task')} of ${plural(answer.total, 'task')}` : null;
    return { points: { tasks, part, total: answer.total, sample: !!part, whole: whole && !part }, trouble: null };
  }, [answer, trouble, whole]);
}
