// One parameter at a time and two at a time, against an objective. Loaded with the other further charts.
import type { Signal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { Experiment, TaskSummary, Value } from '../../data/types';
import { type Colourable, rampColour } from '../../lib/colour';
import { toCsv } from '../../lib/csv';
import { finite, metric, param, plural, reading, tick } from '../../lib/format';
import { levelsOf, pairsOf } from '../../lib/interaction';
import { own } from '../../lib/own';
import { query, setQuery } from '../../lib/router';
import { aside, declared, spread } from '../../lib/spread';
import { useWidth } from '../../lib/width';
import { ColourLegend } from '../ColourLegend';
import { Pick } from '../choice';
import { type Dot, Dots } from '../Dots';
import { Export } from '../Export';
import { type ExploreProps, NotHere, useAll } from './Explore';
import { ObjectivePick, objectiveNow } from './objective';

// Pixels of a letter in a cell, and the least height of one with words.
const CELL_LETTER = 6.4;
const CELL_LEAST = 34;
// Tasks from which the interactions are computed: more say the same and hold the page.
const PAIRS_MOST = 2000;

interface Slices {
  task: number[];
  value: number[];
  parameters: Record<string, (Value | null)[]>;
  tasks: TaskSummary[];
  part: string | null;
  sample: boolean;
  lit: Set<string> | null;
}

// The finished tasks that have a value of the objective, in columns. Null: not here yet.
function useSlices(props: ExploreProps, at: number): { slices: Slices | null; trouble: string | null } {
  const { e } = props;
  const name = e.objective[at]?.metric;
  const key = at ? `m.${name}` : 'best';
  const { all, trouble } = useAll(props, ['state', key, ...e.varying.map((one) => `p.${one}`)]);
  const slices = useMemo(() => {
    if (!all) return null;
    const value = (t: TaskSummary) => finite(at ? own(t.values, name!)?.best : t.best?.value);
    const tasks = all.tasks.filter((t) => t.state === 'finished' && value(t) !== null);
    return {
      task: tasks.map((t) => t.number),
      value: tasks.map((t) => value(t)!),
      parameters: Object.fromEntries(
        e.varying
          .map((one) => [one, tasks.map((t) => own(t.parameters, one) ?? null)] as const)
          .filter(([, values]) => values.some((v) => v !== null)),
      ),
      tasks,
      part: all.part,
      sample: all.sample,
      lit: all.lit,
    };
  }, [all, at, name, e.varying]);
  return { slices, trouble };
}

const saidOf = (slices: Slices) => {
  const some = plural(slices.task.length, 'finished task');
  return slices.part ? `${some} among ${slices.part}` : some;
};

export function SlicesTab(props: ExploreProps) {
  const { e, hovered, colours, onOpen } = props;
  const [box, width] = useWidth(900);
  const [at, goal] = objectiveNow(e);
  const { slices, trouble } = useSlices(props, at);
  const names = e.varying.filter((name) => own(slices?.parameters, name));
  const y = useMemo(() => slices && spread(slices.value, tick, { log: slices.value.every((v) => v > 0) }), [slices]);
  const charts = useMemo(
    () =>
      slices &&
      names.map((name) => {
        const values = slices.parameters[name];
        const dots = slices.tasks.map(
          (t, i): Dot => ({
            id: String(t.number),
            x: values[i],
            y: slices.value[i],
            css: colours.of(t as Colourable).css,
            r: slices.task.length > PAIRS_MOST ? 2 : 2.8,
            title: `#${t.number}  ${name} ${param(values[i] ?? undefined)}, ${goal} ${reading(slices.value[i])}`,
          }),
        );
        return { name, dots, x: spread(values, param, { about: 4, ...declared(e, name) }) };
      }),
    [slices, names.join(), colours, goal],
  );
  if (!slices) return <NotHere trouble={trouble} />;
  const across = Math.max(1, Math.min(names.length, Math.floor(width.value / 280)));
  const wide = Math.floor((width.value - 12 * (across - 1)) / across);
  const enough = slices.task.length > 1 && names.length > 0;
  return (
    <div class="body">
      <div class="explore-bar">
        <ObjectivePick e={e} />
        <span class="mute small">
          <bdi>{goal}</bdi> of {saidOf(slices)}, against each parameter
        </span>
        <span class="grow" />
        {enough && (
          <Export
            name={`${e.id}-slices${slices.sample ? '-sample' : ''}`}
            of={box}
            csv={() =>
              toCsv([
                ['task', goal, ...names],
                ...slices.task.map((n, i) => [n, slices.value[i], ...names.map((name) => slices.parameters[name][i])]),
              ])
            }
          />
        )}
      </div>
      <div ref={box}>
        {enough ? (
          <>
            <div class="slices">
              {charts!.map(({ name, dots, x }) => (
                <Dots
                  key={name}
                  dots={dots}
                  x={x}
                  y={y!}
                  xName={name}
                  yName={goal}
                  width={wide}
                  height={190}
                  hovered={hovered}
                  lit={slices.lit}
                  label={`${goal} against ${name}.`}
                  onPick={onOpen}
                />
              ))}
            </div>
            <div class="legend">
              <ColourLegend colours={colours} />
            </div>
          </>
        ) : (
          <p class="no-chart mute">Needs a parameter that varies and two finished tasks with a value.</p>
        )}
      </div>
    </div>
  );
}

// The same for all that is computed from them, where they are very many.
function sampled(slices: Slices): Columns {
  const every = slices.task.length / PAIRS_MOST;
  if (every <= 1) return slices;
  const kept = slices.task.flatMap((n, i) => ((aside(n, 2) + 1) / 2 < 1 / every ? [i] : []));
  const pick = <T,>(list: T[]) => kept.map((i) => list[i]);
  return {
    value: pick(slices.value),
    parameters: Object.fromEntries(Object.entries(slices.parameters).map(([k, v]) => [k, pick(v)])),
  };
}

type Columns = { value: number[]; parameters: Record<string, (Value | null)[]> };

// The middle results of the cells of two parameters, below the tasks themselves.
export function PairsTab(props: ExploreProps) {
  const { e, hovered, onOpen } = props;
  const [box, width] = useWidth(700);
  const [at, metricName] = objectiveNow(e);
  const { slices, trouble } = useSlices(props, at);
  const pairs = useMemo(() => {
    if (!slices) return [];
    const some = sampled(slices);
    const names = e.varying.filter((name) => own(some.parameters, name));
    return pairsOf(Object.fromEntries(names.map((name) => [name, some.parameters[name]])), some.value);
  }, [slices, e.varying]);
  const names = e.varying.filter((name) => own(slices?.parameters, name));
  if (!slices) return <NotHere trouble={trouble} />;
  if (names.length < 2 || slices.task.length < 4)
    return (
      <div class="body">
        <div class="explore-bar">
          <ObjectivePick e={e} />
        </div>
        <p class="no-chart mute">Needs two parameters that vary and a few finished tasks.</p>
      </div>
    );
  const wanted = (key: string, or: string) => {
    const name = query.value.get(key);
    return name && names.includes(name) ? name : or;
  };
  const a = wanted('pa', pairs[0].a);
  const b = wanted(
    'pb',
    pairs.find((p) => p.a === a || p.b === a)!.a === a
      ? pairs.find((p) => p.a === a)!.b
      : pairs.find((p) => p.b === a)!.a,
  );
  return (
    <div class="body">
      <div class="explore-bar">
        <ObjectivePick e={e} />
        <Pick
          label="Across"
          value={a}
          options={names.map((n) => ({ value: n, label: n }))}
          onPick={(v) => setQuery({ pa: v, pb: v === b ? a : b })}
        />
        <Pick
          label="Up"
          value={b}
          options={names.filter((n) => n !== a).map((n) => ({ value: n, label: n }))}
          onPick={(v) => setQuery({ pa: a, pb: v })}
        />
        <span class="grow" />
        <Export
          name={`${e.id}-interactions${slices.sample ? '-sample' : ''}`}
          of={box}
          csv={() =>
            toCsv([
              ['task', a, b, metricName],
              ...slices.task.map((n, i) => [n, slices.parameters[a][i], slices.parameters[b][i], slices.value[i]]),
            ])
          }
        />
      </div>
      <div class="two-way">
        <div ref={box}>
          <Cells
            {...{ e, hovered, onOpen, slices, a, b }}
            name={metricName}
            max={e.objective[at]?.goal === 'max'}
            width={width.value}
          />
        </div>
        <div>
          <table class="plain">
            <caption class="mute small">
              How much of the spread of the results (by rank) two parameters explain together beyond each alone, less
              what chance would
            </caption>
            <tbody>
              {pairs.slice(0, 10).map((p) => (
                <tr key={`${p.a} ${p.b}`} class={[a, b].includes(p.a) && [a, b].includes(p.b) ? 'selected' : undefined}>
                  <td class="wrap">
                    <button type="button" class="link" onClick={() => setQuery({ pa: p.a, pb: p.b })}>
                      <bdi>{p.a}</bdi> and <bdi>{p.b}</bdi>
                    </button>
                  </td>
                  <td class="right numeric">{p.share === null ? 'too few tasks' : `${Math.round(p.share * 100)} %`}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </div>
    </div>
  );
}

function Cells(props: {
  e: Experiment;
  slices: Slices;
  a: string;
  b: string;
  name: string;
  max: boolean;
  width: number;
  hovered: Signal<string | null>;
  onOpen: (n: string) => void;
}) {
  const { e, slices, a, b, name, max } = props;
  const [xs, ys] = [slices.parameters[a], slices.parameters[b]];
  const x = spread(xs, param, declared(e, a));
  const y = spread(ys, param, declared(e, b));
  const order = [...slices.value].sort((p, q) => (max ? q - p : p - q));
  const rank = new Map(order.map((v, i) => [v, i / Math.max(1, order.length - 1)]));
  const cells = useMemo(() => medians(xs, ys, slices.value), [xs, ys, slices.value]);
  const frameOf = (cell: (typeof cells)[number], px: (at: number) => number, py: (at: number) => number) => {
    const [x0, x1] = cell.x.map((v) => x.place(v) ?? 0);
    const [y0, y1] = cell.y.map((v) => y.place(v) ?? 0);
    const [left, top] = [px(x0 - 0.44 * x.step), py(y1 + 0.44 * y.step)];
    return [left, top, Math.max(2, px(x1 + 0.44 * x.step) - left), Math.max(2, py(y0 - 0.44 * y.step) - top)];
  };
  return (
    <>
      <Dots
        dots={slices.task.map((n, i) => ({
          id: String(n),
          x: xs[i],
          y: ys[i],
          css: rampColour(1 - rank.get(slices.value[i])!),
          r: 3.6,
          class: 'on',
          title: `#${n}  ${a} ${param(xs[i] ?? undefined)}, ${b} ${param(ys[i] ?? undefined)}: ${name} ${reading(slices.value[i])}`,
        }))}
        x={x}
        y={y}
        xName={a}
        yName={b}
        width={props.width}
        height={320}
        hovered={props.hovered}
        lit={slices.lit}
        label={`${name} over ${a} and ${b} for ${plural(slices.task.length, 'task')}.`}
        onPick={props.onOpen}
        above={(px, py) =>
          x.step || y.step
            ? cells.map((cell) => {
                const [left, top, wide, high] = frameOf(cell, px, py);
                const words = `${metric(cell.middle)}, ${plural(cell.count, 'task')}`;
                if (wide < words.length * CELL_LETTER || high < CELL_LEAST) return null;
                return (
                  <text key={cell.key} class="halo" x={left + 4} y={top + 12}>
                    {words}
                  </text>
                );
              })
            : null
        }
        below={(px, py) => (
          <>
            {cells.map((cell) => {
              const [left, top, wide, high] = frameOf(cell, px, py);
              return (
                <rect
                  key={cell.key}
                  class="cell"
                  x={left}
                  y={top}
                  width={wide}
                  height={high}
                  fill={rampColour(1 - (rank.get(cell.middle) ?? 0.5))}
                >
                  <title>{`${plural(cell.count, 'task')}, middle ${name} ${reading(cell.middle)}`}</title>
                </rect>
              );
            })}
          </>
        )}
      />
      <div class="legend">
        <span class="mute">
          <bdi>{`${name}, by rank`}</bdi>
        </span>
        <span>
          worst {metric(order[order.length - 1])} <i class="swatch ramp" /> best {metric(order[0])}
        </span>
        <span class="mute">points: {saidOf(slices)}; areas and numbers: the middle of those in them</span>
      </div>
    </>
  );
}

// The cells of the table of two parameters with the middle result of each, between the values that are in it.
function medians(xs: (Value | null)[], ys: (Value | null)[], values: number[]) {
  const [la, lb] = [levelsOf(xs), levelsOf(ys)];
  const cells = new Map<string, { x: Value[]; y: Value[]; values: number[] }>();
  values.forEach((value, i) => {
    if (la.of[i] === null || lb.of[i] === null) return;
    const key = `${la.of[i]} ${lb.of[i]}`;
    const cell = cells.get(key) ?? { x: [], y: [], values: [] };
    cell.x.push(xs[i]!);
    cell.y.push(ys[i]!);
    cell.values.push(value);
    cells.set(key, cell);
  });
  const ends = (list: Value[]): [Value, Value] => {
    if (list.some((v) => typeof v !== 'number')) return [list[0], list[0]];
    const numbers = list as number[];
    return [numbers.reduce((p, q) => Math.min(p, q)), numbers.reduce((p, q) => Math.max(p, q))];
  };
  return [...cells].map(([key, cell]) => ({
    key,
    x: ends(cell.x),
    y: ends(cell.y),
    count: cell.values.length,
    middle: [...cell.values].sort((p, q) => p - q)[cell.values.length >> 1],
  }));
}
