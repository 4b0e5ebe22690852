// Step 3: how to search. The strategies and their options are the daemon's own list.
import { useSignal } from '@preact/signals';
import { info } from '../../data/api';
import { pruneOptions } from '../../data/draft';
import type { Strategy, StrategyOption } from '../../data/types';
import { Card } from '../Card';
import { Errors, SelectField, TextField } from '../Field';
import { change, draft } from './form';

function Option({ option }: { option: StrategyOption }) {
  const d = draft.value;
  const value = d.options[option.name];
  const id = `opt-${option.name}`;
  const at = `/search/${option.name}`;
  const set = (next: string | boolean) => {
    const { [option.name]: _old, ...rest } = d.options;
    // What equals the default is left out, so that the file says only what was chosen.
    change({
      options: next === '' || String(next) === String(option.default) ? rest : { ...rest, [option.name]: next },
    });
  };
  if (option.type === 'bool') {
    return (
      <div class="field">
        <label class="check field-label">
          <input
            type="checkbox"
            id={id}
            checked={value === undefined ? option.default === true : value === true || value === 'true'}
            onChange={(event) => set(event.currentTarget.checked)}
          />
          {option.name}
        </label>
        {option.help && <p class="help">{option.help}</p>}
        <Errors at={at} id={`${id}-e`} />
      </div>
    );
  }
  if (option.words?.length) {
    return (
      <SelectField
        id={id}
        label={option.name}
        value={String(value ?? option.default ?? '')}
        at={at}
        help={option.help}
        onPick={set}
        options={option.words.map((c) => ({ value: c, label: c }))}
      />
    );
  }
  return (
    <TextField
      id={id}
      label={option.name}
      value={String(value ?? '')}
      at={at}
      placeholder={option.default === null ? 'automatic' : String(option.default)}
      help={option.help}
      onInput={set}
    />
  );
}

// The daemon lists what it can do; letting it choose is no strategy of its own.
const AUTO: Pick<Strategy, 'name' | 'title' | 'help' | 'multi_fidelity' | 'options'> = {
  name: 'auto',
  title: 'Automatic',
  help: 'Chosen from the parameters and the budget',
  multi_fidelity: false,
  options: [],
};

// What most people choose from; the others are a click away.
const USUAL = ['auto', 'grid', 'random', 'de', 'tpe', 'asha'];

const RULES = [
  { value: '', label: 'Never' },
  { value: 'median', label: 'Worse than the median' },
  { value: 'asha', label: 'Not among the best of a rung' },
  { value: 'threshold', label: 'Worse than a value' },
];
const RULE_OPTIONS = {
  warmup: ['After epoch', 'no task is ended before this step'],
  min_tasks: ['Compared with at least', 'others that came as far'],
  reduction: ['Reduction', 'one task in this many goes on'],
  threshold: ['Threshold', 'the worst value that may go on'],
} as const;

// Ending tasks early; and for the strategies that try many briefly, which parameter says how long.
function Early({ multi }: { multi: boolean }) {
  const d = draft.value;
  const rule = pruneOptions(d.prune);
  return (
    <>
      <div class="grid four">
        <SelectField
          id="prune"
          label="End tasks early"
          value={d.prune}
          at="/prune/rule"
          onPick={(prune) => change({ prune })}
          options={RULES}
        />
        {(Object.keys(rule) as (keyof typeof rule)[]).map((key) => (
          <TextField
            key={key}
            id={`prune-${key}`}
            label={RULE_OPTIONS[key][0]}
            numeric
            value={d[key]}
            at={`/prune/${key}`}
            placeholder={rule[key]}
            help={RULE_OPTIONS[key][1]}
            onInput={(value) => change({ [key]: value })}
          />
        ))}
      </div>
      {multi && (
        <div class="grid four">
          <SelectField
            id="fidelity"
            label="Length of training"
            value={d.fidelity}
            at={['/fidelity', '/fidelity/parameter']}
            help="the parameter that says how long a task trains"
            onPick={(fidelity) => change({ fidelity })}
            options={[
              { value: '', label: 'choose' },
              ...d.parameters.filter((p) => p.name.trim()).map((p) => ({ value: p.name.trim(), label: p.name.trim() })),
            ]}
          />
          <TextField
            id="fidelity-min"
            label="Shortest"
            numeric
            value={d.fidelityMin}
            at="/fidelity/min"
            placeholder="3"
            help="a first look"
            onInput={(fidelityMin) => change({ fidelityMin })}
          />
          <TextField
            id="fidelity-max"
            label="Longest"
            numeric
            value={d.fidelityMax}
            at="/fidelity/max"
            placeholder="81"
            help="a full run"
            onInput={(fidelityMax) => change({ fidelityMax })}
          />
        </div>
      )}
    </>
  );
}

