// A task's output: the end first, other parts on demand, new lines while it runs, and a search over all of it.
import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { get, message, save, taskPath } from '../../data/api';
import { findIn, type Held, LogReader } from '../../data/log';
import { toast } from '../../data/toast';
import type { LogHits, Task } from '../../data/types';
import { Ansi, marked, type Span } from '../../lib/ansi';
import { bytes, clock, count, plural, seconds } from '../../lib/format';
import { cleanLine, lineKind, quote } from '../../lib/text';
import { CopyButton } from '../CopyButton';
import { Icon } from '../Icon';
import { Tabs } from '../Tabs';

const LINES_DRAWN = 2000;

type Stream = 'stdout' | 'stderr';

interface Line {
  spans: Span[];
  text: string;
  number: number | null;
  time: number | null;
}

// `ended`: when all of it was written, where it took no longer than the runner needs to look.
function linesOf(held: Held | null, ended: number | null): Line[] {
  if (!held) return [];
  const raw = held.text.split('\n');
  if (raw[raw.length - 1] === '') raw.pop();
  const ansi = new Ansi();
  let at = 0;
  let number = held.line;
  let newest = -1; // of the times, the last at or before the line
  const lines = raw.map((line): Line => {
    const spans = ansi.line(line);
    while (newest + 1 < held.times.length && held.times[newest + 1][0] <= at) newest++;
    const time = held.times[newest]?.[1] ?? ended;
    at += line.length + 1;
    return { spans, text: spans.map((span) => span.text).join(''), number: number === null ? null : number++, time };
  });
  // The first line is a piece of one when the text begins inside the file; a piece is better than nothing.
  if (held.from > 0 && lines.length > 1) lines.shift();
  return lines;
}

// Of an attempt that ended within this time the runner keeps no times.
const MOMENT_S = 1.2;

function momentOf(task: Task, number: number | null): number | null {
  const one = task.attempts.find((a) => a.number === (number ?? task.attempt));
  const ran = one ? seconds(one.started, one.finished) : null;
  return ran !== null && ran <= MOMENT_S ? Date.parse(one!.finished!) : null;
}

// The last lines, or those around the one that was gone to.
function around(all: Line[], target: number | null): Line[] {
  const at = target === null ? -1 : all.findIndex((line) => line.number === target);
  if (at < 0) return all.slice(-LINES_DRAWN);
  return all.slice(Math.max(0, at - LINES_DRAWN / 2), at + LINES_DRAWN / 2);
}

function Words({ spans, find }: { spans: Span[]; find: string }) {
  return (
    <span>
      {marked(spans, find).map((span, i) =>
        span.hit ? (
          <mark key={i}>{span.text}</mark>
        ) : span.class ? (
          <span key={i} class={span.class}>
            {span.text}
          </span>
        ) : (
          span.text
        ),
      )}
    </span>
  );
}

// The lines of the whole output that have the text in them, from the daemon; null: it was not searched yet.
function useFind(path: string, text: string, size: number): { hits: LogHits | null; problem: string | null } {
  const found = useSignal<{ hits: LogHits | null; problem: string | null }>({ hits: null, problem: null });
  const now = useRef(size);
  now.current = size;
  useEffect(() => {
    if (!text) {
      found.value = { hits: null, problem: null };
      return;
    }
    return findIn(
      path,
      text,
      () => now.current,
      (hits, problem) => {
        found.value = { hits, problem };
      },
    );
  }, [path, text]);
  return found.value;
}

function Found({ hits, find, onGo }: { hits: LogHits; find: string; onGo: (hit: LogHits['items'][number]) => void }) {
  const drawn = hits.items;
  return (
    <ol class="numbered">
      {drawn.map((hit) => (
        <li key={hit.offset} class={lineKind(cleanLine(hit.text))}>
          <button type="button" class="line-number" aria-label={`Go to line ${hit.line}`} onClick={() => onGo(hit)}>
            {hit.line}
          </button>
          <Words spans={new Ansi().line(hit.text)} find={find} />
        </li>
      ))}
      {hits.total > drawn.length && <li class="mute">and {plural(hits.total - drawn.length, 'more line')}</li>}
    </ol>
  );
}

