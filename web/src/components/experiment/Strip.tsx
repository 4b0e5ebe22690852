// The summary strip on top of an experiment.

import { useOutlook } from '../../data/left';
import { ranSeconds } from '../../data/ran';
import { now } from '../../data/store';
import type { Experiment, Left, Metric, TaskSummary } from '../../data/types';
import { ranHere } from '../../lib/columns';
import {
  count,
  duration,
  energy,
  finite,
  limitText,
  paramLine,
  plural,
  seconds,
  threeDigits,
  when,
} from '../../lib/format';
import { unticked } from '../../lib/text';
import { Repeats } from '../Repeats';
import { ended, Renumbered, StateBar, StateCounts } from '../State';

// What the daemon knows from the running tasks' own steps; else the mean time of what has ended, times what is left,
// over how many run at once. No more than that is known, and the line below the number says so. `estimate` is null
// where there is no estimate; `text` says why.
function remaining(
  e: Experiment,
  tasks: TaskSummary[],
  known: Left | null | undefined,
): { estimate: number | null; text: string; basis: string; title?: string } {
  const left = e.tasks.total - ended(e.tasks);
  if (!left) return { estimate: null, text: 'none', basis: 'every task has ended' };
  if (known)
    return {
      estimate: known.time_s,
      text: `≈ ${duration(known.time_s)}`,
      basis: 'by the steps of what runs',
      title: known.basis,
    };
  const times = tasks.filter((t) => t.state === 'finished' && t.elapsed_s !== null).map((t) => t.elapsed_s!);
  if (!times.length)
    return {
      estimate: null,
      text: 'no estimate yet',
      basis: e.tasks.finished ? 'no finished task has a time' : 'needs one finished task',
    };
  const mean = times.reduce((a, b) => a + b, 0) / times.length;
  const at = Math.max(1, Math.min(left, e.tasks.running || e.parallel));
  const running = tasks.filter((t) => t.state === 'running');
  const done = running.reduce((sum, t) => sum + Math.min(mean, ranSeconds(t) ?? 0), 0);
  const estimate = Math.max(0, left * mean - done) / at;
  return { estimate, text: `≈ ${duration(estimate)}`, basis: `mean of ${times.length} finished, ${at} at once` };
}

export function Strip({ e, tasks, format }: { e: Experiment; tasks: TaskSummary[]; format: (v: Metric) => string }) {
  const goal = e.objective[0];
  const active = e.state === 'running';
  const span = seconds(e.started, active ? now.value : (e.finished ?? now.value));
  const { left: known } = useOutlook(e.tasks.running > 0 ? `/experiments/${e.id}` : null);
  const left = remaining(e, tasks, known);
  const gpu = !!e.cost.gpu_s;
  // The best of the first objective, with the best that this task has of the others, each at its own step.
  const step = e.step_name || 'epoch';
  const bestTask = tasks.find((t) => t.number === e.best?.task);
  const counted = bestTask?.renumbered;
  // What was imported is a value without a curve.
  const at = bestTask && !ranHere(bestTask) ? null : (e.best?.epoch ?? null);
  const further = e.objective
    .map((o, i) => ({ o, value: finite(e.best?.values?.[i]), at: e.best?.epochs?.[i] ?? null }))
    .slice(1)
    .filter(() => e.best?.values)
    .map(({ o, value, at }) =>
      value === null
        ? `${o.metric} none`
        : `${o.metric} ${threeDigits(value)}${at === null || at === e.best?.epoch ? '' : ` at ${step} ${at}`}`,
    )
    .join(', ');
  const limits = e.limits?.map(limitText).join(', ');
  return (
    <div class="kpis">
      <div class="kpi first">
        <div class="label" title={limits}>
          Best {goal ? <bdi>{goal.metric}</bdi> : 'value'}
          {limits && (
            <span class="mute small">
              , <bdi>{limits}</bdi>
            </span>
          )}
        </div>
        {e.best ? (
          <>
            <div class="value" title={String(e.best.mean ?? e.best.value)}>
              {format(e.best.mean ?? e.best.value)}{' '}
              <small>
                <Repeats best={e.best} />
                <a href={`/e/${e.id}/${e.best.task}`}>#{e.best.task}</a>
              </small>
            </div>
            <div class="detail" title={paramLine(e.best.parameters, e.varying)}>
              {counted && at !== null && (
                <>
                  {step} {at}
                  <Renumbered why={counted} />,{' '}
                </>
              )}
              {[
                e.best.state === 'error' && (e.best.cause ? `failed: ${unticked(e.best.cause.text)}` : 'failed'),
                !counted && at !== null && `${step} ${at}`,
                further,
                paramLine(e.best.parameters, e.varying),
              ]
                .filter(Boolean)
                .join(', ')}
            </div>
          </>
        ) : (
          <>
            <div class="value quiet">{ended(e.tasks) < e.tasks.total ? 'none yet' : 'none'}</div>
            <div class="detail">
              {e.tasks.error && e.tasks.error === e.tasks.total
                ? 'every task failed'
                : tasks.some((t) => t.beyond)
                  ? 'no task within the limits so far'
                  : `no number for ${goal?.metric ?? 'the metric'} so far`}
            </div>
          </>
        )}
      </div>
      <div class="kpi wide">
        <div class="label between">
          <span>Progress</span>
          <span class="numeric">
            {count(ended(e.tasks))} of {plural(e.tasks.total, 'task')}
          </span>
        </div>
        <StateBar counts={e.tasks} />
        <StateCounts counts={e.tasks} words />
      </div>
      <div class="kpi">
        <div class="label">Elapsed</div>
        <div class={span === null ? 'value quiet' : 'value'}>{span === null ? 'not started' : duration(span)}</div>
        <div class="detail">
          {e.started ? `started ${when(e.started)}` : (e.note ?? `submitted ${when(e.created)}`)}
        </div>
      </div>
      <div class="kpi">
        <div class="label">Remaining</div>
        <div class={left.estimate === null ? 'value quiet' : 'value'}>{left.text}</div>
        <div class="detail" title={left.title}>
          {left.basis}
        </div>
      </div>
      <div class="kpi">
        <div class="label">{gpu ? 'GPU time' : 'CPU time'}</div>
        <div class={(gpu ? e.cost.gpu_s : e.cost.cpu_s) === null ? 'value quiet' : 'value'}>
          {gpu ? duration(e.cost.gpu_s) : e.cost.cpu_s === null ? 'not measured' : duration(e.cost.cpu_s)}
        </div>
        <div class="detail">
          {gpu && span
            ? `${(e.cost.gpu_s! / span).toFixed(1)} GPUs busy, mean`
            : active
              ? 'no GPU used so far'
              : 'no GPU used'}
        </div>
      </div>
      <div class="kpi">
        <div class="label">Energy</div>
        <div class={e.cost.energy_j === null ? 'value quiet' : 'value'}>{energy(e.cost.energy_j)}</div>
        <div class="detail">
          {e.cost.energy_j === null ? 'no meter on this backend' : (e.cost.energy_source ?? 'source not known')}
        </div>
      </div>
    </div>
  );
}
