// Every metric a task wrote, on one chart or chosen ones.
import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { rowsOf } from '../../data/counts';
import { type TaskStore, toLine, written } from '../../data/store';
import type { Analysis, Experiment, Metric, Task, TaskCurves as Theirs } from '../../data/types';
import { hue } from '../../lib/colour';
import { alignedResults, linedUp } from '../../lib/columns';
import { DASH, finite, inFull, metric } from '../../lib/format';
import { own } from '../../lib/own';
import { theme, token } from '../../lib/theme';
import { AxisSwitch, axisFormat, axisName, placed, placeOf, useAxis } from '../axis';
import { Card } from '../Card';
import { Curves } from '../Curves';
import { Toggle } from '../choice';
import { useAbout } from '../experiment/Insight';
import { continuation, Worth } from '../forecast';
import type { PlotLine } from '../plot';

// Metrics of very different size on one axis flatten each other: only the objective's relatives are on at first.
function family(name: string): string {
  return name.replace(/^(val|valid|validation|train|training|test)[_/-]/, '');
}

const curve = (got: Theirs['metrics'][string]) => placed(toLine(got));

export function TaskCurves({ store, task, e }: { store: TaskStore; task: Task; e: Experiment }) {
  // A prediction is of the first objective, and asked for again with every twentieth of the way.
  const running = task.state === 'running' && e.objective.length > 0;
  const forecast = useAbout<Analysis>(e, 'analysis', running ? String(Math.floor((task.progress ?? 0) * 20)) : null)
    .value?.curves;
  const axis = useAxis(store);
  const names = [...store.lines.value.keys()];
  const goal = e.objective[0]?.metric;
  // The best configuration's curve to measure this one against.
  const rival = goal && e.best && e.best.task !== task.number ? e.best.task : null;
  const theirs = useAbout<Theirs>(
    e,
    `tasks/${rival}/metrics?points=300&axis=${axis}`,
    rival === null ? null : `${rival} ${e.best!.value} ${axis}`,
  ).value;
  const bar = rival !== null && theirs?.task === `${e.id}/${rival}` ? own(theirs.metrics, goal!) : undefined;
  const first = names.filter((name) => !goal || family(name) === family(goal));
  const off = useSignal<Record<string, boolean>>({});
  const linear = useSignal(e.objective[0]?.goal === 'max');
  const asTable = useSignal(false);
  const hovered = useSignal<string | null>(null);
  const on = (name: string) =>
    own(off.value, name) !== undefined ? !off.value[name] : first.length ? first.includes(name) : true;
  const chosen = names.filter(on);
  const positive =
    chosen.length > 0 && chosen.every((name) => store.lines.value.get(name)!.value.every((v) => v === null || v > 0));
  const log = positive && !linear.value;
  const lines = useMemo(
    () => [
      ...(bar && goal && chosen.includes(goal)
        ? [{ id: 'best', label: `#${rival}`, ...curve(bar), css: token('--text-3'), dash: true, end: null }]
        : []),
      ...chosen.flatMap((name): PlotLine[] => {
        const line = store.lines.value.get(name)!;
        const best = finite(task.best?.value);
        const x = placeOf(line, task.best?.epoch);
        const own: PlotLine = {
          id: name,
          label: name,
          ...placed(line),
          css: hue(names.indexOf(name) + 1),
          strong: name === goal,
          end: task.state === 'running' ? 'dot' : task.state === 'error' && name === goal ? 'cross' : null,
          mark:
            name === goal && best !== null && x !== null
              ? { x, y: best, text: `best ${metric(best)} at ${task.best!.epoch}` }
              : null,
        };
        const next = running && axis === 'step' && name === goal ? continuation(forecast, task.number, own) : null;
        return next ? [own, next] : [own];
      }),
      // The axis of a running task reaches its last epoch from the start, so that it does not move with each.
      ...(axis === (store.mixed.value ? 'epoch' : axis) &&
      axis !== 'time' &&
      task.state === 'running' &&
      task.epochs !== null &&
      chosen.length
        ? [{ id: '', label: '', x: [task.epochs], y: [null], css: '', end: null }]
        : []),
    ],
    [store.lines.value, off.value, theme.value, task.best, task.state, task.epochs, axis, forecast, bar],
  );
  const counted = e.step_name || 'epoch';
  // Metrics that count different things share no name for their steps.
  const step = store.mixed.value ? 'step' : counted;
  const best = task.best ? ` Best ${metric(task.best.value)} at ${counted} ${task.best.epoch}.` : '';
  return (
    <Card
      title="Metrics"
      id="metrics"
      extra={
        <>
          {names.length > 0 && (
            <div class="segmented wrap" role="group" aria-label="Metrics shown">
              {names.map((name) => (
                <button
                  key={name}
                  type="button"
                  aria-pressed={on(name)}
                  onClick={() => {
                    off.value = { ...off.value, [name]: on(name) };
                  }}
                >
                  <i class="swatch" style={{ background: hue(names.indexOf(name) + 1) }} />
                  <bdi>{name}</bdi>
                </button>
              ))}
            </div>
          )}
          <span class="grow" />
          {names.length > 0 && (
            <AxisSwitch
              axis={axis}
              step={step}
              usual={store.usual.value}
              epochs={store.epochsKnown.value}
              times={task.started !== null}
            />
          )}
          {positive && (
            <Toggle
              label="log y"
              on={log}
              onChange={(value) => {
                linear.value = !value;
              }}
            />
          )}
          {names.length > 0 && (
            <Toggle
              label="Table"
              on={asTable.value}
              onChange={(value) => {
                asTable.value = value;
              }}
            />
          )}
        </>
      }
    >
      <div class="body">
        {!names.length ? (
          <p class="mute">This task has written no metric{task.state === 'running' ? ' yet' : ''}.</p>
        ) : asTable.value ? (
          <MetricTable store={store} names={names} step={step} />
        ) : (
          <Curves
            lines={lines}
            version={0}
            label={`${chosen.join(', ') || 'No metric chosen'} by ${axisName(axis, step)}.${best}`}
            metricName=""
            height={262}
            log={log}
            xLabel={axisName(axis, step)}
            xFormat={axisFormat(axis)}
            hovered={hovered}
          />
        )}
        {lines.some((line) => line.nan?.length) && !asTable.value && (
          <p class="mute small rival">The marks at the bottom are values that are NaN or infinite.</p>
        )}
        {lines[0]?.id === 'best' && !asTable.value && (
          <p class="mute small rival">
            Dashed grey: <bdi>{goal}</bdi> of the best, <a href={`/e/${e.id}/${rival}`}>#{rival}</a>.
          </p>
        )}
        {running && <Worth forecast={forecast} shown={lines.some((line) => line.dash && line.id !== 'best')} />}
      </div>
    </Card>
  );
}

