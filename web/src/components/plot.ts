// Curves on a canvas: hundreds of them come and go while training runs. The highlighted line is drawn on a second
// canvas, so following the mouse never redraws the crowd.

import { type Area, dotBox, labelPlace } from '../lib/label';
import { seriesDistance } from '../lib/scale';
import { aside } from '../lib/spread';
import { token } from '../lib/theme';
import { FONT, Frame } from './frame';

export interface PlotLine {
  // What it belongs to: lines with one id are highlighted together.
  id: string;
  // Its own name where several lines have one id.
  key?: string;
  label: string;
  // The metric, where a chart has several.
  name?: string;
  x: number[];
  y: (number | null)[];
  // Where a value was written that is no number (NaN, infinity): marked at the bottom.
  nan?: number[];
  // The values where y is a smoothed course of them.
  raw?: (number | null)[];
  css: string;
  end: 'dot' | 'cross' | null;
  strong?: boolean;
  dash?: boolean;
  // One of many points that are curves of their own.
  lone?: boolean;
  // How far off it may be, at each of its points: painted around it.
  band?: number[];
  // Where the label of a strong line stands: its best point.
  mark?: { x: number; y: number; text: string } | null;
}

export interface PlotOptions {
  height: number;
  log: boolean;
  xLabel: string;
  // What the curves are of; only a picture that leaves the page needs it.
  yLabel?: string;
  xFormat?: (x: number) => string;
  onHover: (id: string | null, index: number, key: string | null) => void;
  onPick?: (id: string) => void;
  // The user asked for this range; the owner calls setZoom.
  onZoom: (range: [number, number] | null) => void;
}

export const keyOf = (line: PlotLine) => line.key ?? line.id;

// Above this many lines each is one device pixel wide: two cost six times as much.
const CROWD = 60;
const NEAR_PX = 28;
// Curves of one point each, where there are more than this, lie beside each other on both sides of their place, as far
// apart as this share of the distance between two places.
const LONE = 12;
const LONE_SHARE = 0.35;
// How high the mark of a value is that is no number.
const NAN_PX = 7;
// A click must be nearer to a line than the pointer that shows its value.
const PICK_PX = 10;
const TOKENS = {
  surface: '--surface',
  axis: '--axis',
  grid: '--grid',
  border: '--border-2',
  error: '--st-err',
  text: '--text',
};

// Tasks of one value each are points, of which most would lie on each other.
function besides(lines: PlotLine[]): PlotLine[] {
  if (lines.length <= LONE || lines.some((line) => line.x.length !== 1)) return lines;
  const places = [...new Set(lines.map((line) => line.x[0]))].sort((a, b) => a - b);
  const apart = places
    .slice(1)
    .reduce((least, x, i) => Math.min(least, x - places[i]), places.length > 1 ? Infinity : 1);
  return lines.map((line) => {
    const by = aside(Number(line.id) || 0) * apart * LONE_SHARE;
    return { ...line, x: [line.x[0] + by], mark: line.mark && { ...line.mark, x: line.mark.x + by }, lone: true };
  });
}

export class Plot {
  private frame: Frame;
  private lines: PlotLine[] = [];
  private zoom: [number, number] | null = null;
  private over: HTMLCanvasElement;
  private hot: string | null = null;
  private far = Number.POSITIVE_INFINITY;
  private shownIds: Set<string> | null = null;
  private colours = { ...TOKENS };

  constructor(
    host: HTMLElement,
    private options: PlotOptions,
  ) {
    for (const [name, of] of Object.entries(TOKENS)) this.colours[name as keyof typeof TOKENS] = token(of);
    this.frame = new Frame(host, options, {
      paint: () => this.paint(),
      move: (left, top) => this.track(left, top),
      leave: () => {
        this.far = Number.POSITIVE_INFINITY;
        options.onHover(null, -1, null);
      },
      zoom: (range) => {
        options.onHover(null, -1, null);
        options.onZoom(range);
      },
      click: () => {
        if (this.hot && this.far <= PICK_PX) options.onPick?.(this.hot);
      },
    });
    this.over = document.createElement('canvas');
    this.over.className = 'plot-over';
    this.frame.area.append(this.over);
  }

  destroy() {
    this.frame.destroy();
  }

  setLines(lines: PlotLine[]) {
    this.lines = besides(lines);
    this.rescale();
  }

  // Only these lines stay coloured; null means all.
  setShown(ids: Set<string> | null) {
    this.shownIds = ids;
    this.frame.redraw();
  }

  setZoom(zoom: [number, number] | null) {
    if (zoom?.join() === this.zoom?.join()) return;
    this.zoom = zoom;
    this.rescale();
  }

  resize(width: number) {
    this.frame.resize(width);
  }

