// What a partition has left, by what the cluster says of its nodes.
import type { BackendNodes, ClusterUse, Partition } from '../data/types';

type Group = BackendNodes['groups'][number];

// Nodes in these states take no further task, whatever is free on them.
const CLOSED: Group['state'][] = ['draining', 'drained', 'not responding', 'down', 'reserved'];

export interface Left {
  cpus: number;
  cpus_free: number;
  gpus: number;
  // null: the cluster does not say which GPUs are in use
  gpus_free: number | null;
}

// null: nothing is known of its nodes yet. A node of several partitions counts in each.
export function leftIn(groups: Group[], partition: string): Left | null {
  const there = groups.filter((group) => group.partitions.split(',').includes(partition));
  if (!there.length) return null;
  const left: Left = { cpus: 0, cpus_free: 0, gpus: 0, gpus_free: 0 };
  for (const group of there) {
    const open = !CLOSED.includes(group.state);
    left.cpus += group.cpus;
    left.gpus += group.gpus;
    if (open) left.cpus_free += Math.max(0, group.cpus - group.cpus_busy);
    if (group.gpus && group.gpus_busy === null) left.gpus_free = null;
    else if (open && left.gpus_free !== null) left.gpus_free += Math.max(0, group.gpus - (group.gpus_busy ?? 0));
  }
  return left;
}

// What of ours is in a partition. `start`: when the first of the waiting ones is expected to.
export interface Ours {
  running: number;
  // The list of what runs has an end: there may be more.
  more: boolean;
  waiting: number;
  start: string | null;
}

export function oursIn(use: ClusterUse | null, backend: string, partition: Partition): Ours {
  // A job that names no partition is in the default one, one that names several may start in each.
  const there = (row: { backend: string | null; partition: string | null }) =>
    row.backend === backend && (row.partition ? row.partition.split(',').includes(partition.name) : partition.default);
  const waiting = (use?.queued ?? []).filter(there);
  const starts = waiting.map((row) => row.expected_start).filter((time): time is string => !!time);
  return {
    running: (use?.running ?? []).filter(there).length,
    more: !!use && use.running.length < use.running_total,
    waiting: waiting.reduce((sum, row) => sum + row.tasks, 0),
    start: starts.sort()[0] ?? null,
  };
}