function MetricTable({ store, names, step }: { store: TaskStore; names: string[]; step: string }) {
  const rows = rowsOf(store.epochs);
  const apart = store.mixed.value;
  const at = new Map(
    names.map((name) => {
      const line = store.lines.value.get(name)!;
      return [name, new Map(line.step.map((s, i) => [s, written(line, i)]))];
    }),
  );
  const format = new Map(
    names.map((name) => {
      const line = store.lines.value.get(name)!;
      const values = line.step.map((_, i) => written(line, i));
      return [name, linedUp<Metric>(values, alignedResults(values))];
    }),
  );
  return (
    <div class="table-wrap tall" tabIndex={0} role="region" aria-label="Metrics as a table">
      <table>
        <thead>
          <tr>
            {apart && <th scope="col">epoch</th>}
            <th scope="col">{step}</th>
            {names.map((name) => (
              <th key={name} scope="col" class="right">
                <bdi>{name}</bdi>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={`${row.epoch}/${row.at}/${row.step === null}`}>
              {apart && <td>{row.epoch ?? DASH}</td>}
              <td>{row.step ?? DASH}</td>
              {names.map((name) => {
                const value = row.names.has(name) ? at.get(name)!.get(row.at) : undefined;
                return (
                  <td key={name} class="right" title={inFull(value)}>
                    {value === undefined ? '' : format.get(name)!(value)}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
