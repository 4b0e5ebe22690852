// The list of experiments: summaries only, filtered and sorted in the URL.
import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { ClusterCard } from '../components/ClusterCard';
import { Seg } from '../components/choice';
import { leftText } from '../components/experiment/Advice';
import { Hits } from '../components/Hits';
import { Icon } from '../components/Icon';
import { NeedsAttention, Totals } from '../components/ListAside';
import { TagList } from '../components/Marks';
import { Empty, Loading, Trouble } from '../components/notice';
import { meanOf, SpreadOf } from '../components/Repeats';
import { SortHead } from '../components/SortHead';
import { Spark } from '../components/Spark';
import { ExperimentChip, ended, Stalled, StateBar, StateCounts } from '../components/State';
import { list, message, strategyTitle } from '../data/api';
import { runExample } from '../data/example';
import { SELDOM_MS, useOutlook } from '../data/left';
import { experiments } from '../data/store';
import type { ExperimentSummary } from '../data/types';
import { count, duration, energy, finite, gpuTime, inFull, metric, plural, when } from '../lib/format';
import { moveRow, useKeys } from '../lib/keys';
import { query, setQuery } from '../lib/router';
import { plain } from '../lib/text';
import { useTitle } from './Other';

type Filter = 'all' | 'active' | 'errors' | 'ended' | 'starred';
const KEEP: Record<Filter, (e: ExperimentSummary) => boolean> = {
  all: () => true,
  active: (e) => e.state === 'running' || e.state === 'waiting' || e.state === 'submitted',
  errors: (e) => e.tasks.error > 0,
  ended: (e) => e.state === 'finished' || e.state === 'stopped' || e.state === 'error',
  starred: (e) => e.star,
};

// More would push the name of the experiment out of its row.
const TAGS_SHOWN = 2;

const number = (id: string) => Number(id.slice(1));
const bestOf = (e: ExperimentSummary) => finite(e.best?.mean ?? e.best?.value);
const SORTS: Record<string, (a: ExperimentSummary, b: ExperimentSummary) => number> = {
  name: (a, b) => a.name.localeCompare(b.name),
  state: (a, b) => a.state.localeCompare(b.state),
  tasks: (a, b) => a.tasks.total - b.tasks.total,
  best: (a, b) => (bestOf(a) ?? Infinity) - (bestOf(b) ?? Infinity),
  cost: (a, b) =>
    (a.cost.gpu_s ?? a.cost.cpu_s ?? a.cost.wall_s ?? 0) - (b.cost.gpu_s ?? b.cost.cpu_s ?? b.cost.wall_s ?? 0),
  submitted: (a, b) => (a.created ?? '').localeCompare(b.created ?? '') || number(a.id) - number(b.id),
};

function matches(e: ExperimentSummary, text: string): boolean {
  const all =
    `${e.id} ${e.name} ${e.description ?? ''} ${e.script ?? ''} ${e.strategy} ${e.state} ${e.backend} ${e.tags.join(' ')}`.toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((part) => all.includes(part));
}

export function costLines(cost: ExperimentSummary['cost']): [string, string] {
  const time = cost.gpu_s
    ? gpuTime(cost.gpu_s)
    : cost.cpu_s
      ? `${duration(cost.cpu_s)} CPU`
      : cost.wall_s === null
        ? 'nothing yet'
        : duration(cost.wall_s);
  return [time, cost.energy_j === null ? '' : energy(cost.energy_j)];
}

