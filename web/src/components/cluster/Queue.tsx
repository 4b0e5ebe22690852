// Our tasks that wait, in the queue of a cluster or for a place on this machine: why, and when their start is expected.
import type { QueuedTasks } from '../../data/types';
import { capitalize, count, duration, plural, when } from '../../lib/format';
import { Card } from '../Card';
import { Said } from '../Said';
import { Chip } from '../State';

const age = (time: string | null) => (time ? duration((Date.now() - Date.parse(time)) / 1000) : '–');

function expected(row: QueuedTasks): string {
  if (!row.expected_start) return 'not known';
  const left = (Date.parse(row.expected_start) - Date.now()) / 1000;
  return left > 0 ? `${when(row.expected_start)} (in ${duration(left)})` : when(row.expected_start);
}

// `turns`: experiments of this machine wait, which take turns.
export function Queue({ rows, turns }: { rows: QueuedTasks[]; turns?: boolean }) {
  const total = rows.reduce((sum, row) => sum + row.tasks, 0);
  return (
    <Card
      title="Our queue"
      id="queue"
      class="clip"
      extra={<span class="mute small">{total ? plural(total, 'task') : ''}</span>}
    >
      {rows.length === 0 ? (
        <div class="body mute">Nothing of yours waits.</div>
      ) : (
        <div class="table-wrap">
          <table class="stacked">
            <thead>
              <tr>
                <th scope="col">Experiment</th>
                <th scope="col">State</th>
                <th scope="col" class="right">
                  Tasks
                </th>
                <th scope="col">Why they wait</th>
                <th scope="col">Expected start</th>
                <th scope="col" class="right">
                  Waiting for
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row, i) => (
                <tr key={i} data-row={`${row.experiment} ${row.state}`}>
                  <td class="reason">
                    <a href={`/e/${row.experiment}?state=${row.state}`}>
                      {row.experiment} <bdi>{row.name}</bdi>
                    </a>
                  </td>
                  <td class="right-phone">
                    <Chip state={row.state} />
                  </td>
                  <td class="right numeric" data-label="tasks">
                    {count(row.tasks)}
                  </td>
                  <td class="wide reason">
                    <bdi>
                      <Said text={row.reason ? capitalize(row.reason) : 'No reason known yet'} />
                    </bdi>
                    {row.partition && <span class="mute small"> partition {row.partition}</span>}
                  </td>
                  <td data-label="expected">{expected(row)}</td>
                  <td class="right numeric" data-label="for">
                    {age(row.since)}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {turns && (
        <p class="body mute small">
          On this machine a free slot goes to the experiment with the fewest running tasks; its tasks start in their
          order.
        </p>
      )}
    </Card>
  );
}
