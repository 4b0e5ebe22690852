// What the results say as a whole, and what the search is about: cards of GET …/analysis and GET …/search.
import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { get, message, strategyTitle } from '../../data/api';
import type { Analysis, Experiment, Search } from '../../data/types';
import { capitalize, count, plural, tick } from '../../lib/format';
import { own } from '../../lib/own';
import { query, setQuery } from '../../lib/router';
import { Bar } from '../Bar';
import { Card } from '../Card';
import { Pick } from '../choice';
import { Icon } from '../Icon';
import { KeyValues } from '../KeyValues';
import { Said } from '../Said';
import { ended } from '../State';
import { ChangeDialog, SuggestDialog } from './Living';

// Results come in bursts; the analysis follows at its leisure. Of many tasks it is large: it may have a tenth of a slow
// line.
const FOLLOW_MS = 1500;
const FOLLOW_MOST_MS = 20000;
const SHARE = 10;

interface Wanted {
  path: string;
  what: string;
  mark: string;
}

// Fetched again when a task was proposed, has ended, or the settings changed, or `also` moves; not at all where that
// is null. One request at a time, and each answer is shown: results may come faster than an answer can be made.
// What was there stays until there is something newer, also while `what` changes.
export function useAbout<T>(e: Experiment, what: string, also: string | null = ''): { value: T | null } {
  const got = useRef<T | null>(null);
  const asked = useAsked<T>(e, what, also).value;
  got.current = asked?.answer ?? got.current;
  return { value: got.current };
}

// What was asked for last: another `what` than the present one where its answer is still to come. `trouble`: why there
// is none.
export interface AboutAnswer<T> {
  what: string;
  answer: T | null;
  trouble: string | null;
}

export function useAsked<T>(e: Experiment, what: string, also: string | null = ''): Signal<AboutAnswer<T> | null> {
  const got = useSignal<AboutAnswer<T> | null>(null);
  const path = `/experiments/${e.id}/${what}`;
  const aims = e.objective.map((one) => `${one.metric} ${one.goal} ${one.take ?? ''}`).join();
  const mark = `${path} ${e.tasks.total} ${ended(e.tasks)} ${e.strategy} ${aims} ${e.tasks.running} ${also}`;
  const wanted = useRef<Wanted | null>(null);
  wanted.current = also === null ? null : { path, what, mark };
  const busy = useRef(false);
  const next = useRef(0);
  const before = useRef('');
  const wake = useRef(() => {});
  const follow = async () => {
    if (busy.current) return;
    busy.current = true;
    for (let done = ''; wanted.current && wanted.current.mark !== done; ) {
      // Something else that is asked for does not wait.
      if (wanted.current.path === before.current)
        await new Promise<void>((go) => {
          wake.current = go;
          setTimeout(go, Math.max(0, next.current - Date.now()));
        });
      const now: Wanted | null = wanted.current;
      if (!now) break;
      before.current = now.path;
      const asked = Date.now();
      next.current = asked + FOLLOW_MS;
      let trouble: string | null = null;
      const answer = await get<T>(now.path).catch((problem) => {
        trouble = message(problem);
        return null;
      });
      const took = Date.now() - asked;
      next.current = asked + Math.min(FOLLOW_MOST_MS, Math.max(FOLLOW_MS, took * SHARE));
      // An answer that was there stays where the same cannot be had anew.
      const stays = !answer && got.value?.what === now.what && got.value.answer;
      if (wanted.current?.path === now.path && !stays) got.value = { what: now.what, answer, trouble };
      done = now.mark;
    }
    busy.current = false;
  };
  useEffect(() => {
    if (wanted.current && wanted.current.path !== before.current) wake.current();
    void follow();
  }, [wanted.current?.mark]);
  useEffect(
    () => () => {
      wanted.current = null;
    },
    [],
  );
  return got;
}

export function Importance({ e, analysis }: { e: Experiment; analysis: Analysis | null }) {
  const { finished } = e.tasks;
  // Of several objectives: all of them together, or the one of the other charts.
  const of = e.objective.find((o) => o.metric === query.value.get('importance'))?.metric;
  const list = (of ? own(analysis?.importance_of, of) : analysis?.importance) ?? [];
  const many = e.objective.length > 1;
  return (
    <Card
      title={
        of ? (
          <>
            Importance for <bdi>{of}</bdi>
          </>
        ) : (
          'Importance of the parameters'
        )
      }
      id="importance"
      extra={
        many && (
          <>
            <span class="grow" />
            <Pick
              label="For"
              value={of ?? ''}
              options={[
                { value: '', label: 'all objectives' },
                ...e.objective.map((o) => ({ value: o.metric, label: o.metric })),
              ]}
              onPick={(value) => setQuery({ importance: value || null })}
            />
          </>
        )
      }
    >
      <div class="body">
        {list.length ? (
          <>
            <ul class="shares">
              {list.map((p) => {
                const share = Number(p.importance) || 0;
                return (
                  <li key={p.parameter}>
                    <bdi>{p.parameter}</bdi>
                    <span class="numeric">{Math.round(share * 100)} %</span>
                    <Bar meter share={share} label={`Importance of ${p.parameter}`} />
                  </li>
                );
              })}
            </ul>
            <p class="mute small">
              How differently a parameter is spread among the best tenth and among all of{' '}
              {analysis!.runs < finished && `${count(analysis!.runs)} of `}
              {plural(Math.max(analysis!.runs, finished), 'finished task')} (PED-ANOVA).
              {many && !of && ' Of several objectives the best are those on the first Pareto fronts.'} What a search
              that learns settled early looks unimportant here; the slices show more.
            </p>
          </>
        ) : (
          <p class="mute small">
            {analysis
              ? `Needs ${analysis.importance_needs} finished tasks with a value, and a parameter that varies.`
              : 'Loading'}
          </p>
        )}
      </div>
    </Card>
  );
}

