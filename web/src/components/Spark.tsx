// The best value so far as a tiny line. Only decoration: the value stands next to it in words.

import type { Metric } from '../data/types';
import { finite } from '../lib/format';

const W = 78;
const H = 22;

export function Spark({ points, active }: { points: (Metric | null)[]; active: boolean }) {
  const values = points.map(finite).filter((v): v is number => v !== null);
  if (values.length < 2) return <span class="mute small">{values.length ? 'one value' : 'no value'}</span>;
  const low = Math.min(...values);
  const range = Math.max(...values) - low || 1;
  const x = (i: number) => 1 + (i / (values.length - 1)) * (W - 6);
  const y = (v: number) => 2 + (1 - (v - low) / range) * (H - 5);
  const d = values.map((v, i) => `${i ? 'L' : 'M'}${x(i).toFixed(1)} ${y(v).toFixed(1)}`).join('');
  return (
    <svg width={W} height={H} viewBox={`0 0 ${W} ${H}`} aria-hidden="true" class={active ? 'spark on' : 'spark'}>
      <path d={d} />
      <circle cx={x(values.length - 1)} cy={y(values[values.length - 1])} r="2" />
    </svg>
  );
}
