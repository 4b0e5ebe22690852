// Any two columns of the tasks against each other, with colour and size by others. Loaded with all further charts.
import type { Signal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { Experiment, TaskSummary, Value } from '../../data/types';
import { type Colouring, colouring, HUES, hue, rampColour } from '../../lib/colour';
import { toCsv } from '../../lib/csv';
import { duration, finite, param, plural, seconds, tick } from '../../lib/format';
import { own } from '../../lib/own';
import { query, setQuery } from '../../lib/router';
import { declared, type Spread, type SpreadOptions, spread } from '../../lib/spread';
import { theme, token } from '../../lib/theme';
import { useWidth } from '../../lib/width';
import { ColourLegend } from '../ColourLegend';
import { Pick } from '../choice';
import { type Dot, Dots } from '../Dots';
import { Export } from '../Export';
import { type Points, usePoints } from './points';

export interface ExploreProps {
  e: Experiment;
  // All tasks, or of very many those that the other charts show.
  tasks: TaskSummary[];
  complete: boolean;
  hovered: Signal<string | null>;
  colours: Colouring;
  // What is kept or selected of these tasks; null: all. It needs the columns `needs` of them.
  litOf: (tasks: TaskSummary[]) => Set<string> | null;
  needs: string[];
  // All runs as points: those of one configuration are one. null: nothing is repeated.
  pooled: ((runs: TaskSummary[]) => TaskSummary[]) | null;
  // The same of `tasks`.
  lit: Set<string> | null;
  onOpen: (n: string) => void;
}

// All tasks, with what a chart needs of them: those that are here, or what the daemon says of all.
export interface All {
  // null: not here yet
  all: (Points & { lit: Set<string> | null }) | null;
  trouble: string | null;
}

export function useAll(props: ExploreProps, columns: string[]): All {
  const { e, tasks, complete, litOf, needs, pooled } = props;
  const asked = complete ? null : [...columns, ...needs];
  const { points, trouble } = usePoints(e, asked);
  const all = useMemo((): Points | null => {
    if (complete) return { tasks, part: null, total: tasks.length, sample: false, whole: true };
    if (!points || !pooled) return points;
    if (points.whole) return { ...points, tasks: pooled(points.tasks) };
    // The mean of some of the runs of a configuration is not its mean.
    const part = points.part ?? `${plural(points.tasks.length, 'task')} that pass the filter`;
    return { ...points, part: `${part}, as single runs` };
  }, [complete, complete ? tasks : points, pooled]);
  return { all: useMemo(() => all && { ...all, lit: litOf(all.tasks) }, [all, litOf]), trouble };
}

// Instead of a chart whose tasks are not here.
export function NotHere({ trouble }: { trouble: string | null }) {
  return (
    <p class="no-chart mute" role={trouble ? 'alert' : undefined}>
      {trouble ? `The tasks could not be read: ${trouble}` : 'Loading all tasks…'}
    </p>
  );
}

export interface Field {
  key: string;
  label: string;
  value: (t: TaskSummary) => Value | null;
  format: (v: number) => string;
  // Of a parameter: how it was declared.
  axis?: SpreadOptions;
}

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

const compare = (a: Value, b: Value) =>
  typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b));

// Colours by a column, in the way of the curves where it is a parameter.
function colourBy(e: Experiment, field: Field | undefined, tasks: TaskSummary[]) {
  if (!field) return null;
  const parameter = e.parameters.find((p) => field.key === `p.${p.name}`);
  if (parameter) {
    const of = colouring(parameter, tasks);
    return { ...of, css: (t: TaskSummary) => of.of(t).css };
  }
  const none = token('--text-3');
  const axis = spread(
    tasks.map((t) => field.value(t)),
    field.format,
    field.axis,
  );
  const base = { name: field.label, of: () => ({ css: none }), legend: [], ramp: null };
  if (axis.value) {
    const css = (t: TaskSummary) => {
      const at = axis.place(field.value(t));
      return at === null ? none : rampColour(at);
    };
    const ramp = { low: axis.value(0), high: axis.value(1), log: axis.log };
    return { ...base, css, ramp, format: (v: number) => field.format(Number(v.toPrecision(3))) };
  }
  const values = [...new Set(tasks.map((t) => field.value(t)))].filter((v): v is Exclude<Value, null> => v !== null);
  values.sort(compare);
  const shade = (i: number) => (values.length <= HUES ? hue(i) : rampColour(i / (values.length - 1)));
  const map = new Map<Value, string>(values.map((v, i) => [v, shade(i)]));
  const css = (t: TaskSummary) => map.get(field.value(t) as Value) ?? none;
  if (values.length > HUES)
    return { ...base, css, between: { first: values[0], last: values.at(-1)!, count: values.length } };
  return { ...base, css, legend: values.map((label) => ({ label, css: map.get(label)! })) };
}

