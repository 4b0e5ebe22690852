// The table of tasks with what belongs to it: states, filter, columns, actions on the selected ones.
import type { Signal } from '@preact/signals';
import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { removeTasks, restartTasks, stoppable, stopTasks } from '../../data/actions';
import { message } from '../../data/api';
import type { ExperimentStore } from '../../data/experiment';
import { markTasks } from '../../data/marks';
import { toast } from '../../data/toast';
import type { Experiment, Marks, Metric, TaskSummary } from '../../data/types';
import { allColumns, bestValue, linedUp, shownColumns } from '../../lib/columns';
import { capitalize, count, plural } from '../../lib/format';
import { FRONT_MOST } from '../../lib/front';
import { isPooled, type Pool } from '../../lib/pool';
import { query, setQuery } from '../../lib/router';
import { plain } from '../../lib/text';
import { useWindow } from '../../lib/window';
import { Card } from '../Card';
import { Seg, Toggle } from '../choice';
import { Drop } from '../Drop';
import { Icon } from '../Icon';
import { STATES } from '../State';
import { ColumnChoice, keysOf } from './ColumnChoice';
import { ROW_PX, TaskTable } from './TaskTable';

// On a phone the cards below the table must stay in reach.
const ROWS_PHONE = 12;
const ROWS_MORE = 100;
const phone = matchMedia('(max-width: 640px)');

interface Props {
  store: ExperimentStore;
  e: Experiment;
  tasks: TaskSummary[];
  rows: TaskSummary[];
  // Where configurations are run several times.
  pool: Pool | null;
  css: (task: TaskSummary) => string;
  selected: Set<number>;
  // On the front of several objectives; null: of one.
  front: Set<number> | null;
  chosen: TaskSummary[];
  hovered: Signal<string | null>;
  format: (v: Metric) => string;
  sort: string;
  onSelect: (numbers: number[], on: boolean) => void;
  onCompare: () => void;
  onShowAll: () => void;
}

function StateChoice({ e, state }: { e: Experiment; state: string }) {
  const states = STATES.filter((s) => e.tasks[s] > 0);
  // Tasks that exist: of a search, those that were proposed so far.
  const all = STATES.reduce((sum, s) => sum + e.tasks[s], 0);
  const option = (value: string, label: string, n: number) => ({
    value,
    label: (
      <>
        {label} <span class="numeric">{count(n)}</span>
      </>
    ),
  });
  return (
    <Seg
      label="Filter by state"
      value={state}
      onPick={(value) => setQuery({ state: value === 'all' ? null : value })}
      options={[option('all', 'All', all), ...states.map((s) => option(s, capitalize(s), e.tasks[s]))]}
    />
  );
}

// What is done to all selected tasks at once. Each says how many; marks can be taken back, so they do not ask.
function Bulk({ e, chosen }: { e: Experiment; chosen: TaskSummary[] }) {
  const numbers = chosen.map((t) => t.number);
  const starred = chosen.every((t) => t.star);
  const mark = async (marks: Marks, done: string) => {
    const n = await markTasks(e.id, numbers, marks);
    if (n !== null) toast(`${done} ${plural(n, 'task')}.`);
    return n !== null;
  };
  const tags = [...new Set(chosen.flatMap((t) => t.tags))].sort();
  return (
    <div class="bulk" role="region" aria-label="Selected tasks">
      <b>{plural(chosen.length, 'task')} selected</b>
      <span class="grow" />
      <button
        type="button"
        class="btn compact"
        onClick={() => void mark({ star: !starred }, starred ? 'Removed the star of' : 'Starred')}
      >
        <Icon name="star" />
        {starred ? 'Unstar' : 'Star'}
      </button>
      <Drop label="Tag" name="Tags of the selected tasks" icon="plus">
        {(close) => (
          <fieldset>
            <legend>Tags of {plural(chosen.length, 'task')}</legend>
            <form
              class="view"
              onSubmit={(event) => {
                event.preventDefault();
                const words = new FormData(event.currentTarget).get('tags') as string;
                const list = words.split(',').flatMap((word) => word.trim() || []);
                if (list.length) void mark({ add_tags: list }, 'Tagged').then((ok) => ok && close());
              }}
            >
              <input class="input" name="tags" aria-label="New tag" placeholder="tag, another" maxLength={200} />
              <button type="submit" class="btn compact">
                Add
              </button>
            </form>
            {tags.map((tag) => (
              <span key={tag} class="view">
                <bdi>{plain(tag)}</bdi>
                <button
                  type="button"
                  class="btn icon compact ghost"
                  aria-label={`Remove the tag ${plain(tag)}`}
                  onClick={() => void mark({ remove_tags: [tag] }, 'Removed the tag of')}
                >
                  <Icon name="x" />
                </button>
              </span>
            ))}
          </fieldset>
        )}
      </Drop>
      <Drop label="Note" name="Note of the selected tasks" icon="file">
        {(close) => (
          <form
            class="note"
            onSubmit={(event) => {
              event.preventDefault();
              const text = (new FormData(event.currentTarget).get('note') as string).trim();
              void mark({ notes: text || null }, text ? 'Wrote the note of' : 'Removed the note of').then(
                (ok) => ok && close(),
              );
            }}
          >
            <label>
              Replaces the notes of {plural(chosen.length, 'task')}
              <textarea name="note" class="input mono" rows={4} aria-label="Note in Markdown" />
            </label>
            <button type="submit" class="btn compact">
              Save
            </button>
          </form>
        )}
      </Drop>
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
      <button
        type="button"
        class="btn compact danger"
        disabled={chosen.every(stoppable)}
        onClick={() =>
          void removeTasks(e.id, chosen).then((gone) => {
            if (gone)
              setQuery({
                sel:
                  chosen
                    .filter(stoppable)
                    .map((t) => t.number)
                    .join() || null,
              });
          })
        }
      >
        <Icon name="trash" />
        Remove {chosen.filter((t) => !stoppable(t)).length || ''}
      </button>
      <button type="button" class="btn compact" onClick={() => setQuery({ sel: null })}>
        Clear
      </button>
    </div>
  );
}

