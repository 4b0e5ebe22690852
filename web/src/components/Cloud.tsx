// One point for each task, for any number of them: a few paths draw all points, and only the point under the pointer is
// an element of its own. An element for each of 10,000 tasks makes every change of the page slow.
import type { Signal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { reading } from '../lib/format';

// Points of one path do not darken where they cover each other; spread over some paths, crowded places still do.
const LAYERS = 12;
// How far the pointer may be from a point.
const REACH_PX = 6;
const RADIUS = 2.6;

export interface Point {
  id: string;
  // Pixels.
  x: number;
  y: number;
  value: number;
}

// Neighbours in the list are often neighbours in the chart, so they go to different paths.
function paths(points: Point[]): string[] {
  const layers: string[] = Array.from({ length: Math.min(LAYERS, points.length) }, () => '');
  points.forEach((point, i) => {
    layers[i % LAYERS] += `M${point.x.toFixed(1)} ${point.y.toFixed(1)}h0`;
  });
  return layers;
}

export function nearest(points: Point[], x: number, y: number): Point | null {
  let found: Point | null = null;
  let least = REACH_PX * REACH_PX;
  for (const point of points) {
    const far = (point.x - x) ** 2 + (point.y - y) ** 2;
    if (far > least) continue;
    least = far;
    found = point;
  }
  return found;
}

function Hot({ points, hovered }: { points: Map<string, Point>; hovered: Signal<string | null> }) {
  const point = hovered.value === null ? undefined : points.get(hovered.value);
  if (!point) return null;
  return (
    <circle class="one hot" data-id={point.id} cx={point.x.toFixed(1)} cy={point.y.toFixed(1)} r={RADIUS}>
      <title>{`#${point.id}  ${reading(point.value)}`}</title>
    </circle>
  );
}

interface Props {
  points: Point[];
  // What is kept or selected; null: all.
  lit: Set<string> | null;
  hovered: Signal<string | null>;
}

export function Cloud({ points, lit, hovered }: Props) {
  const known = useMemo(() => new Map(points.map((point) => [point.id, point])), [points]);
  const drawn = useMemo(() => {
    const on = lit ? points.filter((point) => lit.has(point.id)) : points;
    const off = lit ? points.filter((point) => !lit.has(point.id)) : [];
    return [
      ...paths(off).map((d, i) => <path key={`off${i}`} class="points off" d={d} stroke-width={2 * RADIUS} />),
      ...paths(on).map((d, i) => <path key={`on${i}`} class="points" d={d} stroke-width={2 * RADIUS} />),
    ];
  }, [points, lit]);
  return (
    <>
      {drawn}
      <Hot points={known} hovered={hovered} />
    </>
  );
}
