// One experiment: what is known about it, its curves, and its configurations.
import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { axisNow } from '../components/axis';
import { Card } from '../components/Card';
import { Crumbs } from '../components/Crumbs';
import { Seg } from '../components/choice';
import { CurvesCard } from '../components/experiment/CurvesCard';
import { Importance, SearchCard, useAbout } from '../components/experiment/Insight';
import { type Brushes, brushed, Parallel } from '../components/experiment/Parallel';
import { Scatter } from '../components/experiment/Scatter';
import { Strip } from '../components/experiment/Strip';
import { TaskTable } from '../components/experiment/TaskTable';
import { Icon } from '../components/Icon';
import { KeyValues } from '../components/KeyValues';
import { Menu } from '../components/Menu';
import { Banner, Loading, Trouble } from '../components/notice';
import { ExperimentChip, STATES } from '../components/State';
import {
  removeExperiment,
  restartFailed,
  restartLarger,
  restartTasks,
  resumeExperiment,
  stopAll,
  stoppable,
  stopTasks,
} from '../data/actions';
import { message, save, strategyTitle } from '../data/api';
import { largerForAll } from '../data/larger';
import { ExperimentStore } from '../data/store';
import { toast } from '../data/toast';
import type { Analysis, Experiment, TaskSummary } from '../data/types';
import { buildAxes } from '../lib/axes';
import { colouring } from '../lib/colour';
import { taskFilter } from '../lib/filter';
import { capitalize, duration, energy, plural, seconds } from '../lib/format';
import { focusedRow, moveRow, useKeys } from '../lib/keys';
import { order } from '../lib/order';
import { go, query, setQuery } from '../lib/router';
import { plain } from '../lib/text';
import { theme } from '../lib/theme';
import { MissingPage, useTitle } from './Other';

const ROWS_FIRST = 500;
// On a phone the cards below the table must stay in reach.
const ROWS_PHONE = 12;
const phone = matchMedia('(max-width: 640px)');

function selection(): Set<number> {
  return new Set((query.value.get('sel') ?? '').split(',').filter(Boolean).map(Number));
}

