// Curves on a canvas. uPlot gives scales, axes, the cursor and the drag to zoom; the lines themselves are drawn here,
// because hundreds of them come and go while training runs and uPlot would have to be built anew for each.
// The highlighted line is drawn on a second canvas, so following the mouse never redraws the crowd.
import uPlot from 'uplot';
import { tick } from '../lib/format';
import { token } from '../lib/theme';
import { niceLog, seriesDistance } from './scale';

export interface PlotLine {
  id: string;
  label: string;
  x: number[];
  y: (number | null)[];
  css: string;
  end: 'dot' | 'cross' | null;
  strong?: boolean;
  dash?: boolean;
  // Where the label of a strong line stands: its best point.
  mark?: { x: number; y: number; text: string } | null;
}

export interface PlotOptions {
  height: number;
  log: boolean;
  xLabel: string;
  xFormat?: (x: number) => string;
  onHover: (id: string | null, index: number) => void;
  onPick?: (id: string) => void;
  onZoom: (zoomed: boolean) => void;
}

// Above this many lines each is one device pixel wide: two cost six times as much.
const CROWD = 60;
const NEAR_PX = 28;
// Distances between ticks: whole epochs, and seconds, minutes, hours, days.
const STEPS = [1, 2, 5].flatMap((m) => [0, 1, 2, 3, 4, 5, 6, 7, 8].map((p) => m * 10 ** p)).sort((a, b) => a - b);
const SPANS = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14400, 43200, 86400, 172800, 604800, 2592000];

export class Plot {
  private u: uPlot;
  private lines: PlotLine[] = [];
  private zoom: [number, number] | null = null;
  private over: HTMLCanvasElement;
  private hot: string | null = null;
  private shownIds: Set<string> | null = null;
  private colours = { surface: '', axis: '', grid: '', border: '', error: '', text: '' };

  constructor(private host: HTMLElement, private options: PlotOptions) {
    this.readColours();
    this.over = document.createElement('canvas');
    this.over.className = 'plot-over';
    this.u = new uPlot(this.config(), [[0, 1], [0, 1]], host);
    this.u.over.append(this.over);
  }

  destroy() {
    this.u.destroy();
  }

  private readColours() {
    this.colours = {
      surface: token('--surface'), axis: token('--axis'), grid: token('--grid'),
      border: token('--border-2'), error: token('--st-err'), text: token('--text'),
    };
  }

  private config(): uPlot.Options {
    const font = '11px ui-sans-serif, system-ui, sans-serif';
    const { axis, grid, border } = this.colours;
    const keep: uPlot.Scale.Range = (_u, min, max) => [min, max];
    return {
      width: this.host.clientWidth || 600,
      height: this.options.height,
      legend: { show: false },
      padding: [8, 14, 0, 0],
      cursor: {
        points: { show: false },
        y: false,
        drag: { x: true, y: false, setScale: false },
        bind: { dblclick: () => () => { this.setZoom(null); return null; } },
      },
      select: { show: true, left: 0, top: 0, width: 0, height: 0 },
      scales: {
        x: { time: false, range: keep },
        y: { distr: this.options.log ? 3 : 1, range: keep },
      },
      series: [{}, { paths: () => null, points: { show: false } }],
      axes: [
        {
          stroke: axis, font, size: 38, gap: 3, incrs: this.options.xFormat ? SPANS : STEPS, grid: { show: false }, ticks: { show: false },
          border: { show: true, stroke: border, width: 1 },
          ...(this.options.xFormat ? { values: (_u: uPlot, splits: number[]) => splits.map(this.options.xFormat!) } : {}),
        },
        {
          stroke: axis, font, size: 46, gap: 6, grid: { stroke: grid, width: 1 }, ticks: { show: false },
          ...(this.options.log ? { splits: (u: uPlot) => niceLog(u.scales.y.min!, u.scales.y.max!) } : {}),
          values: (_u: uPlot, splits: number[]) => splits.map(tick),
          ...(this.options.log ? { filter: (_u: uPlot, splits: number[]) => splits } : {}),
        },
      ],
      hooks: {
        draw: [() => this.paint()],
        setSelect: [(u) => {
          if (u.select.width > 6) this.setZoom([u.posToVal(u.select.left, 'x'), u.posToVal(u.select.left + u.select.width, 'x')]);
          u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        }],
        setCursor: [(u) => this.track(u)],
        ready: [(u) => {
          u.over.addEventListener('mouseleave', () => this.options.onHover(null, -1));
          u.over.addEventListener('click', () => { if (this.hot) this.options.onPick?.(this.hot); });
        }],
      },
    };
  }

