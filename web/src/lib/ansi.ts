// Colours of terminals: lines with SGR codes as pieces of text with classes. A colour that is set in one line holds in
// the next. 256 and true colours become the nearest of the eight hues, which have enough contrast in both themes.
import { LINE_MOST, overwrite, plain } from './text';

export interface Span {
  text: string;
  class: string;
}

interface State {
  colour: number | null; // 0 to 7
  bold: boolean;
  dim: boolean;
  italic: boolean;
  underline: boolean;
}

const PLAIN: State = { colour: null, bold: false, dim: false, italic: false, underline: false };
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const SGR = /\x1b\[([\d;:]*)m/g;
const HUES: [number, number, number][] = [
  [0, 0, 0],
  [205, 0, 0],
  [0, 170, 0],
  [190, 150, 0],
  [0, 0, 238],
  [190, 0, 190],
  [0, 170, 170],
  [229, 229, 229],
];

function nearest(r: number, g: number, b: number): number {
  // Greys have no hue.
  if (Math.max(r, g, b) - Math.min(r, g, b) < 32) return 7;
  let best = 7;
  let least = Infinity;
  for (const [i, [x, y, z]] of HUES.entries()) {
    const far = (r - x) ** 2 + (g - y) ** 2 + (b - z) ** 2;
    if (i !== 0 && far < least) [best, least] = [i, far];
  }
  return best;
}

function indexed(n: number): number {
  if (n < 16) return n % 8;
  if (n >= 232) return 7;
  const level = (v: number) => (v ? 55 + v * 40 : 0);
  return nearest(level(Math.floor((n - 16) / 36)), level(Math.floor((n - 16) / 6) % 6), level((n - 16) % 6));
}

// Applies one code; the numbers of a colour are read from `rest`.
function applied(state: State, code: number, rest: number[]): State {
  if (code === 0) return PLAIN;
  if (code === 1) return { ...state, bold: true };
  if (code === 2) return { ...state, dim: true };
  if (code === 3) return { ...state, italic: true };
  if (code === 4) return { ...state, underline: true };
  if (code === 22) return { ...state, bold: false, dim: false };
  if (code === 23) return { ...state, italic: false };
  if (code === 24) return { ...state, underline: false };
  if (code === 39) return { ...state, colour: null };
  if (code >= 30 && code <= 37) return { ...state, colour: code - 30 };
  if (code >= 90 && code <= 97) return { ...state, colour: code - 90 };
  if (code !== 38 && code !== 48) return state;
  const kind = rest.shift();
  const colour = kind === 5 ? indexed(rest.shift() ?? 7) : kind === 2 ? nearest(...three(rest)) : null;
  return code === 38 ? { ...state, colour } : state; // backgrounds are left out
}

const three = (rest: number[]): [number, number, number] => [rest.shift() ?? 0, rest.shift() ?? 0, rest.shift() ?? 0];

function classOf(state: State): string {
  const words: string[] = [];
  if (state.colour !== null && state.colour !== 0 && state.colour !== 7) words.push(`ansi-${state.colour}`);
  if (state.bold) words.push('ansi-bold');
  if (state.dim) words.push('ansi-dim');
  if (state.italic) words.push('ansi-italic');
  if (state.underline) words.push('ansi-underline');
  return words.join(' ');
}

export class Ansi {
  private state = PLAIN;

  // The pieces of one line, cut where it is too long.
  line(raw: string): Span[] {
    // Progress bars overwrite their line: the last state counts, but colours set before it hold.
    const parts = raw.split('\r');
    let spans: Span[] = [];
    for (const part of parts) {
      const read = this.read(part);
      if (read.length) spans = read;
    }
    return cut(spans);
  }

  private read(part: string): Span[] {
    const spans: Span[] = [];
    const put = (text: string) => {
      const clean = overwrite(plain(text));
      if (clean) spans.push({ text: clean, class: classOf(this.state) });
    };
    let at = 0;
    for (const found of part.matchAll(SGR)) {
      put(part.slice(at, found.index));
      at = found.index + found[0].length;
      const codes = found[1].split(/[;:]/).map(Number);
      while (codes.length) this.state = applied(this.state, codes.shift()!, codes);
    }
    put(part.slice(at));
    return spans;
  }
}

function cut(spans: Span[]): Span[] {
  const whole = spans.reduce((sum, span) => sum + span.text.length, 0);
  if (whole <= LINE_MOST) return spans;
  const out: Span[] = [];
  let left = LINE_MOST;
  for (const span of spans) {
    if (left <= 0) break;
    out.push({ ...span, text: span.text.slice(0, left) });
    left -= span.text.length;
  }
  out.push({ text: ` … [${whole.toLocaleString('en-US')} characters in this line]`, class: 'ansi-dim' });
  return out;
}

// The spans with every place of `find` (small letters) marked.
export function marked(spans: Span[], find: string): (Span & { hit: boolean })[] {
  const text = spans
    .map((span) => span.text)
    .join('')
    .toLowerCase();
  const places: [number, number][] = [];
  for (let at = find ? text.indexOf(find) : -1; at >= 0; at = text.indexOf(find, at + find.length))
    places.push([at, at + find.length]);
  if (!places.length) return spans.map((span) => ({ ...span, hit: false }));
  const out: (Span & { hit: boolean })[] = [];
  let from = 0;
  for (const span of spans) {
    const to = from + span.text.length;
    const cuts = [...new Set([from, ...places.flat().filter((n) => n > from && n < to), to])];
    for (let i = 0; i + 1 < cuts.length; i++) {
      const hit = places.some(([a, b]) => cuts[i] >= a && cuts[i] < b);
      out.push({ text: span.text.slice(cuts[i] - from, cuts[i + 1] - from), class: span.class, hit });
    }
    from = to;
  }
  return out;
}
