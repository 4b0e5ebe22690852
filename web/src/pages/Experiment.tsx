// One experiment: what is known about it, its curves, and its tasks.
import { type Signal, useSignal } from '@preact/signals';
import { useCallback, useEffect, useMemo, useRef } from 'preact/hooks';
import { axisNow } from '../components/axis';
import { Card } from '../components/Card';
import { Crumbs } from '../components/Crumbs';
import { Advice } from '../components/experiment/Advice';
import { BestSoFar } from '../components/experiment/BestSoFar';
import { keysOf } from '../components/experiment/ColumnChoice';
import { CurvesCard } from '../components/experiment/CurvesCard';
import { ExploreCard } from '../components/experiment/ExploreCard';
import { Front, frontKept, frontPictures, frontShown } from '../components/experiment/Front';
import { Importance, SearchCard, useAbout } from '../components/experiment/Insight';
import { brushed, Parallel } from '../components/experiment/Parallel';
import { Strip } from '../components/experiment/Strip';
import { TasksCard } from '../components/experiment/TasksCard';
import { Icon } from '../components/Icon';
import { KeyValues } from '../components/KeyValues';
import { Notes, Star, Tags } from '../components/Marks';
import { Menu } from '../components/Menu';
import { Banner, Loading, Trouble, Warnings } from '../components/notice';
import { Said } from '../components/Said';
import { ExperimentChip } from '../components/State';
import {
  removeExperiment,
  restartFailed,
  restartLarger,
  restartTasks,
  resumeExperiment,
  stopAll,
  stopTasks,
} from '../data/actions';
import { message, save, strategyTitle } from '../data/api';
import { type Asked, ExperimentStore, repeated, runsOf } from '../data/experiment';
import { iconOf } from '../data/icon';
import { largerForAll } from '../data/larger';
import { markExperiment } from '../data/marks';
import { titleOf } from '../data/tell';
import { toast } from '../data/toast';
import type { Analysis, Experiment, Marks, TaskSummary } from '../data/types';
import { type Brushes, buildAxes, readBrushes, writeBrushes } from '../lib/axes';
import { type Colourable, colouring } from '../lib/colour';
import { bestFormat } from '../lib/columns';
import { capitalize, duration, energy, plural, seconds } from '../lib/format';
import { FRONT_MOST, frontNumbers } from '../lib/front';
import { focusedRow, moveRow, useKeys } from '../lib/keys';
import { memo } from '../lib/memo';
import { order } from '../lib/order';
import { isPooled, Pool } from '../lib/pool';
import { go, query, setQuery } from '../lib/router';
import { plain, unticked } from '../lib/text';
import { theme } from '../lib/theme';
import { MissingPage, useTitle } from './Other';

const FILTER_MS = 150;

// What a change of the address does not concern is not rendered again for it.
const Costs = memo(CostsCard);
const Coordinates = memo(Parallel);
const Curves = memo(CurvesCard);
const Further = memo(ExploreCard);
const Figures = memo(Strip);
const TheFront = memo(Front);
const SoFar = memo(BestSoFar);
const Search = memo(SearchCard);
const Importances = memo(Importance);
const Advices = memo(Advice);
const Head = memo(Actions);

// What two sets have in common; null is all.
function both(a: Set<string> | null, b: Set<string> | null): Set<string> | null {
  if (!a || !b) return a ?? b;
  return new Set([...a].filter((n) => b.has(n)));
}

const texts = (numbers: Set<number>) => new Set([...numbers].map(String));

function pick(of: Map<number, TaskSummary>, numbers: number[]): TaskSummary[] {
  return numbers.map((n) => of.get(n)).filter((t): t is TaskSummary => !!t);
}

// The list of before where it has the same members: what is made from it stays, too.
function useSame<T>(list: T[]): T[] {
  const before = useRef(list);
  const same = list.length === before.current.length && list.every((one, i) => one === before.current[i]);
  if (!same) before.current = list;
  return before.current;
}

