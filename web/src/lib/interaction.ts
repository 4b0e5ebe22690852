// Do two parameters act together? The results are laid in the cells of a table of both parameters; a model with one
// number for each row and column is compared with the means of the cells. What the cells explain beyond it is the
// interaction: as a share of the variance, less what chance alone would explain (omega squared).
import type { Value } from '../data/types';

// Levels of a parameter: the choices where they are few, else as many parts with as many results each.
const LEVELS = 4;
// Results beyond the number of cells, without which nothing can be said.
const SPARE = 6;

export interface Pair {
  a: string;
  b: string;
  // Of the variance; 0 where chance explains as much. Null: too few results.
  share: number | null;
}

export function levelsOf(values: (Value | null | undefined)[]): { of: (number | null)[]; names: string[] } {
  const there = values.filter((v): v is Exclude<Value, null> => v !== null && v !== undefined);
  const distinct = [...new Set(there)].sort((a, b) =>
    typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b)),
  );
  if (distinct.length <= LEVELS || there.some((v) => typeof v !== 'number')) {
    const at = new Map(distinct.map((v, i) => [v, i]));
    return { of: values.map((v) => at.get(v as never) ?? null), names: distinct.map(String) };
  }
  const sorted = (there as number[]).sort((a, b) => a - b);
  const cuts = Array.from({ length: LEVELS - 1 }, (_, i) => sorted[Math.floor((sorted.length * (i + 1)) / LEVELS)]);
  const level = (v: number) => cuts.filter((cut) => v >= cut).length;
  return {
    of: values.map((v) => (typeof v === 'number' ? level(v) : null)),
    names: Array.from({ length: LEVELS }, (_, i) => {
      const low = i ? cuts[i - 1] : sorted[0];
      const high = i < LEVELS - 1 ? cuts[i] : sorted[sorted.length - 1];
      return `${Number(low.toPrecision(3))} to ${Number(high.toPrecision(3))}`;
    }),
  };
}

// Solves a symmetric system; a pivot of nothing means a level that another explains, which gets 0.
function solve(m: number[][], v: number[]): number[] {
  const n = v.length;
  const rows = m.map((row, i) => [...row, v[i]]);
  const used: number[] = [];
  for (let c = 0; c < n; c++) {
    let pivot = -1;
    for (let r = 0; r < n; r++)
      if (!used.includes(r) && (pivot < 0 || Math.abs(rows[r][c]) > Math.abs(rows[pivot][c]))) pivot = r;
    if (pivot < 0 || Math.abs(rows[pivot][c]) < 1e-9) continue;
    used[c] = pivot;
    for (let r = 0; r < n; r++) {
      if (r === pivot) continue;
      const by = rows[r][c] / rows[pivot][c];
      if (by) for (let k = c; k <= n; k++) rows[r][k] -= by * rows[pivot][k];
    }
  }
  return Array.from({ length: n }, (_, c) => (used[c] === undefined ? 0 : rows[used[c]][n] / rows[used[c]][c]));
}

// What is left of the variance after the best sum of a row's and a column's number.
function additive(a: number[], b: number[], y: number[], rows: number, columns: number): { rss: number; rank: number } {
  const size = 1 + (rows - 1) + (columns - 1);
  const features = (i: number) => {
    const f = [0];
    if (a[i]) f.push(a[i]);
    if (b[i]) f.push(rows - 1 + b[i]);
    return f;
  };
  const m = Array.from({ length: size }, () => new Array<number>(size).fill(0));
  const v = new Array<number>(size).fill(0);
  y.forEach((value, i) => {
    for (const p of features(i)) {
      v[p] += value;
      for (const q of features(i)) m[p][q] += 1;
    }
  });
  const fit = solve(m, v);
  const rss = y.reduce((sum, value, i) => sum + (value - features(i).reduce((s, p) => s + fit[p], 0)) ** 2, 0);
  return { rss, rank: m.filter((row, i) => row[i] > 0).length };
}

export function interaction(first: (Value | null)[], second: (Value | null)[], results: number[]): number | null {
  const [la, lb] = [levelsOf(first), levelsOf(second)];
  const kept = results.map((_, i) => i).filter((i) => la.of[i] !== null && lb.of[i] !== null);
  const a = kept.map((i) => la.of[i]!);
  const b = kept.map((i) => lb.of[i]!);
  const y = kept.map((i) => results[i]);
  const cells = new Map<number, number[]>();
  y.forEach((value, i) => {
    const cell = a[i] * LEVELS * 16 + b[i];
    cells.set(cell, [...(cells.get(cell) ?? []), value]);
  });
  const spare = y.length - cells.size;
  if (spare < SPARE || la.names.length < 2 || lb.names.length < 2) return null;
  const mean = y.reduce((s, v) => s + v, 0) / y.length;
  const total = y.reduce((s, v) => s + (v - mean) ** 2, 0);
  if (!(total > 0)) return null;
  let inside = 0;
  for (const cell of cells.values()) {
    const m = cell.reduce((s, v) => s + v, 0) / cell.length;
    inside += cell.reduce((s, v) => s + (v - m) ** 2, 0);
  }
  const sum = additive(a, b, y, la.names.length, lb.names.length);
  const freedom = cells.size - sum.rank;
  if (freedom < 1) return null;
  const noise = inside / spare;
  return Math.max(0, (sum.rss - inside - freedom * noise) / (total + noise));
}

// The ranks of results: one failed run of 1e9 must not be all of the variance.
export function ranks(values: number[]): number[] {
  const order = values.map((_, i) => i).sort((a, b) => values[a] - values[b]);
  const out = new Array<number>(values.length);
  for (let i = 0; i < order.length; ) {
    let j = i;
    while (j + 1 < order.length && values[order[j + 1]] === values[order[i]]) j++;
    for (let k = i; k <= j; k++) out[order[k]] = (i + j) / 2;
    i = j + 1;
  }
  return out;
}

export function pairsOf(parameters: Record<string, (Value | null)[]>, results: number[]): Pair[] {
  const names = Object.keys(parameters);
  const y = ranks(results);
  const out: Pair[] = [];
  names.forEach((a, i) => {
    for (const b of names.slice(i + 1)) out.push({ a, b, share: interaction(parameters[a], parameters[b], y) });
  });
  return out.sort((p, q) => (q.share ?? -1) - (p.share ?? -1));
}
