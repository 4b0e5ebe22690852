// What sluice found by reading the script, in words.
import { argumentsOf, wayOf } from '../../data/fill';
import { addRow, rowsOf } from '../../data/rows';
import { emptyNode } from '../../data/tree';
import type { Scan } from '../../data/types';
import { capitalize, plural } from '../../lib/format';
import { Icon } from '../Icon';
import { Said } from '../Said';
import { check, doc, edit, setText, textAt } from './form';

// How the script takes its values, in words.
function Arguments({ found }: { found: Scan }) {
  const taken = argumentsOf(found, textAt(['subcommand']).split(' ')[0]);
  const shown = taken.slice(0, 20);
  // One without a default is left to the script, until someone adds it.
  const there = new Set(rowsOf(doc()).map((row) => row.name));
  const by = found.parser ? ` by ${found.parser}` : '';
  if (found.pass === 'positional') return <>Reads its arguments by position</>;
  if (found.pass === 'overrides')
    return <>Takes name=value overrides{by}; write the names of its configuration as parameters</>;
  if (!shown.length) return <>{found.pass === 'env' ? 'Reads its values by env' : 'No arguments found'}</>;
  return (
    <>
      {plural(taken.length, 'argument')} found{by}:{' '}
      <span class="arguments">
        {shown.map((arg) =>
          arg.flag && !there.has(arg.name) && arg.name !== 'help' && arg.name !== 'version' ? (
            <button
              key={arg.name}
              type="button"
              class="link"
              title={arg.help ?? undefined}
              aria-label={`Add ${arg.name}`}
              onClick={() => edit((tree) => addRow(tree, arg.name, emptyNode()))}
            >
              <code>+ {arg.flag}</code>
            </button>
          ) : (
            <code key={arg.name} title={arg.help ?? undefined}>
              {arg.flag ?? arg.name}
            </code>
          ),
        )}
      </span>
    </>
  );
}

export function Found({ found }: { found: Scan }) {
  const pass = textAt(['pass']);
  const way = wayOf(found, argumentsOf(found, textAt(['subcommand']).split(' ')[0]));
  // Where the script names no place, either way may be right.
  const named = found.arguments.some((arg) => arg.place > 0);
  const fits = pass === way || (!named && (pass === 'positional' || pass === 'values'));
  const counts = way && !fits && (pass || !check.value?.chosen.length);
  // Whatever json.dumps makes may go elsewhere.
  const writers = found.metrics.filter((name) => !name.startsWith('json.'));
  const clear = !!found.pass && !counts && !found.wrong;
  return (
    <div role="status">
      <ul class="checks found">
        {found.wrong && (
          <li class="failure">
            <Icon name="alert" />
            <span>
              {found.wrong_line ? `Line ${found.wrong_line}: ` : ''}
              {found.wrong}
            </span>
          </li>
        )}
        <li class={clear ? 'ok' : 'caution'}>
          <Icon name={clear ? 'check' : 'alert'} />
          <span>
            <Arguments found={found} />
            {counts && (
              <>
                {' '}
                <button type="button" class="link" onClick={() => setText(['pass'], way)}>
                  {way === 'values' ? 'Pass only the values' : 'Pass the experiment and the task first'}
                </button>
              </>
            )}
          </span>
        </li>
        <li class={writers.length || found.metric ? 'ok' : 'caution'}>
          <Icon name={writers.length || found.metric ? 'check' : 'alert'} />
          <span>
            {writers.length ? (
              <>
                Writes metrics with <code>{writers.join(', ')}</code>
                {found.columns.length > 0 && (
                  <>
                    , column <code>{found.columns.join(', ')}</code>
                  </>
                )}
              </>
            ) : found.metric ? (
              <>
                Names <code>{found.columns.length ? found.columns.join(', ') : found.metric}</code>. Metrics are read
                from what the script prints or writes: lines such as <code>epoch 3 loss 0.25</code>, a CSV with a
                header, JSON lines
              </>
            ) : (
              <>
                No metric writer found. Printed lines such as <code>epoch 3 loss 0.25</code> are read, and so are a CSV
                with a header, JSON lines and <code>sluice report</code>
              </>
            )}
            {found.metric_from && (
              <>
                ; <code>{found.metric_from}</code> watches <code>{found.metric}</code>
              </>
            )}
          </span>
        </li>
        {found.checkpoint && (
          <li class="ok">
            <Icon name="check" />
            <span>Writes checkpoints</span>
          </li>
        )}
        {found.notes.map((note) => (
          <li key={note} class="caution">
            <Icon name="alert" />
            <span>
              <Said text={capitalize(note)} />
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