// The analysis with the numbers that the page gives to configurations.
function pooledAnalysis(analysis: Analysis | null, pool: Pool | null): Analysis | null {
  if (!analysis || !pool) return analysis;
  const lead = (task: number) => pool.of(task)?.number ?? task;
  return {
    ...analysis,
    progress: analysis.progress.map((p) => ({ ...p, task: lead(p.task) })),
    fronts: analysis.fronts.map((f) => ({ ...f, points: f.points.map((p) => ({ ...p, task: lead(p.task) })) })),
  };
}

// The same highlight under the numbers of configurations, in both directions.
function useLead(hovered: Signal<string | null>, pool: Pool | null): Signal<string | null> {
  const led = useSignal<string | null>(null);
  const leadOf = (id: string | null) => (id !== null && pool ? pool.leadOf(id) : id);
  useEffect(
    () =>
      hovered.subscribe((id) => {
        led.value = leadOf(id);
      }),
    [pool],
  );
  useEffect(
    () =>
      led.subscribe((id) => {
        if (leadOf(hovered.peek()) !== id) hovered.value = id;
      }),
    [pool],
  );
  return pool ? led : hovered;
}

function selection(): Set<number> {
  return new Set((query.value.get('sel') ?? '').split(',').filter(Boolean).map(Number));
}

function CostsCard({ e, tasks, complete }: { e: Experiment; tasks: TaskSummary[]; complete: boolean }) {
  // From the moment the task was there. Of one that was started again from scratch the first start is not known here.
  const waits = tasks
    .filter((t) => t.attempt === 1)
    .map((t) => seconds(t.created, t.started))
    .filter((s): s is number => s !== null)
    .sort((a, b) => a - b);
  const lost = tasks
    .filter((t) => t.state === 'error' || t.state === 'stopped')
    .reduce((sum, t) => sum + (t.cost.wall_s ?? t.elapsed_s ?? 0), 0);
  return (
    <Card title="Time and energy" id="costs">
      <div class="body">
        <KeyValues
          rows={[
            ['Time of all tasks', e.cost.wall_s === null ? 'nothing yet' : duration(e.cost.wall_s)],
            ['GPU time', e.cost.gpu_s ? duration(e.cost.gpu_s) : 'none'],
            // Only all tasks together say these.
            ...(complete
              ? [
                  [
                    'Wait before the start, median',
                    waits.length
                      ? duration(waits[waits.length >> 1])
                      : tasks.some((t) => t.started)
                        ? 'not known'
                        : 'none started yet',
                  ] as [string, string],
                  ['In failed and stopped tasks', duration(lost)] as [string, string],
                ]
              : []),
            // The strip says that it is not measured.
            ...(e.cost.energy_j === null
              ? []
              : [
                  ['Energy', energy(e.cost.energy_j)] as [string, string],
                  ['Source', e.cost.energy_source ?? 'not known'] as [string, string],
                ]),
          ]}
        />
      </div>
    </Card>
  );
}

// One click for the tasks that failed for want of memory or time.
function RestartLarger({ e, tasks }: { e: Experiment; tasks: TaskSummary[] }) {
  return (
    <>
      {(['memory', 'time'] as const).map((kind) => {
        const failed = tasks.filter((t) => t.state === 'error' && t.cause?.kind === kind);
        const larger = failed.length ? largerForAll(e, kind) : null;
        if (!larger) return null;
        return (
          <button
            key={kind}
            type="button"
            class="btn"
            title={`${plural(failed.length, 'task')} ran out of ${kind}. Further attempts of this experiment get as much, too.`}
            onClick={() =>
              void restartLarger(
                e.id,
                failed.map((t) => t.number),
                larger,
              )
            }
          >
            <Icon name="restart" />
            Restart {failed.length} with {larger.label}
          </button>
        );
      })}
    </>
  );
}

type OnMark = (marks: Marks) => Promise<unknown>;

