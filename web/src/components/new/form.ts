// The form's state: the draft, and what the daemon says about it.
import { computed, effect, signal } from '@preact/signals';
import { ApiError, message, post } from '../../data/api';
import { toExperiment } from '../../data/document';
import { type Draft, draftProblems, emptyDraft, loadDraft, saveDraft } from '../../data/draft';
import { fillFrom } from '../../data/fill';
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
// The script that the form is still to be filled from: it was chosen, dropped or pasted, not read back with a draft.
// Nothing is submitted meanwhile. `before` is the form at that moment: what was typed since then stays.
export const filling = signal<Draft['script']>(null);
let before: Draft | null = null;
// More than this is not sent with every check; the daemon then checks without having read the script.
const SCRIPT_WITH_CHECK = 256 * 1024;

export function change(part: Partial<Draft>) {
  draft.value = { ...draft.value, ...part };
}

// Errors that no field shows stand above the preview. Those of an experiment file have a line, not a field.
export const homeless = computed(() => (draft.value.source ? problems.all.value : problems.rest.value));

export function body(d: Draft): Record<string, unknown> {
  return d.source ? { source: d.source } : { experiment: toExperiment(d) };
}

// A script that someone has just given fills the form once it has been read.
export function giveScript(name: string, text: string) {
  const script = { name, text };
  filling.value = script;
  before = draft.value;
  const named = !draft.value.name || draft.value.name === draft.value.script?.name.replace(/\.\w+$/, '');
  change({ script, ...(named ? { name: name.replace(/\.\w+$/, '') } : {}) });
}

let serial = 0;

function withScript(d: Draft): Record<string, unknown> {
  const sent = body(d);
  return d.script && d.script.text.length < SCRIPT_WITH_CHECK
    ? { ...sent, files: [{ path: d.script.name, text: d.script.text }] }
    : sent;
}

async function runCheck() {
  const mine = ++serial;
  const local = draft.value.source ? [] : draftProblems(draft.value);
  if (local.length) {
    problems.all.value = local;
    trouble.value = null;
    check.value = null;
    checking.value = false;
    return;
  }
  checking.value = true;
  try {
    const got = await post<Check>('/check', withScript(draft.value));
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
    const got = await post<Scan>('/scan', { path: script.name, text: script.text });
    if (draft.value.script !== script) return;
    if (filling.value === script && !draft.value.source) fill(got);
    scan.value = got;
  } catch {
    // Reading the script is a help, not a condition; the check says what is wrong.
  }
  if (filling.value === script) filling.value = null;
}

function fill(found: Scan) {
  const typed = draft.value;
  const filled = fillFrom(typed, found);
  for (const key of ['metric', 'goal', 'pass'] as const)
    if (before && typed[key] !== before[key]) Object.assign(filled, { [key]: typed[key] });
  check.value = null; // of the form before
  draft.value = filled;
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