export function TasksCard(props: Props) {
  const { store, e, tasks, rows, pool, css, selected, front, chosen, hovered, format, sort } = props;
  const { onSelect, onCompare, onShowAll } = props;
  const most = useSignal(phone.matches ? ROWS_PHONE : Number.POSITIVE_INFINITY);
  const state = query.value.get('state') ?? 'all';
  const text = query.value.get('q') ?? '';
  const listed = useMemo(() => rows.slice(0, most.value), [rows, most.value]);
  const { box, part } = useWindow(listed.length, ROW_PX, phone.matches);
  const all = useMemo(() => allColumns(e, tasks), [e.parameters, e.varying, e.metrics, e.objective, tasks]);
  const [more, fewer] = [keysOf('more'), keysOf('fewer')];
  const shown = useMemo(() => shownColumns(all, more, fewer, tasks), [all, more.join(), fewer.join()]);
  const write = useMemo(() => linedUp(tasks.map(bestValue), (v) => (v === null ? null : format(v))), [format]);
  // Rows are drawn again only when their columns change, not when a value does.
  const columns = useMemo(() => shown, [shown.map((c) => c.key).join(), store.complete.value, tasks.length]);
  const complete = store.complete.value;
  const frontOff =
    !complete && front && front.size > FRONT_MOST
      ? `Of more than ${count(FRONT_MOST)} tasks on the front the table cannot be asked for, while not all tasks are on this page.`
      : undefined;
  // Configurations are rows, tasks are what is counted.
  const counted = (list: TaskSummary[]) =>
    list.reduce((sum, t) => sum + (isPooled(t) ? t.runs.length : pool ? 0 : 1), 0);
  const inRows = counted(listed);
  const passing = complete ? counted(rows) : store.total.value;
  const every = STATES.reduce((sum, s) => sum + e.tasks[s], 0);
  const fetchMore = () => {
    if (most.value < rows.length) most.value += ROWS_MORE;
    else store.fetchMore().catch((problem) => toast(message(problem), { level: 'error' }));
  };
  return (
    <Card
      title="Tasks"
      id="configs"
      class="clip"
      extra={
        <>
          <StateChoice e={e} state={state} />
          {front && (
            <Toggle
              label={
                <>
                  Front <span class="numeric">{count(front.size)}</span>
                </>
              }
              on={query.value.get('only') === 'front' && !frontOff}
              off={frontOff}
              onChange={(on) => setQuery({ only: on ? 'front' : null })}
            />
          )}
          <span class="grow" />
          <label class="search slim filter">
            <Icon name="filter" />
            <span class="visually-hidden">Filter tasks</span>
            <input
              type="search"
              class="mono"
              data-search
              value={text}
              placeholder={e.varying[0] ? `${e.varying[0]} = … and state = …` : 'state = error or time > 10m'}
              aria-invalid={store.wrong.value ? true : undefined}
              aria-describedby={store.wrong.value ? 'filter-wrong' : undefined}
              onInput={(event) => setQuery({ q: event.currentTarget.value })}
            />
          </label>
          <ColumnChoice experiment={e.id} all={all} shown={shown} />
          <button type="button" class="btn compact" disabled={chosen.length < 2} onClick={onCompare}>
            <Icon name="git" />
            Compare{chosen.length > 1 ? ` (${chosen.length})` : ''}
          </button>
        </>
      }
    >
      {store.wrong.value && (
        <p class="none bad" id="filter-wrong" role="status">
          {capitalize(store.wrong.value)}
        </p>
      )}
      {chosen.length > 0 && <Bulk e={e} chosen={chosen} />}
      <div ref={box}>
        <TaskTable
          e={e}
          columns={columns}
          rows={listed}
          pool={pool}
          part={part}
          css={css}
          selected={selected}
          front={front}
          hovered={hovered}
          format={write}
          sort={sort}
          onSort={(next) => setQuery({ sort: next })}
          onSelect={onSelect}
        />
      </div>
      {!rows.length && (
        <p class="none mute">
          {every ? (
            <>
              No task matches.{' '}
              <button type="button" class="link" onClick={onShowAll}>
                Show all {count(every)}
              </button>
            </>
          ) : (
            'The search has not proposed a task yet.'
          )}
        </p>
      )}
      <div class="table-foot">
        <span>
          {inRows < passing ? `${count(inRows)} of ${count(passing)} that match, of ` : ''}
          {inRows < passing || passing === every ? '' : `${count(passing)} of `}
          {plural(every, 'task')}
          {pool ? ` in ${plural(listed.filter(isPooled).length, 'configuration')}` : ''}
          {e.removed ? ` (${count(e.removed)} removed)` : ''}
          {chosen.length ? `, ${chosen.length} selected` : ''}
        </span>
        {(most.value < rows.length || store.more) && (
          <button type="button" class="link" onClick={fetchMore}>
            Show more
          </button>
        )}
        <span class="grow" />
        <span class="hide-phone">
          <kbd>x</kbd> select <kbd>c</kbd> compare <kbd>s</kbd> stop <kbd>r</kbd> restart
        </span>
      </div>
    </Card>
  );
}