  private drawable(y: number | null): y is number {
    return y !== null && (!this.options.log || y > 0);
  }

  private rescale() {
    let x0 = Infinity,
      x1 = -Infinity,
      y0 = Infinity,
      y1 = -Infinity;
    for (const line of this.lines) {
      for (let i = 0; i < line.x.length; i++) {
        const x = line.x[i];
        if (x < x0) x0 = x;
        if (x > x1) x1 = x;
        const y = line.y[i];
        if (!this.drawable(y) || (this.zoom && (x < this.zoom[0] || x > this.zoom[1]))) continue;
        const off = line.band?.[i] ?? 0;
        if (y - off < y0 && this.drawable(y - off)) y0 = y - off;
        if (y < y0) y0 = y;
        if (y + off > y1) y1 = y + off;
        const raw = this.lines.length <= CROWD ? line.raw?.[i] : null;
        if (this.drawable(raw ?? null)) {
          y0 = Math.min(y0, raw!);
          y1 = Math.max(y1, raw!);
        }
      }
    }
    if (x0 > x1) [x0, x1] = [0, 1];
    if (x0 === x1) [x0, x1] = [x0 - 0.5, x1 + 0.5];
    if (y0 > y1) [y0, y1] = this.options.log ? [0.1, 1] : [0, 1];
    if (this.options.log) {
      const pad = y0 === y1 ? 1.5 : (y1 / y0) ** 0.05;
      y0 /= pad;
      y1 *= pad;
    } else {
      const pad = y0 === y1 ? Math.abs(y0) * 0.1 || 1 : (y1 - y0) * 0.06;
      y0 -= pad;
      y1 += pad;
    }
    this.frame.x = this.zoom ?? [x0, x1];
    this.frame.y = [y0, y1];
    this.frame.redraw();
    this.highlight(this.hot, -1);
  }

  private trace(line: PlotLine, at: { x: (v: number) => number; y: (v: number) => number }): Path2D {
    const path = new Path2D();
    let pen = false;
    for (let i = 0; i < line.x.length; i++) {
      const y = line.y[i];
      if (!this.drawable(y)) {
        pen = false;
        continue;
      }
      if (pen) path.lineTo(at.x(line.x[i]), at.y(y));
      else path.moveTo(at.x(line.x[i]), at.y(y));
      pen = true;
    }
    return path;
  }

  private last(line: PlotLine): { x: number; y: number } | null {
    for (let i = line.x.length - 1; i >= 0; i--) {
      const y = line.y[i];
      if (this.drawable(y)) return { x: line.x[i], y };
    }
    return null;
  }

  private paint() {
    const { frame, colours } = this;
    const { ctx } = frame;
    const ratio = devicePixelRatio;
    const { left, top, width, height } = frame.box;
    const at = frame.transform(ratio, left, top);
    this.sizeOverlay();
    frame.begin(colours.axis, colours.grid, colours.border);
    ctx.save();
    ctx.beginPath();
    // The end of a curve may stand out by half its dot; what is zoomed out of must not.
    if (this.zoom) ctx.rect(left, top, width, height);
    else ctx.rect(left - 1, top - 4 * ratio, width + 6 * ratio, height + 4 * ratio);
    ctx.clip();
    ctx.lineJoin = 'round';
    const thin = this.lines.length > CROWD ? 1 : 1.25 * ratio;
    // Hundreds of full colours make one block; thinner paint shows where they lie thick.
    const faint = this.lines.length > CROWD * 3 ? 0.35 : 0.62;
    for (const line of this.ordered()) {
      const off = this.isOff(line);
      ctx.strokeStyle = off ? this.colours.axis : line.css;
      if (line.raw && !off && this.lines.length <= CROWD) {
        ctx.globalAlpha = 0.22;
        ctx.lineWidth = thin;
        ctx.setLineDash([]);
        ctx.stroke(this.trace({ ...line, y: line.raw }, at));
      }
      ctx.globalAlpha = off ? 0.15 : line.strong || line.end === 'dot' ? 1 : faint;
      ctx.lineWidth = line.strong ? 2.4 * ratio : line.dash ? 1.3 * ratio : thin;
      if (line.band && !off) this.paintBand(ctx, line, at);
      ctx.setLineDash(line.dash ? [4 * ratio, 3 * ratio] : []);
      ctx.stroke(this.trace(line, at));
      if (line.nan?.length && !off) this.markNan(ctx, line, at, ratio);
      // A curve of one point has no length: without a dot it would not be there at all.
      const alone = line.x.length === 1;
      const end = line.end ?? (alone ? 'dot' : null);
      const where = end && !off ? this.last(line) : null;
      if (where && line.lone && end === 'dot' && !line.strong)
        this.drawLone(ctx, at.x(where.x), at.y(where.y), line, ratio);
      else if (where) this.drawEnd(ctx, at.x(where.x), at.y(where.y), end!, line.css, ratio);
    }
    ctx.setLineDash([]);
    ctx.globalAlpha = 1;
    ctx.restore();
    const marked = this.lines.filter((line) => line.mark && this.drawable(line.mark.y));
    const taken = marked.map(({ mark }) => dotBox([at.x(mark!.x), at.y(mark!.y)], ratio));
    for (const line of marked) this.drawMark(ctx, line, at, ratio, taken);
    ctx.save();
    ctx.font = `${11 * ratio}px ${FONT}`;
    ctx.fillStyle = this.colours.axis;
    ctx.textAlign = 'right';
    ctx.fillText(this.options.xLabel, left + width, top + height + 33 * ratio);
    ctx.restore();
  }

