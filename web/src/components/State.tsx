// A state is an icon, a word and a colour, never the colour alone.

import type { Counts, State } from '../data/types';
import { capitalize, count, plural } from '../lib/format';
import { unticked } from '../lib/text';
import { Icon, type IconName } from './Icon';

const ICONS: Record<State, IconName> = {
  waiting: 'pause',
  submitted: 'clock',
  running: 'play',
  finished: 'check',
  error: 'alert',
  stopped: 'stop',
  pruned: 'cut',
};

export const STATES: State[] = ['finished', 'running', 'submitted', 'waiting', 'pruned', 'stopped', 'error'];

export function Chip({ state, title }: { state: State; title?: string | null }) {
  return (
    <span class={`state ${state}`} title={title ? unticked(title) : undefined}>
      <Icon name={ICONS[state] ?? 'clock'} />
      {capitalize(state)}
    </span>
  );
}

// Of a task that runs and makes no progress, or of an experiment with such tasks.
export function Stalled({ many, title }: { many?: number; title?: string | null }) {
  return (
    <span class="state error" title={title ? unticked(title) : undefined}>
      <Icon name="alert" />
      {many ? `${plural(many, 'task')}: no progress` : 'No progress'}
    </span>
  );
}

// Beside a step of a task whose rows have other steps than in their file.
export function Renumbered({ why }: { why: string }) {
  const said = `Counted by sluice: ${why}`;
  return (
    <abbr class="renumbered" title={said}>
      *<span class="visually-hidden"> ({said})</span>
    </abbr>
  );
}

// An experiment that waits for its user and starts nothing more shows that instead of its state.
export function ExperimentChip({ e }: { e: { state: State; note: string | null; paused: string | null } }) {
  if (!e.paused || e.state === 'finished' || e.state === 'stopped' || e.state === 'error')
    return <Chip state={e.state} title={e.note} />;
  return (
    <span class="state error" title={unticked(e.paused)}>
      <Icon name="pause" />
      Paused
    </span>
  );
}

export function StateIcon({ state }: { state: State }) {
  return (
    <span class={`state-icon ${state}`}>
      <Icon name={ICONS[state] ?? 'clock'} />
    </span>
  );
}

// Tasks the search has not proposed yet are in `total` only.
export function planned(counts: Counts): number {
  return counts.total - STATES.reduce((sum, state) => sum + (counts[state] ?? 0), 0);
}

export function ended(counts: Counts): number {
  return counts.finished + counts.error + counts.stopped + counts.pruned;
}

export function StateBar({ counts }: { counts: Counts }) {
  const there = STATES.filter((state) => counts[state]);
  const rest = planned(counts);
  const said = there.map((state) => `${counts[state]} ${state}`).join(', ') || 'no task yet';
  return (
    <div class="stack" role="img" aria-label={said}>
      {there.map((state) => (
        <i key={state} class={`bg-${state}`} style={{ flex: counts[state] }} />
      ))}
      {rest > 0 && <i style={{ flex: rest }} />}
    </div>
  );
}

export function StateCounts({ counts, words }: { counts: Counts; words?: boolean }) {
  const rest = planned(counts);
  return (
    <div class="counts">
      {STATES.filter((state) => counts[state]).map((state) => (
        <span key={state} title={`${count(counts[state])} ${state}`}>
          <StateIcon state={state} />
          <b>{count(counts[state])}</b>
          {words ? ` ${state}` : <span class="visually-hidden">{state}</span>}
        </span>
      ))}
      {rest > 0 && (
        <span title={`${count(rest)} planned: not proposed by the search yet`}>
          {words ? `${count(rest)} planned` : `+${count(rest)}`}
        </span>
      )}
      {counts.total === 0 && <span>{plural(0, 'task')}</span>}
    </div>
  );
}
