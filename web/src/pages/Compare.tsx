// A few configurations side by side: where they differ, and their curves over each other.
import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { AxisSwitch, axisFormat, axisName, axisNow, placed, placeOf, useAxis } from '../components/axis';
import { Card } from '../components/Card';
import { CopyButton } from '../components/CopyButton';
import { Crumbs } from '../components/Crumbs';
import { Curves } from '../components/Curves';
import { Toggle } from '../components/choice';
import { Icon } from '../components/Icon';
import { Loading, Trouble } from '../components/notice';
import type { PlotLine } from '../components/plot';
import { Chip } from '../components/State';
import { info } from '../data/api';
import { ExperimentStore } from '../data/store';
import type { TaskSummary } from '../data/types';
import { hue } from '../lib/colour';
import { capitalize, duration, figureText, figureValue, finite, metric, param, plural } from '../lib/format';
import { go, query, setQuery } from '../lib/router';
import { theme } from '../lib/theme';
import { MissingPage, useTitle } from './Other';

interface RowSpec {
  label: string;
  cells: preact.ComponentChildren[];
  differ: boolean;
  win?: number;
  result?: boolean;
}

function winner(values: (number | null)[], goal: 'min' | 'max'): number | undefined {
  const there = values.filter((v): v is number => v !== null);
  if (there.length < 2) return undefined;
  return values.indexOf(goal === 'max' ? Math.max(...there) : Math.min(...there));
}