  // One mark a device pixel at most: thousands of them cost no more than the width of the chart.
  private markNan(ctx: CanvasRenderingContext2D, line: PlotLine, at: ReturnType<Frame['transform']>, ratio: number) {
    const { top, height } = this.frame.box;
    const bottom = top + height;
    const path = new Path2D();
    let before = Number.NaN;
    for (const value of line.nan!) {
      const x = Math.round(at.x(value));
      if (x === before) continue;
      before = x;
      path.moveTo(x, bottom);
      path.lineTo(x, bottom - NAN_PX * ratio);
    }
    ctx.setLineDash([]);
    ctx.lineWidth = 2 * ratio;
    ctx.globalAlpha = 1;
    ctx.stroke(path);
  }

  private isOff(line: PlotLine): boolean {
    return this.shownIds !== null && !this.shownIds.has(line.id);
  }

  // The strong ones on top, above them those that are kept.
  private ordered(): PlotLine[] {
    const rank = (line: PlotLine) => (this.isOff(line) ? 0 : 2) + Number(line.strong ?? false);
    return [...this.lines].sort((a, b) => rank(a) - rank(b));
  }

  // What is on the screen, for a file.
  picture() {
    const { frame, options, colours } = this;
    const lines = this.ordered().map((line) => ({ ...line, off: this.isOff(line) }));
    const crowd = lines.length > CROWD * 3 ? 0.35 : 0.62;
    const at = frame.transform(1, frame.outer.left, frame.outer.top);
    return {
      ...frame.outer,
      inner: frame.inner,
      at,
      lines,
      crowd,
      nanPx: NAN_PX,
      colours,
      thin: lines.length > CROWD ? 0.5 : 1.25,
      drawable: (y: number | null): y is number => this.drawable(y),
      zoomed: this.zoom !== null,
      rows: frame.rows(),
      columns: frame.columns(),
      xLabel: options.xLabel,
      yLabel: options.yLabel,
    };
  }

  private paintBand(ctx: CanvasRenderingContext2D, line: PlotLine, at: ReturnType<Frame['transform']>) {
    const floor = this.frame.y[0];
    const path = new Path2D();
    const edge = (i: number, side: number) => at.y(Math.max(floor, (line.y[i] ?? 0) + side * line.band![i]));
    for (let i = 0; i < line.x.length; i++) path.lineTo(at.x(line.x[i]), edge(i, 1));
    for (let i = line.x.length - 1; i >= 0; i--) path.lineTo(at.x(line.x[i]), edge(i, -1));
    path.closePath();
    const alpha = ctx.globalAlpha;
    ctx.globalAlpha = 0.16;
    ctx.fillStyle = line.css;
    ctx.fill(path);
    ctx.globalAlpha = alpha;
  }

  private drawEnd(
    ctx: CanvasRenderingContext2D,
    x: number,
    y: number,
    end: 'dot' | 'cross',
    css: string,
    ratio: number,
  ) {
    ctx.globalAlpha = 1;
    ctx.setLineDash([]);
    ctx.beginPath();
    if (end === 'dot') {
      ctx.arc(x, y, 3.2 * ratio, 0, 7);
      ctx.fillStyle = css;
      ctx.fill();
      ctx.strokeStyle = this.colours.surface;
      ctx.lineWidth = 1.4 * ratio;
    } else {
      const r = 3.5 * ratio;
      ctx.moveTo(x - r, y - r);
      ctx.lineTo(x + r, y + r);
      ctx.moveTo(x + r, y - r);
      ctx.lineTo(x - r, y + r);
      ctx.strokeStyle = this.colours.error;
      ctx.lineWidth = 2 * ratio;
    }
    ctx.stroke();
  }