function Actions({
  e,
  tasks,
  onClone,
  onMark,
}: {
  e: Experiment;
  tasks: TaskSummary[];
  onClone: () => void;
  onMark: OnMark;
}) {
  const failed = e.tasks.error;
  const open = e.state === 'running' || e.state === 'waiting' || e.state === 'submitted';
  const fetchFile = (path: string, name: string) => () => {
    save(`/experiments/${e.id}/${path}`, `${e.id}.${name}`).catch((problem) =>
      toast(message(problem), { level: 'error' }),
    );
  };
  return (
    <div class="btns bottom-phone">
      <button type="button" class={open || failed ? 'btn hide-phone' : 'btn'} onClick={onClone}>
        <Icon name="copy" />
        Clone
      </button>
      <RestartLarger e={e} tasks={tasks} />
      {failed > 0 && (
        <button type="button" class="btn" onClick={() => void restartFailed(e.id, failed)}>
          <Icon name="restart" />
          Restart failed ({failed})
        </button>
      )}
      {e.state === 'stopped' && (
        <button
          type="button"
          class="btn"
          title="What was stopped runs again, and the search goes on. Finished tasks are kept."
          onClick={() => void resumeExperiment(e.id)}
        >
          <Icon name="play" />
          Resume
        </button>
      )}
      {open && (
        <button type="button" class="btn danger" onClick={() => void stopAll(e.id, e.tasks)}>
          <Icon name="stop" />
          Stop all
        </button>
      )}
      <Menu
        label="More actions"
        items={[
          { label: 'Clone', icon: 'copy', run: onClone },
          { label: 'Export as CSV', icon: 'down', run: fetchFile('export?format=csv', 'csv') },
          { label: 'Export as JSON', icon: 'down', run: fetchFile('export?format=json', 'json') },
          { label: 'Experiment file', icon: 'file', run: fetchFile('source', 'yaml') },
          { label: 'Batch script', icon: 'file', run: fetchFile('script', 'sh') },
          {
            label: e.archived ? 'Unarchive' : 'Archive',
            icon: 'box',
            run: () => void onMark({ archived: !e.archived }),
          },
          { label: 'Remove…', icon: 'trash', danger: true, run: () => void removeExperiment(e.id, e.name, e.tasks) },
        ]}
      />
    </div>
  );
}

// What the address asks the table for. `only`: tasks that are asked for by their numbers.
function askedNow(only: Set<number> | null = null): Asked {
  const text = (query.value.get('q') ?? '').trim();
  // There is no task 0: of an empty front none is shown.
  const numbers = only && ([...only].map((n) => `#${n}`).join(' or ') || '#0');
  return {
    sort: query.value.get('sort') ?? '',
    state: query.value.get('state') ?? 'all',
    filter: numbers ? (text ? `(${text}) and (${numbers})` : numbers) : text,
    // Columns that were added, and what the scatter shows.
    metrics: [...new Set([...keysOf('more'), ...['sx', 'sy', 'sc', 'ss'].map((name) => query.value.get(name) ?? '')])]
      .map((key) => /^(?:m|last)\.(.+)$/.exec(key)?.[1])
      .filter((name): name is string => !!name),
  };
}

export function ExperimentPage({ id }: { id: string }) {
  const store = useMemo(() => new ExperimentStore(id, query.value.get('metric'), axisNow(), askedNow()), [id]);
  useEffect(() => store.open(), [store]);
  const e = store.detail.value;
  useTitle(e ? titleOf(e) : id, e && iconOf(e));
  if (store.removed.value || (store.missing.value && !e)) return <MissingPage what="experiment" />;
  if (!e)
    return (
      <>
        <h1 class="visually-hidden">{id}</h1>
        {store.error.value ? <Trouble what="The experiment" error={store.error.value} /> : <Loading />}
      </>
    );
  return <Loaded store={store} e={e} />;
}

