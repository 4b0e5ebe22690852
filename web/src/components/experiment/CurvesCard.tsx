// All curves of an experiment in one chart.
import type { Signal } from '@preact/signals';
import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { ExperimentStore } from '../../data/store';
import type { Experiment, Forecast, TaskSummary } from '../../data/types';
import type { Colouring } from '../../lib/colour';
import { finite, metric, param, plural } from '../../lib/format';
import { go, query, setQuery } from '../../lib/router';
import { AxisSwitch, axisFormat, axisName, placed, placeOf, useAxis } from '../axis';
import { Card } from '../Card';
import { Curves } from '../Curves';
import { Pick, Toggle } from '../choice';
import { continuation, Worth } from '../forecast';
import type { PlotLine } from '../plot';

interface Props {
  store: ExperimentStore;
  e: Experiment;
  tasks: TaskSummary[];
  colours: Colouring;
  hovered: Signal<string | null>;
  shown: Set<string> | null;
  forecast: Forecast | undefined;
}

// More dashed lines than this hide the curves they continue.
const PREDICTED = 12;

function Legend({ colours, running, errors }: { colours: Colouring; running: boolean; errors: boolean }) {
  return (
    <div class="legend">
      {colours.name && (
        <span class="mute">
          <bdi>{colours.name}</bdi>
        </span>
      )}
      {colours.legend.map((item) => (
        <span key={String(item.label)}>
          <i class="swatch" style={{ background: item.css }} />
          <bdi>{param(item.label)}</bdi>
        </span>
      ))}
      {colours.ramp && (
        <span>
          {param(colours.ramp.low)} <i class="swatch ramp" /> {param(colours.ramp.high)}
          {colours.ramp.log ? ', log' : ''}
        </span>
      )}
      <span class="grow" />
      {running && (
        <span>
          <svg width="9" height="9" aria-hidden="true">
            <circle cx="4.500" cy="4.500" r="3.500" class="dot" />
          </svg>
          running
        </span>
      )}
      {errors && (
        <span>
          <svg width="9" height="9" aria-hidden="true">
            <path d="M1 1l7 7M8 1l-7 7" class="cross" />
          </svg>
          error
        </span>
      )}
    </div>
  );
}

