// The command of a task, the files it wrote, and the scripts as they were submitted: to look at and to fetch.
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { message, request, save, taskPath } from '../../data/api';
import { toast } from '../../data/toast';
import type { Experiment, Task } from '../../data/types';
import { bytes, plural } from '../../lib/format';
import { shellLine } from '../../lib/shell';
import { plain } from '../../lib/text';
import { Card } from '../Card';
import { Command } from '../Command';
import { CopyButton } from '../CopyButton';
import { Icon } from '../Icon';

// What is fetched for a look; a download gets all of it.
const TEXT_BYTES = 256 * 1024;
const IMAGE_BYTES = 8 * 1024 * 1024;
const ROWS_SHOWN = 200;
const FIRST = 50;
// Drawn by <img> from a data: address, where no script of an SVG runs.
const IMAGES: Record<string, string> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  svg: 'image/svg+xml',
};

interface Entry {
  label: string;
  path: string; // the route
  name: string;
  bytes: number | null;
}

type Shown =
  | { kind: 'text'; text: string; whole: boolean }
  | { kind: 'table'; rows: string[][]; whole: boolean }
  | { kind: 'image'; address: string }
  | { kind: 'none'; why: string };

const ending = (name: string) => /\.([^./]+)$/.exec(name)?.[1].toLowerCase() ?? '';

// A CSV as rows; quotes may hold commas and line breaks.
export function csvRows(text: string, separator: string): string[][] {
  const rows: string[][] = [[]];
  let cell = '';
  let quoted = false;
  for (let i = 0; i < text.length && rows.length <= ROWS_SHOWN; i++) {
    const ch = text[i];
    if (quoted && ch === '"' && text[i + 1] === '"') cell += text[++i];
    else if (ch === '"') quoted = !quoted;
    else if (!quoted && ch === separator) {
      rows[rows.length - 1].push(cell);
      cell = '';
    } else if (!quoted && ch === '\n') {
      rows[rows.length - 1].push(cell.replace(/\r$/, ''));
      cell = '';
      rows.push([]);
    } else cell += ch;
  }
  if (cell) rows[rows.length - 1].push(cell);
  if (!rows[rows.length - 1].length) rows.pop();
  return rows.slice(0, ROWS_SHOWN);
}

const address = (blob: Blob) =>
  new Promise<string>((done, fail) => {
    const reader = new FileReader();
    reader.onload = () => done(String(reader.result));
    reader.onerror = () => fail(reader.error);
    reader.readAsDataURL(blob);
  });

async function look(entry: Entry): Promise<Shown> {
  const kind = ending(entry.name);
  const image = IMAGES[kind];
  if (image && (entry.bytes ?? 0) > IMAGE_BYTES) return { kind: 'none', why: 'The picture is too large to be shown.' };
  const join = entry.path.includes('?') ? '&' : '?';
  const part = entry.bytes === null ? '' : `${join}bytes=${image ? IMAGE_BYTES : TEXT_BYTES}`;
  const blob = await (await request('GET', entry.path + part, undefined, { Accept: '*/*' })).blob();
  if (image) return { kind: 'image', address: await address(new Blob([blob], { type: image })) };
  const text = await blob.text();
  if (text.slice(0, 4096).includes('\0')) return { kind: 'none', why: 'It is not a text.' };
  const whole = entry.bytes === null || entry.bytes <= TEXT_BYTES;
  if (kind === 'csv' || kind === 'tsv') {
    const rows = csvRows(text, kind === 'csv' ? ',' : '\t');
    return { kind: 'table', rows, whole: whole && rows.length < ROWS_SHOWN };
  }
  return { kind: 'text', text, whole };
}

