// The table of the page that compares: what differs first, what is best marked; and the same as CSV.
import type { ComponentChildren } from 'preact';
import { info } from '../data/api';
import type { Compared } from '../data/compare';
import type { Metric, TaskSummary, Value } from '../data/types';
import { alignedResults, ranHere } from '../lib/columns';
import { toCsv } from '../lib/csv';
import { capitalize, count, DASH, duration, figureText, figureValue, finite, params } from '../lib/format';
import { own } from '../lib/own';
import { trainingOf } from '../lib/panels';
import { plain } from '../lib/text';
import { Icon } from './Icon';
import { Chip } from './State';

type Plain = string | number | boolean | null | undefined;

export interface RowSpec {
  label: string;
  cells: ComponentChildren[];
  // In full: for the CSV, and for the titles of numbers.
  values: Plain[];
  // What the row is, where its label does not say so.
  about?: string;
  // Why a cell has no value.
  lacks?: string;
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

const row = (label: string, cells: ComponentChildren[], values: Plain[], win?: number, result = true): RowSpec => ({
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
    const values = all.map((one): Value | undefined => own(one.task.parameters, name));
    return row(
      name,
      params(values).map((text, i) => (values[i] === undefined ? 'not there' : text)),
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

// A row of numbers. `win`: which goal a star is given for.
function numberRow(
  all: Compared[],
  label: string,
  values: (Metric | null | undefined)[],
  win?: 'min' | 'max' | null,
): RowSpec {
  const known = values.filter((v): v is Metric => v !== null && v !== undefined);
  const write = alignedResults(known);
  const texts = values.map((v) => (v === null || v === undefined ? 'none' : write(v)));
  // What crashed or was stopped may have had a lucky start: it is shown, but it does not win. Nor does what a limit
  // excludes.
  const fair = values.map((v, i) => (counts(all[i].task) ? finite(v) : null));
  const full = values.map((v) => v ?? null);
  return row(label, texts, full, win ? winner(fair, win, texts) : undefined);
}

const isFirst = (one: Compared, name: string) => one.e.objective[0]?.metric === name;

// A value of a metric: its best where it is an objective, else what it was where the first objective was best.
function valueIn(one: Compared, name: string): Metric | null {
  return (isFirst(one, name) ? one.task.best?.value : own(one.task.values, name)?.best) ?? null;
}

function objectiveRows(all: Compared[], name: string): RowSpec[] {
  const epochs = all.map(
    (one) =>
      (ranHere(one.task) ? (isFirst(one, name) ? one.task.best : own(one.task.values, name))?.epoch : null) ?? null,
  );
  const steps = new Set(all.map((one) => one.e.step_name || 'epoch'));
  const last = all.map((one) => (isFirst(one, name) ? one.task.last?.value : own(one.task.values, name)?.last));
  const best = all.map((one) => valueIn(one, name));
  return [
    numberRow(all, `Best ${name}`, best, goalOf(all, name)),
    {
      ...row(
        `${name} is best at ${steps.size === 1 ? [...steps][0] : 'step'}`,
        epochs.map((v) => (v === null ? DASH : count(v))),
        epochs,
      ),
      about: `where ${name} is best`,
    },
    numberRow(all, `Last ${name}`, last),
  ];
}

// How much worse the objective is than the same on what was trained on: both where the objective is best.
function gapRow(all: Compared[], name: string, trained: string): RowSpec {
  const sign = goalOf(all, name) === 'max' ? -1 : 1;
  const gaps = all.map((one) => {
    const [own, other] = [finite(valueIn(one, name)), finite(valueIn(one, trained))];
    return own === null || other === null ? null : sign * (own - other);
  });
  const about = sign > 0 ? `${name} − ${trained}` : `${trained} − ${name}`;
  const lacks = `${name} and ${trained} are not both known in one row or epoch.`;
  return { ...numberRow(all, 'Gap at the best', gaps), about: `${about}, where ${name} is best`, lacks };
}

export function resultRows(all: Compared[]): RowSpec[] {
  const objectives = [...new Set(all.flatMap((one) => one.e.objective.map((o) => o.metric)))];
  const others = [...new Set(all.flatMap((one) => Object.keys(one.task.values ?? {})))].filter(
    (name) => !objectives.includes(name),
  );
  const firsts = new Set(all.map((one) => one.e.objective[0]?.metric));
  const first = [...firsts][0] ?? '';
  const trained = firsts.size === 1 ? trainingOf(first, others) : undefined;
  return [
    row(
      'State',
      all.map((one) => <Chip key={one.key} state={one.task.state} />),
      all.map((one) => one.task.state),
    ),
    ...objectives.flatMap((name) => objectiveRows(all, name)),
    ...others.map((name) => ({
      ...numberRow(
        all,
        `${name} at the best`,
        all.map((one) => valueIn(one, name)),
      ),
      about: `in the row where the first objective is best, else the last in that epoch`,
      lacks: `No ${name} is known in the row or epoch where the first objective is best.`,
    })),
    ...(trained ? [gapRow(all, first, trained)] : []),
  ];
}

export function costRows(all: Compared[]): RowSpec[] {
  const times = all.map((one) => one.task.elapsed_s);
  // The time is there already, as the clock on the wall has it. What no task has or has used is left out.
  const figures = (info.value?.figures ?? []).filter(
    (figure) => figure.key !== 'wall_s' && all.some((one) => figureValue(one.task.cost, figure.key)),
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
    ...(all.some((one) => one.task.job)
      ? [
          row(
            'Job',
            all.map((one) => one.task.job ?? 'none'),
            all.map((one) => one.task.job),
          ),
        ]
      : []),
  ];
}

// Numbers are shown with fewer digits, texts may be cut.
const titleOf = (value: Plain) =>
  typeof value === 'number' || typeof value === 'string' ? plain(String(value)) : undefined;

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
            <bdi title={r.about}>{r.label}</bdi>
          </th>
          {r.cells.map((cell, i) => (
            <td key={i} class={`right${r.differ && !r.result ? ' differs' : ''}${r.win === i ? ' winner' : ''}`}>
              {r.win === i && (
                <span class="best">
                  <Icon name="star" />
                  <span class="visually-hidden">best: </span>
                </span>
              )}{' '}
              <bdi title={r.values[i] == null ? r.lacks : titleOf(r.values[i])}>{cell}</bdi>
            </td>
          ))}
        </tr>
      ))}
    </>
  );
}

// One row a task, as exports have them, with every digit.
export function csvOf(all: Compared[], rows: RowSpec[]): string {
  const head = ['experiment', 'name', 'task', ...rows.map((r) => r.label)];
  const lines = all.map((one, i) => [one.e.id, one.e.name, one.task.number, ...rows.map((r) => r.values[i])]);
  return toCsv([head, ...lines]);
}
