// Step 1: the script, and what sluice found by reading it.
import { signal, useSignal } from '@preact/signals';
import { message } from '../../data/api';
import { upload } from '../../data/draft';
import { fillTree } from '../../data/fill';
import { listedFiles, missingFiles, setFiles } from '../../data/needs';
import { toast } from '../../data/toast';
import { drop, listNode, put } from '../../data/tree';
import { bytes, count, plural } from '../../lib/format';
import { Card } from '../Card';
import { Command } from '../Command';
import { Dialog } from '../Dialog';
import { Errors } from '../Field';
import { Icon } from '../Icon';
import { FolderDialog } from './Folders';
import { Found } from './Found';
import { FileField, FileSelect, TEXT, WORDS, YAML } from './fields';
import { check, doc, edit, files, giveScript, own, scan, script, setNode, textAt } from './form';
import { More } from './More';

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
    script.value = null;
    setNode(['script'], null);
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

// Uploads files for the experiment. `as`: the path under which the file is listed; of a folder, where they go below.
async function takeFiles(list: FileList | null, as?: string) {
  for (const one of list ?? []) {
    const folder = as && !/\.\w+$/.test(as.split('/').pop()!);
    const path = !as ? one.name : folder ? `${as}/${one.name}` : as;
    try {
      const next = await upload(path, one);
      files.value = [...files.value.filter((f) => f.path !== path), next];
      if (!as) edit((tree) => setFiles(tree, [...listedFiles(tree).filter((f) => f !== path), path]));
    } catch (error) {
      toast(`${one.name}: ${message(error)}`, { level: 'error' });
    }
  }
}

function removeFile(path: string) {
  files.value = files.value.filter((f) => f.path !== path);
  edit((tree) =>
    setFiles(
      tree,
      listedFiles(tree).filter((f) => f !== path),
    ),
  );
}

// What the file lists and is not here yet, each with a button that brings it.
function Missing() {
  return missingFiles(doc(), files.value).map((path) => (
    <p class="wrong missing" key={path}>
      <bdi>{path}</bdi> is not here yet.{' '}
      <label class="link">
        Upload {path}
        <input
          class="visually-hidden"
          type="file"
          multiple
          onChange={(event) => void takeFiles(event.currentTarget.files, path)}
        />
      </label>{' '}
      <button type="button" class="link" onClick={() => removeFile(path)}>
        Take it off the list
      </button>
    </p>
  ));
}

// Modules that the script imports and that its tasks will not find.
function Lacking() {
  return check.value?.lacks.map((name) => (
    <p class="warning small" key={name}>
      <Icon name="alert" /> It imports{' '}
      <code>
        <bdi>{name}</bdi>
      </code>
      , which the Python of its tasks does not have. Choose a Python that has it, or{' '}
      <label class="link">
        add {name}.py
        <input
          class="visually-hidden"
          type="file"
          multiple
          onChange={(event) => void takeFiles(event.currentTarget.files)}
        />
      </label>{' '}
      if it is a file of yours.
    </p>
  ));
}