  // No ring: in a crowd the rings would be all that is seen.
  private drawLone(ctx: CanvasRenderingContext2D, x: number, y: number, line: PlotLine, ratio: number) {
    ctx.globalAlpha = 0.75;
    ctx.beginPath();
    ctx.arc(x, y, 2.4 * ratio, 0, 7);
    ctx.fillStyle = line.css;
    ctx.fill();
  }

  private drawMark(
    ctx: CanvasRenderingContext2D,
    line: PlotLine,
    at: ReturnType<Frame['transform']>,
    ratio: number,
    taken: Area[],
  ) {
    const { left, top, width, height } = this.frame.box;
    const mark = line.mark!;
    const x = at.x(mark.x);
    const y = at.y(mark.y);
    if (x < left - 1 || x > left + width + 1) return;
    ctx.save();
    this.drawEnd(ctx, x, y, 'dot', line.css, ratio * 1.25);
    ctx.font = `600 ${11.5 * ratio}px ${FONT}`;
    const half = ctx.measureText(mark.text).width / 2;
    const area = { left, top, right: left + width, bottom: top + height };
    const [tx, ty] = labelPlace([x, y], half, ratio, area, this.spots(line, at), taken);
    ctx.textAlign = 'center';
    // Lines behind the words would be read as dashes in them.
    ctx.fillStyle = this.colours.surface;
    ctx.globalAlpha = 0.85;
    ctx.fillRect(tx - half - 3 * ratio, ty - 11 * ratio, 2 * half + 6 * ratio, 15 * ratio);
    ctx.globalAlpha = 1;
    ctx.fillStyle = this.colours.text;
    ctx.fillText(mark.text, tx, ty);
    ctx.restore();
  }

  private spots(line: PlotLine, at: ReturnType<Frame['transform']>): [number, number][] {
    return line.x.flatMap((x, i) => {
      const y = line.y[i];
      return this.drawable(y) ? [[at.x(x), at.y(y)] as [number, number]] : [];
    });
  }

  private track(left: number, top: number) {
    const at = this.frame.transform(1, 0, 0);
    let best: { line: PlotLine; index: number; far: number } | null = null;
    for (const line of this.lines) {
      if (this.isOff(line)) continue;
      const near = seriesDistance(line.x, line.y, this.frame.value(left), left, top, at, this.options.log);
      if (near && near.far < NEAR_PX && (!best || near.far < best.far)) best = { line, ...near };
    }
    this.far = best?.far ?? Number.POSITIVE_INFINITY;
    this.options.onHover(best?.line.id ?? null, best?.index ?? -1, best ? keyOf(best.line) : null);
    this.frame.area.classList.toggle('picking', this.far <= PICK_PX && !!this.options.onPick);
  }

  // Draws the lines of one id over the dimmed crowd; index is the point of the line `key` to mark, -1 for none.
  // Returns where that point is.
  highlight(id: string | null, index: number, key: string | null = null): { left: number; top: number } | null {
    this.hot = id;
    const ctx = this.over.getContext('2d')!;
    const ratio = devicePixelRatio;
    ctx.clearRect(0, 0, this.over.width, this.over.height);
    const lines = id === null ? [] : this.lines.filter((l) => l.id === id);
    const line = lines.find((l) => keyOf(l) === key) ?? lines[0];
    if (!line) return null;
    const at = this.frame.transform(ratio, 0, 0);
    ctx.globalAlpha = 0.6;
    ctx.fillStyle = this.colours.surface;
    if (this.lines.length > 1) ctx.fillRect(0, 0, this.over.width, this.over.height);
    ctx.globalAlpha = 1;
    ctx.lineJoin = 'round';
    for (const one of lines) {
      ctx.strokeStyle = one.css;
      ctx.lineWidth = (one === line ? 2.6 : 1.8) * ratio;
      ctx.setLineDash(one.dash ? [4 * ratio, 3 * ratio] : []);
      ctx.stroke(this.trace(one, at));
    }
    const y = line.y[index];
    if (index < 0 || !this.drawable(y)) return null;
    const px = at.x(line.x[index]);
    const py = at.y(y);
    if (px < -1 || px > this.over.width + 1) return null;
    this.drawEnd(ctx, px, py, 'dot', line.css, ratio * 1.2);
    return { left: this.frame.area.offsetLeft + px / ratio, top: this.frame.area.offsetTop + py / ratio };
  }

  private sizeOverlay() {
    const [w, h] = this.frame.inner;
    if (this.over.width === Math.floor(w * devicePixelRatio) && this.over.height === Math.floor(h * devicePixelRatio))
      return;
    this.over.width = w * devicePixelRatio;
    this.over.height = h * devicePixelRatio;
    this.over.style.width = `${w}px`;
    this.over.style.height = `${h}px`;
    this.highlight(this.hot, -1);
  }
}
