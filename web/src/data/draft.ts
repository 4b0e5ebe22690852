// The draft of a new experiment: the text of its file, its script and further files. It is kept in this browser until
// it is submitted.
import { request } from './api';
import type { Filled } from './fill';

export interface Upload {
  path: string;
  upload: string;
  bytes: number;
  // "755"; undefined: the usual one
  mode?: string;
}

export interface Draft {
  // The experiment file.
  name: string;
  text: string;
  script: { name: string; text: string; mode?: string } | null;
  files: Upload[];
  // The text comes from a file, a copy or the editor; scripts do not overwrite it.
  own: boolean;
  // Someone has typed something since the form was filled.
  touched: boolean;
  // What the script filled in.
  filled: Filled | null;
}

const KEY = 'sluice.draft';

export const FILE_NAME = 'experiment.yaml';
export const emptyDraft = (): Draft => ({
  name: FILE_NAME,
  text: '',
  script: null,
  files: [],
  own: false,
  touched: false,
  filled: null,
});

export function loadDraft(): Draft {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? 'null') as Draft | null;
    if (kept && typeof kept.text === 'string' && Array.isArray(kept.files)) return { ...emptyDraft(), ...kept };
  } catch {
    // A draft of another version: begin anew.
  }
  return emptyDraft();
}

export function saveDraft(draft: Draft) {
  try {
    localStorage.setItem(KEY, JSON.stringify(draft));
  } catch {
    // The store is full or forbidden: the form still works, only a reload would lose it.
  }
}

export function dropDraft() {
  localStorage.removeItem(KEY);
}

// Sends a file ahead of the experiment that needs it.
export async function upload(path: string, bytes: Blob, mode?: string): Promise<Upload> {
  const made = (await (
    await request('PUT', `/uploads/${encodeURIComponent(path.split('/').pop()!)}`, bytes)
  ).json()) as { id: string; bytes: number };
  return { path, upload: made.id, bytes: made.bytes, mode };
}
