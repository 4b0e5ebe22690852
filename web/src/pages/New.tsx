// The form for a new experiment. Nothing typed is lost: the draft is kept in this browser until it is submitted.
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { Card } from '../components/Card';
import { Crumbs } from '../components/Crumbs';
import { Dialog } from '../components/Dialog';
import { Icon } from '../components/Icon';
import { body, change, check, draft, filling, giveScript, problems, startForm } from '../components/new/form';
import { PreviewCard } from '../components/new/Preview';
import { ResourcesCard } from '../components/new/Resources';
import { refused as binary, ScriptCard } from '../components/new/Script';
import { SpaceCard } from '../components/new/Space';
import { StrategyCard } from '../components/new/Strategy';
import { Banner } from '../components/notice';
import { ProblemsContext } from '../components/problems';
import { ApiError, get, message, post, request } from '../data/api';
import { confirm } from '../data/confirm';
import { fromDocument, fromExperiment, toOneTask } from '../data/document';
import { dropDraft, emptyDraft, hiddenKeys, upload } from '../data/draft';
import { experiments } from '../data/store';
import { toast } from '../data/toast';
import type { Check, Experiment } from '../data/types';
import { plural, when } from '../lib/format';
import { go, query, setQuery } from '../lib/router';
import { useTitle } from './Other';

// The same text again after a lost answer must not make a second experiment.
let last = { body: '', key: '' };

function keyFor(text: string): string {
  if (last.body !== text) {
    const random = crypto.getRandomValues(new Uint8Array(16));
    last = { body: text, key: [...random].map((b) => b.toString(16).padStart(2, '0')).join('') };
  }
  return last.key;
}

async function copyFrom(id: string) {
  try {
    const e = await get<Experiment>(`/experiments/${id}`);
    const { files } = await get<{ files: { path: string; bytes: number }[] }>(`/experiments/${id}/files`);
    const read = (path: string) => request('GET', `/experiments/${id}/file?path=${encodeURIComponent(path)}`);
    const made = fromExperiment(e);
    for (const file of files) {
      if (file.path === e.script) made.script = { name: file.path, text: await (await read(file.path)).text() };
      else made.files.push(await upload(file.path, await (await read(file.path)).blob()));
    }
    draft.value = made;
    toast(`Copied from ${e.name}.`);
  } catch (problem) {
    toast(message(problem), { level: 'error' });
  }
}

// What an experiment file lists under "files" and the form does not have yet.
function missingFiles(listed: unknown): string[] {
  const have = new Set(draft.value.files.map((file) => file.path));
  const words = (Array.isArray(listed) ? listed : listed ? [listed] : []).map(String);
  return words
    .filter((word) => !have.has(word))
    .map((word) => (word === 'git' ? 'the files that git tracks (or submit the file with sluice run)' : word));
}

// An experiment file becomes the form. False: it has errors, and stays a text until they are corrected.
async function toForm(source: { name: string; text: string }): Promise<boolean> {
  try {
    const got = await post<Check>('/check', { source });
    const made = fromDocument(got.experiment as Record<string, unknown>);
    const { script, files } = draft.value;
    const { script: named, files: listed } = got.experiment as { script?: unknown; files?: unknown };
    draft.value = { ...made, files, script: script && (!named || named === script.name) ? script : null };
    const missing = missingFiles(listed);
    if (!draft.value.script && typeof named === 'string') missing.unshift(`${named}, the script`);
    if (missing.length) toast(`Add what the file names and a browser cannot read: ${missing.join('; ')}.`);
    return true;
  } catch (problem) {
    if (problem instanceof ApiError && problem.status === 400) return false;
    throw problem;
  }
}

