// The experiment file as a tree: the one truth behind the form. The form reads and writes it by paths, and the text is
// printed from it, so nothing is lost on the way. It keeps comments, the order of keys and how numbers are written.
import type { Document, Node, Pair, Scalar, YAMLMap } from 'yaml';
import { INEXACT, listParts, write } from './typed';
import { yaml } from './yaml';

export type Path = (string | number)[];

export interface Broken {
  line: number;
  column: number;
  message: string;
}

// 64-bit numbers stay what they are. A key that is there twice is named at its row, so it must be readable.
const TEXT = { tag: 'tag:yaml.org,2002:str', default: true, test: INEXACT, resolve: (text: string) => text } as const;
const READ = {
  intAsBigInt: true,
  uniqueKeys: false,
  prettyErrors: false,
  customTags: (tags: unknown[]) => [TEXT, ...tags] as never,
} as const;
const WRITE = { flowCollectionPadding: false, lineWidth: 0 } as const;

// The order in which keys stand that the form adds.
const ORDER = [
  'name',
  'description',
  'script',
  'command',
  'files',
  'copy_limit',
  'parameters',
  'constraints',
  'repeats',
  'search',
  'objective',
  'prune',
  'stop',
  'fidelity',
  'pass',
  'style',
  'separator',
  'arguments',
  'metrics',
  'environment',
  'resources',
  'retry',
  'checkpoint',
];

// A text that is no YAML, or no map, is `broken`: then `doc` is empty.
export function readTree(text: string): { doc: Document; broken: Broken | null } {
  const lines = new yaml.LineCounter();
  const doc = yaml.parseDocument(text, { ...READ, lineCounter: lines }) as Document;
  const error = doc.errors[0];
  const at = error ? lines.linePos(error.pos[0]) : { line: 1, col: 1 };
  const said = error?.message ?? 'an experiment is a map of keys and values. Begin with script: model.py';
  const map = yaml.isMap(doc.contents) || doc.contents === null;
  if (doc.contents === null) doc.contents = new yaml.YAMLMap() as never;
  return { doc, broken: error || !map ? { line: at.line, column: at.col, message: said } : null };
}

const isEmpty = (node: unknown) => (yaml.isSeq(node) ? !node.items.length : yaml.isScalar(node) && !shown(node));
export const isBlank = (pair: Pair) => !keyOf(pair) && isEmpty(pair.value);

// A row of the form in which nothing is typed yet is no part of the file.
export function printTree(doc: Document): string {
  const params = doc.get('parameters') as YAMLMap | undefined;
  const root = doc.contents as unknown as YAMLMap;
  const all = yaml.isMap(params) ? params.items : [];
  const whole = root.items;
  const typed = all.filter((pair) => !isBlank(pair));
  if (yaml.isMap(params)) params.items = typed as never;
  if (all.length && !typed.length) root.items = whole.filter((pair) => pair.value !== params);
  const text = root.items.length ? doc.toString(WRITE) : '';
  root.items = whole;
  if (yaml.isMap(params)) params.items = all as never;
  return text;
}

// The line of each parameter in a text that was read or printed, in their order.
export function parameterLines(text: string): number[] {
  const lines = new yaml.LineCounter();
  const all = yaml.parseDocument(text, { ...READ, lineCounter: lines }).get('parameters', true);
  if (!yaml.isMap(all)) return [];
  return all.items.map(({ key }) => lines.linePos((key as Node | null)?.range?.[0] ?? 0).line);
}

export const keyOf = (pair: Pair): string => {
  const key = pair.key as Scalar | string;
  return String(yaml.isScalar(key) ? (key.value ?? '') : (key ?? ''));
};

export const nodeAt = (doc: Document, path: Path): Node | undefined => doc.getIn(path, true) as Node | undefined;

// A scalar as a field shows it: a number as it was written, a text as it is.
export function shown(node: unknown): string {
  if (!yaml.isScalar(node)) return '';
  const { value, source } = node as Scalar;
  if (value === null || value === undefined) return '';
  return typeof value === 'number' || typeof value === 'bigint' ? (source ?? String(value)) : String(value);
}

// A value as it is typed among others: quoted where it would be read as something else.
export function shownValue(node: unknown): string {
  if (yaml.isSeq(node)) return `[${node.items.map(shownValue).join(', ')}]`;
  if (yaml.isMap(node)) return '';
  return typeof (node as Scalar)?.value === 'string' ? write((node as Scalar).value) : shown(node);
}

export const emptyNode = (): Scalar => new yaml.Scalar(null);
export const textNode = (text: string): Scalar => new yaml.Scalar(text);

