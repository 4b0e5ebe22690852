// The parameters of the file as rows of the form: lists as people type them (64,32,16), ranges, constants.
import type { Document, Node, Pair, YAMLMap } from 'yaml';
import {
  drop,
  emptyNode,
  isBlank,
  keyOf,
  listNode,
  mapNode,
  parameterLines,
  put,
  shown,
  shownValue,
  textNode,
  valueNode,
} from './tree';
import { listParts } from './typed';
import type { FieldError } from './types';
import { yaml } from './yaml';

export type Kind = 'list' | 'range' | 'fixed';
export type Part = 'min' | 'max' | 'step' | 'points';

export interface Row {
  id: number;
  pair: Pair;
  name: string;
  kind: Kind;
  values: string;
  min: string;
  max: string;
  step: string;
  points: string;
  log: boolean;
  // "optimizer=sgd", several joined by "and"
  when: string;
}

const ids = new WeakMap<object, number>();
let serial = 0;

function idOf(pair: Pair): number {
  const id = ids.get(pair) ?? ++serial;
  ids.set(pair, id);
  return id;
}

const isRange = (node: unknown) => yaml.isMap(node) && !node.has('values') && !node.has('value');
const listed = (node: unknown) => (yaml.isMap(node) ? (node.get('values', true) ?? node.get('value', true)) : node);

function shownList(node: unknown): string {
  return yaml.isSeq(node) ? node.items.map(shownValue).join(',') : shownValue(node);
}

function shownWhen(node: unknown): string {
  if (!yaml.isMap(node)) return '';
  return (node.items as Pair[]).map((pair) => `${keyOf(pair)}=${shownList(pair.value)}`).join(' and ');
}

function rowOf(pair: Pair): Row {
  const node = pair.value as Node;
  const map = yaml.isMap(node) ? (node as YAMLMap) : null;
  const range = isRange(node);
  const part = (key: string) => shown(map?.get(key, true));
  return {
    id: idOf(pair),
    pair,
    name: keyOf(pair),
    kind: range ? 'range' : yaml.isSeq(listed(node)) ? 'list' : 'fixed',
    values: range ? '' : shownList(listed(node)),
    min: part('min'),
    max: part('max'),
    step: part('step'),
    points: part('points'),
    log: part('scale') === 'log',
    when: shownWhen(map?.get('when', true)),
  };
}

export function rowsOf(doc: Document): Row[] {
  const all = doc.get('parameters', true);
  return yaml.isMap(all) ? (all.items as Pair[]).map(rowOf) : [];
}

export function addRow(doc: Document, name = '', node: Node = listNode([])) {
  if (!yaml.isMap(doc.get('parameters', true))) put(doc, ['parameters'], new yaml.YAMLMap());
  const all = doc.get('parameters', true) as YAMLMap;
  all.items.push(new yaml.Pair(textNode(name), node) as never);
  all.flow = false;
}

export function removeRow(doc: Document, pair: Pair) {
  const all = doc.get('parameters', true) as YAMLMap;
  const name = keyOf(pair);
  all.items = all.items.filter((one) => (one as unknown as Pair) !== pair) as never;
  // How a parameter that is gone was passed is of no use.
  if (name && !all.has(name)) drop(doc, ['arguments', name]);
  if (!all.items.length) drop(doc, ['parameters']);
}

export function nameRow(doc: Document, pair: Pair, name: string) {
  const how = doc.getIn(['arguments', keyOf(pair)], true) as Node | undefined;
  const old = keyOf(pair);
  pair.key = textNode(name);
  if (how && name) {
    put(doc, ['arguments', name], how);
    drop(doc, ['arguments', old]);
  }
}

export const listOf = (typed: string) => listNode(listParts(typed).map(valueNode));

export function setValues(pair: Pair, kind: Kind, typed: string) {
  const node = kind === 'list' ? listOf(typed) : typed.trim() ? valueNode(typed) : emptyNode();
  const old = pair.value as Node;
  if (yaml.isMap(old)) {
    old.delete('value');
    old.set('values', kind === 'list' ? node : listNode([node]));
  } else {
    node.comment = old?.comment;
    pair.value = node;
  }
}

