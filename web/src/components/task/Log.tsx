// A task's output: the end first, earlier parts on demand, and new lines as the stream tells of them.
import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { get, message, taskPath } from '../../data/api';
import type { LogChunk, TaskDetail } from '../../data/types';
import { bytes, count, plural } from '../../lib/format';
import { cleanLine, lineKind } from '../../lib/text';
import { CopyButton } from '../bits';
import { Icon } from '../Icon';
import { Tabs } from '../Tabs';

const CHUNK = 64 * 1024;
const EARLIER = 256 * 1024;
// What is kept in the page; older text is fetched again when somebody scrolls for it.
const KEPT = 2 * 1024 * 1024;
const LINES_DRAWN = 2000;

interface Held {
  from: number;
  next: number;
  size: number;
  text: string;
}

function Marked({ line, find }: { line: string; find: string }) {
  if (!find) return <span>{line}</span>;
  const parts: (string | preact.JSX.Element)[] = [];
  const low = line.toLowerCase();
  let at = 0;
  for (let hit = low.indexOf(find); hit >= 0; hit = low.indexOf(find, at)) {
    parts.push(line.slice(at, hit), <mark key={hit}>{line.slice(hit, hit + find.length)}</mark>);
    at = hit + find.length;
  }
  parts.push(line.slice(at));
  return <span>{parts}</span>;
}

export function Log({
  task,
  sizes,
  first,
}: {
  task: TaskDetail;
  sizes: Signal<Record<string, number>>;
  first: 'stdout' | 'stderr';
}) {
  const stream = useSignal<'stdout' | 'stderr'>(first);
  const attempt = useSignal<number | null>(null);
  const held = useSignal<Held | null>(null);
  const error = useSignal<string | null>(null);
  const follow = useSignal(task.state === 'running');
  const find = useSignal('');
  const busy = useRef(false);
  const box = useRef<HTMLDivElement>(null);
  const which = attempt.value ? `&attempt=${attempt.value}` : '';
  const base = `${taskPath(task.experiment, task.number)}/log?stream=${stream.value}${which}`;

  const fetchPart = async (offset: number, limit: number): Promise<LogChunk | null> => {
    busy.current = true;
    try {
      const chunk = await get<LogChunk>(`${base}&offset=${offset}&limit=${limit}`);
      error.value = null;
      return chunk;
    } catch (problem) {
      error.value = message(problem);
      return null;
    } finally {
      busy.current = false;
    }
  };

  useEffect(() => {
    let live = true;
    held.value = null;
    void fetchPart(-CHUNK, CHUNK).then((chunk) => {
      if (live && chunk) held.value = { from: chunk.offset, next: chunk.next, size: chunk.size, text: chunk.text };
    });
    return () => {
      live = false;
    };
  }, [stream.value, attempt.value, task.attempt]);

  const told = sizes.value[stream.value] ?? 0;
  useEffect(() => {
    const now = held.value;
    if (!now || busy.current || told <= now.next || attempt.value !== null) return;
    void fetchPart(now.next, EARLIER).then((chunk) => {
      if (!chunk || !held.value || chunk.offset !== held.value.next) return;
      let text = held.value.text + chunk.text;
      let from = held.value.from;
      if (text.length > KEPT) {
        const cut = text.indexOf('\n', text.length - KEPT) + 1;
        from += new TextEncoder().encode(text.slice(0, cut)).length;
        text = text.slice(cut);
      }
      held.value = { from, next: chunk.next, size: chunk.size, text };
    });
  }, [told, held.value]);

  const earlier = async () => {
    const now = held.value!;
    const start = Math.max(0, now.from - EARLIER);
    const chunk = await fetchPart(start, now.from - start);
    if (chunk && held.value) held.value = { ...held.value, from: chunk.offset, text: chunk.text + held.value.text };
  };

  const all = useMemo(() => {
    if (!held.value) return [];
    const lines = held.value.text.split('\n');
    if (lines[lines.length - 1] === '') lines.pop();
    // The first line is a piece of one when the text begins inside the file; a piece is better than nothing.
    if (held.value.from > 0 && lines.length > 1) lines.shift();
    return lines.map(cleanLine);
  }, [held.value]);
  const needle = find.value.trim().toLowerCase();
  const matching = useMemo(
    () => all.map((line, i) => ({ line, i })).filter(({ line }) => !needle || line.toLowerCase().includes(needle)),
    [all, needle],
  );
  const drawn = matching.slice(-LINES_DRAWN);
  const numbered = held.value?.from === 0;

  useEffect(() => {
    if (follow.value && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [drawn.length, all, follow.value]);

  // Scrolling up is the wish to read: following stops until the end is reached again.
  const scrolled = () => {
    const el = box.current!;
    if (follow.value && el.scrollHeight - el.scrollTop - el.clientHeight > 40) follow.value = false;
  };
  const now = held.value;
  return (
    <section class="card clip" aria-label="Output">
      <header>
        <Tabs
          label="Output"
          panel="log"
          value={stream.value}
          onPick={(value) => {
            stream.value = value;
          }}
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
        <span class="mute small hide-m">
          {now
            ? needle
              ? plural(matching.length, 'matching line')
              : `last ${count(drawn.length)} lines of ${bytes(now.size)}`
            : ''}
        </span>
        <label class="search slim">
          <Icon name="search" />
          <span class="vh">Search the output</span>
          <input
            type="search"
            data-search
            value={find.value}
            placeholder="Search"
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
            }}
          />
          Follow
        </label>
        <CopyButton label="Copy what is shown" text={() => drawn.map((d) => d.line).join('\n')} />
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
        {error.value && <p class="none bad">{error.value}</p>}
        {now && now.from > 0 && (
          <p class="none">
            <button type="button" class="link" onClick={() => void earlier()}>
              Load earlier output ({bytes(now.from)} before this)
            </button>
          </p>
        )}
        {now && !drawn.length && (
          <p class="none mute">
            {needle ? 'No line matches.' : `Nothing on ${stream.value}${task.state === 'running' ? ' so far' : ''}.`}
          </p>
        )}
        <div role="log" aria-label={stream.value} aria-live={follow.value ? 'polite' : 'off'}>
          <ol class={numbered ? 'numbered' : ''}>
            {drawn.map(({ line, i }) => (
              <li key={i} class={lineKind(line)}>
                {numbered && (
                  <span class="no" aria-hidden="true">
                    {i + 1}
                  </span>
                )}
                <Marked line={line} find={needle} />
              </li>
            ))}
          </ol>
        </div>
      </div>
    </section>
  );
}
