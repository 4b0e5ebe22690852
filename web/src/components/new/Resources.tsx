// Step 4: what each task gets, where it runs, and what happens when it is cut off. The backends say which keys they
// understand.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { get, info } from '../../data/api';
import { drop, mapNode, nodeAt, put, shown, valueNode } from '../../data/tree';
import type { BackendKey, Cluster, Environments, Partition } from '../../data/types';
import { yaml } from '../../data/yaml';
import { duration } from '../../lib/format';
import { Card } from '../Card';
import { TextField } from '../Field';
import { Said } from '../Said';
import { FileCheck, FileField, FileSelect, LINES, NAMES, TEXT, YAML } from './fields';
import { asTyped, check, edit, at as nodeNow, noteTyped, place, textAt } from './form';
import { More } from './More';

const LOOK_MS = 300;

// "gpu (volta), 2 of 4 idle, 1 h": what is known of a partition, in the list to choose from.
function describe(p: Partition): string {
  const idle = p.idle_nodes === null ? '' : `, ${p.idle_nodes} of ${p.nodes} idle`;
  const limit = p.time_limit_s ? `, ${duration(p.time_limit_s)}` : '';
  return `${p.name}${p.gpu_type ? ` (${p.gpu_type})` : ''}${idle}${limit}`;
}

