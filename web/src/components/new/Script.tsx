// Step 1: the script, and what sluice found by reading it.
import { signal, useSignal } from '@preact/signals';
import { message } from '../../data/api';
import { newParam, positionalParams, upload } from '../../data/draft';
import { toast } from '../../data/toast';
import type { Scan } from '../../data/types';
import { bytes, capitalize, count, plural } from '../../lib/format';
import { Card } from '../Card';
import { Dialog } from '../Dialog';
import { Errors, SelectField, TextField } from '../Field';
import { Icon } from '../Icon';
import { change, check, draft, giveScript, scan } from './form';

const SCRIPT_MOST = 1024 * 1024;

// A file that holds no text would arrive as another one: it is refused here, and nothing is submitted.
export const refused = signal<string | null>(null);

async function takeScript(file: File | undefined) {
  if (!file) return;
  if (file.size > SCRIPT_MOST) {
    toast(`${file.name} has ${bytes(file.size)}; a script has at most ${bytes(SCRIPT_MOST)}.`, { level: 'error' });
    return;
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer());
    if (text.includes('\0')) throw new Error('zero bytes');
    refused.value = null;
    giveScript(file.name, text);
  } catch {
    refused.value = `${file.name} is a binary file, not the text of a script. Choose the script itself; a compiled program is submitted with sluice run.`;
    change({ script: null });
  }
}

