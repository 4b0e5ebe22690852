// A task's output in the page: the end of the file first, other parts on demand. While the task runs and the page is
// looked at, the rest is read once a second from where the last piece ended.
import { signal } from '@preact/signals';
import { get, message } from './api';
import { link } from './stream';
import type { Log, LogHits } from './types';

const CHUNK = 64 * 1024;
const EARLIER = 256 * 1024;
// What is kept in the page; older text is fetched again when the user scrolls up.
const KEPT = 2 * 1024 * 1024;
const READ_MS = 1000;
// A network file system may show the last lines some seconds after the task has ended.
const LATE_MS = 3000;
const FIND_MS = 300;
// How often an output that grows is searched again.
const FIND_AGAIN_MS = 10000;

export interface Held {
  from: number;
  next: number;
  size: number;
  text: string;
  // The number of the first line, counted from 1; null where the lines before it were not seen.
  line: number | null;
  // Where the pieces begin, the first left out: [characters from the start of the text, bytes from the start of the
  // file]. The text does not say how long it is in the file: a byte that is not UTF-8 is one character of three bytes.
  starts: [number, number][];
  // When lines were written: [characters from the start of the text, time]. From the runner, which looks about once a
  // second; of lines that are newer than its last look, when the page got them.
  times: [number, number][];
}

const linesIn = (text: string) => text.split('\n').length - 1;

// The last that begins at or before a character; -1: none.
const lastUpTo = (list: [number, number][], most: number) => {
  let i = list.length - 1;
  while (i >= 0 && list[i][0] > most) i--;
  return i;
};
const moved = (list: [number, number][], by: number) => list.map(([at, value]): [number, number] => [at + by, value]);

// Where the characters of a text begin that are at these places of the file, in their order. A byte that is no UTF-8 is
// one character that would have three bytes.
function charactersAt(text: string, bytes: number[], size: number): number[] {
  if (text.length === size) return bytes;
  const lost = new TextEncoder().encode(text).length === size ? 3 : 1;
  const out: number[] = [];
  let at = 0;
  for (let i = 0, next = 0; next < bytes.length; i++) {
    for (; next < bytes.length && (bytes[next] <= at || i >= text.length); next++) out.push(i);
    const c = text.charCodeAt(i);
    at += c < 0x80 ? 1 : c < 0x800 || (c >= 0xd800 && c < 0xe000) ? 2 : c === 0xfffd ? lost : 3;
  }
  return out;
}

// The times of a piece's lines. `got`: when the page received it, where it followed.
export function timesOf(piece: Log, got: number | null = null): [number, number][] {
  const { offset, time } = piece.times;
  const starts = [
    0,
    ...charactersAt(
      piece.text,
      offset.map((end) => end - piece.offset),
      piece.next - piece.offset,
    ),
  ];
  const times = time.map((one, i): [number, number] => [starts[i], Date.parse(one!)]);
  const rest = starts[time.length];
  return got !== null && rest < piece.text.length ? [...times, [rest, got]] : times;
}

// What is held with a piece that follows it, without the pieces that are too old to keep.
export function append(held: Held, piece: Log, time: number | null = null): Held {
  const text = held.text + piece.text;
  const starts: [number, number][] = [...held.starts, [held.text.length, piece.offset]];
  const times = [...held.times, ...moved(timesOf(piece, time), held.text.length)];
  const first = text.length > KEPT ? lastUpTo(starts, text.length - KEPT) : -1;
  const [cut, from] = starts[first] ?? [0, held.from];
  const gone = text.slice(0, cut);
  // Of the times before the cut, the last is that of the lines at the cut.
  const old = lastUpTo(times, cut);
  return {
    from,
    next: piece.next,
    size: piece.size,
    text: text.slice(cut),
    line: held.line === null ? null : held.line + linesIn(gone),
    starts: moved(starts.slice(first + 1), -cut),
    times: moved(times.slice(Math.max(0, old)), -cut),
  };
}

// What is held when the output is read from anywhere. `line` is the number of its first line, where it is known.
function begin(piece: Log, line: number | null = null): Held {
  return {
    from: piece.offset,
    next: piece.next,
    size: piece.size,
    text: piece.text,
    line: piece.offset === 0 ? 1 : line,
    starts: [],
    times: timesOf(piece),
  };
}

