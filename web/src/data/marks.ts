// Tags, notes, stars and the archive: what people write about experiments and tasks.
import { count, plural } from '../lib/format';
import { message, post } from './api';
import { toast } from './toast';
import type { Experiment, Marks, Task } from './types';

// Sends the marks of an experiment (number null) or of one task. What the daemon has then; null: it refused.
async function send<T>(path: string, marks: Marks): Promise<T | null> {
  try {
    return await post<T>(`${path}/marks`, marks);
  } catch (error) {
    toast(message(error), { level: 'error' });
    return null;
  }
}

export const markExperiment = (id: string, marks: Marks) => send<Experiment>(`/experiments/${id}`, marks);
export const markTask = (id: string, number: number, marks: Marks) =>
  send<Task>(`/experiments/${id}/tasks/${number}`, marks);

// The daemon does nothing else while it writes one request.
const AT_ONCE = 250;

// Marks many tasks of one experiment. The number of them; null: refused. Where a later part is refused, what was marked
// before stays, and the message says how many.
export async function markTasks(id: string, tasks: number[], marks: Marks): Promise<number | null> {
  let done = 0;
  try {
    while (done < tasks.length) {
      const part = tasks.slice(done, done + AT_ONCE);
      done += (await post<{ tasks: number }>(`/experiments/${id}/tasks/marks`, { tasks: part, ...marks })).tasks;
    }
    return done;
  } catch (error) {
    const some = done ? `${plural(done, 'task')} of ${count(tasks.length)} were marked. ` : '';
    toast(`${some}${message(error)}`, { level: 'error' });
    return null;
  }
}
