// A chart of points, one for each task: hovered with everything else, reached by the arrow keys, dragged over to keep a
// part. What is chosen by a click is the owner's business.
import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { Value } from '../data/types';
import { coarse } from '../lib/colour';
import { aside, type Spread } from '../lib/spread';

// On top there is room for the name of the axis, which would cover points inside.
const M = { l: 52, r: 12, t: 24, b: 34 };
const DRAG_PX = 5;
// More points than this are drawn as a few paths: an element for each makes every change of the page slow.
const MANY = 600;
const RADIUS = 3.2;
// Points of one path do not darken where they cover each other; spread over some paths, crowded places still do, and no
// colour lies on top of all others.
const LAYERS = 4;
// How far the pointer may be from the edge of a point.
const REACH_PX = 3;
// Points of one step of an axis lie beside each other: this share of the step for each of them, and at most so much.
const ASIDE_EACH = 0.012;
const ASIDE_MOST = 0.34;

export interface Dot {
  id: string;
  x: Value | null | undefined;
  y: Value | null | undefined;
  css?: string;
  r?: number;
  class?: string;
  title: string;
}

// Corners in places from 0 to 1: left, right, low, high.
export type Box = [number, number, number, number];

interface Props {
  dots: Dot[];
  x: Spread;
  y: Spread;
  xName: string;
  yName: string;
  width: number;
  height: number;
  hovered: Signal<string | null>;
  // What is kept or selected; null: all.
  lit: Set<string> | null;
  label: string;
  onPick: (id: string) => void;
  brush?: Box | null;
  onBrush?: (box: Box | null) => void;
  // Drawn below the points; gets places on the screen for places from 0 to 1.
  below?: (px: (place: number) => number, py: (place: number) => number) => VNode | null;
  // The same above them; it takes no part in what the pointer does.
  above?: (px: (place: number) => number, py: (place: number) => number) => ComponentChildren;
  name?: string;
}

// The highlight stays out of the rendering: hundreds of elements must not be compared for each move of the mouse.
export function useHot(svg: { current: SVGSVGElement | null }, hovered: Signal<string | null>) {
  useEffect(
    () =>
      hovered.subscribe((id) => {
        for (const hot of svg.current?.querySelectorAll('.hot') ?? []) hot.classList.remove('hot');
        if (id === null) return;
        for (const one of svg.current?.querySelectorAll(`[data-id="${CSS.escape(id)}"]`) ?? [])
          one.classList.add('hot');
      }),
    [hovered],
  );
}

interface Spot {
  dot: Dot;
  at: number;
  up: number;
}

type Placed = { spot: Spot; x: number; y: number; r: number };

function pathsOf(points: Placed[]): { css: string | undefined; r: number; d: string }[] {
  const found = new Map<string, { css: string | undefined; r: number; d: string }>();
  points.forEach(({ spot, x, y, r }, i) => {
    const css = spot.dot.css && coarse(spot.dot.css);
    const size = Math.round(r * 2) / 2;
    const key = `${i % LAYERS} ${css} ${size}`;
    const one = found.get(key) ?? { css, r: size, d: '' };
    one.d += `M${x.toFixed(1)} ${y.toFixed(1)}h0`;
    found.set(key, one);
  });
  return [...found].sort(([a], [b]) => Number(a[0]) - Number(b[0])).map(([, one]) => one);
}

// Very many points: round ends of lines without length.
function Spots({ points, lit }: { points: Placed[]; lit: Set<string> | null }) {
  return useMemo(() => {
    const isLit = (p: Placed) => !lit || lit.has(p.spot.dot.id);
    return (
      <>
        {pathsOf(
          points
            .filter((p) => !isLit(p))
            .map((p) => ({ ...p, spot: { ...p.spot, dot: { ...p.spot.dot, css: undefined } } })),
        ).map(({ r, d }, i) => (
          <path key={`off${i}`} class="spots off" d={d} stroke-width={2 * r} />
        ))}
        {pathsOf(points.filter(isLit)).map(({ css, r, d }, i) => (
          <path key={`on${i}`} class="spots" d={d} stroke={css} stroke-width={2 * r} />
        ))}
      </>
    );
  }, [points, lit]);
}

