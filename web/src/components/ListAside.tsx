// Beside the list: what needs attention, and what was used.
import { useSignal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { get } from '../data/api';
import type { Energy, ExperimentSummary, FailedCost, TaskList, TaskSummary } from '../data/types';
import { inCommon, piece, shapeOf } from '../lib/alike';
import { count, duration, energy, plural, threeDigits, when } from '../lib/format';
import { brief, unticked } from '../lib/text';
import { Card } from './Card';
import { Icon } from './Icon';
import { KeyValues } from './KeyValues';
import { Said } from './Said';
import { StateIcon } from './State';

interface Item {
  key: string;
  href: string;
  text: string;
  // Of the daemon, where commands stand in backticks; not of the script.
  said?: boolean;
  where: string;
  time: string | null;
  state: 'error' | 'submitted';
}
// Causes are in the tasks, so a few failing experiments are asked for theirs; the rest are counted.
const ASKED = 4;
const SHOWN = 6;
const LOOKED_AT = 200;

// The words of a failure: the exception, else what the daemon says.
const wordsOf = (task: TaskSummary) => brief(task.cause?.tail ?? null) ?? task.cause?.text ?? task.reason ?? 'failed';

// The failed tasks of an experiment by their cause, the most frequent first, each with its text in full. Texts that
// differ in numbers only are one cause; what a script ended with is none of these numbers.
async function causes(e: ExperimentSummary): Promise<Item[]> {
  const page = await get<TaskList>(`/experiments/${e.id}/tasks?state=error&sort=-number&limit=${LOOKED_AT}`);
  const groups = new Map<string, TaskSummary[]>();
  for (const task of page.items) {
    const cause = task.cause;
    const key = `${cause?.kind} ${cause?.code} ${cause?.signal} ${shapeOf(wordsOf(task))}`;
    groups.set(key, [...(groups.get(key) ?? []), task]);
  }
  const more = page.total > page.items.length ? ` of the last ${count(page.items.length)}` : '';
  return [...groups.values()]
    .sort((x, y) => y.length - x.length)
    .map((tasks) => {
      const words = inCommon(tasks.map(wordsOf));
      const [first] = tasks;
      const many = tasks.length > 1;
      // The table shows just these where their cause says these words.
      const found = piece(words);
      const all = found && tasks.every((task) => task.cause?.text.includes(found));
      const filter = all ? `&q=${encodeURIComponent(`cause ~ "${found}"`)}` : '';
      return {
        key: `${e.id} ${words}`,
        href: many ? `/e/${e.id}?state=error${filter}` : `/e/${e.id}/${first.number}`,
        where: e.name,
        time: first.finished,
        state: 'error',
        text: many ? `${plural(tasks.length, 'task')}${more}: ${words}` : `#${first.number} ${words}`,
        said: !tasks.some((task) => brief(task.cause?.tail ?? null)),
      };
    });
}

// Running tasks that make no progress, each with what was seen of it.
async function stalls(e: ExperimentSummary): Promise<Item[]> {
  const page = await get<TaskList>(`/experiments/${e.id}/tasks?state=running&limit=${LOOKED_AT}`);
  return page.items
    .filter((task) => task.stalled)
    .map((task) => ({
      key: `s${task.id}`,
      href: `/e/${e.id}/${task.number}`,
      text: `#${task.number} ${task.reason}`,
      said: true,
      where: e.name,
      time: task.started,
      state: 'error',
    }));
}

// What was dismissed in this browser: a new failure of the same kind has another number of tasks, and shows again.
const DISMISSED = 'sluice-dismissed';

function readDismissed(): string[] {
  try {
    return JSON.parse(localStorage.getItem(DISMISSED) ?? '[]') as string[];
  } catch {
    return [];
  }
}

// What is longer than the lines that are shown at first.
const LONG = 150;

function Attention({ item, onDismiss }: { item: Item; onDismiss: () => void }) {
  const whole = useSignal(false);
  const long = item.text.length > LONG;
  const words = item.said ? unticked(item.text) : item.text;
  return (
    <div class="attention">
      <StateIcon state={item.state} />
      <div class="what">
        <a href={item.href} class={long && !whole.value ? 'full clamped' : 'full'} title={long ? words : undefined}>
          <bdi>{item.said ? <Said text={item.text} /> : item.text}</bdi>
        </a>
        {long && (
          <button
            type="button"
            class="link small"
            aria-expanded={whole.value}
            onClick={() => {
              whole.value = !whole.value;
            }}
          >
            {whole.value ? 'less' : 'more'}
          </button>
        )}
        <span class="mute small line">
          <span class="cut">
            <bdi>{item.where}</bdi>
          </span>
          <span class="numeric nowrap">{when(item.time)}</span>
        </span>
      </div>
      <button type="button" class="clear" aria-label={`Dismiss: ${words}`} onClick={onDismiss}>
        <Icon name="x" />
      </button>
    </div>
  );
}

export function NeedsAttention({ items }: { items: ExperimentSummary[] }) {
  const found = useSignal<Item[]>([]);
  const dismissed = useSignal(readDismissed());
  const failing = items
    .filter((e) => e.tasks.error > 0)
    .sort((a, b) => (b.created ?? '').localeCompare(a.created ?? ''));
  const stalling = items.filter((e) => e.stalled).slice(0, ASKED);
  const stamp = [
    ...stalling.map((e) => `${e.id}:${e.stalled} stalled`),
    ...failing.slice(0, ASKED).map((e) => `${e.id}:${e.tasks.error}`),
  ].join();
  useEffect(() => {
    let live = true;
    const asked = [
      ...stalling.map((e) => stalls(e).catch(() => [])),
      ...failing.slice(0, ASKED).map((e) => causes(e).catch(() => [])),
    ];
    Promise.all(asked).then((all) => {
      if (live) found.value = all.flat();
    });
    return () => {
      live = false;
    };
  }, [stamp]);
  // Queued experiments need no attention.
  const waiting = items
    .filter((e) => e.note && !e.waiting_for && !e.paused)
    .map(
      (e): Item => ({
        key: `n${e.id}`,
        href: `/e/${e.id}`,
        text: e.note!,
        said: true,
        where: e.name,
        time: e.created,
        state: 'submitted',
      }),
    );
  const paused = items
    .filter((e) => e.paused && !e.finished)
    .map(
      (e): Item => ({
        key: `p${e.id}`,
        href: `/e/${e.id}`,
        text: `Paused: ${e.paused}`,
        said: true,
        where: e.name,
        time: e.created,
        state: 'error',
      }),
    );
  // The text of a stall grows with its time.
  const mark = (item: Item) => (item.key.startsWith('s') ? item.key : `${item.key} ${item.text}`);
  const every = [...paused, ...waiting, ...found.value].filter((item) => !dismissed.value.includes(mark(item)));
  const opened = useSignal(false);
  const all = opened.value ? every : every.slice(0, SHOWN);
  const dismiss = (item: Item) => {
    dismissed.value = [...dismissed.value, mark(item)].slice(-200);
    try {
      localStorage.setItem(DISMISSED, JSON.stringify(dismissed.value));
    } catch {
      // Without storage it is hidden until the page is loaded again.
    }
  };
  return (
    <Card title="Needs attention" id="attention">
      <div class="body list">
        {all.map((item) => (
          <Attention key={item.key} item={item} onDismiss={() => dismiss(item)} />
        ))}
        {every.length > SHOWN && (
          <button
            type="button"
            class="link small"
            aria-expanded={opened.value}
            onClick={() => {
              opened.value = !opened.value;
            }}
          >
            {opened.value ? 'Show fewer' : `Show ${count(every.length - SHOWN)} more`}
          </button>
        )}
        {!all.length && <p class="mute small">Nothing. Failed and stuck tasks appear here.</p>}
        {failing.length > ASKED && every.length > SHOWN && ' '}
        {failing.length > ASKED && (
          <a class="small" href="/?show=errors">
            All {failing.length} experiments with errors
          </a>
        )}
      </div>
    </Card>
  );
}

function failedText(cost: FailedCost): string {
  const joules = cost.energy_j === null ? '' : `, ${energy(cost.energy_j)}`;
  return `${duration(cost.gpu_s || cost.wall_s)}${cost.gpu_s ? ' of GPU' : ''}${joules}`;
}

// How many, and what they have cost; by search strategy in the title.
function Failed({ tasks }: { tasks: number }) {
  const [sums, setSums] = useState<Energy | null>(null);
  useEffect(() => {
    let there = true;
    if (tasks)
      get<Energy>('/energy').then(
        (got) => there && setSums(got),
        () => undefined, // it is an extra
      );
    return () => {
      there = false;
    };
  }, [tasks]);
  const cost = sums?.total.failed;
  const by = (sums?.by_strategy ?? []).filter((row) => row.failed?.tasks);
  const title = by.map((row) => `${row.strategy}: ${row.failed?.tasks}, ${row.failed && failedText(row.failed)}`);
  return (
    <span title={title.length ? `By search strategy: ${title.join('; ')}` : undefined}>
      {count(tasks)} {tasks > 0 && cost && <span class="mute small">in {failedText(cost)}</span>}
    </span>
  );
}

export function Totals({ items }: { items: ExperimentSummary[] }) {
  const sum = (f: (e: ExperimentSummary) => number | null) => items.reduce((total, e) => total + (f(e) ?? 0), 0);
  const measured = items.filter((e) => e.cost.energy_j !== null).length;
  const gpu = sum((e) => e.cost.gpu_s);
  return (
    <Card title="Total" id="totals">
      <div class="body">
        <KeyValues
          rows={[
            ['Tasks finished', count(sum((e) => e.tasks.finished))],
            ['Tasks failed', <Failed key="failed" tasks={sum((e) => e.tasks.error)} />],
            gpu
              ? ['GPU time', gpu < 360 ? duration(gpu) : `${threeDigits(gpu / 3600)} h`]
              : ['CPU time', duration(sum((e) => e.cost.cpu_s))],
            [
              'Energy',
              measured ? (
                <>
                  {energy(sum((e) => e.cost.energy_j))}{' '}
                  <span class="mute small">
                    {measured} of {items.length} measured
                  </span>
                </>
              ) : (
                'not measured'
              ),
            ],
          ]}
        />
      </div>
    </Card>
  );
}
