// What sluice found by reading the script, in words.
import { argumentsOf, wayOf } from '../../data/fill';
import { objectivesOf } from '../../data/objectives';
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

const Names = ({ of }: { of: string[] }) => (
  <>
    {of.map((name, i) => (
      <span key={name}>
        {i ? ', ' : ''}
        <code>{name}</code>
      </span>
    ))}
  </>
);

// What the text of the script says about its results: no more is known before it has run.
function Metrics({ found }: { found: Scan }) {
  // Whatever json.dumps makes may go elsewhere.
  const writers = found.metrics.filter((name) => !name.startsWith('json.'));
  const some = writers.length > 0 || found.columns.length > 0;
  return (
    <li class={some ? 'ok' : 'caution'}>
      <Icon name={some ? 'check' : 'alert'} />
      <span>
        {writers.length > 0 && (
          <>
            Uses <Names of={writers} />
            {found.columns.length > 0 ? '; names' : '.'}{' '}
          </>
        )}
        {!writers.length && (found.columns.length ? 'Names ' : 'No metric found. ')}
        {found.columns.length > 0 && (
          <>
            <Names of={found.columns} />.{' '}
          </>
        )}
        {!writers.length && (
          <>
            Metrics are read from what the script prints or writes: lines such as <code>epoch 3 loss 0.25</code>, a CSV
            with a header, JSON lines, <code>sluice report</code>.
          </>
        )}
      </span>
    </li>
  );
}

// The objective that the form got from the script: what the script itself goes by, or a guess by the name.
function Objective({ found }: { found: Scan }) {
  const objectives = objectivesOf(doc());
  if (!found.metric || objectives.length > 1 || objectives[0]?.metric !== found.metric) return null;
  const name = <code>{found.metric}</code>;
  if (found.metric_from)
    return (
      <li class="ok">
        <Icon name="check" />
        <span>
          <code>{found.metric_from}</code> watches {name}: it is the objective
        </span>
      </li>
    );
  return (
    <li class="guess">
      <Icon name="search" />
      <span>
        A guess: {name} is the objective, by its name.{' '}
        <button type="button" class="link" onClick={() => document.getElementById('metric')?.focus()}>
          Choose another
        </button>
      </span>
    </li>
  );
}

export function Found({ found }: { found: Scan }) {
  const pass = textAt(['pass']);
  const way = wayOf(found, argumentsOf(found, textAt(['subcommand']).split(' ')[0]));
  // Where the script names no place, either way may be right.
  const named = found.arguments.some((arg) => arg.place > 0);
  const fits = pass === way || (!named && (pass === 'positional' || pass === 'values'));
  const counts = way && !fits && (pass || !check.value?.chosen.length);
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
        <Metrics found={found} />
        <Objective found={found} />
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