const WORDS: [string, string][] = [
  ['mode', 'Mode'],
  ['phase', 'Phase'],
  ['population', 'Population'],
  ['generation', 'Generation'],
  ['restarts', 'Restarts'],
  ['results', 'Results learnt from'],
];

interface Rung {
  fidelity: number;
  told?: number;
  promoted?: number;
  tasks?: number;
  finished?: number;
}
interface Bracket {
  start: number;
  fidelity: number;
  rung: number;
  rungs: number;
  told: number;
  size: number;
  over: boolean;
}

// Hyperband's and DEHB's: each is a ladder of its own, from many short runs to few long ones.
function Brackets({ list, step }: { list: Bracket[]; step: string }) {
  return (
    <table class="plain rungs">
      <caption class="visually-hidden">Brackets of the search</caption>
      <thead>
        <tr>
          <th scope="col" class="right">
            Began with
          </th>
          <th scope="col" class="right">
            Rung
          </th>
          <th scope="col" class="right">
            {step}
          </th>
          <th scope="col" class="right">
            Results
          </th>
        </tr>
      </thead>
      <tbody>
        {list.map((b, i) => (
          <tr key={i}>
            <td class="right numeric">{b.start}</td>
            <td class="right numeric">
              {b.rung} of {b.rungs}
            </td>
            <td class="right numeric">{tick(b.fidelity)}</td>
            <td class="right numeric">{b.over ? 'all' : `${b.told} of ${b.size}`}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function SearchCard({
  e,
  analysis,
  onChange,
}: {
  e: Experiment;
  analysis: Analysis | null;
  onChange: (shown: Experiment) => void;
}) {
  const search = useAbout<Search>(e, 'search').value;
  const step = `${e.step_name || 'epoch'}s`;
  const dialog = useSignal<'suggest' | 'change' | null>(null);
  const state = search?.state ?? {};
  // While it works the strategy counts its rungs itself; afterwards the tasks say where they stood.
  const own = Array.isArray(state.rungs) ? (state.rungs as Rung[]) : null;
  const rungs = own ?? search?.fidelities ?? [];
  const budget = e.search?.tasks;
  const brackets = Array.isArray(state.brackets) ? (state.brackets as Bracket[]) : [];
  const close = () => {
    dialog.value = null;
  };
  return (
    <Card
      title="Search"
      id="search"
      extra={
        <>
          <span class="grow" />
          <span class="tag">{search?.title ?? strategyTitle(e.strategy)}</span>
        </>
      }
    >
      <div class="body grid">
        {(search?.reason ?? e.search?.reason) && (
          <p class="dim small">
            Chosen automatically: <Said text={`${search?.reason ?? e.search.reason}.`} />
          </p>
        )}
        <KeyValues
          rows={[
            ...(search
              ? [['Proposed', `${count(search.proposed)} of ${count(search.planned)}`] as [string, string]]
              : []),
            ...(search?.imported ? [['Imported', count(search.imported)] as [string, string]] : []),
            ...WORDS.filter(([key]) => state[key] !== undefined).map(
              ([key, label]) => [label, String(state[key])] as [string, string],
            ),
          ]}
        />
        {rungs.length > 0 && (
          <table class="plain rungs">
            <caption class="visually-hidden">Rungs of the search</caption>
            <thead>
              <tr>
                <th scope="col" class="right">
                  {capitalize(step)}
                </th>
                <th scope="col" class="right">
                  {own ? 'Results' : 'Tasks'}
                </th>
                <th scope="col" class="right">
                  {own ? 'Promoted' : 'Finished'}
                </th>
              </tr>
            </thead>
            <tbody>
              {rungs.map((r: Rung) => (
                <tr key={r.fidelity}>
                  <td class="right numeric">{tick(r.fidelity)}</td>
                  <td class="right numeric">{r.told ?? r.tasks}</td>
                  <td class="right numeric">{r.promoted ?? r.finished}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
        {budget > 0 && rungs.length > 0 && (
          <p class="mute small">
            The budget is {plural(budget, 'run')}: a task that goes on longer counts once more for each rung.
          </p>
        )}
        {brackets.length > 0 && <Brackets list={brackets} step={capitalize(step)} />}
        {(analysis?.agreement ?? [])
          .filter((a) => a.correlation !== null)
          .map((a) => (
            <p key={a.from} class="mute small">
              Rank correlation between {tick(a.from)} and {tick(a.to)}: {a.correlation!.toFixed(2)} over{' '}
              {plural(a.tasks, 'task')} (1: the same order).
            </p>
          ))}
        <div class="btns">
          <button
            type="button"
            class="btn compact"
            onClick={() => {
              dialog.value = 'suggest';
            }}
          >
            <Icon name="plus" />
            Suggest a task…
          </button>
          <button
            type="button"
            class="btn compact"
            onClick={() => {
              dialog.value = 'change';
            }}
          >
            <Icon name="filter" />
            Change the search…
          </button>
        </div>
      </div>
      {dialog.value === 'suggest' && <SuggestDialog e={e} onClose={close} />}
      {dialog.value === 'change' && <ChangeDialog e={e} onClose={close} onChange={onChange} />}
    </Card>
  );
}