// By its name, or by a first line that no experiment file has.
function isScript({ name, text }: { name: string; text: string }): boolean {
  return /\.(py|sh|r|jl|pl)$/i.test(name) || /^(#!|import \w|from \w+(\.\w+)* import )/m.test(text.slice(0, 4000));
}

async function importFile(file: File) {
  const source = { name: file.name, text: await file.text() };
  if (isScript(source)) {
    const use = await confirm({
      title: `${file.name} is a script`,
      text: 'It is no experiment file. It can be used as the training script of this form.',
      yes: 'Use it as the script',
      no: 'Cancel',
      icon: 'file',
    });
    if (use) giveScript(source.name, source.text);
    return;
  }
  try {
    if (!(await toForm(source))) change({ source });
  } catch (problem) {
    toast(message(problem), { level: 'error' });
  }
}

// The text is never thrown away without a question.
async function backToForm() {
  const source = draft.value.source!;
  try {
    if (await toForm(source)) return;
  } catch (problem) {
    toast(message(problem), { level: 'error' });
    return;
  }
  if (
    await confirm({
      title: 'Leave the file?',
      text: 'The file has errors, so the form cannot show it. Going back to the form discards its text.',
      yes: 'Discard the file',
      no: 'Keep editing',
      icon: 'trash',
    })
  )
    change({ source: null });
}

function CopyDialog({ onClose }: { onClose: () => void }) {
  const items = [...experiments.items.value.values()].sort((a, b) => Number(b.id.slice(1)) - Number(a.id.slice(1)));
  return (
    <Dialog
      title="Copy from another experiment"
      onClose={onClose}
      footer={
        <button type="button" class="btn" onClick={onClose}>
          Cancel
        </button>
      }
    >
      <div class="choose">
        {items.slice(0, 100).map((e) => (
          <button
            key={e.id}
            type="button"
            onClick={() => {
              onClose();
              void copyFrom(e.id);
            }}
          >
            <b class="cut">
              <bdi>{e.name}</bdi>
            </b>
            <span class="mute small">
              {e.id} · {plural(e.tasks.total, 'task')} · {when(e.created)}
            </span>
          </button>
        ))}
        {!items.length && <p class="mute">There is no other experiment yet.</p>}
      </div>
    </Dialog>
  );
}

function SourceCard() {
  const source = draft.value.source!;
  return (
    <Card
      title={
        <>
          Experiment file <bdi>{source.name}</bdi>
        </>
      }
      id="n-source"
      step={2}
      extra={
        <>
          <span class="grow" />
          <button type="button" class="btn compact" onClick={() => void backToForm()}>
            Back to the form
          </button>
        </>
      }
    >
      <div class="body">
        <label class="visually-hidden" for="source">
          Experiment file
        </label>
        <textarea
          class="input mono source"
          id="source"
          rows={24}
          spellcheck={false}
          value={source.text}
          aria-invalid={problems.all.value.length > 0}
          onInput={(event) => change({ source: { ...source, text: event.currentTarget.value } })}
        />
        {problems.all.value.length > 0 && (
          <p class="wrong" role="status">
            {plural(problems.all.value.length, 'thing')} to correct; see the preview.
          </p>
        )}
      </div>
    </Card>
  );
}

// What came with a file or a copy and has no field here is sent along; it is named, and can be edited as a file.
function Kept() {
  const d = draft.value;
  const keys = d.source ? [] : hiddenKeys(d);
  if (!keys.length) return null;
  return (
    <Banner kind="note" icon="file" title="Kept from the file:">
      {' '}
      <span class="dim">
        {keys.map((key, i) => (
          <span key={key}>
            {i ? ', ' : ''}
            <code>{key}</code>
          </span>
        ))}
        . The form has no field for {keys.length === 1 ? 'it' : 'them'}; the YAML beside shows the whole experiment.
      </span>{' '}
      <button
        type="button"
        class="link"
        disabled={!check.value}
        onClick={() => change({ source: { name: 'experiment.yaml', text: check.value!.yaml } })}
      >
        Edit as YAML
      </button>
    </Banner>
  );
}

async function clear() {
  if (
    await confirm({
      title: 'Clear the form?',
      text: 'This clears everything that you typed here, and the script.',
      yes: 'Clear',
      no: 'Keep',
      icon: 'trash',
    })
  )
    draft.value = emptyDraft();
}

function Heading({ onCopy }: { onCopy: () => void }) {
  const yaml = useRef<HTMLInputElement>(null);
  return (
    <div class="head">
      <div class="headline">
        <Crumbs items={[{ href: '/', label: 'Experiments' }, { label: 'New' }]} />
        <h1>New experiment</h1>
      </div>
      <div class="btns">
        <button type="button" class="btn" onClick={() => void clear()}>
          Clear
        </button>
        <button type="button" class="btn" onClick={onCopy}>
          <Icon name="copy" />
          Copy from another
        </button>
        <label class="btn">
          <Icon name="upload" />
          Import YAML
          <input
            ref={yaml}
            class="visually-hidden"
            type="file"
            accept=".yaml,.yml,.json"
            onChange={async (event) => {
              const file = event.currentTarget.files?.[0];
              if (file) await importFile(file);
              yaml.current!.value = '';
            }}
          />
        </label>
      </div>
    </div>
  );
}

// Sends the form. `keep`: what was typed stays, for the tasks that are left.
function useSubmit() {
  const sending = useSignal(false);
  const refused = useSignal<string | null>(null);
  const submit = async (what: Record<string, unknown>, keep: boolean) => {
    const d = draft.value;
    if (!d.script) return;
    sending.value = true;
    const files = [
      { path: d.script.name, text: d.script.text },
      ...d.files.map((f) => ({ path: f.path, upload: f.upload })),
    ];
    const full = { ...what, files };
    try {
      const made = await post<Experiment>('/experiments', full, { 'Idempotency-Key': keyFor(JSON.stringify(full)) });
      refused.value = null;
      if (!keep) {
        dropDraft();
        draft.value = emptyDraft();
      }
      go(`/e/${made.id}`);
      toast(keep ? 'Submitted one task. The form is kept for the rest.' : `Submitted ${made.name}.`);
    } catch (problem) {
      if (problem instanceof ApiError && problem.errors.length) problems.take(problem);
      refused.value = message(problem);
    }
    sending.value = false;
  };
  return { sending, refused, submit };
}

export function NewPage() {
  useTitle('New experiment');
  const copying = useSignal(false);
  const { sending, refused, submit } = useSubmit();
  useEffect(() => {
    const stop = startForm();
    const from = query.value.get('from');
    if (from) {
      setQuery({ from: null });
      void copyFrom(from);
    }
    return stop;
  }, []);
  const d = draft.value;
  const got = check.value;
  const ready = !!got && !!d.script && !sending.value && !binary.value && !filling.value;
  const why = !d.script ? 'Add the training script to submit.' : !got ? 'Correct what is marked to submit.' : '';

  const buttons = (
    <>
      {!d.source && (
        <button
          type="button"
          class="btn"
          disabled={!ready || !got?.sample.length}
          onClick={() => void submit({ experiment: toOneTask(d, got!.sample[0]) }, true)}
        >
          Run one task first
        </button>
      )}
      <button type="submit" form="new" class="btn primary" disabled={!ready}>
        <Icon name="play" />
        Submit{got?.count ? ` ${plural(got.count, 'task')}` : ''}
      </button>
    </>
  );
  return (
    <>
      <Heading
        onCopy={() => {
          copying.value = true;
        }}
      />
      {refused.value && (
        <Banner kind="error" icon="alert" title="Not submitted." role="alert">
          {' '}
          <span class="dim">{refused.value}</span>
        </Banner>
      )}
      <div class="grid cols-new">
        <form
          id="new"
          class="grid"
          aria-label="New experiment"
          onSubmit={(event) => {
            event.preventDefault();
            if (ready) void submit(body(d), false);
          }}
        >
          <ProblemsContext.Provider value={problems}>
            <ScriptCard />
            <Kept />
            {d.source ? (
              <SourceCard />
            ) : (
              <>
                <SpaceCard />
                <StrategyCard />
                <ResourcesCard />
              </>
            )}
          </ProblemsContext.Provider>
        </form>
        <aside class="grid sticky" aria-label="Preview">
          <PreviewCard />
          <div class="submit hide-phone">
            <span class="mute small">{why}</span>
            <div class="btns">{buttons}</div>
          </div>
        </aside>
      </div>
      <div class="foot only-phone">
        <span class="small">{got?.count ? <b>{plural(got.count, 'task')}</b> : why}</span>
        {buttons}
      </div>
      {copying.value && (
        <CopyDialog
          onClose={() => {
            copying.value = false;
          }}
        />
      )}
    </>
  );
}
