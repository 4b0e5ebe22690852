// One task. When it failed, the cause, the timeline and the output come before everything else.
import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { axisAsked } from '../components/axis';
import { Card } from '../components/Card';
import { CopyButton } from '../components/CopyButton';
import { Crumbs } from '../components/Crumbs';
import { SuggestDialog } from '../components/experiment/Living';
import { Icon } from '../components/Icon';
import { KeyValues } from '../components/KeyValues';
import { Notes, Star, Tags } from '../components/Marks';
import { Banner, Loading, Trouble } from '../components/notice';
import { Said } from '../components/Said';
import { Chip, Stalled } from '../components/State';
import { Files } from '../components/task/Files';
import { Log } from '../components/task/Log';
import { Results } from '../components/task/Results';
import { Samples } from '../components/task/Samples';
import { TaskCurves } from '../components/task/TaskCurves';
import { Attempts, History, Timeline } from '../components/task/Timeline';
import { WhatRan } from '../components/task/WhatRan';
import { removeTasks, restartLarger, restartTasks, stoppable, stopTasks } from '../data/actions';
import { get, info, message, type Page } from '../data/api';
import { iconOfTask } from '../data/icon';
import { largerFor } from '../data/larger';
import { markTask } from '../data/marks';
import { reasonNow, TaskStore } from '../data/store';
import { titleOfTask } from '../data/tell';
import { toast } from '../data/toast';
import type { Experiment, Marks, Task, TaskSummary } from '../data/types';
import { ranHere } from '../lib/columns';
import { capitalize, count, figureText, param, paramLine, stamp } from '../lib/format';
import { useKeys } from '../lib/keys';
import { go } from '../lib/router';
import { brief, plain } from '../lib/text';
import { MissingPage, useTitle } from './Other';

// The script itself failed: the same again is most likely to fail again.
const sameAgain = (task: Task) => task.cause?.kind === 'exit' || task.cause?.kind === 'signal';

