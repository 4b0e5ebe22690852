// What the backends offer and what is wrong with them, and the nodes. What of ours runs and waits has its own page.
import { Bar } from '../components/Bar';
import { Card } from '../components/Card';
import { Gpus } from '../components/cluster/Gpus';
import { Nodes } from '../components/cluster/Nodes';
import { Icon } from '../components/Icon';
import { KeyValues } from '../components/KeyValues';
import { Loading, Trouble } from '../components/notice';
import { Said } from '../components/Said';
import { useCluster } from '../data/cluster';
import type { Backend, BackendNodes, ClusterUse, Partition } from '../data/types';
import { bytes, count, duration, plural, when } from '../lib/format';
import { leftIn, type Ours, oursIn } from '../lib/places';
import { useTitle } from './Other';

const unknown = 'not known';

const freeText = (free: number | null | undefined, all: number) =>
  free === null || free === undefined ? count(all) : `${count(free)} of ${count(all)} free`;

function OursCell({ ours }: { ours: Ours }) {
  const words = [
    ours.running > 0 &&
      `${plural(ours.running, 'task')}${ours.more ? ' or more' : ''} run${ours.running === 1 && !ours.more ? 's' : ''}`,
    ours.waiting > 0 && `${plural(ours.waiting, 'task')} wait${ours.waiting === 1 ? 's' : ''}`,
    ours.start && `next ≈ ${when(ours.start)}`,
  ].filter(Boolean);
  return words.length ? <a href="/queue">{words.join(', ')}</a> : <span class="mute">none</span>;
}

function Partitions({
  list,
  name,
  groups,
  use,
}: {
  list: Partition[];
  name: string;
  groups: BackendNodes['groups'];
  use: ClusterUse | null;
}) {
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
            <th scope="col">Our tasks</th>
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
              <td class="wide" data-label="ours">
                <OursCell ours={oursIn(use, name, p)} />
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

function BackendCard({ backend, use }: { backend: Backend; use: ClusterUse | null }) {
  const running = (use?.running ?? []).filter((task) => task.backend === backend.name);
  const groups = use?.nodes.find((nodes) => nodes.backend === backend.name)?.groups ?? [];
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
          <bdi>
            <Said text={backend.text ?? ''} />
          </bdi>
        </div>
      )}
      {rows.length > 0 && (
        <div class="body facts">
          <KeyValues rows={rows} />
        </div>
      )}
      {backend.gpus && backend.gpus.length > 0 && <Gpus gpus={backend.gpus} running={running} />}
      {backend.partitions && backend.partitions.length > 0 && (
        <Partitions list={backend.partitions} name={backend.name} groups={groups} use={use} />
      )}
    </Card>
  );
}

export function ClusterPage() {
  useTitle('Cluster');
  const { cluster, use, error, examining, examine, look } = useCluster();
  const found = cluster?.findings ?? [];
  return (
    <>
      <div class="head center">
        <h1>Cluster</h1>
        <div class="btns">
          <a class="btn" href="/queue">
            <Icon name="clock" />
            Our tasks in the queue
          </a>
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
      <Trouble what="The state of the cluster" error={error} />
      {!cluster && !error && <Loading />}
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
                      <bdi>
                        <Said text={f.what} />
                      </bdi>
                      {f.fix && (
                        <span class="dim">
                          {' '}
                          <bdi>
                            <Said text={f.fix} />
                          </bdi>
                        </span>
                      )}
                    </span>
                  </li>
                ))}
              </ul>
            </div>
          </Card>
        )}
        {cluster?.backends.map((backend) => (
          <BackendCard key={backend.name} backend={backend} use={use} />
        ))}
        {use?.nodes.map((nodes) => (
          <Nodes key={nodes.backend} nodes={nodes} running={use.running} />
        ))}
      </div>
    </>
  );
}
