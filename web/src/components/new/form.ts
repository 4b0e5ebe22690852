// The form's state: the experiment file as a tree, its script and files, and what the daemon says about them. The form
// edits the tree; the text beside it is printed from the tree; the daemon is always sent the text.
import { batch, computed, effect, signal } from '@preact/signals';
import type { Document, Node } from 'yaml';
import { ApiError, message, post } from '../../data/api';
import { type Draft, emptyDraft, FILE_NAME, loadDraft, saveDraft } from '../../data/draft';
import { filledNow, fillTree, setFilled } from '../../data/fill';
import { missingFiles } from '../../data/needs';
import { objectivesOf } from '../../data/objectives';
import { rowProblems, rowsOf } from '../../data/rows';
import { type Broken, drop, nodeAt, type Path, printTree, put, readTree, shown, textNode } from '../../data/tree';
import type { Check, FieldError, Scan } from '../../data/types';
import { loadYaml } from '../../data/yaml';
import { Problems, pointer } from '../problems';

const CHECK_MS = 350;

export interface FileState {
  name: string;
  doc: Document;
  text: string;
  // The text is no YAML: the form shows what it was before.
  broken: Broken | null;
}

// null until the YAML library is there.
export const file = signal<FileState | null>(null);
export const script = signal<Draft['script']>(null);
export const files = signal<Draft['files']>([]);
export const check = signal<Check | null>(null);
export const problems = new Problems();
// The check itself failed: no connection, or a daemon in trouble.
export const trouble = signal<string | null>(null);
export const checking = signal(false);
export const scan = signal<Scan | null>(null);
export type View = 'tasks' | 'script' | 'yaml';
export const view = signal<View>('tasks');
// Someone has typed something since the form was filled.
export const touched = signal(false);
// The text comes from a file, a copy or the editor, not from a script: no script may overwrite it.
export const own = signal(false);
// The script that the form is still to be filled from: it was chosen, dropped or pasted, not read back with a draft.
// Nothing is submitted meanwhile.
export const filling = signal<Draft['script']>(null);
// What is typed in a field and cannot be read yet, by the field's place.
const unread = signal<Record<string, string>>({});
// More than this is not sent with every check; the daemon then checks without having read the script.
const SCRIPT_WITH_CHECK = 256 * 1024;

// What was typed in a field stays as it was typed as long as it means what the tree says: "64, 32," is 64,32.
const typed = new Map<string, { text: string; shown: string }>();

export function asTyped(place: string, now: string): string {
  const kept = typed.get(place);
  return kept && kept.shown === now ? kept.text : now;
}

export function noteTyped(place: string, text: string, now: string) {
  typed.set(place, { text, shown: now });
}

// What is typed there says nothing yet; the message stands at the place. null: it does.
export function setUnread(place: string, said: string | null) {
  const { [place]: old, ...rest } = unread.value;
  if (said !== null) unread.value = { ...rest, [place]: said };
  else if (old !== undefined) unread.value = rest;
}

export const doc = () => file.value!.doc;
export const at = (path: Path): Node | undefined => nodeAt(doc(), path);
export const textAt = (path: Path): string => shown(at(path));
export const place = (path: Path): string => pointer(...path.map(String));

// Every change by the form. A text that is no YAML is corrected first.
export function edit(change: (tree: Document) => void) {
  const now = file.value;
  if (!now || now.broken) return;
  change(now.doc);
  touched.value = true;
  file.value = { ...now, text: printTree(now.doc) };
}

export const setNode = (path: Path, node: Node | null | undefined) =>
  edit((tree) => (node ? put(tree, path, node) : drop(tree, path)));
export const setText = (path: Path, text: string) => setNode(path, text ? textNode(text) : null);

// Every change by the editor, an imported file or a copy.
export function setSource(text: string, name = file.value?.name ?? FILE_NAME) {
  const got = readTree(text);
  typed.clear();
  unread.value = {};
  file.value = { name, text, doc: got.broken && file.value ? file.value.doc : got.doc, broken: got.broken };
  if (got.broken) view.value = 'yaml';
}

export function setDraft(draft: Draft) {
  batch(() => {
    script.value = draft.script;
    files.value = draft.files;
    setSource(draft.text, draft.name);
    own.value = draft.own;
    touched.value = draft.touched;
    setFilled(draft.filled);
  });
}

// What someone types in the editor.
export function typeSource(text: string) {
  touched.value = true;
  own.value = true;
  setSource(text);
}

export const currentDraft = (): Draft => ({
  name: file.value!.name,
  text: file.value!.text,
  script: script.value,
  files: files.value,
  own: own.value,
  touched: touched.value,
  filled: filledNow(),
});

// The text is sent; where it names no script yet, one is made up behind it, so that the tasks can be counted.
function sent(): string {
  const { text, broken } = file.value!;
  if (broken || doc().has('script') || doc().has('command') || textAt(['resources', 'backend']) === 'external')
    return text;
  return `${text}${text && !text.endsWith('\n') ? '\n' : ''}script: ${script.value?.name ?? 'model.py'}\n`;
}