function PasteDialog({ onClose }: { onClose: () => void }) {
  const text = useSignal('');
  const name = useSignal('script.py');
  return (
    <Dialog
      title="Paste a script"
      onClose={onClose}
      footer={
        <>
          <button type="button" class="btn" onClick={onClose}>
            Cancel
          </button>
          <button
            type="button"
            class="btn primary"
            disabled={!text.value.trim() || !name.value.trim()}
            onClick={() => {
              refused.value = null;
              giveScript(name.value.trim(), text.value);
              onClose();
            }}
          >
            Use this script
          </button>
        </>
      }
    >
      <div class="field">
        <label for="paste-name">File name</label>
        <input
          class="input mono"
          id="paste-name"
          value={name.value}
          onInput={(event) => {
            name.value = event.currentTarget.value;
          }}
        />
      </div>
      <div class="field">
        <label for="paste-text">Text of the script</label>
        <textarea
          class="input mono source"
          id="paste-text"
          rows={16}
          spellcheck={false}
          value={text.value}
          onInput={(event) => {
            text.value = event.currentTarget.value;
          }}
        />
      </div>
    </Dialog>
  );
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

function Drop({ onPaste }: { onPaste: () => void }) {
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
            <div class="mute small">
              Drop a .py file here, or{' '}
              <button type="button" class="link" onClick={onPaste}>
                paste its text
              </button>
            </div>
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
  '': 'As the script takes them, found by reading it',
  positional: 'Experiment, task, then the values in the order of the rows, as S-TFManager does it',
  flags: 'Flags: --batch-size=64',
  overrides: 'name=value, as hydra takes them',
  env: 'SLUICE_PARAM_BATCH_SIZE=64 in the environment',
  json: 'A JSON file; its path is in SLUICE_PARAMS',
};

function pickPass(value: string) {
  const untouched = draft.value.parameters.every((p) => !p.name.trim());
  change({ pass: value, ...(value === 'positional' && untouched ? { parameters: positionalParams() } : {}) });
}

// How the script takes its values, in words.
function Arguments({ found }: { found: Scan }) {
  const shown = found.arguments.slice(0, 20);
  // One without a default is left to the script, until someone adds it.
  const there = new Set(draft.value.parameters.map((p) => p.name.trim()));
  const by = found.parser ? ` by ${found.parser}` : '';
  if (found.pass === 'positional') return <>Reads its arguments by position</>;
  if (found.pass === 'overrides')
    return <>Takes name=value overrides{by}; write the names of its configuration as parameters</>;
  if (!shown.length) return <>{found.pass === 'env' ? 'Reads its values by env' : 'No arguments found'}</>;
  return (
    <>
      {plural(found.arguments.length, 'argument')} found{by}:{' '}
      <span class="arguments">
        {shown.map((arg) =>
          arg.flag && !there.has(arg.name) && arg.name !== 'help' && arg.name !== 'version' ? (
            <button
              key={arg.name}
              type="button"
              class="link"
              title={arg.help ?? undefined}
              aria-label={`Add ${arg.name}`}
              onClick={() =>
                change({
                  parameters: [...draft.value.parameters, { ...newParam(arg.name, 'fixed'), help: arg.help ?? '' }],
                })
              }
            >
              <code>+ {arg.flag}</code>
            </button>
          ) : (
            <code key={arg.name} title={arg.help ?? undefined}>
              {arg.flag ?? arg.name}
            </code>
          ),
        )}
      </span>
    </>
  );
}

function Found({ found }: { found: Scan }) {
  const pass = draft.value.pass;
  const counts = found.pass === 'positional' && pass !== 'positional' && !check.value?.chosen.length;
  const clear = !!found.pass && !counts && !found.wrong;
  return (
    <div role="status">
      <ul class="checks found">
        {found.wrong && (
          <li class="failure">
            <Icon name="alert" />
            <span>
              {found.wrong_line ? `Line ${found.wrong_line}: ` : ''}
              {found.wrong}
            </span>
          </li>
        )}
        <li class={clear ? 'ok' : 'caution'}>
          <Icon name={clear ? 'check' : 'alert'} />
          <span>
            <Arguments found={found} />
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
            {found.metric_from && (
              <>
                ; <code>{found.metric_from}</code> watches <code>{found.metric}</code>
              </>
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

// How values are passed, with the spelling of flags, and the exact command of the first task.
function PassFields() {
  const d = draft.value;
  return (
    <>
      <label for="pass">What the script receives</label>
      <select
        class="input"
        id="pass"
        value={d.pass}
        aria-describedby="pass-h"
        onChange={(event) => pickPass(event.currentTarget.value)}
      >
        <option value="">Automatic</option>
        <option value="flags">Flags</option>
        <option value="positional">Values by position (S-TFManager)</option>
        <option value="overrides">name=value (hydra)</option>
        <option value="env">Environment variables</option>
        <option value="json">A JSON file</option>
      </select>
      <p class="help" id="pass-h">
        {PASS[d.pass]}
      </p>
      {(d.pass === 'flags' || d.style || d.separator) && (
        <div class="grid two">
          <SelectField
            id="style"
            label="Spelling of flags"
            value={d.style}
            at="/style"
            onPick={(style) => change({ style })}
            options={[
              { value: '', label: 'As in the script' },
              { value: 'dash', label: '--batch-size' },
              { value: 'underscore', label: '--batch_size' },
            ]}
          />
          <SelectField
            id="separator"
            label="Value after a flag"
            value={d.separator}
            at="/separator"
            onPick={(separator) => change({ separator })}
            options={[
              { value: '', label: '--lr=0.1' },
              { value: 'space', label: '--lr 0.1' },
            ]}
          />
        </div>
      )}
      {check.value?.call && d.script && (
        <div class="field">
          <span class="field-label">The first task runs</span>
          <pre class="code call" tabIndex={0} role="region" aria-label="Command of the first task">
            {check.value.call}
          </pre>
        </div>
      )}
      <Errors at={['/pass', '/arguments']} id="pass-e" />
    </>
  );
}

export function ScriptCard() {
  const d = draft.value;
  const pasting = useSignal(false);
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
            <Drop
              onPaste={() => {
                pasting.value = true;
              }}
            />
            {refused.value && (
              <p class="wrong" role="alert">
                {refused.value}
              </p>
            )}
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
            {!d.source && <PassFields />}
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
      {pasting.value && (
        <PasteDialog
          onClose={() => {
            pasting.value = false;
          }}
        />
      )}
    </Card>
  );
}