export function setPart(pair: Pair, part: Part, typed: string) {
  const map = pair.value as YAMLMap;
  if (typed.trim()) map.set(part, valueNode(typed));
  else if (part === 'min' || part === 'max') map.set(part, emptyNode());
  else map.delete(part);
}

export function setLog(pair: Pair, on: boolean) {
  const map = pair.value as YAMLMap;
  if (on) map.set('scale', textNode('log'));
  else map.delete('scale');
}

// Ranges and constants begin with what the list had.
export function setKind(row: Row, kind: Kind) {
  const { pair } = row;
  const old = pair.value as Node;
  const when = yaml.isMap(old) ? (old.get('when', true) as Node | undefined) : undefined;
  const parts = row.kind === 'range' ? [row.min, row.max].filter(Boolean) : listParts(row.values);
  let node: Node;
  if (kind === 'range') {
    const numbers = parts.filter((part) => part !== '' && !Number.isNaN(Number(part)));
    numbers.sort((a, b) => Number(a) - Number(b));
    const [min, max] = numbers.length > 1 ? [numbers[0], numbers.at(-1)!] : [numbers[0] ?? '', ''];
    const end = (text: string) => (text ? valueNode(text) : emptyNode());
    node = mapNode([
      ['min', end(min)],
      ['max', end(max)],
    ]);
  } else if (kind === 'list') node = listNode(parts.map(valueNode));
  else node = parts[0] ? valueNode(parts[0]) : emptyNode();
  if (when && yaml.isMap(node)) node.set('when', when);
  else if (when)
    node = mapNode([
      ['values', yaml.isSeq(node) ? node : listNode([node])],
      ['when', when],
    ]);
  node.comment = old?.comment;
  pair.value = node;
}

// "optimizer=sgd and layers=2,3"; null where it is not that.
export function whenNode(typed: string): Node | null {
  const members: [string, Node][] = [];
  for (const part of typed.split(/\s+and\s+/)) {
    const found = /^\s*([\w.-]+)\s*=\s*(.+?)\s*$/.exec(part);
    if (!found) return null;
    const values = listParts(found[2]).map(valueNode);
    members.push([found[1], values.length === 1 ? values[0] : listNode(values)]);
  }
  return mapNode(members);
}

export function setWhen(pair: Pair, when: Node | null) {
  const old = pair.value as Node;
  if (yaml.isMap(old)) {
    if (when) old.set('when', when);
    else old.delete('when');
    // {values: [1, 2]} alone says what [1, 2] says.
    if (old.items.length === 1 && old.has('values')) pair.value = old.get('values', true);
  } else if (when)
    pair.value = mapNode([
      ['values', yaml.isSeq(old) ? old : listNode([old])],
      ['when', when],
    ]);
}

// The place of a row that has no name, or one that another row has.
export const rowField = (row: Row) => `/rows/${row.id}`;

// What is wrong before the daemon is asked: what no file can say, or what would pass as nothing. `text` is the file.
export function rowProblems(rows: Row[], text: string): FieldError[] {
  const out: FieldError[] = [];
  const written = rows.filter((row) => !isBlank(row.pair));
  let lines: number[] | undefined;
  const seen = new Set<string>();
  for (const row of rows) {
    const { name } = row;
    const wrong = (message: string, remedy: string) => {
      lines ??= parameterLines(text);
      out.push({ field: rowField(row), message, remedy, line: lines[written.indexOf(row)] });
    };
    const empty = row.kind === 'range' ? !row.min || !row.max : !row.values;
    if (!name && (!empty || row.when)) wrong('the parameter has no name', 'name it, or remove the row');
    if (name && seen.has(name)) wrong(`${name} is there twice`, 'remove one of the rows, or rename it');
    if (name.length > 200) wrong(`the name has ${name.length} letters`, 'use at most 200');
    if (name && empty)
      wrong(
        `${name} has no value`,
        row.kind === 'range' ? 'give both ends' : 'give it one ("" is the empty text), or remove the row',
      );
    if (name) seen.add(name);
  }
  return out;
}
