// Result against cost: a point for each finished task, and the front of those that nothing beats in both.
import type { Signal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { Card } from '../bits';
import { niceLinear, niceLog, scaler } from '../scale';
import type { Experiment, Task } from '../../data/types';
import { duration, finite, tick } from '../../lib/format';
import { useWidth } from '../../lib/width';

const H = 180;
const M = { l: 46, r: 10, t: 8, b: 30 };

export function Scatter({ e, tasks, hovered, css }: { e: Experiment; tasks: Task[]; hovered: Signal<string | null>; css: (task: Task) => string }) {
  const [box, width] = useWidth(300);
  const goal = e.objective[0];
  const watts = tasks.some((t) => t.cost.energy_j !== null);
  const points = useMemo(() => tasks.filter((t) => t.state === 'finished' || t.state === 'pruned').map((t) => ({
    task: t, x: watts ? (t.cost.energy_j === null ? null : t.cost.energy_j / 3600) : t.elapsed_s, y: finite(t.best?.value),
  })).filter((p): p is { task: Task; x: number; y: number } => p.x !== null && p.y !== null), [tasks, watts]);
  const better = (a: number, b: number) => goal?.goal === 'max' ? a >= b : a <= b;
  const front = useMemo(() => points.filter((p) => !points.some((q) => q !== p && q.x <= p.x && better(q.y, p.y) && (q.x < p.x || q.y !== p.y))).sort((a, b) => a.x - b.x), [points]);
  const W = width.value;
  const ys = points.map((p) => p.y);
  const xs = points.map((p) => p.x);
  const log = ys.length > 0 && Math.min(...ys) > 0;
  const pad = (low: number, high: number): [number, number] => low === high ? [low * 0.9 - 1e-12, high * 1.1 + 1e-12] : [low - (high - low) * 0.05, high + (high - low) * 0.05];
  const yd: [number, number] = log ? [Math.min(...ys) / 1.05, Math.max(...ys) * 1.05] : pad(Math.min(...ys), Math.max(...ys));
  const xd = pad(Math.min(...xs), Math.max(...xs));
  const x = scaler(xd, [M.l, W - M.r]);
  const y = scaler(yd, [H - M.b, M.t], log);
  const front2 = new Set(front.map((p) => p.task.number));
  const path = front.map((p, i) => i ? `H${x(p.x).toFixed(1)}V${y(p.y).toFixed(1)}` : `M${x(p.x).toFixed(1)} ${y(p.y).toFixed(1)}`).join('');
  const unit = watts ? 'Wh per task' : 'time per task';
  return (
    <Card title={watts ? 'Result against energy' : 'Result against time'} id="front" extra={<><span class="grow" /><span class="mute small">Pareto front</span></>}>
      <div class="body" ref={box}>
        {points.length < 2 ? <p class="mute small">Needs two finished tasks.</p> : (
          <svg class="scatter" width={W} height={H} viewBox={`0 0 ${W} ${H}`} role="img"
            aria-label={`${goal?.metric ?? 'result'} against ${unit} for ${points.length} tasks. Nothing beats ${front.slice(0, 8).map((p) => `#${p.task.number}`).join(', ')} in both.`}
            onMouseLeave={() => { hovered.value = null; }}
            onMouseOver={(event) => { const id = (event.target as Element).getAttribute('data-id'); if (id) hovered.value = id; }}>
            {(log ? niceLog(...yd, 5) : niceLinear(...yd, 4)).map((t) => <g key={t}><line class="g" x1={M.l} x2={W - M.r} y1={Math.round(y(t)) + 0.5} y2={Math.round(y(t)) + 0.5} />
              <text x={M.l - 6} y={y(t) + 3.500} text-anchor="end">{tick(t)}</text></g>)}
            {niceLinear(...xd, 3).filter((t) => t >= xd[0] && t <= xd[1]).map((t) => <text key={t} x={x(t)} y={H - M.b + 15} text-anchor="middle">{watts ? tick(t) : xd[1] - xd[0] < 60 ? `${tick(t)} s` : duration(t)}</text>)}
            <text x={W - M.r} y={H - 2} text-anchor="end">{unit}</text>
            <path d={path} class="front" />
            {points.map((p) => <circle key={p.task.number} data-id={p.task.number} cx={x(p.x)} cy={y(p.y)} r={front2.has(p.task.number) ? 4.5 : 3.2} fill={css(p.task)} class={front2.has(p.task.number) ? 'on' : ''} />)}
            {points.filter((p) => p.task.number === e.best?.task).map((p) => <text key="b" class="lab halo" x={Math.min(x(p.x) + 6, W - 30)} y={y(p.y) + 14}>#{p.task.number}</text>)}
          </svg>
        )}
      </div>
    </Card>
  );
}
