// Fields that are bound to a place in the experiment file: they show what the tree says there and write what is typed.
import type { ComponentChildren } from 'preact';
import type { Document, Node } from 'yaml';
import { listNode, restyle, shown, textNode, valueNode } from '../../data/tree';
import { yaml } from '../../data/yaml';
import { Errors, SelectField, TextField } from '../Field';
import { asTyped, at as nodeNow, noteTyped, place, setNode, setText, setUnread, textAt } from './form';

// How a node becomes a text and a text a node. `make` gives null for nothing, and a text that says what is wrong.
export interface Codec {
  show(node: unknown): string;
  make(text: string): Node | null | string;
}

// A number, a size, a word: 16, 16G, off.
export const VALUE: Codec = { show: shown, make: (text) => (text.trim() ? valueNode(text) : null) };
// Always a text, also 123.
export const TEXT: Codec = { show: shown, make: (text) => (text.trim() ? textNode(text.trim()) : null) };
const lines = (text: string) => text.split('\n').filter((line) => line.trim());

// A list with one entry a line.
export const LINES: Codec = {
  show: (node) => (yaml.isSeq(node) ? node.items.map(shown).join('\n') : shown(node)),
  make: (text) => {
    const list = listNode(lines(text).map((line) => textNode(line.trim()))) as unknown as { flow: boolean };
    list.flow = false;
    return lines(text).length ? (list as unknown as Node) : null;
  },
};

// A list of names, separated by commas or blanks; `auto` and `none` are words of their own.
export const NAMES: Codec = {
  show: (node) => (yaml.isSeq(node) ? node.items.map(shown).join(', ') : shown(node)),
  make: (text) => {
    const words = text.split(/[\s,]+/).filter(Boolean);
    if (!words.length) return null;
    return words.length === 1 && /^(auto|none)$/.test(words[0]) ? textNode(words[0]) : listNode(words.map(textNode));
  },
};

// A program and its arguments: words between blanks, quotes around what has blanks in it.
const quoted = (word: string) => (/[\s"']/.test(word) || !word ? `'${word.replaceAll("'", `'\\''`)}'` : word);
export const WORDS: Codec = {
  show: (node) => (yaml.isSeq(node) ? node.items.map((one) => quoted(shown(one))).join(' ') : shown(node)),
  make: (text) => {
    const words: string[] = [];
    let word: string | null = null;
    let quote = '';
    for (let i = 0; i < text.length; i++) {
      const c = text[i];
      if (quote && c === quote) quote = '';
      else if (!quote && (c === '"' || c === "'")) {
        quote = c;
        word ??= '';
      } else if (c === '\\' && quote !== "'" && i + 1 < text.length) word = (word ?? '') + text[++i];
      else if (!quote && /\s/.test(c)) {
        if (word !== null) words.push(word);
        word = null;
      } else word = (word ?? '') + c;
    }
    if (quote) return `a quote ${quote} is not closed`;
    if (word !== null) words.push(word);
    // Without words it stays a command, and the daemon says what is missing.
    return listNode(words.map(textNode));
  },
};

// A part of the file as YAML, for maps of any names.
export const YAML: Codec = {
  show: (node) => {
    if (!node) return '';
    if (!yaml.isMap(node)) return shown(node);
    const part = new yaml.Document();
    part.contents = node.clone() as never;
    (part.contents as unknown as { flow: boolean }).flow = false;
    return part.toString({ flowCollectionPadding: false, lineWidth: 0 }).trimEnd();
  },
  make: (text) => {
    if (!text.trim()) return null;
    const part = yaml.parseDocument(text, { intAsBigInt: true, prettyErrors: false }) as Document;
    if (part.errors.length) return part.errors[0].message;
    if (!yaml.isMap(part.contents)) return 'write NAME: value, one a line';
    if (part.contents.flow) restyle(part.contents);
    return part.contents as unknown as Node;
  },
};

export type FilePath = (string | number)[];

// What a field shows, and what it does with what is typed.
export function bound(path: FilePath, codec: Codec) {
  const here = place(path);
  const now = codec.show(nodeNow(path));
  return {
    value: asTyped(here, now),
    onInput: (text: string) => {
      const made = codec.make(text);
      setUnread(here, typeof made === 'string' ? made : null);
      if (typeof made === 'string') return noteTyped(here, text, codec.show(nodeNow(path)));
      setNode(path, made);
      noteTyped(here, text, codec.show(nodeNow(path)));
    },
  };
}

interface FieldProps {
  path: FilePath;
  id: string;
  label: string;
  codec?: Codec;
  // Further places whose errors stand here.
  also?: string[];
  help?: ComponentChildren;
  placeholder?: string;
  optional?: boolean;
  mono?: boolean;
  numeric?: boolean;
  rows?: number;
  list?: string;
  class?: string;
}

export function FileField({ path, codec = VALUE, also = [], ...rest }: FieldProps) {
  return <TextField {...rest} {...bound(path, codec)} at={[place(path), ...also]} />;
}

export function FileSelect({
  path,
  also = [],
  onPicked,
  ...rest
}: {
  path: FilePath;
  id: string;
  label: string;
  options: { value: string; label: string }[];
  also?: string[];
  help?: string;
  onPicked?: () => void;
}) {
  const value = textAt(path);
  // What a file says and the list does not offer stays in sight.
  const odd = value && !rest.options.some((option) => option.value === value);
  const options = odd ? [...rest.options, { value, label: value }] : rest.options;
  return (
    <SelectField
      {...rest}
      options={options}
      value={value}
      at={[place(path), ...also]}
      onPick={(next) => {
        setText(path, next);
        onPicked?.();
      }}
    />
  );
}

export function FileCheck({ path, id, label, help }: { path: FilePath; id: string; label: string; help?: string }) {
  return (
    <div class="field">
      <label class="check field-label" for={id}>
        <input
          type="checkbox"
          id={id}
          checked={textAt(path) === 'true'}
          onChange={(event) => setNode(path, event.currentTarget.checked ? valueNode('true') : null)}
        />
        {label}
      </label>
      {help && <p class="help">{help}</p>}
      <Errors at={place(path)} id={`${id}-e`} label={label} />
    </div>
  );
}
