// Arithmetic of axes, shared by the canvas and the SVG charts.

// Ticks people would write on a logarithmic axis: 1, 1.5, 2, 3, 5, 7 where there is room, whole decades where not.
export function niceLog(min: number, max: number, most = 8): number[] {
  const sets = [[1, 1.5, 2, 3, 4, 5, 7], [1, 2, 3, 5], [1, 2, 5], [1]];
  const low = Math.floor(Math.log10(min));
  const high = Math.ceil(Math.log10(max));
  for (const set of sets) {
    const ticks: number[] = [];
    for (let power = low; power <= high; power++) {
      for (const m of set) {
        const tick = Number(`${m}e${power}`);
        if (tick >= min && tick <= max) ticks.push(tick);
      }
      if (ticks.length > 400) break;
    }
    if (ticks.length <= most && ticks.length >= 2) return ticks;
    if (set.length === 1 && ticks.length > most) {
      const every = Math.ceil(ticks.length / most);
      return ticks.filter((_, i) => i % every === 0);
    }
  }
  return niceLinear(min, max, 5);
}

export function niceLinear(min: number, max: number, about: number): number[] {
  const span = max - min;
  if (!(span > 0)) return [min];
  const rough = span / about;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= rough)!;
  const ticks: number[] = [];
  for (let i = Math.ceil(min / step); i * step <= max + step * 1e-9; i++)
    ticks.push(Number((i * step).toPrecision(12)) || 0); // never -0
  return ticks;
}

// The multiples of a step between two values. Rounding up to zero gives -0, which would be written so.
export function multiples(step: number, min: number, max: number): number[] {
  const out: number[] = [];
  for (let v = Math.ceil(min / step) * step || 0; v <= max; v += step) out.push(v);
  return out;
}

export function scaler(domain: [number, number], range: [number, number], log = false): (v: number) => number {
  const f = log ? Math.log : (v: number) => v;
  const a = f(domain[0]);
  const b = f(domain[1]) - a || 1;
  return (v) => range[0] + ((f(v) - a) / b) * (range[1] - range[0]);
}

// How far the pointer is from a curve, and the index of the curve's nearest point.
export function seriesDistance(
  xs: number[],
  ys: (number | null)[],
  xv: number,
  px: number,
  py: number,
  at: { x: (v: number) => number; y: (v: number) => number },
  log: boolean,
): { index: number; far: number } | null {
  if (!xs.length) return null;
  let low = 0;
  let high = xs.length - 1;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (xs[mid] < xv) low = mid + 1;
    else high = mid;
  }
  const ok = (i: number) => ys[i] !== null && ys[i] !== undefined && (!log || ys[i]! > 0);
  const before = Math.max(0, low - 1);
  const index = xv - xs[before] < xs[low] - xv ? before : low;
  if (!ok(index)) return null;
  let far = Math.hypot(at.x(xs[index]) - px, at.y(ys[index]!) - py);
  if (before !== low && ok(before) && ok(low) && xv >= xs[before] && xv <= xs[low]) {
    const ya = at.y(ys[before]!);
    const yb = at.y(ys[low]!);
    const share = (xv - xs[before]) / (xs[low] - xs[before]);
    far = Math.min(far, Math.abs(ya + (yb - ya) * share - py));
  }
  return { index, far };
}
