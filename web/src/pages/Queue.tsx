// What of ours runs and waits: the slots of this machine and who has them, what is left in the partitions of a cluster,
// why tasks wait and when they may start.
import { Card } from '../components/Card';
import { Queue } from '../components/cluster/Queue';
import { Running } from '../components/cluster/Running';
import { Slots } from '../components/cluster/Slots';
import { Icon } from '../components/Icon';
import { Loading, Trouble } from '../components/notice';
import { useCluster } from '../data/cluster';
import type { Backend, ClusterUse } from '../data/types';
import { count, plural, when } from '../lib/format';
import { leftIn, oursIn } from '../lib/places';
import { useTitle } from './Other';

const free = (value: number | null | undefined, all: number) =>
  value === null || value === undefined ? 'not known' : `${count(value)} of ${count(all)}`;

function Partitions({ backend, use }: { backend: Backend; use: ClusterUse | null }) {
  const groups = use?.nodes.find((nodes) => nodes.backend === backend.name)?.groups ?? [];
  const rows = (backend.partitions ?? []).map((p) => ({
    p,
    left: leftIn(groups, p.name),
    ours: oursIn(use, backend.name, p),
  }));
  return (
    <Card
      title={`Partitions of ${backend.name}`}
      id={`partitions-${backend.name}`}
      class="clip"
      extra={
        <>
          <span class="grow" />
          <a class="small" href="/cluster">
            Nodes and limits
          </a>
        </>
      }
    >
      <div class="table-wrap">
        <table class="stacked">
          <thead>
            <tr>
              <th scope="col">Partition</th>
              <th scope="col" class="right">
                CPUs free
              </th>
              <th scope="col" class="right">
                GPUs free
              </th>
              <th scope="col" class="right">
                Ours running
              </th>
              <th scope="col" class="right">
                Ours waiting
              </th>
              <th scope="col">Next expected start</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ p, left, ours }) => (
              <tr key={p.name} data-row={p.name}>
                <td>
                  <b>{p.name}</b>
                  {p.default && (
                    <>
                      {' '}
                      <span class="tag">default</span>
                    </>
                  )}
                  {p.state !== 'up' && <span class="mute small"> {p.state}</span>}
                </td>
                <td class="right numeric" data-label="CPUs free">
                  {free(left?.cpus_free, p.cpus)}
                </td>
                <td class="right numeric" data-label="GPUs free">
                  {p.gpus ? (
                    <>
                      {free(left?.gpus_free, p.gpus)}
                      {p.gpu_type && <span class="mute small"> {p.gpu_type}</span>}
                    </>
                  ) : (
                    <span class="mute">none</span>
                  )}
                </td>
                <td class="right numeric" data-label="ours running">
                  {count(ours.running)}
                  {ours.more && <span class="mute small"> or more</span>}
                </td>
                <td class="right numeric" data-label="ours waiting">
                  {count(ours.waiting)}
                </td>
                <td data-label="next start">
                  {ours.start ? when(ours.start) : ours.waiting ? 'not known' : <span class="mute">nothing waits</span>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}

function sum(use: ClusterUse): string {
  const waiting = use.queued.reduce((all, row) => all + row.tasks, 0);
  return `${plural(use.running_total, 'task')} of yours ${use.running_total === 1 ? 'runs' : 'run'}, ${count(waiting)} ${waiting === 1 ? 'waits' : 'wait'}.`;
}

export function QueuePage() {
  useTitle('Queue');
  const { cluster, use, error, look } = useCluster(true);
  const part = !!use && use.running.length < use.running_total;
  const there = cluster?.backends.filter((backend) => backend.available) ?? [];
  const local = there.find((backend) => backend.name === 'local' && backend.cpus);
  const shared = !!local && !!use?.queued.some((row) => row.backend === 'local');
  return (
    <>
      <div class="head center">
        <div class="headline">
          <h1>Queue</h1>
          <p class="dim small" role="status">
            {use ? sum(use) : ''}
          </p>
        </div>
        <div class="btns">
          <button type="button" class="btn" onClick={look}>
            <Icon name="restart" />
            Refresh
          </button>
        </div>
      </div>
      <Trouble what="The queue" error={error} />
      {!use && !error && <Loading />}
      <div class="grid">
        {use && <Queue rows={use.queued} turns={shared} />}
        {there
          .filter((backend) => backend.partitions?.length)
          .map((backend) => (
            <Partitions key={backend.name} backend={backend} use={use} />
          ))}
        {local && use && (
          <Slots backend={local} running={use.running.filter((task) => task.backend === 'local')} part={part} />
        )}
        {use && (
          <Running
            tasks={use.running}
            total={use.running_total}
            local={use.running.every((task) => task.backend === 'local')}
          />
        )}
      </div>
    </>
  );
}
