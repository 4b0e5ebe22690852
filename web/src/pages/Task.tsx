// One task. When it failed, the cause, the timeline and the output come before everything else.
import { useEffect, useMemo } from 'preact/hooks';
import { axisNow } from '../components/axis';
import { Card } from '../components/Card';
import { CopyButton } from '../components/CopyButton';
import { Crumbs } from '../components/Crumbs';
import { Icon } from '../components/Icon';
import { KeyValues } from '../components/KeyValues';
import { Banner, Loading, Trouble } from '../components/notice';
import { Chip } from '../components/State';
import { Log } from '../components/task/Log';
import { TaskCurves } from '../components/task/TaskCurves';
import { Attempts, History, Timeline } from '../components/task/Timeline';
import { WhatRan } from '../components/task/WhatRan';
import { restartLarger, restartTasks, stoppable, stopTasks } from '../data/actions';
import { info } from '../data/api';
import { largerFor } from '../data/larger';
import { now, reasonNow, TaskStore } from '../data/store';
import type { Experiment, Task } from '../data/types';
import { bytes, capitalize, duration, figureText, metric, param, paramLine, plural, seconds } from '../lib/format';
import { useKeys } from '../lib/keys';
import { go } from '../lib/router';
import { brief, plain } from '../lib/text';
import { MissingPage, useTitle } from './Other';

function Failure({ task }: { task: Task }) {
  const cause = task.cause;
  const tail = brief(cause?.tail ?? null);
  const said = tail && !cause?.text.includes(tail) ? tail : null;
  // The words of the script stay as it wrote them.
  const words = cause ? (cause.kind === 'exit' ? cause.text : capitalize(cause.text)) : 'Failed';
  const code = cause?.kind === 'exit' && !cause.text.startsWith('exit code') && `Exit code ${cause.code}.`;
  const larger = largerFor(task);
  const during = task.epoch === null ? ' before the first epoch ended' : ` after epoch ${task.epoch}`;
  return (
    <Banner kind="error" icon="alert" role="alert" title={`${words}${during}`}>
      {said && (
        <div class="quoted">
          <code>{said}</code>
        </div>
      )}
      <div class="dim small">
        {[
          code,
          task.node && `Node ${task.node}.`,
          cause?.remedy && `${capitalize(cause.remedy)}.`,
          'Restart runs the same configuration again.',
        ]
          .filter(Boolean)
          .join(' ')}
      </div>
      {larger && (
        <button
          type="button"
          class="btn primary"
          title={`Asks for ${larger.label} in this experiment from now on, and runs this task again`}
          onClick={() => void restartLarger(task.experiment, [task.number], larger)}
        >
          <Icon name="restart" />
          Restart with {larger.label}
        </button>
      )}
      {cause?.tail?.trim().includes('\n') && (
        <details>
          <summary>Last lines of the error output</summary>
          <pre class="tail">{plain(cause.tail)}</pre>
        </details>
      )}
    </Banner>
  );
}

function Parameters({ task, e }: { task: Task; e: Experiment }) {
  const best = e.best && e.best.task !== task.number ? e.best.parameters : null;
  return (
    <Card
      title="Parameters"
      id="params"
      extra={
        <>
          <span class="grow" />
          <CopyButton label="Copy as JSON" text={() => JSON.stringify(task.parameters, null, 2)} />
        </>
      }
    >
      <div class="body">
        <KeyValues
          rows={Object.entries(task.parameters).map(([name, value]) => [
            <bdi key="n">{name}</bdi>,
            <span key="v">
              <bdi>{param(value)}</bdi>
              {best && name in best && best[name] !== value && (
                <>
                  {' '}
                  <span class="tag" title={`The best configuration uses ${param(best[name])}`}>
                    best {param(best[name])}
                  </span>
                </>
              )}
            </span>,
          ])}
        />
        {!Object.keys(task.parameters).length && <p class="mute small">This experiment has no parameters.</p>}
      </div>
    </Card>
  );
}

function Results({ task, e }: { task: Task; e: Experiment }) {
  const goal = e.objective[0]?.metric ?? 'value';
  const step = e.step_name || 'epoch';
  const none = task.finished ? 'none' : 'none yet';
  const ran = task.state === 'running' ? seconds(task.started, now.value) : task.elapsed_s;
  return (
    <Card title="Results" id="results">
      <div class="body">
        <KeyValues
          rows={[
            [
              `Current ${step}`,
              task.epoch === null ? (
                none
              ) : (
                <>
                  {task.epoch}
                  {task.epochs !== null && <span class="mute"> of {task.epochs}</span>}
                </>
              ),
            ],
            [
              <>
                Best <bdi>{goal}</bdi>
              </>,
              task.best ? <b>{metric(task.best.value)}</b> : none,
            ],
            [`at ${step}`, task.best?.epoch ?? 'not known'],
            ['Last value', task.last ? metric(task.last.value) : none],
            [`Time per ${step}`, ran !== null && task.epoch ? duration(ran / task.epoch) : 'not known'],
          ]}
        />
      </div>
    </Card>
  );
}

function Used({ task }: { task: Task }) {
  const figures = info.value?.figures ?? [];
  return (
    <Card title="What it used" id="used">
      <div class="body">
        <KeyValues
          rows={figures.map((figure) => [
            <span key={figure.key} title={`From: ${figure.source}`}>
              {capitalize(figure.label)}
            </span>,
            figureText(task.cost, figure),
          ])}
        />
      </div>
    </Card>
  );
}

