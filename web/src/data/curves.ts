// Curves of which some stretches are known in detail.
import type { Line } from './store';

// The first and the last step of a curve whose points lie in a stretch of the axis, with one more on either side.
export function within(line: Line, [low, high]: [number, number]): [number, number] | null {
  let first = -1;
  let last = -1;
  line.x.forEach((x, i) => {
    if (x === null || x < low || x > high) return;
    if (first < 0) first = i;
    last = i;
  });
  if (first < 0) return null;
  return [line.step[Math.max(0, first - 1)], line.step[Math.min(line.step.length - 1, last + 1)]];
}

// A curve with the points of another in the place of its own between the other's ends.
export function merge(line: Line, detail: Line): Line {
  const { length } = detail.step;
  if (!length) return line;
  const [from, to] = [detail.step[0], detail.step[length - 1]];
  const before = line.step.findIndex((s) => s >= from);
  const head = before < 0 ? line.step.length : before;
  const after = line.step.findIndex((s) => s > to);
  const tail = after < 0 ? line.step.length : after;
  return {
    step: [...line.step.slice(0, head), ...detail.step, ...line.step.slice(tail)],
    value: [...line.value.slice(0, head), ...detail.value, ...line.value.slice(tail)],
    x: [...line.x.slice(0, head), ...detail.x, ...line.x.slice(tail)],
    infinite: new Map([...line.infinite, ...detail.infinite]),
  };
}
