// How alike two configurations are: each parameter that varies counts the same, numbers by their distance within the
// declared range (by logarithm where it is declared so), other values as equal or not.
import type { Experiment, TaskSummary } from '../data/types';
import { own } from './own';

type Far = (a: TaskSummary, b: TaskSummary) => number;

function farOf(e: Experiment, name: string, tasks: TaskSummary[]): Far {
  const declared = e.parameters.find((p) => p.name === name);
  const numbers = tasks.map((t) => own(t.parameters, name)).filter((v): v is number => typeof v === 'number');
  const log = declared?.scale === 'log' && numbers.every((v) => v > 0);
  const f = log ? Math.log : (v: number) => v;
  const low = numbers.reduce((a, b) => Math.min(a, b), declared?.min ?? Infinity);
  const high = numbers.reduce((a, b) => Math.max(a, b), declared?.max ?? -Infinity);
  const span = f(high) - f(low);
  return (a, b) => {
    const [x, y] = [own(a.parameters, name), own(b.parameters, name)];
    if (typeof x === 'number' && typeof y === 'number' && span > 0 && !declared?.categorical)
      return Math.abs(f(x) - f(y)) / span;
    return x === y ? 0 : 1;
  };
}

export function nearest(e: Experiment, task: TaskSummary, others: TaskSummary[], count: number): TaskSummary[] {
  const parts = e.varying.map((name) => farOf(e, name, [task, ...others]));
  const far = new Map(others.map((t) => [t, parts.reduce((sum, part) => sum + part(task, t), 0)]));
  return [...others].sort((a, b) => far.get(a)! - far.get(b)! || a.number - b.number).slice(0, count);
}