// The highlighted one of them.
function HotSpot({ points, hovered }: { points: Map<string, Placed>; hovered: Signal<string | null> }) {
  const found = hovered.value === null ? undefined : points.get(hovered.value);
  if (!found) return null;
  return (
    <circle
      class="hot"
      data-id={found.spot.dot.id}
      cx={found.x}
      cy={found.y}
      r={found.r + 1}
      fill={found.spot.dot.css}
    />
  );
}

function under(points: Placed[], x: number, y: number): string | null {
  let id: string | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const p of points) {
    const far = Math.hypot(p.x - x, p.y - y) - p.r;
    if (far > REACH_PX || far >= least) continue;
    least = far;
    id = p.spot.dot.id;
  }
  return id;
}

// What the point under the pointer or the arrow keys is, at once; points of other charts say nothing here.
function Tip({ spots, pointed, width }: { spots: Spot[]; pointed: Signal<string | null>; width: number }) {
  const found = pointed.value === null ? null : spots.find((spot) => spot.dot.id === pointed.value);
  if (!found) return null;
  return (
    <div
      class={found.at > width / 2 ? 'tip west' : 'tip'}
      aria-hidden="true"
      style={{ left: `${found.at}px`, top: `${found.up}px` }}
    >
      {found.dot.title}
    </div>
  );
}

const idOf = (event: Event) => (event.target as Element).getAttribute('data-id');