export class LogReader {
  held = signal<Held | null>(null);
  error = signal<string | null>(null);
  // A part in the middle is shown: the end is not read on until it is asked for.
  away = signal(false);
  private busy = false;
  private closed = false;

  // `path` is the log's route with the stream and the attempt.
  constructor(private readonly path: string) {}

  private async fetch(offset: number, limit: number): Promise<Log | null> {
    if (this.busy || this.closed) return null;
    this.busy = true;
    try {
      const piece = await get<Log>(`${this.path}&offset=${offset}&limit=${limit}`);
      this.error.value = null;
      return this.closed ? null : piece;
    } catch (problem) {
      this.error.value = message(problem);
      return null;
    } finally {
      this.busy = false;
    }
  }

  // Reads on to the end of the file; where nothing is held yet, its last part.
  async read(follows = false) {
    while (!this.away.value) {
      const held = this.held.value;
      const piece = await this.fetch(held ? held.next : -CHUNK, held ? EARLIER : CHUNK);
      if (!piece) return;
      const { next, size } = piece;
      // A file that is shorter than what was read of it is another file.
      if (!held || size < held.next) this.held.value = begin(piece);
      else if (next > held.next) this.held.value = append(held, piece, follows ? Date.now() : null);
      if (!held || next >= size || next <= held.next) return;
    }
  }

  async earlier() {
    const { from } = this.held.value!;
    const start = Math.max(0, from - EARLIER);
    const piece = await this.fetch(start, from - start);
    const now = this.held.value;
    if (!piece || !now) return;
    const line = piece.offset === 0 ? 1 : now.line === null ? null : now.line - linesIn(piece.text);
    const by = piece.text.length;
    const starts: [number, number][] = [[by, now.from], ...moved(now.starts, by)];
    const times = [...timesOf(piece), ...moved(now.times, by)];
    this.held.value = { ...now, from: piece.offset, text: piece.text + now.text, line, starts, times };
  }

  async later() {
    const held = this.held.value!;
    const piece = await this.fetch(held.next, EARLIER);
    if (piece && piece.next > held.next) this.held.value = append(held, piece);
    if (piece && piece.next >= piece.size) this.away.value = false;
  }

  // Shows the place of a line, in the middle of what is around it.
  async goTo(offset: number, line: number): Promise<boolean> {
    const held = this.held.value;
    if (held && held.line !== null && offset >= held.from && offset < held.next) return true;
    // What is before the line and what begins with it are two pieces: so the lines before it can be counted.
    const start = Math.max(0, offset - CHUNK);
    const before = offset > start ? await this.fetch(start, offset - start) : null;
    if (offset > start && before?.next !== offset) return false;
    const piece = await this.fetch(offset, EARLIER);
    if (!piece) return false;
    this.away.value = piece.next < piece.size;
    this.held.value = before ? append(begin(before, line - linesIn(before.text)), piece) : begin(piece, line);
    return true;
  }

  async toEnd() {
    this.away.value = false;
    this.held.value = null;
    await this.read();
  }

  // Reads on while the task runs; returns what stops that and reads the rest.
  follow(): () => void {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible' && link.value.state !== 'down') void this.read(true);
    }, READ_MS);
    return () => {
      clearInterval(timer);
      void this.read(true);
      setTimeout(() => void this.read(true), LATE_MS);
    };
  }

  close() {
    this.closed = true;
  }
}

// Searches the whole output for a text: soon, and while it grows again from time to time. `size` says how large the
// output is now. Returns what ends it.
export function findIn(
  path: string,
  text: string,
  size: () => number,
  put: (hits: LogHits | null, problem: string | null) => void,
): () => void {
  const abort = new AbortController();
  let searched = -1;
  let busy = false;
  const search = async () => {
    if (busy || searched === size()) return;
    busy = true;
    searched = size();
    try {
      const hits = await get<LogHits>(`${path}&q=${encodeURIComponent(text)}`, abort.signal);
      if (!abort.signal.aborted) put(hits, null);
    } catch (problem) {
      if (!abort.signal.aborted) put(null, message(problem));
    }
    busy = false;
  };
  const soon = setTimeout(() => void search(), FIND_MS);
  const again = setInterval(() => void search(), FIND_AGAIN_MS);
  return () => {
    clearTimeout(soon);
    clearInterval(again);
    abort.abort();
  };
}