  setLines(lines: PlotLine[]) {
    this.lines = lines;
    this.rescale();
  }

  // Only these lines stay coloured; null means all.
  setShown(ids: Set<string> | null) {
    this.shownIds = ids;
    this.u.redraw(false);
  }

  setZoom(zoom: [number, number] | null) {
    this.zoom = zoom;
    this.options.onZoom(zoom !== null);
    this.rescale();
  }

  resize(width: number) {
    if (!width || Math.abs(width - this.u.width) < 1) return;
    this.u.setSize({ width, height: this.options.height });
  }

  private drawable(y: number | null): y is number {
    return y !== null && (!this.options.log || y > 0);
  }

  private rescale() {
    let x0 = Infinity, x1 = -Infinity, y0 = Infinity, y1 = -Infinity;
    for (const line of this.lines) {
      for (let i = 0; i < line.x.length; i++) {
        const x = line.x[i];
        if (x < x0) x0 = x;
        if (x > x1) x1 = x;
        const y = line.y[i];
        if (!this.drawable(y) || (this.zoom && (x < this.zoom[0] || x > this.zoom[1]))) continue;
        if (y < y0) y0 = y;
        if (y > y1) y1 = y;
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
    const [left, right] = this.zoom ?? [x0, x1];
    this.u.batch(() => {
      this.u.setScale('x', { min: left, max: right });
      this.u.setScale('y', { min: y0, max: y1 });
    });
    this.u.redraw(false);
    this.highlight(this.hot, -1);
  }

  private transform(scale: number, left: number, top: number) {
    const u = this.u;
    const { min: xa = 0, max: xb = 1 } = u.scales.x as { min?: number; max?: number };
    const { min: ya = 0, max: yb = 1 } = u.scales.y as { min?: number; max?: number };
    const w = u.over.clientWidth * scale;
    const h = u.over.clientHeight * scale;
    const log = this.options.log;
    const la = log ? Math.log(ya) : ya;
    const lb = log ? Math.log(yb) : yb;
    return {
      x: (v: number) => left + (v - xa) / (xb - xa) * w,
      y: (v: number) => top + h - ((log ? Math.log(v) : v) - la) / (lb - la) * h,
    };
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
    const u = this.u;
    this.sizeOverlay();
    const ctx = u.ctx;
    const ratio = devicePixelRatio;
    const { left, top, width, height } = u.bbox;
    const at = this.transform(ratio, left, top);
    ctx.save();
    ctx.beginPath();
    ctx.rect(left - 1, top - 4 * ratio, width + 6 * ratio, height + 4 * ratio);
    ctx.clip();
    ctx.lineJoin = 'round';
    const thin = this.lines.length > CROWD ? 1 : 1.25 * ratio;
    // Hundreds of full colours make one block; thinner paint shows where they lie thick.
    const faint = this.lines.length > CROWD * 3 ? 0.35 : 0.62;
    for (const line of [...this.lines].sort((a, b) => Number(a.strong ?? false) - Number(b.strong ?? false))) {
      const off = this.shownIds !== null && !this.shownIds.has(line.id);
      ctx.strokeStyle = off ? this.colours.axis : line.css;
      ctx.globalAlpha = off ? 0.15 : line.strong || line.end === 'dot' ? 1 : faint;
      ctx.lineWidth = line.strong ? 2.4 * ratio : line.dash ? 1.3 * ratio : thin;
      ctx.setLineDash(line.dash ? [4 * ratio, 3 * ratio] : []);
      ctx.stroke(this.trace(line, at));
      // A curve of one point has no length: without a dot it would not be there at all.
      const alone = line.x.length === 1;
      const end = line.end ?? (alone ? 'dot' : null);
      const where = end && !off ? this.last(line) : null;
      if (where) this.drawEnd(ctx, at.x(where.x), at.y(where.y), end!, line.css, ratio);
    }
    ctx.setLineDash([]);
    ctx.globalAlpha = 1;
    ctx.restore();
    for (const line of this.lines) if (line.mark) this.drawMark(ctx, line, at, ratio);
    ctx.save();
    ctx.font = `${11 * ratio}px ui-sans-serif, system-ui, sans-serif`;
    ctx.fillStyle = this.colours.axis;
    ctx.textAlign = 'right';
    ctx.fillText(this.options.xLabel, left + width, top + height + 33 * ratio);
    ctx.restore();
  }

  private drawEnd(ctx: CanvasRenderingContext2D, x: number, y: number, end: 'dot' | 'cross', css: string, ratio: number) {
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

  private drawMark(ctx: CanvasRenderingContext2D, line: PlotLine, at: ReturnType<Plot['transform']>, ratio: number) {
    const { left, top, width, height } = this.u.bbox;
    const mark = line.mark!;
    if (!this.drawable(mark.y)) return;
    const x = at.x(mark.x);
    const y = at.y(mark.y);
    if (x < left - 1 || x > left + width + 1) return;
    ctx.save();
    this.drawEnd(ctx, x, y, 'dot', line.css, ratio * 1.25);
    ctx.font = `600 ${11.5 * ratio}px ui-sans-serif, system-ui, sans-serif`;
    const half = ctx.measureText(mark.text).width / 2;
    const tx = Math.min(left + width - half, Math.max(left + half, x));
    const below = y + 24 * ratio < top + height;
    const ty = below ? y + 18 * ratio : y - 9 * ratio;
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

  private track(u: uPlot) {
    const { left, top } = u.cursor;
    if (left === undefined || top === undefined || left < 0) return;
    const at = this.transform(1, 0, 0);
    let best: { id: string; index: number; far: number } | null = null;
    for (const line of this.lines) {
      if (this.shownIds && !this.shownIds.has(line.id)) continue;
      const near = seriesDistance(line.x, line.y, u.posToVal(left, 'x'), left, top, at, this.options.log);
      if (near && near.far < NEAR_PX && (!best || near.far < best.far)) best = { id: line.id, ...near };
    }
    this.options.onHover(best?.id ?? null, best?.index ?? -1);
  }

  // Draws one line over the dimmed crowd; index is the point to mark, -1 for none. Returns where that point is.
  highlight(id: string | null, index: number): { left: number; top: number } | null {
    this.hot = id;
    const ctx = this.over.getContext('2d')!;
    const ratio = devicePixelRatio;
    ctx.clearRect(0, 0, this.over.width, this.over.height);
    const line = id === null ? undefined : this.lines.find((l) => l.id === id);
    this.u.over.classList.toggle('picking', !!line && !!this.options.onPick);
    if (!line) return null;
    const at = this.transform(ratio, 0, 0);
    ctx.globalAlpha = 0.6;
    ctx.fillStyle = this.colours.surface;
    if (this.lines.length > 1) ctx.fillRect(0, 0, this.over.width, this.over.height);
    ctx.globalAlpha = 1;
    ctx.strokeStyle = line.css;
    ctx.lineWidth = 2.6 * ratio;
    ctx.lineJoin = 'round';
    ctx.stroke(this.trace(line, at));
    const y = line.y[index];
    if (index < 0 || !this.drawable(y)) return null;
    const px = at.x(line.x[index]);
    const py = at.y(y);
    this.drawEnd(ctx, px, py, 'dot', line.css, ratio * 1.2);
    return { left: this.u.over.offsetLeft + px / ratio, top: this.u.over.offsetTop + py / ratio };
  }

  // uPlot lays itself out after its constructor, so the overlay's size is only known when it draws.
  private sizeOverlay() {
    const { clientWidth: w, clientHeight: h } = this.u.over;
    if (this.over.width === Math.floor(w * devicePixelRatio) && this.over.height === Math.floor(h * devicePixelRatio)) return;
    this.over.width = w * devicePixelRatio;
    this.over.height = h * devicePixelRatio;
    this.over.style.width = `${w}px`;
    this.over.style.height = `${h}px`;
    this.highlight(this.hot, -1);
  }
}
