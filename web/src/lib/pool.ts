// Configurations that are run several times: what counts is the mean of their runs. Each becomes one task for the table
// and the charts, under the number of the run that is nearest to the mean, as the daemon names it.
import type { Best, Configuration, State, TaskSummary, Values } from '../data/types';
import { figureValue, finite } from './format';
import { order } from './order';
import { own } from './own';

export interface Pooled extends TaskSummary {
  runs: TaskSummary[];
  configuration: Configuration;
}

export const isPooled = (task: TaskSummary): task is Pooled => 'runs' in task;

const STATES: State[] = ['running', 'submitted', 'waiting', 'error', 'pruned', 'stopped', 'finished'];
const over = (state: State) => !['running', 'submitted', 'waiting'].includes(state);

function mean(values: (number | null | undefined)[]): number | null {
  const there = values.filter((v): v is number => typeof v === 'number' && Number.isFinite(v));
  return there.length ? there.reduce((a, b) => a + b, 0) / there.length : null;
}

// What the daemon says in its lists, from runs that are all here. Those of `repeats` that are still to come are open.
export function summed(runs: TaskSummary[], repeats: number): Configuration {
  const values = runs.map((t) => finite(t.best?.value)).filter((v): v is number => v !== null);
  const middle = mean(values);
  const squares = values.reduce((sum, v) => sum + (v - middle!) ** 2, 0);
  return {
    mean: middle,
    spread: values.length > 1 ? Math.sqrt(squares / (values.length - 1)) : null,
    repeats: values.length,
    open: runs.filter((t) => !over(t.state)).length + Math.max(0, repeats - runs.length),
    bad: runs.filter(
      (t) => t.beyond || (finite(t.best?.value) === null && (t.state === 'finished' || t.state === 'error')),
    ).length,
    first: runs.reduce((least, t) => Math.min(least, t.number), Number.POSITIVE_INFINITY),
  };
}

function values(runs: TaskSummary[]): TaskSummary['values'] {
  const names = [...new Set(runs.flatMap((t) => Object.keys(t.values ?? {})))];
  if (!names.length) return runs[0].values;
  const of = (name: string, which: 'best' | 'last') => mean(runs.map((t) => finite(own(t.values, name)?.[which])));
  return Object.fromEntries(
    names.map((name) => [name, { best: of(name, 'best'), last: of(name, 'last'), epoch: null }]),
  );
}

function pooled(runs: TaskSummary[], configuration: Configuration): Pooled {
  const away = (t: TaskSummary) => {
    const value = finite(t.best?.value);
    return value === null || configuration.mean === null
      ? Number.POSITIVE_INFINITY
      : Math.abs(value - configuration.mean);
  };
  const lead = runs.reduce((a, b) => (away(b) < away(a) ? b : a));
  const cost = Object.fromEntries(
    Object.entries(lead.cost).map(([key, value]) => [
      key,
      typeof value === 'number' ? mean(runs.map((t) => figureValue(t.cost, key))) : value,
    ]),
  ) as unknown as TaskSummary['cost'];
  return {
    ...lead,
    best: lead.best && configuration.mean !== null ? { ...lead.best, value: configuration.mean } : lead.best,
    state: STATES.find((state) => runs.some((t) => t.state === state)) ?? lead.state,
    values: values(runs),
    elapsed_s: mean(runs.map((t) => t.elapsed_s)),
    cost,
    beyond: runs.find((t) => t.beyond)?.beyond ?? null,
    stalled: runs.some((t) => t.stalled),
    star: runs.some((t) => t.star),
    tags: [...new Set(runs.flatMap((t) => t.tags ?? []))],
    runs,
    configuration,
  };
}

const rank = (c: Configuration) => (c.open ? 2 : 0) + (c.bad ? 1 : 0);

// The best first: those that are complete and ended well, then by the mean. As the daemon's lists.
function byMean(sign: number) {
  return (a: Pooled, b: Pooled) => {
    const [x, y] = [a.configuration, b.configuration];
    if (x.mean === null || y.mean === null)
      return Number(x.mean === null) - Number(y.mean === null) || x.first - y.first;
    return rank(x) - rank(y) || sign * (x.mean - y.mean) || x.first - y.first;
  };
}

export class Pool {
  tasks: Pooled[];
  private lead = new Map<number, Pooled>();

  // `complete`: every run is here, so that nothing has to be asked for; otherwise the daemon's figures count.
  constructor(runs: TaskSummary[], complete: boolean, repeats: number) {
    const groups = new Map<string, TaskSummary[]>();
    for (const task of runs) {
      const key = JSON.stringify(task.parameters);
      const group = groups.get(key);
      if (group) group.push(task);
      else groups.set(key, [task]);
    }
    this.tasks = [...groups.values()].map((group) =>
      pooled(group, (!complete && group.find((t) => t.configuration)?.configuration) || summed(group, repeats)),
    );
    for (const task of this.tasks) for (const run of task.runs) this.lead.set(run.number, task);
  }

  // The configuration of a run.
  of(number: number): Pooled | undefined {
    return this.lead.get(number);
  }

  leadOf = (id: string): string => String(this.lead.get(Number(id))?.number ?? id);

  // All runs of these, given by any of them.
  spread(of: Set<string> | null): Set<string> | null {
    if (!of) return null;
    return new Set([...of].flatMap((id) => this.lead.get(Number(id))?.runs.map((t) => String(t.number)) ?? [id]));
  }

  leads(of: Set<string> | null): Set<string> | null {
    return of && new Set([...of].map(this.leadOf));
  }

  // The configurations of these runs. By the best they stand by their means; by anything else where their first run
  // stands. `sorted`: they are in order already.
  order(runs: TaskSummary[], sort: string, sorted: boolean): Pooled[] {
    const by = sort.replace(/^-/, '');
    const all = (list: TaskSummary[]) => [
      ...new Set(list.map((t) => this.lead.get(t.number)).filter((t): t is Pooled => !!t)),
    ];
    if (sorted) return all(runs);
    return by === 'best' ? all(runs).sort(byMean(sort.startsWith('-') ? -1 : 1)) : all(order(runs, sort));
  }

  // As the daemon has it in the summary.
  best(max: boolean): Best | null {
    const found = this.tasks.filter((t) => t.configuration.mean !== null).sort(byMean(max ? -1 : 1))[0];
    if (!found) return null;
    const run = found.runs.find((t) => t.number === found.number)!;
    return {
      task: found.number,
      value: run.best!.value,
      epoch: run.best!.epoch,
      state: run.state,
      parameters: run.parameters as Values,
      mean: found.configuration.mean,
      spread: found.configuration.spread,
      repeats: found.configuration.repeats,
    };
  }
}
