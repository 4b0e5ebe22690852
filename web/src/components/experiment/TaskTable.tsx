// The tasks: sorted, filtered and selected in the URL, hovered together with the charts.
import { type Signal, useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { restartTasks, stoppable, stopTasks } from '../../data/actions';
import { ranSeconds } from '../../data/ran';
import { reasonNow } from '../../data/store';
import type { Experiment, Metric, TaskSummary } from '../../data/types';
import { bestValue, type Column, ranHere } from '../../lib/columns';
import { DASH, duration, finite, metric, paramLine, plural, threeDigits, when } from '../../lib/format';
import { isPooled, type Pool, type Pooled } from '../../lib/pool';
import { query, setQuery } from '../../lib/router';
import { quote, shortened, unticked } from '../../lib/text';
import { Bar } from '../Bar';
import { Icon } from '../Icon';
import { Said } from '../Said';
import { SortHead } from '../SortHead';
import { Chip, Renumbered, Stalled } from '../State';

const LABEL_MOST = 16;

// As td in tables.css, with its border.
export const ROW_PX = 31;

function Elapsed({ task }: { task: TaskSummary }) {
  return <>{duration(ranSeconds(task))}</>;
}

export function causeText(task: TaskSummary): string {
  const said = quote(task.cause?.tail ?? null);
  const name = said && /^[\w.]*?(\w+(?:Error|Exception|Interrupt))\b/.exec(said)?.[1];
  return name || task.cause?.text || task.reason || 'failed';
}

// Keras counts epochs from 0, so the last of 8 is 7.
const early = (task: TaskSummary) => task.epochs !== null && task.epoch !== null && task.epoch + 1 < task.epochs;

// Why there is no epoch.
function noEpoch(task: TaskSummary, step: string): string {
  if (task.last) return ranHere(task) ? 'not known' : 'imported';
  return task.state === 'running' ? `no ${step} yet` : 'no metrics';
}

function EpochCell({ task, step, reason }: { task: TaskSummary; step: string; reason: string | null }) {
  if (task.state === 'submitted' || task.state === 'waiting') {
    const text = task.expected_start
      ? `expected ${when(task.expected_start)}`
      : (reason ?? (task.state === 'submitted' ? 'queued' : 'not started yet'));
    return (
      <span class="mute small cut">
        <bdi>
          <Said text={text} />
        </bdi>
      </span>
    );
  }
  if (task.epoch === null) return <span class="mute small">{noEpoch(task, step)}</span>;
  if (task.state === 'finished') {
    return (
      <span class="between">
        <span class="mute small">{early(task) ? 'early stop' : ''}</span>
        <span>
          {task.epoch}
          <span class="only-phone mute small"> {step}s</span>
        </span>
      </span>
    );
  }
  return (
    <span class="progress">
      {task.progress !== null && (
        <Bar share={task.progress} label={`Progress of task ${task.number}`} state={task.state} />
      )}
      <span class="numeric small">
        {task.epoch}
        {task.epochs !== null && <span class="mute">/{task.epochs}</span>}
      </span>
    </span>
  );
}

// A value that counts came before the last one, which is no number.
const spoilt = (task: TaskSummary) =>
  task.best !== null && finite(task.best.value) !== null && task.last !== null && finite(task.last.value) === null;

function Spoilt({ last }: { last: Metric }) {
  return (
    <span class="warned small" title={`The last value is ${metric(last)}; the best one came before it.`}>
      last {metric(last)}{' '}
    </span>
  );
}

interface BestProps {
  task: TaskSummary;
  best: boolean;
  onFront: boolean;
  format: (v: Metric) => string | null;
}

function BestCell({ task, best, onFront, format }: BestProps) {
  const value = bestValue(task);
  const failed = task.state === 'error' && (
    <span class="bad small cut" title={task.cause ? unticked(task.cause.text) : undefined}>
      <bdi>{causeText(task)}</bdi>
    </span>
  );
  if (value === null) return failed || <span class="mute">{DASH}</span>;
  const bad = (isPooled(task) ? task.runs : [task]).find(spoilt);
  const text = (
    <span class={finite(value) === null ? 'warned' : undefined} title={String(value)}>
      {format(value)}
    </span>
  );
  const beyond = task.beyond && (
    <span class="mute small cut beyond" title={task.beyond}>
      <bdi>{task.beyond}</bdi>
    </span>
  );
  return (
    <>
      {failed}
      {failed && ' '}
      {beyond}
      {beyond && ' '}
      {bad && <Spoilt last={bad.last!.value} />}
      {onFront && (
        <span class="tag front" title="No other task is better in one objective and as good in the others">
          front
        </span>
      )}
      {best ? (
        <span class="best">
          <Icon name="star" />
          <span class="visually-hidden">Best: </span>
          {text}
        </span>
      ) : (
        text
      )}
    </>
  );
}

// Opens and closes the runs of a configuration; which are open is in the address.
function toggleRuns(first: number) {
  const open = new Set((query.value.get('runs') ?? '').split(',').filter(Boolean).map(Number));
  if (!open.delete(first)) open.add(first);
  setQuery({ runs: [...open].sort((a, b) => a - b).join() || null });
}

// The first cell of a configuration: how many runs, and the way to them.
function RunsCell({ task, open }: { task: Pooled; open: boolean }) {
  return (
    <button
      type="button"
      class={open ? 'runs open' : 'runs'}
      aria-expanded={open}
      aria-label={`${plural(task.runs.length, 'repeat')} of the configuration of task ${task.number}`}
      onClick={() => toggleRuns(task.configuration.first)}
    >
      <Icon name="right" />
      <span aria-hidden="true">{plural(task.runs.length, 'repeat')}</span>
    </button>
  );
}

function spreadText(task: Pooled): string {
  const { spread, repeats, open, bad } = task.configuration;
  const of = repeats < task.runs.length || open || bad ? `(${repeats} of ${task.runs.length})` : null;
  return [spread === null ? null : `± ${threeDigits(spread)}`, of].filter(Boolean).join(' ');
}

// Behind the mean, as wide in every row, so that the means stand below each other; a single run has none.
function Spread({ task, chars }: { task: Pooled | null; chars: number }) {
  if (!chars) return null;
  const style = { '--chars': chars };
  if (!task)
    return (
      <>
        {' '}
        <span class="spread small" style={style} />
      </>
    );
  const { repeats, open, bad } = task.configuration;
  const why = [
    `mean of ${plural(repeats, 'repeat')}`,
    open && `${open} not ended`,
    bad && `${bad} without a value that counts`,
  ];
  return (
    <>
      {' '}
      <span class="spread mute small" style={style} title={why.filter(Boolean).join(', ')}>
        {spreadText(task)}
      </span>
    </>
  );
}

interface RowProps {
  e: Experiment;
  columns: Column[];
  task: TaskSummary;
  css: string;
  selected: boolean;
  best: boolean;
  onFront: boolean;
  // Of the longest spread in the table.
  spread: number;
  format: (v: Metric) => string | null;
  onSelect: (n: number[], on: boolean) => void;
  // A run below its configuration.
  inner: boolean;
  open: boolean;
}

function Row(props: RowProps) {
  const { e, columns, task, css, selected, best, onFront, spread, format, onSelect, inner, open } = props;
  const n = task.number;
  const group = isPooled(task) ? task : null;
  const runs = group?.runs ?? [task];
  const ends = runs.filter(stoppable);
  // An imported result never started, and is in the charts.
  const started = task.started !== null || task.best !== null;
  const reason = reasonNow(task, e);
  return (
    <tr
      data-row={group ? `c${n}` : n}
      data-hover={n}
      class={`${selected ? 'selected' : ''}${inner ? ' inner' : ''}` || undefined}
    >
      <td class="tick">
        <input
          type="checkbox"
          checked={selected}
          aria-label={group ? `Select the ${plural(runs.length, 'repeat')} of task ${n}` : `Select task ${n}`}
          onChange={(event) =>
            onSelect(
              runs.map((t) => t.number),
              event.currentTarget.checked,
            )
          }
        />
      </td>
      <td class="task-id">
        <a class="row" href={`/e/${e.id}/${n}`}>
          <i class="swatch" style={{ background: started ? css : 'var(--border-2)' }} />#{n}
        </a>
        {task.star && (
          <span class="starred" title="Starred">
            <Icon name="star" />
            <span class="visually-hidden">starred</span>
          </span>
        )}
        {group && <RunsCell task={group} open={open} />}
        {!group && task.repeat !== null && task.repeat > 1 && <span class="mute small"> repeat {task.repeat}</span>}
      </td>
      <td class="right-phone">
        {task.stalled ? <Stalled title={reason} /> : <Chip state={task.state} title={reason} />}
      </td>
      {columns
        .filter((column) => column.group === 'Parameters')
        .map((column) => (
          <Cell key={column.key} column={column} task={task} />
        ))}
      <td class="only-phone wide mute small">
        <bdi>{paramLine(task.parameters, e.varying)}</bdi>
      </td>
      <td class="right epoch">
        {group ? (
          <span class="mute small">{runsText(group)}</span>
        ) : (
          <EpochCell task={task} step={e.step_name || 'epoch'} reason={reason} />
        )}
      </td>
      <td class="right value">
        <BestCell task={task} best={best} onFront={onFront} format={format} />
        <Spread task={group} chars={spread} />
      </td>
      {columns
        .filter((column) => column.group === 'Results')
        .map((column) => (
          <Cell key={column.key} column={column} task={task} />
        ))}
      <td class="right hide-phone">
        <Elapsed task={task} />
      </td>
      {columns
        .filter((column) => column.group === 'Costs' || column.group === 'Other')
        .map((column) => (
          <Cell key={column.key} column={column} task={task} />
        ))}
      <td class="hide-phone actions">
        {ends.length ? (
          <button
            type="button"
            class="btn icon compact ghost"
            aria-label={group ? `Stop the repeats of task ${n}` : `Stop task ${n}`}
            onClick={() => void stopTasks(e.id, ends)}
          >
            <Icon name="stop" />
          </button>
        ) : (
          <button
            type="button"
            class="btn icon compact ghost"
            aria-label={group ? `Restart the repeats of task ${n}` : `Restart task ${n}`}
            onClick={() => void restartTasks(e.id, runs)}
          >
            <Icon name="restart" />
          </button>
        )}
      </td>
    </tr>
  );
}

// How far the runs of a configuration are.
function runsText(group: Pooled): string {
  const { open } = group.configuration;
  return open ? `${group.runs.length - open} of ${group.runs.length} ended` : '';
}

function Cell({ column, task }: { column: Column; task: TaskSummary }) {
  const text = column.text(task);
  return (
    <td class={column.left ? 'hide-phone' : 'right hide-phone'}>
      {text === null ? (
        <span class="mute">{DASH}</span>
      ) : (
        <span class="cut" title={column.full?.(task) ?? undefined}>
          <bdi>{text}</bdi>
          {column.counted?.(task) && <Renumbered why={column.counted(task)!} />}
        </span>
      )}
    </td>
  );
}

// The rows outside the window, as empty space.
function Gap({ rows, span }: { rows: number; span: number }) {
  return (
    <tr class="gap">
      <td colSpan={span} style={{ height: `${rows * ROW_PX}px` }} />
    </tr>
  );
}

// Is the table wider than its card? Then it scrolls, and two of its columns stay in sight.
function useOverflow(ref: { current: HTMLElement | null }, changes: unknown[]): boolean {
  const wide = useSignal(false);
  useEffect(() => {
    const box = ref.current;
    if (!box) return;
    const look = () => {
      wide.value = box.scrollWidth > box.clientWidth + 1;
    };
    const observer = new ResizeObserver(look);
    observer.observe(box);
    if (box.firstElementChild) observer.observe(box.firstElementChild);
    return () => observer.disconnect();
  }, changes);
  return wide.value;
}

interface Props {
  e: Experiment;
  columns: Column[];
  rows: TaskSummary[];
  pool: Pool | null;
  // Rows that are drawn: from, to. The space of the others is kept.
  part: [number, number];
  css: (task: TaskSummary) => string;
  selected: Set<number>;
  // On the front of several objectives.
  front: Set<number> | null;
  hovered: Signal<string | null>;
  // How the best values are written.
  format: (v: Metric) => string | null;
  sort: string;
  onSort: (sort: string) => void;
  onSelect: (numbers: number[], on: boolean) => void;
}

// The rows that were drawn the last time, and what each was made of.
type Drawn = Map<string, { of: unknown[]; node: VNode }>;

export function TaskTable(props: Props) {
  const { e, columns, rows, pool, part, css, selected, front, hovered, format, sort, onSort, onSelect } = props;
  const body = useRef<HTMLTableSectionElement>(null);
  // A row is drawn again only when something in it changed: updates touch one row of five hundred.
  const before = useRef<Drawn>(new Map());
  const drawn: Drawn = new Map();
  const one = useRef(onSelect);
  one.current = onSelect;
  const open = new Set((query.value.get('runs') ?? '').split(',').filter(Boolean).map(Number));
  // The highlight follows the mouse across charts; a data attribute keeps it out of the rendering.
  useEffect(
    () =>
      hovered.subscribe((id) => {
        for (const row of body.current?.querySelectorAll('[data-hot]') ?? []) row.removeAttribute('data-hot');
        if (id === null) return;
        const at = (n: string) => body.current?.querySelector(`[data-hover="${n}"]`);
        (at(id) ?? (pool && at(pool.leadOf(id))))?.setAttribute('data-hot', '');
      }),
    [hovered, pool],
  );
  const point = (event: MouseEvent) => {
    const id = (event.target as Element).closest<HTMLElement>('[data-hover]')?.dataset.hover ?? null;
    if (hovered.value !== id) hovered.value = id;
  };
  const spread = rows.reduce((most, t) => (isPooled(t) ? Math.max(most, spreadText(t).length) : most), 0);
  const draw = (task: TaskSummary) => {
    const colour = css(task);
    const group = isPooled(task) ? task : null;
    const runs = group?.runs ?? [task];
    const key = group ? `c${group.configuration.first}` : String(task.number);
    // With repeats the best is a configuration.
    const best = pool ? !!group && runs.some((t) => t.number === e.best?.task) : e.best?.task === task.number;
    const chosen = runs.every((t) => selected.has(t.number));
    const opened = !!group && open.has(group.configuration.first);
    const value = bestValue(task);
    const text = value === null ? null : format(value);
    const onFront = !!front?.has(task.number) && (!pool || !!group);
    const of = [task, colour, chosen, best, onFront, spread, columns, reasonNow(task, e), text, opened];
    const last = before.current.get(key);
    if (last?.of.every((part, i) => part === of[i])) {
      drawn.set(key, last);
      return last.node;
    }
    const node = (
      <Row
        key={key}
        e={e}
        columns={columns}
        task={task}
        css={colour}
        selected={chosen}
        best={best}
        onFront={onFront}
        spread={spread}
        format={format}
        onSelect={(n, on) => one.current(n, on)}
        inner={!!pool && !group}
        open={opened}
      />
    );
    drawn.set(key, { of, node });
    return node;
  };
  const nodes = rows.slice(part[0], part[1]).map(draw);
  // Those of rows that have left the screen go: a day of updates shows very many.
  before.current = drawn;
  const every = rows.flatMap((task) => (isPooled(task) ? task.runs : [task])).map((t) => t.number);
  const all = every.length > 0 && every.every((n) => selected.has(n));
  const head = { sort, onSort };
  const goal = e.objective[0];
  const title = (column: Column) => (
    <SortHead
      key={column.key}
      name={column.key}
      label={
        <bdi class="cut" title={column.label}>
          {shortened(column.label, LABEL_MOST)}
        </bdi>
      }
      right={!column.left}
      {...head}
    />
  );
  const span = columns.length + 8;
  const wrap = useRef<HTMLDivElement>(null);
  const wide = useOverflow(wrap, [columns, rows.length > 0]);
  return (
    <div class={wide ? 'table-wrap wide' : 'table-wrap'} ref={wrap}>
      <table class="stacked configurations">
        <thead>
          <tr>
            <th scope="col" class="tick">
              <input
                type="checkbox"
                checked={all}
                aria-label="Select all shown"
                onChange={(event) => onSelect(every, event.currentTarget.checked)}
              />
            </th>
            <SortHead name="number" label="Task" class="task-id" {...head} />
            <SortHead name="state" label="State" {...head} />
            {columns.filter((column) => column.group === 'Parameters').map(title)}
            <th scope="col" class="only-phone">
              Parameters
            </th>
            <SortHead
              name="epoch"
              label={<span class="capitalized">{e.step_name || 'epoch'}</span>}
              right
              {...head}
              class="epoch"
            />
            <SortHead
              name="best"
              label={
                <>
                  Best <bdi class="cut">{goal?.metric ?? 'value'}</bdi>
                </>
              }
              right
              class="value"
              {...head}
            />
            {columns.filter((column) => column.group === 'Results').map(title)}
            <SortHead name="time" label="Time" right {...head} />
            {columns.filter((column) => column.group === 'Costs' || column.group === 'Other').map(title)}
            <th scope="col">
              <span class="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody
          ref={body}
          onMouseOver={point}
          onMouseLeave={() => {
            hovered.value = null;
          }}
        >
          {part[0] > 0 && <Gap key="above" rows={part[0]} span={span} />}
          {nodes}
          {part[1] < rows.length && <Gap key="below" rows={rows.length - part[1]} span={span} />}
        </tbody>
      </table>
    </div>
  );
}