export function ComparePage({ id }: { id: string }) {
  const store = useMemo(() => new ExperimentStore(id, null, axisNow()), [id]);
  useEffect(() => store.open(), [store]);
  const hovered = useSignal<string | null>(null);
  const only = useSignal(false);
  const linear = useSignal(false);
  const e = store.detail.value;
  const numbers = (query.value.get('tasks') ?? '').split(',').filter(Boolean).map(Number);
  useTitle(`Compare ${numbers.length} · ${e?.name ?? id}`);
  const tasks = numbers.map((n) => store.tasks.value.get(n)).filter((t): t is TaskSummary => !!t);
  const version = store.drawn.value;
  const axis = useAxis(store);
  const lines = useMemo(
    () =>
      tasks
        .map((task, i): PlotLine | null => {
          const line = store.lines.get(task.number);
          const points = line && placed(line);
          if (!line || !points?.x.length) return null;
          const y = finite(task.best?.value);
          const x = placeOf(line, task.best?.epoch);
          return {
            id: String(task.number),
            label: `#${task.number}`,
            css: hue(i + 1),
            ...points,
            strong: tasks.length < 8,
            end: task.state === 'running' ? 'dot' : task.state === 'error' ? 'cross' : null,
            mark: y !== null && x !== null ? { x, y, text: `#${task.number}` } : null,
          };
        })
        .filter((l): l is PlotLine => l !== null),
    [tasks.map((t) => t.number).join(), store.tasks.value, version, theme.value],
  );
  if (store.missing.value && !e) return <MissingPage what="experiment" />;
  if (!e)
    return (
      <>
        <h1 class="visually-hidden">Compare</h1>
        {store.error.value ? <Trouble what="The experiment" error={store.error.value} /> : <Loading />}
      </>
    );
  const goal = e.objective[0];
  const positive = lines.length > 0 && lines.every((l) => l.y.every((v) => v === null || v > 0));
  const names = [...new Set(tasks.flatMap((t) => Object.keys(t.parameters)))];
  const row = (
    label: string,
    texts: preact.ComponentChildren[],
    values: unknown[],
    win?: number,
    result = true,
  ): RowSpec => ({ label, cells: texts, differ: new Set(values.map((v) => JSON.stringify(v))).size > 1, win, result });
  const params = names.map((name) =>
    row(
      name,
      tasks.map((t) => param(t.parameters[name])),
      tasks.map((t) => t.parameters[name]),
      undefined,
      false,
    ),
  );
  const best = tasks.map((t) => finite(t.best?.value));
  const times = tasks.map((t) => t.elapsed_s);
  // The time is there already, as the clock on the wall has it.
  const figures = (info.value?.figures ?? []).filter((figure) => figure.key !== 'wall_s');
  const results = [
    row(
      'State',
      tasks.map((t) => <Chip key={t.number} state={t.state} />),
      tasks.map((t) => t.state),
    ),
    row(
      `Best ${goal?.metric ?? 'value'}`,
      tasks.map((t) => (t.best ? metric(t.best.value) : 'none')),
      best,
      winner(best, goal?.goal ?? 'min'),
    ),
    row(
      `at ${e.step_name || 'epoch'}`,
      tasks.map((t) => t.best?.epoch ?? 'not known'),
      tasks.map((t) => t.best?.epoch),
    ),
    row(
      'Last value',
      tasks.map((t) => (t.last ? metric(t.last.value) : 'none')),
      tasks.map((t) => t.last?.value),
    ),
  ];
  const costs = [
    row(
      'Time',
      tasks.map((t) => duration(t.elapsed_s)),
      times,
      winner(times, 'min'),
    ),
    ...figures.map((figure) => {
      const values = tasks.map((t) => figureValue(t.cost, figure.key));
      const texts = tasks.map((t) => figureText(t.cost, figure));
      return row(capitalize(figure.label), texts, values, winner(values, 'min'));
    }),
    row(
      'Node',
      tasks.map((t) => t.node ?? 'not known'),
      tasks.map((t) => t.node),
    ),
    row(
      'Job',
      tasks.map((t) => t.job ?? 'none'),
      tasks.map((t) => t.job),
    ),
  ];
  const section = (title: string, rows: RowSpec[]) => {
    const kept = only.value ? rows.filter((r) => r.differ) : rows;
    if (!kept.length) return null;
    return (
      <>
        <tr class="section">
          <th scope="rowgroup" colSpan={tasks.length + 1}>
            {title}
          </th>
        </tr>
        {kept.map((r) => (
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
  };
  return (
    <>
      <div class="head">
        <div class="headline">
          <Crumbs
            items={[{ href: '/', label: 'Experiments' }, { href: `/e/${id}`, label: e.name }, { label: 'Compare' }]}
          />
          <h1>Compare {plural(tasks.length, 'configuration')}</h1>
        </div>
        <div class="btns">
          <label class="pick">
            Add{' '}
            <select
              value=""
              onChange={(event) => {
                if (event.currentTarget.value) setQuery({ tasks: [...numbers, event.currentTarget.value].join() });
              }}
            >
              <option value="">configuration…</option>
              {[...store.tasks.value.values()]
                .filter((t) => !numbers.includes(t.number))
                .slice(0, 500)
                .map((t) => (
                  <option key={t.number} value={String(t.number)}>
                    #{t.number}
                  </option>
                ))}
            </select>
          </label>
          <CopyButton words label="Copy link" text={() => location.href} />
        </div>
      </div>
      {!tasks.length && !store.loading.value ? (
        <section class="card">
          <p class="none mute">
            No configuration is chosen. <a href={`/e/${id}`}>Select some in the table</a> and press c.
          </p>
        </section>
      ) : (
        <div class="grid cols-compare">
          <Card
            title={
              <>
                <bdi>{goal?.metric ?? 'Metric'}</bdi> by {axisName(axis, e.step_name || 'epoch')}
              </>
            }
            id="overlay"
            extra={
              <>
                <span class="grow" />
                <AxisSwitch axis={axis} step={e.step_name || 'epoch'} />
                {positive && (
                  <Toggle
                    label="log y"
                    on={!linear.value}
                    onChange={(on) => {
                      linear.value = !on;
                    }}
                  />
                )}
              </>
            }
          >
            <div class="body">
              {lines.length ? (
                <Curves
                  lines={lines}
                  version={version}
                  label={`${goal?.metric ?? 'Metric'} of ${tasks.map((t) => `#${t.number}`).join(', ')}.`}
                  metricName={goal?.metric ?? ''}
                  height={412}
                  log={positive && !linear.value}
                  xLabel={axisName(axis, e.step_name || 'epoch')}
                  xFormat={axisFormat(axis)}
                  hovered={hovered}
                  onPick={(n) => go(`/e/${id}/${n}`)}
                />
              ) : (
                <p class="no-chart mute">None of these has a curve yet.</p>
              )}
            </div>
          </Card>
          <Card
            title="Parameters and results"
            id="diff"
            class="clip"
            extra={
              <>
                <span class="grow" />
                <label class="check">
                  <input
                    type="checkbox"
                    checked={only.value}
                    onChange={(event) => {
                      only.value = event.currentTarget.checked;
                    }}
                  />
                  Only differences
                </label>
              </>
            }
          >
            <div class="table-wrap">
              <table class="diff">
                <thead>
                  <tr>
                    <th scope="col">
                      <span class="visually-hidden">Field</span>
                    </th>
                    {tasks.map((t, i) => (
                      <th key={t.number} scope="col" class="right">
                        <span class="who">
                          <i class="swatch" style={{ background: hue(i + 1) }} />
                          <a class="row" href={`/e/${id}/${t.number}`}>
                            #{t.number}
                          </a>
                          <button
                            type="button"
                            class="clear"
                            aria-label={`Remove configuration ${t.number}`}
                            onClick={() => setQuery({ tasks: numbers.filter((n) => n !== t.number).join() })}
                          >
                            <Icon name="x" />
                          </button>
                        </span>
                      </th>
                    ))}
                  </tr>
                </thead>
                <tbody>
                  {section('Parameters', params)}
                  {section('Results', results)}
                  {section('Cost', costs)}
                </tbody>
              </table>
            </div>
          </Card>
        </div>
      )}
    </>
  );
}
