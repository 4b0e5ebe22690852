// The table of the page that compares: what differs first, what is best marked; and the same as CSV.
import type { ComponentChildren } from 'preact';
import { info } from '../data/api';
import type { Compared } from '../data/compare';
import type { TaskSummary, Value } from '../data/types';
import { capitalize, duration, figureText, figureValue, finite, metric, param } from '../lib/format';
import { Icon } from './Icon';
import { Chip } from './State';

export interface RowSpec {
  label: string;
  cells: ComponentChildren[];
  values: unknown[]; // for the CSV
  differ: boolean;
  win?: number;
  result?: boolean;
}

// The best; none where another reads the same.
export function winner(values: (number | null)[], goal: 'min' | 'max', texts: string[]): number | undefined {
  const there = values.filter((v): v is number => v !== null);
  if (there.length < 2) return undefined;
  const best = values.indexOf(goal === 'max' ? Math.max(...there) : Math.min(...there));
  return texts.filter((text) => text === texts[best]).length > 1 ? undefined : best;
}

const row = (label: string, cells: ComponentChildren[], values: unknown[], win?: number, result = true): RowSpec => ({
  label,
  cells,
  values,
  differ: new Set(values.map((v) => JSON.stringify(v))).size > 1,
  win,
  result,
});

// Differences before what is the same; otherwise as the experiments have them.
export function parameterRows(all: Compared[]): RowSpec[] {
  const names = [...new Set(all.flatMap((one) => Object.keys(one.task.parameters)))];
  const rows = names.map((name) => {
    const values = all.map((one): Value | undefined => one.task.parameters[name]);
    return row(
      name,
      values.map((v) => (v === undefined ? 'not there' : param(v))),
      values,
      undefined,
      false,
    );
  });
  return [...rows.filter((r) => r.differ), ...rows.filter((r) => !r.differ)];
}

// The goal of a metric where all that have it as an objective agree.
function goalOf(all: Compared[], name: string): 'min' | 'max' | null {
  const goals = new Set(all.flatMap((one) => one.e.objective.filter((o) => o.metric === name).map((o) => o.goal)));
  return goals.size === 1 ? [...goals][0] : null;
}

const counts = (task: TaskSummary) => task.state !== 'error' && task.state !== 'stopped' && !task.beyond;

function metricRow(all: Compared[], name: string, which: 'best' | 'last'): RowSpec {
  const points = all.map((one) => {
    const first = one.e.objective[0]?.metric === name;
    const own = one.task.values?.[name];
    if (which === 'last') return { value: first ? one.task.last?.value : own?.last, epoch: null };
    return first
      ? { value: one.task.best?.value, epoch: one.task.best?.epoch ?? null }
      : { value: own?.best, epoch: own?.epoch ?? null };
  });
  const goal = goalOf(all, name);
  const numbers = points.map((p) => finite(p.value));
  const label = which === 'last' ? `Last ${name}` : goal ? `Best ${name}` : `${name} at the best`;
  const cells = points.map((p, i) => (
    <>
      {p.value === null || p.value === undefined ? 'none' : metric(p.value)}
      {p.epoch !== null && p.value !== null && p.value !== undefined && (
        <span class="mute tiny">
          {' '}
          {all[i].e.step_name || 'epoch'} {p.epoch}
        </span>
      )}
    </>
  ));
  const values = points.map((p) => p.value ?? null);
  // What crashed or was stopped may have had a lucky start: it is shown, but it does not win. Nor does what a limit
  // excludes.
  const fair = numbers.map((v, i) => (counts(all[i].task) ? v : null));
  return row(label, cells, values, which === 'best' && goal ? winner(fair, goal, numbers.map(metric)) : undefined);
}

export function resultRows(all: Compared[]): RowSpec[] {
  const objectives = [...new Set(all.flatMap((one) => one.e.objective.map((o) => o.metric)))];
  const others = [...new Set(all.flatMap((one) => Object.keys(one.task.values ?? {})))].filter(
    (name) => !objectives.includes(name),
  );
  return [
    row(
      'State',
      all.map((one) => <Chip key={one.key} state={one.task.state} />),
      all.map((one) => one.task.state),
    ),
    ...objectives.flatMap((name) => [metricRow(all, name, 'best'), metricRow(all, name, 'last')]),
    ...others.map((name) => metricRow(all, name, 'best')),
  ];
}

export function costRows(all: Compared[]): RowSpec[] {
  const times = all.map((one) => one.task.elapsed_s);
  // The time is there already, as the clock on the wall has it. What no task has is left out.
  const figures = (info.value?.figures ?? []).filter(
    (figure) => figure.key !== 'wall_s' && all.some((one) => figureValue(one.task.cost, figure.key) !== null),
  );
  // Half a task is cheap.
  const whole = (values: (number | null)[]) => values.map((v, i) => (all[i].task.state === 'finished' ? v : null));
  return [
    row(
      'Time',
      times.map((t) => duration(t)),
      times,
      winner(whole(times), 'min', times.map(duration)),
    ),
    ...figures.map((figure) => {
      const values = all.map((one) => figureValue(one.task.cost, figure.key));
      const cells = all.map((one) => figureText(one.task.cost, figure));
      return row(capitalize(figure.label), cells, values, winner(whole(values), 'min', cells));
    }),
    row(
      'Node',
      all.map((one) => one.task.node ?? 'not known'),
      all.map((one) => one.task.node),
    ),
    row(
      'Job',
      all.map((one) => one.task.job ?? 'none'),
      all.map((one) => one.task.job),
    ),
  ];
}

export function Section({ title, rows, columns }: { title: string; rows: RowSpec[]; columns: number }) {
  if (!rows.length) return null;
  return (
    <>
      <tr class="section">
        <th scope="rowgroup" colSpan={columns + 1}>
          {title}
        </th>
      </tr>
      {rows.map((r) => (
        <tr key={r.label}>
          <th scope="row">
            <bdi>{r.label}</bdi>
          </th>
          {r.cells.map((cell, i) => (
            <td key={i} class={`right${r.differ && !r.result ? ' differs' : ''}${r.win === i ? ' winner' : ''}`}>
              {r.win === i && (
                <span class="best">
                  <Icon name="star" />
                  <span class="visually-hidden">best: </span>
                </span>
              )}{' '}
              <bdi>{cell}</bdi>
            </td>
          ))}
        </tr>
      ))}
    </>
  );
}

const quoted = (value: unknown) => {
  const text = value === null || value === undefined ? '' : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

// One row a task, as exports have them.
export function csvOf(all: Compared[], rows: RowSpec[]): string {
  const head = ['experiment', 'name', 'task', ...rows.map((r) => r.label)];
  const lines = all.map((one, i) => [one.e.id, one.e.name, one.task.number, ...rows.map((r) => r.values[i])]);
  return `${[head, ...lines].map((line) => line.map(quoted).join()).join('\r\n')}\r\n`;
}