export function StrategyCard() {
  const d = draft.value;
  const listed = info.value?.strategies ?? [];
  const all = listed.some((s) => s.name === 'auto') ? listed : [AUTO, ...listed];
  const picked = all.find((s) => s.name === d.strategy);
  const whole = useSignal(false);
  const usual = USUAL.map((name) => all.find((s) => s.name === name)).filter((s) => !!s);
  const shown =
    whole.value || (picked && !usual.includes(picked)) ? [...usual, ...all.filter((s) => !usual.includes(s))] : usual;
  return (
    <Card title="Strategy" id="n-strategy" step={3}>
      <div class="body grid">
        <div class="options" role="radiogroup" aria-label="Search strategy">
          {shown.map((s) => (
            <label class="option" key={s.name}>
              <input
                type="radio"
                name="strategy"
                value={s.name}
                checked={s.name === d.strategy}
                onChange={() => change({ strategy: s.name, options: {} })}
              />
              <b>{s.title}</b>
              <span>{s.help}</span>
            </label>
          ))}
        </div>
        {shown.length < all.length && (
          <p class="help">
            <button
              type="button"
              class="link"
              onClick={() => {
                whole.value = true;
              }}
            >
              Show {all.length - shown.length} more {all.length - shown.length === 1 ? 'strategy' : 'strategies'}
            </button>
          </p>
        )}
        <Errors at="/search/strategy" id="strategy-e" />
        <div class="grid four">
          <TextField
            id="metric"
            label="Metric"
            mono
            value={d.metric}
            at={d.more.length ? '/objective/0' : '/objective'}
            onInput={(metric) => change({ metric })}
            placeholder="val_loss"
          />
          <SelectField
            id="goal"
            label="Goal"
            value={d.goal}
            at="/objective/goal"
            onPick={(goal) => change({ goal: goal as 'min' | 'max' })}
            options={[
              { value: 'min', label: 'Minimise' },
              { value: 'max', label: 'Maximise' },
            ]}
          />
          <TextField
            id="tasks"
            label="Tasks at most"
            numeric
            value={d.tasks}
            at="/search/tasks"
            onInput={(tasks) => change({ tasks })}
            placeholder={d.strategy === 'grid' ? 'every combination' : 'automatic'}
          />
          <TextField
            id="parallel"
            label="Run at once"
            numeric
            value={d.parallel}
            at="/search/parallel"
            onInput={(parallel) => change({ parallel })}
            placeholder="what fits"
          />
          <TextField
            id="seed"
            label="Seed"
            numeric
            value={d.seed}
            at="/search/seed"
            onInput={(seed) => change({ seed })}
            placeholder="automatic"
          />
          {picked?.options.map((option) => (
            <Option key={`${picked.name}-${option.name}`} option={option} />
          ))}
        </div>
        {d.more.map((o, i) => (
          <div class="grid four" key={i}>
            <TextField
              id={`metric-${i + 1}`}
              label={`Objective ${i + 2}`}
              mono
              value={o.metric}
              at={`/objective/${i + 1}`}
              onInput={(metric) => change({ more: d.more.map((m, k) => (k === i ? { ...m, metric } : m)) })}
            />
            <SelectField
              id={`goal-${i + 1}`}
              label={`Goal ${i + 2}`}
              value={o.goal}
              at={`/objective/${i + 1}/goal`}
              onPick={(goal) =>
                change({ more: d.more.map((m, k) => (k === i ? { ...m, goal: goal as 'min' | 'max' } : m)) })
              }
              options={[
                { value: 'min', label: 'Minimise' },
                { value: 'max', label: 'Maximise' },
              ]}
            />
            <div class="field">
              <span class="field-label">&nbsp;</span>
              <button type="button" class="btn" onClick={() => change({ more: d.more.filter((_, k) => k !== i) })}>
                Remove objective {i + 2}
              </button>
            </div>
          </div>
        ))}
        <p class="help">
          <button
            type="button"
            class="link"
            onClick={() => change({ more: [...d.more, { metric: '', goal: 'min', rest: {} }] })}
          >
            Add another objective
          </button>
        </p>
        <Early multi={!!picked?.multi_fidelity} />
      </div>
    </Card>
  );
}