const ends = (field: Field, sizes: Spread) =>
  [0, 1].map((at) => field.format(Number(sizes.value!(at).toPrecision(3)))).join(' to ');

export function ScatterTab(props: ExploreProps) {
  const { e, hovered, onOpen, colours } = props;
  const [box, width] = useWidth(600);
  const fields = useMemo(() => fieldsOf(e, props.tasks), [e, props.tasks]);
  const find = (name: string, or: string | undefined) =>
    fields.find((f) => f.key === query.value.get(name)) ?? fields.find((f) => f.key === or);
  const x = find('sx', e.varying[0] ? `p.${e.varying[0]}` : 'number') ?? fields[0];
  const y = find('sy', 'best') ?? fields[0];
  const colour = find('sc', undefined);
  const size = find('ss', undefined);
  const used = [x, y, colour, size].filter((f): f is Field => !!f);
  const { all, trouble } = useAll(props, [...used.map((f) => f.key), ...(colours.name ? [`p.${colours.name}`] : [])]);
  const tasks = all?.tasks ?? [];
  const lit = all?.lit ?? null;
  const shades = useMemo(() => colourBy(e, colour, tasks), [e, colour?.key, tasks, theme.value]);
  const sizes = useMemo(
    () =>
      size &&
      spread(
        tasks.map((t) => size.value(t)),
        size.format,
        size.axis,
      ),
    [size?.key, tasks],
  );
  const options = fields.map((f) => ({ value: f.key, label: f.label }));
  const some = [{ value: '', label: 'as the curves' }, ...options];
  const text = (f: Field, t: TaskSummary) => {
    const v = f.value(t);
    return `${f.label} ${typeof v === 'number' ? f.format(v) : (v ?? 'none')}`;
  };
  const dots: Dot[] = useMemo(
    () =>
      tasks.map((t) => {
        const at = sizes?.place(size!.value(t)) ?? null;
        return {
          id: String(t.number),
          x: x.value(t),
          y: y.value(t),
          css: shades ? shades.css(t) : colours.of(t).css,
          r: sizes ? 2.5 + 6 * (at ?? 0) : tasks.length > 2000 ? 2.6 : 3.4,
          title: `#${t.number}  ${used.map((f) => text(f, t)).join(', ')}`,
        };
      }),
    [tasks, sizes, shades, colours, x.key, y.key],
  );
  const placed = dots.filter((d) => d.x !== null && d.y !== null);
  const axis = (f: Field): Spread =>
    spread(
      tasks.map((t) => f.value(t)),
      f.format,
      f.axis,
    );
  const [across, up] = useMemo(() => [axis(x), axis(y)], [tasks, x.key, y.key]);
  const set = (name: string) => (value: string) => setQuery({ [name]: value || null });
  const of = all?.part ?? plural(tasks.length, 'task');
  const said = placed.length < tasks.length ? `${plural(placed.length, 'task')} with both values, of ${of}` : of;
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
        <Export
          name={`${e.id}-scatter${all?.sample ? '-sample' : ''}`}
          of={box}
          csv={() => {
            const kept = tasks.filter((t) => !lit || lit.has(String(t.number)));
            return toCsv([
              ['task', ...used.map((f) => f.label)],
              ...kept.map((t) => [t.number, ...used.map((f) => f.value(t))]),
            ]);
          }}
        />
      </div>
      <div ref={box}>
        {!all ? (
          <NotHere trouble={trouble} />
        ) : placed.length ? (
          <>
            <Dots
              dots={dots}
              x={across}
              y={up}
              xName={x.label}
              yName={y.label}
              width={width.value}
              height={340}
              hovered={hovered}
              lit={lit}
              label={`${y.label} against ${x.label} for ${plural(placed.length, 'task')}.`}
              onPick={onOpen}
            />
            <div class="legend">
              <ColourLegend colours={shades ?? colours} />
              {size && sizes?.value && (
                <span class="mute">
                  <bdi>{`size: ${size.label}, from ${ends(size, sizes)}`}</bdi>
                </span>
              )}
              <span class="grow" />
              <span class="mute">{said}</span>
            </div>
          </>
        ) : (
          <p class="no-chart mute">
            {tasks.length
              ? 'No task has a value of both yet.'
              : all.total
                ? 'None of the sample passes the filter.'
                : 'No task passes the filter.'}
          </p>
        )}
      </div>
    </div>
  );
}
