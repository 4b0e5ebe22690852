// How an experiment comes into the form from elsewhere: a copy of another one, a file, a script. All of it is the text
// of an experiment file, so nothing is lost on the way.
import type { Document, Node, YAMLMap } from 'yaml';
import { get, message, request, text } from '../../data/api';
import { confirm } from '../../data/confirm';
import { type Draft, emptyDraft, upload } from '../../data/draft';
import { toast } from '../../data/toast';
import { drop, keyOf, nodeAt, plainNode, printTree, put, readTree, restyle, textNode } from '../../data/tree';
import type { Experiment, Files, Value } from '../../data/types';
import { yaml } from '../../data/yaml';
import { files, giveScript, noteImported, script, setDraft, touched } from './form';

// Nothing that someone typed is thrown away without a question.
async function mayReplace(by: string): Promise<boolean> {
  if (!touched.value) return true;
  return confirm({
    title: 'Replace what is in the form?',
    text: `The form has changes that were not submitted. ${by} replaces them.`,
    yes: 'Replace',
    no: 'Keep the form',
    icon: 'file',
  });
}

// JSON, or a file of JSON, in the way people write YAML. It is read as YAML, which keeps how numbers are written.
function asYaml(source: string, json: boolean): string {
  const { doc, broken } = readTree(source);
  if (!json || broken) return source;
  restyle(doc.contents);
  return printTree(doc);
}

const plain = (value: unknown): string =>
  JSON.stringify(value ?? null, (_, one) => (typeof one === 'bigint' ? Number(one) : one));

// What `sluice change` did since it was submitted is in the stored experiment, not in its file.
const CHANGEABLE = ['search', 'constraints', 'resources', 'retry'];

function takeChanges(doc: Document, spec: YAMLMap) {
  for (const key of CHANGEABLE) {
    const now = spec.get(key, true) as Node | undefined;
    const was = nodeAt(doc, [key]);
    if (plain(now?.toJS(doc)) === plain(was?.toJS(doc))) continue;
    if (now) put(doc, [key], now);
    else drop(doc, [key]);
  }
  // The stored parameters also say what was chosen by reading the script (type, lists as texts): that is no change.
  const bare = (node: Node | undefined) =>
    plain(node?.toJS(doc))
      .replaceAll('"type":"real"', '')
      .replaceAll(/[[\]", ]/g, '');
  const now = spec.get('parameters', true);
  for (const pair of yaml.isMap(now) ? now.items : []) {
    const path = ['parameters', keyOf(pair as never)];
    if (bare(pair.value as Node) !== bare(nodeAt(doc, path))) put(doc, path, pair.value as Node);
  }
}

// The file as its author wrote it, or where there was none, what is stored; and what was changed since.
async function sourceOf(id: string): Promise<string> {
  const stored = readTree(await text(`/experiments/${id}`)).doc;
  const spec = nodeAt(stored, ['spec']) as unknown as YAMLMap;
  restyle(spec);
  const source = await text(`/experiments/${id}/source`);
  const { doc } = readTree(asYaml(source, source.trimStart().startsWith('{')));
  takeChanges(doc, spec);
  return printTree(doc);
}

// What was active in the shell from which it was submitted: this page has no such shell.
function takeShell(doc: Document, { python, modules }: Files) {
  if (python && !nodeAt(doc, ['environment', 'python'])) put(doc, ['environment', 'python'], textNode(python));
  if (modules.length && !nodeAt(doc, ['environment', 'modules']))
    put(doc, ['environment', 'modules'], plainNode(modules));
}

export async function copyFrom(id: string) {
  try {
    const e = await get<Experiment>(`/experiments/${id}`);
    if (!(await mayReplace(`A copy of ${e.name}`))) return;
    const listed = await get<Files>(`/experiments/${id}/files`);
    const read = (path: string) => request('GET', `/experiments/${id}/file?path=${encodeURIComponent(path)}`);
    const made: Draft = { ...emptyDraft(), own: true };
    for (const { path, mode } of listed.files) {
      const got = await read(path);
      if (path === e.script) made.script = { name: path, text: await got.text(), mode };
      else made.files.push(await upload(path, await got.blob(), mode));
    }
    const { doc } = readTree(await sourceOf(id));
    takeShell(doc, listed);
    put(doc, ['name'], textNode(`${e.name} (copy)`.slice(0, 120)));
    setDraft({ ...made, text: printTree(doc) });
    toast(`Copied from ${e.name}.`);
  } catch (problem) {
    toast(message(problem), { level: 'error' });
  }
}

// By its name, or by a first line that no experiment file has.
function isScript({ name, text }: { name: string; text: string }): boolean {
  return /\.(py|sh|r|jl|pl)$/i.test(name) || /^(#!|import \w|from \w+(\.\w+)* import )/m.test(text.slice(0, 4000));
}

export async function importFile(given: File) {
  const source = { name: given.name, text: await given.text() };
  if (isScript(source)) {
    const use = await confirm({
      title: `${given.name} is a script`,
      text: 'It is no experiment file. It can be used as the training script of this form.',
      yes: 'Use it as the script',
      no: 'Cancel',
      icon: 'file',
      harmless: true,
    });
    if (use) giveScript(source.name, source.text);
    return;
  }
  if (!(await mayReplace(given.name))) return;
  const name = given.name.replace(/\.json$/i, '.yaml');
  const text = asYaml(source.text, name !== given.name || source.text.trimStart().startsWith('{'));
  const named = readTree(text).doc.get('script');
  // The script and files that are here already may be the ones that it names.
  const kept = script.value && (!named || String(named).split('/').pop() === script.value.name) ? script.value : null;
  setDraft({
    name,
    text,
    script: kept && named ? { ...kept, name: String(named) } : kept,
    files: files.value,
    own: true,
    touched: true,
    filled: null,
  });
  noteImported();
}

// The same experiment held to one configuration: each parameter is the constant the preview lists first. It needs
// nothing of the strategy, so it works for all of them.
export function oneTask(source: string, first: Record<string, Value>): string {
  const { doc } = readTree(source);
  const names = doc.get('parameters', true);
  for (const pair of yaml.isMap(names) ? [...names.items] : []) {
    const name = keyOf(pair as never);
    if (name in first) put(doc, ['parameters', name], plainNode(first[name]));
    else {
      drop(doc, ['parameters', name]);
      drop(doc, ['arguments', name]);
    }
  }
  for (const key of ['constraints', 'repeats', 'prune', 'fidelity', 'search']) drop(doc, [key]);
  put(doc, ['search', 'strategy'], textNode('grid'));
  const name = doc.get('name') ?? doc.get('script') ?? 'experiment';
  put(doc, ['name'], textNode(`${name} (one task)`));
  return printTree(doc);
}
