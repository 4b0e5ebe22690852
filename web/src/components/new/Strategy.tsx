// Step 3: how to search, for what, and when to stop. The strategies and their options are the daemon's own list.
import { useSignal } from '@preact/signals';
import type { Pair, YAMLMap } from 'yaml';
import { info } from '../../data/api';
import { addObjective, type Objective, objectivesOf, removeObjective, setObjective } from '../../data/objectives';
import { rowsOf } from '../../data/rows';
import { drop, keyOf, nodeAt, put, shown, textNode, valueNode } from '../../data/tree';
import type { Strategy, StrategyOption } from '../../data/types';
import { yaml } from '../../data/yaml';
import { Card } from '../Card';
import { Errors, SelectField, TextField } from '../Field';
import { FileCheck, FileField, FileSelect, NAMES, TEXT } from './fields';
import { asTyped, doc, edit, at as nodeNow, noteTyped, place, setNode, textAt } from './form';
import { More } from './More';

function Option({ option }: { option: StrategyOption }) {
  const path = ['search', option.name];
  const id = `opt-${option.name}`;
  const value = textAt(path);
  if (option.type === 'bool') {
    return (
      <div class="field">
        <label class="check field-label">
          <input
            type="checkbox"
            id={id}
            checked={value === '' ? option.default === true : value === 'true'}
            onChange={(event) => {
              const next = event.currentTarget.checked;
              setNode(path, next === option.default ? null : valueNode(String(next)));
            }}
          />
          {option.name}
        </label>
        {option.help && <p class="help">{option.help}</p>}
        <Errors at={place(path)} id={`${id}-e`} name={option.name} />
      </div>
    );
  }
  if (option.words?.length) {
    return (
      <SelectField
        id={id}
        label={option.name}
        value={value || String(option.default ?? '')}
        at={place(path)}
        help={option.help}
        onPick={(next) => setNode(path, next === String(option.default) ? null : textNode(next))}
        options={option.words.map((c) => ({ value: c, label: c }))}
      />
    );
  }
  return (
    <FileField
      path={path}
      id={id}
      label={option.name}
      placeholder={option.default === null ? 'automatic' : String(option.default)}
      help={option.help}
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
// The numbers that each rule takes, with the daemon's defaults.
const RULE_OPTIONS: Record<string, [key: string, standard: string][]> = {
  median: [
    ['warmup', '1'],
    ['min_tasks', '4'],
  ],
  asha: [
    ['warmup', '1'],
    ['min_tasks', '4'],
    ['reduction', '3'],
  ],
  threshold: [
    ['warmup', '1'],
    ['threshold', ''],
  ],
};
const RULE_WORDS: Record<string, [label: string, help: string]> = {
  warmup: ['After epoch', 'no task is ended before this epoch (step, where no epoch is known); 0.5 is half an epoch'],
  min_tasks: ['Compared with at least', 'others that came as far'],
  reduction: ['Reduction', 'one task in this many goes on'],
  threshold: ['Threshold', 'the worst value that may go on'],
};

function pickRule(rule: string) {
  edit((tree) => {
    const known = (RULE_OPTIONS[rule] ?? []).map(([key]) => key);
    const node = nodeAt(tree, ['prune']);
    if (!rule) return drop(tree, ['prune']);
    if (!yaml.isMap(node)) drop(tree, ['prune']);
    put(tree, ['prune', 'rule'], textNode(rule));
    for (const pair of [...(nodeAt(tree, ['prune']) as YAMLMap).items] as Pair[])
      if (keyOf(pair) !== 'rule' && !known.includes(keyOf(pair))) drop(tree, ['prune', keyOf(pair)]);
  });
}

// Ending tasks early; and for the strategies that try many briefly, which parameter says how long.
function Early({ multi }: { multi: boolean }) {
  const node = nodeNow(['prune']);
  const rule = yaml.isMap(node) ? textAt(['prune', 'rule']) : shown(node);
  return (
    <>
      <div class="grid four">
        <SelectField
          id="prune"
          label="End tasks early"
          value={rule}
          at={yaml.isMap(node) ? '/prune/rule' : '/prune'}
          onPick={pickRule}
          options={RULES}
        />
        {(RULE_OPTIONS[rule] ?? []).map(([key, standard]) => (
          <RuleOption key={key} name={key} standard={standard} />
        ))}
      </div>
      {(multi || !!nodeNow(['fidelity'])) && (
        <div class="grid four">
          <FileSelect
            path={['fidelity', 'parameter']}
            also={['=/fidelity']}
            id="fidelity"
            label="Length of training"
            help="the parameter that says how long a task trains"
            options={[
              { value: '', label: 'choose' },
              ...rowsOf(doc())
                .filter((row) => row.name)
                .map((row) => ({ value: row.name, label: row.name })),
            ]}
          />
          <FileField
            path={['fidelity', 'min']}
            id="fidelity-min"
            label="Shortest"
            numeric
            placeholder="3"
            help="a first look"
          />
          <FileField
            path={['fidelity', 'max']}
            id="fidelity-max"
            label="Longest"
            numeric
            placeholder="81"
            help="a full run"
          />
        </div>
      )}
    </>
  );
}

// A rule that stands as a mere word becomes a map with the first number.
function RuleOption({ name, standard }: { name: string; standard: string }) {
  const path = ['prune', name];
  const value = textAt(path);
  return (
    <TextField
      id={`prune-${name}`}
      label={RULE_WORDS[name][0]}
      numeric
      value={asTyped(place(path), value)}
      at={place(path)}
      placeholder={standard}
      help={RULE_WORDS[name][1]}
      onInput={(text) => {
        edit((tree) => {
          const node = nodeAt(tree, ['prune']);
          if (!yaml.isMap(node)) {
            const rule = shown(node);
            drop(tree, ['prune']);
            put(tree, ['prune', 'rule'], textNode(rule));
          }
          if (text.trim()) put(tree, path, valueNode(text));
          else drop(tree, path);
        });
        noteTyped(place(path), text, textAt(path));
      }}
    />
  );
}

function ObjectiveRow({ o, i, count }: { o: Objective; i: number; count: number }) {
  const here = place(o.path);
  const label = (word: string) => (count > 1 ? `${word} ${i + 1}` : word);
  const set = (key: string, text: string, number = false) => {
    edit((tree) =>
      setObjective(tree, o.path, key, text.trim() ? (number ? valueNode(text) : textNode(text.trim())) : null),
    );
    noteTyped(`${here}/${key}`, text, text.trim());
  };
  return (
    <div class="grid four">
      <TextField
        id={i ? `metric-${i + 1}` : 'metric'}
        label={label('Metric')}
        mono
        list="columns"
        value={asTyped(`${here}/metric`, o.metric)}
        at={[`${here}/metric`, `=${here}`, ...(i ? [] : ['=/objective'])]}
        onInput={(text) => set('metric', text)}
        placeholder="val_loss"
      />
      <SelectField
        id={i ? `goal-${i + 1}` : 'goal'}
        label={label('Goal')}
        value={o.goal.startsWith('max') ? 'max' : o.goal.startsWith('min') ? 'min' : o.goal}
        at={`${here}/goal`}
        onPick={(goal) => set('goal', goal)}
        options={[
          { value: '', label: 'By its name' },
          { value: 'min', label: 'Minimise' },
          { value: 'max', label: 'Maximise' },
        ]}
      />
      <SelectField
        id={i ? `take-${i + 1}` : 'take'}
        label={label('Of a task, take')}
        value={o.take}
        at={`${here}/take`}
        onPick={(take) => set('take', take)}
        options={[
          { value: '', label: 'its best value' },
          { value: 'last', label: 'its last value' },
          { value: 'mean', label: 'the mean of its last values' },
          ...(o.take === 'best' ? [{ value: 'best', label: 'its best value (written)' }] : []),
        ]}
      />
      {(o.take === 'mean' || o.of) && (
        <TextField
          id={i ? `of-${i + 1}` : 'of'}
          label={label('Last values')}
          numeric
          value={asTyped(`${here}/of`, o.of)}
          at={`${here}/of`}
          placeholder="5"
          onInput={(text) => set('of', text, true)}
        />
      )}
      {count > 1 && (
        <div class="field">
          <span class="field-label">&nbsp;</span>
          <button type="button" class="btn" onClick={() => edit((tree) => removeObjective(tree, i))}>
            Remove objective {i + 1}
          </button>
        </div>
      )}
    </div>
  );
}

// The options of another strategy mean nothing to this one; and one that trains briefly must know what says how long.
function pickStrategy(strategy: Pick<Strategy, 'name' | 'multi_fidelity' | 'options'>) {
  edit((tree) => {
    const search = nodeAt(tree, ['search']);
    const known = ['strategy', 'tasks', 'parallel', 'seed', ...strategy.options.map((option) => option.name)];
    for (const pair of (yaml.isMap(search) ? [...search.items] : []) as Pair[])
      if (!known.includes(keyOf(pair))) drop(tree, ['search', keyOf(pair)]);
    if (strategy.name === 'auto') drop(tree, ['search', 'strategy']);
    else put(tree, ['search', 'strategy'], textNode(strategy.name));
    if (!strategy.multi_fidelity || tree.has('fidelity')) return;
    const long = rowsOf(tree).find((row) => /epoch|steps$|iterations/i.test(row.name));
    if (!long) return;
    put(tree, ['fidelity', 'parameter'], textNode(long.name));
    const most = Number(long.kind === 'range' ? long.max : long.values);
    if (!(most > 1)) return;
    put(tree, ['fidelity', 'min'], valueNode(String(Math.max(1, Math.round(most / 27)))));
    put(tree, ['fidelity', 'max'], valueNode(String(most)));
  });
}

// An objective that must also keep a bound, and what else a search may be told.
function FurtherFields({ objectives }: { objectives: Objective[] }) {
  const bounds = objectives.map((o) => [...o.path, 'at_most']).concat(objectives.map((o) => [...o.path, 'at_least']));
  const others = ['learn_from', 'duplicates', 'open'].map((key) => ['search', key]);
  const bound = (o: Objective, i: number, key: 'at_most' | 'at_least', words: string) => {
    const path = [...o.path, key];
    return (
      <TextField
        key={place(path)}
        id={`${key.replace('_', '-')}-${i + 1}`}
        label={`${o.metric || 'Metric'} ${words}`}
        mono
        value={asTyped(place(path), textAt(path))}
        at={place(path)}
        placeholder="any"
        onInput={(text) => {
          edit((tree) => setObjective(tree, o.path, key, text.trim() ? valueNode(text) : null));
          noteTyped(place(path), text, textAt(path));
        }}
      />
    );
  };
  return (
    <More title="Limits, earlier results and repeated configurations" paths={[...bounds, ...others]}>
      <div class="grid four">
        {objectives.flatMap((o, i) => [bound(o, i, 'at_most', 'at most'), bound(o, i, 'at_least', 'at least')])}
        <FileField
          path={['search', 'learn_from']}
          codec={NAMES}
          id="learn-from"
          label="Learn from"
          mono
          placeholder="auto"
          help="earlier experiments: e3, e5, or none"
        />
      </div>
      <FileCheck path={['search', 'duplicates']} id="duplicates" label="Allow the same configuration again" />
      {(textAt(['resources', 'backend']) === 'external' || nodeNow(['search', 'open'])) && (
        <FileCheck path={['search', 'open']} id="open" label="Workers say how many tasks there are" />
      )}
    </More>
  );
}

function StopFields() {
  return (
    <More title="When to stop" paths={[['stop']]}>
      <div class="grid four">
        <FileField
          path={['stop', 'when']}
          codec={TEXT}
          id="stop-when"
          label="When a value is reached"
          mono
          placeholder="val_loss < 0.05"
        />
        <FileField path={['stop', 'wall']} id="stop-wall" label="After a time" mono placeholder="12h" />
        <FileField path={['stop', 'gpu_hours']} id="stop-gpu" label="After GPU hours" numeric placeholder="40" />
        <FileField path={['stop', 'energy']} id="stop-energy" label="After an energy" mono placeholder="20MJ" />
        <FileField
          path={['stop', 'failures']}
          id="stop-failures"
          label="Pause after equal failures"
          mono
          placeholder="automatic"
          help="in a row; off is never"
        />
      </div>
    </More>
  );
}

export function StrategyCard() {
  const name = textAt(['search', 'strategy']) || 'auto';
  const listed = info.value?.strategies ?? [];
  const all = listed.some((s) => s.name === 'auto') ? listed : [AUTO, ...listed];
  const picked = all.find((s) => s.name === name);
  const whole = useSignal(false);
  const usual = USUAL.map((one) => all.find((s) => s.name === one)).filter((s) => !!s);
  const shownCards =
    whole.value || (picked && !usual.includes(picked)) ? [...usual, ...all.filter((s) => !usual.includes(s))] : usual;
  const objectives = objectivesOf(doc());
  return (
    <Card title="Strategy" id="n-strategy" step={3}>
      <div class="body grid">
        <div class="options" role="radiogroup" aria-label="Search strategy">
          {shownCards.map((s) => (
            <label class="option" key={s.name}>
              <input
                type="radio"
                name="strategy"
                value={s.name}
                checked={s.name === name}
                onChange={() => pickStrategy(s)}
              />
              <b>{s.title}</b>
              <span>{s.help}</span>
            </label>
          ))}
        </div>
        {shownCards.length < all.length && (
          <p class="help">
            <button
              type="button"
              class="link"
              onClick={() => {
                whole.value = true;
              }}
            >
              Show {all.length - shownCards.length} more{' '}
              {all.length - shownCards.length === 1 ? 'strategy' : 'strategies'}
            </button>
          </p>
        )}
        <Errors at="/search/strategy" id="strategy-e" name="Strategy" />
        <div class="grid four">
          <FileField
            path={['search', 'tasks']}
            id="tasks"
            label="Tasks at most"
            numeric
            placeholder={name === 'grid' ? 'every combination' : 'automatic'}
          />
          <FileField path={['search', 'parallel']} id="parallel" label="Run at once" numeric placeholder="automatic" />
          <FileField path={['search', 'seed']} id="seed" label="Seed" numeric placeholder="automatic" />
          {picked?.options.map((option) => (
            <Option key={`${picked.name}-${option.name}`} option={option} />
          ))}
        </div>
        {objectives.map((o, i) => (
          <ObjectiveRow key={i} o={o} i={i} count={objectives.length} />
        ))}
        <p class="help">
          <button type="button" class="link" onClick={() => edit(addObjective)}>
            Add another objective
          </button>
        </p>
        <Early multi={!!picked?.multi_fidelity} />
        <FurtherFields objectives={objectives} />
        <StopFields />
      </div>
    </Card>
  );
}
