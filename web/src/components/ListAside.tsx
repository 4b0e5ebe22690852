// Beside the list: what needs attention, what is free on the machine, and what was used.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { get } from '../data/api';
import type { Cluster, ExperimentSummary, TaskList } from '../data/types';
import { count, duration, energy, plural, when } from '../lib/format';
import { brief } from '../lib/text';
import { Bar } from './Bar';
import { Card } from './Card';
import { KeyValues } from './KeyValues';
import { StateIcon } from './State';

interface Item {
  key: string;
  href: string;
  text: string;
  where: string;
  time: string | null;
  state: 'error' | 'submitted';
}
// Causes are in the tasks, so a few failing experiments are asked for theirs; the rest are counted.
const ASKED = 4;
const SHOWN = 6;

async function causes(e: ExperimentSummary): Promise<Item[]> {
  const page = await get<TaskList>(`/experiments/${e.id}/tasks?state=error&sort=-number&limit=3`);
  const rows = page.items.map(
    (task): Item => ({
      key: task.id,
      href: `/e/${e.id}/${task.number}`,
      where: e.name,
      time: task.finished,
      state: 'error',
      text: `#${task.number} ${brief(task.cause?.tail ?? null) ?? task.cause?.text ?? task.reason ?? 'failed'}`,
    }),
  );
  if (page.total <= 2) return rows;
  return [
    {
      ...rows[0],
      key: e.id,
      href: `/e/${e.id}?state=error`,
      text: `${plural(page.total, 'task')} failed; ${rows[0].text}`,
    },
  ];
}

export function NeedsAttention({ items }: { items: ExperimentSummary[] }) {
  const found = useSignal<Item[]>([]);
  const failing = items
    .filter((e) => e.tasks.error > 0)
    .sort((a, b) => (b.created ?? '').localeCompare(a.created ?? ''));
  const stamp = failing
    .slice(0, ASKED)
    .map((e) => `${e.id}:${e.tasks.error}`)
    .join();
  useEffect(() => {
    let live = true;
    Promise.all(failing.slice(0, ASKED).map((e) => causes(e).catch(() => []))).then((all) => {
      if (live) found.value = all.flat();
    });
    return () => {
      live = false;
    };
  }, [stamp]);
  // Queued experiments need no attention.
  const waiting = items
    .filter((e) => e.note && !e.waiting_for && !e.paused)
    .map(
      (e): Item => ({
        key: `n${e.id}`,
        href: `/e/${e.id}`,
        text: e.note!,
        where: e.name,
        time: e.created,
        state: 'submitted',
      }),
    );
  const paused = items
    .filter((e) => e.paused && !e.finished)
    .map(
      (e): Item => ({
        key: `p${e.id}`,
        href: `/e/${e.id}`,
        text: `Paused: ${e.paused}`,
        where: e.name,
        time: e.created,
        state: 'error',
      }),
    );
  const all = [...paused, ...waiting, ...found.value].slice(0, SHOWN);
  return (
    <Card title="Needs attention" id="attention">
      <div class="body list">
        {all.map((item) => (
          <a key={item.key} href={item.href} class="attention">
            <StateIcon state={item.state} />
            <span class="what">
              <span class="cut">
                <bdi>{item.text}</bdi>
              </span>
              <span class="mute small cut">
                <bdi>{item.where}</bdi>
              </span>
            </span>
            <span class="mute small numeric nowrap">{when(item.time)}</span>
          </a>
        ))}
        {!all.length && <p class="mute small">Nothing. Failed and stuck tasks appear here.</p>}
        {failing.length > ASKED && (
          <a class="small" href="/?show=errors">
            All {failing.length} experiments with errors
          </a>
        )}
      </div>
    </Card>
  );
}

export function ClusterCard() {
  const cluster = useSignal<Cluster | null>(null);
  const asking = cluster.value?.backends.some((b) => b.asking) ?? false;
  useEffect(() => {
    const load = () => {
      get<Cluster>('/cluster')
        .then((got) => {
          cluster.value = got;
        })
        .catch(() => undefined);
    };
    load();
    const timer = setInterval(
      () => {
        if (document.visibilityState === 'visible') load();
      },
      asking ? 1000 : 60000,
    );
    return () => clearInterval(timer);
  }, [asking]);
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
        {cluster.value.backends.map((backend) =>
          backend.partitions?.length ? (
            backend.partitions.slice(0, 4).map((p) => (
              <div key={backend.name + p.name} class="use">
                <div class="line">
                  <span>
                    <b>{p.name}</b>{' '}
                    <span class="mute small">{p.gpu_type ?? (p.cpus ? `${count(p.cpus)} CPUs` : '')}</span>
                  </span>
                  <span class="numeric small">
                    {p.idle_nodes === null ? p.state : `${p.idle_nodes} of ${p.nodes} idle`}
                  </span>
                </div>
                {p.idle_nodes !== null && p.nodes > 0 && (
                  <Bar
                    meter
                    share={1 - p.idle_nodes / p.nodes}
                    label={`${p.name}: nodes in use`}
                    state={p.idle_nodes ? 'running' : 'stopped'}
                  />
                )}
              </div>
            ))
          ) : (
            <div key={backend.name} class="use">
              <div class="line">
                <b>{backend.name}</b>
                <span class="small mute">
                  {backend.asking ? 'being asked' : backend.available ? '' : 'not available'}
                </span>
              </div>
              {backend.cpus ? (
                <>
                  <Bar
                    meter
                    share={(backend.cpus_busy ?? 0) / backend.cpus}
                    label={`${backend.name}: CPUs in use`}
                    state="running"
                  />
                  <div class="mute small">{backend.text ?? `${backend.cpus} CPUs`}</div>
                </>
              ) : (
                <div class="mute small">{backend.text ?? ''}</div>
              )}
            </div>
          ),
        )}
      </div>
    </Card>
  );
}

export function Totals({ items }: { items: ExperimentSummary[] }) {
  const sum = (f: (e: ExperimentSummary) => number | null) => items.reduce((total, e) => total + (f(e) ?? 0), 0);
  const measured = items.filter((e) => e.cost.energy_j !== null).length;
  const gpu = sum((e) => e.cost.gpu_s);
  return (
    <Card title="In all" id="totals">
      <div class="body">
        <KeyValues
          rows={[
            ['Tasks finished', count(sum((e) => e.tasks.finished))],
            ['Tasks failed', count(sum((e) => e.tasks.error))],
            gpu ? ['GPU time', `${(gpu / 3600).toFixed(1)} h`] : ['CPU time', duration(sum((e) => e.cost.cpu_s))],
            [
              'Energy',
              measured ? (
                <>
                  {energy(sum((e) => e.cost.energy_j))}{' '}
                  <span class="mute small">
                    {measured} of {items.length} measured
                  </span>
                </>
              ) : (
                'not measured'
              ),
            ],
          ]}
        />
      </div>
    </Card>
  );
}
