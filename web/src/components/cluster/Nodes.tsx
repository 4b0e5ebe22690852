// The nodes of a cluster. Equal nodes in the same state are one row, those with tasks of ours have their own and come
// first, so a site with thousands of nodes is a short list.
import { useSignal } from '@preact/signals';
import type { BackendNodes, RunningTask } from '../../data/types';
import { bytes, capitalize, count, plural, when } from '../../lib/format';
import { Bar } from '../Bar';
import { Card } from '../Card';
import { Icon, type IconName } from '../Icon';
import { TaskLink } from './Running';

type Group = BackendNodes['groups'][number];
const SHOWN = 40;
const TASKS = 6;

const LOOKS: Record<Group['state'], [string, IconName, string]> = {
  idle: ['finished', 'check', 'free'],
  mixed: ['running', 'play', 'partly in use'],
  allocated: ['running', 'play', 'in use'],
  reserved: ['submitted', 'clock', 'reserved'],
  draining: ['stopped', 'pause', 'taken out of service when its jobs end'],
  drained: ['stopped', 'stop', 'taken out of service'],
  'not responding': ['error', 'alert', 'does not respond'],
  down: ['error', 'alert', 'down'],
  'powered down': ['submitted', 'pause', 'switched off, starts when needed'],
  starting: ['submitted', 'clock', 'starting'],
  other: ['submitted', 'clock', 'other'],
};

function Share({ used, all, label, words }: { used: number; all: number; label: string; words: string }) {
  return (
    <span class="progress">
      <Bar meter share={all ? used / all : 0} label={label} state="running" />
      <span class="small numeric">{words}</span>
    </span>
  );
}

function Row({ group, ours }: { group: Group; ours: RunningTask[] }) {
  const [state, icon, words] = LOOKS[group.state];
  return (
    <tr data-row={group.names}>
      <td class="reason">
        <b class="names">{group.names}</b>
        {group.nodes > 1 && <span class="mute small"> {plural(group.nodes, 'node')}</span>}
      </td>
      <td class="right-phone">
        <span class={`state ${state}`}>
          <Icon name={icon} />
          {capitalize(words)}
        </span>
        {group.reason && (
          <div class="mute small reason">
            <bdi>{group.reason}</bdi>
          </div>
        )}
      </td>
      <td data-label="partition">{group.partitions.split(',').join(', ')}</td>
      <td class="wide">
        <Share
          used={group.cpus_busy}
          all={group.cpus}
          label={`${group.names}: CPUs in use`}
          words={`${count(group.cpus_busy)} of ${count(group.cpus)}`}
        />
      </td>
      <td data-label="memory" class="numeric">
        {bytes(group.memory_busy_bytes)} <span class="mute">of {bytes(group.memory_bytes)}</span>
      </td>
      <td data-label="GPUs" class="numeric">
        {group.gpus === 0 ? (
          <span class="mute">none</span>
        ) : (
          <>
            {group.gpus_busy === null ? count(group.gpus) : `${count(group.gpus_busy)} of ${count(group.gpus)}`}
            {group.gpu_type && <span class="mute small"> {group.gpu_type}</span>}
          </>
        )}
      </td>
      <td data-label="ours">
        {ours.slice(0, TASKS).map((task, i) => (
          <span key={task.task}>
            {i > 0 && ', '}
            <TaskLink task={task} />
          </span>
        ))}
        {ours.length > TASKS && <span class="mute small"> and {count(ours.length - TASKS)} more</span>}
        {ours.length === 0 && <span class="mute">none</span>}
      </td>
    </tr>
  );
}

export function Nodes({ nodes, running }: { nodes: BackendNodes; running: RunningTask[] }) {
  const all = useSignal(false);
  const byNode = new Map<string, RunningTask[]>();
  for (const task of running) {
    if (!task.node || task.backend !== nodes.backend) continue;
    byNode.set(task.node, [...(byNode.get(task.node) ?? []), task]);
  }
  const of = (group: Group) => (group.nodes === 1 ? (byNode.get(group.names) ?? []) : []);
  const rows = [...nodes.groups].sort((a, b) => of(b).length - of(a).length);
  const shown = all.value ? rows : rows.slice(0, SHOWN);
  return (
    <Card
      title={`Nodes of ${nodes.backend}`}
      id={`nodes-${nodes.backend}`}
      class="clip"
      extra={
        <span class="mute small">
          {nodes.time ? `${plural(nodes.nodes, 'node')}, as of ${when(nodes.time)}` : 'being asked'}
        </span>
      }
    >
      {nodes.error && (
        <div class="body wrong">
          <bdi>{capitalize(nodes.error)}</bdi>
        </div>
      )}
      {rows.length > 0 && (
        <div class="table-wrap">
          <table class="stacked">
            <thead>
              <tr>
                <th scope="col">Node</th>
                <th scope="col">State</th>
                <th scope="col">Partition</th>
                <th scope="col">CPUs in use</th>
                <th scope="col">Memory in use</th>
                <th scope="col">GPUs in use</th>
                <th scope="col">Our tasks</th>
              </tr>
            </thead>
            <tbody>
              {shown.map((group) => (
                <Row key={group.names} group={group} ours={of(group)} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {shown.length < rows.length && (
        <div class="body">
          <button
            type="button"
            class="btn"
            onClick={() => {
              all.value = true;
            }}
          >
            Show all {count(rows.length)} rows
          </button>
        </div>
      )}
    </Card>
  );
}
