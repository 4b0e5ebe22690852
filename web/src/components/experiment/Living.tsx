// Taking part in a search while it runs: a configuration of the user's, another budget or space.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { info, post } from '../../data/api';
import { aimsChanged, aimsOf, fromParam, type SearchParam, searchOf } from '../../data/document';
import { toast } from '../../data/toast';
import { listValues, scalar } from '../../data/typed';
import type { Experiment, Parameter, TaskSummary, Value } from '../../data/types';
import { param, plural } from '../../lib/format';
import { own } from '../../lib/own';
import { go } from '../../lib/router';
import { Dialog } from '../Dialog';
import { SelectField, TextField } from '../Field';
import { Icon } from '../Icon';
import { Problems, ProblemsContext, pointer, sentence } from '../problems';
import { Said } from '../Said';
import { Aims } from './Aims';

// Declared values that are offered beside a field.
const CHOICES = 12;

// Sends, and puts what is wrong beside the fields of the dialog.
function useSend() {
  const busy = useSignal(false);
  const problems = useMemo(() => new Problems(), []);
  const send = async <T,>(path: string, body: unknown): Promise<T | null> => {
    busy.value = true;
    try {
      return await post<T>(path, body);
    } catch (error) {
      problems.take(error);
      return null;
    } finally {
      busy.value = false;
    }
  };
  return { busy, problems, send };
}

function Form({
  title,
  yes,
  busy,
  problems,
  onClose,
  onSend,
  children,
}: {
  title: string;
  yes: string;
  busy: boolean;
  problems: Problems;
  onClose: () => void;
  onSend: () => void;
  children: ComponentChildren;
}) {
  return (
    <Dialog
      title={title}
      onClose={onClose}
      footer={
        <>
          <button type="button" class="btn" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" form="living" class="btn primary" disabled={busy}>
            <Icon name="check" />
            {yes}
          </button>
        </>
      }
    >
      <form
        id="living"
        class="grid"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          onSend();
        }}
      >
        <ProblemsContext.Provider value={problems}>{children}</ProblemsContext.Provider>
        {problems.rest.value.length > 0 && (
          <p class="wrong" role="alert">
            <Said text={problems.rest.value.map((error) => sentence(error)).join(' ')} />
          </p>
        )}
      </form>
    </Dialog>
  );
}

// What was declared for a parameter: its values as buttons, or its range.
function Declared({ p, onPick }: { p: Parameter; onPick: (value: string) => void }) {
  const applies = p.when ? ', where it applies' : '';
  if (p.min !== undefined && p.min !== null)
    return (
      <>{`${param(p.min)} to ${param(p.max ?? null)}${p.step ? ` in steps of ${param(p.step)}` : ''}${applies}`}</>
    );
  return (
    <span class="choices">
      {(p.values ?? []).slice(0, CHOICES).map((value) => (
        <button
          key={String(value)}
          type="button"
          class="link numeric"
          aria-label={`${p.name}: ${value}`}
          onClick={() => onPick(String(value))}
        >
          <bdi>{param(value)}</bdi>
        </button>
      ))}
      {(p.values?.length ?? 0) > CHOICES && `and ${(p.values?.length ?? 0) - CHOICES} more`}
      {applies && <span>{applies.slice(2)}</span>}
    </span>
  );
}

// `from`: the task whose values are the start; without it, the best so far.
export function SuggestDialog({ e, from, onClose }: { e: Experiment; from?: TaskSummary; onClose: () => void }) {
  const start = from?.parameters ?? e.best?.parameters ?? {};
  const text = (name: string) => (own(start, name) === undefined ? '' : String(start[name]));
  const values = useSignal<Record<string, string>>(Object.fromEntries(e.parameters.map((p) => [p.name, text(p.name)])));
  const outside = useSignal(!e.varying.length);
  const { busy, problems, send } = useSend();
  const varies = (p: Parameter) => e.varying.includes(p.name);
  const set = (name: string, value: string) => {
    values.value = { ...values.value, [name]: value };
  };
  const submit = async () => {
    const parameters: Record<string, Value> = {};
    for (const p of e.parameters) {
      const typed = values.value[p.name];
      // A constant that was not touched is the daemon's to fill in.
      if (typed.trim() === '' || (!varies(p) && typed === text(p.name))) continue;
      // A declared value is sent as it was declared: "64" may be a word or a number.
      const declared = p.values?.find((v) => String(v) === typed);
      parameters[p.name] = declared === undefined ? scalar(typed) : declared;
    }
    const body = outside.value ? { parameters, outside: true } : { parameters };
    const task = await send<TaskSummary>(`/experiments/${e.id}/suggest`, body);
    if (!task) return;
    onClose();
    toast(`Queued as #${task.number}.`, { action: { label: 'Show it', run: () => go(`/e/${e.id}/${task.number}`) } });
  };
  const field = (p: Parameter) => (
    <TextField
      key={p.name}
      id={`s-${p.name}`}
      label={<bdi>{p.name}</bdi>}
      mono
      value={values.value[p.name]}
      at={pointer('parameters', p.name)}
      placeholder={p.when ? 'does not apply' : undefined}
      help={varies(p) && <Declared p={p} onPick={(v) => set(p.name, v)} />}
      onInput={(v) => set(p.name, v)}
    />
  );
  const constants = e.parameters.filter((p) => !varies(p));
  return (
    <Form
      title={from ? `Restart task ${from.number} with changes` : 'Suggest a task'}
      yes="Run it"
      busy={busy.value}
      problems={problems}
      onClose={onClose}
      onSend={() => void submit()}
    >
      <p class="dim small">
        It runs beside those of the search, which learns from its result; the budget is not touched.
        {from
          ? ` It is a new task; these are the values of #${from.number}, which stays as it is.`
          : e.best && ' These are the values of the best task so far.'}
      </p>
      <div class="grid two-even">{e.parameters.filter(varies).map(field)}</div>
      <div class="field">
        <label class="check field-label" for="s-outside">
          <input
            type="checkbox"
            id="s-outside"
            checked={outside.value}
            onChange={(event) => {
              outside.value = event.currentTarget.checked;
            }}
          />
          Allow other values than the declared ones
        </label>
        <p class="help">The search does not learn from a task with such a value.</p>
      </div>
      {outside.value && constants.length > 0 && (
        <section class="grid" aria-label="Constants">
          <h3 class="small dim">Constants</h3>
          <div class="grid two-even">{constants.map(field)}</div>
        </section>
      )}
    </Form>
  );
}

