// What stands around the curves: a canvas with axes and a grid, the area the mouse moves in, the line under the pointer
// and the drag to zoom. It knows scales, not lines.
import { count, tick } from '../lib/format';
import { multiples, niceLinear, niceLog } from '../lib/scale';

export interface FrameOptions {
  height: number;
  log: boolean;
  xFormat?: (x: number) => string;
}
export interface FrameEvents {
  move: (left: number, top: number) => void;
  leave: () => void;
  zoom: (range: [number, number] | null) => void;
  // A single click: not the end of a drag, not half of a double click.
  click: () => void;
  paint: () => void;
}

const LEFT = 46,
  RIGHT = 14,
  TOP = 8,
  BOTTOM = 38;
export const FONT = 'ui-sans-serif, system-ui, sans-serif';
// Distances between ticks: whole epochs, and seconds, minutes, hours, days.
const STEPS = [0, 1, 2, 3, 4, 5, 6, 7, 8].flatMap((p) => [1, 2, 5].map((m) => m * 10 ** p));
const SPANS = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14400, 43200, 86400, 172800, 604800, 2592000];
const X_SPACE = 50,
  Y_SPACE = 34;
// Less than this is a click that shook.
const DRAG_PX = 6;
// A second click within this time makes a double click, which resets the zoom and opens nothing.
const DOUBLE_MS = 260;

function part<K extends 'div' | 'canvas'>(name: K, cls: string, into: Element): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  made.className = cls;
  into.append(made);
  return made;
}

