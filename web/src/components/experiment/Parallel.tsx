// Parallel coordinates. Dragging along an axis keeps the tasks in that stretch; the curves and the table follow.
import type { Signal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { Experiment, TaskSummary } from '../../data/types';
import { type Axis, type Brushes, keeps } from '../../lib/axes';
import { toCsv } from '../../lib/csv';
import { plural } from '../../lib/format';
import { own } from '../../lib/own';
import { shortened } from '../../lib/text';
import { useWidth } from '../../lib/width';
import { Card } from '../Card';
import { Export } from '../Export';
import { Icon } from '../Icon';

export function brushed(tasks: TaskSummary[], axes: Axis[], brushes: Brushes): Set<string> | null {
  const keys = axes.filter((axis) => own(brushes, axis.key));
  if (!keys.length) return null;
  return new Set(
    tasks
      .filter((task) => keys.every((axis) => keeps(axis, task, ...brushes[axis.key])))
      .map((task) => String(task.number)),
  );
}

const H = 284;
const TOP = 44;
const BOTTOM = 12;
// The least beside the first and the last axis; their labels may need more.
const LEFT = 42;
const RIGHT = 48;
// Pixels of a letter of a label and of a name, with what is to stay free.
const LETTER = 6.6;
const NAME_LETTER = 7.5;
const GAP = 12;
// Narrower than this the lines between two axes cannot be followed: then the card scrolls.
const AXIS_LEAST = 52;
// Where names are written: in two rows, every second one higher, where one row has no room for them.
const NAME_ROW = 23;
const NAME_ROWS = [10, 23];
// How far a key moves an end of a brush, and how close the ends may come.
const KEY_STEP = 0.05;
const KEY_PAGE = 0.2;
const KEY_LEAST = 0.02;

// A number is not cut.
const TICK_MOST = 12;
const TICK_LEAST = 4;
const shortTick = (text: string, most: number) =>
  text.length <= most || Number.isFinite(Number(text)) ? text : `${text.slice(0, most - 1)}…`;
const roomFor = (axis: Axis | undefined) =>
  Math.ceil(Math.max(0, ...(axis?.ticks ?? []).map((tick) => shortTick(tick.text, TICK_MOST).length)) * LETTER) + GAP;

interface Props {
  e: Experiment;
  tasks: TaskSummary[];
  axes: Axis[];
  brushes: Brushes;
  // While an axis is dragged along, and at its end.
  onBrush: (next: Brushes, done: boolean) => void;
  // What brush and filter keep, and what is lit: that, or the selection.
  shown: Set<string> | null;
  lit: Set<string> | null;
  hovered: Signal<string | null>;
  css: (task: TaskSummary) => string;
  onOpen: (id: string) => void;
}

export function Parallel({ e, tasks, axes, brushes, onBrush, shown, lit, hovered, css, onOpen }: Props) {
  const [box, width] = useWidth(480);
  const svg = useRef<SVGSVGElement>(null);
  const drag = useRef<{ key: string; from: number } | null>(null);
  const left = Math.max(LEFT, roomFor(axes[0]));
  const right = Math.max(RIGHT, roomFor(axes[axes.length - 1]));
  const W = Math.max(width.value, left + right + (axes.length - 1) * AXIS_LEAST);
  const scrolls = W > width.value;
  const x = (i: number) => (axes.length < 2 ? W / 2 : left + ((W - left - right) * i) / (axes.length - 1));
  const apart = axes.length < 2 ? W : x(1) - x(0);
  // Names are cut before the next one begins.
  const letters = (room: number) => Math.max(6, Math.floor((room - GAP) / NAME_LETTER));
  const one = axes.every((axis) => axis.label.length <= letters(apart));
  const fits = letters(one ? apart : 2 * apart);
  // The first name begins at the edge of the card and the last one ends there.
  const nameRow = (i: number) => (one ? NAME_ROW : NAME_ROWS[i % 2]);
  const tickMost = Math.min(TICK_MOST, Math.max(TICK_LEAST, Math.floor((apart - GAP) / LETTER)));
  const y = (place: number) => H - BOTTOM - place * (H - BOTTOM - TOP);

  const paths = useMemo(
    () =>
      tasks
        .map((task) => {
          let d = '';
          let pen: [number, number] | null = null;
          axes.forEach((axis, i) => {
            const place = axis.place(task);
            if (place === null) {
              pen = null;
              return;
            }
            const at: [number, number] = [x(i), y(place)];
            if (!pen) d += `M${at[0].toFixed(1)} ${at[1].toFixed(1)}`;
            else {
              const mid = ((pen[0] + at[0]) / 2).toFixed(1);
              d += `C${mid} ${pen[1].toFixed(1)} ${mid} ${at[1].toFixed(1)} ${at[0].toFixed(1)} ${at[1].toFixed(1)}`;
            }
            pen = at;
          });
          return { id: String(task.number), d, css: css(task), best: e.best?.task === task.number };
        })
        .sort((a, b) => Number(a.best) - Number(b.best)),
    [tasks, axes, W, left, right, css, e.best],
  );

  // The same nodes as long as nothing in them changed: hundreds are not compared for a change elsewhere on the page.
  // The elements are kept by place: another filter shows other tasks, and new elements cost more than new lines.
  const drawn = useMemo(
    () =>
      paths.map((p, i) => (
        <path
          key={i}
          data-id={p.id}
          d={p.d}
          stroke={p.css}
          class={`${lit && !lit.has(p.id) ? 'off' : ''}${p.best ? ' best' : ''}`}
        />
      )),
    [paths, lit],
  );

  // As in the table, the highlight stays out of the rendering: 500 paths must not be compared for each move of the
  // mouse.
  useEffect(
    () =>
      hovered.subscribe((id) => {
        const root = svg.current;
        if (!root) return;
        root.querySelector('.hot')?.classList.remove('hot');
        root.classList.toggle('dimmed', id !== null);
        if (id !== null) root.querySelector(`[data-id="${id}"]`)?.classList.add('hot');
      }),
    [hovered, drawn],
  );

  const place = (event: PointerEvent) => {
    const rect = svg.current!.getBoundingClientRect();
    return Math.min(1, Math.max(0, (H - BOTTOM - (event.clientY - rect.top)) / (H - BOTTOM - TOP)));
  };
  const down = (event: PointerEvent, key: string) => {
    (event.currentTarget as Element).setPointerCapture(event.pointerId);
    drag.current = { key, from: place(event) };
  };
  const move = (event: PointerEvent) => {
    if (!drag.current) return;
    const to = place(event);
    const { key, from } = drag.current;
    if (Math.abs(to - from) > 0.02) onBrush({ ...brushes, [key]: [Math.min(from, to), Math.max(from, to)] }, false);
  };
  const up = (event: PointerEvent) => {
    if (!drag.current) return;
    const { key, from } = drag.current;
    drag.current = null;
    const to = place(event);
    const { [key]: _gone, ...rest } = brushes;
    onBrush(Math.abs(to - from) > 0.02 ? { ...rest, [key]: [Math.min(from, to), Math.max(from, to)] } : rest, true);
  };
  // Arrows move the upper end of a brush, with Shift the lower one; from one end to the other is no brush.
  const press = (event: KeyboardEvent, key: string) => {
    const way = { ArrowUp: KEY_STEP, ArrowDown: -KEY_STEP, PageUp: KEY_PAGE, PageDown: -KEY_PAGE }[event.key];
    const { [key]: now, ...rest } = brushes;
    if (event.key === 'Escape' || event.key === 'Delete') onBrush(rest, true);
    if (!way) return;
    event.preventDefault();
    let [low, high] = now ?? [0, 1];
    if (event.shiftKey) low = Math.min(high - KEY_LEAST, Math.max(0, low + way));
    else high = Math.max(low + KEY_LEAST, Math.min(1, high + way));
    onBrush(low <= 0 && high >= 1 ? rest : { ...rest, [key]: [low, high] }, true);
  };
  const words = axes
    .filter((axis) => own(brushes, axis.key))
    .map((axis) => axis.words(...brushes[axis.key]))
    .join(', ');
  const csv = () =>
    toCsv([
      ['task', 'state', ...e.varying, 'steps', ...e.objective.map((o) => o.metric)],
      ...tasks
        .filter((t) => !lit || lit.has(String(t.number)))
        .map((t) => [
          t.number,
          t.state,
          ...e.varying.map((name) => own(t.parameters, name)),
          t.epoch,
          ...e.objective.map((o, i) => (i ? own(t.values, o.metric)?.best : t.best?.value)),
        ]),
    ]);
  const kept = shown ? tasks.filter((t) => shown.has(String(t.number))).length : tasks.length;
  const over = axes.map((a) => a.label).join(', ');
  const best = e.best ? ` The best is task ${e.best.task}.` : '';
  const label = `${plural(tasks.length, 'started task')} over ${over}.${best}`;
  return (
    <Card
      title="Parallel coordinates"
      id="parallel"
      extra={
        <>
          <span class="grow" />
          {shown && words ? (
            <span class="tag on">
              {words} · {shown.size} of {tasks.length}
              <button type="button" class="clear" aria-label="Clear the brush" onClick={() => onBrush({}, true)}>
                <Icon name="x" />
              </button>
            </span>
          ) : (
            <span class="mute small hide-phone">
              {scrolls
                ? `${plural(axes.length, 'axis', 'axes')}, scroll sideways →`
                : 'drag along an axis to keep a range'}
            </span>
          )}
          <Export name={`${e.id}-parallel`} of={box} csv={csv} />
        </>
      }
    >
      <div
        class={scrolls ? 'body scroll-x fading' : 'body scroll-x'}
        ref={box}
        {...(scrolls
          ? { tabIndex: 0, role: 'group' as const, 'aria-label': 'Parallel coordinates; scrolls sideways' }
          : {})}
      >
        {axes.length < 2 ? (
          <p class="no-chart mute">Needs a parameter that varies and one result.</p>
        ) : (
          <div class="with-keys">
            <svg
              ref={svg}
              class="parallel"
              width={W}
              height={H}
              viewBox={`0 0 ${W} ${H}`}
              role="img"
              aria-label={label}
              onMouseLeave={() => {
                hovered.value = null;
              }}
              onMouseOver={(event) => {
                const id = (event.target as Element).getAttribute('data-id');
                if (id) hovered.value = id;
              }}
              onClick={(event) => {
                const id = (event.target as Element).getAttribute('data-id');
                if (id) onOpen(id);
              }}
              onDblClick={() => onBrush({}, true)}
            >
              {drawn}
              {/* Between two axes lines come in level with a value: its label stands above them. */}
              {axes.map((axis, i) => {
                const end = i === axes.length - 1;
                const brush = own(brushes, axis.key);
                return (
                  <g key={axis.key}>
                    <line x1={x(i)} x2={x(i)} y1={TOP} y2={H - BOTTOM} class="axis" />
                    {axis.ticks.map((tick) => (
                      <g key={tick.text}>
                        <line x1={x(i) - 3} x2={x(i) + 3} y1={y(tick.at)} y2={y(tick.at)} class="tick" />
                        <text
                          class="halo"
                          x={end ? x(i) + 8 : x(i) - 6}
                          y={y(tick.at) + (i && !end ? -5 : 3.5)}
                          text-anchor={end ? 'start' : 'end'}
                        >
                          <title>{tick.text}</title>
                          {shortTick(tick.text, i && !end ? tickMost : TICK_MOST)}
                        </text>
                      </g>
                    ))}
                    <text
                      class="name"
                      x={i === 0 ? Math.max(0, x(i) - 40) : end ? W : x(i)}
                      y={nameRow(i)}
                      text-anchor={i === 0 ? 'start' : end ? 'end' : 'middle'}
                    >
                      <title>{axis.label}</title>
                      {shortened(axis.label, fits)}
                    </text>
                    {brush && (
                      <rect
                        class="brush"
                        x={x(i) - 7}
                        width={14}
                        y={y(brush[1])}
                        height={Math.max(2, y(brush[0]) - y(brush[1]))}
                        rx={3}
                      />
                    )}
                    <rect
                      class="grab"
                      x={x(i) - 12}
                      width={24}
                      y={TOP - 6}
                      height={H - TOP - BOTTOM + 12}
                      onPointerDown={(event) => down(event, axis.key)}
                      onPointerMove={move}
                      onPointerUp={up}
                    />
                  </g>
                );
              })}
            </svg>
            {axes.map((axis, i) => {
              const [low, high] = own(brushes, axis.key) ?? [0, 1];
              return (
                <span
                  key={axis.key}
                  class="axis-keys"
                  style={{ left: `${x(i) - 13}px`, top: `${TOP - 8}px`, height: `${H - TOP - BOTTOM + 16}px` }}
                  role="slider"
                  tabIndex={0}
                  aria-label={`Range of ${axis.label}: arrows move its upper end, with Shift its lower end`}
                  aria-orientation="vertical"
                  aria-valuemin={0}
                  aria-valuemax={100}
                  aria-valuenow={Math.round(100 * high)}
                  aria-valuetext={
                    own(brushes, axis.key) ? `${axis.words(low, high)}, ${kept} of ${tasks.length} tasks` : 'all'
                  }
                  onKeyDown={(event) => press(event, axis.key)}
                />
              );
            })}
          </div>
        )}
      </div>
    </Card>
  );
}
