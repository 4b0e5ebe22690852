// Choosing a script from a folder of the machine that the daemon runs on. The owner names the folders in settings.yaml;
// the daemon reads nothing outside them.
import { signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { get, message } from '../../data/api';
import { upload } from '../../data/draft';
import { listedFiles, setFiles } from '../../data/needs';
import { toast } from '../../data/toast';
import type { FolderList, FolderScript, Folders } from '../../data/types';
import { bytes } from '../../lib/format';
import { Dialog } from '../Dialog';
import { Icon } from '../Icon';
import { edit, files, giveScript } from './form';

// Modules that came with the script before; they go with it.
const brought = signal<string[]>([]);

const byName = (a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name, 'en');

// The script, and the modules that it imports, as if they had been dropped.
async function take(got: FolderScript) {
  const before = brought.value;
  const made = [];
  for (const { path, text } of got.files) made.push(await upload(path, new Blob([text])));
  const paths = made.map((one) => one.path);
  files.value = [...files.value.filter((f) => !before.includes(f.path) && !paths.includes(f.path)), ...made];
  giveScript(got.name, got.text, got.mode);
  edit((tree) =>
    setFiles(tree, [...listedFiles(tree).filter((f) => !before.includes(f) && !paths.includes(f)), ...paths]),
  );
  brought.value = paths;
  toast(paths.length ? `Took ${got.name} with ${paths.join(', ')}.` : `Took ${got.name}.`);
}

// Where we are: each part of the path leads back to it.
function Way({ at, onGo }: { at: FolderList; onGo: (folder: string | null, path: string) => void }) {
  const parts = at.path ? at.path.split('/') : [];
  return (
    <nav class="folder-way" aria-label="Folder">
      <button type="button" class="link" onClick={() => onGo(null, '')}>
        Folders
      </button>
      {[at.folder, ...parts].map((part, i) => (
        <span key={parts.slice(0, i).join('/')}>
          <Icon name="right" />
          <button type="button" class="link" onClick={() => onGo(at.folder, parts.slice(0, i).join('/'))}>
            <bdi>{part}</bdi>
          </button>
        </span>
      ))}
    </nav>
  );
}

function Entries({
  at,
  onOpen,
  onPick,
}: {
  at: FolderList;
  onOpen: (name: string) => void;
  onPick: (name: string) => void;
}) {
  const of = (kind: string) => at.items.filter((item) => item.kind === kind).sort(byName);
  if (!at.items.length) return <p class="mute">No script and no folder is in here.</p>;
  return (
    <ul class="folder-list">
      {of('folder').map((item) => (
        <li key={item.name}>
          <button type="button" class="entry" onClick={() => onOpen(item.name)}>
            <Icon name="box" />
            <bdi>{item.name}</bdi>
            <span class="grow" />
            <Icon name="right" />
          </button>
        </li>
      ))}
      {of('script').map((item) => (
        <li key={item.name}>
          <button type="button" class="entry" onClick={() => onPick(item.name)}>
            <Icon name="file" />
            <bdi>{item.name}</bdi>
            <span class="grow" />
            <span class="mute small">{bytes(item.bytes)}</span>
          </button>
        </li>
      ))}
      {at.more && <li class="mute">There are more; only the first {at.items.length} are shown.</li>}
    </ul>
  );
}

function Allowed({ allowed, onOpen }: { allowed: Folders; onOpen: (folder: string) => void }) {
  if (!allowed.folders.length)
    return (
      <>
        <p class="dim">
          No folder is open to this page yet. Name the folders with your scripts in{' '}
          <code>
            <bdi>{allowed.settings}</bdi>
          </code>
          , then open this again:
        </p>
        <pre class="code" tabIndex={0} role="region" aria-label="Setting">
          {'scripts:\n  folders: [~/work]\n'}
        </pre>
      </>
    );
  return (
    <ul class="folder-list">
      {allowed.folders.map((folder) => (
        <li key={folder}>
          <button type="button" class="entry" onClick={() => onOpen(folder)}>
            <Icon name="box" />
            <bdi>{folder}</bdi>
            <span class="grow" />
            <Icon name="right" />
          </button>
        </li>
      ))}
    </ul>
  );
}

export function FolderDialog({ onClose }: { onClose: () => void }) {
  const allowed = useSignal<Folders | null>(null);
  const at = useSignal<FolderList | null>(null);
  const wrong = useSignal<string | null>(null);
  const attempt = async (what: () => Promise<void>) => {
    wrong.value = null;
    try {
      await what();
    } catch (error) {
      wrong.value = message(error);
    }
  };
  const query = (folder: string, path: string) => new URLSearchParams({ folder, path });
  const open = (folder: string | null, path: string) =>
    void attempt(async () => {
      at.value = folder === null ? null : await get<FolderList>(`/folders/list?${query(folder, path)}`);
    });
  const below = (name: string) => (at.value!.path ? `${at.value!.path}/${name}` : name);
  const pick = (name: string) =>
    void attempt(async () => {
      await take(await get<FolderScript>(`/folders/script?${query(at.value!.folder, below(name))}`));
      onClose();
    });
  useEffect(
    () =>
      void attempt(async () => {
        const got = await get<Folders>('/folders');
        allowed.value = got;
        if (got.folders.length === 1) open(got.folders[0], '');
      }),
    [],
  );
  return (
    <Dialog
      title="Choose a script on this machine"
      onClose={onClose}
      footer={
        <button type="button" class="btn" onClick={onClose}>
          Cancel
        </button>
      }
    >
      {wrong.value && (
        <p class="wrong" role="alert">
          {wrong.value}
        </p>
      )}
      {at.value && <Way at={at.value} onGo={open} />}
      {at.value ? (
        <Entries at={at.value} onOpen={(name) => open(at.value!.folder, below(name))} onPick={pick} />
      ) : allowed.value ? (
        <Allowed allowed={allowed.value} onOpen={(folder) => open(folder, '')} />
      ) : (
        !wrong.value && <p class="mute">Looking…</p>
      )}
    </Dialog>
  );
}
