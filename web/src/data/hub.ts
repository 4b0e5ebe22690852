// One connection to /events for any number of tabs. HTTP/1.1 gives a browser six connections to a
// host, so a stream for each tab would hang the seventh. The hub lives in a SharedWorker where there
// is one, else in the page itself.
import { BASE } from '../lib/base';
import { type OpenEvents, openEvents } from './events';

const RETRY_FIRST_MS = 1000;
const RETRY_MOST_MS = 15000;
// A tab that is looked at says so every 15 s. A crashed tab cannot say goodbye, so silence ends it.
const SILENT_MS = 50000;
// Flicking between tabs should not tear the stream down.
const HIDDEN_GRACE_MS = 10000;

// A worker has no storage: a page brings the session's secret along ('' where none is needed).
// `since` is the event that the page's first answer named: a new stream begins there, so that nothing is missed.
export type FromPage = { kind: 'visible'; session: string; since: string } | { kind: 'hidden' } | { kind: 'bye' };
export type ToPage =
  | { kind: 'event'; name: string; data: string }
  // since: every event after this one is or was sent to this page; '' where that is not known.
  | { kind: 'open'; since: string }
  | { kind: 'down'; retry_ms: number };

interface Member {
  send: (message: ToPage) => void;
  seen: number;
  visible: boolean;
}

export class Hub {
  private members = new Set<Member>();
  private source: (() => void) | null = null; // closes it
  private session: string | null = null; // null: no page has brought it yet
  private last = '';
  private retry = RETRY_FIRST_MS;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private open = false;

  constructor(private openStream: OpenEvents = openEvents) {
    setInterval(() => this.settle(), 5000);
  }

  join(send: (message: ToPage) => void): (message: FromPage) => void {
    const member: Member = { send, seen: Date.now(), visible: true };
    this.members.add(member);
    if (this.open) send({ kind: 'open', since: this.last });
    this.settle();
    return (message) => {
      member.seen = Date.now();
      if (message.kind === 'bye') this.members.delete(member);
      else {
        member.visible = message.kind === 'visible';
        this.members.add(member);
      }
      if (message.kind === 'visible') {
        this.last ||= message.since;
        this.use(message.session);
      }
      this.settle();
    };
  }

  // A stream with the secret of a session that has ended is of no use to a page that has signed in again.
  private use(session: string) {
    if (session === this.session) return;
    this.session = session;
    this.retry = RETRY_FIRST_MS;
    this.close();
  }

  private tell(message: ToPage) {
    for (const member of this.members) member.send(message);
  }

  // Connects while a page is visible, and disconnects when none has been for a while.
  private settle() {
    const now = Date.now();
    let wanted = false;
    for (const member of this.members) {
      const silent = now - member.seen;
      if (member.visible && silent > SILENT_MS) this.members.delete(member);
      else if (member.visible || silent < HIDDEN_GRACE_MS) wanted = true;
    }
    if (wanted && this.session !== null && !this.source && !this.timer) this.connect(this.session);
    if (!wanted) this.close();
  }

  private connect(session: string) {
    const since = this.last;
    const url = `${BASE}api/v1/events${this.last ? `?last=${encodeURIComponent(this.last)}` : ''}`;
    this.source = this.openStream(url, session, {
      open: () => {
        this.retry = RETRY_FIRST_MS;
        this.open = true;
        this.tell({ kind: 'open', since });
      },
      event: (name, data, id) => {
        if (id) this.last = id;
        this.tell({ kind: 'event', name, data });
      },
      end: () => {
        this.close();
        this.tell({ kind: 'down', retry_ms: this.retry });
        this.timer = setTimeout(() => {
          this.timer = undefined;
          this.settle();
        }, this.retry);
        this.retry = Math.min(this.retry * 2, RETRY_MOST_MS);
      },
    });
  }

  private close() {
    this.source?.();
    this.source = null;
    this.open = false;
    clearTimeout(this.timer);
    this.timer = undefined;
  }
}
