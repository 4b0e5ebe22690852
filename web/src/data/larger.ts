// What to ask for after an end for want of memory or time: twice as much as the last time.
import { bytes, duration } from '../lib/format';
import type { Experiment, Task } from './types';

export interface Larger {
  // "32 GB", "4 h"
  label: string;
  // For POST /experiments/ID/search.
  resources: Record<string, string>;
}

const MB = 1 << 20;
const UNITS: Record<string, number> = { k: 1 / 1024, m: 1, g: 1024, t: 1024 * 1024 };
const SECONDS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86400 };

// "16G" in bytes; null where it is written in another way.
export function readBytes(text: unknown): number | null {
  const found = /^\s*(\d+(?:\.\d+)?)\s*([kmgt])(?:i?b)?\s*$/i.exec(String(text ?? ''));
  return found ? Number(found[1]) * UNITS[found[2].toLowerCase()] * MB : null;
}

// "1h30m", "90s" or "01:30:00" in seconds; null where it is written in another way.
export function readSeconds(text: unknown): number | null {
  const said = String(text ?? '').trim();
  const clock = /^(?:(\d+)-)?(\d+):(\d\d):(\d\d)$/.exec(said);
  if (clock) return Number(clock[1] ?? 0) * 86400 + Number(clock[2]) * 3600 + Number(clock[3]) * 60 + Number(clock[4]);
  if (!/^(\d+(\.\d+)?\s*[smhd]\s*)+$/i.test(said)) return null;
  let sum = 0;
  for (const part of said.matchAll(/(\d+(?:\.\d+)?)\s*([smhd])/gi))
    sum += Number(part[1]) * SECONDS[part[2].toLowerCase()];
  return sum;
}

function moreMemory(had: number | null): Larger | null {
  if (!had) return null;
  const mb = Math.ceil((had * 2) / MB);
  return { label: bytes(mb * MB), resources: { memory: mb % 1024 ? `${mb}M` : `${mb / 1024}G` } };
}

function moreTime(had: number | null): Larger | null {
  if (!had) return null;
  const minutes = Math.ceil((had * 2) / 60);
  return { label: duration(minutes * 60), resources: { time: minutes % 60 ? `${minutes}m` : `${minutes / 60}h` } };
}

// For a task that failed; null where more of something would not help, or it is not known how much it had.
export function largerFor(task: Task): Larger | null {
  const asked = task.attempts[task.attempts.length - 1]?.asked ?? null;
  if (task.state !== 'error') return null;
  if (task.cause?.kind === 'memory') return moreMemory(asked?.memory_bytes ?? task.cost.max_rss_bytes ?? null);
  if (task.cause?.kind === 'time') return moreTime(asked?.time_s ?? null);
  return null;
}

interface Written {
  resources?: Record<string, unknown>;
  retry?: Record<string, unknown>;
}

// What the last retry of a task had, where each asks for more than the one before.
function grown(written: Written, kind: 'memory' | 'time', first: number | null): number | null {
  const retry = written.retry?.[kind];
  const { times, factor } = (typeof retry === 'object' && retry ? retry : {}) as { times?: number; factor?: number };
  return first && factor ? first * factor ** (times ?? 1) : first;
}

// For all tasks of an experiment that failed for one of the two reasons.
export function largerForAll(e: Experiment, kind: 'memory' | 'time'): Larger | null {
  const written = e.spec as Written;
  const said = written.resources?.[kind];
  return kind === 'memory'
    ? moreMemory(grown(written, kind, readBytes(said)))
    : moreTime(grown(written, kind, readSeconds(said)));
}
