// All curves of an experiment: one chart, or a panel for each family of metrics.
import type { Signal } from '@preact/signals';
import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { message } from '../../data/api';
import type { ExperimentStore } from '../../data/experiment';
import { type Line, written } from '../../data/store';
import { toast } from '../../data/toast';
import type { Experiment, Forecast, Metric, TaskSummary } from '../../data/types';
import type { Colouring } from '../../lib/colour';
import { alignedResults } from '../../lib/columns';
import { toCsv } from '../../lib/csv';
import { count, finite, inFull, metric, plural } from '../../lib/format';
import { joinNames, splitNames } from '../../lib/names';
import { type Panel, panelsOf } from '../../lib/panels';
import { go, query, setQuery } from '../../lib/router';
import { smooth } from '../../lib/smooth';
import { AxisSwitch, axisFormat, axisName, placed, placeOf, useAxis } from '../axis';
import { Card } from '../Card';
import { ColourLegend } from '../ColourLegend';
import { Curves } from '../Curves';
import { Pick, Toggle } from '../choice';
import { Drop } from '../Drop';
import { Export } from '../Export';
import { continuation, Worth } from '../forecast';
import { Icon } from '../Icon';
import type { PlotLine } from '../plot';
import { ended } from '../State';

interface Props {
  store: ExperimentStore;
  e: Experiment;
  tasks: TaskSummary[];
  colours: Colouring;
  hovered: Signal<string | null>;
  shown: Set<string> | null;
  forecast: Forecast | undefined;
  // How the best values are written.
  format: (v: Metric) => string;
  asTable: boolean;
}

// More dashed lines than this hide the curves they continue.
const PREDICTED = 12;
// Per cent of the axis.
const SMOOTH_MOST = 30;
// Each is a request, and a chart that should still be readable.
const METRICS_MOST = 12;

function Legend({
  colours,
  running,
  errors,
  nan,
}: {
  colours: Colouring;
  running: boolean;
  errors: boolean;
  nan: boolean;
}) {
  return (
    <div class="legend">
      <ColourLegend colours={colours} />
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
      {nan && (
        <span title="A value that is NaN or infinite was written at this place">
          <svg width="9" height="9" aria-hidden="true">
            <path d="M4.500 1v7" class="nan" />
          </svg>
          NaN or ∞
        </span>
      )}
    </div>
  );
}

// Which metrics are drawn; those of one family share a chart.
function MetricChoice({ e, chosen, onPick }: { e: Experiment; chosen: string[]; onPick: (metrics: string[]) => void }) {
  const label = chosen.length === 1 ? chosen[0] : plural(chosen.length, 'metric');
  return (
    <Drop
      name="Metrics drawn"
      label={
        <>
          <span class="visually-hidden">Metric </span>
          <bdi class="cut">{label}</bdi>
          <Icon name="desc" />
        </>
      }
    >
      {() => (
        <fieldset>
          <legend>Metrics drawn; train and validation share a chart</legend>
          {e.metrics.map((name) => (
            <label key={name}>
              <input
                type="checkbox"
                checked={chosen.includes(name)}
                onChange={(event) => {
                  const on = event.currentTarget.checked;
                  const next = e.metrics.filter((m) => (m === name ? on : chosen.includes(m)));
                  if (next.length) onPick(next);
                  else event.currentTarget.checked = true;
                }}
              />
              <bdi>{name}</bdi>
            </label>
          ))}
          <span class="view">
            <button type="button" class="link" onClick={() => onPick(e.metrics.slice(0, METRICS_MOST))}>
              All
            </button>
            <button type="button" class="link" onClick={() => onPick(e.metrics.slice(0, 0))}>
              Only the objective
            </button>
          </span>
        </fieldset>
      )}
    </Drop>
  );
}

function Smoothing({ share }: { share: number }) {
  return (
    <label class="pick hide-phone" title="An exponential mean; its memory is this share of the axis">
      Smooth
      <input
        type="range"
        min={0}
        max={SMOOTH_MOST}
        step={1}
        value={share}
        aria-label="Smoothing, per cent of the axis"
        onInput={(event) => setQuery({ smooth: event.currentTarget.value === '0' ? null : event.currentTarget.value })}
      />
      {share > 0 && <output>{share} %</output>}
    </label>
  );
}

