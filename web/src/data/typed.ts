// Values as they are typed into the form, read and written.
import type { Value } from './types';

export type Tree = Record<string, unknown>;
export const isTree = (value: unknown): value is Tree => !!value && typeof value === 'object' && !Array.isArray(value);

const NUMBER = /^[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$/;

// Written like numbers, but no number holds them as they are written: 007, 1e400. They stay texts, as for the daemon.
export const INEXACT = /^[-+]?(?:0\d+|(?:\d+\.?\d*|\.\d+)[eE][-+]?(?:309|3[1-9]\d|[4-9]\d\d|0*[1-9]\d{3,}))$/;
const whole = (text: string) => /^[-+]?\d+$/.test(text);

// The scalars of YAML's core schema; quotes keep a number a string.
export function scalar(text: string): Value {
  const t = text.trim();
  if (/^(["']).*\1$/.test(t) && t.length > 1) return t.slice(1, -1);
  if (INEXACT.test(t) || (whole(t) && !Number.isSafeInteger(Number(t)))) return t;
  if (NUMBER.test(t)) return Number(t);
  if (t === 'true') return true;
  if (t === 'false') return false;
  return t;
}

// The parts of "16, \"a,b\", [64, 64]": a comma inside quotes or brackets belongs to the value.
export function listParts(text: string): string[] {
  const parts: string[] = [];
  let part = '';
  let quote = '';
  let depth = 0;
  for (const c of text) {
    if (quote) quote = c === quote ? '' : quote;
    else if (c === '"' || (c === "'" && !part.trim())) quote = c;
    else if (c === '[') depth++;
    else if (c === ']' && depth) depth--;
    if (c === ',' && !quote && !depth) {
      parts.push(part);
      part = '';
    } else part += c;
  }
  return [...parts, part].map((one) => one.trim()).filter((one) => one !== '');
}

export function listValues(text: string): Value[] {
  return listParts(text).map(scalar);
}

// "optimizer=sgd and layers=2,3"; null where it is not that.
export function condition(text: string): Record<string, unknown> | null {
  const out: Record<string, unknown> = {};
  for (const part of text.split(/\s+and\s+/)) {
    const found = /^\s*([\w.-]+)\s*=\s*(.+?)\s*$/.exec(part);
    if (!found) return null;
    const values = listValues(found[2]);
    out[found[1]] = values.length === 1 ? values[0] : values;
  }
  return out;
}

// Quoted where it would be read as something else.
export const write = (value: unknown) =>
  typeof value === 'string' && (scalar(value) !== value || /^\[|^["']|,/.test(value) || value === '')
    ? `"${value}"`
    : String(value);
export const writeAll = (value: unknown) => (Array.isArray(value) ? value.map(write).join(',') : write(value));

export function writeCondition(when: unknown): string {
  return isTree(when)
    ? Object.entries(when)
        .map(([key, value]) => `${key}=${writeAll(value)}`)
        .join(' and ')
    : '';
}
