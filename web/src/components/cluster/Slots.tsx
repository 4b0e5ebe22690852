// The slots of this machine: which experiments have how much of it, and what is free.
import type { Backend, RunningTask } from '../../data/types';
import { hue } from '../../lib/colour';
import { bytes, count, plural } from '../../lib/format';
import { theme } from '../../lib/theme';
import { Card } from '../Card';
import { Gpus } from './Gpus';
import { TaskLink } from './Running';

// Tasks that are named in a row.
const TASKS = 8;

interface User {
  id: string;
  name: string;
  css: string;
  tasks: RunningTask[];
  cpus: number;
  memory: number;
}

function usersOf(running: RunningTask[]): User[] {
  const users = new Map<string, User>();
  for (const task of running) {
    const id = task.task.split('/')[0];
    const user = users.get(id) ?? { id, name: task.name, css: hue(users.size), tasks: [], cpus: 0, memory: 0 };
    user.tasks.push(task);
    user.cpus += task.cpus;
    user.memory += task.memory_bytes ?? 0;
    users.set(id, user);
  }
  return [...users.values()];
}

function Names({ tasks }: { tasks: RunningTask[] }) {
  return (
    <>
      {tasks.slice(0, TASKS).map((task, i) => (
        <span key={task.task}>
          {i > 0 && ', '}
          <TaskLink task={task} />
        </span>
      ))}
      {tasks.length > TASKS && <span class="mute small"> and {count(tasks.length - TASKS)} more</span>}
    </>
  );
}

// `running`: of this machine; `total`: how many run in all, of which `running` may be only a part.
export function Slots({ backend, running, part }: { backend: Backend; running: RunningTask[]; part: boolean }) {
  void theme.value; // the colours are of the theme
  const cpus = backend.cpus ?? 0;
  const users = usersOf(running);
  const had = users.reduce((sum, user) => sum + user.cpus, 0);
  // What is on its way in or out has a slot, too.
  const other = Math.max(0, (backend.cpus_busy ?? had) - had);
  const free = Math.max(0, cpus - had - other);
  const memory = (backend.memory_bytes ?? 0) - (backend.memory_busy_bytes ?? 0);
  const asked = users.some((user) => user.memory > 0);
  const said = [
    ...users.map((user) => `${user.id} has ${user.cpus}`),
    ...(other ? [`${other} of tasks that start or end`] : []),
    `${free} free`,
  ].join(', ');
  return (
    <Card
      title="Slots of this machine"
      id={`slots-${backend.name}`}
      class="clip"
      extra={
        <span class="mute small numeric">
          {count(free)} of {plural(cpus, 'CPU')} free
        </span>
      }
    >
      <div class="body">
        <div class="stack slots" role="img" aria-label={`${plural(cpus, 'CPU')}: ${said}`}>
          {users.map((user) => (
            <i key={user.id} style={{ flex: user.cpus, background: user.css }} />
          ))}
          {other > 0 && <i class="bg-submitted" style={{ flex: other }} />}
          {free > 0 && <i style={{ flex: free }} />}
        </div>
      </div>
      <div class="table-wrap">
        <table class="stacked">
          <thead>
            <tr>
              <th scope="col">Used by</th>
              <th scope="col" class="right">
                CPUs
              </th>
              {asked && (
                <th scope="col" class="right">
                  Memory asked for
                </th>
              )}
              <th scope="col">Running tasks</th>
            </tr>
          </thead>
          <tbody>
            {users.map((user) => (
              <tr key={user.id} data-row={user.id}>
                <td class="reason">
                  <a href={`/e/${user.id}`}>
                    <i class="swatch" style={{ background: user.css }} /> {user.id} <bdi>{user.name}</bdi>
                  </a>
                </td>
                <td class="right numeric" data-label="CPUs">
                  {count(user.cpus)}
                </td>
                {asked && (
                  <td class="right numeric" data-label="memory">
                    {user.memory ? bytes(user.memory) : <span class="mute">none</span>}
                  </td>
                )}
                <td class="wide reason">
                  <Names tasks={user.tasks} />
                </td>
              </tr>
            ))}
            {other > 0 && (
              <tr data-row="other">
                <td class="mute">{part ? 'Other tasks' : 'Tasks that start or end'}</td>
                <td class="right numeric" data-label="CPUs">
                  {count(other)}
                </td>
                {asked && <td class="hide-phone" />}
                <td class="hide-phone" />
              </tr>
            )}
            <tr data-row="free">
              <td>{free || !users.length ? 'Free' : <span class="mute">Free</span>}</td>
              <td class="right numeric" data-label="CPUs">
                {count(free)}
              </td>
              {asked && (
                <td class="right numeric" data-label="memory">
                  {backend.memory_bytes ? bytes(Math.max(0, memory)) : 'not known'}
                </td>
              )}
              <td class="hide-phone" />
            </tr>
          </tbody>
        </table>
      </div>
      {backend.gpus && backend.gpus.length > 0 && <Gpus gpus={backend.gpus} running={running} />}
    </Card>
  );
}
