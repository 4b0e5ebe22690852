// Step 1: the script, and what sluice found by reading it.
import { useSignal } from '@preact/signals';
import { message } from '../../data/api';
import { newParam, positionalParams, upload } from '../../data/draft';
import { toast } from '../../data/toast';
import type { Scan } from '../../data/types';
import { bytes, capitalize, count, plural } from '../../lib/format';
import { Card } from '../bits';
import { Errors, TextField } from '../Field';
import { Icon } from '../Icon';
import { change, draft, scan } from './form';

const SCRIPT_MOST = 1024 * 1024;

async function takeScript(file: File | undefined) {
  if (!file) return;
  if (file.size > SCRIPT_MOST) {
    toast(`${file.name} has ${bytes(file.size)}; a script has at most ${bytes(SCRIPT_MOST)}.`, { level: 'error' });
    return;
  }
  change({ script: { name: file.name, text: await file.text() } });
  if (!draft.value.name) change({ name: file.name.replace(/\.\w+$/, '') });
}

async function takeFiles(list: FileList | null) {
  for (const file of list ?? []) {
    try {
      const next = await upload(file.name, file);
      change({ files: [...draft.value.files.filter((f) => f.path !== file.name), next] });
    } catch (error) {
      toast(`${file.name}: ${message(error)}`, { level: 'error' });
    }
  }
}

// Flags become parameter names as the daemon passes them: --batch-size is batch_size.
function useFlags(found: Scan) {
  const names = found.arguments.map((arg) => arg.replace(/^-+/, '').replaceAll('-', '_'));
  const before = new Map(draft.value.parameters.map((p) => [p.name, p]));
  change({ pass: 'flags', parameters: names.map((name) => before.get(name) ?? newParam(name, 'fixed')) });
}

function Drop() {
  const over = useSignal(false);
  const script = draft.value.script;
  return (
    <div
      class={`drop${over.value ? ' over' : ''}`}
      onDragOver={(event) => {
        event.preventDefault();
        over.value = true;
      }}
      onDragLeave={() => {
        over.value = false;
      }}
      onDrop={(event) => {
        event.preventDefault();
        over.value = false;
        void takeScript(event.dataTransfer?.files[0]);
      }}
    >
      <span class="file-icon">
        <Icon name="file" />
      </span>
      <div class="what">
        {script ? (
          <>
            <b class="cut">
              <bdi>{script.name}</bdi>
            </b>
            <div class="mute small">
              {bytes(new Blob([script.text]).size)} · {plural(script.text.split('\n').length, 'line')}
            </div>
          </>
        ) : (
          <>
            <b>No script yet</b>
            <div class="mute small">Drop a .py file here</div>
          </>
        )}
      </div>
      <label class="btn compact">
        {script ? 'Replace' : 'Choose'}
        <input
          class="visually-hidden"
          id="script"
          type="file"
          accept=".py,.sh,.jl,.R,text/*"
          onChange={(event) => {
            void takeScript(event.currentTarget.files?.[0]);
            event.currentTarget.value = '';
          }}
        />
      </label>
    </div>
  );
}

const PASS: Record<string, string> = {
  positional:
    'Experiment id, task id, then the values in order: python model.py e1 7 64 0.001 100 50, as S-TFManager does it',
  flags: 'python model.py --batch-size=64 --learning-rate=0.001',
  env: 'SLUICE_PARAM_BATCH_SIZE=64 in the environment',
  json: 'A JSON file; its path is in SLUICE_PARAMS',
};

function pickPass(value: string) {
  const untouched = draft.value.parameters.every((p) => !p.name.trim());
  change({ pass: value, ...(value === 'positional' && untouched ? { parameters: positionalParams() } : {}) });
}

