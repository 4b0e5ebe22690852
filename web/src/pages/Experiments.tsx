// The list of experiments: summaries only, filtered and sorted in the URL.
import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { Seg } from '../components/choice';
import { Icon } from '../components/Icon';
import { ClusterCard, NeedsAttention, Totals } from '../components/ListAside';
import { Empty, Loading, Trouble } from '../components/notice';
import { SortHead } from '../components/SortHead';
import { Spark } from '../components/Spark';
import { ExperimentChip, ended, StateBar, StateCounts } from '../components/State';
import { strategyTitle } from '../data/api';
import { runExample } from '../data/example';
import { experiments } from '../data/store';
import type { ExperimentSummary } from '../data/types';
import { duration, energy, finite, metric, plural, when } from '../lib/format';
import { moveRow, useKeys } from '../lib/keys';
import { query, setQuery } from '../lib/router';
import { plain } from '../lib/text';
import { useTitle } from './Other';

type Filter = 'all' | 'active' | 'errors' | 'ended';
const KEEP: Record<Filter, (e: ExperimentSummary) => boolean> = {
  all: () => true,
  active: (e) => e.state === 'running' || e.state === 'waiting' || e.state === 'submitted',
  errors: (e) => e.tasks.error > 0,
  ended: (e) => e.state === 'finished' || e.state === 'stopped' || e.state === 'error',
};

const number = (id: string) => Number(id.slice(1));
const SORTS: Record<string, (a: ExperimentSummary, b: ExperimentSummary) => number> = {
  name: (a, b) => a.name.localeCompare(b.name),
  state: (a, b) => a.state.localeCompare(b.state),
  tasks: (a, b) => a.tasks.total - b.tasks.total,
  best: (a, b) => (finite(a.best?.value) ?? Infinity) - (finite(b.best?.value) ?? Infinity),
  cost: (a, b) =>
    (a.cost.gpu_s ?? a.cost.cpu_s ?? a.cost.wall_s ?? 0) - (b.cost.gpu_s ?? b.cost.cpu_s ?? b.cost.wall_s ?? 0),
  submitted: (a, b) => (a.created ?? '').localeCompare(b.created ?? '') || number(a.id) - number(b.id),
};

function matches(e: ExperimentSummary, text: string): boolean {
  const all =
    `${e.id} ${e.name} ${e.description ?? ''} ${e.script ?? ''} ${e.strategy} ${e.state} ${e.backend}`.toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((part) => all.includes(part));
}

export function costLines(cost: ExperimentSummary['cost']): [string, string] {
  const time = cost.gpu_s
    ? `${(cost.gpu_s / 3600).toFixed(1)} GPU-h`
    : cost.cpu_s
      ? `${duration(cost.cpu_s)} CPU`
      : cost.wall_s === null
        ? 'nothing yet'
        : duration(cost.wall_s);
  return [time, cost.energy_j === null ? 'energy not measured' : energy(cost.energy_j)];
}

function Row({ e }: { e: ExperimentSummary }) {
  const [time, power] = costLines(e.cost);
  const goal = e.objective[0];
  const active = e.state === 'running';
  return (
    <tr data-row={e.id}>
      <td class="name">
        <div class="line">
          <a class="row" href={`/e/${e.id}`}>
            <bdi>{e.name}</bdi>
          </a>
          <span class="tag">{strategyTitle(e.strategy)}</span>
        </div>
        <div class="mute small cut">
          <bdi>{plain(e.description || e.script || e.id)}</bdi>
        </div>
      </td>
      <td class="right-phone">
        <ExperimentChip e={e} />
      </td>
      <td class="wide tasks">
        <StateBar counts={e.tasks} />
        <div class="under">
          <StateCounts counts={e.tasks} />
          <span class="mute small nowrap">
            {ended(e.tasks)} of {e.tasks.total}
          </span>
        </div>
      </td>
      <td class="right">
        {e.best ? (
          <b>{metric(e.best.value)}</b>
        ) : (
          <span class="mute">{ended(e.tasks) < e.tasks.total ? 'none yet' : 'none'}</span>
        )}
        <div class="mute tiny">
          {goal ? (
            <>
              <bdi>{goal.metric}</bdi>{' '}
              <span role="img" aria-label={goal.goal === 'max' ? 'maximised' : 'minimised'}>
                {goal.goal === 'max' ? '↑' : '↓'}
              </span>
            </>
          ) : (
            ''
          )}
        </div>
      </td>
      <td class="hide-phone">
        <Spark points={e.spark ?? []} active={active} />
      </td>
      <td class="right hide-phone">
        {time}
        <div class="mute tiny">{power}</div>
      </td>
      <td class="right-phone">
        {when(e.created)}
        <div class="mute tiny">
          {e.backend} · {e.id}
        </div>
      </td>
    </tr>
  );
}

