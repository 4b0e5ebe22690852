// What a task has reached: every objective with its own epoch, and its place among the others.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { get } from '../../data/api';
import { ranSeconds } from '../../data/ran';
import type { Experiment, Task, TaskList, TaskSummary } from '../../data/types';
import { ranHere } from '../../lib/columns';
import { count, duration, finite, inFull, metric } from '../../lib/format';
import { Card } from '../Card';
import { KeyValues } from '../KeyValues';
import { Renumbered } from '../State';

const total = async (id: string, filter: string) =>
  (await get<TaskList>(`/experiments/${id}/tasks?limit=1&filter=${encodeURIComponent(filter)}`)).total;

// Of the tasks that pass a filter, those within the limits.
const within = (e: Experiment, filter: string) => total(e.id, `${filter}${e.limits ? ' and beyond = none' : ''}`);

// The place of the task by its best value; null: it has none, failed, is beyond a limit, or one value does not rank it.
function useRank(task: Task, e: Experiment): { place: number; of: number } | null {
  const rank = useSignal<{ place: number; of: number } | null>(null);
  const best = task.state === 'error' || task.beyond ? null : finite(task.best?.value);
  const one = e.objective.length === 1 && !((e.spec as { repeats?: number }).repeats ?? 0);
  const done = e.tasks.finished + e.tasks.error + e.tasks.stopped + e.tasks.pruned;
  useEffect(() => {
    let live = true;
    if (best === null || !one) {
      rank.value = null;
      return;
    }
    const better = `best ${e.objective[0].goal === 'max' ? '>' : '<'} ${best}`;
    Promise.all([within(e, better), within(e, 'best <= 1e308')])
      .then(([before, of]) => {
        if (live) rank.value = { place: before + 1, of };
      })
      .catch(() => {
        if (live) rank.value = null;
      });
    return () => {
      live = false;
    };
  }, [e.id, best, one, done]);
  return rank.value;
}

// The values of the objectives after the first.
function useFurther(task: Task, e: Experiment): TaskSummary['values'] {
  const values = useSignal<TaskSummary['values']>(undefined);
  const many = e.objective.length > 1;
  useEffect(() => {
    let live = true;
    if (!many) return;
    get<TaskList>(`/experiments/${e.id}/tasks?limit=1&metrics=*&filter=${encodeURIComponent(`#${task.number}`)}`)
      .then((page) => {
        if (live) values.value = page.items[0]?.values;
      })
      .catch(() => undefined);
    return () => {
      live = false;
    };
  }, [e.id, task.number, task.epoch, task.state, many]);
  return values.value;
}

export function Results({ task, e }: { task: Task; e: Experiment }) {
  const rank = useRank(task, e);
  const further = useFurther(task, e);
  const step = e.step_name || 'epoch';
  const none = task.finished ? 'none' : 'none yet';
  const ran = ranSeconds(task);
  const value = (number: number | string | null | undefined, epoch: number | null | undefined) =>
    number === null || number === undefined ? (
      none
    ) : (
      <>
        <b title={String(number)}>{metric(number as number)}</b>
        {ranHere(task) && epoch !== null && epoch !== undefined && (
          <span class="mute">
            {' '}
            at {step} {epoch}
            {task.renumbered && <Renumbered why={task.renumbered} />}
          </span>
        )}
      </>
    );
  return (
    <Card title="Results" id="results">
      <div class="body">
        <KeyValues
          rows={[
            [
              `Current ${step}`,
              task.epoch === null ? (
                none
              ) : (
                <>
                  {count(task.epoch)}
                  {task.epochs !== null && <span class="mute"> of {count(task.epochs)}</span>}
                </>
              ),
            ],
            ...e.objective.map((objective, i): [preact.ComponentChildren, preact.ComponentChildren] => [
              <>
                Best <bdi>{objective.metric}</bdi>
              </>,
              i === 0
                ? value(task.best?.value, task.best?.epoch)
                : value(further?.[objective.metric]?.best, further?.[objective.metric]?.epoch),
            ]),
            ...(task.beyond
              ? ([['Beyond a limit', <bdi key="beyond">{task.beyond}</bdi>]] as [string, preact.ComponentChildren][])
              : []),
            ...(rank
              ? ([
                  [
                    'Rank',
                    rank.place === 1 ? `best of ${count(rank.of)}` : `${count(rank.place)} of ${count(rank.of)}`,
                  ],
                ] as [string, string][])
              : []),
            [
              <>
                Last <bdi>{e.objective[0]?.metric ?? 'value'}</bdi>
              </>,
              task.last ? <span title={inFull(task.last.value)}>{metric(task.last.value)}</span> : none,
            ],
            [`Time per ${step}`, ran !== null && task.epoch ? duration(ran / task.epoch) : 'not known'],
          ]}
        />
      </div>
    </Card>
  );
}
