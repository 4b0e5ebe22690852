// The event stream by fetch: an EventSource cannot send the header with the session's secret.
import { sessionHeader } from './session';

export interface Sink {
  open: () => void;
  event: (name: string, data: string, id: string) => void;
  end: () => void; // it failed or was closed by the daemon; not after close()
}
export type OpenEvents = (url: string, secret: string, sink: Sink) => () => void;

// Takes pieces of an event stream, cut anywhere, and calls back for each whole event.
export function eventReader(event: Sink['event']): (piece: string) => void {
  let rest = '';
  let id = '';
  let name = '';
  let data: string[] = [];
  const line = (text: string) => {
    if (text === '') {
      if (data.length) event(name || 'message', data.join('\n'), id);
      name = '';
      data = [];
      return;
    }
    const [, field, value] = /^([^:]*):? ?(.*)$/s.exec(text)!;
    if (field === 'id') id = value;
    else if (field === 'event') name = value;
    else if (field === 'data') data.push(value);
  };
  return (piece) => {
    const lines = (rest + piece).split('\n');
    rest = lines.pop()!;
    for (const text of lines) line(text.endsWith('\r') ? text.slice(0, -1) : text);
  };
}

export const openEvents: OpenEvents = (url, secret, sink) => {
  const stop = new AbortController();
  const run = async () => {
    const headers = { Accept: 'text/event-stream', ...sessionHeader(secret) };
    const response = await fetch(url, { headers, credentials: 'omit', cache: 'no-store', signal: stop.signal });
    if (!response.ok || !response.body) return;
    sink.open();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    const read = eventReader(sink.event);
    for (;;) {
      const { done, value } = await reader.read();
      if (done || stop.signal.aborted) return;
      read(value);
    }
  };
  run()
    .catch(() => undefined)
    .finally(() => {
      if (!stop.signal.aborted) sink.end();
    });
  return () => stop.abort();
};
