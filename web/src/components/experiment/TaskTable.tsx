// The configurations: sorted, filtered and selected in the URL, hovered together with the charts.
import type { Signal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { restartTasks, stoppable, stopTasks } from '../../data/actions';
import { now, reasonNow } from '../../data/store';
import type { Experiment, TaskSummary } from '../../data/types';
import { DASH, duration, energy, metric, param, paramLine, seconds, when } from '../../lib/format';
import { quote } from '../../lib/text';
import { Bar } from '../Bar';
import { Icon } from '../Icon';
import { SortHead } from '../SortHead';
import { Chip } from '../State';

function Elapsed({ task }: { task: TaskSummary }) {
  if (task.state === 'running') return <>{duration(seconds(task.started, now.value))}</>;
  return <>{duration(task.elapsed_s)}</>;
}

export function causeText(task: TaskSummary): string {
  const said = quote(task.cause?.tail ?? null);
  const name = said && /^[\w.]*?(\w+(?:Error|Exception|Interrupt))\b/.exec(said)?.[1];
  return name || task.cause?.text || task.reason || 'failed';
}

// Keras counts epochs from 0, so the last of 8 is 7.
const early = (task: TaskSummary) => task.epochs !== null && task.epoch !== null && task.epoch + 1 < task.epochs;

function EpochCell({ task, step, reason }: { task: TaskSummary; step: string; reason: string | null }) {
  if (task.state === 'submitted' || task.state === 'waiting') {
    const text = task.expected_start
      ? `expected ${when(task.expected_start)}`
      : (reason ?? (task.state === 'submitted' ? 'queued' : 'not started yet'));
    return (
      <span class="mute small cut">
        <bdi>{text}</bdi>
      </span>
    );
  }
  if (task.epoch === null)
    return <span class="mute small">no {task.state === 'running' ? 'epoch yet' : 'metrics'}</span>;
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
        <Bar share={task.progress} label={`Progress of configuration ${task.number}`} state={task.state} />
      )}
      <span class="numeric small">
        {task.epoch}
        {task.epochs !== null && <span class="mute">/{task.epochs}</span>}
      </span>
    </span>
  );
}

function BestCell({ task, best }: { task: TaskSummary; best: boolean }) {
  if (task.state === 'error')
    return (
      <span class="bad small cut" title={task.cause?.text ?? undefined}>
        <bdi>{causeText(task)}</bdi>
      </span>
    );
  if (!task.best) return <span class="mute">{DASH}</span>;
  return best ? (
    <span class="best">
      <Icon name="star" />
      <span class="visually-hidden">Best: </span>
      {metric(task.best.value)}
    </span>
  ) : (
    metric(task.best.value)
  );
}

interface RowProps {
  e: Experiment;
  task: TaskSummary;
  css: string;
  selected: boolean;
  best: boolean;
  onSelect: (n: number, on: boolean) => void;
}

function Row({ e, task, css, selected, best, onSelect }: RowProps) {
  const n = task.number;
  const started = task.started !== null;
  const reason = reasonNow(task, e);
  return (
    <tr data-row={n} class={selected ? 'selected' : undefined}>
      <td class="tick">
        <input
          type="checkbox"
          checked={selected}
          aria-label={`Select configuration ${n}`}
          onChange={(event) => onSelect(n, event.currentTarget.checked)}
        />
      </td>
      <td class="task-id">
        <a class="row" href={`/e/${e.id}/${n}`}>
          <i class="swatch" style={{ background: started ? css : 'var(--border-2)' }} />#{n}
        </a>
        {task.repeat !== null && task.repeat > 1 && <span class="mute small"> repeat {task.repeat}</span>}
      </td>
      <td class="right-phone">
        <Chip state={task.state} title={reason} />
      </td>
      {e.varying.map((name) => (
        <td key={name} class="right hide-phone">
          <span class="cut">
            <bdi>{param(task.parameters[name])}</bdi>
          </span>
        </td>
      ))}
      <td class="only-phone wide mute small">
        <bdi>{paramLine(task.parameters, e.varying)}</bdi>
      </td>
      <td class="epoch">
        <EpochCell task={task} step={e.step_name || 'epoch'} reason={reason} />
      </td>
      <td class="right value">
        <BestCell task={task} best={best} />
      </td>
      <td class="right hide-phone">{task.best?.epoch ?? <span class="mute">{DASH}</span>}</td>
      <td class="right hide-phone">
        <Elapsed task={task} />
      </td>
      <td class="right hide-phone">
        {task.cost.energy_j === null ? (
          <span class="mute" title="not measured">
            {DASH}
            <span class="visually-hidden"> not measured</span>
          </span>
        ) : (
          energy(task.cost.energy_j)
        )}
      </td>
      <td class="hide-phone actions">
        {stoppable(task) ? (
          <button
            type="button"
            class="btn icon compact ghost"
            aria-label={`Stop configuration ${n}`}
            onClick={() => void stopTasks(e.id, [task])}
          >
            <Icon name="stop" />
          </button>
        ) : (
          <button
            type="button"
            class="btn icon compact ghost"
            aria-label={`Restart configuration ${n}`}
            onClick={() => void restartTasks(e.id, [task])}
          >
            <Icon name="restart" />
          </button>
        )}
      </td>
    </tr>
  );
}

