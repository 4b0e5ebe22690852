// A task's output: the end first, earlier parts on demand, and new lines while it runs.
import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { taskPath } from '../../data/api';
import { LogReader } from '../../data/log';
import type { Task } from '../../data/types';
import { bytes, count, plural } from '../../lib/format';
import { cleanLine, lineKind } from '../../lib/text';
import { CopyButton } from '../CopyButton';
import { Icon } from '../Icon';
import { Tabs } from '../Tabs';

const LINES_DRAWN = 2000;

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

export function Log({ task, first }: { task: Task; first: 'stdout' | 'stderr' }) {
  const stream = useSignal<'stdout' | 'stderr'>(first);
  const attempt = useSignal<number | null>(null);
  const follow = useSignal(task.state === 'running');
  const find = useSignal('');
  const box = useRef<HTMLDivElement>(null);
  const which = attempt.value ? `&attempt=${attempt.value}` : '';
  const path = `${taskPath(task.experiment, task.number)}/log?stream=${stream.value}${which}`;
  const reader = useMemo(() => new LogReader(path), [path, task.attempt]);
  const grows = task.state === 'running' && attempt.value === null;

  useEffect(() => {
    void reader.read();
    return () => reader.close();
  }, [reader]);
  useEffect(() => (grows ? reader.follow() : undefined), [reader, grows]);

  const held = reader.held.value;
  const all = useMemo(() => {
    if (!held) return [];
    const lines = held.text.split('\n');
    if (lines[lines.length - 1] === '') lines.pop();
    // The first line is a piece of one when the text begins inside the file; a piece is better than nothing.
    if (held.from > 0 && lines.length > 1) lines.shift();
    return lines.map(cleanLine);
  }, [held]);
  const needle = find.value.trim().toLowerCase();
  const matching = useMemo(
    () => all.map((line, i) => ({ line, i })).filter(({ line }) => !needle || line.toLowerCase().includes(needle)),
    [all, needle],
  );
  const drawn = matching.slice(-LINES_DRAWN);
  const numbered = held?.from === 0;

  useEffect(() => {
    if (follow.value && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [drawn.length, all, follow.value]);

  // Scrolling up is the wish to read: following stops until the end is reached again.
  const scrolled = () => {
    const el = box.current!;
    if (follow.value && el.scrollHeight - el.scrollTop - el.clientHeight > 40) follow.value = false;
  };
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
        <span class="mute small hide-phone">
          {held
            ? needle
              ? plural(matching.length, 'matching line')
              : `last ${count(drawn.length)} lines of ${bytes(held.size)}`
            : ''}
        </span>
        <label class="search slim">
          <Icon name="search" />
          <span class="visually-hidden">Search the output</span>
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
        {reader.error.value && <p class="none bad">{reader.error.value}</p>}
        {held && held.from > 0 && (
          <p class="none">
            <button type="button" class="link" onClick={() => void reader.earlier()}>
              Load earlier output ({bytes(held.from)} before this)
            </button>
          </p>
        )}
        {held && !drawn.length && (
          <p class="none mute">
            {needle ? 'No line matches.' : `Nothing on ${stream.value}${task.state === 'running' ? ' so far' : ''}.`}
          </p>
        )}
        <div role="log" aria-label={stream.value} aria-live={follow.value ? 'polite' : 'off'}>
          <ol class={numbered ? 'numbered' : ''}>
            {drawn.map(({ line, i }) => (
              <li key={i} class={lineKind(line)}>
                {numbered && (
                  <span class="line-number" aria-hidden="true">
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
