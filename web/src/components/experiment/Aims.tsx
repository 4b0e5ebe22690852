// What the search is for, in the dialog that changes it: one or several of the metrics that tasks have reported.
import type { Signal } from '@preact/signals';
import { type Aim, aimsChanged, aimsOf, renamed } from '../../data/document';
import type { Experiment } from '../../data/types';
import { SelectField, TextField } from '../Field';
import { Icon } from '../Icon';

// Every task has these.
const MEASURED = ['time', 'energy'];

function Row({
  e,
  aim,
  i,
  count,
  onEdit,
  onRemove,
}: {
  e: Experiment;
  aim: Aim;
  i: number;
  count: number;
  onEdit: (next: Aim) => void;
  onRemove: () => void;
}) {
  const label = (word: string) => (count > 1 ? `${word} ${i + 1}` : word);
  const at = [`/objective/${i}/metric`, `=/objective/${i}`, ...(i ? [] : ['=/objective', '=/objective/metric'])];
  const names = [...e.metrics, ...MEASURED.filter((name) => !e.metrics.includes(name))];
  const options = aim.metric && !names.includes(aim.metric) ? [aim.metric, ...names] : names;
  return (
    <div class={count > 1 ? 'grid aim' : 'grid two-even'}>
      {e.metrics.length ? (
        <SelectField
          id={`c-metric-${i}`}
          label={label('Objective')}
          value={aim.metric}
          at={at}
          onPick={(metric) => onEdit(renamed(aim, metric))}
          options={[
            ...(aim.metric ? [] : [{ value: '', label: 'choose' }]),
            ...options.map((name) => ({ value: name, label: name })),
          ]}
        />
      ) : (
        <TextField
          id={`c-metric-${i}`}
          label={label('Objective')}
          mono
          value={aim.metric}
          at={at}
          help="No task has reported a metric yet."
          onInput={(metric) => onEdit(renamed(aim, metric.trim()))}
        />
      )}
      <SelectField
        id={`c-goal-${i}`}
        label={label('Goal')}
        value={aim.goal}
        at={[`/objective/${i}/goal`, ...(i ? [] : ['/objective/goal'])]}
        onPick={(goal) => onEdit({ ...aim, goal })}
        options={[
          { value: '', label: 'By its name' },
          { value: 'min', label: 'Minimise' },
          { value: 'max', label: 'Maximise' },
        ]}
      />
      {count > 1 && (
        <button type="button" class="btn icon ghost" aria-label={`Remove objective ${i + 1}`} onClick={onRemove}>
          <Icon name="x" />
        </button>
      )}
    </div>
  );
}

export function Aims({ e, aims }: { e: Experiment; aims: Signal<Aim[]> }) {
  const list = aims.value.length ? aims.value : [{ metric: '', goal: '', rest: {} }];
  const edit = (i: number, next: Aim | null) => {
    aims.value = list.flatMap((aim, k) => (k === i ? (next ? [next] : []) : [aim]));
  };
  const others = aims.value.length ? aimsChanged(e, aims.value) : null;
  return (
    <div class="grid aims">
      {list.map((aim, i) => (
        <Row
          key={i}
          e={e}
          aim={aim}
          i={i}
          count={list.length}
          onEdit={(next) => edit(i, next)}
          onRemove={() => edit(i, null)}
        />
      ))}
      <p class="help" role="status">
        {others && aimsOf(e).length > 0
          ? 'All tasks are ranked again by this, also those that have ended, and the search learns from the new values. A task that has no value of it is ranked last. What was pruned stays so.'
          : 'Another objective ranks all tasks again, also those that have ended.'}{' '}
        <button
          type="button"
          class="link"
          onClick={() => {
            aims.value = [...list, { metric: '', goal: '', rest: {} }];
          }}
        >
          Add an objective
        </button>
      </p>
    </div>
  );
}