function Failure({ task }: { task: Task }) {
  const cause = task.cause;
  const again = sameAgain(task);
  const tail = brief(cause?.tail ?? null);
  const said = tail && !cause?.text.includes(tail) ? tail : null;
  // The words of the script stay as it wrote them.
  const words = cause ? (cause.kind === 'exit' ? cause.text : capitalize(cause.text)) : 'Failed';
  const larger = largerFor(task);
  const step = task.step_name ?? 'epoch';
  const during = task.epoch === null ? `Before the first ${step} ended.` : `After ${step} ${count(task.epoch)}.`;
  return (
    <Banner kind="error" icon="alert" role="alert" title={cause?.kind === 'exit' ? words : <Said text={words} />}>
      {said && (
        <div class="quoted">
          <code>{said}</code>
        </div>
      )}
      <div class="dim small">
        <Said
          text={[
            during,
            task.node && `Node ${task.node}.`,
            cause?.remedy && `${capitalize(cause.remedy)}.`,
            again && 'The same parameters end the same way unless the script changes.',
          ]
            .filter(Boolean)
            .join(' ')}
        />
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
              <bdi title={String(value)}>{param(value)}</bdi>
              {best && name in best && best[name] !== value && (
                <>
                  {' '}
                  <span class="tag" title={`The best task uses ${best[name]}`}>
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

function Used({ task }: { task: Task }) {
  const figures = info.value?.figures ?? [];
  const known = figures.filter((figure) => task.cost[figure.key as keyof Task['cost']] !== null);
  const rest = figures.filter((figure) => !known.includes(figure));
  return (
    <Card title="What it used" id="used">
      <div class="body">
        <KeyValues
          rows={known.map((figure) => [
            <span key={figure.key} title={`From: ${figure.source}`}>
              {capitalize(figure.label)}
            </span>,
            figureText(task.cost, figure),
          ])}
        />
        {!known.length && (
          <p class="mute small">{task.started ? 'Nothing measured.' : 'Nothing yet: it has not started.'}</p>
        )}
        {known.length > 0 && rest.length > 0 && (
          <p class="mute small">Not measured: {rest.map((figure) => figure.label).join(', ')}.</p>
        )}
      </div>
    </Card>
  );
}

// How an attempt ended: with a code, by a signal, or without either (its end was not seen).
function exitText(last: Task['attempts'][number] | undefined) {
  if (!last) return 'not started';
  if (last.exit_code !== null) return <span class={last.exit_code ? 'bad' : ''}>{last.exit_code}</span>;
  if (last.signal) return <span class="bad">{`none: ended by signal ${last.signal}`}</span>;
  return last.finished ? 'none' : 'still running';
}

function Facts({ task, e }: { task: Task; e: Experiment }) {
  const last = task.attempts[task.attempts.length - 1];
  return (
    <Card title="Where it ran" id="facts">
      <div class="body">
        <KeyValues
          rows={[
            ['Backend', e.backend],
            ...(task.job ? ([['Job', <span class="mono">{task.job}</span>]] as [string, preact.JSX.Element][]) : []),
            ['Node', task.node ?? 'not known'],
            ['GPUs', task.gpus ?? 'none'],
            ['Exit code', exitText(last)],
            ['Attempt', task.attempt],
            ['Seed', task.seed ?? 'none'],
          ]}
        />
      </div>
    </Card>
  );
}

// Numbers have gaps where tasks were removed, and a search has not proposed all of its tasks.
async function toNeighbour(id: string, number: number, side: '<' | '>') {
  const sort = side === '<' ? '-number' : 'number';
  const query = new URLSearchParams({ filter: `number ${side} ${number}`, sort, limit: '1' });
  try {
    const page = await get<Page<TaskSummary>>(`/experiments/${id}/tasks?${query}`);
    if (page.items.length) go(`/e/${id}/${page.items[0].number}`);
    else toast(`This is the ${side === '<' ? 'first' : 'last'} task so far.`);
  } catch (error) {
    toast(message(error), { level: 'error' });
  }
}

export function TaskPage({ id, number }: { id: string; number: number }) {
  const changing = useSignal(false);
  const store = useMemo(() => new TaskStore(id, number, axisAsked()), [id, number]);
  useEffect(() => store.open(), [store]);
  const got = store.task.value;
  const e = store.experiment.value;
  const task = got && e ? { ...got, reason: reasonNow(got, e) } : got;
  useTitle(task && e ? titleOfTask(task, e.name) : `${id}/${number}`, task && iconOfTask(task));
  useKeys({
    s: () => {
      if (task && stoppable(task)) void stopTasks(id, [task]);
    },
    r: () => {
      if (task && !stoppable(task)) void restartTasks(id, [task]);
    },
  });
  if (store.missing.value) return <MissingPage what="task" />;
  if (!task || !e)
    return (
      <>
        <h1 class="visually-hidden">
          {id}/{number}
        </h1>
        {store.error.value ? <Trouble what="The task" error={store.error.value} /> : <Loading />}
      </>
    );
  const mark = async (marks: Marks) => {
    const marked = await markTask(id, number, marks);
    if (marked) store.task.value = marked;
    return marked;
  };
  const failed = task.state === 'error';
  const open = stoppable(task);
  const here = task.state !== 'finished' || ranHere(task);
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
            <h1>Task {number}</h1>
            <span class="tag mono" title="The id, for commands and links">
              {id}/{number}
            </span>
            <Chip state={task.state} title={task.reason} />
            {task.stalled && <Stalled title={task.reason} />}
            {best === number && (
              <span class="tag on">
                <Icon name="star" />
                best
              </span>
            )}
            <Star on={task.star} onMark={mark} />
            <Tags tags={task.tags} onMark={mark} link={false} />
            <span class="dim numeric cut">
              <bdi>{paramLine(task.parameters, e.varying)}</bdi>
            </span>
          </div>
        </div>
        <div class="btns bottom-phone">
          <button
            type="button"
            class="btn icon hide-phone"
            aria-label="Previous task"
            disabled={number <= 1}
            onClick={() => void toNeighbour(id, number, '<')}
          >
            <Icon name="left" />
          </button>
          <button
            type="button"
            class="btn icon hide-phone"
            aria-label="Next task"
            onClick={() => void toNeighbour(id, number, '>')}
          >
            <Icon name="right" />
          </button>
          {best !== undefined && best !== number && (
            <button type="button" class="btn hide-phone" onClick={() => go(`/e/${id}/compare?tasks=${best},${number}`)}>
              <Icon name="git" />
              Compare with best
            </button>
          )}
          <button
            type="button"
            class={failed && !sameAgain(task) && !largerFor(task) ? 'btn primary' : 'btn'}
            disabled={open}
            onClick={() => void restartTasks(id, [task])}
          >
            <Icon name="restart" />
            Restart
          </button>
          {e.parameters.length > 0 && e.backend !== 'external' && (
            <button
              type="button"
              class={`btn hide-phone${failed && sameAgain(task) ? ' primary' : ''}`}
              onClick={() => {
                changing.value = true;
              }}
            >
              <Icon name="restart" />
              Restart with changes…
            </button>
          )}
          {open ? (
            <button type="button" class="btn danger" onClick={() => void stopTasks(id, [task])}>
              <Icon name="stop" />
              Stop
            </button>
          ) : (
            <button
              type="button"
              class="btn danger"
              onClick={() => void removeTasks(id, [task]).then((gone) => gone && go(`/e/${id}`))}
            >
              <Icon name="trash" />
              Remove
            </button>
          )}
        </div>
      </div>
      {changing.value && (
        <SuggestDialog
          e={e}
          from={task}
          onClose={() => {
            changing.value = false;
          }}
        />
      )}
      {failed && <Failure task={task} />}
      {!failed && task.reason && task.state !== 'finished' && (
        <p class="dim small reason">
          <bdi>
            <Said text={task.reason} />
          </bdi>
        </p>
      )}
      {here ? (
        <Timeline task={task} />
      ) : (
        <p class="dim small">
          Imported {stamp(task.finished)}: it did not run here, so it has no output and nothing was measured.
        </p>
      )}
      <div class="grid cols-task">
        <div class="grid side">
          <Parameters task={task} e={e} />
          <Notes notes={task.notes} onMark={mark} />
          <Results task={task} e={e} />
          {here && (
            <>
              <Used task={task} />
              <Facts task={task} e={e} />
              <WhatRan task={task} />
            </>
          )}
        </div>
        <div class="grid">
          {failed ? (
            <>
              {log}
              {curves}
              <Samples task={task} />
            </>
          ) : (
            <>
              {curves}
              {here && <Samples task={task} />}
              {here && log}
            </>
          )}
          {here && <Attempts task={task} />}
          <History task={task} />
          <Files task={task} e={e} />
        </div>
      </div>
    </>
  );
}
