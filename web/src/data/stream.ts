// The page's end of the event stream: connection state for the banner, and listeners.
import { effect, signal } from '@preact/signals';
import { BASE } from '../lib/base';
import { firstEvent, info, loadInfo, signedOut } from './api';
import { type FromPage, Hub, type ToPage } from './hub';
import { session } from './session';
import type { StreamEvent } from './types';

export type Link =
  | { state: 'connecting' }
  | { state: 'open'; since: string }
  | { state: 'down'; since: number; next: number };

export const link = signal<Link>({ state: 'connecting' });

type Listener = (event: StreamEvent) => void;
const listeners = new Set<Listener>();
const BEAT_MS = 15000;
let gap = false;

export function listen(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function deliver(event: StreamEvent) {
  for (const listener of listeners) listener(event);
}

function receive(message: ToPage) {
  if (message.kind === 'open') {
    link.value = { state: 'open', since: message.since };
    if (gap) {
      gap = false;
      // A restarted daemon may be another version.
      if (!signedOut.value) loadInfo().catch(() => undefined);
    }
  } else if (message.kind === 'down') {
    const since = link.value.state === 'down' ? link.value.since : Date.now();
    link.value = { state: 'down', since, next: Date.now() + message.retry_ms };
    gap = true;
    // Asking for /info finds out whether the session has ended, and shows the sign-in page.
    if (info.value) loadInfo().catch(() => undefined);
  } else {
    const event = { type: message.name, data: JSON.parse(message.data) } as StreamEvent;
    if (event.type === 'trouble' && info.value) info.value = { ...info.value, trouble: event.data.text };
    deliver(event);
  }
}

function openChannel(): (message: FromPage) => void {
  if (typeof SharedWorker !== 'undefined') {
    try {
      const worker = new SharedWorker(`${BASE}stream.js`, { type: 'module', name: 'sluice-events' });
      worker.port.onmessage = (got: MessageEvent<ToPage>) => receive(got.data);
      return (message) => worker.port.postMessage(message);
    } catch {
      // Some browsers refuse workers in private windows: the page keeps its own stream.
    }
  }
  return new Hub().join(receive);
}

export function startStream() {
  const say = openChannel();
  const report = () => {
    if (signedOut.value) say({ kind: 'bye' });
    else
      say(
        document.visibilityState === 'visible'
          ? { kind: 'visible', session: session(), since: firstEvent }
          : { kind: 'hidden' },
      );
  };
  document.addEventListener('visibilitychange', report);
  addEventListener('pageshow', report);
  addEventListener('pagehide', () => say({ kind: 'bye' }));
  effect(report); // now, and when the session has ended
  setInterval(() => {
    if (document.visibilityState === 'visible') report();
  }, BEAT_MS);
}
