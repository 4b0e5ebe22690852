// The right-hand side of the form: how many tasks, how that comes about, and what would be submitted.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { strategyTitle } from '../../data/api';
import type { Check, FieldError } from '../../data/types';
import { aligned, linedUp } from '../../lib/columns';
import { capitalize, count, DASH, duration, plural } from '../../lib/format';
import { Card } from '../Card';
import { CopyButton } from '../CopyButton';
import { Icon } from '../Icon';
import { KeyValues } from '../KeyValues';
import { Banner } from '../notice';
import { lineOf, sentence } from '../problems';
import { Said } from '../Said';
import { Tabs } from '../Tabs';
import { Editor, showLine } from './Editor';
import { check, checking, file, homeless, problems, trouble, type View, view } from './form';

function Code({ text, label }: { text: string; label: string }) {
  return (
    <pre class="code" tabIndex={0} role="region" aria-label={label}>
      {text.split('\n').map((line, i) => {
        const part = /^(#SBATCH)(\s+--?[\w-]+)(=|\s)?(.*)$/.exec(line);
        if (part)
          return (
            <span key={i}>
              <span class="keyword">{part[1]}</span>
              {part[2]}
              {part[3]}
              <span class="literal">{part[4]}</span>
              {'\n'}
            </span>
          );
        if (/^\s*#/.test(line))
          return (
            <span key={i} class="comment">
              {line}
              {'\n'}
            </span>
          );
        return (
          <span key={i}>
            {line}
            {'\n'}
          </span>
        );
      })}
    </pre>
  );
}

function FirstTasks({ got }: { got: Check }) {
  const sample = got.sample;
  const all = [...new Set(sample.flatMap((values) => Object.keys(values)))];
  // What is the same everywhere only takes room, unless nothing varies.
  const varying = all.filter((name) => new Set(sample.map((values) => values[name])).size > 1);
  const names = varying.length ? varying : all;
  const written = Object.fromEntries(
    names.map((name) => {
      const values = sample.map((row) => row[name]);
      return [name, linedUp(values, aligned(values))];
    }),
  );
  return (
    <>
      <div class="table-wrap tall" tabIndex={0} role="region" aria-label="First tasks">
        <table>
          <thead>
            <tr>
              <th scope="col">Task</th>
              {names.map((name) => (
                <th key={name} scope="col" class="right">
                  <bdi>{name}</bdi>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {sample.map((values, i) => (
              <tr key={i}>
                <td>#{i + 1}</td>
                {names.map((name) => (
                  <td key={name} class="right">
                    <bdi title={String(values[name] ?? '')}>{written[name](values[name]) ?? DASH}</bdi>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {!got.sample_exact && (
        <p class="none mute small">Examples: the search chooses its tasks by the results that arrive.</p>
      )}
      {got.sample_exact && got.count !== null && got.count > sample.length && (
        <p class="none mute small">{`and ${plural(got.count - sample.length, 'more task')}`}</p>
      )}
    </>
  );
}

// The first tasks, the batch script and the file, as the daemon would take them. The file can be edited.
function Submitted() {
  const got = check.value;
  const tab = view.value;
  return (
    <section class="card clip" aria-label="What would be submitted">
      <header>
        <Tabs
          label="Preview of"
          panel="pv"
          value={tab}
          onPick={(value: View) => {
            view.value = value;
          }}
          tabs={[
            { value: 'tasks', label: 'Tasks' },
            { value: 'script', label: 'Batch script' },
            { value: 'yaml', label: 'YAML' },
          ]}
        />
        <span class="grow" />
        {tab !== 'tasks' && (
          <CopyButton label="Copy" text={() => (tab === 'yaml' ? file.value!.text : (got?.script ?? ''))} />
        )}
      </header>
      <div id="pv" role="tabpanel" aria-labelledby={`pv-${tab}`}>
        {tab === 'yaml' ? (
          <Editor />
        ) : !got ? (
          <p class="none mute small">This appears when nothing is left to correct.</p>
        ) : tab === 'tasks' ? (
          <FirstTasks got={got} />
        ) : (
          <Code text={got.script ?? ''} label="Batch script" />
        )}
      </div>
    </section>
  );
}

// An error that no field shows: its line in the file, or its key.
function Homeless() {
  return (
    <ul class="checks">
      {homeless.value.map((error, i) => (
        <li key={i} class="failure">
          <Icon name="alert" />
          <span>
            {error.line ? (
              <button type="button" class="link" onClick={() => showLine(error.line!)}>
                {capitalize(lineOf(error))}
              </button>
            ) : (
              error.field && <code>{error.field}</code>
            )}{' '}
            <Said text={sentence(error)} />
          </span>
        </li>
      ))}
    </ul>
  );
}

// Goes to the field that shows an error, and opens what it lies in.
function showField(error: FieldError) {
  const said = document.querySelector<HTMLElement>(`[data-at~="${CSS.escape(error.field)}"]`);
  if (!said) return;
  for (let at = said.closest('details'); at; at = at.parentElement?.closest('details') ?? null) at.open = true;
  const control = document.querySelector<HTMLElement>(`[aria-describedby~="${CSS.escape(said.id)}"]`);
  (control ?? said).scrollIntoView({ block: 'center' });
  control?.focus();
}

// "resources.gpus", as the experiment file has it.
const keyOf = (error: FieldError) =>
  error.field.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~');

// What the form calls the field that shows an error.
function nameOf(error: FieldError): string {
  const said = document.querySelector<HTMLElement>(`[data-at~="${CSS.escape(error.field)}"]`);
  return said?.dataset.name || keyOf(error);
}

// The errors that stand at fields, which may be far below.
function AtFields() {
  const there = problems.all.value.filter((error) => error.field && !problems.rest.value.includes(error));
  // The fields have their errors after this has been drawn.
  const names = useSignal<string[]>([]);
  useEffect(() => {
    names.value = there.map(nameOf);
  }, [there.map((error) => error.field).join(' ')]);
  const named = there.map((error, i) => ({ error, name: names.value[i] ?? keyOf(error) }));
  // Two errors of a field are one place to go to.
  const places = named.filter(({ name }, i) => named.findIndex((other) => other.name === name) === i);
  if (!there.length) return null;
  return (
    <p class="small">
      <span class="mute">To correct:</span>
      {places.map(({ error, name }, i) => (
        <>
          {i ? ', ' : ' '}
          <button type="button" class="link" onClick={() => showField(error)}>
            <bdi>{name}</bdi>
          </button>
        </>
      ))}
    </p>
  );
}

export function PreviewCard() {
  const got = check.value;
  return (
    <>
      <Card
        title="Preview"
        id="preview"
        extra={
          <>
            <span class="grow" />
            <span class="mute small" role="status">
              {checking.value
                ? 'checking…'
                : trouble.value
                  ? 'not checked'
                  : problems.all.value.length
                    ? `${plural(problems.all.value.length, 'thing')} to correct`
                    : 'updates as you type'}
            </span>
          </>
        }
      >
        <div class="body">
          {trouble.value && (
            <Banner kind="warn" icon="alert" title="The check did not work.">
              {' '}
              <span class="dim">
                <Said text={trouble.value} />
              </span>
            </Banner>
          )}
          {homeless.value.length > 0 && <Homeless />}
          <AtFields />
          {got ? (
            <>
              <div class="howmany">
                <div>
                  <div class="big">{got.count === null ? '?' : count(got.count)}</div>
                  <div class="dim small">{got.count === 1 ? 'task' : 'tasks'}</div>
                </div>
                <div class="dim">
                  <span class="numeric">
                    {got.how ?? (got.finite ? '' : 'a budget, because the ranges have infinitely many values')}
                  </span>
                  {got.factors.length > 0 && <div class="mute small">{got.factors.map((f) => f.name).join(' × ')}</div>}
                </div>
              </div>
              <KeyValues
                rows={[
                  [
                    'Strategy',
                    <span key="s">
                      {strategyTitle(got.strategy)}
                      {got.reason && <span class="mute small"> {got.reason}</span>}
                    </span>,
                  ],
                  ['Run at once', got.parallel || 'automatic'],
                  [
                    'Total time',
                    got.estimate?.wall_s ? (
                      <>
                        ≈ {duration(got.estimate.wall_s)} <span class="mute small">{got.estimate.basis}</span>
                      </>
                    ) : (
                      (got.estimate?.basis ?? 'no estimate yet')
                    ),
                  ],
                ]}
              />
              {got.warnings.map((warning) => (
                <p key={warning} class="warning small">
                  <Icon name="alert" /> <Said text={warning} />
                </p>
              ))}
            </>
          ) : (
            <p class="mute">
              {problems.all.value.length ? 'The number of tasks appears when the form is complete.' : 'Counting…'}
            </p>
          )}
        </div>
      </Card>
      <Submitted />
    </>
  );
}
