// The GPUs of this machine, each with the tasks that have it.
import type { Gpu, RunningTask } from '../../data/types';
import { bytes } from '../../lib/format';
import { gpuUsers, TaskLink } from './Running';

// What is left of one that tasks share.
const rest = (gpu: Gpu) => {
  const free = 1 - (gpu.used ?? (gpu.busy ? 1 : 0));
  return free > 0.005 && free < 1 ? `${Math.round(free * 100)} % free` : '';
};

export function Gpus({ gpus, running }: { gpus: Gpu[]; running: RunningTask[] }) {
  return (
    <div class="table-wrap">
      <table class="stacked">
        <thead>
          <tr>
            <th scope="col">GPU</th>
            <th scope="col">Name</th>
            <th scope="col" class="right">
              Memory
            </th>
            <th scope="col">Used by</th>
          </tr>
        </thead>
        <tbody>
          {gpus.map((gpu) => (
            <tr key={gpu.id}>
              <td data-label="GPU">{gpu.index}</td>
              <td class="right-phone">{gpu.name}</td>
              <td class="right" data-label="memory">
                {bytes(gpu.memory_bytes)}
              </td>
              <td class="right-phone">
                {gpuUsers(running, gpu.id).map(({ task, words }) => (
                  <div key={task.task} class="used-by">
                    <TaskLink task={task} />
                    {words && <span class="mute small"> {words}</span>}
                  </div>
                ))}
                {!gpuUsers(running, gpu.id).length && (gpu.busy ? 'a task that starts or ends' : 'free')}
                {rest(gpu) && <div class="mute small">{rest(gpu)}</div>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
