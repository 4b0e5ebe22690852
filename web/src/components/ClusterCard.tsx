// Beside the list: where tasks run, what is free there, and which of ours wait for it.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { get } from '../data/api';
import type { Backend, Cluster, ClusterUse, Partition } from '../data/types';
import { count, plural, when } from '../lib/format';
import { leftIn, oursIn } from '../lib/places';
import { Bar } from './Bar';
import { Card } from './Card';
import { Said } from './Said';

// Partitions that are shown; the page of the cluster has all.
const SHOWN = 4;
const SECOND_MS = 2500;

function PartitionUse({ backend, partition, use }: { backend: Backend; partition: Partition; use: ClusterUse | null }) {
  const left = leftIn(use?.nodes.find((nodes) => nodes.backend === backend.name)?.groups ?? [], partition.name);
  const { waiting: tasks, start } = oursIn(use, backend.name, partition);
  const gpus = left && left.gpus > 0 && left.gpus_free !== null;
  const [free, all, what] = !left
    ? [partition.idle_nodes, partition.nodes, 'nodes']
    : gpus
      ? [left.gpus_free!, left.gpus, 'GPUs']
      : [left.cpus_free, left.cpus, 'CPUs'];
  return (
    <div class="use">
      <div class="line">
        <span>
          <b>{partition.name}</b> <span class="mute small">{partition.gpu_type ?? ''}</span>
        </span>
        <span class="numeric small">
          {partition.state !== 'up' || free === null
            ? partition.state
            : `${count(free)} of ${plural(all, what.slice(0, -1), what)} free`}
        </span>
      </div>
      {free !== null && all > 0 && (
        <Bar
          meter
          share={1 - free / all}
          label={`${partition.name}: ${what} in use`}
          state={free ? 'running' : 'stopped'}
        />
      )}
      {tasks > 0 && (
        <div class="line mute small">
          <span>
            {plural(tasks, 'task')} of yours {tasks === 1 ? 'waits' : 'wait'}
          </span>
          {start && <span class="numeric">≈ {when(start)}</span>}
        </div>
      )}
    </div>
  );
}

function BackendUse({ backend }: { backend: Backend }) {
  return (
    <div class="use">
      <div class="line">
        <b>{backend.name}</b>
        <span class="small mute numeric">
          {backend.asking
            ? 'being asked'
            : !backend.available
              ? 'not available'
              : backend.cpus
                ? `${count(backend.cpus - (backend.cpus_busy ?? 0))} of ${plural(backend.cpus, 'CPU')} free`
                : ''}
        </span>
      </div>
      {backend.cpus ? (
        <Bar
          meter
          share={(backend.cpus_busy ?? 0) / backend.cpus}
          label={`${backend.name}: CPUs in use`}
          state="running"
        />
      ) : null}
      <div class="mute small">
        <Said text={backend.text ?? ''} />
      </div>
    </div>
  );
}

export function ClusterCard() {
  const cluster = useSignal<Cluster | null>(null);
  const use = useSignal<ClusterUse | null>(null);
  const asking = cluster.value?.backends.some((b) => b.asking) ?? false;
  const nodes = use.value?.nodes.some((n) => n.asking && !n.time) ?? false;
  useEffect(() => {
    const load = async () => {
      try {
        cluster.value = await get<Cluster>('/cluster');
        // Of one machine that is all there is to know.
        if (cluster.value.backends.some((b) => b.partitions?.length)) use.value = await get<ClusterUse>('/cluster/use');
      } catch {
        // What was known stays; the page says elsewhere that the daemon does not answer.
      }
    };
    void load();
    // The daemon answers with what it knows and asks the cluster when that is old.
    const second = setTimeout(() => void load(), SECOND_MS);
    const timer = setInterval(
      () => {
        if (document.visibilityState === 'visible') void load();
      },
      asking || nodes ? 1000 : 60000,
    );
    return () => {
      clearInterval(timer);
      clearTimeout(second);
    };
  }, [asking, nodes]);
  if (!cluster.value) return null;
  return (
    <Card
      title="Where tasks run"
      id="where"
      extra={
        <>
          <span class="grow" />
          <a class="small" href="/cluster">
            Details
          </a>
        </>
      }
    >
      <div class="body grid">
        {cluster.value.backends.flatMap((backend) =>
          backend.partitions?.length
            ? backend.partitions
                .slice(0, SHOWN)
                .map((p) => (
                  <PartitionUse key={backend.name + p.name} backend={backend} partition={p} use={use.value} />
                ))
            : [<BackendUse key={backend.name} backend={backend} />],
        )}
      </div>
    </Card>
  );
}