interface Props {
  e: Experiment;
  rows: TaskSummary[];
  css: (task: TaskSummary) => string;
  selected: Set<number>;
  hovered: Signal<string | null>;
  sort: string;
  onSort: (sort: string) => void;
  onSelect: (numbers: number[], on: boolean) => void;
}

export function TaskTable({ e, rows, css, selected, hovered, sort, onSort, onSelect }: Props) {
  const body = useRef<HTMLTableSectionElement>(null);
  // A row is drawn again only when something in it changed: updates touch one row of five hundred.
  const kept = useRef(new Map<number, { of: unknown[]; node: VNode }>());
  const one = useRef((n: number, on: boolean) => onSelect([n], on));
  one.current = (n, on) => onSelect([n], on);
  // The highlight follows the mouse across charts; a data attribute keeps it out of the rendering.
  useEffect(
    () =>
      hovered.subscribe((id) => {
        for (const row of body.current?.querySelectorAll('[data-hot]') ?? []) row.removeAttribute('data-hot');
        if (id !== null) body.current?.querySelector(`[data-row="${id}"]`)?.setAttribute('data-hot', '');
      }),
    [hovered],
  );
  const point = (event: MouseEvent) => {
    const id = (event.target as Element).closest<HTMLElement>('[data-row]')?.dataset.row ?? null;
    if (hovered.value !== id) hovered.value = id;
  };
  const draw = (task: TaskSummary) => {
    const colour = css(task);
    const of = [
      task,
      colour,
      selected.has(task.number),
      e.best?.task === task.number,
      e.varying.join(),
      reasonNow(task, e),
    ];
    const before = kept.current.get(task.number);
    if (before?.of.every((part, i) => part === of[i])) return before.node;
    const node = (
      <Row
        key={task.number}
        e={e}
        task={task}
        css={colour}
        selected={selected.has(task.number)}
        best={e.best?.task === task.number}
        onSelect={(n, on) => one.current(n, on)}
      />
    );
    kept.current.set(task.number, { of, node });
    return node;
  };
  const all = rows.length > 0 && rows.every((task) => selected.has(task.number));
  const head = { sort, onSort };
  const goal = e.objective[0];
  return (
    <div class="table-wrap">
      <table class="stacked configurations">
        <thead>
          <tr>
            <th scope="col" class="tick">
              <input
                type="checkbox"
                checked={all}
                aria-label="Select all shown"
                onChange={(event) =>
                  onSelect(
                    rows.map((t) => t.number),
                    event.currentTarget.checked,
                  )
                }
              />
            </th>
            <SortHead name="number" label="Config" {...head} />
            <SortHead name="state" label="State" {...head} />
            {e.varying.map((name) => (
              <SortHead key={name} name={`p.${name}`} label={<bdi class="cut">{name}</bdi>} right {...head} />
            ))}
            <th scope="col" class="only-phone">
              Parameters
            </th>
            <SortHead
              name="epoch"
              label={<span class="capitalized">{e.step_name || 'epoch'}</span>}
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
              {...head}
            />
            <SortHead name="at" label={`At ${e.step_name || 'epoch'}`} right {...head} />
            <SortHead name="time" label="Time" right {...head} />
            <SortHead name="energy" label="Energy" right {...head} />
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
          {rows.map(draw)}
        </tbody>
      </table>
    </div>
  );
}