export function Log({ task, first }: { task: Task; first: Stream }) {
  const stream = useSignal<Stream>(first);
  const picked = useSignal(false);
  const attempt = useSignal<number | null>(null);
  const follow = useSignal(task.state === 'running');
  const find = useSignal('');
  const target = useSignal<number | null>(null);
  const box = useRef<HTMLDivElement>(null);
  const base = `${taskPath(task.experiment, task.number)}/log`;
  const which = `?stream=${stream.value}${attempt.value ? `&attempt=${attempt.value}` : ''}`;
  const reader = useMemo(() => new LogReader(base + which), [base, which, task.attempt]);
  const grows = task.state === 'running' && attempt.value === null;

  useEffect(() => {
    void reader.read();
    return () => reader.close();
  }, [reader]);
  useEffect(() => (grows ? reader.follow() : undefined), [reader, grows]);

  const held = reader.held.value;
  // An empty stderr tells nothing: the other one has the story.
  useEffect(() => {
    if (!picked.value && stream.value === 'stderr' && held?.size === 0 && !grows) stream.value = 'stdout';
  }, [held?.size, grows]);
  const ended = momentOf(task, attempt.value);
  const all = useMemo(() => linesOf(held, ended), [held, ended]);
  const needle = find.value.trim().toLowerCase();
  const { hits, problem: unsearched } = useFind(`${base}/find${which}`, needle, held?.size ?? 0);
  const drawn = useMemo(() => around(all, target.value), [all, target.value]);
  const numbered = held !== null && held.line !== null;
  const timed = drawn.some((line) => line.time !== null);

  useEffect(() => {
    if (follow.value && box.current && !needle) box.current.scrollTop = box.current.scrollHeight;
  }, [drawn.length, all, follow.value]);
  useEffect(() => {
    if (target.value !== null) box.current?.querySelector('.target')?.scrollIntoView({ block: 'center' });
  }, [target.value, held]);

  // Scrolling up is the wish to read: following stops until the end is reached again.
  const scrolled = () => {
    const el = box.current!;
    if (follow.value && el.scrollHeight - el.scrollTop - el.clientHeight > 40) follow.value = false;
  };
  const goTo = async (hit: LogHits['items'][number]) => {
    follow.value = false;
    find.value = '';
    if (await reader.goTo(hit.offset, hit.line)) target.value = hit.line;
  };
  const exception = task.state === 'error' && attempt.value === null ? quote(task.cause?.tail ?? null) : null;
  const goToException = async () => {
    try {
      const got = await get<LogHits>(
        `${base}/find${which}&limit=1000&q=${encodeURIComponent(exception!.slice(0, 200))}`,
      );
      const last = got.items[got.items.length - 1];
      if (last) await goTo(last);
      else toast(`The exception is not on ${stream.value}.`);
    } catch (problem) {
      toast(message(problem), { level: 'error' });
    }
  };
  const pick = (value: Stream) => {
    picked.value = true;
    target.value = null;
    stream.value = value;
  };
  const name = `${task.experiment}-${task.number}-${attempt.value ?? task.attempt}.${stream.value}.txt`;
  const download = () =>
    save(`${base}/file${which}`, name).catch((problem) => toast(message(problem), { level: 'error' }));
  const said = !held
    ? ''
    : needle
      ? hits
        ? `${plural(hits.total, 'matching line')} of ${count(hits.lines)}`
        : unsearched
          ? 'not searched'
          : 'searching…'
      : held.from === 0 && !reader.away.value
        ? `${plural(drawn.length, 'line')}, ${bytes(held.size)}`
        : `${reader.away.value ? '' : 'last '}${plural(drawn.length, 'line')} of ${bytes(held.size)}`;
  return (
    <section class="card clip" aria-label="Output">
      <header>
        <Tabs
          label="Output"
          panel="log"
          value={stream.value}
          onPick={pick}
          tabs={[
            { value: 'stderr', label: 'stderr' },
            { value: 'stdout', label: 'stdout' },
          ]}
        />
        {task.attempts.length > 1 && (
          <label class="pick">
            Attempt{' '}
            <select
              value={String(attempt.value ?? task.attempt)}
              onChange={(event) => {
                const n = Number(event.currentTarget.value);
                attempt.value = n === task.attempt ? null : n;
              }}
            >
              {task.attempts.map((a) => (
                <option key={a.number} value={String(a.number)}>
                  {a.number}
                </option>
              ))}
            </select>
          </label>
        )}
        <span class="grow" />
        <span class="mute small hide-phone" role="status">
          {said}
        </span>
        <label class="search slim">
          <Icon name="search" />
          <span class="visually-hidden">Search the output</span>
          <input
            type="search"
            data-search
            value={find.value}
            placeholder="Search all of it"
            onInput={(event) => {
              find.value = event.currentTarget.value;
            }}
          />
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={follow.value}
            onChange={(event) => {
              follow.value = event.currentTarget.checked;
              if (follow.value) target.value = null;
              if (follow.value && reader.away.value) void reader.toEnd();
            }}
          />
          Follow
        </label>
        {exception && (
          <button type="button" class="btn ghost small" onClick={() => void goToException()}>
            Go to the exception
          </button>
        )}
        <button
          type="button"
          class="btn icon ghost"
          aria-label="Download the output"
          title="Download the output"
          onClick={() => void download()}
        >
          <Icon name="down" />
        </button>
        <CopyButton label="Copy what is shown" text={() => drawn.map((line) => line.text).join('\n')} />
      </header>
      <div
        id="log"
        ref={box}
        class="log mono"
        tabIndex={0}
        role="tabpanel"
        aria-labelledby={`log-${stream.value}`}
        onScroll={scrolled}
      >
        {reader.error.value && <p class="none bad">{reader.error.value}</p>}
        {needle && unsearched && <p class="none bad">{unsearched}</p>}
        {held && held.from > 0 && !needle && (
          <p class="none">
            <button type="button" class="link" onClick={() => void reader.earlier()}>
              Load earlier output ({bytes(held.from)} before this)
            </button>
          </p>
        )}
        {held && !drawn.length && !needle && (
          <p class="none mute">{`Nothing on ${stream.value}${task.state === 'running' ? ' so far' : ''}.`}</p>
        )}
        {needle && hits?.total === 0 && <p class="none mute">No line matches.</p>}
        <div role="log" aria-label={stream.value} aria-live={follow.value && !needle ? 'polite' : 'off'}>
          {needle ? (
            hits && <Found hits={hits} find={needle} onGo={(hit) => void goTo(hit)} />
          ) : (
            <ol class={numbered ? 'numbered' : ''}>
              {drawn.map((line, i) => (
                <li
                  key={line.number ?? i}
                  class={`${lineKind(line.text)} ${line.number !== null && line.number === target.value ? 'target' : ''}`}
                >
                  {numbered && (
                    <span class="line-number" aria-hidden="true">
                      {line.number}
                    </span>
                  )}
                  {timed && (
                    <span class="line-time" title="When it was written, to about a second">
                      {line.time === null ? '' : clock(line.time, true)}
                    </span>
                  )}
                  <Words spans={line.spans} find="" />
                </li>
              ))}
            </ol>
          )}
        </div>
        {held && reader.away.value && !needle && (
          <p class="none">
            <button type="button" class="link" onClick={() => void reader.later()}>
              Load later output ({bytes(held.size - held.next)} after this)
            </button>{' '}
            <button
              type="button"
              class="link"
              onClick={() => {
                target.value = null;
                void reader.toEnd();
              }}
            >
              Go to the end
            </button>
          </p>
        )}
      </div>
    </section>
  );
}
