// Two numbers against each other: a point for each finished task, and the front of those that nothing beats in both.
// The daemon knows the fronts of the objectives and of the time; energy is in the tasks.
import { type Signal, useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { Analysis, Experiment, Front, TaskSummary } from '../../data/types';
import { duration, finite, tick } from '../../lib/format';
import { niceLinear, niceLog, scaler } from '../../lib/scale';
import { useWidth } from '../../lib/width';
import { Card } from '../Card';
import { Seg } from '../choice';

const H = 180;
const M = { l: 46, r: 10, t: 8, b: 30 };

interface Dot {
  n: number;
  x: number;
  y: number;
  front: boolean;
}
interface Picture {
  key: string;
  label: string;
  title: string;
  unit: string;
  name: string;
  dots: Dot[];
  volume: number | null;
  format: (v: number, span: number) => string;
}

const seconds = (v: number, span: number) => (span < 60 ? `${tick(v)} s` : duration(v));

function fromFront(front: Front): Picture {
  const [name, unit] = front.axes.map((a) => a.name);
  const time = unit === 'time_s';
  return {
    key: unit,
    name,
    label: time ? 'Time' : unit,
    title: time ? 'Result against time' : `${name} against ${unit}`,
    unit: time ? 'time per task' : unit,
    dots: front.points.map((p) => ({ n: p.task, y: p.values[0], x: p.values[1], front: p.front })),
    volume: time ? null : front.hypervolume,
    format: time ? seconds : tick,
  };
}

function fromEnergy(e: Experiment, tasks: TaskSummary[]): Picture | null {
  const goal = e.objective[0];
  const sign = goal?.goal === 'max' ? -1 : 1;
  const dots = tasks
    .filter((t) => t.state === 'finished')
    .map((t) => ({
      n: t.number,
      x: t.cost.energy_j === null ? null : t.cost.energy_j / 3600,
      y: finite(t.best?.value),
    }))
    .filter((p): p is Dot => p.x !== null && p.y !== null);
  // From the left, whatever is better than all before it.
  let best = Infinity;
  for (const p of [...dots].sort((a, b) => a.x - b.x || sign * (a.y - b.y))) {
    p.front = sign * p.y < best;
    best = Math.min(best, sign * p.y);
  }
  return dots.length
    ? {
        key: 'energy',
        name: goal?.metric ?? 'result',
        label: 'Energy',
        title: 'Result against energy',
        unit: 'Wh per task',
        dots,
        volume: null,
        format: tick,
      }
    : null;
}

export function Scatter({
  e,
  tasks,
  analysis,
  hovered,
  css,
}: {
  e: Experiment;
  tasks: TaskSummary[];
  analysis: Analysis | null;
  hovered: Signal<string | null>;
  css: (task: TaskSummary) => string;
}) {
  const [box, width] = useWidth(300);
  const picked = useSignal('');
  const pictures = useMemo(() => {
    const energy = fromEnergy(e, tasks);
    const fronts = (analysis?.fronts ?? []).filter((f) => f.axes.length === 2).map(fromFront);
    // Several objectives come first; of the costs, energy says more than time.
    return [
      ...fronts.filter((f) => f.key !== 'time_s'),
      ...(energy ? [energy] : []),
      ...fronts.filter((f) => f.key === 'time_s'),
    ];
  }, [tasks, analysis]);
  const shown = pictures.find((p) => p.key === picked.value) ?? pictures[0];
  const dots = shown?.dots ?? [];
  const byNumber = useMemo(() => new Map(tasks.map((t) => [t.number, t])), [tasks]);
  const front = dots.filter((p) => p.front).sort((a, b) => a.x - b.x || a.y - b.y);
  const W = width.value;
  const ys = dots.map((p) => p.y);
  const xs = dots.map((p) => p.x);
  const log = ys.length > 0 && Math.min(...ys) > 0;
  const pad = (low: number, high: number): [number, number] =>
    low === high ? [low * 0.9 - 1e-12, high * 1.1 + 1e-12] : [low - (high - low) * 0.05, high + (high - low) * 0.05];
  const yd: [number, number] = log
    ? [Math.min(...ys) / 1.05, Math.max(...ys) * 1.05]
    : pad(Math.min(...ys), Math.max(...ys));
  const xd = pad(Math.min(...xs), Math.max(...xs));
  const x = scaler(xd, [M.l, W - M.r]);
  const y = scaler(yd, [H - M.b, M.t], log);
  const path = front
    .map((p, i) => (i ? `H${x(p.x).toFixed(1)}V${y(p.y).toFixed(1)}` : `M${x(p.x).toFixed(1)} ${y(p.y).toFixed(1)}`))
    .join('');
  return (
    <Card
      title={shown?.title ?? 'Result against time'}
      id="front"
      extra={
        <>
          <span class="grow" />
          {pictures.length > 1 ? (
            <Seg
              label="Pareto front of"
              value={shown.key}
              onPick={(key) => {
                picked.value = key;
              }}
              options={pictures.map((p) => ({ value: p.key, label: p.label }))}
            />
          ) : (
            <span class="mute small">Pareto front</span>
          )}
        </>
      }
    >
      <div class="body" ref={box}>
        {dots.length < 2 ? (
          <p class="mute small">Needs two finished tasks.</p>
        ) : (
          <svg
            class="scatter"
            width={W}
            height={H}
            viewBox={`0 0 ${W} ${H}`}
            role="img"
            aria-label={`${shown.name} against ${shown.unit} for ${dots.length} tasks. Nothing beats ${front
              .slice(0, 8)
              .map((p) => `#${p.n}`)
              .join(', ')} in both.`}
            onMouseLeave={() => {
              hovered.value = null;
            }}
            onMouseOver={(event) => {
              const id = (event.target as Element).getAttribute('data-id');
              if (id) hovered.value = id;
            }}
          >
            {(log ? niceLog(...yd, 5) : niceLinear(...yd, 4)).map((t) => (
              <g key={t}>
                <line class="grid-line" x1={M.l} x2={W - M.r} y1={Math.round(y(t)) + 0.5} y2={Math.round(y(t)) + 0.5} />
                <text x={M.l - 6} y={y(t) + 3.5} text-anchor="end">
                  {tick(t)}
                </text>
              </g>
            ))}
            {niceLinear(...xd, 3)
              .filter((t) => t >= xd[0] && t <= xd[1])
              .map((t) => (
                <text key={t} x={x(t)} y={H - M.b + 15} text-anchor="middle">
                  {shown.format(t, xd[1] - xd[0])}
                </text>
              ))}
            <text x={W - M.r} y={H - 2} text-anchor="end">
              {shown.unit}
            </text>
            <path d={path} class="front" />
            {dots.map((p) => {
              const task = byNumber.get(p.n);
              return (
                <circle
                  key={p.n}
                  data-id={p.n}
                  cx={x(p.x)}
                  cy={y(p.y)}
                  r={p.front ? 4.5 : 3.2}
                  fill={task && css(task)}
                  class={p.front ? 'on' : ''}
                />
              );
            })}
            {dots
              .filter((p) => p.n === e.best?.task)
              .map((p) => (
                <text
                  key="b"
                  class="label halo"
                  x={x(p.x) + (x(p.x) > W / 2 ? -8 : 8)}
                  y={y(p.y) + 4}
                  text-anchor={x(p.x) > W / 2 ? 'end' : 'start'}
                >
                  #{p.n}
                </text>
              ))}
          </svg>
        )}
        {shown?.volume !== null && shown?.volume !== undefined && (
          <p class="mute small">Hypervolume {tick(shown.volume)}</p>
        )}
      </div>
    </Card>
  );
}