function Preview({ entry, shown, onClose }: { entry: Entry; shown: Shown; onClose: () => void }) {
  const box = useRef<HTMLElement>(null);
  // It stands below the list, which may be long.
  useEffect(() => box.current?.scrollIntoView({ block: 'nearest' }), [shown]);
  const part = shown.kind !== 'image' && shown.kind !== 'none' && !shown.whole;
  return (
    <section ref={box} class="preview" aria-label={`Content of ${plain(entry.label)}`}>
      <header>
        <b>
          <bdi>{plain(entry.label)}</bdi>
        </b>
        {part && <span class="mute small">the beginning</span>}
        <span class="grow" />
        {shown.kind === 'text' && <CopyButton label="Copy the text" text={() => shown.text} />}
        <button type="button" class="btn icon ghost" aria-label="Close the file" onClick={onClose}>
          <Icon name="x" />
        </button>
      </header>
      {shown.kind === 'none' && <p class="mute small">{shown.why}</p>}
      {shown.kind === 'image' && <img src={shown.address} alt={plain(entry.label)} />}
      {shown.kind === 'text' && (
        <pre class="tail" tabIndex={0}>
          {plain(shown.text) || 'It is empty.'}
        </pre>
      )}
      {shown.kind === 'table' && (
        <div class="table-wrap tall" tabIndex={0} role="region" aria-label={`Rows of ${plain(entry.label)}`}>
          <table>
            <thead>
              <tr>
                {(shown.rows[0] ?? []).map((cell, i) => (
                  <th key={i} scope="col">
                    <bdi>{plain(cell)}</bdi>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {shown.rows.slice(1).map((row, i) => (
                <tr key={i}>
                  {row.map((cell, k) => (
                    <td key={k}>
                      <bdi>{plain(cell)}</bdi>
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function Row({ entry, onOpen }: { entry: Entry; onOpen: (entry: Entry) => void }) {
  return (
    <li>
      <button type="button" class="link mono" onClick={() => onOpen(entry)}>
        <bdi>{plain(entry.label)}</bdi>
      </button>
      <span class="grow" />
      <span class="mute small">{entry.bytes === null ? '' : bytes(entry.bytes)}</span>
      <button
        type="button"
        class="btn icon ghost"
        aria-label={`Download ${plain(entry.label)}`}
        onClick={() =>
          void save(entry.path, entry.name).catch((problem) => toast(message(problem), { level: 'error' }))
        }
      >
        <Icon name="down" />
      </button>
    </li>
  );
}

export function Files({ task, e }: { task: Task; e: Experiment }) {
  const open = useSignal<{ entry: Entry; shown: Shown } | null>(null);
  const all = useSignal(false);
  const show = async (entry: Entry) => {
    try {
      open.value = { entry, shown: await look(entry) };
    } catch (problem) {
      toast(message(problem), { level: 'error' });
    }
  };
  const written = task.files.map(
    (file): Entry => ({
      label: file.path,
      path: `${taskPath(task.experiment, task.number)}/file?path=${encodeURIComponent(file.path)}`,
      name: file.path.split('/').pop()!,
      bytes: file.bytes,
    }),
  );
  const given: Entry[] = [
    ...(e.script
      ? [
          {
            label: e.script,
            path: `/experiments/${e.id}/file?path=${encodeURIComponent(e.script)}`,
            name: e.script.split('/').pop()!,
            bytes: null,
          },
        ]
      : []),
    { label: 'batch script', path: `/experiments/${e.id}/script`, name: `${e.id}.sh`, bytes: null },
  ];
  const drawn = all.value ? written : written.slice(0, FIRST);
  return (
    <Card title="Files and command" id="files">
      <div class="body">
        {task.argv?.length > 0 && (
          <div class="argv-line">
            <pre class="argv">
              <Command text={plain(shellLine(task.argv))} />
            </pre>
            <CopyButton label="Copy the command" text={() => shellLine(task.argv)} />
          </div>
        )}
        <h3 class="small">Submitted</h3>
        <ul class="files">
          {given.map((entry) => (
            <Row key={entry.path} entry={entry} onOpen={show} />
          ))}
        </ul>
        <h3 class="small">Written by the task</h3>
        <p class="mute small folder">
          <bdi>{task.folder}</bdi>
        </p>
        <ul class="files">
          {drawn.map((entry) => (
            <Row key={entry.path} entry={entry} onOpen={show} />
          ))}
        </ul>
        {written.length > drawn.length && (
          <button
            type="button"
            class="link small"
            onClick={() => {
              all.value = true;
            }}
          >
            Show {plural(written.length - drawn.length, 'more file')}
          </button>
        )}
        {!task.files.length && <p class="mute small">No files written.</p>}
        {open.value && (
          <Preview
            entry={open.value.entry}
            shown={open.value.shown}
            onClose={() => {
              open.value = null;
            }}
          />
        )}
      </div>
    </Card>
  );
}
