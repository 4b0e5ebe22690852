// What people do to tasks: each asks first where work could be lost, says how many, and reports back.

import { plural } from '../lib/format';
import { go } from '../lib/router';
import { message, post, remove } from './api';
import { ask, confirm } from './confirm';
import type { Larger } from './larger';
import { experiments } from './store';
import { toast } from './toast';
import type { Counts, TaskSummary } from './types';

export function stoppable(task: TaskSummary): boolean {
  return task.state === 'running' || task.state === 'submitted' || task.state === 'waiting';
}

// What the daemon does unless it is told otherwise.
const FROM = 'from its checkpoint where it has saved one, else from the first epoch';

const FRESH = 'Start fresh: from the first epoch, without the checkpoint and the files of the attempt before';
const SAVE = 'Let scripts save a checkpoint first';
const modeOf = (choice: { option: boolean }) => (choice.option ? { mode: 'fresh' } : {});
const savingOf = (choice: { option: boolean }) => (choice.option ? { checkpoint: true } : {});

async function attempt(run: () => Promise<void>) {
  try {
    await run();
  } catch (error) {
    toast(message(error), { level: 'error' });
  }
}

function lossText(running: number, queued: number): string {
  const parts: string[] = [];
  const lose = running === 1 ? 'loses the work since its' : 'lose the work since their';
  if (running) parts.push(`${plural(running, 'running task')} ${lose} last checkpoint`);
  if (queued) parts.push(`${plural(queued, 'queued task')} ${queued === 1 ? 'leaves' : 'leave'} the queue`);
  return `${parts.join('; ')}. Finished results stay.`;
}

export async function stopTasks(id: string, tasks: TaskSummary[]) {
  const chosen = tasks.filter(stoppable);
  if (!chosen.length) {
    toast('None of the chosen tasks is running or queued.');
    return;
  }
  const running = chosen.filter((task) => task.state === 'running').length;
  const many = plural(chosen.length, 'task');
  const choice = await ask({
    title: `Stop ${many}?`,
    text: lossText(running, chosen.length - running),
    yes: `Stop ${many}`,
    no: 'Keep running',
    icon: 'stop',
    option: running ? SAVE : undefined,
  });
  if (!choice) return;
  const numbers = chosen.map((task) => task.number);
  await attempt(async () => {
    const done = await post<{ tasks: number }>(`/experiments/${id}/tasks/stop`, {
      tasks: numbers,
      ...savingOf(choice),
    });
    toast(`Stopped ${plural(done.tasks, 'task')}.`, {
      action: { label: 'Restart them', run: () => void send(id, numbers) },
    });
  });
}

async function send(id: string, numbers: number[], choice = { option: false }) {
  await attempt(async () => {
    const done = await post<{ tasks: number }>(`/experiments/${id}/tasks/restart`, {
      tasks: numbers,
      ...modeOf(choice),
    });
    toast(`Restarted ${plural(done.tasks, 'task')}.`);
  });
}

export async function restartTasks(id: string, tasks: TaskSummary[]) {
  const chosen = tasks.filter((task) => !stoppable(task));
  if (!chosen.length) {
    toast('Running and queued tasks cannot be restarted; stop them first.');
    return;
  }
  const finished = chosen.filter((task) => task.state === 'finished').length;
  const many = plural(chosen.length, 'task');
  const which = finished < chosen.length ? `${finished} of them have` : finished === 1 ? 'It has' : 'All have';
  const replaced = finished
    ? ` ${which} finished already; the new attempt replaces the result once it has started.`
    : '';
  const text = `${chosen.length === 1 ? 'It' : 'Each'} gets a new attempt of the same configuration: ${FROM}.${replaced}`;
  const choice = await ask({
    title: `Restart ${many}?`,
    text,
    yes: `Restart ${many}`,
    no: 'Cancel',
    icon: 'restart',
    option: FRESH,
  });
  if (!choice) return;
  await send(
    id,
    chosen.map((task) => task.number),
    choice,
  );
}

