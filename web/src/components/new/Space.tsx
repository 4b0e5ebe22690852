// Step 2: the parameters. Lists are typed as people write them: 64,32,16.

import { useSignal } from '@preact/signals';
import { type DraftParam, type Kind, newParam, rowField } from '../../data/draft';
import { listParts, listValues } from '../../data/typed';
import { Card } from '../Card';
import { Errors, TextField } from '../Field';
import { Icon } from '../Icon';
import { pointer, useProblems } from '../problems';
import { change, check, draft } from './form';

function edit(id: number, part: Partial<DraftParam>) {
  change({ parameters: draft.value.parameters.map((p) => (p.id === id ? { ...p, ...part } : p)) });
}

function switchKind(p: DraftParam, kind: Kind) {
  const part: Partial<DraftParam> = { kind };
  if (kind === 'fixed') part.values = listParts(p.values)[0] ?? '';
  if (kind === 'range' && !p.min && !p.max) {
    const numbers = listValues(p.values).filter((v): v is number => typeof v === 'number');
    if (numbers.length > 1)
      Object.assign(part, { min: String(Math.min(...numbers)), max: String(Math.max(...numbers)) });
  }
  edit(p.id, part);
}

function Values({ p, bad }: { p: DraftParam; bad: boolean }) {
  const who = p.name || 'the new parameter';
  const cls = `input${bad ? ' bad' : ''}`;
  const say = bad ? `p${p.id}-e` : undefined;
  if (p.kind !== 'range') {
    return (
      <input
        class={cls}
        value={p.values}
        aria-label={p.kind === 'list' ? `Values of ${who}, separated by commas` : `Value of ${who}`}
        aria-invalid={bad}
        aria-describedby={say}
        autocomplete="off"
        spellcheck={false}
        placeholder={p.kind === 'list' ? '64,32,16' : '100'}
        onInput={(event) => edit(p.id, { values: event.currentTarget.value })}
      />
    );
  }
  const part = (key: 'min' | 'max' | 'step' | 'points', label: string, placeholder: string) => (
    <input
      class={`${cls} numeric`}
      value={p[key]}
      aria-label={`${label} of ${who}`}
      aria-invalid={bad}
      aria-describedby={say}
      inputMode="decimal"
      placeholder={placeholder}
      autocomplete="off"
      onInput={(event) => edit(p.id, { [key]: event.currentTarget.value })}
    />
  );
  return (
    <div class="range">
      {part('min', 'Lowest value', 'from')}
      <span class="mute">to</span>
      {part('max', 'Highest value', 'to')}
      <span class="mute">by</span>
      {part('step', 'Step', 'any step')}
      <span class="mute">or</span>
      {part('points', 'Number of points', 'points')}
      <label class="check">
        <input type="checkbox" checked={p.log} onChange={(event) => edit(p.id, { log: event.currentTarget.checked })} />
        log<span class="visually-hidden"> scale for {who}</span>
      </label>
    </div>
  );
}

function Row({ p }: { p: DraftParam }) {
  const at = [rowField(p), ...(p.name.trim() ? [pointer('parameters', p.name.trim())] : [])];
  const bad = useProblems(at).length > 0;
  const factor = check.value?.factors.find((f) => f.name === p.name.trim());
  const local = p.kind === 'list' ? listValues(p.values).length : null;
  const who = p.name || 'the new parameter';
  return (
    <tr>
      <td>
        <input
          class="input mono"
          value={p.name}
          aria-label="Parameter name"
          placeholder="name"
          autocomplete="off"
          spellcheck={false}
          title={p.help || undefined}
          aria-invalid={bad}
          onInput={(event) => edit(p.id, { name: event.currentTarget.value })}
        />
      </td>
      <td>
        <select
          class="input"
          value={p.kind}
          aria-label={`Kind of ${who}`}
          onChange={(event) => switchKind(p, event.currentTarget.value as Kind)}
        >
          <option value="list">List</option>
          <option value="range">Range</option>
          <option value="fixed">Fixed</option>
        </select>
      </td>
      <td class="values">
        <Values p={p} bad={bad} />
        {bad && <Errors at={at} id={`p${p.id}-e`} />}
        {p.help && <p class="help">{p.help}</p>}
      </td>
      <td class="right count">
        {p.kind === 'fixed' ? <span class="mute">fixed</span> : <b>{factor?.count ?? local ?? '∞'}</b>}
      </td>
      <td class="right">
        <button
          type="button"
          class="btn icon compact ghost"
          aria-label={`Remove ${who}`}
          onClick={() => change({ parameters: draft.value.parameters.filter((q) => q.id !== p.id) })}
        >
          <Icon name="trash" />
        </button>
      </td>
    </tr>
  );
}

export function SpaceCard() {
  const d = draft.value;
  const named = d.parameters.filter((p) => p.name.trim());
  // Opened by hand or by what is in it; it does not close while someone types.
  const used = !!(d.constraints || d.repeats || d.parameters.some((p) => p.when));
  const opened = useSignal(used);
  if (used) opened.value = true;
  return (
    <Card
      title="Parameters"
      id="n-space"
      step={2}
      extra={
        <>
          <span class="grow" />
          <button
            type="button"
            class="btn compact"
            onClick={() => change({ parameters: [...d.parameters, newParam()] })}
          >
            <Icon name="plus" />
            Add parameter
          </button>
        </>
      }
    >
      <div class="body">
        <table class="parameters">
          <thead>
            <tr>
              <th scope="col" class="name">
                Parameter
              </th>
              <th scope="col" class="kind">
                Kind
              </th>
              <th scope="col">Values</th>
              <th scope="col" class="right">
                Count
              </th>
              <th scope="col">
                <span class="visually-hidden">Remove</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {d.parameters.map((p) => (
              <Row key={p.id} p={p} />
            ))}
          </tbody>
        </table>
        {!d.parameters.length && <p class="mute small">Without parameters the script runs once.</p>}
        {d.pass === 'positional' && <p class="help">The order of the rows is the order of the arguments.</p>}
        <details
          class="advanced"
          open={opened.value}
          onToggle={(event) => {
            opened.value = event.currentTarget.open;
          }}
        >
          <summary>Conditions, constraints and repeats</summary>
          <div class="grid two start">
            <div class="grid">
              <TextField
                id="constraints"
                label="Constraints"
                rows={3}
                mono
                value={d.constraints}
                at="/constraints"
                onInput={(constraints) => change({ constraints })}
                placeholder="batch_size * units <= 16384"
                help="One a line. A configuration that breaks one is left out."
              />
              <TextField
                id="repeats"
                label="Repeats"
                numeric
                value={d.repeats}
                at="/repeats"
                onInput={(repeats) => change({ repeats })}
                placeholder="1"
                help="The same configuration under several seeds."
              />
            </div>
            <div class="field">
              <span class="field-label">Only when</span>
              {named.map((p) => (
                <div class="condition" key={p.id}>
                  <label class="mono" for={`when-${p.id}`}>
                    {p.name}
                  </label>
                  <input
                    class="input mono"
                    id={`when-${p.id}`}
                    value={p.when}
                    placeholder="always"
                    autocomplete="off"
                    spellcheck={false}
                    onInput={(event) => edit(p.id, { when: event.currentTarget.value })}
                  />
                  <Errors at={`/when/${p.id}`} id={`when-${p.id}-e`} />
                </div>
              ))}
              <p class="help">
                For example momentum only when <code>optimizer=sgd</code>.
              </p>
            </div>
          </div>
        </details>
      </div>
    </Card>
  );
}
