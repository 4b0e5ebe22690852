// What the backends offer and what is wrong with them; what of ours runs and waits there; the nodes.
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { Bar } from '../components/Bar';
import { Card } from '../components/Card';
import { Nodes } from '../components/cluster/Nodes';
import { Queue } from '../components/cluster/Queue';
import { gpuUsers, Running, TaskLink } from '../components/cluster/Running';
import { Icon } from '../components/Icon';
import { KeyValues } from '../components/KeyValues';
import { Loading, Trouble } from '../components/notice';
import { get, message, post } from '../data/api';
import type { Backend, BackendNodes, Cluster, ClusterUse, Partition, RunningTask } from '../data/types';
import { bytes, count, duration } from '../lib/format';
import { leftIn } from '../lib/places';
import { useTitle } from './Other';

const unknown = 'not known';

const freeText = (free: number | null | undefined, all: number) =>
  free === null || free === undefined ? count(all) : `${count(free)} of ${count(all)} free`;

function Partitions({ list, name, groups }: { list: Partition[]; name: string; groups: BackendNodes['groups'] }) {
  const left = new Map(list.map((p) => [p.name, leftIn(groups, p.name)]));
  return (
    <div class="table-wrap">
      <table class="stacked">
        <thead>
          <tr>
            <th scope="col">Partition</th>
            <th scope="col">State</th>
            <th scope="col">Nodes in use</th>
            <th scope="col" class="right">
              CPUs
            </th>
            <th scope="col" class="right">
              GPUs
            </th>
            <th scope="col">GPU type</th>
            <th scope="col" class="right">
              Memory a node
            </th>
            <th scope="col" class="right">
              Time limit
            </th>
          </tr>
        </thead>
        <tbody>
          {list.map((p) => (
            <tr key={p.name} data-row={`${name}/${p.name}`}>
              <td>
                <b>{p.name}</b>
                {p.default && (
                  <>
                    {' '}
                    <span class="tag">default</span>
                  </>
                )}
              </td>
              <td class="right-phone">
                <span class={`state ${p.state === 'up' ? 'finished' : 'stopped'}`}>
                  <Icon name={p.state === 'up' ? 'check' : 'alert'} />
                  {p.state}
                </span>
              </td>
              <td class="wide">
                {p.idle_nodes === null ? (
                  unknown
                ) : (
                  <span class="progress">
                    <Bar
                      meter
                      share={p.nodes ? 1 - p.idle_nodes / p.nodes : 0}
                      label={`${p.name}: nodes in use`}
                      state={p.idle_nodes ? 'running' : 'stopped'}
                    />
                    <span class="small numeric">
                      {p.nodes - p.idle_nodes} of {p.nodes}
                    </span>
                  </span>
                )}
              </td>
              <td class="right" data-label="CPUs">
                {p.cpus === null ? unknown : freeText(left.get(p.name)?.cpus_free, p.cpus)}
              </td>
              <td class="right" data-label="GPUs">
                {p.gpus === null ? unknown : p.gpus ? freeText(left.get(p.name)?.gpus_free, p.gpus) : 'none'}
                {!!p.gpus && p.gpus_per_node > 0 && <span class="mute small"> {p.gpus_per_node} a node</span>}
              </td>
              <td data-label="type">{p.gpu_type ?? (p.gpus ? unknown : 'none')}</td>
              <td class="right" data-label="memory">
                {p.memory_bytes === null ? unknown : bytes(p.memory_bytes)}
              </td>
              <td class="right" data-label="limit">
                {p.time_limit_s === null ? 'no limit' : duration(p.time_limit_s)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function facts(backend: Backend): [string, preact.ComponentChildren][] {
  const rows: [string, preact.ComponentChildren][] = [];
  if (backend.asking) return rows; // nothing is known yet, which is not the same as "no"
  if (backend.cpus)
    rows.push([
      'CPUs',
      backend.cpus_busy === null || backend.cpus_busy === undefined
        ? count(backend.cpus)
        : `${backend.cpus_busy} of ${backend.cpus} busy`,
    ]);
  if (backend.memory_bytes) rows.push(['Memory', bytes(backend.memory_bytes)]);
  if (backend.name === 'local') rows.push(['GPUs', backend.gpus?.length ? count(backend.gpus.length) : 'none']);
  if (backend.cluster) rows.push(['Cluster', backend.cluster]);
  if (backend.version) rows.push(['Version', backend.version]);
  if (backend.controller) rows.push(['Controller', backend.controller]);
  if (backend.accounting !== undefined)
    rows.push(['Accounting', backend.accounting ? 'yes' : 'no: run times come from the nodes themselves']);
  if (backend.energy !== undefined) rows.push(['Energy', backend.energy ? 'measured' : 'not measured']);
  if (backend.limits) {
    const { array_size, submitted_jobs, default_account } = backend.limits;
    rows.push([
      'Limits',
      [
        array_size && `${count(array_size)} tasks a job array`,
        submitted_jobs ? `${count(submitted_jobs)} jobs in the queue` : 'no known limit on jobs in the queue',
      ]
        .filter(Boolean)
        .join(', '),
    ]);
    rows.push(['Default account', default_account ?? unknown]);
  }
  return rows;
}

function BackendCard({
  backend,
  running,
  groups,
}: {
  backend: Backend;
  running: RunningTask[];
  groups: BackendNodes['groups'];
}) {
  const rows = facts(backend);
  const [state, icon, word] = backend.asking
    ? (['submitted', 'clock', 'being asked'] as const)
    : backend.available
      ? (['finished', 'check', 'available'] as const)
      : (['stopped', 'alert', 'not available'] as const);
  return (
    <Card
      title={backend.name}
      id={`b-${backend.name}`}
      class="clip"
      extra={
        <span class={`state ${state}`}>
          <Icon name={icon} />
          {word}
        </span>
      }
    >
      {!backend.available && (
        <div class="body">
          <bdi>{backend.text}</bdi>
        </div>
      )}
      {rows.length > 0 && (
        <div class="body facts">
          <KeyValues rows={rows} />
        </div>
      )}
      {backend.gpus && backend.gpus.length > 0 && (
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
              {backend.gpus.map((gpu) => (
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
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {backend.partitions && backend.partitions.length > 0 && (
        <Partitions list={backend.partitions} name={backend.name} groups={groups} />
      )}
    </Card>
  );
}

export function ClusterPage() {
  useTitle('Cluster');
  const cluster = useSignal<Cluster | null>(null);
  const use = useSignal<ClusterUse | null>(null);
  const error = useSignal<string | null>(null);
  const useError = useSignal<string | null>(null);
  const loadUse = async () => {
    try {
      use.value = await get<ClusterUse>('/cluster/use');
      useError.value = null;
    } catch (problem) {
      useError.value = message(problem);
    }
  };
  // What was asked for before the question whose answer is shown is old. Questions may overlap: the newest one counts.
  const asked = useRef(0);
  const shown = useRef(0);
  const load = async () => {
    const mine = ++asked.current;
    try {
      const got = await get<Cluster>('/cluster');
      if (mine > shown.current) {
        shown.current = mine;
        cluster.value = got;
      }
      error.value = null;
    } catch (problem) {
      error.value = message(problem);
    }
  };
  const examine = async () => {
    try {
      cluster.value = await post<Cluster>('/cluster/examine');
      shown.current = asked.current;
      error.value = null;
    } catch (problem) {
      error.value = message(problem);
    }
  };
  const examining = cluster.value?.examining ?? false;
  const soon = examining || (cluster.value?.backends.some((b) => b.asking) ?? false);
  const first = use.value?.nodes.some((n) => n.asking && !n.time) ?? false;
  // The daemon answers with what it knows and asks the cluster when that is old, so a second look soon has the news.
  const second = useRef<ReturnType<typeof setTimeout>>(undefined);
  const look = () => {
    void load();
    void loadUse();
    clearTimeout(second.current);
    second.current = setTimeout(() => void Promise.all([load(), loadUse()]), 2500);
  };
  useEffect(() => {
    look();
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') void load();
    }, 30000);
    return () => {
      clearTimeout(second.current);
      clearInterval(timer);
    };
  }, []);
  // What runs changes more often. The daemon asks the cluster for its nodes at most every 30 s.
  useEffect(() => {
    const timer = setInterval(
      () => {
        if (document.visibilityState === 'visible') void loadUse();
      },
      first ? 1000 : 5000,
    );
    return () => clearInterval(timer);
  }, [first]);
  // The test job takes a few seconds, or as long as the queue is: its findings come with the picture. So does the
  // first answer of a backend after the daemon's start.
  useEffect(() => {
    if (!soon) return undefined;
    const timer = setInterval(() => void load(), 1000);
    return () => clearInterval(timer);
  }, [soon]);
  const found = cluster.value?.findings ?? [];
  return (
    <>
      <div class="head center">
        <h1>Cluster</h1>
        <div class="btns">
          <button type="button" class="btn" onClick={look}>
            <Icon name="restart" />
            Refresh
          </button>
          <button
            type="button"
            class="btn"
            disabled={examining}
            onClick={() => void examine()}
            title="Runs the checks of sluice doctor; on a cluster, with a test job of one second"
          >
            {examining ? 'Running diagnostics…' : 'Run diagnostics'}
          </button>
        </div>
      </div>
      <Trouble what="The state of the cluster" error={error.value ?? useError.value} />
      {!cluster.value && !error.value && <Loading />}
      <div class="grid">
        {found.length > 0 && (
          <Card title="Findings" id="findings">
            <div class="body">
              <ul class="checks">
                {found.map((f, i) => (
                  <li key={i} class={f.level === 'ok' ? 'ok' : f.level === 'error' ? 'failure' : 'caution'}>
                    <Icon name={f.level === 'ok' ? 'check' : 'alert'} />
                    <span>
                      <span class="visually-hidden">{f.level}: </span>
                      <bdi>{f.what}</bdi>
                      {f.fix && (
                        <span class="dim">
                          {' '}
                          <bdi>{f.fix}</bdi>
                        </span>
                      )}
                    </span>
                  </li>
                ))}
              </ul>
            </div>
          </Card>
        )}
        {cluster.value?.backends.map((backend) => (
          <BackendCard
            key={backend.name}
            backend={backend}
            running={(use.value?.running ?? []).filter((task) => task.backend === backend.name)}
            groups={use.value?.nodes.find((nodes) => nodes.backend === backend.name)?.groups ?? []}
          />
        ))}
        {use.value && (
          <>
            <Running
              tasks={use.value.running}
              total={use.value.running_total}
              local={use.value.running.every((task) => task.backend === 'local')}
            />
            <Queue rows={use.value.queued} />
            {use.value.nodes.map((nodes) => (
              <Nodes key={nodes.backend} nodes={nodes} running={use.value!.running} />
            ))}
          </>
        )}
      </div>
    </>
  );
}