function Loaded({ store, e }: { store: ExperimentStore; e: Experiment }) {
  const hovered = useSignal<string | null>(null);
  // An axis that is being dragged along; the address gets it at the end.
  const dragged = useSignal<Brushes | null>(null);
  const told = useAbout<Analysis>(e, 'analysis').value;
  const { complete, rows: listed } = { complete: store.complete.value, rows: store.rows.value };
  const known = store.tasks.value;
  const charted = store.charted.value;
  // All tasks, or those that the charts show.
  const tasks = useSame(
    useMemo(() => (complete ? [...known.values()] : pick(known, charted)), [known, charted, complete]),
  );
  // With repeats a configuration is one point in the charts and one row of the table.
  const runs = runsOf(e, tasks.length);
  const pool = useMemo(
    () => (repeated(e) ? new Pool(complete ? tasks : [...known.values()], complete, runs) : null),
    [tasks, complete ? null : known, complete, runs],
  );
  const dots = useMemo(
    () => (pool ? (complete ? pool.tasks : pool.order(tasks, 'best', true)) : tasks),
    [pool, tasks, complete],
  );
  const led = useLead(hovered, pool);
  const analysis = useMemo(() => pooledAnalysis(told, pool), [told, pool]);
  const goal = e.objective[0];
  const natural = goal?.goal === 'max' ? '-best' : 'best';
  const sort = query.value.get('sort') ?? natural;
  const state = query.value.get('state') ?? 'all';
  const text = query.value.get('q') ?? '';
  const colourName = query.value.get('colour') ?? e.varying[0];
  const colours = useMemo(
    () =>
      colouring(
        e.parameters.find((p) => p.name === colourName && e.varying.includes(p.name)),
        tasks,
      ),
    [colourName, e.parameters, tasks.length, theme.value],
  );
  const css = useMemo(() => (task: Colourable) => colours.of(task).css, [colours]);
  // Imported tasks never started here, but have a result.
  const started = useMemo(() => dots.filter((t) => t.started !== null || t.best !== null), [dots]);
  const axes = useMemo(() => buildAxes(e, started), [started, e.varying]);
  const brushText = query.value.get('brush') ?? '';
  const brushes = useMemo(() => dragged.value ?? readBrushes(brushText, axes), [dragged.value, brushText, axes]);
  const fronts = useMemo(() => frontPictures(e, dots, analysis), [dots, analysis]);
  const partText = query.value.get('front') ?? '';
  const part = useMemo(() => frontKept(frontShown(fronts)), [fronts, partText, query.value.get('against')]);
  const onFront = useMemo(() => frontNumbers(e, analysis), [e.objective, analysis]);
  const frontTold = complete || (onFront?.size ?? 0) <= FRONT_MOST;
  const frontOnly = query.value.get('only') === 'front' && frontTold ? onFront : null;
  const shown = useMemo(() => {
    const found = both(both(brushed(started, axes, brushes), part), frontOnly && texts(frontOnly));
    const kept = pool ? pool.spread(found) : found;
    return complete && listed ? both(new Set(listed.map(String)), kept) : kept;
  }, [started, axes, brushes, part, frontOnly, complete, listed, pool]);
  useEffect(() => {
    const timer = setTimeout(() => void store.ask(askedNow(complete ? null : frontOnly)), FILTER_MS);
    return () => clearTimeout(timer);
  }, [store, sort, state, text, askedNow().metrics.join(), complete ? null : frontOnly]);
  const openText = query.value.get('runs') ?? '';
  const opened = useMemo(() => new Set(openText.split(',').filter(Boolean).map(Number)), [openText]);
  const rows = useMemo(() => {
    // The daemon's pages are in its order, and hold tasks that are in no chart.
    const of = complete ? tasks : pick(known, listed ?? []);
    const found = complete ? shown : both(brushed(pool?.order(of, 'best', true) ?? of, axes, brushes), part);
    const keep = complete || !pool ? found : pool.spread(found);
    const kept = of.filter((t) => (state === 'all' || t.state === state) && (!keep || keep.has(String(t.number))));
    if (!pool) return complete ? order(kept, sort) : kept;
    // The runs of an opened configuration stand below it.
    const passing = new Set(kept);
    return pool
      .order(kept, sort, !complete)
      .flatMap((t) => [t, ...(opened.has(t.configuration.first) ? t.runs.filter((run) => passing.has(run)) : [])]);
  }, [complete ? tasks : known, listed, state, sort, shown, axes, complete, pool, openText]);
  const format = useMemo(() => bestFormat(dots), [dots]);
  const selected = selection();
  const chosen = pick(known, [...selected]);
  // Charts light up the selection, or else what brush and filter keep; state counts as a filter.
  const lit = useMemo(() => {
    if (chosen.length) return new Set(chosen.map((t) => String(t.number)));
    if (state === 'all') return shown;
    return both(new Set(tasks.filter((t) => t.state === state).map((t) => String(t.number))), shown);
  }, [query.value.get('sel'), state, shown, tasks]);
  const litDots = useMemo(() => (pool ? pool.leads(lit) : lit), [pool, lit]);
  const select = (numbers: number[], on: boolean) => {
    const next = selection();
    for (const n of numbers)
      if (on) next.add(n);
      else next.delete(n);
    setQuery({ sel: [...next].sort((a, b) => a - b).join() });
  };
  // The task of the row with the focus; of a configuration all its runs.
  const focused = () => {
    const row = focusedRow();
    const at = rows.find((t) => (isPooled(t) ? `c${t.number}` : String(t.number)) === row);
    return at ? (isPooled(at) ? at.runs : [at]) : [];
  };
  const targets = () => (chosen.length ? chosen : focused());
  const compare = () => {
    if (chosen.length) go(`/e/${e.id}/compare?tasks=${chosen.map((t) => t.number).join()}`);
  };
  useKeys({
    j: () => moveRow(1),
    k: () => moveRow(-1),
    x: () => {
      const numbers = focused().map((t) => t.number);
      select(numbers, !numbers.every((n) => selected.has(n)));
    },
    c: compare,
    s: () => {
      const t = targets();
      if (t.length) void stopTasks(e.id, t);
    },
    r: () => {
      const t = targets();
      if (t.length) void restartTasks(e.id, t);
    },
  });
  const openTask = useCallback((n: string) => go(`/e/${e.id}/${n}`), [e.id]);
  const clone = useCallback(() => go(`/new?from=${e.id}`), [e.id]);
  const mark: OnMark = useCallback(
    async (marks) => {
      const marked = await markExperiment(e.id, marks);
      if (marked) store.detail.value = marked;
      return marked;
    },
    [store],
  );
  const brush = useCallback(
    (next: Brushes, done: boolean) => {
      dragged.value = done ? null : next;
      if (done) setQuery({ brush: writeBrushes(next, axes) || null });
    },
    [axes],
  );
  const change = useCallback((shown: Experiment) => store.take(shown), [store]);
  // Of several objectives the front is what people look at: it gets room.
  const many = e.objective.length > 1;
  // Charts that show all tasks ask for those that are not here, with what tells whether they are lit.
  const litOf = useCallback(
    (of: TaskSummary[]) => {
      if (complete) return litDots;
      if (!selected.size) return both(brushed(of, axes, brushes), part);
      const has = (t: TaskSummary) =>
        isPooled(t) ? t.runs.some((run) => selected.has(run.number)) : selected.has(t.number);
      return new Set(of.filter(has).map((t) => String(t.number)));
    },
    [complete, litDots, query.value.get('sel'), axes, brushes, part],
  );
  const brushing = Object.keys(brushes).length > 0;
  const needs = useMemo(
    () =>
      brushing || pool
        ? [
            'best',
            'state',
            'epoch',
            ...e.varying.map((n) => `p.${n}`),
            ...e.objective.slice(1).map((o) => `m.${o.metric}`),
          ]
        : [],
    [brushing, !pool, e.varying, e.objective],
  );
  const pooled = useMemo(() => (pool ? (of: TaskSummary[]) => new Pool(of, true, runs).tasks : null), [!pool, runs]);
  const charts = { e, tasks: dots, analysis, hovered: led, css, lit: litDots, onOpen: openTask };
  const front = (height: number) => <TheFront {...charts} pictures={fronts} height={height} />;
  const soFar = (height: number) => (
    <SoFar {...charts} complete={complete} pooled={pooled} needs={needs} height={height} />
  );
  return (
    <>
      <div class="head">
        <div class="headline">
          <Crumbs items={[{ href: '/', label: 'Experiments' }, { label: e.name }]} />
          <div class="title">
            <h1>
              <bdi>{e.name}</bdi>
            </h1>
            <span class="tag mono" title="The id, for commands and links">
              {e.id}
            </span>
            <ExperimentChip e={e} />
            <span class="tag" title={e.search?.reason ? unticked(e.search.reason) : undefined}>
              {strategyTitle(e.strategy)}
            </span>
            {e.script && (
              <span class="tag">
                <Icon name="file" />
                <bdi>{e.script}</bdi>
              </span>
            )}
            <span class="tag">{e.backend}</span>
            {e.archived && <span class="tag">archived</span>}
            <Star on={e.star} onMark={mark} />
            <Tags tags={e.tags} onMark={mark} />
          </div>
          {e.description && (
            <p class="dim small">
              <bdi>{plain(e.description)}</bdi>
            </p>
          )}
        </div>
        <Head e={e} tasks={tasks} onClone={clone} onMark={mark} />
      </div>
      {e.paused && (
        <Banner kind="error" icon="pause" title={<Said text={`Paused: ${e.paused}`} />} role="alert">
          <div class="btns">
            <button type="button" class="btn small" onClick={() => void resumeExperiment(e.id)}>
              <Icon name="play" />
              Go on as it is
            </button>
          </div>
        </Banner>
      )}
      {e.note && !e.paused && (
        <Banner
          kind={e.waiting_for ? 'note' : 'warn'}
          icon="clock"
          title={<Said text={capitalize(e.note)} />}
          role="status"
        />
      )}
      <Warnings texts={e.warnings ?? []} />
      <Figures e={e} tasks={tasks} format={format} />
      <div class="grid cols-experiment">
        <Curves
          store={store}
          e={e}
          tasks={tasks}
          colours={colours}
          hovered={hovered}
          shown={lit}
          format={format}
          forecast={analysis?.curves}
        />
        <Coordinates
          e={e}
          tasks={started}
          axes={axes}
          brushes={brushes}
          onBrush={brush}
          shown={pool ? pool.leads(shown) : shown}
          lit={litDots}
          hovered={led}
          css={css}
          onOpen={openTask}
        />
      </div>
      {many && (
        <div class="grid cols-experiment">
          {front(300)}
          {soFar(390)}
        </div>
      )}
      <Further
        e={e}
        tasks={dots}
        complete={complete}
        hovered={led}
        colours={colours}
        lit={litDots}
        litOf={litOf}
        needs={needs}
        pooled={pooled}
        onOpen={openTask}
      />
      <div class="grid cols-results">
        <TasksCard
          store={store}
          e={e}
          tasks={tasks}
          rows={rows}
          pool={pool}
          css={css}
          selected={selected}
          front={onFront}
          chosen={chosen}
          hovered={hovered}
          format={format}
          sort={sort}
          onSelect={select}
          onCompare={compare}
          onShowAll={() => setQuery({ q: null, state: null, only: null, brush: null, front: null })}
        />
        <aside class="grid" aria-label="Analysis">
          <Search e={e} analysis={analysis} onChange={change} />
          <Importances e={e} analysis={analysis} />
          {!many && front(180)}
          {!many && soFar(150)}
          <Advices e={e} />
          <Costs e={e} tasks={tasks} complete={complete} />
          <Notes notes={e.notes} onMark={mark} />
        </aside>
      </div>
    </>
  );
}
