// How long a task has run: the sum of its attempts, without the time between them. The daemon says it; while an attempt
// runs, the time since the daemon said it is added.

import { seconds } from '../lib/format';
import { now } from './store';
import type { TaskSummary } from './types';

const said = new WeakMap<TaskSummary, number>();

export function ranSeconds(task: TaskSummary): number | null {
  if (task.state !== 'running') return task.elapsed_s;
  if (task.attempt === 1 || task.elapsed_s === null) return seconds(task.started, now.value);
  const at = said.get(task) ?? now.value;
  said.set(task, at);
  return task.elapsed_s + Math.max(0, now.value - at) / 1000;
}
