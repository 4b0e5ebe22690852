// How the search got on: the best value so far over the tasks that ended, the time, or what they cost.
import type { Signal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { repeated } from '../../data/experiment';
import type { Analysis, Experiment, TaskSummary } from '../../data/types';
import { toCsv } from '../../lib/csv';
import { count, duration, energy, finite, metric, plural, tick } from '../../lib/format';
import { own } from '../../lib/own';
import { isPooled } from '../../lib/pool';
import { query, setQuery } from '../../lib/router';
import { niceLinear, niceLog, scaler } from '../../lib/scale';
import { useWidth } from '../../lib/width';
import { Card } from '../Card';
import { Cloud, nearest, type Point } from '../Cloud';
import { Seg } from '../choice';
import { Export } from '../Export';
import { ObjectivePick, objectiveNow } from './objective';
import { usePoints } from './points';

const M = { l: 46, r: 12, t: 22, b: 30 };

interface Step {
  n: number;
  x: number;
  value: number | null;
  best: number;
}

interface Axis {
  key: string;
  label: string;
  unit: string;
  steps: Step[];
  format: (v: number) => string;
}

type Progress = Analysis['progress'];

// The same course with the values of a further objective, which the tasks carry. Of a configuration that is repeated
// each run stands for the mean of all.
function courseOf(progress: Progress, tasks: TaskSummary[], metricName: string, max: boolean): Progress {
  const values = new Map(
    tasks.flatMap((t) => {
      const value = finite(own(t.values, metricName)?.best);
      return (isPooled(t) ? t.runs : [t]).map((run) => [run.number, value] as const);
    }),
  );
  let best: number | null = null;
  return progress.flatMap((p) => {
    const value = values.get(p.task) ?? null;
    if (value === null) return [];
    if (best === null || (max ? value > best : value < best)) best = value;
    return [{ ...p, value, best }];
  });
}

function stepsOver(progress: Progress, place: (p: Progress[number], i: number) => number): Step[] {
  return progress
    .map((p, i) => ({ n: p.task, x: place(p, i), value: finite(p.value), best: finite(p.best) ?? Number.NaN }))
    .filter((s) => Number.isFinite(s.best) && Number.isFinite(s.x));
}

// What the tasks cost up to the end of each; null where a cost is not known, or not every task is here.
function spent(progress: Progress, cost: (t: TaskSummary) => number | null, tasks: Map<number, TaskSummary>) {
  let sum = 0;
  const sums: number[] = [];
  for (const p of progress) {
    const task = tasks.get(p.task);
    if (!task) return null;
    sum += (cost(task) ?? 0) * (isPooled(task) ? task.runs.length : 1);
    sums.push(sum);
  }
  return sum > 0 ? sums : null;
}

function axesOf(e: Experiment, analysis: Analysis | null): Axis[] {
  const progress = analysis?.progress ?? [];
  const start = Date.parse(e.started ?? progress[0]?.time ?? '');
  return [
    {
      key: 'tasks',
      label: 'Tasks',
      unit: repeated(e) ? 'configurations ended' : 'tasks ended',
      steps: stepsOver(progress, (_, i) => i + 1),
      format: (v) => count(Math.round(v)),
    },
    {
      key: 'time',
      label: 'Time',
      unit: 'since the start',
      steps: stepsOver(progress, (p) => (Date.parse(p.time ?? '') - start) / 1000),
      format: duration,
    },
  ];
}

function costsOf(analysis: Analysis | null, tasks: TaskSummary[]): Axis[] {
  const progress = analysis?.progress ?? [];
  const known = new Map(tasks.map((t) => [t.number, t]));
  const over = (sums: number[] | null) => sums && stepsOver(progress, (_, i) => sums[i]);
  const gpu = over(spent(progress, (t) => t.cost.gpu_s, known));
  const joules = over(spent(progress, (t) => t.cost.energy_j, known));
  return [
    ...(gpu ? [{ key: 'gpu', label: 'GPU time', unit: 'GPU time spent', steps: gpu, format: duration }] : []),
    ...(joules ? [{ key: 'energy', label: 'Energy', unit: 'energy spent', steps: joules, format: energy }] : []),
  ];
}

interface Props {
  e: Experiment;
  tasks: TaskSummary[];
  analysis: Analysis | null;
  complete: boolean;
  // As of the further charts.
  pooled: ((runs: TaskSummary[]) => TaskSummary[]) | null;
  needs: string[];
  hovered: Signal<string | null>;
  lit: Set<string> | null;
  onOpen: (n: string) => void;
  height: number;
}

// Where everything of an axis lies in a picture of this size.
function layOut({ key, steps }: Axis, W: number, H: number) {
  const values = steps.flatMap((s) => (s.value === null ? [s.best] : [s.value, s.best]));
  const low = values.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const high = values.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const log = low > 0 && high / low >= 10;
  const yd: [number, number] =
    low === high ? [low - Math.abs(low) / 10 - 1e-9, low + Math.abs(low) / 10 + 1e-9] : [low, high];
  const xd: [number, number] = [key === 'tasks' ? 1 : 0, Math.max(steps.at(-1)?.x ?? 1, 1e-9)];
  const x = scaler(xd, [M.l, W - M.r]);
  const y = scaler(yd, [H - M.b, M.t], log);
  const points: Point[] = steps.flatMap((s) =>
    s.value === null ? [] : [{ id: String(s.n), x: x(s.x), y: y(s.value), value: s.value }],
  );
  // The line moves only where the best did, and reaches the last.
  const turns = steps.filter((s, i) => i === steps.length - 1 || s.best !== steps[i - 1]?.best);
  const line = turns
    .map((s, i) => `${i ? 'H' : 'M'}${x(s.x).toFixed(1)}${i ? 'V' : ' '}${y(s.best).toFixed(1)}`)
    .join('');
  // Tasks are counted: there is no tick between two of them.
  const across = niceLinear(...xd, key === 'tasks' ? 4 : 3).filter(
    (t) => t >= xd[0] && t <= xd[1] && (key !== 'tasks' || t % 1 === 0),
  );
  const up = log ? niceLog(...yd, 5) : niceLinear(...yd, 4);
  return { points, line, across, up, x, y, log };
}

export function BestSoFar({
  e,
  tasks,
  analysis: first,
  complete,
  pooled,
  needs,
  hovered,
  lit,
  onOpen,
  height: H,
}: Props) {
  const [box, width] = useWidth(300);
  const [at, name] = objectiveNow(e);
  // All of them: the best of a sample is not the best.
  const asks = !complete && at > 0;
  const { points: fetched, trouble } = usePoints(e, asks ? [`m.${name}`, ...(pooled ? needs : [])] : null, false, null);
  const known = useMemo(
    () => (complete ? tasks : fetched ? (pooled?.(fetched.tasks) ?? fetched.tasks) : []),
    [complete ? tasks : fetched, pooled],
  );
  const analysis =
    useMemo(
      () =>
        at && first && { ...first, progress: courseOf(first.progress, known, name, e.objective[at].goal === 'max') },
      [at, first, known],
    ) || first;
  // Other tasks in the charts do not move these.
  const always = useMemo(() => axesOf(e, analysis), [analysis, e.started]);
  const costs = useMemo(() => costsOf(analysis, tasks), [analysis, tasks]);
  const axes = [...always, ...costs];
  const axis = axes.find((a) => a.key === query.value.get('over')) ?? axes[0];
  const { steps } = axis;
  const W = width.value;
  const { points, line, across, up, x, y, log } = useMemo(() => layOut(axis, W, H), [axis, W, H]);
  const under = (event: MouseEvent) => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    return nearest(points, event.clientX - box.left, event.clientY - box.top)?.id ?? null;
  };
  const last = steps.at(-1);
  return (
    <Card
      title={
        at ? (
          <>
            Best so far: <bdi>{name}</bdi>
          </>
        ) : (
          'Best so far'
        )
      }
      id="progress"
      extra={
        <>
          <span class="grow" />
          <ObjectivePick e={e} />
          <Seg
            label="Best so far over"
            value={axis.key}
            onPick={(key) => setQuery({ over: key === 'tasks' ? null : key })}
            options={axes.map((a) => ({ value: a.key, label: a.label }))}
          />
          {steps.length > 1 && (
            <Export
              name={at ? `${e.id}-best-so-far-${name}` : `${e.id}-best-so-far`}
              of={box}
              csv={() =>
                toCsv([['task', axis.unit, name, `best ${name}`], ...steps.map((s) => [s.n, s.x, s.value, s.best])])
              }
            />
          )}
        </>
      }
    >
      <div class="body" ref={box}>
        {asks && !fetched ? (
          <p class="mute small" role={trouble ? 'alert' : undefined}>
            {trouble ? `The tasks could not be read: ${trouble}` : 'Loading all tasks…'}
          </p>
        ) : steps.length < 2 || !last ? (
          <p class="mute small">Needs two tasks that ended with a value.</p>
        ) : (
          <svg
            class="scatter"
            width={W}
            height={H}
            viewBox={`0 0 ${W} ${H}`}
            role="img"
            aria-label={`Best ${name} after ${plural(steps.length, 'task')}: ${metric(last.best)}, ${metric(steps[0].best)} after the first.`}
            onMouseLeave={() => {
              hovered.value = null;
            }}
            onMouseMove={(event) => {
              const id = under(event);
              if (hovered.value !== id) hovered.value = id;
            }}
            onClick={(event) => {
              const id = under(event);
              if (id) onOpen(id);
            }}
          >
            {up.map((t) => (
              <g key={t}>
                <line class="grid-line" x1={M.l} x2={W - M.r} y1={Math.round(y(t)) + 0.5} y2={Math.round(y(t)) + 0.5} />
                <text x={M.l - 6} y={y(t) + 3.5} text-anchor="end">
                  {tick(t)}
                </text>
              </g>
            ))}
            {across.map((t) => (
              <text key={t} x={x(t)} y={H - M.b + 15} text-anchor="middle">
                {axis.format(t)}
              </text>
            ))}
            <text x={W - M.r} y={H - 2} text-anchor="end">
              {axis.unit}
            </text>
            <text x={2} y={12}>
              {log ? `${name}, log` : name}
            </text>
            <Cloud points={points} lit={lit} hovered={hovered} />
            <path d={line} class="so-far" />
          </svg>
        )}
      </div>
    </Card>
  );
}
