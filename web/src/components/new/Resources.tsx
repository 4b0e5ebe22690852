// Step 4: what each task gets. The backends say which keys they understand.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { get, info } from '../../data/api';
import type { Cluster, Environments, Partition } from '../../data/types';
import { duration } from '../../lib/format';
import { Card } from '../Card';
import { SelectField, TextField } from '../Field';
import { change, check, draft } from './form';

const LOOK_MS = 300;

// "gpu (volta), 2 of 4 idle, 1 h": what is known of a partition, in the list to choose from.
function describe(p: Partition): string {
  const idle = p.idle_nodes === null ? '' : `, ${p.idle_nodes} of ${p.nodes} idle`;
  const limit = p.time_limit_s ? `, ${duration(p.time_limit_s)}` : '';
  return `${p.name}${p.gpu_type ? ` (${p.gpu_type})` : ''}${idle}${limit}`;
}

// A list to choose from where the backend says which partitions there are.
function PartitionField({ partitions }: { partitions: Partition[] }) {
  const value = draft.value.partition;
  const shared = { id: 'partition', label: 'Partition', value, at: '/resources/partition' };
  return partitions.length ? (
    <SelectField
      {...shared}
      onPick={(partition) => change({ partition })}
      options={[
        { value: '', label: 'Default' },
        ...partitions.map((p) => ({
          value: p.name,
          label: describe(p),
        })),
      ]}
    />
  ) : (
    <TextField {...shared} mono onInput={(partition) => change({ partition })} placeholder="default" />
  );
}

// A text with a list to choose from: an environment elsewhere on the cluster may be typed.
function PythonField() {
  const found = useSignal<Environments['environments']>([]);
  useEffect(() => {
    let again: ReturnType<typeof setTimeout> | undefined;
    const ask = () =>
      void get<Environments>('/environments')
        .then((got) => {
          found.value = got.environments;
          if (got.looking) again = setTimeout(ask, LOOK_MS);
        })
        .catch(() => undefined);
    ask();
    return () => clearTimeout(again);
  }, []);
  const used = check.value?.environment;
  return (
    <>
      <TextField
        id="python"
        label="Python"
        optional
        mono
        list="pythons"
        value={draft.value.python}
        at="/environment/python"
        onInput={(python) => change({ python })}
        placeholder="automatic"
        help={
          used?.python
            ? `Tasks run with ${used.python}${used.version ? `, Python ${used.version}` : ''}.`
            : 'The folder of an environment, or a program.'
        }
      />
      <datalist id="pythons">
        {found.value.map((one) => (
          <option key={one.path} value={one.path}>
            {[one.version && `Python ${one.version}`, one.kind, one.found].filter(Boolean).join(', ')}
          </option>
        ))}
      </datalist>
    </>
  );
}

export function ResourcesCard() {
  const d = draft.value;
  const cluster = useSignal<Cluster | null>(null);
  useEffect(() => {
    get<Cluster>('/cluster')
      .then((got) => {
        cluster.value = got;
      })
      .catch(() => undefined);
  }, []);
  const backends = info.value?.backends ?? [];
  const standard = info.value?.default_backend ?? '';
  const backend = d.backend || standard;
  const offer = cluster.value?.backends.find((b) => b.name === backend);
  const understands = (key: string) => !!offer?.keys.some((k) => k.name === key);
  // What was filled in for another backend stays in sight: it is sent, and may be what is wrong.
  const partition = understands('partition') || !!d.partition.trim();
  const options = understands('options') || !!d.sbatch.trim();
  return (
    <Card title="Resources per task" id="n-resources" step={4}>
      <div class="body grid">
        <div class="grid four">
          <SelectField
            id="backend"
            label="Backend"
            value={d.backend}
            at="/resources/backend"
            onPick={(value) => change({ backend: value })}
            options={[{ value: '', label: `Default (${standard})` }, ...backends.map((b) => ({ value: b, label: b }))]}
          />
          {partition && <PartitionField partitions={offer?.partitions ?? []} />}
          <TextField
            id="gpus"
            label="GPUs"
            numeric
            value={d.gpus}
            at="/resources/gpus"
            onInput={(gpus) => change({ gpus })}
            placeholder="none"
          />
          <TextField
            id="cpus"
            label="CPUs"
            numeric
            value={d.cpus}
            at="/resources/cpus"
            onInput={(cpus) => change({ cpus })}
            placeholder="1"
          />
          <TextField
            id="memory"
            label="Memory"
            mono
            value={d.memory}
            at="/resources/memory"
            onInput={(memory) => change({ memory })}
            placeholder="16G"
          />
          <TextField
            id="time"
            label="Time limit"
            mono
            value={d.time}
            at="/resources/time"
            onInput={(time) => change({ time })}
            placeholder="2h"
          />
        </div>
        <div class="grid four">
          <TextField
            id="retry-memory"
            label="Retries for memory"
            numeric
            value={d.retryMemory}
            at="/retry/memory"
            onInput={(retryMemory) => change({ retryMemory })}
            placeholder="0"
          />
          <TextField
            id="factor-memory"
            label="each with × memory"
            numeric
            value={d.factorMemory}
            at="/retry/memory/factor"
            onInput={(factorMemory) => change({ factorMemory })}
            placeholder="1"
          />
          <TextField
            id="retry-time"
            label="Retries for time"
            numeric
            value={d.retryTime}
            at="/retry/time"
            onInput={(retryTime) => change({ retryTime })}
            placeholder="with a checkpoint"
          />
          <TextField
            id="factor-time"
            label="each with × time"
            numeric
            value={d.factorTime}
            at="/retry/time/factor"
            onInput={(factorTime) => change({ factorTime })}
            placeholder="1"
          />
        </div>
        {backend === 'external' && (
          <p class="help">
            sluice runs nothing itself: your workers take tasks and give results, with <code>sluice ask</code> and{' '}
            <code>sluice tell</code>, from Python or over REST. sluice only records the resources above.
          </p>
        )}
        {offer && !offer.available && (
          <p class="wrong">
            {backend} is not available on this machine{offer.text ? `: ${offer.text}` : ''}.
          </p>
        )}
        <div class="grid two start">
          <PythonField />
          <TextField
            id="setup"
            label="Setup"
            optional
            rows={3}
            mono
            value={d.setup}
            at={['/environment/setup', '/environment/vars', '/environment/modules', '/environment/keep']}
            onInput={(setup) => change({ setup })}
            placeholder={'module load cuda\nsource ~/venv/bin/activate'}
            help="Lines to run before the script."
          />
          {options && (
            <TextField
              id="sbatch"
              label="Further sbatch options"
              optional
              rows={3}
              mono
              value={d.sbatch}
              at="/resources/options"
              onInput={(sbatch) => change({ sbatch })}
              placeholder="--account=ml"
              help="One a line."
            />
          )}
        </div>
      </div>
    </Card>
  );
}
