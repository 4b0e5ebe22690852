// The table's order. Tasks without a value, and by their best those beyond a limit, come last whichever way it is
// sorted, failed ones before those that have not begun.
import type { TaskSummary, Value } from '../data/types';
import { finite } from './format';
import { own } from './own';

type Key = number | string | null;

function key(task: TaskSummary, by: string): Key {
  if (by.startsWith('p.')) {
    const value: Value | undefined = own(task.parameters, by.slice(2));
    return typeof value === 'number' || typeof value === 'string'
      ? value
      : value === undefined || value === null
        ? null
        : String(value);
  }
  const further = /^(m|last)\.(.+)$/.exec(by);
  if (further) return finite(own(task.values, further[2])?.[further[1] === 'm' ? 'best' : 'last']);
  switch (by) {
    case 'state':
      return task.state;
    case 'epoch':
      return task.epoch;
    case 'best':
      return task.beyond ? null : finite(task.best?.value);
    case 'at':
      return task.best?.epoch ?? null;
    case 'time':
      return task.elapsed_s;
    case 'energy':
      return task.cost.energy_j;
    case 'cpu_time':
      return task.cost.cpu_s;
    case 'gpu_time':
      return task.cost.gpu_s;
    case 'memory':
      return task.cost.max_rss_bytes ?? null;
    case 'cause':
      return task.cause?.text ?? null;
    case 'tags':
      return task.tags?.join() || null;
    case 'node':
      return task.node;
    case 'job':
      return task.job;
    case 'started':
      return task.started;
    case 'attempt':
      return task.attempt;
    default:
      return task.number;
  }
}

const rank = (task: TaskSummary) => (task.state === 'error' ? 0 : task.started ? 1 : 2);

export function order(tasks: TaskSummary[], sort: string): TaskSummary[] {
  const by = sort.replace(/^-/, '');
  const sign = sort.startsWith('-') ? -1 : 1;
  const keys = new Map(tasks.map((task) => [task, key(task, by)]));
  return [...tasks].sort((a, b) => {
    const x = keys.get(a)!;
    const y = keys.get(b)!;
    if (x === null || y === null) {
      if (x !== y) return x === null ? 1 : -1;
      return rank(a) - rank(b) || a.number - b.number;
    }
    const way = typeof x === 'number' && typeof y === 'number' ? x - y : String(x).localeCompare(String(y));
    return way * sign || a.number - b.number;
  });
}

// The best of some tasks, as the daemon counts it: the first of equals, whatever its state, of those within the limits.
export function bestOf(tasks: Iterable<TaskSummary>, max: boolean): TaskSummary | null {
  let best: TaskSummary | null = null;
  for (const task of tasks) {
    const value = finite(task.best?.value);
    if (value === null || task.beyond) continue;
    const before = best && finite(best.best!.value)!;
    const way = before === null ? -1 : max ? before - value : value - before;
    if (way < 0 || (way === 0 && task.number < best!.number)) best = task;
  }
  return best;
}
