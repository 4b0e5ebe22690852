// Markdown as a tree, for notes: headings, paragraphs, lists, quotes, code, rules, emphasis, links. Nothing in it is
// HTML: what looks like markup stays text. Which links may be followed is decided here, once.

export type Inline =
  | { kind: 'text'; text: string }
  | { kind: 'code'; text: string }
  | { kind: 'strong'; items: Inline[] }
  | { kind: 'em'; items: Inline[] }
  | { kind: 'del'; items: Inline[] }
  | { kind: 'link'; href: string; items: Inline[] };
export type Block =
  | { kind: 'heading'; level: number; items: Inline[] }
  | { kind: 'paragraph'; items: Inline[] }
  | { kind: 'code'; text: string }
  | { kind: 'quote'; blocks: Block[] }
  | { kind: 'list'; ordered: boolean; start: number; items: Block[][] }
  | { kind: 'rule' };

// How deep quotes, lists and emphasis may go: a line of a thousand > is text.
const DEEP = 8;
const SAFE = /^(?:https?:\/\/|mailto:)[^\s<>"]+$/i;
const BARE = /^https?:\/\/[^\s<>"')\]]+[^\s<>"')\].,;:!?]/i;
const ID = /^e\d+(?:\/\d+)?(?![\w/-]|\.\w)/;

// Where a link may lead: the web, mail, and pages of experiments and tasks.
export function linkTarget(to: string): string | null {
  if (SAFE.test(to)) return to;
  return /^e\d+(?:\/\d+)?$/.test(to) ? `/e/${to}` : null;
}

const MARKS: [string, 'strong' | 'em' | 'del'][] = [
  ['**', 'strong'],
  ['__', 'strong'],
  ['~~', 'del'],
  ['*', 'em'],
  ['_', 'em'],
];

const word = (ch: string | undefined) => !!ch && /[\p{L}\p{N}_]/u.test(ch);

// The emphasis that begins here, and where it ends; null: the mark is text. `open` has the marks that end nowhere in
// the rest of the text: each is looked for once, or a text of marks would take the square of its length.
function emphasis(
  text: string,
  at: number,
  open: Set<string>,
): { kind: 'strong' | 'em' | 'del'; from: number; to: number } | null {
  for (const [mark, kind] of MARKS) {
    if (!text.startsWith(mark, at)) continue;
    const from = at + mark.length;
    if (!text[from] || /\s/.test(text[from]) || (mark[0] === '_' && word(text[at - 1]))) return null;
    if (open.has(mark)) return null;
    for (let to = text.indexOf(mark, from + 1); to > 0; to = text.indexOf(mark, to + 1)) {
      const inside = mark[0] === '_' && word(text[to + mark.length]);
      const longer = mark.length === 1 && text[to + 1] === mark;
      if (!/\s/.test(text[to - 1]) && !inside && !longer) return { kind, from, to };
      if (longer) to++;
    }
    open.add(mark);
    return null;
  }
  return null;
}

export function inline(text: string, depth = 0): Inline[] {
  const out: Inline[] = [];
  const open = new Set<string>();
  let plain = '';
  const put = (item: Inline) => {
    if (plain) out.push({ kind: 'text', text: plain });
    plain = '';
    out.push(item);
  };
  for (let at = 0; at < text.length; ) {
    const rest = text.slice(at, at + 2000);
    const code = /^(`+)([^`]|[^`][\s\S]*?[^`])\1(?!`)/.exec(rest);
    const link = depth < DEEP ? /^\[([^[\]]*)\]\(([^()\s]*)\)/.exec(rest) : null;
    const bare = BARE.exec(rest)?.[0];
    const id = word(text[at - 1]) || text[at - 1] === '/' ? null : ID.exec(rest)?.[0];
    const found = depth < DEEP ? emphasis(text, at, open) : null;
    if (text[at] === '\\' && /[\\`*_~[\]()#>+\-.!|]/.test(text[at + 1] ?? '')) {
      plain += text[at + 1];
      at += 2;
    } else if (code) {
      put({ kind: 'code', text: code[2].trim() });
      at += code[0].length;
    } else if (link && linkTarget(link[2])) {
      put({ kind: 'link', href: linkTarget(link[2])!, items: inline(link[1], DEEP) });
      at += link[0].length;
    } else if (bare || (id && depth < DEEP)) {
      const to = (bare ?? id)!;
      put({ kind: 'link', href: linkTarget(to)!, items: [{ kind: 'text', text: to }] });
      at += to.length;
    } else if (found) {
      put({ kind: found.kind, items: inline(text.slice(found.from, found.to), depth + 1) });
      at = found.to + (found.kind === 'em' ? 1 : 2);
    } else {
      plain += text[at++];
    }
  }
  if (plain) out.push({ kind: 'text', text: plain });
  return out;
}

const FENCE = /^ {0,3}(```+|~~~+)/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])( +|$)/;
const QUOTE = /^ {0,3}> ?/;
const HEADING = /^ {0,3}(#{1,6})(?!\S)(.*)$/;
const RULE = /^ {0,3}(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})$/;

const begins = (line: string) =>
  FENCE.test(line) || ITEM.test(line) || QUOTE.test(line) || HEADING.test(line) || RULE.test(line);

// The words of a heading, without the marks that may close it: `## Two ##`. A loop, because /\s+#+$/ would look at each
// run of spaces again from each of its places.
function headingText(text: string): string {
  const whole = text.trim();
  let end = whole.length;
  while (whole[end - 1] === '#') end--;
  return end === 0 || /\s/.test(whole[end - 1]) ? whole.slice(0, end).trimEnd() : whole;
}

// The lines of a fence, from the one after its beginning.
function fence(lines: string[], at: number): { block: Block; next: number } {
  const mark = FENCE.exec(lines[at])![1];
  let to = at + 1;
  while (to < lines.length && !lines[to].trimStart().startsWith(mark)) to++;
  return { block: { kind: 'code', text: lines.slice(at + 1, to).join('\n') }, next: to + 1 };
}

function list(lines: string[], at: number, depth: number): { block: Block; next: number } {
  const first = ITEM.exec(lines[at])!;
  const ordered = /\d/.test(first[2]);
  const items: Block[][] = [];
  let next = at;
  while (next < lines.length) {
    const item = ITEM.exec(lines[next]);
    if (!item || /\d/.test(item[2]) !== ordered || RULE.test(lines[next])) break;
    const width = item[0].length;
    const own = [lines[next].slice(width)];
    for (next++; next < lines.length; next++) {
      const line = lines[next];
      const deeper = line.startsWith(' '.repeat(Math.min(width, 2)));
      if (!line.trim() ? !lines[next + 1]?.startsWith('  ') : !deeper && begins(line)) break;
      own.push(deeper ? line.replace(new RegExp(`^ {1,${width}}`), '') : line);
    }
    items.push(blocksOf(own, depth + 1));
    while (next < lines.length && !lines[next].trim() && ITEM.test(lines[next + 1] ?? '')) next++;
  }
  return { block: { kind: 'list', ordered, start: ordered ? Number.parseInt(first[2], 10) : 1, items }, next };
}

function blocksOf(lines: string[], depth: number): Block[] {
  const out: Block[] = [];
  for (let at = 0; at < lines.length; ) {
    const line = lines[at];
    const heading = HEADING.exec(line);
    if (!line.trim()) {
      at++;
    } else if (FENCE.test(line)) {
      const { block, next } = fence(lines, at);
      out.push(block);
      at = next;
    } else if (heading) {
      out.push({ kind: 'heading', level: heading[1].length, items: inline(headingText(heading[2])) });
      at++;
    } else if (RULE.test(line)) {
      out.push({ kind: 'rule' });
      at++;
    } else if (QUOTE.test(line) && depth < DEEP) {
      const own: string[] = [];
      for (; at < lines.length && QUOTE.test(lines[at]); at++) own.push(lines[at].replace(QUOTE, ''));
      out.push({ kind: 'quote', blocks: blocksOf(own, depth + 1) });
    } else if (ITEM.test(line) && depth < DEEP) {
      const { block, next } = list(lines, at, depth);
      out.push(block);
      at = next;
    } else {
      const from = at++;
      while (at < lines.length && lines[at].trim() && !begins(lines[at])) at++;
      out.push({ kind: 'paragraph', items: inline(lines.slice(from, at).join('\n').trim()) });
    }
  }
  return out;
}

export function markdown(text: string): Block[] {
  return blocksOf(text.replace(/\r\n?/g, '\n').split('\n'), 0);
}