// A list to choose from where the backend says which partitions there are.
function PartitionField({ partitions }: { partitions: Partition[] }) {
  const shared = { path: ['resources', 'partition'], id: 'partition', label: 'Partition' };
  return partitions.length ? (
    <FileSelect
      {...shared}
      options={[{ value: '', label: 'Default' }, ...partitions.map((p) => ({ value: p.name, label: describe(p) }))]}
    />
  ) : (
    <FileField {...shared} codec={TEXT} mono placeholder="default" />
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
      <FileField
        path={['environment', 'python']}
        codec={TEXT}
        id="python"
        label="Python"
        optional
        mono
        list="pythons"
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

// A key that only some backend has, in the form that its kind asks for.
function KeyField({ name, kind, title, help }: BackendKey) {
  const shared = { path: ['resources', name], id: name === 'options' ? 'sbatch' : name, label: title, help };
  if (kind === 'flag') return <FileCheck {...shared} />;
  if (kind === 'words')
    return <FileField {...shared} codec={LINES} optional rows={3} mono placeholder="--mail-type=FAIL" />;
  if (kind === 'text') return <FileField {...shared} codec={TEXT} optional rows={3} mono />;
  return (
    <FileField
      {...shared}
      codec={kind === 'word' ? TEXT : undefined}
      mono={kind === 'word'}
      numeric={kind === 'count'}
    />
  );
}

const WIDE = ['words', 'text'];

// The causes after which a task may be run again, with the daemon's defaults.
const RETRIES: [kind: string, label: string, standard: string][] = [
  ['memory', 'out of memory', '0'],
  ['time', 'time limit', 'with a checkpoint'],
  ['error', 'an error of the script', '0'],
  ['preempted', 'preempted', '10'],
  ['node_failure', 'node failure', '3'],
  ['lost', 'lost', '3'],
  ['unstarted', 'not started', '20'],
  ['shared', 'beside others on a GPU', '1'],
  ['stall', 'no progress', '2 with restart'],
];

// 2, or {times: 2, factor: 2}.
function RetryField({
  kind,
  part,
  label,
  standard,
}: {
  kind: string;
  part: 'times' | 'factor';
  label: string;
  standard: string;
}) {
  const path = ['retry', kind];
  const node = nodeNow(path);
  const map = yaml.isMap(node);
  const value = map ? shown(node.get(part, true)) : part === 'times' ? shown(node) : '';
  const here = `${place(path)}/${part}`;
  return (
    <TextField
      id={`${part === 'times' ? 'retry' : 'factor'}-${kind}`}
      label={label}
      numeric
      value={asTyped(here, value)}
      at={part === 'times' ? [`=${place(path)}`, here] : here}
      placeholder={standard}
      onInput={(text) => {
        const next = text.trim() ? valueNode(text) : null;
        edit((tree) => {
          const now = nodeAt(tree, path);
          if (!yaml.isMap(now) && part === 'times') return next ? put(tree, path, next) : drop(tree, path);
          if (!yaml.isMap(now)) put(tree, path, mapNode(now ? [['times', now]] : []));
          if (next) put(tree, [...path, part], next);
          else drop(tree, [...path, part]);
        });
        noteTyped(here, text, text.trim());
      }}
    />
  );
}

function RetryFields() {
  return (
    <More title="Run again after a failure" paths={[['retry']]}>
      <div class="grid four">
        {RETRIES.map(([kind, label, standard]) => (
          <RetryField key={kind} kind={kind} part="times" label={`Retries, ${label}`} standard={standard} />
        ))}
        <RetryField kind="memory" part="factor" label="each with × memory" standard="1" />
        <RetryField kind="time" part="factor" label="each with × time" standard="1" />
      </div>
    </More>
  );
}

function CheckpointFields() {
  return (
    <More title="Checkpoints" paths={[['checkpoint']]}>
      <div class="grid four">
        <FileSelect
          path={['checkpoint', 'signal']}
          also={['=/checkpoint']}
          id="signal"
          label="Signal to save"
          options={[
            { value: '', label: 'none' },
            ...['USR1', 'USR2', 'TERM', 'INT', 'HUP'].map((value) => ({ value, label: value })),
          ]}
        />
        <FileField
          path={['checkpoint', 'before_limit']}
          id="before-limit"
          label="Before the time limit"
          mono
          placeholder="120s"
        />
      </div>
      <p class="help">
        The script gets the signal that long before its time limit. What it saves in SLUICE_CHECKPOINT_DIR is there when
        it is run again.
      </p>
    </More>
  );
}

// What a task may do to the machine, and what happens to one that stands still.
function WatchFields() {
  return (
    <More title="Power, warm starts and tasks that stand still" paths={[['power'], ['warm'], ['stall']]}>
      <div class="grid four">
        <FileField
          path={['power', 'limit']}
          also={['=/power']}
          id="power-limit"
          label="Power of each GPU"
          mono
          placeholder="300W"
        />
        <FileSelect
          path={['power', 'cap']}
          id="power-cap"
          label="Cap its power"
          options={[
            { value: '', label: 'no' },
            { value: 'auto', label: 'to three quarters' },
            ...(textAt(['power', 'cap']) === 'off' ? [{ value: 'off', label: 'no (written)' }] : []),
          ]}
        />
        <FileField
          path={['stall', 'after']}
          also={['=/stall']}
          id="stall-after"
          label="No progress after"
          mono
          placeholder="3x"
          help="times the longest pause between metrics, or a time"
        />
        <FileSelect
          path={['stall', 'do']}
          id="stall-do"
          label="Then"
          options={[
            { value: '', label: 'say so' },
            { value: 'stop', label: 'end the task' },
            { value: 'restart', label: 'end and run it again' },
            ...(textAt(['stall', 'do']) === 'warn' ? [{ value: 'warn', label: 'say so (written)' }] : []),
          ]}
        />
        <FileSelect
          path={['warm']}
          id="warm"
          label="Warm starts"
          help="Python scripts from a process with their libraries imported"
          options={[
            { value: '', label: 'Automatic' },
            { value: 'on', label: 'on' },
            { value: 'off', label: 'off' },
            ...(textAt(['warm']) === 'auto' ? [{ value: 'auto', label: 'Automatic (written)' }] : []),
          ]}
        />
      </div>
    </More>
  );
}

function EnvironmentFields() {
  return (
    <>
      <div class="grid two start">
        <PythonField />
        <FileField
          path={['environment', 'setup']}
          codec={LINES}
          id="setup"
          label="Setup"
          optional
          rows={3}
          mono
          placeholder={'module load cuda\nsource ~/venv/bin/activate'}
          help="Lines to run before the script."
        />
      </div>
      <More title="Modules and variables" paths={['modules', 'keep', 'vars'].map((key) => ['environment', key])}>
        <div class="grid two start">
          <div class="grid">
            <FileField
              path={['environment', 'modules']}
              codec={NAMES}
              id="modules"
              label="Modules"
              mono
              placeholder="automatic"
              help="Names of modules to load, or none."
            />
            <FileField
              path={['environment', 'keep']}
              codec={NAMES}
              id="keep"
              label="Variables to keep"
              mono
              placeholder="WANDB_MODE, HF_*"
              help="Taken from the shell where sluice run is called."
            />
          </div>
          <FileField
            path={['environment', 'vars']}
            codec={YAML}
            id="vars"
            label="Variables"
            rows={4}
            mono
            placeholder={'TF_CPP_MIN_LOG_LEVEL: "2"\nWANDB_MODE: offline'}
            help="NAME: value, one a line."
          />
        </div>
      </More>
    </>
  );
}

export function ResourcesCard() {
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
  const asked = textAt(['resources', 'backend']);
  const backend = asked && asked !== 'auto' ? asked : standard;
  const offer = cluster.value?.backends.find((b) => b.name === backend);
  // What was filled in for another backend stays in sight: it is sent, and may be what is wrong.
  const all = new Map((cluster.value?.backends ?? []).flatMap((b) => b.keys).map((key) => [key.name, key]));
  const keys = [...all.values()].filter(
    (key) => offer?.keys.some((k) => k.name === key.name) || nodeNow(['resources', key.name]),
  );
  const simple = keys.filter((key) => !WIDE.includes(key.kind) && key.name !== 'partition');
  const wide = keys.filter((key) => WIDE.includes(key.kind));
  return (
    <Card title="Resources per task" id="n-resources" step={4}>
      <div class="body grid">
        <div class="grid four">
          <FileSelect
            path={['resources', 'backend']}
            id="backend"
            label="Backend"
            options={[{ value: '', label: `Default (${standard})` }, ...backends.map((b) => ({ value: b, label: b }))]}
          />
          {keys.some((key) => key.name === 'partition') && <PartitionField partitions={offer?.partitions ?? []} />}
          <FileField path={['resources', 'gpus']} id="gpus" label="GPUs" numeric placeholder="none" />
          {(textAt(['resources', 'gpus']) || textAt(['resources', 'share'])) && (
            <FileSelect
              path={['resources', 'share']}
              id="share"
              label="Share a GPU"
              options={[
                { value: '', label: 'no' },
                { value: 'auto', label: 'as far as it helps' },
              ]}
            />
          )}
          {(textAt(['resources', 'gpus']) || textAt(['resources', 'gpu_type'])) && (
            <FileField
              path={['resources', 'gpu_type']}
              codec={TEXT}
              id="gpu-type"
              label="Type of GPU"
              mono
              placeholder="any"
            />
          )}
          <FileField path={['resources', 'cpus']} id="cpus" label="CPUs" numeric placeholder="1" />
          <FileField path={['resources', 'memory']} id="memory" label="Memory" mono placeholder="16G" />
          <FileField path={['resources', 'time']} id="time" label="Time limit" mono placeholder="2h" />
        </div>
        {simple.length + wide.length > 0 && (
          <More title={`More for ${backend}`} paths={[...simple, ...wide].map((key) => ['resources', key.name])}>
            <div class="grid four">
              {simple.map((key) => (
                <KeyField key={key.name} {...key} />
              ))}
            </div>
            <div class="grid two start">
              {wide.map((key) => (
                <KeyField key={key.name} {...key} />
              ))}
            </div>
          </More>
        )}
        {backend === 'external' && (
          <p class="help">
            sluice runs nothing itself: your workers take tasks and give results, with <code>sluice ask</code> and{' '}
            <code>sluice tell</code>, from Python or over REST. sluice only records the resources above.
          </p>
        )}
        {offer && !offer.available && (
          <p class="wrong">
            {backend} is not available on this machine
            <Said text={offer.text ? `: ${offer.text}.` : '.'} />
          </p>
        )}
        <EnvironmentFields />
        <RetryFields />
        <WatchFields />
        <CheckpointFields />
      </div>
    </Card>
  );
}