function Facts({ task, e }: { task: Task; e: Experiment }) {
  const exit = task.attempts[task.attempts.length - 1]?.exit_code;
  return (
    <Card title="Where it ran" id="facts">
      <div class="body">
        <KeyValues
          rows={[
            ['Backend', e.backend],
            ['Job', task.job ? <span class="mono">{task.job}</span> : 'none'],
            ['Node', task.node ?? 'not known'],
            ['GPUs', task.gpus ?? 'none'],
            [
              'Exit code',
              exit === null || exit === undefined ? 'not ended' : <span class={exit ? 'bad' : ''}>{exit}</span>,
            ],
            ['Attempt', task.attempt],
            ['Seed', task.seed ?? 'none'],
          ]}
        />
      </div>
    </Card>
  );
}

function Files({ task }: { task: Task }) {
  return (
    <Card title="Files and command" id="files">
      <div class="body">
        {task.argv?.length > 0 && <pre class="argv">{task.argv.join(' ')}</pre>}
        <p class="mute small folder">
          <bdi>{task.folder}</bdi>
        </p>
        <ul class="files">
          {task.files.slice(0, 50).map((file) => (
            <li key={file.path}>
              <bdi class="mono">{file.path}</bdi>
              <span class="mute small">{bytes(file.bytes)}</span>
            </li>
          ))}
        </ul>
        {task.files.length > 50 && <p class="mute small">and {plural(task.files.length - 50, 'more file')}</p>}
        {!task.files.length && <p class="mute small">No files written.</p>}
      </div>
    </Card>
  );
}

export function TaskPage({ id, number }: { id: string; number: number }) {
  const store = useMemo(() => new TaskStore(id, number, axisNow()), [id, number]);
  useEffect(() => store.open(), [store]);
  const got = store.task.value;
  const e = store.experiment.value;
  const task = got && e ? { ...got, reason: reasonNow(got, e) } : got;
  useTitle(e ? `#${number} · ${e.name}` : `${id}/${number}`);
  useKeys({
    s: () => {
      if (task && stoppable(task)) void stopTasks(id, [task]);
    },
    r: () => {
      if (task && !stoppable(task)) void restartTasks(id, [task]);
    },
  });
  if (store.missing.value && !task) return <MissingPage what="task" />;
  if (!task || !e)
    return (
      <>
        <h1 class="visually-hidden">
          {id}/{number}
        </h1>
        {store.error.value ? <Trouble what="The task" error={store.error.value} /> : <Loading />}
      </>
    );
  const failed = task.state === 'error';
  const open = stoppable(task);
  const best = e.best?.task;
  const log = <Log key={failed ? 'err' : 'out'} task={task} first={failed ? 'stderr' : 'stdout'} />;
  const curves = <TaskCurves store={store} task={task} e={e} />;
  return (
    <>
      <div class="head">
        <div class="headline">
          <Crumbs
            items={[{ href: '/', label: 'Experiments' }, { href: `/e/${id}`, label: e.name }, { label: `#${number}` }]}
          />
          <div class="title">
            <h1>Configuration {number}</h1>
            <Chip state={task.state} title={task.reason} />
            {best === number && (
              <span class="tag on">
                <Icon name="star" />
                best of {e.tasks.total}
              </span>
            )}
            <span class="dim numeric cut">
              <bdi>{paramLine(task.parameters, e.varying)}</bdi>
            </span>
          </div>
        </div>
        <div class="btns bottom-phone">
          <a
            class="btn icon hide-phone"
            aria-label="Previous configuration"
            aria-disabled={number <= 1}
            href={`/e/${id}/${Math.max(1, number - 1)}`}
          >
            <Icon name="left" />
          </a>
          <a
            class="btn icon hide-phone"
            aria-label="Next configuration"
            href={`/e/${id}/${Math.min(e.tasks.total, number + 1)}`}
          >
            <Icon name="right" />
          </a>
          {best !== undefined && best !== number && (
            <button type="button" class="btn hide-phone" onClick={() => go(`/e/${id}/compare?tasks=${best},${number}`)}>
              <Icon name="git" />
              Compare with best
            </button>
          )}
          <button
            type="button"
            class={failed ? 'btn primary' : 'btn'}
            disabled={open}
            onClick={() => void restartTasks(id, [task])}
          >
            <Icon name="restart" />
            Restart
          </button>
          <button type="button" class="btn danger" disabled={!open} onClick={() => void stopTasks(id, [task])}>
            <Icon name="stop" />
            Stop
          </button>
        </div>
      </div>
      {failed && <Failure task={task} />}
      {!failed && task.reason && task.state !== 'finished' && (
        <p class="dim small reason">
          <bdi>{task.reason}</bdi>
        </p>
      )}
      <Timeline task={task} />
      <div class="grid cols-task">
        <div class="grid side">
          <Parameters task={task} e={e} />
          <Results task={task} e={e} />
          <Used task={task} />
          <Facts task={task} e={e} />
          <WhatRan task={task} />
        </div>
        <div class="grid">
          {failed ? (
            <>
              {log}
              {curves}
            </>
          ) : (
            <>
              {curves}
              {log}
            </>
          )}
          <Attempts task={task} />
          <History task={task} />
          <Files task={task} />
        </div>
      </div>
    </>
  );
}
