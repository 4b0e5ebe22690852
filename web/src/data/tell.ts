// What a tab says while it is not looked at: the state and progress of its experiment in the title and the icon, and a
// notification of the browser when an experiment ends or pauses, or a task of it makes no progress. Nothing leaves the
// machine.
import { effect, signal } from '@preact/signals';
import { outward } from '../lib/base';
import { plural } from '../lib/format';
import { go } from '../lib/router';
import { listen } from './stream';
import type { ExperimentSummary, Task } from './types';

const KEY = 'sluice-notify';

function kept(): boolean {
  try {
    return localStorage.getItem(KEY) === '1';
  } catch {
    return false;
  }
}

export const notifying = signal(kept());
export const possible = typeof Notification !== 'undefined';

// Asks the browser for leave when it is turned on. False: it was refused.
export async function setNotifying(on: boolean): Promise<boolean> {
  const allowed = !on || (possible && (await Notification.requestPermission()) === 'granted');
  notifying.value = on && allowed;
  try {
    localStorage.setItem(KEY, notifying.value ? '1' : '0');
  } catch {
    // It lasts as long as the page.
  }
  return allowed;
}

type Seen = Pick<ExperimentSummary, 'state' | 'paused' | 'stalled'>;
const noted = (e: ExperimentSummary): Seen => ({ state: e.state, paused: e.paused, stalled: e.stalled });
const OVER = ['finished', 'error', 'stopped'];

// What is worth a notification; null: nothing.
export function newsOf(before: Seen | undefined, e: ExperimentSummary): string | null {
  if (!before) return null;
  if (!before.paused && e.paused) return `Paused: ${e.paused}`;
  const stalled = (e.stalled ?? 0) - (before.stalled ?? 0);
  if (stalled > 0) return `${plural(stalled, 'task')} ${stalled === 1 ? 'makes' : 'make'} no progress.`;
  if (OVER.includes(before.state) || !OVER.includes(e.state)) return null;
  const { finished, error, total } = e.tasks;
  return `${e.state === 'finished' ? 'Finished' : e.state === 'error' ? 'Ended with errors' : 'Stopped'}: ${finished} of ${total} tasks finished${error ? `, ${error} failed` : ''}.`;
}

// `listed` reads the experiments that the page knows, as a signal. Each is noted when it enters the list, so that the
// first event of an experiment is news too.
export function startTelling(listed: () => Iterable<ExperimentSummary>) {
  const seen = new Map<string, Seen>();
  effect(() => {
    for (const e of listed()) if (!seen.has(e.id)) seen.set(e.id, noted(e));
  });
  listen((event) => {
    if (event.type !== 'experiment') return;
    const e = event.data;
    const text = newsOf(seen.get(e.id), e);
    seen.set(e.id, noted(e));
    if (!text || !notifying.value || !possible || Notification.permission !== 'granted') return;
    // One for all tabs: the tag replaces an earlier one of the same experiment.
    const shown = new Notification(e.name, { body: text, tag: `sluice ${e.id}`, icon: outward('/favicon.svg') });
    shown.onclick = () => {
      window.focus();
      go(`/e/${e.id}`);
    };
  });
}

// "▶ 12/48 resnet": the word of a state before the name.
export function titleOf(e: ExperimentSummary): string {
  const ended = e.tasks.finished + e.tasks.error + e.tasks.stopped + e.tasks.pruned;
  if (e.paused && !OVER.includes(e.state)) return `paused ${ended}/${e.tasks.total} ${e.name}`;
  if (e.state === 'finished') return `done ${e.name}`;
  if (e.state === 'error') return `failed ${e.name}`;
  if (e.state === 'stopped') return `stopped ${e.name}`;
  return `${ended}/${e.tasks.total} ${e.name}`;
}

const WORDS: Record<Task['state'], string> = {
  waiting: 'waiting',
  submitted: 'queued',
  running: 'running',
  finished: 'done',
  error: 'failed',
  stopped: 'stopped',
  pruned: 'pruned',
};

// "17 % #3 resnet": the same of a task; a share of its steps where it is known how many there will be.
export function titleOfTask(task: Pick<Task, 'number' | 'state' | 'progress'>, name: string): string {
  const share = task.state === 'running' && task.progress !== null ? `${Math.floor(task.progress * 100)} %` : null;
  return `${share ?? WORDS[task.state]} #${task.number} ${name}`;
}
