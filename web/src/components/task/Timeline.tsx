// From submission to the end, and every change of state with its reason.

import { useOutlook } from '../../data/left';
import { ranSeconds } from '../../data/ran';
import { now } from '../../data/store';
import type { Attempt, Task } from '../../data/types';
import { bytes, duration, seconds, stamp, when } from '../../lib/format';
import { Card } from '../Card';
import { leftText } from '../experiment/Advice';
import { Said } from '../Said';
import { Chip } from '../State';

// An attempt without a cause did not fail.
const endedWith = (a: Attempt) =>
  !a.finished ? 'not ended' : a.state === 'stopped' ? 'stopped' : a.exit_code === 0 ? 'its end' : 'not known';

// When it began to wait for the start that is shown: it was created, or started again from scratch. Waiting for a free
// place here counts as well as waiting in the queue of a cluster.
export function submittedAt(task: Pick<Task, 'created' | 'started' | 'timeline'>): string | null {
  const waits = task.timeline.filter((step) => step.state === 'waiting' && step.time);
  const before = task.started ? waits.filter((step) => step.time! <= task.started!) : waits;
  return before.at(-1)?.time ?? task.created;
}

export function Timeline({ task }: { task: Task }) {
  const submitted = submittedAt(task);
  const waited = seconds(submitted, task.started ?? task.finished ?? now.value);
  const running = task.state === 'running';
  const ran = ranSeconds(task);
  const share = running ? task.progress : 1;
  const { left } = useOutlook(running ? `/experiments/${task.experiment}/tasks/${task.number}` : null);
  const ended = task.finished !== null && !running;
  return (
    <section class="card timeline" aria-label="Timeline">
      <div class="body">
        <div class="stages">
          <div class="stage">
            <b>Submitted</b>
            {submitted ? stamp(submitted) : 'not yet'}
          </div>
          <div class="stretch">
            <span>
              {waited === null
                ? 'waiting for its turn'
                : task.started
                  ? `waited ${duration(waited)}`
                  : `waiting for ${duration(waited)}`}
            </span>
          </div>
          <div class="stage">
            <b>Started</b>
            {task.started
              ? stamp(task.started)
              : task.expected_start
                ? `expected ${when(task.expected_start)}`
                : 'not started'}
          </div>
          <div class={`stretch ${task.started ? task.state : ''}`}>
            {share !== null && task.started && <i style={{ width: `${share * 100}%` }} />}
            <span>
              {ran === null
                ? (task.reason ?? '')
                : running
                  ? `running for ${duration(ran)}${!left ? '' : `, ${leftText(left)} left`}`
                  : `ran ${duration(ran)}`}
            </span>
          </div>
          <div class="stage end">
            <b>{ended && task.state !== 'finished' ? 'Ended' : 'Finished'}</b>
            {ended
              ? stamp(task.finished)
              : !left
                ? 'no estimate yet'
                : `expected by ${when(new Date(now.value + left.time_s * 1000).toISOString())}`}
          </div>
        </div>
      </div>
    </section>
  );
}

export function History({ task }: { task: Task }) {
  const reasons = task.timeline.some((step) => step.reason);
  return (
    <Card title="History" id="history">
      <div class="table-wrap" tabIndex={0} role="region" aria-label="Changes of state">
        <table>
          <thead>
            <tr>
              <th scope="col">Time</th>
              <th scope="col">State</th>
              {reasons && <th scope="col">Reason</th>}
            </tr>
          </thead>
          <tbody>
            {task.timeline.map((step, i) => (
              <tr key={i}>
                <td class="numeric">{stamp(step.time)}</td>
                <td>
                  <Chip state={step.state} />
                </td>
                {reasons && (
                  <td class="wrap">
                    <bdi>
                      <Said text={step.reason ?? ''} />
                    </bdi>
                  </td>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}

// "16 GB, 2 h": what retries and changes make different between attempts.
function askedLine(asked: Task['attempts'][number]['asked']): string {
  const parts = [asked?.memory_bytes ? bytes(asked.memory_bytes) : '', asked?.time_s ? duration(asked.time_s) : ''];
  return parts.filter(Boolean).join(', ') || 'the default';
}

export function Attempts({ task }: { task: Task }) {
  const jobs = task.attempts.some((a) => a.job);
  return (
    <Card title="Attempts" id="attempts">
      <div class="table-wrap" tabIndex={0} role="region" aria-label="All attempts">
        <table>
          <thead>
            <tr>
              <th scope="col">No.</th>
              <th scope="col">State</th>
              <th scope="col">Ended with</th>
              <th scope="col" class="right">
                Exit code
              </th>
              <th scope="col">Started</th>
              <th scope="col" class="right">
                Ran
              </th>
              <th scope="col">Asked for</th>
              <th scope="col">Node</th>
              {jobs && <th scope="col">Job</th>}
            </tr>
          </thead>
          <tbody>
            {task.attempts.map((a) => (
              <tr key={a.number}>
                <td>{a.number}</td>
                <td>
                  <Chip state={a.state} />
                </td>
                <td class="wrap">
                  <bdi>
                    <Said text={a.cause?.text ?? endedWith(a)} />
                  </bdi>
                </td>
                <td class="right">{a.exit_code ?? <span class="mute">none</span>}</td>
                <td class="numeric">{stamp(a.started)}</td>
                <td class="right">{a.cost ? duration(a.cost.wall_s) : duration(seconds(a.started, a.finished))}</td>
                <td>{askedLine(a.asked)}</td>
                <td>
                  <bdi>{a.node ?? 'not known'}</bdi>
                </td>
                {jobs && (
                  <td class="mono small">
                    <bdi>{a.job ?? 'none'}</bdi>
                  </td>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}
