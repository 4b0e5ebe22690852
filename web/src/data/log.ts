// A task's output in the page: the end of the file first, earlier parts on demand. While the task runs and the page is
// looked at, the rest is read once a second from where the last piece ended.
import { signal } from '@preact/signals';
import { get, message } from './api';
import { link } from './stream';
import type { Log } from './types';

const CHUNK = 64 * 1024;
const EARLIER = 256 * 1024;
// What is kept in the page; older text is fetched again when the user scrolls up.
const KEPT = 2 * 1024 * 1024;
const READ_MS = 1000;
// A network file system may show the last lines some seconds after the task has ended.
const LATE_MS = 3000;

export interface Held {
  from: number;
  next: number;
  size: number;
  text: string;
}

// What is held with a piece that follows it, without what is too old to keep.
export function append(held: Held, piece: Log): Held {
  const text = held.text + piece.text;
  const cut = text.length > KEPT ? text.indexOf('\n', text.length - KEPT) + 1 : 0;
  const dropped = new TextEncoder().encode(text.slice(0, cut)).length;
  return { from: held.from + dropped, next: piece.next, size: piece.size, text: text.slice(cut) };
}

export class LogReader {
  held = signal<Held | null>(null);
  error = signal<string | null>(null);
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
  async read() {
    for (;;) {
      const held = this.held.value;
      const piece = await this.fetch(held ? held.next : -CHUNK, held ? EARLIER : CHUNK);
      if (!piece) return;
      const { offset: from, next, size, text } = piece;
      // A file that is shorter than what was read of it is another file.
      if (!held || size < held.next) this.held.value = { from, next, size, text };
      else if (next > held.next) this.held.value = append(held, piece);
      if (!held || next >= size || next <= held.next) return;
    }
  }

  async earlier() {
    const { from } = this.held.value!;
    const start = Math.max(0, from - EARLIER);
    const piece = await this.fetch(start, from - start);
    const now = this.held.value;
    if (piece && now) this.held.value = { ...now, from: piece.offset, text: piece.text + now.text };
  }

  // Reads on while the task runs; returns what stops that and reads the rest.
  follow(): () => void {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible' && link.value.state !== 'down') void this.read();
    }, READ_MS);
    return () => {
      clearInterval(timer);
      void this.read();
      setTimeout(() => void this.read(), LATE_MS);
    };
  }

  close() {
    this.closed = true;
  }
}