export function Dots(props: Props) {
  const { dots, x, y, width: W, height: H, hovered, lit, onPick, brush, onBrush } = props;
  const svg = useRef<SVGSVGElement>(null);
  const said = useSignal('');
  const pointed = useSignal<string | null>(null);
  const drag = useRef<[number, number] | null>(null);
  const live = useSignal<Box | null>(null);
  useHot(svg, hovered);
  const px = (place: number) => M.l + place * (W - M.l - M.r);
  const py = (place: number) => H - M.b - place * (H - M.t - M.b);
  const away = (axis: Spread, id: string, salt: number) =>
    axis.step ? aside(Number(id), salt) * axis.step * Math.min(ASIDE_MOST, ASIDE_EACH * dots.length * axis.step) : 0;
  const placed = dots.flatMap((dot): Spot[] => {
    const [at, up] = [x.place(dot.x), y.place(dot.y)];
    return at === null || up === null ? [] : [{ dot, at: at + away(x, dot.id, 0), up: up + away(y, dot.id, 1) }];
  });
  const many = placed.length > MANY;
  // What has a look of its own (the front) stays an element, above the others.
  const marked = many ? placed.filter((p) => p.dot.class) : placed;
  const points = useMemo(
    () => (many ? placed.map((p): Placed => ({ spot: p, x: px(p.at), y: py(p.up), r: p.dot.r ?? RADIUS })) : []),
    [many, dots, x, y, W, H],
  );
  const known = useMemo(() => new Map(points.map((p) => [p.spot.dot.id, p])), [points]);
  const pointAt = (event: MouseEvent): string | null => {
    if (!many) return idOf(event);
    const box = svg.current!.getBoundingClientRect();
    return under(points, event.clientX - box.left, event.clientY - box.top);
  };
  const point = (event: MouseEvent) => {
    const id = pointAt(event);
    pointed.value = id;
    if (hovered.value !== id) hovered.value = id;
    if (many) svg.current!.classList.toggle('picking', id !== null);
  };
  const spot = (event: PointerEvent): [number, number] => {
    const box = svg.current!.getBoundingClientRect();
    const clamp = (v: number) => Math.min(1, Math.max(0, v));
    return [
      clamp((event.clientX - box.left - M.l) / (W - M.l - M.r)),
      clamp(1 - (event.clientY - box.top - M.t) / (H - M.t - M.b)),
    ];
  };
  const boxTo = (event: PointerEvent): Box | null => {
    if (!drag.current) return null;
    const [a, b] = drag.current;
    const [c, d] = spot(event);
    const moved = Math.abs(px(a) - px(c)) > DRAG_PX || Math.abs(py(b) - py(d)) > DRAG_PX;
    return moved ? [Math.min(a, c), Math.max(a, c), Math.min(b, d), Math.max(b, d)] : null;
  };
  const key = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === 'Enter' && hovered.value !== null) onPick(hovered.value);
    if (event.key === 'Escape') {
      hovered.value = null;
      onBrush?.(null);
    }
    if (!step || !placed.length) return;
    event.preventDefault();
    const order = [...placed].sort((a, b) => a.at - b.at || a.up - b.up);
    const now = order.findIndex((p) => p.dot.id === hovered.value);
    const next = order[(now + step + order.length) % order.length];
    pointed.value = hovered.value = next.dot.id;
    said.value = next.dot.title;
  };
  const shown = live.value ?? brush;
  return (
    <div class="dots">
      <svg
        ref={svg}
        class="scatter"
        width={W}
        height={H}
        viewBox={`0 0 ${W} ${H}`}
        role="img"
        tabIndex={0}
        aria-label={`${props.label} Arrow keys read the points.`}
        onKeyDown={key}
        onBlur={() => {
          pointed.value = hovered.value = null;
        }}
        onMouseLeave={() => {
          pointed.value = hovered.value = null;
        }}
        {...(many ? { onMouseMove: point } : { onMouseOver: point })}
        onClick={(event) => {
          const id = pointAt(event);
          if (id) onPick(id);
        }}
        onDblClick={() => onBrush?.(null)}
      >
        {y.ticks.map((t) => (
          <g key={t.text}>
            <line
              class="grid-line"
              x1={M.l}
              x2={W - M.r}
              y1={Math.round(py(t.at)) + 0.5}
              y2={Math.round(py(t.at)) + 0.5}
            />
            <text x={M.l - 6} y={py(t.at) + 3.5} text-anchor="end">
              {t.text.length > 8 ? `${t.text.slice(0, 7)}…` : t.text}
            </text>
          </g>
        ))}
        {x.ticks.map((t) => (
          <text key={t.text} x={px(t.at)} y={H - M.b + 15} text-anchor="middle">
            {t.text}
          </text>
        ))}
        <text x={W - M.r} y={H - 4} text-anchor="end">
          {props.xName}
          {x.log ? ', log' : ''}
        </text>
        <text x={M.l - 46} y={12}>
          {props.yName}
          {y.log ? ', log' : ''}
        </text>
        {onBrush && (
          <rect
            class="pane"
            x={M.l}
            y={M.t}
            width={Math.max(0, W - M.l - M.r)}
            height={Math.max(0, H - M.t - M.b)}
            onPointerDown={(event) => {
              if (event.button) return;
              event.currentTarget.setPointerCapture(event.pointerId);
              drag.current = spot(event);
            }}
            onPointerMove={(event) => {
              if (drag.current) live.value = boxTo(event);
            }}
            onPointerUp={(event) => {
              const box = boxTo(event);
              drag.current = null;
              live.value = null;
              if (box || brush) onBrush(box);
            }}
          />
        )}
        {shown && (
          <rect
            class="brush"
            x={px(shown[0])}
            y={py(shown[3])}
            width={Math.max(1, px(shown[1]) - px(shown[0]))}
            height={Math.max(1, py(shown[2]) - py(shown[3]))}
          />
        )}
        {props.below?.(px, py)}
        {many ? (
          <>
            <Spots points={points} lit={lit} />
            <HotSpot points={known} hovered={hovered} />
          </>
        ) : null}
        {marked.length <= MANY &&
          marked.map(({ dot, at, up }) => (
            <circle
              key={dot.id}
              data-id={dot.id}
              cx={px(at).toFixed(1)}
              cy={py(up).toFixed(1)}
              r={dot.r ?? RADIUS}
              fill={dot.css}
              class={`${dot.class ?? ''}${lit && !lit.has(dot.id) ? ' off' : ''}`}
            />
          ))}
        {props.above && <g class="above">{props.above(px, py)}</g>}
      </svg>
      <Tip spots={placed.map((p) => ({ dot: p.dot, at: px(p.at), up: py(p.up) }))} pointed={pointed} width={W} />
      <span class="visually-hidden" role="status">
        {said.value}
      </span>
    </div>
  );
}