// Only what differs from before is sent.
function changes(
  before: ReturnType<typeof searchOf>,
  now: { tasks: string; parallel: string; strategy: string; parameters: SearchParam[] },
  parallel: string,
) {
  const search: Record<string, unknown> = {};
  if (now.tasks.trim() !== before.tasks && now.tasks.trim()) search.tasks = scalar(now.tasks);
  if (now.parallel.trim() !== parallel) search.parallel = now.parallel.trim() ? scalar(now.parallel) : 0;
  if (now.strategy !== before.strategy) search.strategy = now.strategy;
  const parameters: Record<string, unknown> = {};
  now.parameters.forEach((p, i) => {
    const old = before.parameters[i];
    if (p.values === old.values && p.min === old.min && p.max === old.max) return;
    const alone = p.kind === 'range' ? !p.max.trim() : listValues(p.values).length === 1;
    // The daemon keeps a parameter's condition.
    parameters[p.name] = alone
      ? scalar(p.kind === 'range' ? p.min : p.values)
      : fromParam({ ...p, kind: p.kind === 'fixed' ? 'list' : p.kind });
  });
  return { ...(Object.keys(search).length && { search }), ...(Object.keys(parameters).length && { parameters }) };
}

export function ChangeDialog({
  e,
  onClose,
  onChange,
}: {
  e: Experiment;
  onClose: () => void;
  onChange: (shown: Experiment) => void;
}) {
  const before = searchOf(e);
  const parallel = e.parallel ? String(e.parallel) : '';
  const now = useSignal({ tasks: before.tasks, parallel, strategy: before.strategy, parameters: before.parameters });
  const aims = useSignal(aimsOf(e));
  const { busy, problems, send } = useSend();
  const set = (part: Partial<typeof now.value>) => {
    now.value = { ...now.value, ...part };
  };
  const edit = (i: number, part: Partial<SearchParam>) =>
    set({ parameters: now.value.parameters.map((p, k) => (k === i ? { ...p, ...part } : p)) });
  const submit = async () => {
    const objective = aimsChanged(e, aims.value);
    const body = { ...changes(before, now.value, parallel), ...(objective !== null ? { objective } : {}) };
    if (!Object.keys(body).length) return onClose();
    const shown = await send<Experiment>(`/experiments/${e.id}/search`, body);
    if (!shown) return;
    onChange(shown);
    onClose();
    const all = plural(shown.tasks.total, 'task');
    if (shown.state === 'waiting' || shown.state === 'running') toast(`The search goes on: ${all} in all.`);
    else toast(`Changed: ${all} in all, and nothing is left to run.`);
  };
  return (
    <Form
      title="Change the search"
      yes="Change it"
      busy={busy.value}
      problems={problems}
      onClose={onClose}
      onSend={() => void submit()}
    >
      <p class="dim small">The search continues with all results so far. Running tasks are not touched.</p>
      <div class="grid two-even">
        <TextField
          id="c-tasks"
          label="Tasks at most"
          numeric
          value={now.value.tasks}
          at="/search/tasks"
          placeholder={String(e.tasks.total)}
          onInput={(tasks) => set({ tasks })}
        />
        <TextField
          id="c-parallel"
          label="Run at once"
          numeric
          value={now.value.parallel}
          at="/search/parallel"
          placeholder="automatic"
          onInput={(value) => set({ parallel: value })}
        />
        <SelectField
          id="c-strategy"
          label="Strategy"
          value={now.value.strategy}
          at="/search/strategy"
          onPick={(strategy) => set({ strategy })}
          options={[
            { value: 'auto', label: 'Automatic' },
            ...(info.value?.strategies ?? []).map((s) => ({ value: s.name, label: s.title })),
          ]}
        />
      </div>
      <Aims e={e} aims={aims} />
      <div class="grid">
        {now.value.parameters.map((p, i) => {
          const at = pointer('parameters', p.name);
          return p.kind === 'range' ? (
            <div class="grid two-even" key={p.name}>
              <TextField
                id={`c-${p.name}`}
                label={
                  <>
                    <bdi>{p.name}</bdi> from
                  </>
                }
                mono
                value={p.min}
                at={at}
                onInput={(min) => edit(i, { min })}
              />
              <TextField
                id={`c-${p.name}-to`}
                label={
                  <>
                    <bdi>{p.name}</bdi> to
                  </>
                }
                mono
                value={p.max}
                at={`${at}/max`}
                placeholder="fixed"
                onInput={(max) => edit(i, { max })}
              />
            </div>
          ) : (
            <TextField
              key={p.name}
              id={`c-${p.name}`}
              label={<bdi>{p.name}</bdi>}
              mono
              value={p.values}
              at={at}
              onInput={(values) => edit(i, { values })}
            />
          );
        })}
      </div>
      <p class="help">
        Several values, separated by commas, are choices. A single value makes the parameter a constant, and so does a
        range with only one end.
      </p>
    </Form>
  );
}