// Errors that no field shows stand above the preview, unless the editor shows them at their lines.
export const homeless = computed(() => problems.rest.value.filter((error) => !error.line || view.value !== 'yaml'));

// A script that someone has just given fills the form once it has been read.
export function giveScript(name: string, text: string, mode?: string) {
  const given = { name, text, mode };
  const before = script.value?.name;
  const stem = (path: string) => path.replace(/^.*\//, '').replace(/\.\w+$/, '');
  filling.value = own.value ? null : given;
  script.value = given;
  const was = touched.value;
  edit((tree) => {
    // "src/train.py" of the file is the train.py that was chosen.
    const named = shown(nodeAt(tree, ['script']));
    if (named.endsWith(`/${name}`)) given.name = named;
    drop(tree, ['command']);
    put(tree, ['script'], textNode(given.name));
    const called = shown(nodeAt(tree, ['name']));
    if (!own.value && (!called || (before && called === stem(before)))) put(tree, ['name'], textNode(stem(name)));
  });
  touched.value = was;
}

// What the daemon cannot know: rows without a name, fields that cannot be read, a script or files that are not here.
function localProblems(unclear: Record<string, string>): FieldError[] {
  const named = textAt(['script']);
  const out: FieldError[] = Object.entries(unclear).map(([field, said]) => ({ field, message: said }));
  if (named && script.value && named !== script.value.name)
    out.push({
      field: '/script',
      message: `the file names ${named}, and ${script.value.name} is here`,
      remedy: `choose ${named}, or write script: ${script.value.name}`,
    });
  for (const path of missingFiles(doc(), files.value))
    out.push({ field: '/files', message: `${path} is not here yet`, remedy: 'upload it, or take it off the list' });
  const objectives = objectivesOf(doc());
  for (const one of objectives)
    if (/^[\w./-]+(?:,\s*[\w./-]+)+$/.test(one.metric))
      out.push({
        field: `${place(one.path)}/metric`,
        message: `'${one.metric}' names several metrics, and an objective is one`,
        remedy: 'add another objective for the next',
      });
  for (const one of objectives)
    if (objectives.length > 1 && !one.metric)
      out.push({
        field: `${place(one.path)}/metric`,
        message: 'the objective has no metric',
        remedy: 'name it, or remove it',
      });
  return [...out, ...rowProblems(rowsOf(doc()), file.value?.text ?? '')];
}

let serial = 0;
// The text has just come from a file: what is wrong with it is shown at its lines.
let imported = false;
export function noteImported() {
  imported = true;
}

async function runCheck(unclear: Record<string, string>) {
  const mine = ++serial;
  const local = file.value!.broken ? [] : localProblems(unclear);
  // A key that is there twice would only be reported as a text that cannot be read; these are said once.
  const blocked = local.some((error) => /^\/(rows|objective)\//.test(error.field));
  checking.value = true;
  try {
    if (blocked) throw new ApiError(400, '', local);
    const source = { name: FILE_NAME, text: sent() };
    const read = script.value;
    const known = read && read.text.length < SCRIPT_WITH_CHECK;
    const got = await post<Check>('/check', {
      source,
      ...(known && { files: [{ path: read.name, text: read.text }] }),
    });
    if (mine !== serial) return;
    problems.all.value = local;
    trouble.value = null;
    check.value = got;
  } catch (error) {
    if (mine !== serial) return;
    if (error instanceof ApiError && error.status === 400) {
      problems.all.value = blocked ? local : [...error.errors, ...local];
      trouble.value = null;
      check.value = null;
      if (imported) view.value = 'yaml';
    } else trouble.value = message(error);
  }
  imported = false;
  checking.value = false;
}

async function runScan(read: Draft['script']) {
  scan.value = null;
  if (!read) return;
  try {
    const got = await post<Scan>('/scan', { path: read.name, text: read.text });
    if (script.value !== read) return;
    if (filling.value === read && !file.value!.broken) {
      const was = touched.value;
      check.value = null; // of the form before
      edit((tree) => fillTree(tree, got, was));
      touched.value = was;
    }
    scan.value = got;
  } catch {
    // Reading the script is a help, not a condition; the check says what is wrong.
  }
  if (filling.value === read) filling.value = null;
}

// Loads the draft and follows it while the form is on the screen; returns what stops it.
export async function startForm(): Promise<() => void> {
  await loadYaml();
  setDraft(loadDraft());
  let timer: ReturnType<typeof setTimeout> | undefined;
  let read: Draft['script'] | undefined;
  const stop = effect(() => {
    const now = currentDraft();
    const unclear = unread.value;
    clearTimeout(timer);
    timer = setTimeout(() => {
      saveDraft(now);
      void runCheck(unclear);
      if (script.value !== read) {
        read = script.value;
        void runScan(read);
      }
    }, CHECK_MS);
  });
  // What was typed a moment before a reload has not been kept by the timer yet.
  const keep = () => saveDraft(currentDraft());
  addEventListener('pagehide', keep);
  return () => {
    stop();
    clearTimeout(timer);
    serial++;
    removeEventListener('pagehide', keep);
    keep();
  };
}

export const clearForm = () => setDraft(emptyDraft());
