// The table's order. Tasks without a value come last whichever way it is sorted, failed ones before those
// that have not begun.
import type { TaskSummary, Value } from '../data/types';
import { finite } from './format';

type Key = number | string | null;

function key(task: TaskSummary, by: string): Key {
  if (by.startsWith('p.')) {
    const value: Value | undefined = task.parameters[by.slice(2)];
    return typeof value === 'number' || typeof value === 'string'
      ? value
      : value === undefined || value === null
        ? null
        : String(value);
  }
  switch (by) {
    case 'state':
      return task.state;
    case 'epoch':
      return task.epoch;
    case 'best':
      return task.state === 'error' ? null : finite(task.best?.value);
    case 'at':
      return task.best?.epoch ?? null;
    case 'time':
      return task.elapsed_s;
    case 'energy':
      return task.cost.energy_j;
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
