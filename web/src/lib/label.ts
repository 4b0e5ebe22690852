// Where the words at a point of a curve stand: below the point, above it or beside it, where the curve itself does not
// pass behind them and nothing else is written.

export interface Area {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

type Spot = [number, number];

// The room that the dot of a labelled point takes.
export const dotBox = ([x, y]: Spot, unit: number): Area => ({
  left: x - 4 * unit,
  right: x + 4 * unit,
  top: y - 4 * unit,
  bottom: y + 4 * unit,
});

// Does the stretch from a to b touch the box? (Liang and Barsky)
export function crosses(a: Spot, b: Spot, box: Area): boolean {
  const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
  let [from, to] = [0, 1];
  for (const [p, q] of [
    [-dx, a[0] - box.left],
    [dx, box.right - a[0]],
    [-dy, a[1] - box.top],
    [dy, box.bottom - a[1]],
  ]) {
    if (p === 0 && q < 0) return false;
    if (p < 0) from = Math.max(from, q / p);
    if (p > 0) to = Math.min(to, q / p);
  }
  return from <= to;
}

const overlap = (a: Area, b: Area) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
// Words over words cannot be read; words over a curve hide a part of it.
const TAKEN = 1000;

// The middle and the baseline of words that are 2 * half wide; `unit` is a pixel of the style sheet. Adds the place to
// those that are taken.
export function labelPlace([x, y]: Spot, half: number, unit: number, area: Area, line: Spot[], taken: Area[]): Spot {
  const middle = Math.min(area.right - half, Math.max(area.left + half, x));
  const side = half + 9 * unit;
  const spots: Spot[] = [
    [middle, y + 18 * unit],
    [middle, y - 9 * unit],
    [x + side, y + 4 * unit],
    [x - side, y + 4 * unit],
    [x + side, y + 14 * unit],
    [x - side, y + 14 * unit],
    [x + side, y - 6 * unit],
    [x - side, y - 6 * unit],
    [middle, y + 34 * unit],
    [middle, y - 25 * unit],
  ];
  const boxOf = ([tx, ty]: Spot): Area => ({
    left: tx - half - 3 * unit,
    right: tx + half + 3 * unit,
    top: ty - 11 * unit,
    bottom: ty + 4 * unit,
  });
  const inside = spots.filter((spot) => {
    const box = boxOf(spot);
    return (
      box.top >= area.top - 10 * unit &&
      box.bottom <= area.bottom &&
      box.left >= area.left - 4 * unit &&
      box.right <= area.right + 4 * unit
    );
  });
  const hits = (spot: Spot) =>
    line.reduce((sum, to, i) => sum + (i && crosses(line[i - 1], to, boxOf(spot)) ? 1 : 0), 0) +
    TAKEN * taken.filter((box) => overlap(box, boxOf(spot))).length;
  let best: { spot: Spot; hits: number } | null = null;
  for (const spot of inside) {
    const found = hits(spot);
    if (!best || found < best.hits) best = { spot, hits: found };
    if (!found) break;
  }
  const chosen = best?.spot ?? spots[0];
  taken.push(boxOf(chosen));
  return chosen;
}