function Row({ e }: { e: ExperimentSummary }) {
  const [time, power] = costLines(e.cost);
  const active = e.state === 'running';
  // Between two tasks nothing runs for a moment: the answer of before still holds.
  const { left } = useOutlook(active ? `/experiments/${e.id}` : null, SELDOM_MS);
  const progress = `${count(ended(e.tasks))} of ${count(e.tasks.total)}`;
  return (
    <tr data-row={e.id}>
      <td class="name">
        <div class="line">
          {e.star && (
            <span class="starred" role="img" aria-label="Starred">
              <Icon name="star" />
            </span>
          )}
          <a class="row" href={`/e/${e.id}`}>
            <bdi>{e.name}</bdi>
          </a>
        </div>
        <div class="line second">
          <span class="mute small cut">
            <span class="mono">{e.id}</span> · {strategyTitle(e.strategy)}
            {(e.description || e.script) && (
              <>
                {' '}
                · <bdi>{plain(e.description || e.script!)}</bdi>
              </>
            )}
          </span>
          <TagList tags={e.tags.slice(0, TAGS_SHOWN)} />
          {e.tags.length > TAGS_SHOWN && (
            <span class="mute tiny" title={e.tags.slice(TAGS_SHOWN).map(plain).join(', ')}>
              +{e.tags.length - TAGS_SHOWN}
            </span>
          )}
        </div>
      </td>
      <td class="right-phone">
        <ExperimentChip e={e} />
        {!!e.stalled && <Stalled many={e.stalled} />}
      </td>
      <td class="wide tasks">
        <StateBar counts={e.tasks} />
        <div class="under">
          <StateCounts counts={e.tasks} />
          <span
            class="mute small nowrap"
            title={left ? `${progress} tasks ended; ${leftText(left)} left, ${left.basis}` : undefined}
          >
            {left ? (
              <>
                ≈ {duration(left.time_s)}
                <span class="visually-hidden"> left</span>
              </>
            ) : (
              progress
            )}
          </span>
        </div>
      </td>
      <td class="right">
        {e.best ? (
          <>
            <b
              title={`${inFull(e.best.mean ?? e.best.value)}, task ${e.best.task}${
                e.best.epoch === null ? '' : ` at ${e.best.step_name || 'epoch'} ${e.best.epoch}`
              }`}
            >
              {metric(e.best.mean ?? e.best.value)}
            </b>{' '}
            <SpreadOf best={e.best} />
            {/* Of several objectives what the same task has of the others. */}
            {e.best.values?.slice(1).map((value, i) => (
              <span
                class="mute"
                key={e.objective[i + 1]?.metric}
                title={`${e.objective[i + 1]?.metric} ${inFull(value)}`}
              >
                {' / '}
                {metric(value)}
              </span>
            ))}
          </>
        ) : (
          <span class="mute">{ended(e.tasks) < e.tasks.total ? 'none yet' : 'none'}</span>
        )}
        <div
          class="mute tiny cut goals"
          title={e.objective.length > 1 ? e.objective.map((o) => `${o.metric} (${o.goal})`).join(', ') : undefined}
        >
          {e.objective.map((goal, i) => (
            <>
              {i === 0 && meanOf(e.best)}
              {i > 0 && ' / '}
              <bdi>{goal.metric}</bdi>{' '}
              <span role="img" aria-label={goal.goal === 'max' ? 'maximised' : 'minimised'}>
                {goal.goal === 'max' ? '↑' : '↓'}
              </span>
            </>
          ))}
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
        <div class="mute tiny">{e.backend}</div>
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

// Archived experiments are asked for when they are looked at.
function useArchived(on: boolean) {
  const items = useSignal<ExperimentSummary[]>([]);
  const error = useSignal<string | null>(null);
  useEffect(() => {
    if (!on) return;
    list<ExperimentSummary>('/experiments?archived=yes', 2000)
      .then((page) => {
        items.value = page.items;
        error.value = null;
      })
      .catch((problem) => {
        error.value = message(problem);
      });
  }, [on, experiments.items.value]);
  return { items: items.value, error: error.value };
}

// The tags that are there, each with how many have it; the chosen one can be let go.
function TagRow({ items, tag }: { items: ExperimentSummary[]; tag: string | null }) {
  const counts = new Map<string, number>();
  for (const e of items) for (const name of e.tags) counts.set(name, (counts.get(name) ?? 0) + 1);
  if (tag && !counts.has(tag)) counts.set(tag, 0);
  if (!counts.size) return null;
  return (
    <nav class="tag-row" aria-label="Tags">
      {[...counts].sort().map(([name, many]) => (
        <a
          key={name}
          class="tag own"
          aria-current={name === tag ? 'true' : undefined}
          href={name === tag ? '/' : `/?tag=${encodeURIComponent(name)}`}
        >
          <bdi>{plain(name)}</bdi> {many}
          {name === tag && <Icon name="x" />}
        </a>
      ))}
    </nav>
  );
}

export function ExperimentsPage() {
  useTitle('Experiments');
  const old = query.value.get('archived') === '1';
  const archived = useArchived(old);
  const items = old ? archived.items : [...experiments.items.value.values()];
  const tag = query.value.get('tag');
  const most = useSignal(SHOWN_FIRST);
  const text = query.value.get('q') ?? '';
  const filter = (query.value.get('show') ?? 'all') as Filter;
  const sort = query.value.get('sort') ?? '-submitted';
  const rows = useMemo(() => {
    const by = SORTS[sort.replace('-', '')] ?? SORTS.submitted;
    const kept = items
      .filter((e) => (KEEP[filter] ?? KEEP.all)(e) && (!text || matches(e, text)) && (!tag || e.tags.includes(tag)))
      .sort(by);
    return sort.startsWith('-') ? kept.reverse() : kept;
  }, [experiments.items.value, archived.items, old, text, filter, sort, tag]);
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
        <h1>{old ? 'Archived experiments' : 'Experiments'}</h1>
        <div class="btns">
          <a class="btn primary" href="/new">
            <Icon name="plus" />
            New experiment
          </a>
        </div>
      </div>
      <Trouble what="The list" error={old ? archived.error : experiments.error.value} />
      {experiments.loading.value ? (
        <Loading />
      ) : !items.length && !old && !experiments.error.value && !text ? (
        <FirstUse />
      ) : (
        <div class="grid cols-list">
          <div class="grid">
            <section class="card" aria-labelledby="all">
              <header>
                <h2 id="all" class="visually-hidden">
                  All experiments
                </h2>
                <label class="search list">
                  <Icon name="search" />
                  <span class="visually-hidden">Search experiments and tasks</span>
                  <input
                    type="search"
                    data-search
                    value={text}
                    placeholder="Search experiments and tasks"
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
                    button('starred', 'Starred'),
                  ]}
                />
              </header>
              <TagRow items={items} tag={tag} />
              <div class="table-wrap">
                <table class="stacked">
                  <thead>
                    <tr>
                      <SortHead name="name" label="Experiment" {...head} />
                      <SortHead name="state" label="State" {...head} />
                      <SortHead name="tasks" label="Tasks" {...head} />
                      <SortHead name="best" label="Best" right {...head} />
                      <th scope="col" title="Curve of the best task">
                        Curve
                      </th>
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
                  <button type="button" class="link" onClick={() => setQuery({ q: null, show: null, tag: null })}>
                    Show all {items.length}
                  </button>
                </p>
              )}
              <div class="table-foot">
                <span>
                  {Math.min(rows.length, most.value)} of{' '}
                  {plural(old ? items.length : experiments.total.value, 'experiment')}
                </span>
                <a href={old ? '/' : '/?archived=1'}>{old ? 'Back to the list' : 'Archived'}</a>
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
            {text.trim() && <Hits words={text.trim()} />}
          </div>
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