const NUMBER = /^[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$/;

// What is typed for a value: a number, true, false, [64, 64], else a text; quotes make a text of anything.
export function valueNode(typed: string): Node {
  const text = typed.trim();
  if (/^(["']).*\1$/s.test(text) && text.length > 1) return textNode(text.slice(1, -1));
  if (text.startsWith('[') && text.endsWith(']')) return listNode(listParts(text.slice(1, -1)).map(valueNode));
  if (NUMBER.test(text)) return (yaml.parseDocument(text, READ) as Document).contents as unknown as Node;
  return new yaml.Scalar(text === 'true' ? true : text === 'false' ? false : text);
}

export function listNode(items: Node[]): Node {
  const list = new yaml.YAMLSeq();
  list.items = items;
  list.flow = true;
  return list;
}

export function mapNode(members: [string, Node][], flow = true): YAMLMap {
  const map = new yaml.YAMLMap();
  for (const [key, value] of members) map.add(new yaml.Pair(textNode(key), value) as never);
  map.flow = flow;
  return map;
}

// Any value of JSON; lists of scalars on one line.
export function plainNode(value: unknown): Node {
  if (Array.isArray(value)) return listNode(value.map(plainNode));
  if (value && typeof value === 'object')
    return mapNode(
      Object.entries(value).map(([key, one]) => [key, plainNode(one)]),
      false,
    );
  return new yaml.Scalar(value);
}

function rank(key: string): number {
  const at = ORDER.indexOf(key);
  return at < 0 ? ORDER.length : at;
}

// A new key of the file gets its usual place; the others stay where their author put them.
function addTop(doc: Document, key: string, value: Node) {
  const items = (doc.contents as unknown as YAMLMap).items as Pair[];
  const at = items.findIndex((pair) => rank(keyOf(pair)) > rank(key));
  items.splice(at < 0 ? items.length : at, 0, new yaml.Pair(textNode(key), value) as Pair);
}

// The comments beside a value, the quotes of a text, and whether a list or map stands in one line.
function keepStyle(from: Node | undefined, to: Node) {
  if (!from) return;
  const text = (node: Node) => yaml.isScalar(node) && typeof node.value === 'string';
  if (text(from) && text(to)) (to as Scalar).type ??= (from as Scalar).type;
  const many = (node: Node) => yaml.isMap(node) || yaml.isSeq(node);
  if (many(from) && many(to)) (to as YAMLMap).flow = (from as YAMLMap).flow;
  to.comment ??= from.comment;
  to.commentBefore ??= from.commentBefore;
}

// Sets the node at a path; the maps on the way there are made.
export function put(doc: Document, path: Path, node: Node) {
  for (let i = 1; i < path.length; i++) {
    const at = path.slice(0, i);
    if (yaml.isMap(nodeAt(doc, at)) || yaml.isSeq(nodeAt(doc, at))) continue;
    if (i === 1 && !doc.has(at[0])) addTop(doc, String(at[0]), new yaml.YAMLMap());
    else doc.setIn(at, new yaml.YAMLMap());
  }
  keepStyle(nodeAt(doc, path), node);
  if (path.length === 1 && !doc.has(path[0])) addTop(doc, String(path[0]), node);
  else doc.setIn(path, node);
}

// Removes what is at a path, and the maps and lists that are empty then.
export function drop(doc: Document, path: Path) {
  if (!doc.hasIn(path)) return;
  doc.deleteIn(path);
  const above = nodeAt(doc, path.slice(0, -1));
  if (path.length > 1 && (yaml.isMap(above) || yaml.isSeq(above)) && !above.items.length) drop(doc, path.slice(0, -1));
}

// A JSON text, or what a program wrote in one line, as people write YAML: blocks, with short lists in one line.
export function restyle(node: unknown, depth = 0) {
  if (yaml.isMap(node)) {
    const plain = node.items.every((pair) => yaml.isScalar(pair.value) || yaml.isSeq(pair.value));
    node.flow = depth > 1 && plain;
    for (const pair of node.items) {
      if (yaml.isScalar(pair.key)) pair.key.type = undefined;
      restyle(pair.value, depth + 1);
    }
  } else if (yaml.isSeq(node)) {
    node.flow = true;
    for (const item of node.items) restyle(item, depth + 1);
  } else if (yaml.isScalar(node)) node.type = undefined;
}

// The places of the tree that no field shows, as people write them: "retry.lost".
export function pathsOf(node: unknown, path: Path = []): Path[] {
  if (yaml.isMap(node) && node.items.length)
    return (node.items as Pair[]).flatMap((pair) => pathsOf(pair.value, [...path, keyOf(pair)]));
  return [path];
}
