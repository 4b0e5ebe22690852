// Fills the file from what was found in a script.
import type { Document, Node } from 'yaml';
import { addRow, listOf, type Row, rowsOf } from './rows';
import { drop, emptyNode, listNode, nodeAt, plainNode, put, shown, textNode, valueNode } from './tree';
import { listParts } from './typed';
import type { Argument, Scan, Value } from './types';
import { yaml } from './yaml';

// Values to begin with where a script by position says none.
const USUAL: [RegExp, string][] = [
  [/batch/i, '64,32,16'],
  [/rate|^lr$/i, '0.001'],
  [/epoch/i, '100'],
  [/stop|patience/i, '50'],
];

// What the script before wrote here is no one's choice. It is kept with the draft.
export interface Filled {
  metric: string;
  command: string;
  rows: Record<string, string>;
}
let filled: Filled = { metric: '', command: '', rows: {} };
export const filledNow = () => filled;
export function setFilled(was: Filled | null) {
  filled = was ?? { metric: '', command: '', rows: {} };
}

const typedNode = (text: string): Node => (listParts(text).length > 1 ? listOf(text) : valueNode(text));
const usualNode = (name: string): Node => {
  const text = USUAL.find(([match]) => match.test(name))?.[1];
  return text ? (/rate|^lr$/i.test(name) ? listOf(text) : typedNode(text)) : emptyNode();
};

// null: without a value the script has its own way.
function argumentNode(arg: Argument): Node | null {
  // A list that is computed from one text: how that is written, only the script knows.
  if (Array.isArray(arg.default) && !arg.several) return arg.required ? emptyNode() : null;
  const list = Array.isArray(arg.default) ? arg.default.join(' ') : arg.default;
  const none = list === null || list === undefined || list === '';
  if (arg.choices?.length && !arg.several) {
    const rest = arg.choices.filter((one) => one !== list);
    const all = none || rest.length === arg.choices.length ? arg.choices : [list as Value, ...rest];
    return listNode(all.map(plainNode));
  }
  if (!none) return plainNode(list);
  if (!arg.required) return null;
  return arg.place ? usualNode(arg.name) : emptyNode();
}

// Arguments for a seed: where no row gives one, the daemon passes the seed of each repeat (engine/fit_seed.c).
const SEED = /^((random_|rng_|manual_|global_|train_)?seed|seed_value|random_state)$/;

// A whole number that was typed is a bigint.
const written = (node: unknown) =>
  JSON.stringify((node as Node | null)?.toJSON() ?? null, (_, v) => (typeof v === 'bigint' ? Number(v) : v));

// What was typed for a name stays, also one that the script or its subcommand does not have: the check says so. The
// other rows are the script's arguments.
function fillRows(doc: Document, args: Argument[], kept: Map<string, Row>) {
  const mine = (name: string, row: Row) =>
    !Object.hasOwn(filled.rows, name) || filled.rows[name] !== written(row.pair.value);
  const typed = [...kept].filter(([name, row]) => mine(name, row));
  drop(doc, ['parameters']);
  filled = { ...filled, rows: {} };
  for (const arg of args) {
    if (arg.name === 'help' || arg.name === 'version') continue;
    const said = typed.find(([name]) => name === arg.name)?.[1].pair.value as Node | undefined;
    // Repeats would all get the one seed of a row.
    if (!said && !arg.required && SEED.test(arg.name)) continue;
    const node = said ?? argumentNode(arg);
    if (!node) continue;
    if (!said) filled.rows[arg.name] = written(node);
    addRow(doc, arg.name, node);
  }
  for (const [name, row] of typed)
    if (!args.some((arg) => arg.name === name)) addRow(doc, name, row.pair.value as Node);
}

// The usual name of a subcommand that trains, else the first.
const TRAINS = /^(train|training|fit|run|main|learn)$/i;

// The arguments of a subcommand, with those of which it is not known who takes them. Those of the script stand before
// it, and values are written behind it.
export function argumentsOf(found: Scan, command: string): Argument[] {
  const taken = found.arguments.filter(
    (arg) => !command || arg.command === command || (arg.command === null && !arg.before),
  );
  return taken.filter((arg, i) => taken.findIndex((other) => other.name === arg.name) === i);
}

// The arguments of the subcommand that the file names. One that someone typed stays: it may be one that was not found.
function chooseCommand(doc: Document, found: Scan, touched: boolean): Argument[] {
  let named = shown(nodeAt(doc, ['subcommand'])).split(' ')[0];
  const typed = touched && named && named !== filled.command;
  if (!typed && !found.commands.includes(named)) {
    named = found.commands.find((one) => TRAINS.test(one)) ?? found.commands[0] ?? '';
    filled = { ...filled, command: named };
    if (named) put(doc, ['subcommand'], textNode(named));
    else drop(doc, ['subcommand']);
  }
  return argumentsOf(found, named);
}

// How a script that counts its arguments gets them: only the values, or as S-TFManager had it, the experiment and the
// task before them. null: it does not count them.
export function wayOf(found: Scan, args: Argument[]): 'positional' | 'values' | null {
  if (found.pass !== 'positional') return null;
  const places = args.filter((arg) => arg.place > 0).sort((a, b) => a.place - b.place);
  const ids = places.length > 2 && /exp|run|id/i.test(places[0].name) && /task|id|num/i.test(places[1].name);
  return ids || places[0]?.place > 2 ? 'positional' : 'values';
}

// `touched`: someone has typed in the form; then only what is missing is filled in.
export function fillTree(doc: Document, found: Scan, touched: boolean) {
  const before = new Map((touched ? rowsOf(doc) : []).filter((row) => row.name).map((row) => [row.name, row]));
  const own = chooseCommand(doc, found, touched);
  const places = own.filter((arg) => arg.place > 0).sort((a, b) => a.place - b.place);
  const way = wayOf(found, own);
  const args = way ? places.filter((arg) => way === 'values' || arg.place > 2) : own;
  const named = args.filter((arg) => arg.name !== 'help' && arg.name !== 'version');
  if (named.length) fillRows(doc, named, before);
  for (const key of ['arguments', 'style', 'separator']) drop(doc, [key]);
  if (way) put(doc, ['pass'], textNode(way));
  else if (found.pass === 'env') put(doc, ['pass'], textNode('env'));
  else drop(doc, ['pass']);
  fillObjective(doc, found, touched);
}

function fillObjective(doc: Document, found: Scan, touched: boolean) {
  const said = shown(nodeAt(doc, ['objective', 'metric'])) || shown(nodeAt(doc, ['objective']));
  const kept = yaml.isSeq(nodeAt(doc, ['objective'])) || (said && said !== filled.metric);
  if (touched && kept) return;
  if (found.metric || said === filled.metric) drop(doc, ['objective']);
  filled = { ...filled, metric: found.metric ?? '' };
  if (!found.metric) return;
  put(doc, ['objective', 'metric'], textNode(found.metric));
  if (found.goal === 'min' || found.goal === 'max') put(doc, ['objective', 'goal'], textNode(found.goal));
}
