// Adds tasks to a comparison: the best ones of an experiment to choose from, or any by their ids.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { get, message, type Page } from '../data/api';
import { keyOf, parseRefs, type Ref } from '../data/compare';
import type { Experiment, ExperimentSummary, TaskList, TaskSummary } from '../data/types';
import { bestValue } from '../lib/columns';
import { DASH, inFull, metric, paramLine } from '../lib/format';
import { plain } from '../lib/text';
import { Pick } from './choice';
import { Drop } from './Drop';
import { Icon } from './Icon';

// More are found by their number, or in the experiment's own table.
const OFFERED = 12;

interface Props {
  // The experiment that numbers alone belong to.
  home: string | null;
  there: Ref[];
  onAdd: (refs: Ref[]) => void;
  onRemove: (ref: Ref) => void;
}

function Choice({ home, there, onAdd, onRemove }: Props) {
  const all = useSignal<ExperimentSummary[]>([]);
  const from = useSignal(home ?? '');
  const tasks = useSignal<TaskSummary[] | null>(null);
  const varying = useSignal<string[]>([]);
  const wrong = useSignal<string | null>(null);
  useEffect(() => {
    get<Page<ExperimentSummary>>('/experiments?limit=200').then(
      ({ items }) => {
        all.value = items;
        from.value ||= items[0]?.id ?? '';
      },
      (problem) => {
        wrong.value = message(problem);
      },
    );
  }, []);
  useEffect(() => {
    let live = true;
    const id = from.value;
    tasks.value = null;
    wrong.value = null;
    if (id)
      Promise.all([
        get<Experiment>(`/experiments/${id}`),
        get<TaskList>(`/experiments/${id}/tasks?sort=best&limit=${OFFERED}`),
      ]).then(
        ([e, page]) => {
          if (!live) return;
          varying.value = e.varying;
          tasks.value = page.items;
        },
        (problem) => {
          if (live) wrong.value = message(problem);
        },
      );
    return () => {
      live = false;
    };
  }, [from.value]);
  const pick = (id: string) => {
    from.value = id;
  };
  const chosen = new Set(there.map(keyOf));
  const names = all.value.map((e) => ({ value: e.id, label: `${e.id} ${plain(e.name)}` }));
  if (from.value && !names.some(({ value }) => value === from.value))
    names.unshift({ value: from.value, label: from.value });
  return (
    <>
      <Pick label="From" value={from.value} options={names} onPick={pick} />
      {wrong.value && <p class="wrong small">{wrong.value}</p>}
      <ul class="offered" aria-label="Its best tasks">
        {tasks.value?.map((task) => {
          const ref = { id: from.value, number: task.number };
          return (
            <li key={task.number}>
              <label class="check">
                <input
                  type="checkbox"
                  checked={chosen.has(keyOf(ref))}
                  onChange={(event) => (event.currentTarget.checked ? onAdd([ref]) : onRemove(ref))}
                />
                <b class="numeric">#{task.number}</b>
                <span class="numeric" title={inFull(bestValue(task))}>
                  {bestValue(task) === null ? DASH : metric(bestValue(task))}
                </span>
                <span class="mute small cut">
                  <bdi>{paramLine(task.parameters, varying.value)}</bdi>
                </span>
              </label>
            </li>
          );
        })}
      </ul>
      {tasks.value?.length === 0 && <p class="mute small">It has no task yet.</p>}
    </>
  );
}

export function AddTasks(props: Props) {
  const typed = useSignal('');
  const wrong = useSignal(false);
  return (
    <Drop label="Add" name="Tasks to add" icon="plus" class="">
      {() => (
        <fieldset>
          <Choice {...props} />
          <form
            class="btns"
            onSubmit={(event) => {
              event.preventDefault();
              const more = parseRefs(typed.value, props.home);
              wrong.value = !more.length;
              if (!more.length) return;
              typed.value = '';
              props.onAdd(more);
            }}
          >
            <input
              class="input"
              size={16}
              value={typed.value}
              aria-label="Add tasks, such as 7 or e12/7"
              aria-invalid={wrong.value ? true : undefined}
              placeholder="or by id: 7, e12/7"
              onInput={(event) => {
                typed.value = event.currentTarget.value;
              }}
            />
            <button type="submit" class="btn compact">
              <Icon name="plus" />
              Add by id
            </button>
          </form>
          {wrong.value && <p class="wrong small">Write numbers or ids between commas, such as 7, e12/7.</p>}
        </fieldset>
      )}
    </Drop>
  );
}
