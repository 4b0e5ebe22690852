// The right-hand side of the form: how many tasks, how that comes about, and what would be submitted.
import { type Signal, useSignal } from '@preact/signals';
import { strategyTitle } from '../../data/api';
import type { Check } from '../../data/types';
import { count, duration, param, plural } from '../../lib/format';
import { Card } from '../Card';
import { CopyButton } from '../CopyButton';
import { Icon } from '../Icon';
import { KeyValues } from '../KeyValues';
import { Banner } from '../notice';
import { sentence } from '../problems';
import { Tabs } from '../Tabs';
import { check, checking, homeless, problems, trouble } from './form';

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
                    <bdi>{param(values[name])}</bdi>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {got.count !== null && got.count > sample.length && (
        <p class="none mute small">
          {got.finite
            ? `and ${plural(got.count - sample.length, 'more task')}`
            : 'an example: the search proposes the rest as results arrive'}
        </p>
      )}
    </>
  );
}

type View = 'tasks' | 'script' | 'yaml';

// The first tasks, the batch script and the file, as the daemon would take them.
function Submitted({ got, tab }: { got: Check; tab: Signal<View> }) {
  const shown = tab.value === 'script' ? got.script : got.yaml;
  return (
    <section class="card clip" aria-label="What would be submitted">
      <header>
        <Tabs
          label="Preview of"
          panel="pv"
          value={tab.value}
          onPick={(value) => {
            tab.value = value;
          }}
          tabs={[
            { value: 'tasks', label: 'Tasks' },
            { value: 'script', label: 'Batch script' },
            { value: 'yaml', label: 'YAML' },
          ]}
        />
        <span class="grow" />
        {tab.value !== 'tasks' && <CopyButton label="Copy" text={() => shown ?? ''} />}
      </header>
      <div id="pv" role="tabpanel" aria-labelledby={`pv-${tab.value}`}>
        {tab.value === 'tasks' ? (
          <FirstTasks got={got} />
        ) : (
          <Code text={shown ?? ''} label={tab.value === 'script' ? 'Batch script' : 'Experiment as YAML'} />
        )}
      </div>
    </section>
  );
}

export function PreviewCard() {
  // Kept here: the card below goes while something is wrong with the form.
  const tab = useSignal<View>('tasks');
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
              <span class="dim">{trouble.value}</span>
            </Banner>
          )}
          {homeless.value.length > 0 && (
            <ul class="checks">
              {homeless.value.map((error, i) => (
                <li key={i} class="failure">
                  <Icon name="alert" />
                  <span>
                    {error.field && <code>{error.field}</code>} {sentence(error)}
                  </span>
                </li>
              ))}
            </ul>
          )}
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
                  ['At once', got.parallel || 'what fits'],
                  [
                    'Time in all',
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
                  <Icon name="alert" /> {warning}
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
      {got && <Submitted got={got} tab={tab} />}
    </>
  );
}