// Asks for more from now on, in the whole experiment, and runs the tasks again.
export async function restartLarger(id: string, numbers: number[], larger: Larger) {
  await attempt(async () => {
    await post(`/experiments/${id}/search`, { resources: larger.resources });
    const done = await post<{ tasks: number }>(`/experiments/${id}/tasks/restart`, { tasks: numbers });
    toast(
      `Restarted ${plural(done.tasks, 'task')} with ${larger.label}. Further attempts of this experiment get as much.`,
    );
  });
}

export async function stopAll(id: string, counts: Counts) {
  const queued = counts.total - counts.running - counts.finished - counts.error - counts.stopped - counts.pruned;
  const many = plural(queued + counts.running, 'task');
  const choice = await ask({
    title: `Stop ${many}?`,
    text: lossText(counts.running, queued),
    yes: `Stop ${many}`,
    no: 'Keep running',
    icon: 'stop',
    option: counts.running ? SAVE : undefined,
  });
  if (!choice) return;
  await attempt(async () => {
    const done = await post<{ tasks: number; unproposed: number }>(`/experiments/${id}/stop`, savingOf(choice));
    const rest = done.unproposed ? ` ${plural(done.unproposed, 'planned task')} will not run.` : '';
    toast(`Stopped ${plural(done.tasks, 'task')}.${rest}`);
  });
}

export async function restartFailed(id: string, failed: number) {
  const many = plural(failed, 'failed task');
  const choice = await ask({
    title: `Restart ${many}?`,
    text: `Each gets a new attempt of the same configuration: ${FROM}. Finished tasks are left alone.`,
    yes: `Restart ${many}`,
    no: 'Cancel',
    icon: 'restart',
    option: FRESH,
  });
  if (!choice) return;
  await attempt(async () => {
    const done = await post<{ tasks: number }>(`/experiments/${id}/restart`, { failed: true, ...modeOf(choice) });
    toast(`Restarted ${plural(done.tasks, 'task')}.`);
  });
}

export async function resumeExperiment(id: string) {
  await attempt(async () => {
    await post(`/experiments/${id}/resume`);
    toast('The experiment goes on.');
  });
}

// True where they are gone. Tasks that run are left alone, and the dialog says so.
export async function removeTasks(id: string, tasks: TaskSummary[]): Promise<boolean> {
  const chosen = tasks.filter((task) => !stoppable(task));
  if (!chosen.length) {
    toast('Running and queued tasks cannot be removed; stop them first.');
    return false;
  }
  const many = plural(chosen.length, 'task');
  const open = tasks.length - chosen.length;
  const left = open
    ? ` ${plural(open, 'task')} that ${open === 1 ? 'has not ended stays' : 'have not ended stay'}.`
    : '';
  const text = `Metrics, logs and files of ${many} will be deleted. This cannot be undone. The search keeps what it has learnt from ${chosen.length === 1 ? 'it' : 'them'}.${left}`;
  const yes = `Remove ${many}`;
  if (!(await confirm({ title: `Remove ${many}?`, text, yes, no: 'Keep', icon: 'trash' }))) return false;
  let gone = false;
  await attempt(async () => {
    const done = await post<{ tasks: number }>(`/experiments/${id}/tasks/remove`, {
      tasks: chosen.map((task) => task.number),
    });
    gone = true;
    toast(`Removed ${plural(done.tasks, 'task')}.`);
  });
  return gone;
}

export async function removeExperiment(id: string, name: string, counts: Counts) {
  const busy = counts.running + counts.submitted + counts.waiting;
  const stopped = busy ? ` ${plural(busy, 'task')} still running or queued will be stopped first.` : '';
  const all = plural(counts.total, 'task');
  const text = `All ${all} of “${name}” with metrics, logs and results will be deleted.${stopped}`;
  if (
    !(await confirm({
      title: 'Remove this experiment?',
      text,
      yes: busy ? 'Stop and remove' : 'Remove',
      no: 'Keep',
      icon: 'trash',
    }))
  )
    return;
  await attempt(async () => {
    await remove(`/experiments/${id}${busy ? '?stop=1' : ''}`);
    experiments.forget(id);
    toast(`Removed ${name}.`);
    go('/');
  });
}
