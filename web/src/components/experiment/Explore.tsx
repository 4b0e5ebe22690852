// Charts to ask questions with: any two columns against each other, one parameter at a time, two parameters at a time,
// and who ran where and when. Loaded when one of them is chosen.
import type { Signal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { repeated } from '../../data/experiment';
import type { Analysis, Experiment, TaskSummary, Value } from '../../data/types';
import { type Colourable, hue, rampColour } from '../../lib/colour';
import { toCsv } from '../../lib/csv';
import { count, duration, finite, metric, param, plural, reading, seconds, tick } from '../../lib/format';
import { levelsOf, pairsOf } from '../../lib/interaction';
import { own } from '../../lib/own';
import { query, setQuery } from '../../lib/router';
import { declared, type Spread, type SpreadOptions, spread } from '../../lib/spread';
import { theme } from '../../lib/theme';
import { useWidth } from '../../lib/width';
import { Pick } from '../choice';
import { type Dot, Dots } from '../Dots';
import { Export } from '../Export';

export interface ExploreProps {
  e: Experiment;
  tasks: TaskSummary[];
  analysis: Analysis | null;
  hovered: Signal<string | null>;
  css: (task: Colourable) => string;
  lit: Set<string> | null;
  onOpen: (n: string) => void;
  // Where the page has not all tasks: which ones, such as "the best 500 of 2,500 tasks".
  part: string | null;
}

interface Field {
  key: string;
  label: string;
  value: (t: TaskSummary) => Value | null;
  format: (v: number) => string;
  // Of a parameter: how it was declared.
  axis?: SpreadOptions;
}

// Pixels of a letter in a cell, and the least height of one with words.
const CELL_LETTER = 6.4;
const CELL_LEAST = 34;
// Points that a small chart can show apart.
const SLICE_MOST = 600;

// What can be on an axis, with the columns' keys; costs that no task has are left out.
function fieldsOf(e: Experiment, tasks: TaskSummary[]): Field[] {
  const field = (
    key: string,
    label: string,
    value: (t: TaskSummary) => Value | null,
    format: (v: number) => string = tick,
  ): Field => ({ key, label, value, format });
  const [goal, ...further] = e.objective.map((o) => o.metric);
  const others = e.metrics.filter((m) => m !== goal && !further.includes(m));
  const of = (name: string, which: 'best' | 'last') => (t: TaskSummary) => finite(own(t.values, name)?.[which]);
  const all = [
    ...(goal ? [field('best', goal, (t) => finite(t.best?.value))] : []),
    ...further.map((m) => field(`m.${m}`, m, of(m, 'best'))),
    ...e.varying.map((name) => ({
      ...field(`p.${name}`, name, (t) => own(t.parameters, name) ?? null, param),
      axis: declared(e, name),
    })),
    field('time', 'Time', (t) => t.elapsed_s, duration),
    field('epoch', `${e.step_name || 'epoch'}s run`, (t) => t.epoch),
    field('energy', 'Energy, J', (t) => t.cost.energy_j),
    field('cpu_time', 'CPU time', (t) => t.cost.cpu_s, duration),
    field('gpu_time', 'GPU time', (t) => t.cost.gpu_s, duration),
    field('memory', 'Memory, bytes', (t) => t.cost.max_rss_bytes ?? null),
    field('started', 'Started after', (t) => seconds(e.created, t.started), duration),
    field('number', 'Number', (t) => t.number),
    field('state', 'State', (t) => t.state),
    field('node', 'Node', (t) => t.node),
  ].filter((f) => tasks.some((t) => f.value(t) !== null));
  // Their values come with the tasks once they are chosen.
  return [
    ...all,
    ...others.map((m) => field(`m.${m}`, `${m} at best`, of(m, 'best'))),
    ...e.metrics.map((m) => field(`last.${m}`, `${m}, last`, of(m, 'last'))),
  ];
}

function colourBy(field: Field | undefined, tasks: TaskSummary[], css: (t: Colourable) => string) {
  if (!field) return css;
  const axis = spread(
    tasks.map((t) => field.value(t)),
    field.format,
  );
  const values = axis.value ? null : [...new Set(tasks.map((t) => field.value(t)))].sort();
  return (t: TaskSummary) => {
    const at = axis.place(field.value(t));
    if (at === null) return undefined;
    return values ? hue(values.indexOf(field.value(t))) : rampColour(at);
  };
}

export function ScatterTab({ e, tasks, hovered, css, lit, onOpen, part }: ExploreProps) {
  const [box, width] = useWidth(600);
  const fields = useMemo(() => fieldsOf(e, tasks), [e, tasks]);
  const find = (name: string, or: string | undefined) =>
    fields.find((f) => f.key === query.value.get(name)) ?? fields.find((f) => f.key === or);
  const x = find('sx', e.varying[0] ? `p.${e.varying[0]}` : 'number') ?? fields[0];
  const y = find('sy', 'best') ?? fields[0];
  const colour = find('sc', undefined);
  const size = find('ss', undefined);
  const shade = useMemo(() => colourBy(colour, tasks, css), [colour?.key, tasks, css, theme.value]);
  const sizes = useMemo(
    () =>
      size &&
      spread(
        tasks.map((t) => size.value(t)),
        size.format,
      ),
    [size?.key, tasks],
  );
  const options = fields.map((f) => ({ value: f.key, label: f.label }));
  const some = [{ value: '', label: 'as the curves' }, ...options];
  const text = (f: Field, t: TaskSummary) => {
    const v = f.value(t);
    return `${f.label} ${typeof v === 'number' ? f.format(v) : (v ?? 'none')}`;
  };
  const dots: Dot[] = tasks.map((t) => {
    const at = sizes?.place(size!.value(t)) ?? null;
    return {
      id: String(t.number),
      x: x.value(t),
      y: y.value(t),
      css: shade(t),
      r: sizes ? 2.5 + 6 * (at ?? 0) : 3.4,
      title: `#${t.number}  ${[x, y, colour, size].flatMap((f) => (f ? [text(f, t)] : [])).join(', ')}`,
    };
  });
  const placed = dots.filter((d) => d.x !== null && d.y !== null);
  const axis = (f: Field): Spread =>
    spread(
      tasks.map((t) => f.value(t)),
      f.format,
      f.axis,
    );
  const set = (name: string) => (value: string) => setQuery({ [name]: value || null });
  return (
    <div class="body">
      <div class="explore-bar">
        <Pick label="Across" value={x.key} options={options} onPick={set('sx')} />
        <Pick label="Up" value={y.key} options={options} onPick={set('sy')} />
        <Pick label="Colour" value={colour?.key ?? ''} options={some} onPick={set('sc')} />
        <Pick
          label="Size"
          value={size?.key ?? ''}
          options={[{ value: '', label: 'all the same' }, ...options]}
          onPick={set('ss')}
        />
        <span class="grow" />
        <span class="mute small">
          {placed.length < tasks.length
            ? `${placed.length} of ${part ?? plural(tasks.length, 'task')} have both values`
            : (part ?? plural(tasks.length, 'task'))}
        </span>
        <Export
          name={`${e.id}-scatter`}
          of={box}
          csv={() => {
            const columns = [x, y, colour, size].filter((f): f is Field => !!f);
            const kept = tasks.filter((t) => !lit || lit.has(String(t.number)));
            return toCsv([
              ['task', ...columns.map((f) => f.label)],
              ...kept.map((t) => [t.number, ...columns.map((f) => f.value(t))]),
            ]);
          }}
        />
      </div>
      <div ref={box}>
        {placed.length ? (
          <Dots
            dots={dots}
            x={axis(x)}
            y={axis(y)}
            xName={x.label}
            yName={y.label}
            width={width.value}
            height={340}
            hovered={hovered}
            lit={lit}
            label={`${y.label} against ${x.label} for ${plural(placed.length, 'task')}.`}
            onPick={onOpen}
          />
        ) : (
          <p class="no-chart mute">No task has a value of both yet.</p>
        )}
      </div>
    </div>
  );
}

// What the daemon knows of finished tasks: their parameters and results in columns.
function useSlices(analysis: Analysis | null, most: number) {
  return useMemo(() => {
    const slices = analysis?.slices;
    if (!slices) return null;
    const all = slices.task.length;
    const every = Math.ceil(all / most) || 1;
    const kept = slices.task.map((_, i) => i).filter((i) => i % every === 0);
    const pick = <T,>(list: T[]) => kept.map((i) => list[i]);
    const parameters = Object.fromEntries(Object.entries(slices.parameters).map(([k, v]) => [k, pick(v)]));
    return { task: pick(slices.task), value: pick(slices.value), parameters, all };
  }, [analysis, most]);
}

// The parameters of one of them, as a task has them.
function parametersAt(columns: Record<string, (Value | null)[]>, at: number): Record<string, Value> {
  const given = Object.entries(columns).flatMap(([name, values]): [string, Value][] => {
    const value = values[at];
    return value === null ? [] : [[name, value]];
  });
  return Object.fromEntries(given);
}

export function SlicesTab({ e, analysis, hovered, css, lit, onOpen }: ExploreProps) {
  const [box, width] = useWidth(900);
  const slices = useSlices(analysis, SLICE_MOST);
  const names = e.varying.filter((name) => own(slices?.parameters, name));
  const goal = e.objective[0]?.metric ?? 'value';
  if (!slices || slices.task.length < 2 || !names.length)
    return <p class="no-chart mute">Needs a parameter that varies and two finished tasks with a value.</p>;
  const y = spread(slices.value, tick, { log: slices.value.every((v) => v > 0) });
  const colours = slices.task.map((_, i) => css({ parameters: parametersAt(slices.parameters, i) }));
  // The daemon, too, sends a part of very many; of repeated runs the points are configurations.
  const all = repeated(e) ? slices.all : Math.max(slices.all, e.tasks.finished);
  const over = !repeated(e) && analysis!.runs < all ? `the newest ${count(analysis!.runs)}` : 'them';
  const across = Math.max(1, Math.min(names.length, Math.floor(width.value / 280)));
  const wide = Math.floor((width.value - 12 * (across - 1)) / across);
  return (
    <div class="body">
      <div class="explore-bar">
        <span class="mute small">
          {goal} of {slices.task.length < all && `${count(slices.task.length)} of `}
          {plural(all, 'finished task')}
          {slices.task.length < all && `, spread evenly over ${over}`}, against each parameter
        </span>
        <span class="grow" />
        <Export
          name={`${e.id}-slices`}
          of={box}
          csv={() =>
            toCsv([
              ['task', goal, ...names],
              ...slices.task.map((n, i) => [n, slices.value[i], ...names.map((name) => slices.parameters[name][i])]),
            ])
          }
        />
      </div>
      <div class="slices" ref={box}>
        {names.map((name) => {
          const values = slices.parameters[name];
          return (
            <Dots
              key={name}
              dots={slices.task.map((n, i) => {
                return {
                  id: String(n),
                  x: values[i],
                  y: slices.value[i],
                  css: colours[i],
                  r: 2.8,
                  title: `#${n}  ${name} ${param(values[i] ?? undefined)}, ${goal} ${reading(slices.value[i])}`,
                };
              })}
              x={spread(values, param, { about: 4, ...declared(e, name) })}
              y={y}
              xName={name}
              yName={goal}
              width={wide}
              height={190}
              hovered={hovered}
              lit={lit}
              label={`${goal} against ${name}.`}
              onPick={onOpen}
            />
          );
        })}
      </div>
    </div>
  );
}

// The middle results of the cells of two parameters, below the tasks themselves.
export function PairsTab({ e, tasks, analysis, hovered, lit, onOpen }: ExploreProps) {
  const [box, width] = useWidth(700);
  const slices = useSlices(analysis, 2000);
  const pairs = useMemo(() => {
    if (!slices) return [];
    const names = e.varying.filter((name) => own(slices.parameters, name));
    return pairsOf(Object.fromEntries(names.map((name) => [name, slices.parameters[name]])), slices.value);
  }, [slices, e.varying]);
  const names = e.varying.filter((name) => own(slices?.parameters, name));
  const goal = e.objective[0];
  if (!slices || names.length < 2 || slices.task.length < 4)
    return <p class="no-chart mute">Needs two parameters that vary and a few finished tasks.</p>;
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
          name={`${e.id}-interactions`}
          of={box}
          csv={() =>
            toCsv([
              ['task', a, b, goal?.metric ?? 'value'],
              ...slices.task.map((n, i) => [n, slices.parameters[a][i], slices.parameters[b][i], slices.value[i]]),
            ])
          }
        />
      </div>
      <div class="two-way">
        <div ref={box}>
          <Cells
            {...{ e, tasks, hovered, lit, onOpen, slices, a, b }}
            name={goal?.metric ?? 'value'}
            max={goal?.goal === 'max'}
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
  slices: NonNullable<ReturnType<typeof useSlices>>;
  a: string;
  b: string;
  name: string;
  max: boolean;
  width: number;
  hovered: Signal<string | null>;
  lit: Set<string> | null;
  onOpen: (n: string) => void;
}) {
  const { e, slices, a, b, name, max } = props;
  const [xs, ys] = [slices.parameters[a], slices.parameters[b]];
  const x = spread(xs, param, declared(e, a));
  const y = spread(ys, param, declared(e, b));
  const order = [...slices.value].sort((p, q) => (max ? q - p : p - q));
  const rank = new Map(order.map((v, i) => [v, i / Math.max(1, order.length - 1)]));
  const cells = useMemo(() => medians(xs, ys, slices.value), [xs, ys, slices.value]);
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
        lit={props.lit}
        label={`${name} over ${a} and ${b} for ${plural(slices.task.length, 'task')}.`}
        onPick={props.onOpen}
        below={(px, py) => (
          <>
            {cells.map((cell) => {
              const [x0, x1] = cell.x.map((v) => x.place(v) ?? 0);
              const [y0, y1] = cell.y.map((v) => y.place(v) ?? 0);
              const half = { x: 0.44 * x.step, y: 0.44 * y.step };
              const [left, top] = [px(x0 - half.x), py(y1 + half.y)];
              const wide = Math.max(2, px(x1 + half.x) - left);
              const high = Math.max(2, py(y0 - half.y) - top);
              const words = `${metric(cell.middle)}, ${plural(cell.count, 'task')}`;
              return (
                <g key={cell.key}>
                  <rect
                    class="cell"
                    x={left}
                    y={top}
                    width={wide}
                    height={high}
                    fill={rampColour(1 - (rank.get(cell.middle) ?? 0.5))}
                  >
                    <title>{`${plural(cell.count, 'task')}, middle ${name} ${reading(cell.middle)}`}</title>
                  </rect>
                  {wide > words.length * CELL_LETTER && high > CELL_LEAST && (
                    <text class="halo" x={left + 4} y={top + 12}>
                      {words}
                    </text>
                  )}
                </g>
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
        <span class="mute">points: tasks; areas and numbers: the middle of those in them</span>
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
