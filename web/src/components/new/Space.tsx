// Step 2: the parameters. Lists are typed as people write them: 64,32,16.
import { useSignal } from '@preact/signals';
import {
  addRow,
  type Kind,
  nameRow,
  type Part,
  type Row as RowData,
  removeRow,
  rowField,
  rowsOf,
  setKind,
  setLog,
  setPart,
  setValues,
  setWhen,
  whenNode,
} from '../../data/rows';
import { nodeAt, type Path } from '../../data/tree';
import { listParts } from '../../data/typed';
import { Card } from '../Card';
import { Errors } from '../Field';
import { Icon } from '../Icon';
import { pointer, useProblems } from '../problems';
import { FileField, LINES } from './fields';
import { asTyped, check, doc, edit, noteTyped, scan, setUnread, textAt } from './form';

// What the row says after a change: the same pair, read again.
const again = (row: RowData) => rowsOf(doc()).find((one) => one.pair === row.pair);

function type(row: RowData, part: Part | 'values' | 'name', text: string) {
  edit((tree) => {
    if (part === 'name') nameRow(tree, row.pair, text.trim());
    else if (part === 'values') setValues(row.pair, row.kind, text);
    else setPart(row.pair, part, text);
  });
  noteTyped(`${rowField(row)}/${part}`, text, again(row)?.[part] ?? '');
}

const typedIn = (row: RowData, part: Part | 'values' | 'name') => asTyped(`${rowField(row)}/${part}`, row[part]);

function Values({ row, bad }: { row: RowData; bad: boolean }) {
  const who = row.name || 'the new parameter';
  const cls = `input${bad ? ' bad' : ''}`;
  const say = bad ? `p${row.id}-e` : undefined;
  if (row.kind !== 'range') {
    return (
      <input
        class={cls}
        value={typedIn(row, 'values')}
        aria-label={row.kind === 'list' ? `Values of ${who}, separated by commas` : `Value of ${who}`}
        aria-invalid={bad}
        aria-describedby={say}
        autocomplete="off"
        spellcheck={false}
        placeholder={row.kind === 'list' ? '64,32,16' : '100'}
        onInput={(event) => type(row, 'values', event.currentTarget.value)}
      />
    );
  }
  const part = (key: Part, label: string, placeholder: string) => (
    <input
      class={`${cls} numeric`}
      value={typedIn(row, key)}
      aria-label={`${label} of ${who}`}
      aria-invalid={bad}
      aria-describedby={say}
      inputMode="decimal"
      placeholder={placeholder}
      autocomplete="off"
      onInput={(event) => type(row, key, event.currentTarget.value)}
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
        <input
          type="checkbox"
          checked={row.log}
          onChange={(event) => edit(() => setLog(row.pair, event.currentTarget.checked))}
        />
        log<span class="visually-hidden"> scale for {who}</span>
      </label>
    </div>
  );
}

function Row({ row }: { row: RowData }) {
  const at = [rowField(row), ...(row.name ? [pointer('parameters', row.name)] : [])];
  const bad = useProblems(at).length > 0;
  const factor = check.value?.factors.find((f) => f.name === row.name);
  const local = row.kind === 'list' ? listParts(row.values).length : null;
  const who = row.name || 'the new parameter';
  const arg = scan.value?.arguments.find((one) => one.name === row.name);
  // What is said of --no-aug is not said of aug.
  const off = arg?.switch && arg.flag && arg.flag.replace(/^-+/, '').replaceAll('-', '_') !== arg.name;
  const help = arg?.help && (off ? `${arg.flag}: ${arg.help}` : arg.help);
  return (
    <tr>
      <td>
        <input
          class="input mono"
          value={typedIn(row, 'name')}
          aria-label="Parameter name"
          placeholder="name"
          autocomplete="off"
          spellcheck={false}
          title={help || undefined}
          aria-invalid={bad}
          onInput={(event) => type(row, 'name', event.currentTarget.value)}
        />
      </td>
      <td>
        <select
          class="input"
          value={row.kind}
          aria-label={`Kind of ${who}`}
          onChange={(event) => {
            const kind = event.currentTarget.value as Kind;
            edit(() => setKind(row, kind));
          }}
        >
          <option value="list">List</option>
          <option value="range">Range</option>
          <option value="fixed">Fixed</option>
        </select>
      </td>
      <td class="values">
        <Values row={row} bad={bad} />
        {bad && <Errors at={at} id={`p${row.id}-e`} name={row.name || 'the parameter without a name'} />}
        {help && <p class="help">{help}</p>}
      </td>
      <td class="right count">
        {row.kind === 'fixed' ? <span class="mute">fixed</span> : <b>{factor?.count ?? local ?? '∞'}</b>}
      </td>
      <td class="right">
        <button
          type="button"
          class="btn icon compact ghost"
          aria-label={`Remove ${who}`}
          onClick={() => edit((tree) => removeRow(tree, row.pair))}
        >
          <Icon name="trash" />
        </button>
      </td>
    </tr>
  );
}

function Condition({ row }: { row: RowData }) {
  const here = `/when/${row.id}`;
  return (
    <div class="condition">
      <label class="mono" for={`when-${row.id}`}>
        {row.name}
      </label>
      <input
        class="input mono"
        id={`when-${row.id}`}
        value={asTyped(here, row.when)}
        placeholder="always"
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => {
          const text = event.currentTarget.value;
          const when = text.trim() ? whenNode(text) : null;
          const wrong = !when && !!text.trim();
          setUnread(here, wrong ? `'${text.trim()}' is no condition. Write optimizer=sgd` : null);
          if (!wrong) edit(() => setWhen(row.pair, when));
          noteTyped(here, text, again(row)?.when ?? '');
        }}
      />
      <Errors at={here} id={`when-${row.id}-e`} name={`Only when of ${row.name}`} />
    </div>
  );
}

const has = (path: Path) => nodeAt(doc(), path) !== undefined;

export function SpaceCard() {
  const rows = rowsOf(doc());
  const named = rows.filter((row) => row.name);
  // Opened by hand or by what is in it; it does not close while someone types.
  const used = has(['constraints']) || has(['repeats']) || rows.some((row) => row.when);
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
          <button type="button" class="btn compact" onClick={() => edit((tree) => addRow(tree))}>
            <Icon name="plus" />
            Add parameter
          </button>
        </>
      }
    >
      <div class="body">
        {rows.length > 0 && (
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
              {rows.map((row) => (
                <Row key={row.id} row={row} />
              ))}
            </tbody>
          </table>
        )}
        {!rows.length && (
          <p class="mute small">
            No parameters yet. The arguments of the script become rows here; without parameters it runs once.
          </p>
        )}
        {/^(positional|values)$/.test(textAt(['pass'])) && (
          <p class="help">The order of the rows is the order of the arguments.</p>
        )}
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
              <FileField
                path={['constraints']}
                codec={LINES}
                id="constraints"
                label="Constraints"
                rows={3}
                mono
                placeholder="batch_size * units <= 16384"
                help="One a line. A configuration that breaks one is left out."
              />
              <FileField
                path={['repeats']}
                id="repeats"
                label="Repeats"
                numeric
                placeholder="1"
                help="The same configuration under several seeds."
              />
            </div>
            <div class="field">
              <span class="field-label">Only when</span>
              {named.map((row) => (
                <Condition key={row.id} row={row} />
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
