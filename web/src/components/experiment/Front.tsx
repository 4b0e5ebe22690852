// Two numbers against each other: a point for each finished task, and the front of those that nothing beats in both.
// The daemon knows the fronts of the objectives and of the time; energy is in the tasks.
import type { Signal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { Analysis, Experiment, TaskSummary, Front as Theirs } from '../../data/types';
import { toCsv } from '../../lib/csv';
import { count, duration, finite, plural, reading, tick } from '../../lib/format';
import { type Goal, growth, hypervolume, type Point } from '../../lib/front';
import { query, setQuery } from '../../lib/router';
import { spread } from '../../lib/spread';
import { token } from '../../lib/theme';
import { useWidth } from '../../lib/width';
import { Card } from '../Card';
import { Seg } from '../choice';
import { type Box, Dots } from '../Dots';
import { Export } from '../Export';
import { Neighbours } from './Neighbours';

export interface FrontDot {
  n: number;
  x: number;
  y: number;
  front: boolean;
}
export interface FrontPicture {
  key: string;
  label: string;
  title: string;
  unit: string;
  name: string;
  goals: [Goal, Goal];
  dots: FrontDot[];
  // Of how many tasks the points are.
  runs: number;
  // Of two objectives: the area is measured to here. In the order of the objectives.
  reference: [number, number] | null;
  format: (v: number) => string;
}

// Of many only the first are named.
function unbeaten(numbers: number[]) {
  const named = numbers.slice(0, 8).map((n) => `#${n}`);
  const more = numbers.length - named.length;
  const last = more ? `${more} more` : (named.pop() ?? '');
  return `No task beats ${named.length ? `${named.join(', ')} or ` : ''}${last} in both.`;
}

function fromFront(front: Theirs): FrontPicture {
  const [name, unit] = front.axes.map((a) => a.name);
  const time = unit === 'time_s';
  return {
    key: unit,
    name,
    label: time ? 'Time' : unit,
    title: time ? 'Result against time' : `${name} against ${unit}`,
    unit: time ? 'time per task' : unit,
    goals: front.axes.map((a) => a.goal) as [Goal, Goal],
    runs: front.runs,
    dots: front.points.map((p) => ({ n: p.task, y: p.values[0], x: p.values[1], front: p.front })),
    reference: time ? null : (front.reference as [number, number] | null),
    format: time ? (v) => (v < 60 ? `${tick(v)} s` : duration(v)) : tick,
  };
}

function fromEnergy(e: Experiment, tasks: TaskSummary[]): FrontPicture | null {
  const goal = e.objective[0];
  const sign = goal?.goal === 'max' ? -1 : 1;
  const dots = tasks
    .filter((t) => t.state === 'finished')
    .map((t) => ({
      n: t.number,
      x: t.cost.energy_j === null ? null : t.cost.energy_j / 3600,
      y: finite(t.best?.value),
      front: false,
    }))
    .filter((p): p is FrontDot => p.x !== null && p.y !== null);
  // From the left, whatever is better than all before it.
  let best = Infinity;
  for (const p of [...dots].sort((a, b) => a.x - b.x || sign * (a.y - b.y))) {
    p.front = sign * p.y < best;
    best = Math.min(best, sign * p.y);
  }
  return dots.length
    ? {
        key: 'energy',
        name: goal?.metric ?? 'result',
        label: 'Energy',
        title: 'Result against energy',
        unit: 'Wh per task',
        goals: [goal?.goal ?? 'min', 'min'],
        dots,
        runs: dots.length,
        reference: null,
        format: tick,
      }
    : null;
}

// Several objectives come first; of the costs, energy says more than time.
export function frontPictures(e: Experiment, tasks: TaskSummary[], analysis: Analysis | null): FrontPicture[] {
  const energy = fromEnergy(e, tasks);
  const fronts = (analysis?.fronts ?? []).filter((f) => f.axes.length === 2).map(fromFront);
  return [
    ...fronts.filter((f) => f.key !== 'time_s'),
    ...(energy ? [energy] : []),
    ...fronts.filter((f) => f.key === 'time_s'),
  ];
}

export const frontShown = (pictures: FrontPicture[]): FrontPicture | undefined =>
  pictures.find((p) => p.key === query.value.get('against')) ?? pictures[0];

// The part that was dragged over, in values: from and to of the horizontal axis, then of the vertical one.
function partNow(): Box | null {
  const [a, b, c, d] = (query.value.get('front') ?? '').split('~').map(Number);
  return a <= b && c <= d ? [a, b, c, d] : null;
}

// The tasks in the part of the front that was dragged over; null: all.
export function frontKept(picture: FrontPicture | undefined): Set<string> | null {
  const part = partNow();
  if (!part || !picture) return null;
  const [a, b, c, d] = part;
  return new Set(picture.dots.filter((p) => p.x >= a && p.x <= b && p.y >= c && p.y <= d).map((p) => String(p.n)));
}

interface Props {
  e: Experiment;
  tasks: TaskSummary[];
  analysis: Analysis | null;
  pictures: FrontPicture[];
  hovered: Signal<string | null>;
  css: (task: TaskSummary) => string;
  // What brush, filter or selection keep; null: all.
  lit: Set<string> | null;
  onOpen: (n: string) => void;
  height: number;
}

export function Front({ e, tasks, analysis, pictures, hovered, css, lit, onOpen, height }: Props) {
  const [box, width] = useWidth(300);
  const shown = frontShown(pictures);
  const dots = shown?.dots ?? [];
  const byNumber = useMemo(() => new Map(tasks.map((t) => [t.number, t])), [tasks]);
  const front = useMemo(() => dots.filter((p) => p.front).sort((a, b) => a.x - b.x || a.y - b.y), [dots]);
  const xs = useMemo(
    () =>
      spread(
        dots.map((p) => p.x),
        shown?.format ?? tick,
        { about: 4 },
      ),
    [dots],
  );
  const ys = useMemo(
    () =>
      spread(
        dots.map((p) => p.y),
        tick,
        { log: dots.every((p) => p.y > 0), about: 5 },
      ),
    [dots],
  );
  const many = e.objective.length > 1;
  const at = Number(query.value.get('at')) || null;
  const chosen = dots.find((p) => p.n === at);
  const part = partNow();
  const brush: Box | null = part && [
    xs.place(part[0]) ?? 0,
    xs.place(part[1]) ?? 1,
    ys.place(part[2]) ?? 0,
    ys.place(part[3]) ?? 1,
  ];
  const keep = (box: Box | null) => {
    const digits = (v: number) => Number(v.toPrecision(6));
    setQuery({
      front:
        box && xs.value && ys.value
          ? [xs.value(box[0]), xs.value(box[1]), ys.value(box[2]), ys.value(box[3])].map(digits).join('~')
          : null,
    });
  };
  return (
    <Card
      title={shown?.title ?? 'Result against time'}
      id="front"
      extra={
        <>
          <span class="grow" />
          {pictures.length > 1 ? (
            <Seg
              label="Pareto front of"
              value={shown?.key ?? ''}
              onPick={(key) => setQuery({ against: key === pictures[0].key ? null : key, front: null, at: null })}
              options={pictures.map((p) => ({ value: p.key, label: p.label }))}
            />
          ) : (
            <span class="mute small">Pareto front</span>
          )}
          {dots.length > 1 && (
            <Export
              name={`${e.id}-front`}
              of={box}
              csv={() =>
                toCsv([
                  ['task', shown!.name, shown!.unit, 'front'],
                  ...dots.filter((p) => !lit || lit.has(String(p.n))).map((p) => [p.n, p.y, p.x, p.front]),
                ])
              }
            />
          )}
        </>
      }
    >
      <div class="body" ref={box}>
        {dots.length < 2 || !shown ? (
          <p class="mute small">Needs two finished tasks with a value.</p>
        ) : (
          <>
            <Dots
              // What is on the front lies on top: it is what people point at.
              dots={[...dots]
                .sort((a, b) => Number(a.front) - Number(b.front))
                .map((p) => {
                  const task = byNumber.get(p.n);
                  return {
                    id: String(p.n),
                    x: p.x,
                    y: p.y,
                    // Of many tasks the page knows the parameters of a part.
                    css: task ? css(task) : token('--text-3'),
                    r: p.front ? 4.5 : 3.2,
                    class: `${p.front ? 'on' : ''}${p.n === at ? ' chosen' : ''}`,
                    title: `#${p.n}  ${shown.name} ${reading(p.y)}, ${shown.unit} ${shown.format(p.x)}`,
                  };
                })}
              x={xs}
              y={ys}
              xName={shown.unit}
              yName={shown.name}
              width={width.value}
              height={height}
              hovered={hovered}
              lit={lit}
              label={`${shown.name} against ${shown.unit} for ${dots.length} tasks. ${unbeaten(front.map((p) => p.n))}`}
              onPick={(id) => (many ? setQuery({ at: id === String(at) ? null : id }) : onOpen(id))}
              brush={brush}
              onBrush={keep}
              below={(px, py) => (
                <>
                  <path
                    class="front"
                    d={front
                      .map((p, i) => {
                        const [x, y] = [px(xs.place(p.x)!).toFixed(1), py(ys.place(p.y)!).toFixed(1)];
                        return i ? `H${x}V${y}` : `M${x} ${y}`;
                      })
                      .join('')}
                  />
                  {dots
                    .filter((p) => p.n === e.best?.task)
                    .map((p) => {
                      const x = px(xs.place(p.x)!);
                      const west = x > width.value / 2;
                      return (
                        <text
                          key="best"
                          class="label halo"
                          x={x + (west ? -8 : 8)}
                          y={py(ys.place(p.y)!) + 4}
                          text-anchor={west ? 'end' : 'start'}
                        >
                          #{p.n}
                        </text>
                      );
                    })}
                </>
              )}
            />
            {dots.length < shown.runs && (
              <div class="legend">
                <span class="mute">
                  {`${plural(dots.length, 'task')} of ${count(shown.runs)}, with all of the front; `}
                  {`grey: not among the best ${count(tasks.length)}, whose parameters are here`}
                </span>
              </div>
            )}
            {shown.reference && many && <Volume shown={shown} analysis={analysis} width={width.value} />}
            {many && chosen && (
              <Neighbours e={e} shown={shown} front={front} chosen={chosen} tasks={byNumber} hovered={hovered} />
            )}
            {many && !chosen && (
              <p class="mute small">Click a point for its neighbours; drag over some to keep them.</p>
            )}
          </>
        )}
      </div>
    </Card>
  );
}

// The reference point, and the hypervolume after each task that ended.
function Volume({ shown, analysis, width: W }: { shown: FrontPicture; analysis: Analysis | null; width: number }) {
  const typed = (query.value.get('ref') ?? '').split('~').map(Number);
  const own = typed.length === 2 && typed.every(Number.isFinite);
  const reference = (own ? typed : shown.reference!) as [number, number];
  const set = (index: number, text: string) => {
    const next = [...reference];
    next[index] = Number(text);
    if (text.trim() && Number.isFinite(next[index])) setQuery({ ref: next.join('~') });
  };
  const points = useMemo(() => {
    const order = new Map((analysis?.progress ?? []).map((p, i) => [p.task, i]));
    return shown.dots
      .map((d): Point => ({ n: d.n, values: [d.y, d.x] }))
      .sort((a, b) => (order.get(a.n) ?? a.n) - (order.get(b.n) ?? b.n));
  }, [shown, analysis]);
  const areas = useMemo(() => growth(points, shown.goals, reference), [points, reference.join()]);
  const last = hypervolume(points, shown.goals, reference);
  const H = 74;
  const x = (i: number) => 52 + ((W - 64) * i) / Math.max(1, areas.length - 1);
  const y = (v: number) => H - 18 - (last > 0 ? v / last : 0) * (H - 26);
  return (
    <div class="volume">
      <svg
        class="scatter"
        width={W}
        height={H}
        viewBox={`0 0 ${W} ${H}`}
        role="img"
        aria-label={`Hypervolume after ${areas.length} tasks: ${tick(last)}.`}
      >
        <text x={46} y={12} text-anchor="end">
          {tick(Number(last.toPrecision(3)))}
        </text>
        <text x={46} y={H - 14} text-anchor="end">
          0
        </text>
        <line class="grid-line" x1={52} x2={W - 12} y1={H - 17.5} y2={H - 17.5} />
        <path
          class="so-far"
          d={areas
            .map((v, i) => (i ? `H${x(i).toFixed(1)}V${y(v).toFixed(1)}` : `M${x(i).toFixed(1)} ${y(v).toFixed(1)}`))
            .join('')}
        />
        <text x={W - 12} y={H - 4} text-anchor="end">
          hypervolume over {plural(areas.length, 'task')}
        </text>
      </svg>
      <p class="small reference">
        <span class="mute">Reference point</span>
        {[shown.name, shown.unit].map((name, i) => (
          <label key={name}>
            <bdi>{name}</bdi>
            <input
              type="number"
              step="any"
              class="input"
              value={Number(reference[i].toPrecision(5))}
              onChange={(event) => set(i, event.currentTarget.value)}
            />
          </label>
        ))}
        {own && (
          <button type="button" class="link" onClick={() => setQuery({ ref: null })}>
            a tenth beyond the worst
          </button>
        )}
        <span class="mute">
          Hypervolume <b title={String(last)}>{tick(Number(last.toPrecision(4)))}</b>
        </span>
      </p>
    </div>
  );
}
