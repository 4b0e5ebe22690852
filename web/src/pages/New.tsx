// The form for a new experiment. Nothing typed is lost: the draft is kept in this browser until it is submitted.
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { Crumbs } from '../components/Crumbs';
import { Dialog } from '../components/Dialog';
import { Icon } from '../components/Icon';
import { copyFrom, importFile, oneTask } from '../components/new/bring';
import {
  check,
  checking,
  clearForm,
  doc,
  file,
  files,
  filling,
  place,
  problems,
  script,
  startForm,
  textAt,
  view,
} from '../components/new/form';
import { PreviewCard } from '../components/new/Preview';
import { ResourcesCard } from '../components/new/Resources';
import { refused as binary, ScriptCard } from '../components/new/Script';
import { SpaceCard } from '../components/new/Space';
import { StrategyCard } from '../components/new/Strategy';
import { Banner } from '../components/notice';
import { ProblemsContext } from '../components/problems';
import { Said } from '../components/Said';
import { ApiError, message, post } from '../data/api';
import { confirm } from '../data/confirm';
import { dropDraft } from '../data/draft';
import { experiments } from '../data/store';
import { toast } from '../data/toast';
import { type Path, pathsOf } from '../data/tree';
import type { Experiment } from '../data/types';
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

// The parts of the file that no field on the screen shows.
function hiddenPaths(): Path[] {
  const known = /^\/parameters\/[^/]+\/(min|max|step|points|scale|values|value|when)\b/;
  return pathsOf(doc().contents).filter((path) => {
    const where = place(path);
    if (!where || where === '/script' || path[0] === 'files') return false;
    return path[0] === 'parameters' && path.length > 2 ? !known.test(where) : !problems.covers(where);
  });
}

// What the file says and no field shows stays in the file; it is named, and edited there.
function Hidden() {
  const paths = file.value!.broken ? [] : hiddenPaths();
  if (!paths.length) return null;
  return (
    <Banner kind="note" icon="file" title="Also in the file:">
      {' '}
      <span class="dim">
        {paths.map((path, i) => (
          <span key={place(path)}>
            {i ? ', ' : ''}
            <code>{path.join('.')}</code>
          </span>
        ))}
        .
      </span>{' '}
      <button
        type="button"
        class="link"
        onClick={() => {
          view.value = 'yaml';
        }}
      >
        Edit as YAML
      </button>
    </Banner>
  );
}

// A text that is no YAML cannot be shown as a form.
function Broken() {
  const { broken } = file.value!;
  if (!broken) return null;
  // The daemon's word, as the command line has it; until it has come, that of the page's own reader.
  const line = problems.all.value.find((error) => error.line)?.line ?? broken.line;
  return (
    <Banner kind="error" icon="alert" title={`The YAML cannot be read at line ${line}.`} role="status">
      {' '}
      <span class="dim">The form goes on when it is corrected. Nothing is lost.</span>
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
    clearForm();
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

// Sends the file with its script and files. `keep`: what was typed stays, for the tasks that are left.
function useSubmit() {
  const sending = useSignal(false);
  const refused = useSignal<string | null>(null);
  const submit = async (text: string, keep: boolean) => {
    sending.value = true;
    const sent = [
      ...(script.value ? [{ path: script.value.name, text: script.value.text, mode: script.value.mode }] : []),
      ...files.value.map((f) => ({ path: f.path, upload: f.upload, mode: f.mode })),
    ];
    const full = { source: { name: file.value!.name, text }, files: sent };
    try {
      const made = await post<Experiment>('/experiments', full, { 'Idempotency-Key': keyFor(JSON.stringify(full)) });
      refused.value = null;
      if (!keep) {
        clearForm();
        dropDraft();
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

// Why it cannot be submitted yet; '' where it can.
function whyNot(): string {
  if (binary.value) return 'Choose another script to submit.';
  const pulled = textAt(['resources', 'backend']) === 'external';
  if (!script.value && !doc().has('command') && !pulled) return 'Add the training script to submit.';
  if (problems.all.value.length || !check.value) return checking.value ? '' : 'Correct what is marked to submit.';
  return '';
}

// The form needs the YAML library, which other pages do without.
function useForm() {
  const failed = useSignal(false);
  useEffect(() => {
    let stop: (() => void) | null = null;
    let gone = false;
    startForm()
      .then((end) => {
        stop = end;
        if (gone) return stop();
        const from = query.value.get('from');
        if (!from) return;
        setQuery({ from: null });
        void copyFrom(from);
      })
      .catch(() => {
        failed.value = true;
      });
    return () => {
      gone = true;
      stop?.();
    };
  }, []);
  return failed.value;
}

export function NewPage() {
  useTitle('New experiment');
  const failed = useForm();
  if (file.value) return <Form />;
  return (
    <>
      <h1 class="visually-hidden">New experiment</h1>
      {failed ? (
        <Banner kind="error" icon="alert" title="The form could not be loaded." role="alert">
          {' '}
          <button type="button" class="link" onClick={() => location.reload()}>
            Try again
          </button>
        </Banner>
      ) : (
        <p class="mute">Loading the form…</p>
      )}
    </>
  );
}

function Form() {
  const copying = useSignal(false);
  const { sending, refused, submit } = useSubmit();
  const got = check.value;
  const why = whyNot();
  const ready = !!got && !why && !problems.all.value.length && !sending.value && !filling.value;

  const buttons = (
    <>
      <button
        type="button"
        class="btn"
        disabled={!ready || !got?.sample.length || !!file.value!.broken}
        onClick={() => void submit(oneTask(file.value!.text, got!.sample[0]), true)}
      >
        Run one task first
      </button>
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
          <span class="dim">
            <Said text={refused.value} />
          </span>
        </Banner>
      )}
      <div class="grid cols-new">
        <form
          id="new"
          class="grid"
          aria-label="New experiment"
          onSubmit={(event) => {
            event.preventDefault();
            if (ready) void submit(file.value!.text, false);
          }}
        >
          <ProblemsContext.Provider value={problems}>
            <Broken />
            <fieldset class="plain grid" disabled={!!file.value!.broken}>
              <ScriptCard />
              <Hidden />
              <SpaceCard />
              <StrategyCard />
              <ResourcesCard />
            </fieldset>
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