function Costs({ e, tasks }: { e: Experiment; tasks: TaskSummary[] }) {
  const waits = tasks
    .map((t) => seconds(t.submitted, t.started))
    .filter((s): s is number => s !== null)
    .sort((a, b) => a - b);
  const lost = tasks
    .filter((t) => t.state === 'error' || t.state === 'stopped')
    .reduce((sum, t) => sum + (t.elapsed_s ?? 0), 0);
  return (
    <Card title="Time and energy" id="costs">
      <div class="body">
        <KeyValues
          rows={[
            ['Time of all tasks', e.cost.wall_s === null ? 'nothing yet' : duration(e.cost.wall_s)],
            ['GPU time', e.cost.gpu_s ? duration(e.cost.gpu_s) : 'none'],
            ['Queue wait, median', waits.length ? duration(waits[waits.length >> 1]) : 'none started yet'],
            ['Lost to errors and stops', duration(lost)],
            ['Energy', energy(e.cost.energy_j)],
            ['Source', e.cost.energy_source ?? 'not measured'],
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

function Actions({ e, tasks, onClone }: { e: Experiment; tasks: TaskSummary[]; onClone: () => void }) {
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
          { label: 'Remove…', icon: 'trash', danger: true, run: () => void removeExperiment(e.id, e.name, e.tasks) },
        ]}
      />
    </div>
  );
}

export function ExperimentPage({ id }: { id: string }) {
  const store = useMemo(() => new ExperimentStore(id, query.value.get('metric'), axisNow()), [id]);
  useEffect(() => store.open(), [store]);
  const e = store.detail.value;
  useTitle(e?.name ?? id);
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
  const brushes = useSignal<Brushes>({});
  const most = useSignal(phone.matches ? ROWS_PHONE : ROWS_FIRST);
  const analysis = useAbout<Analysis>(e, 'analysis').value;
  const tasks = useMemo(() => [...store.tasks.value.values()], [store.tasks.value]);
  const goal = e.objective[0];
  const sort = query.value.get('sort') ?? (goal?.goal === 'max' ? '-best' : 'best');
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
  const css = useMemo(() => (task: TaskSummary) => colours.of(task).css, [colours]);
  const started = useMemo(() => tasks.filter((t) => t.started !== null), [tasks]);
  const axes = useMemo(() => buildAxes(e, started), [started, e.varying]);
  const shown = useMemo(() => brushed(started, axes, brushes.value), [started, axes, brushes.value]);
  const rows = useMemo(() => {
    const keep = taskFilter(text, goal?.metric ?? null);
    return order(
      tasks.filter(
        (t) => (state === 'all' || t.state === state) && (!shown || shown.has(String(t.number))) && (!text || keep(t)),
      ),
      sort,
    );
  }, [tasks, state, text, sort, shown]);
  const selected = selection();
  const chosen = tasks.filter((t) => selected.has(t.number));
  const select = (numbers: number[], on: boolean) => {
    const next = selection();
    for (const n of numbers)
      if (on) next.add(n);
      else next.delete(n);
    setQuery({ sel: [...next].sort((a, b) => a - b).join() });
  };
  const focused = () => {
    const row = focusedRow();
    return row === null ? undefined : store.tasks.value.get(Number(row));
  };
  const targets = () => (chosen.length ? chosen : [focused()].filter((t): t is TaskSummary => !!t));
  const compare = () => {
    if (chosen.length) go(`/e/${e.id}/compare?tasks=${chosen.map((t) => t.number).join()}`);
  };
  useKeys({
    j: () => moveRow(1),
    k: () => moveRow(-1),
    x: () => {
      const t = focused();
      if (t) select([t.number], !selected.has(t.number));
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
  const states = STATES.filter((s) => e.tasks[s] > 0);
  return (
    <>
      <div class="head">
        <div class="headline">
          <Crumbs items={[{ href: '/', label: 'Experiments' }, { label: e.name }]} />
          <div class="title">
            <h1>
              <bdi>{e.name}</bdi>
            </h1>
            <ExperimentChip e={e} />
            <span class="tag" title={e.search?.reason ?? undefined}>
              {strategyTitle(e.strategy)}
            </span>
            {e.script && (
              <span class="tag">
                <Icon name="file" />
                <bdi>{e.script}</bdi>
              </span>
            )}
            <span class="tag">{e.backend}</span>
          </div>
          {e.description && (
            <p class="dim small">
              <bdi>{plain(e.description)}</bdi>
            </p>
          )}
        </div>
        <Actions e={e} tasks={tasks} onClone={() => go(`/new?from=${e.id}`)} />
      </div>
      {e.paused && (
        <Banner kind="error" icon="pause" title={`Paused: ${e.paused}`} role="alert">
          <div class="btns">
            <button type="button" class="btn small" onClick={() => void resumeExperiment(e.id)}>
              <Icon name="play" />
              Go on as it is
            </button>
          </div>
        </Banner>
      )}
      {e.note && !e.paused && (
        <Banner kind={e.waiting_for ? 'note' : 'warn'} icon="clock" title={capitalize(e.note)} role="status" />
      )}
      {(e.warnings ?? []).map((warning) => (
        <Banner key={warning} kind="warn" icon="alert" title={warning} />
      ))}
      <Strip e={e} tasks={tasks} />
      <div class="grid cols-experiment">
        <CurvesCard
          store={store}
          e={e}
          tasks={tasks}
          colours={colours}
          hovered={hovered}
          shown={shown}
          forecast={analysis?.curves}
        />
        <Parallel
          e={e}
          tasks={started}
          axes={axes}
          brushes={brushes}
          shown={shown}
          hovered={hovered}
          css={css}
          onOpen={(n) => go(`/e/${e.id}/${n}`)}
        />
      </div>
      <div class="grid cols-results">
        <Card
          title="Configurations"
          id="configs"
          class="clip"
          extra={
            <>
              <Seg
                label="Filter by state"
                value={state}
                onPick={(value) => setQuery({ state: value === 'all' ? null : value })}
                options={[
                  {
                    value: 'all',
                    label: (
                      <>
                        All <span class="numeric">{tasks.length}</span>
                      </>
                    ),
                  },
                  ...states.map((s) => ({
                    value: s as string,
                    label: (
                      <>
                        {capitalize(s)} <span class="numeric">{e.tasks[s]}</span>
                      </>
                    ),
                  })),
                ]}
              />
              <span class="grow" />
              <label class="search slim">
                <Icon name="filter" />
                <span class="visually-hidden">Filter configurations</span>
                <input
                  type="search"
                  class="mono"
                  data-search
                  value={text}
                  placeholder={e.varying[0] ? `${e.varying[0]} = …` : 'node, value'}
                  onInput={(event) => setQuery({ q: event.currentTarget.value })}
                />
              </label>
              <button type="button" class="btn compact" disabled={chosen.length < 2} onClick={compare}>
                <Icon name="git" />
                Compare{chosen.length > 1 ? ` (${chosen.length})` : ''}
              </button>
            </>
          }
        >
          {chosen.length > 0 && (
            <div class="bulk" role="region" aria-label="Selected configurations">
              <b>{plural(chosen.length, 'configuration')} selected</b>
              <span class="grow" />
              <button
                type="button"
                class="btn compact danger"
                disabled={!chosen.some(stoppable)}
                onClick={() => void stopTasks(e.id, chosen)}
              >
                <Icon name="stop" />
                Stop {chosen.filter(stoppable).length || ''}
              </button>
              <button
                type="button"
                class="btn compact"
                disabled={chosen.every(stoppable)}
                onClick={() => void restartTasks(e.id, chosen)}
              >
                <Icon name="restart" />
                Restart {chosen.filter((t) => !stoppable(t)).length || ''}
              </button>
              <button type="button" class="btn compact" onClick={() => setQuery({ sel: null })}>
                Clear
              </button>
            </div>
          )}
          <TaskTable
            e={e}
            rows={rows.slice(0, most.value)}
            css={css}
            selected={selected}
            hovered={hovered}
            sort={sort}
            onSort={(next) => setQuery({ sort: next })}
            onSelect={select}
          />
          {!rows.length && (
            <p class="none mute">
              {tasks.length ? (
                <>
                  No configuration matches.{' '}
                  <button
                    type="button"
                    class="link"
                    onClick={() => {
                      brushes.value = {};
                      setQuery({ q: null, state: null });
                    }}
                  >
                    Show all {tasks.length}
                  </button>
                </>
              ) : (
                'The search has not proposed a configuration yet.'
              )}
            </p>
          )}
          <div class="table-foot">
            <span>
              {Math.min(rows.length, most.value)} of {plural(store.total.value, 'configuration')}
              {chosen.length ? `, ${chosen.length} selected` : ''}
            </span>
            {rows.length > most.value && (
              <button
                type="button"
                class="link"
                onClick={() => {
                  most.value += ROWS_FIRST;
                }}
              >
                Show more
              </button>
            )}
            <span class="grow" />
            <span class="hide-phone">
              <kbd>x</kbd> select <kbd>c</kbd> compare <kbd>s</kbd> stop <kbd>r</kbd> restart
            </span>
          </div>
        </Card>
        <aside class="grid" aria-label="Analysis">
          <SearchCard
            e={e}
            analysis={analysis}
            onChange={(shown) => {
              store.detail.value = shown;
            }}
          />
          <Importance analysis={analysis} />
          <Scatter e={e} tasks={tasks} analysis={analysis} hovered={hovered} css={css} />
          <Costs e={e} tasks={tasks} />
        </aside>
      </div>
    </>
  );
}
