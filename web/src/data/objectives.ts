// The objectives of the file: a name, a map, or a list of them.
import type { Document, Node } from 'yaml';
import { drop, keyOf, mapNode, nodeAt, type Path, put, shown, textNode } from './tree';
import { yaml } from './yaml';

export interface Objective {
  // Where it is in the file.
  path: Path;
  metric: string;
  goal: string;
  take: string;
  of: string;
}

export function objectivesOf(doc: Document): Objective[] {
  const node = nodeAt(doc, ['objective']);
  const read = (one: unknown, path: Path): Objective => {
    const part = (key: string) => (yaml.isMap(one) ? shown(one.get(key, true)) : '');
    const metric = yaml.isMap(one) ? part('metric') : shown(one);
    return { path, metric, goal: part('goal'), take: part('take'), of: part('of') };
  };
  if (yaml.isSeq(node)) return node.items.map((one, i) => read(one, ['objective', i]));
  return [read(node, ['objective'])];
}

// Sets one key of an objective; a mere name becomes a map then.
export function setObjective(doc: Document, path: Path, key: string, value: Node | null) {
  const node = nodeAt(doc, path);
  if (!yaml.isMap(node)) put(doc, path, mapNode(node && shown(node) ? [['metric', textNode(shown(node))]] : []));
  const map = nodeAt(doc, path);
  if (!yaml.isMap(map)) return;
  // In the order in which people write them.
  const order = ['metric', 'goal', 'take', 'of', 'at_most', 'at_least'];
  if (value) map.set(key, value);
  else map.delete(key);
  map.items.sort((a, b) => order.indexOf(keyOf(a as never)) - order.indexOf(keyOf(b as never)));
  if (!map.items.length && path.length === 1) drop(doc, path);
}

export function addObjective(doc: Document) {
  const node = nodeAt(doc, ['objective']);
  const first = node ?? mapNode([['metric', textNode('')]]);
  const second = mapNode([['metric', textNode('')]]);
  if (yaml.isSeq(node)) node.items.push(second);
  else {
    const list = new yaml.YAMLSeq();
    list.items = [first, second];
    put(doc, ['objective'], list);
  }
}

export function removeObjective(doc: Document, index: number) {
  const node = nodeAt(doc, ['objective']);
  if (!yaml.isSeq(node)) return drop(doc, ['objective']);
  node.items.splice(index, 1);
  if (node.items.length === 1) put(doc, ['objective'], node.items[0] as Node);
}