export function zoomNow(): [number, number] | null {
  const [low, high] = (query.value.get('zoom') ?? '').split(',').map(Number);
  return Number.isFinite(low) && Number.isFinite(high) && low < high ? [low, high] : null;
}

const allPositive = (lines: Map<number, Line>[]) => {
  let some = false;
  for (const line of lines.flatMap((of) => [...of.values()])) {
    for (const v of line.value) {
      if (v !== null && v <= 0) return false;
      if (v !== null) some = true;
    }
  }
  return some;
};

// One chart: the curves of some metrics of one family.
function PanelOfCurves({
  panel,
  alone,
  smoothing,
  ...props
}: Props & { panel: Panel; alone: boolean; smoothing: number }) {
  const { store, e, tasks, colours, hovered, shown, forecast, format, asTable } = props;
  const goal = e.objective[0];
  const axis = store.axis.value;
  const step = e.step_name || 'epoch';
  const across = axisName(axis, step);
  const version = store.drawn.value;
  const curves = panel.metrics.map((name) => store.curves.get(name) ?? new Map<number, Line>());
  const positive = useMemo(() => allPositive(curves), [version, panel.metrics.join()]);
  const wanted = query.value.get('y');
  const main = panel.metrics.includes(goal?.metric ?? '');
  // A loss falls by factors, an accuracy rises by differences.
  const log =
    positive && (wanted ? wanted === 'log' : main ? goal?.goal !== 'max' : /loss|err|perplex/i.test(panel.name));
  const name = panel.metrics[0];
  const lines = useMemo(() => {
    const out: PlotLine[] = [];
    panel.metrics.forEach((metricName, place) => {
      for (const task of tasks) {
        const line = curves[place].get(task.number);
        const points = line && placed(line);
        if (!line || !points?.x.length) continue;
        const best = e.best?.task === task.number && goal?.metric === metricName;
        const y = finite(e.best?.value);
        const mean = finite(e.best?.mean);
        const repeated = mean === null ? null : `mean of ${e.best!.repeats}: ${format(mean)}`;
        const x = best ? placeOf(line, e.best!.epoch) : null;
        out.push({
          id: String(task.number),
          key: `${task.number} ${metricName}`,
          name: metricName,
          label: `#${task.number}`,
          css: colours.of(task).css,
          ...points,
          dash: place > 0,
          end: place > 0 ? null : task.state === 'running' ? 'dot' : task.state === 'error' ? 'cross' : null,
          strong: best,
          mark: y !== null && x !== null ? { x, y, text: `#${task.number}  ${repeated ?? format(y)}` } : null,
        });
      }
    });
    const predicted =
      axis !== 'step' || !main
        ? []
        : out
            .filter((line) => line.end === 'dot' && line.name === goal?.metric)
            .map((line) => continuation(forecast, Number(line.id), line))
            .filter((line) => line !== null);
    // Around many lines the bands are fog.
    if (predicted.length <= PREDICTED) out.push(...predicted.map((line) => ({ ...line, band: undefined })));
    return out;
  }, [tasks, version, colours, axis, e.best, panel.metrics.join(), forecast, format]);
  const drawn = useMemo(() => (smoothing ? smoothed(lines, smoothing / 100) : lines), [lines, smoothing]);
  const over = typeof e.best?.mean === 'number' ? ` as the mean of ${e.best.repeats} repeats` : '';
  const value = metric(e.best?.mean ?? e.best?.value ?? null);
  const best = main && e.best ? ` The best is task ${e.best.task} with ${value}${over}.` : '';
  const count = new Set(lines.map((line) => line.id)).size;
  const label = lines.length
    ? `${panel.metrics.join(', ')} for ${plural(count, 'task')} by ${across}.${best}`
    : `${name}: no curve yet.`;
  const head = !alone && (
    <h3 class="panel-title">
      <bdi>{panel.metrics.join(', ')}</bdi>
      {panel.metrics.length > 1 && <span class="mute">, {panel.metrics.slice(1).join(', ')} dashed</span>}
    </h3>
  );
  if (lines.length > 0 && lines.every((line) => line.y.every((v) => v === null)))
    return (
      <div>
        {head}
        <p class="no-chart mute">
          Every value of <bdi>{panel.metrics.join(', ')}</bdi> is NaN or infinite, so there is nothing to draw.
        </p>
      </div>
    );
  if (!store.complete.value && store.total.value === 0)
    return (
      <div>
        {head}
        <p class="no-chart mute">No task passes the filter.</p>
      </div>
    );
  if (!lines.length)
    return (
      <div>
        {head}
        <p class="no-chart mute">
          {e.metrics.length || e.objective.length ? (
            <>
              No value of <bdi>{panel.metrics.join(', ')}</bdi> has arrived{axis === 'step' ? '' : ` with its ${axis}`}.
            </>
          ) : (
            'No metric has arrived.'
          )}
          {ended(e.tasks) < e.tasks.total
            ? ` Curves appear here when the first ${step} ends.`
            : ' All tasks have ended.'}
        </p>
      </div>
    );
  if (asTable)
    return (
      <div>
        {head}
        <TableOfCurves lines={lines} name={name} across={across} format={axisFormat(axis)} />
      </div>
    );
  const lone = lines.length > 1 && lines.every((line) => line.x.length === 1 && line.end === null);
  return (
    <div>
      {head}
      <Curves
        lines={drawn}
        version={version}
        label={label}
        metricName={name}
        height={alone ? 262 : 220}
        log={log}
        xLabel={across}
        xFormat={axisFormat(axis)}
        hovered={hovered}
        shown={shown}
        zoom={zoomNow()}
        onZoom={(range) => setQuery({ zoom: range ? range.map((v) => Number(v.toPrecision(6))).join() : null })}
        onPick={(id) => go(`/e/${e.id}/${id}`)}
      />
      {lone && <p class="mute small">Each task has one value. Tasks of one {across} lie beside each other.</p>}
    </div>
  );
}

