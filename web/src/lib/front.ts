// Arithmetic of fronts of two objectives: what nothing beats, the area that it covers, and how that grew.
import type { Analysis, Experiment } from '../data/types';

export type Goal = 'min' | 'max';
export interface Point {
  n: number;
  // In the order of the objectives.
  values: [number, number];
}

const sign = (goal: Goal) => (goal === 'max' ? -1 : 1);

// The area that is as good as a point or worse and better than the reference, over all points.
export function hypervolume(points: Point[], goals: [Goal, Goal], reference: [number, number]): number {
  const [rx, ry] = [sign(goals[0]) * reference[0], sign(goals[1]) * reference[1]];
  const inside = points
    .map((p) => [sign(goals[0]) * p.values[0], sign(goals[1]) * p.values[1]])
    .filter(([x, y]) => x < rx && y < ry)
    .sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  let area = 0;
  let low = ry;
  for (const [x, y] of inside) {
    if (y >= low) continue;
    area += (rx - x) * (low - y);
    low = y;
  }
  return area;
}

// The hypervolume after each point, in the order of the points.
export function growth(points: Point[], goals: [Goal, Goal], reference: [number, number]): number[] {
  let front: Point[] = [];
  let area = 0;
  return points.map((point) => {
    if (!front.some((p) => beats(p, point, goals) || p.values.every((v, i) => v === point.values[i]))) {
      front = [...front.filter((p) => !beats(point, p, goals)), point];
      area = hypervolume(front, goals, reference);
    }
    return area;
  });
}

export function beats(a: Point, b: Point, goals: [Goal, Goal]): boolean {
  let better = false;
  for (const i of [0, 1] as const) {
    const way = sign(goals[i]) * (a.values[i] - b.values[i]);
    if (way > 0) return false;
    better ||= way < 0;
  }
  return better;
}

// Tasks that can be asked for by their numbers: an address has an end.
export const FRONT_MOST = 300;

// The tasks that no other beats in all objectives, of several; null: of one objective there is no front, or it is not
// known yet. The daemon's first front is that of all objectives.
export function frontNumbers(e: Experiment, analysis: Analysis | null): Set<number> | null {
  const front = e.objective.length > 1 ? analysis?.fronts[0] : null;
  return front ? new Set(front.points.filter((p) => p.front).map((p) => p.task)) : null;
}