function FirstUse() {
  const starting = useSignal(false);
  return (
    <section class="card">
      <Empty icon="upload" title="No experiments yet">
        <p class="dim measure">
          Upload a training script, list the values to try, and every combination becomes a task: with batch sizes{' '}
          <code>64,32,16</code> and learning rates <code>0.01,0.001</code> that makes 6. The curves appear here while
          they train.
        </p>
        <div class="btns">
          <a class="btn primary" href="/new">
            <Icon name="plus" />
            New experiment
          </a>
          <button
            type="button"
            class="btn"
            disabled={starting.value}
            onClick={async () => {
              starting.value = true;
              await runExample();
              starting.value = false;
            }}
          >
            <Icon name="play" />
            Run the example
          </button>
        </div>
        <p class="mute small">
          From a shell: <code>sluice run model.py batch_size=64,32,16 learning_rate=0.01,0.001</code>
        </p>
      </Empty>
    </section>
  );
}

const SHOWN_FIRST = 200;

export function ExperimentsPage() {
  useTitle('Experiments');
  const items = [...experiments.items.value.values()];
  const most = useSignal(SHOWN_FIRST);
  const text = query.value.get('q') ?? '';
  const filter = (query.value.get('show') ?? 'all') as Filter;
  const sort = query.value.get('sort') ?? '-submitted';
  const rows = useMemo(() => {
    const by = SORTS[sort.replace('-', '')] ?? SORTS.submitted;
    const kept = items.filter((e) => (KEEP[filter] ?? KEEP.all)(e) && (!text || matches(e, text))).sort(by);
    return sort.startsWith('-') ? kept.reverse() : kept;
  }, [experiments.items.value, text, filter, sort]);
  useEffect(() => {
    most.value = SHOWN_FIRST;
  }, [text, filter]);
  useKeys({
    j: () => moveRow(1),
    k: () => moveRow(-1),
  });
  const head = { sort, onSort: (next: string) => setQuery({ sort: next === '-submitted' ? null : next }) };
  const button = (value: Filter, label: string) => ({
    value,
    label: (
      <>
        {label} <span class="numeric">{items.filter(KEEP[value]).length}</span>
      </>
    ),
  });
  return (
    <>
      <div class="head center">
        <h1>Experiments</h1>
        <div class="btns">
          <a class="btn primary" href="/new">
            <Icon name="plus" />
            New experiment
          </a>
        </div>
      </div>
      <Trouble what="The list" error={experiments.error.value} />
      {experiments.loading.value ? (
        <Loading />
      ) : !items.length && !experiments.error.value ? (
        <FirstUse />
      ) : (
        <div class="grid cols-list">
          <section class="card" aria-labelledby="all">
            <header>
              <h2 id="all" class="visually-hidden">
                All experiments
              </h2>
              <label class="search">
                <Icon name="search" />
                <span class="visually-hidden">Filter experiments</span>
                <input
                  type="search"
                  data-search
                  value={text}
                  placeholder="Filter by name or script"
                  onInput={(event) => setQuery({ q: event.currentTarget.value })}
                />
              </label>
              <Seg
                label="Filter by state"
                value={filter}
                onPick={(value) => setQuery({ show: value === 'all' ? null : value })}
                options={[
                  button('all', 'All'),
                  button('active', 'Active'),
                  button('errors', 'With errors'),
                  button('ended', 'Ended'),
                ]}
              />
            </header>
            <div class="table-wrap">
              <table class="stacked">
                <thead>
                  <tr>
                    <SortHead name="name" label="Experiment" {...head} />
                    <SortHead name="state" label="State" {...head} />
                    <SortHead name="tasks" label="Tasks" {...head} />
                    <SortHead name="best" label="Best" right {...head} />
                    <th scope="col">Best so far</th>
                    <SortHead name="cost" label="Cost" right {...head} />
                    <SortHead name="submitted" label="Submitted" {...head} />
                  </tr>
                </thead>
                <tbody>
                  {rows.slice(0, most.value).map((e) => (
                    <Row key={e.id} e={e} />
                  ))}
                </tbody>
              </table>
            </div>
            {!rows.length && (
              <p class="none mute">
                No experiment matches.{' '}
                <button type="button" class="link" onClick={() => setQuery({ q: null, show: null })}>
                  Show all {items.length}
                </button>
              </p>
            )}
            <div class="table-foot">
              <span>
                {Math.min(rows.length, most.value)} of {plural(experiments.total.value, 'experiment')}
              </span>
              {rows.length > most.value && (
                <button
                  type="button"
                  class="link"
                  onClick={() => {
                    most.value += SHOWN_FIRST;
                  }}
                >
                  Show more
                </button>
              )}
              <span class="grow" />
              <span class="hide-phone">
                <kbd>j</kbd> <kbd>k</kbd> move <kbd>Enter</kbd> open <kbd>n</kbd> new <kbd>?</kbd> all keys
              </span>
            </div>
          </section>
          <aside class="grid" aria-label="Cluster and recent events">
            <NeedsAttention items={items} />
            <ClusterCard />
            <Totals items={items} />
          </aside>
        </div>
      )}
    </>
  );
}