export function CurvesCard({ store, e, tasks, colours, hovered, shown, forecast }: Props) {
  const asTable = useSignal(false);
  const name = store.shown ?? 'metric';
  const goal = e.objective[0];
  const axis = useAxis(store);
  const step = e.step_name || 'epoch';
  const across = axisName(axis, step);
  const version = store.drawn.value;
  const positive = useMemo(() => {
    let some = false;
    for (const line of store.lines.values()) {
      for (const v of line.value) {
        if (v !== null && v <= 0) return false;
        if (v !== null) some = true;
      }
    }
    return some;
  }, [version]);
  const wanted = query.value.get('y');
  // A loss falls by factors, an accuracy rises by differences.
  const log = positive && (wanted ? wanted === 'log' : goal?.goal !== 'max');
  const lines = useMemo(() => {
    const out: PlotLine[] = [];
    for (const task of tasks) {
      const line = store.lines.get(task.number);
      if (!line) continue;
      const points = placed(line);
      if (!points.x.length) continue;
      const best = e.best?.task === task.number && goal?.metric === name;
      const y = finite(e.best?.value);
      const x = best ? placeOf(line, e.best!.epoch) : null;
      out.push({
        id: String(task.number),
        label: `#${task.number}`,
        css: colours.of(task).css,
        ...points,
        end: task.state === 'running' ? 'dot' : task.state === 'error' ? 'cross' : null,
        strong: best,
        mark: y !== null && x !== null ? { x, y, text: `#${task.number}  ${metric(y)}` } : null,
      });
    }
    const predicted =
      axis !== 'step' || name !== goal?.metric
        ? []
        : out
            .filter((line) => line.end === 'dot')
            .map((line) => continuation(forecast, Number(line.id), line))
            .filter((line) => line !== null);
    // Around many lines the bands are fog.
    return predicted.length > PREDICTED ? out : [...out, ...predicted.map((line) => ({ ...line, band: undefined }))];
  }, [tasks, version, colours, axis, e.best, name, forecast]);
  const best = e.best ? ` The best is configuration ${e.best.task} with ${metric(e.best.value)}.` : '';
  const label = lines.length
    ? `${name} for ${plural(lines.length, 'configuration')} by ${across}.${best}`
    : `${name}: no curve yet.`;
  const varying = e.parameters.filter((p) => e.varying.includes(p.name));
  return (
    <Card
      title={
        <>
          <bdi>{name}</bdi>, all configurations
        </>
      }
      id="curves"
      extra={
        <>
          <span class="grow" />
          {e.metrics.length > 1 && (
            <Pick
              label="Metric"
              class="hide-phone"
              value={name}
              options={e.metrics.map((m) => ({ value: m, label: m }))}
              onPick={(m) => {
                setQuery({ metric: m === goal?.metric ? null : m });
                void store.show(m);
              }}
            />
          )}
          {varying.length > 0 && (
            <Pick
              label="Colour"
              value={colours.name ?? ''}
              options={varying.map((p) => ({ value: p.name, label: p.name }))}
              onPick={(value) => setQuery({ colour: value })}
            />
          )}
          <AxisSwitch axis={axis} step={step} />
          {positive && <Toggle label="log y" on={log} onChange={(on) => setQuery({ y: on ? 'log' : 'linear' })} />}
          <Toggle
            label="Table"
            on={asTable.value}
            onChange={(on) => {
              asTable.value = on;
            }}
          />
        </>
      }
    >
      <div class="body">
        {!lines.length ? (
          <p class="no-chart mute">
            No value of <bdi>{name}</bdi> has arrived{axis === 'step' ? '' : ` with its ${axis}`}. Curves appear here
            when {`the first ${step} ends.`}
          </p>
        ) : asTable.value ? (
          <TableOfCurves lines={lines} name={name} across={across} format={axisFormat(axis)} />
        ) : (
          <Curves
            lines={lines}
            version={version}
            label={label}
            metricName={name}
            height={262}
            log={log}
            xLabel={across}
            xFormat={axisFormat(axis)}
            hovered={hovered}
            shown={shown}
            onPick={(id) => go(`/e/${e.id}/${id.split(' ')[0]}`)}
          />
        )}
        <Legend colours={colours} running={e.tasks.running > 0} errors={e.tasks.error > 0} />
        {e.tasks.running > 0 && <Worth forecast={forecast} shown={lines.some((line) => line.dash)} />}
      </div>
    </Card>
  );
}

function TableOfCurves({
  lines,
  name,
  across,
  format,
}: {
  lines: PlotLine[];
  name: string;
  across: string;
  format: ((x: number) => string) | undefined;
}) {
  return (
    <div class="table-wrap tall" tabIndex={0} role="region" aria-label={`${name} as a table`}>
      <table>
        <thead>
          <tr>
            <th scope="col">Config</th>
            <th scope="col" class="right">
              Points
            </th>
            <th scope="col" class="right">
              First
            </th>
            <th scope="col" class="right">
              Lowest
            </th>
            <th scope="col" class="right">
              Highest
            </th>
            <th scope="col" class="right">
              Last
            </th>
            <th scope="col" class="right">
              Last {across}
            </th>
          </tr>
        </thead>
        <tbody>
          {lines.map((line) => {
            const y = line.y.filter((v): v is number => v !== null);
            const last = line.x[line.x.length - 1];
            return (
              <tr key={line.id}>
                <td>{line.label}</td>
                <td class="right">{line.x.length}</td>
                <td class="right">{metric(y[0] ?? 'NaN')}</td>
                <td class="right">{y.length ? metric(Math.min(...y)) : 'NaN'}</td>
                <td class="right">{y.length ? metric(Math.max(...y)) : 'NaN'}</td>
                <td class="right">{metric(line.y[line.y.length - 1] ?? 'NaN')}</td>
                <td class="right">{format ? format(last) : last}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
