// What a partition has left, by what the cluster says of its nodes.
import type { BackendNodes } from '../data/types';

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