export class Frame {
  x: [number, number] = [0, 1];
  y: [number, number] = [0, 1];
  readonly area: HTMLDivElement;
  readonly ctx: CanvasRenderingContext2D;
  private canvas: HTMLCanvasElement;
  private cursor: HTMLDivElement;
  private band: HTMLDivElement;
  private width = 0;
  private queued = false;
  private from: number | null = null;
  private dragged = false;
  private clicking: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private host: HTMLElement,
    private options: FrameOptions,
    private events: FrameEvents,
  ) {
    this.canvas = part('canvas', 'plot-base', host);
    this.ctx = this.canvas.getContext('2d')!;
    this.area = part('div', 'plot-area', host);
    this.cursor = part('div', 'plot-cursor', this.area);
    this.band = part('div', 'plot-band', this.area);
    this.cursor.hidden = this.band.hidden = true;
    this.area.addEventListener('mousemove', (event) => this.move(event));
    this.area.addEventListener('mouseleave', () => {
      this.cursor.hidden = true;
      events.leave();
    });
    this.area.addEventListener('mousedown', (event) => {
      if (event.button === 0) this.from = this.at(event);
      this.dragged = false;
    });
    this.area.addEventListener('click', (event) => {
      clearTimeout(this.clicking);
      if (!this.dragged && event.detail < 2) this.clicking = setTimeout(() => events.click(), DOUBLE_MS);
    });
    this.area.addEventListener('dblclick', () => {
      clearTimeout(this.clicking);
      events.zoom(null);
    });
    document.addEventListener('mouseup', this.up);
    this.resize(host.clientWidth || 600);
  }

  destroy() {
    clearTimeout(this.clicking);
    document.removeEventListener('mouseup', this.up);
    this.host.replaceChildren();
  }

  resize(width: number) {
    if (!width || Math.abs(width - this.width) < 1) return;
    this.width = width;
    const { height } = this.options;
    Object.assign(this.canvas.style, { width: `${width}px`, height: `${height}px` });
    Object.assign(this.area.style, {
      left: `${LEFT}px`,
      top: `${TOP}px`,
      width: `${this.inner[0]}px`,
      height: `${this.inner[1]}px`,
    });
    this.redraw();
  }

  // Width and height of all, in CSS pixels, and where the area begins.
  get outer() {
    return { width: this.width, height: this.options.height, left: LEFT, top: TOP };
  }

  // Width and height of the area, in CSS pixels.
  get inner(): [number, number] {
    return [Math.max(10, this.width - LEFT - RIGHT), this.options.height - TOP - BOTTOM];
  }

  // The same on the canvas, with its corner.
  get box() {
    const ratio = devicePixelRatio;
    const [w, h] = this.inner;
    return { left: LEFT * ratio, top: TOP * ratio, width: w * ratio, height: h * ratio };
  }

  value(left: number): number {
    return this.x[0] + (left / this.inner[0]) * (this.x[1] - this.x[0]);
  }

  // Where values are: with a scale of 1 inside the area, with the ratio and the box's corner on the canvas.
  transform(scale: number, left: number, top: number) {
    const { log } = this.options;
    const [xa, xb] = this.x;
    const [la, lb] = log ? this.y.map(Math.log) : this.y;
    const [w, h] = this.inner;
    return {
      x: (v: number) => left + ((v - xa) / (xb - xa)) * w * scale,
      y: (v: number) => top + h * scale - (((log ? Math.log(v) : v) - la) / (lb - la)) * h * scale,
    };
  }

  // Where the vertical axis has a line.
  rows(): number[] {
    const all = this.options.log ? niceLog(...this.y) : niceLinear(...this.y, Math.max(2, this.inner[1] / Y_SPACE));
    return all.filter((v) => v >= this.y[0] && v <= this.y[1]);
  }

  // Where the horizontal axis has a number.
  columns(): { at: number; text: string }[] {
    const { xFormat } = this.options;
    const least = ((this.x[1] - this.x[0]) / this.inner[0]) * X_SPACE;
    const step = (xFormat ? SPANS : STEPS).find((s) => s >= least) ?? least;
    return multiples(step, ...this.x).map((at) => ({ at, text: xFormat ? xFormat(at) : count(at) }));
  }

  // Any number of changes are one picture.
  redraw() {
    if (this.queued) return;
    this.queued = true;
    queueMicrotask(() => {
      this.queued = false;
      this.events.paint();
    });
  }

  // Begins a picture: sizes the canvas, clears it and draws the axes.
  begin(axis: string, grid: string, border: string) {
    const { canvas, ctx } = this;
    const ratio = devicePixelRatio;
    canvas.width = Math.round(this.width * ratio);
    canvas.height = Math.round(this.options.height * ratio);
    const { left, top, width, height } = this.box;
    const at = this.transform(ratio, left, top);
    const line = (y: number, css: string) => {
      ctx.fillStyle = css;
      ctx.fillRect(left, Math.round(y), width, Math.max(1, Math.round(ratio)));
    };
    ctx.font = `${11 * ratio}px ${FONT}`;
    ctx.textBaseline = 'middle';
    ctx.textAlign = 'right';
    for (const v of this.rows()) {
      line(at.y(v), grid);
      ctx.fillStyle = axis;
      ctx.fillText(tick(v), left - 6 * ratio, at.y(v));
    }
    line(top + height, border);
    ctx.fillStyle = axis;
    ctx.textBaseline = 'top';
    ctx.textAlign = 'center';
    for (const { at: v, text } of this.columns()) ctx.fillText(text, at.x(v), top + height + 6 * ratio);
    ctx.textBaseline = 'alphabetic';
  }

  private at(event: MouseEvent): number {
    return event.clientX - this.area.getBoundingClientRect().left;
  }

  private move(event: MouseEvent) {
    const left = this.at(event);
    this.cursor.hidden = false;
    this.cursor.style.left = `${left}px`;
    if (this.from !== null) {
      this.dragged ||= Math.abs(left - this.from) > DRAG_PX;
      this.band.hidden = !this.dragged;
      Object.assign(this.band.style, {
        left: `${Math.min(left, this.from)}px`,
        width: `${Math.abs(left - this.from)}px`,
      });
    }
    this.events.move(left, event.clientY - this.area.getBoundingClientRect().top);
  }

  private up = (event: MouseEvent) => {
    const { from } = this;
    this.from = null;
    this.band.hidden = true;
    if (from === null || !this.dragged) return;
    this.cursor.hidden = true;
    const to = Math.min(this.inner[0], Math.max(0, this.at(event)));
    this.events.zoom([this.value(Math.min(from, to)), this.value(Math.max(from, to))]);
  };
}