// Every line with its smoothed course; what it was stays in `raw`.
function smoothed(lines: PlotLine[], share: number): PlotLine[] {
  let [low, high] = [Infinity, -Infinity];
  for (const line of lines) {
    low = Math.min(low, line.x[0]);
    high = Math.max(high, line.x[line.x.length - 1]);
  }
  const reach = (high - low) * share;
  return lines.map((line) =>
    line.x.length < 3 ? line : { ...line, raw: line.y, y: smooth(line.x, line.y, reach), end: line.end },
  );
}

// What is drawn, one row for each point.
function csvOf(store: ExperimentStore, tasks: TaskSummary[], shown: Set<string> | null): string {
  const axis = store.axis.value;
  const kept = new Set(tasks.filter((t) => !shown || shown.has(String(t.number))).map((t) => t.number));
  const rows: (string | number | null)[][] = [['task', 'metric', 'step', ...(axis === 'step' ? [] : [axis]), 'value']];
  for (const [name, lines] of store.curves)
    for (const [number, line] of lines)
      if (kept.has(number))
        line.step.forEach((at, i) => {
          rows.push([number, name, at, ...(axis === 'step' ? [] : [line.x[i]]), written(line, i)]);
        });
  return toCsv(rows);
}

export function CurvesCard(props: Omit<Props, 'asTable'>) {
  const { store, e, tasks, colours, shown, forecast } = props;
  const asTable = useSignal(false);
  const body = useRef<HTMLDivElement>(null);
  const goal = e.objective[0];
  const axis = useAxis(store);
  const step = e.step_name || 'epoch';
  const version = store.drawn.value;
  const picked = splitNames(query.value.get('metric')).filter((name) => e.metrics.includes(name));
  const metrics = picked.length ? picked : [store.shown ?? goal?.metric ?? 'metric'];
  const panels = useMemo(() => panelsOf(metrics), [metrics.join()]);
  const share = Math.min(SMOOTH_MOST, Math.max(0, Math.round(Number(query.value.get('smooth')) || 0)));
  const alone = panels.length === 1;
  const zoom = zoomNow();
  useEffect(() => void store.zoom(zoom), [store, zoom?.join()]);
  useEffect(() => {
    const now = picked.join();
    if (now !== store.metrics.join())
      void store.show(picked).catch((problem) => toast(message(problem), { level: 'error' }));
  }, [store, picked.join()]);
  const nan = useMemo(
    () =>
      metrics.some((name) => [...(store.curves.get(name)?.values() ?? [])].some((line) => line.value.includes(null))),
    [version, metrics.join()],
  );
  const positive = useMemo(
    () => panels.some((panel) => allPositive(panel.metrics.map((name) => store.curves.get(name) ?? new Map()))),
    [version, panels],
  );
  const wanted = query.value.get('y');
  const log = positive && (wanted ? wanted === 'log' : goal?.goal !== 'max');
  const varying = e.parameters.filter((p) => e.varying.includes(p.name));
  const pick = (next: string[]) => {
    const plain = !next.length || (next.length === 1 && next[0] === goal?.metric);
    setQuery({ metric: plain ? null : joinNames(next) });
  };
  const csv = async () => {
    await store.fetchExact();
    return csvOf(store, tasks, shown);
  };
  return (
    <Card
      title={
        alone ? (
          <>
            <bdi>{e.metrics.length || goal ? panels[0].metrics.join(', ') : 'Metrics'}</bdi>,{' '}
            {shown ? plural(shown.size, 'task') : 'all tasks'}
          </>
        ) : (
          `Metrics, ${shown ? plural(shown.size, 'task') : 'all tasks'}`
        )
      }
      id="curves"
      extra={
        <div class="controls">
          {e.metrics.length > 1 && <MetricChoice e={e} chosen={metrics} onPick={pick} />}
          {varying.length > 0 && (
            <Pick
              label="Colour"
              value={colours.name ?? ''}
              options={varying.map((p) => ({ value: p.name, label: p.name }))}
              onPick={(value) => setQuery({ colour: value })}
            />
          )}
          <AxisSwitch
            axis={axis}
            step={step}
            epochs={store.epochsKnown.value}
            times={axis === 'time' || !tasks.length || tasks.some((t) => t.started !== null)}
          />
          {positive && <Toggle label="log y" on={log} onChange={(on) => setQuery({ y: on ? 'log' : 'linear' })} />}
          <Smoothing share={share} />
          <Toggle
            label="Table"
            on={asTable.value}
            onChange={(on) => {
              asTable.value = on;
              if (on) store.fetchExact().catch((problem) => toast(message(problem), { level: 'error' }));
            }}
          />
          <Export name={`${e.id}-curves`} of={body} csv={csv} />
        </div>
      }
    >
      <div class="body" ref={body}>
        <div class={alone ? undefined : 'panels'}>
          {panels.map((panel) => (
            <PanelOfCurves
              key={panel.name}
              {...props}
              panel={panel}
              alone={alone}
              smoothing={share}
              asTable={asTable.value}
            />
          ))}
        </div>
        {!store.complete.value && store.total.value > 0 && (
          <p class="mute small">
            The charts show the best {count(tasks.length)} of {plural(store.total.value, 'task')}.
          </p>
        )}
        <Legend colours={colours} running={e.tasks.running > 0} errors={e.tasks.error > 0} nan={nan} />
        {alone && panels[0].metrics.length > 1 && (
          <p class="mute small">
            Dashed: <bdi>{panels[0].metrics.slice(1).join(', ')}</bdi>.
          </p>
        )}
        {e.tasks.running > 0 && <Worth forecast={forecast} shown={axis === 'step' && !!forecast?.running?.length} />}
      </div>
    </Card>
  );
}

function Value({ value, format }: { value: number | null | undefined; format: (v: Metric) => string }) {
  return (
    <td class="right" title={inFull(value)}>
      {value === null ? 'NaN or ∞' : format(value ?? 'NaN')}
    </td>
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
  const write = alignedResults(lines.flatMap((line) => line.y));
  return (
    <div class="table-wrap tall" tabIndex={0} role="region" aria-label={`${name} as a table`}>
      <table>
        <thead>
          <tr>
            <th scope="col">Task</th>
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
                <Value value={y[0]} format={write} />
                <Value value={y.length ? Math.min(...y) : undefined} format={write} />
                <Value value={y.length ? Math.max(...y) : undefined} format={write} />
                <Value value={line.y[line.y.length - 1]} format={write} />
                <td class="right">{format ? format(last) : last}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
