// Who was where and when: the attempts of an experiment on the lanes of a chart. A lane is a GPU where attempts name
// theirs; else a slot, which has no name: attempts of a node are laid on as few lanes as they need.
import type { Attempts } from '../data/types';

type Attempt = Attempts['attempts'][number];

export interface Bar {
  task: number;
  attempt: number;
  state: Attempt['state'];
  // Milliseconds since 1970.
  from: number;
  to: number;
}
export interface Lane {
  name: string;
  bars: Bar[];
  busy_ms: number;
}
export interface Lanes {
  lanes: Lane[];
  from: number;
  to: number;
  // Of the time of all lanes between the first start and the last end; null where nothing ran.
  idle: number | null;
}

function gpusOf(attempt: Attempt): string[] {
  return (attempt.gpus ?? '').split(',').filter((gpu) => gpu.trim() !== '');
}

export function lanesOf(attempts: Attempt[], now: number): Lanes {
  const lanes = new Map<string, Lane>();
  const laneAt = (name: string) => {
    const lane = lanes.get(name) ?? { name, bars: [], busy_ms: 0 };
    lanes.set(name, lane);
    return lane;
  };
  const slots = new Map<string, Lane[]>();
  const ran = attempts
    .filter((a) => a.started !== null)
    .map((a) => {
      const from = Date.parse(a.started!);
      const to = Math.max(from, a.finished === null ? now : Date.parse(a.finished));
      return { a, bar: { task: a.task, attempt: a.number, state: a.state, from, to } };
    })
    .sort((x, y) => x.bar.from - y.bar.from || x.bar.task - y.bar.task);
  for (const { a, bar } of ran) {
    const node = a.node ?? 'unknown node';
    const gpus = gpusOf(a);
    for (const gpu of gpus) laneAt(`${node} GPU ${gpu}`).bars.push(bar);
    if (gpus.length) continue;
    const of = slots.get(node) ?? [];
    slots.set(node, of);
    let free = of.find((lane) => lane.bars[lane.bars.length - 1].to <= bar.from);
    if (!free) {
      free = laneAt(`${node} slot ${of.length + 1}`);
      of.push(free);
    }
    free.bars.push(bar);
  }
  const all = [...lanes.values()].sort((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }));
  for (const lane of all) lane.busy_ms = covered(lane.bars);
  const from = ran.reduce((low, r) => Math.min(low, r.bar.from), Infinity);
  const to = ran.reduce((high, r) => Math.max(high, r.bar.to), -Infinity);
  const busy = all.reduce((sum, lane) => sum + lane.busy_ms, 0);
  return { lanes: all, from, to, idle: to > from ? 1 - busy / (all.length * (to - from)) : null };
}

// The time that at least one bar covers: two tasks may share a GPU.
function covered(bars: Bar[]): number {
  let sum = 0;
  let end = -Infinity;
  for (const bar of [...bars].sort((a, b) => a.from - b.from)) {
    sum += Math.max(0, bar.to - Math.max(bar.from, end));
    end = Math.max(end, bar.to);
  }
  return sum;
}