function Found({ found }: { found: Scan }) {
  const flags = found.arguments.filter((arg) => arg.startsWith('-'));
  const mismatch = found.pass === 'flags' && flags.length > 0 && draft.value.pass !== 'flags';
  const counts = found.pass === 'positional' && draft.value.pass !== 'positional';
  const clear = (flags.length > 0 || found.pass) && !counts;
  return (
    <div role="status">
      <ul class="checks found">
        <li class={clear ? 'ok' : 'caution'}>
          <Icon name={clear ? 'check' : 'alert'} />
          <span>
            {flags.length ? (
              <>
                {plural(flags.length, 'argument')} found:{' '}
                <span class="arguments">
                  {flags.slice(0, 20).map((arg) => (
                    <code key={arg}>{arg}</code>
                  ))}
                </span>
              </>
            ) : found.pass === 'positional' ? (
              'Reads its arguments by position'
            ) : found.pass ? (
              `Reads its values by ${found.pass}`
            ) : (
              'No arguments found; it may still read the environment'
            )}
            {mismatch && (
              <>
                {' '}
                <button type="button" class="link" onClick={() => useFlags({ ...found, arguments: flags })}>
                  Pass flags, with these as parameters
                </button>
              </>
            )}
            {counts && (
              <>
                {' '}
                <button type="button" class="link" onClick={() => pickPass('positional')}>
                  Pass them by position
                </button>
              </>
            )}
          </span>
        </li>
        <li class={found.metrics.length ? 'ok' : 'caution'}>
          <Icon name={found.metrics.length ? 'check' : 'alert'} />
          <span>
            {found.metrics.length ? (
              <>
                Writes metrics with <code>{found.metrics.join(', ')}</code>
                {found.columns.length > 0 && (
                  <>
                    , column <code>{found.columns.join(', ')}</code>
                  </>
                )}
              </>
            ) : (
              'No metric writer found; a CSV with a header, JSON lines or sluice report all work'
            )}
          </span>
        </li>
        {found.checkpoint && (
          <li class="ok">
            <Icon name="check" />
            <span>Writes checkpoints</span>
          </li>
        )}
        {found.notes.map((note) => (
          <li key={note} class="caution">
            <Icon name="alert" />
            <span>{capitalize(note)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

export function ScriptCard() {
  const d = draft.value;
  return (
    <Card title="Training script" id="n-script" step={1}>
      <div class="body grid">
        {!d.source && (
          <div class="grid two">
            <TextField
              id="name"
              label="Name"
              value={d.name}
              at="/name"
              onInput={(name) => change({ name })}
              placeholder="conv2d-nodropout"
            />
            <TextField
              id="description"
              label="Description"
              optional
              value={d.description}
              at="/description"
              onInput={(description) => change({ description })}
              placeholder="What this experiment is about"
            />
          </div>
        )}
        <div class="grid two start">
          <div class="field">
            <span class="field-label">Script</span>
            <Drop />
            <Errors at="/script" id="script-e" />
            <div class="more-files">
              {d.files.map((file) => (
                <span class="chip" key={file.path}>
                  <bdi>{file.path}</bdi> {bytes(file.bytes)}
                  <button
                    type="button"
                    aria-label={`Remove ${file.path}`}
                    onClick={() => change({ files: d.files.filter((f) => f !== file) })}
                  >
                    <Icon name="x" />
                  </button>
                </span>
              ))}
              <label class="link">
                Add other files it needs
                <input
                  class="visually-hidden"
                  type="file"
                  multiple
                  onChange={(event) => {
                    void takeFiles(event.currentTarget.files);
                  }}
                />
              </label>
            </div>
          </div>
          <div class="field">
            {!d.source && (
              <>
                <label for="pass">What the script receives</label>
                <select
                  class="input"
                  id="pass"
                  value={d.pass}
                  aria-describedby="pass-h"
                  onChange={(event) => pickPass(event.currentTarget.value)}
                >
                  <option value="positional">Values by position (S-TFManager)</option>
                  <option value="flags">Flags</option>
                  <option value="env">Environment variables</option>
                  <option value="json">A JSON file</option>
                </select>
                <p class="help" id="pass-h">
                  {PASS[d.pass]}
                </p>
                <Errors at="/pass" id="pass-e" />
              </>
            )}
            {scan.value ? (
              <Found found={scan.value} />
            ) : (
              <p class="help">
                {d.script
                  ? `Reading ${count(d.script.text.length)} characters…`
                  : 'Add the script and sluice says what it takes and how it reports.'}
              </p>
            )}
          </div>
        </div>
      </div>
    </Card>
  );
}
