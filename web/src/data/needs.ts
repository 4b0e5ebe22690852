// Which files the experiment file names, and which of them are here.
import type { Document } from 'yaml';
import type { Upload } from './draft';
import { drop, listNode, nodeAt, put, shown, textNode } from './tree';
import { yaml } from './yaml';

export function listedFiles(doc: Document): string[] {
  const node = nodeAt(doc, ['files']);
  return yaml.isSeq(node) ? node.items.map(shown) : shown(node) ? [shown(node)] : [];
}

// What `git` means is only known where the work tree is.
export function missingFiles(doc: Document, here: Upload[]): string[] {
  return listedFiles(doc).filter(
    (path) => path && path !== 'git' && !here.some((one) => one.path === path || one.path.startsWith(`${path}/`)),
  );
}

export function setFiles(doc: Document, paths: string[]) {
  const node = nodeAt(doc, ['files']);
  const old = yaml.isSeq(node) ? node : null;
  if (!paths.length) drop(doc, ['files']);
  else if (old) old.items = paths.map((path) => old.items.find((one) => shown(one) === path) ?? textNode(path));
  else put(doc, ['files'], listNode(paths.map(textNode)));
}
