// Where the regions of a page are, and roughly what it looks like, in a form that does not depend on fonts: boxes of
// named regions with tolerances, and a grid of mean brightness. Pixels of another machine's fonts make no difference;
// a region that vanishes, moves, covers another or is empty does.
import { drawn } from './browser.mjs';

const GRID = { columns: 12, rows: 8 };
// A region may be so much wider or further right, in pixels and as a share of the window.
const ACROSS = { px: 12, share: 0.03 };
// Heights follow the lines of text, and with them what is below.
const DOWN = { px: 60, share: 0.3 };
// Of 255: the mean over all cells, and in one cell.
const BRIGHTNESS = { mean: 14, cell: 90 };

// Runs in the page: every region with its box. Cards have the id of their title, other regions their class.
function look() {
  const named = (el) =>
    el.getAttribute('aria-labelledby') ?? el.getAttribute('aria-label') ?? el.className.split(' ')[0] ?? el.tagName;
  const found = [...document.querySelectorAll('header.top, main h1, .kpis, main section, main aside, .table-wrap')];
  const seen = found.filter((el) => !el.closest('dialog') && !el.matches('.visually-hidden'));
  const boxes = {};
  const nodes = {};
  for (const el of seen) {
    const kind = el.tagName.toLowerCase();
    let name = `${kind}:${kind === 'h1' ? '' : named(el)}`;
    while (name in boxes) name += '+';
    const { x, y, width, height } = el.getBoundingClientRect();
    // The place on the page, not in the window.
    boxes[name] = [x + scrollX, y + scrollY, width, height].map(Math.round);
    nodes[name] = el;
  }
  // What covers another one, unless one is inside the other.
  const over = [];
  const names = Object.keys(boxes);
  for (const [i, a] of names.entries())
    for (const b of names.slice(i + 1)) {
      if (nodes[a].contains(nodes[b]) || nodes[b].contains(nodes[a])) continue;
      if (a === 'header:top' || b === 'header:top') continue;
      const [ax, ay, aw, ah] = boxes[a];
      const [bx, by, bw, bh] = boxes[b];
      const across = Math.min(ax + aw, bx + bw) - Math.max(ax, bx);
      const down = Math.min(ay + ah, by + bh) - Math.max(ay, by);
      if (across > 2 && down > 2) over.push(`${a} covers ${b} by ${across} x ${down} px`);
    }
  return { boxes, over };
}

// Runs in an empty page: mean brightness of each cell of a picture.
async function shade([picture, columns, rows]) {
  const image = new Image();
  image.src = picture;
  await image.decode();
  const canvas = new OffscreenCanvas(image.width, image.height);
  const paper = canvas.getContext('2d');
  paper.drawImage(image, 0, 0);
  const { data } = paper.getImageData(0, 0, image.width, image.height);
  const sum = new Array(columns * rows).fill(0);
  const count = new Array(columns * rows).fill(0);
  for (let y = 0; y < image.height; y += 2)
    for (let x = 0; x < image.width; x += 2) {
      const cell = Math.floor((y * rows) / image.height) * columns + Math.floor((x * columns) / image.width);
      const at = 4 * (y * image.width + x);
      sum[cell] += 0.3 * data[at] + 0.59 * data[at + 1] + 0.11 * data[at + 2];
      count[cell]++;
    }
  return sum.map((v, i) => Math.round(v / count[i]));
}

// Some parts come late or grow: the layout is taken when it is the same twice. `blank` is an empty page.
export async function layoutOf(page, blank) {
  let seen;
  for (let i = 0, last = null; i < 50; i++) {
    await drawn(page);
    seen = await page.evaluate(look);
    if (last === JSON.stringify(seen.boxes)) break;
    last = JSON.stringify(seen.boxes);
  }
  const shot = (await page.screenshot({ type: 'jpeg', quality: 60 })).toString('base64');
  const grid = await blank.evaluate(shade, [`data:image/jpeg;base64,${shot}`, GRID.columns, GRID.rows]);
  return { ...seen, grid };
}

const beyond = (now, was, { px, share }, of) => Math.abs(now - was) > Math.max(px, share * of);

// What is wrong with a layout, in words; `was` is the baseline.
export function differences(now, was, width) {
  const out = [...now.over];
  for (const name of Object.keys(was.boxes)) if (!now.boxes[name]) out.push(`${name} is gone`);
  for (const [name, box] of Object.entries(now.boxes)) {
    const before = was.boxes[name];
    if (!before) {
      out.push(`${name} is new`);
      continue;
    }
    if (box[2] < 1 || box[3] < 1) out.push(`${name} is empty`);
    if (beyond(box[0], before[0], ACROSS, width)) out.push(`${name} is at x ${box[0]}, was ${before[0]}`);
    if (beyond(box[2], before[2], ACROSS, width)) out.push(`${name} is ${box[2]} wide, was ${before[2]}`);
    if (beyond(box[3], before[3], DOWN, before[3])) out.push(`${name} is ${box[3]} high, was ${before[3]}`);
    if (box[0] + box[2] > width + 1) out.push(`${name} ends at ${box[0] + box[2]}, beyond the window`);
  }
  const apart = now.grid.map((v, i) => Math.abs(v - was.grid[i]));
  const mean = apart.reduce((a, b) => a + b, 0) / apart.length;
  if (mean > BRIGHTNESS.mean) out.push(`brightness differs by ${mean.toFixed(1)} in the mean`);
  const worst = Math.max(...apart);
  if (worst > BRIGHTNESS.cell) {
    const at = apart.indexOf(worst);
    const [column, row] = [at % GRID.columns, Math.floor(at / GRID.columns)];
    out.push(`brightness in column ${column} and row ${row} of the grid is ${now.grid[at]}, was ${was.grid[at]}`);
  }
  return out;
}