function FilesField() {
  return (
    <div class="more-files">
      {files.value.map((file) => (
        <span class="chip" key={file.path}>
          <bdi>{file.path}</bdi> {bytes(file.bytes)}
          <button type="button" aria-label={`Remove ${file.path}`} onClick={() => removeFile(file.path)}>
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
      <Missing />
      <Lacking />
      <Errors at="/files" id="files-e" name="Files" skip={/is not here yet$/} />
    </div>
  );
}

function Drop({ onPaste, onFolders }: { onPaste: () => void; onFolders: () => void }) {
  const over = useSignal(false);
  const given = script.value;
  const named = textAt(['script']);
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
        {given ? (
          <>
            <b class="cut">
              <bdi>{given.name}</bdi>
            </b>
            <div class="mute small">
              {bytes(new Blob([given.text]).size)} · {plural(given.text.split('\n').length, 'line')}
            </div>
          </>
        ) : (
          <>
            <b class="cut">{named ? <bdi>{named} is not here yet</bdi> : 'No script yet'}</b>
            <div class="mute small">
              Drop {named ? 'it' : 'a .py file'} here, or{' '}
              <button type="button" class="link" onClick={onPaste}>
                paste its text
              </button>
              , or{' '}
              <button type="button" class="link" onClick={onFolders}>
                take it from a folder of this machine
              </button>
            </div>
          </>
        )}
      </div>
      <label class="btn compact">
        {given ? 'Replace' : 'Choose'}
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
  values: 'Only the values, in the order of the rows',
  positional: 'Experiment, task, then the values in the order of the rows, as S-TFManager does it',
  flags: 'Flags: --batch-size=64',
  overrides: 'name=value, as hydra takes them',
  env: 'SLUICE_PARAM_BATCH_SIZE=64 in the environment',
  json: 'A JSON file; its path is in SLUICE_PARAMS',
};

// The word that a script with several programs in it takes first. Another one has other arguments.
function Subcommand() {
  const found = scan.value;
  const named = textAt(['subcommand']);
  if (!named && !found?.commands.length) return null;
  return (
    <FileSelect
      path={['subcommand']}
      id="subcommand"
      label="Subcommand"
      options={
        found?.commands.length
          ? found.commands.map((one) => ({ value: one, label: one }))
          : [{ value: '', label: 'none' }]
      }
      onPicked={() => found && !own.value && edit((tree) => fillTree(tree, found, true))}
    />
  );
}

// How values are passed, with the spelling of flags, and the exact command of the first task.
function PassFields() {
  const pass = textAt(['pass']);
  return (
    <>
      <Subcommand />
      <FileSelect
        path={['pass']}
        id="pass"
        label="What the script receives"
        help={PASS[pass]}
        options={[
          { value: '', label: 'Automatic' },
          { value: 'flags', label: 'Flags' },
          { value: 'values', label: 'By position, only the values' },
          { value: 'positional', label: 'By position, as S-TFManager' },
          { value: 'overrides', label: 'name=value (hydra)' },
          { value: 'env', label: 'Environment variables' },
          { value: 'json', label: 'A JSON file' },
        ]}
      />
      {(pass === 'flags' || textAt(['style']) || textAt(['separator'])) && (
        <div class="grid two">
          <FileSelect
            path={['style']}
            id="style"
            label="Spelling of flags"
            options={[
              { value: '', label: 'As in the script' },
              { value: 'dash', label: '--batch-size' },
              { value: 'underscore', label: '--batch_size' },
            ]}
          />
          <FileSelect
            path={['separator']}
            id="separator"
            label="Value after a flag"
            options={[
              { value: '', label: '--lr=0.1' },
              { value: 'space', label: '--lr 0.1' },
            ]}
          />
        </div>
      )}
      {check.value?.call && (script.value || doc().has('command')) && (
        <div class="field">
          <span class="field-label">{check.value.call_exact ? 'The first task runs' : 'A task runs, for example'}</span>
          <pre
            class="code call"
            tabIndex={0}
            role="region"
            aria-label={`Command of ${check.value.call_exact ? 'the first task' : 'a task'}`}
          >
            <Command text={check.value.call} />
          </pre>
        </div>
      )}
    </>
  );
}

// The settings of step 1 that few need.
function MoreFields() {
  return (
    <More title="Metrics, single arguments and large files" paths={[['metrics'], ['arguments'], ['copy_limit']]}>
      <div class="grid two start">
        <FileField
          path={['metrics']}
          codec={YAML}
          id="metrics"
          label="Where the metrics are"
          rows={3}
          mono
          placeholder={'csv: "results/*/*.csv"'}
          help="Found automatically. Or csv:, jsonl:, json:, tfevents: with a pattern of paths, from: stdout, or pattern: for printed lines."
        />
        <FileField
          path={['arguments']}
          codec={YAML}
          id="arguments"
          label="How single parameters are passed"
          rows={3}
          mono
          placeholder={'learning_rate: "--lr={}"'}
          help="Where the script needs something else. {} is the value."
        />
        <FileField
          path={['copy_limit']}
          id="copy-limit"
          label="Copy files up to"
          mono
          placeholder="64M"
          help="Larger files are linked, not copied, for every task."
        />
      </div>
    </More>
  );
}

function CommandField() {
  return (
    <div class="field">
      <FileField
        path={['command']}
        codec={WORDS}
        id="command"
        label="Command"
        mono
        placeholder="python -m mypackage.train --lr={lr}"
        help="The program and its arguments. {lr} is the value of the parameter lr; parameters that it does not name are passed behind it."
      />
      <p class="help">
        <button type="button" class="link" onClick={() => setNode(['command'], null)}>
          Run a script instead
        </button>
      </p>
    </div>
  );
}

function ScriptField(ways: { onPaste: () => void; onFolders: () => void }) {
  return (
    <>
      <span class="field-label">Script</span>
      <Drop {...ways} />
      {refused.value && (
        <p class="wrong" role="alert">
          {refused.value}
        </p>
      )}
      <Errors at="/script" id="script-e" name="Script" />
      <p class="help">
        <button
          type="button"
          class="link"
          onClick={() => {
            script.value = null;
            edit((tree) => {
              drop(tree, ['script']);
              put(tree, ['command'], listNode([]));
            });
          }}
        >
          Run a command instead
        </button>
      </p>
    </>
  );
}

export function ScriptCard() {
  const pasting = useSignal(false);
  const choosing = useSignal(false);
  return (
    <Card title="Training script" id="n-script" step={1}>
      <div class="body grid">
        <div class="grid two">
          <FileField path={['name']} codec={TEXT} id="name" label="Name" placeholder="conv2d-nodropout" />
          <FileField
            path={['description']}
            codec={TEXT}
            id="description"
            label="Description"
            optional
            rows={1}
            placeholder="What this experiment is about"
          />
        </div>
        <div class="grid two start">
          <div class="field">
            {doc().has('command') ? (
              <CommandField />
            ) : (
              <ScriptField
                onPaste={() => {
                  pasting.value = true;
                }}
                onFolders={() => {
                  choosing.value = true;
                }}
              />
            )}
            <FilesField />
          </div>
          <div class="field">
            <PassFields />
            {scan.value ? (
              <Found found={scan.value} />
            ) : (
              <p class="help">
                {script.value
                  ? `Reading ${count(script.value.text.length)} characters…`
                  : 'Add the script and sluice says what it takes and how it reports.'}
              </p>
            )}
          </div>
        </div>
        <MoreFields />
      </div>
      {choosing.value && (
        <FolderDialog
          onClose={() => {
            refused.value = null;
            choosing.value = false;
          }}
        />
      )}
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
