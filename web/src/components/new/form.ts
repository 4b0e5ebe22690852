// The form's state: the draft, and what the daemon says about it.
import { computed, effect, signal } from '@preact/signals';
import { ApiError, message, post } from '../../data/api';
import { type Draft, emptyDraft, loadDraft, saveDraft, toExperiment } from '../../data/draft';
import type { Check, Scan } from '../../data/types';
import { Problems } from '../problems';

const CHECK_MS = 350;

export const draft = signal<Draft>(emptyDraft());
export const check = signal<Check | null>(null);
export const problems = new Problems();
// The check itself failed: no connection, or a daemon in trouble.
export const trouble = signal<string | null>(null);
export const checking = signal(false);
export const scan = signal<Scan | null>(null);

export function change(part: Partial<Draft>) {
  draft.value = { ...draft.value, ...part };
}

// Errors that no field shows stand above the preview. Those of an experiment file have a line, not a field.
export const homeless = computed(() => (draft.value.source ? problems.all.value : problems.rest.value));

export function body(d: Draft): Record<string, unknown> {
  return d.source ? { source: d.source } : { experiment: toExperiment(d) };
}

let serial = 0;

async function runCheck() {
  const mine = ++serial;
  checking.value = true;
  try {
    const got = await post<Check>('/check', body(draft.value));
    if (mine !== serial) return;
    check.value = got;
    problems.all.value = [];
    trouble.value = null;
  } catch (error) {
    if (mine !== serial) return;
    if (error instanceof ApiError && error.status === 400) {
      problems.take(error);
      trouble.value = null;
      check.value = null;
    } else trouble.value = message(error);
  }
  checking.value = false;
}

async function runScan(script: Draft['script']) {
  scan.value = null;
  if (!script) return;
  try {
    const got = await post<Check>('/check?scan=1', {
      experiment: { script: script.name },
      files: [{ path: script.name, text: script.text }],
    });
    if (draft.value.script === script) scan.value = got.scan ?? null;
  } catch {
    // Reading the script is a help, not a condition; the check above says what is wrong.
  }
}

// Follows the draft while the form is on the screen; returns what stops it.
export function startForm(): () => void {
  draft.value = loadDraft();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let script: Draft['script'] | undefined;
  const stop = effect(() => {
    const now = draft.value;
    clearTimeout(timer);
    timer = setTimeout(() => {
      saveDraft(now);
      void runCheck();
      if (now.script !== script) {
        script = now.script;
        void runScan(script);
      }
    }, CHECK_MS);
  });
  // What was typed a moment before a reload has not been kept by the timer yet.
  const keep = () => saveDraft(draft.value);
  addEventListener('pagehide', keep);
  return () => {
    stop();
    clearTimeout(timer);
    serial++;
    removeEventListener('pagehide', keep);
    keep();
  };
}
