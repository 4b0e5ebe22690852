// Our tasks that run, where, and what they use.
import type { RunningTask } from '../../data/types';
import { bytes, count, duration } from '../../lib/format';
import { Card } from '../Card';
import { Stalled } from '../State';

const since = (time: string | null) => (time ? (Date.now() - Date.parse(time)) / 1000 : null);

export function TaskLink({ task }: { task: RunningTask }) {
  return <a href={`/e/${task.task}`}>{task.task}</a>;
}

// "97 %, 12 GB, 310 W": of one GPU; empty where nothing was measured.
function gpuWords(use: NonNullable<RunningTask['use']>['gpus'][number] | undefined): string {
  if (!use) return '';
  return [
    use.util_pct !== null && `${Math.round(use.util_pct)} %`,
    use.memory_bytes !== null && bytes(use.memory_bytes),
    use.power_w !== null && `${Math.round(use.power_w)} W`,
  ]
    .filter(Boolean)
    .join(', ');
}

// What a GPU of this machine does: the tasks that have it, with the newest sample of each.
export function gpuUsers(tasks: RunningTask[], id: string): { task: RunningTask; words: string }[] {
  return tasks.flatMap((task) => {
    const at = task.gpus?.split(',').indexOf(id) ?? -1;
    return at < 0 ? [] : [{ task, words: gpuWords(task.use?.gpus[at]) }];
  });
}

function Cpu({ task }: { task: RunningTask }) {
  const used = task.use?.cpu_cores;
  if (used === null || used === undefined) return <>{count(task.cpus)}</>;
  return (
    <>
      {used.toFixed(1)}
      <span class="mute"> of {count(task.cpus)}</span>
    </>
  );
}

function Memory({ task }: { task: RunningTask }) {
  const used = task.use?.memory_bytes;
  if (used === null || used === undefined) return <>{task.memory_bytes ? bytes(task.memory_bytes) : 'not measured'}</>;
  return (
    <>
      {bytes(used)}
      {task.memory_bytes !== null && <span class="mute"> of {bytes(task.memory_bytes)}</span>}
    </>
  );
}

function Gpus({ task }: { task: RunningTask }) {
  const ids = task.gpus ? task.gpus.split(',') : [];
  if (!ids.length) return <span class="mute">none</span>;
  return (
    <>
      {ids.map((id, i) => {
        const words = gpuWords(task.use?.gpus[i]);
        return (
          <span key={id}>
            {i > 0 && '; '}
            {id}
            {words && <span class="mute small"> {words}</span>}
          </span>
        );
      })}
    </>
  );
}

export function Running({ tasks, total, local }: { tasks: RunningTask[]; total: number; local: boolean }) {
  return (
    <Card
      title="Running tasks"
      id="running"
      class="clip"
      extra={
        <span class="mute small">
          {tasks.length < total ? `${count(tasks.length)} of ${count(total)}` : count(total)}
        </span>
      }
    >
      {tasks.length === 0 ? (
        <div class="body mute">Nothing of yours runs now.</div>
      ) : (
        <div class="table-wrap">
          <table class="stacked">
            <thead>
              <tr>
                <th scope="col">Task</th>
                <th scope="col">Experiment</th>
                {!local && <th scope="col">Node</th>}
                {!local && <th scope="col">Job</th>}
                <th scope="col" class="right">
                  CPUs
                </th>
                <th scope="col" class="right">
                  Memory
                </th>
                <th scope="col">GPUs</th>
                <th scope="col" class="right">
                  Runs for
                </th>
              </tr>
            </thead>
            <tbody>
              {tasks.map((task) => (
                <tr key={task.task} data-row={task.task}>
                  <td>
                    <TaskLink task={task} />
                    {task.stalled && ' '}
                    {task.stalled && <Stalled />}
                  </td>
                  <td class="wide reason">
                    <bdi>{task.name}</bdi>
                  </td>
                  {!local && (
                    <td data-label="node">{task.backend === 'local' ? 'this machine' : (task.node ?? '–')}</td>
                  )}
                  {!local && (
                    <td data-label="job" class="numeric">
                      {task.job ?? '–'}
                    </td>
                  )}
                  <td class="right numeric" data-label="CPUs">
                    <Cpu task={task} />
                  </td>
                  <td class="right numeric" data-label="memory">
                    <Memory task={task} />
                  </td>
                  <td data-label="GPUs">
                    <Gpus task={task} />
                  </td>
                  <td class="right numeric" data-label="for">
                    {duration(since(task.started))}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Card>
  );
}
