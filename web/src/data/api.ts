// Every request to the daemon goes through here: the session's header, problem documents and the one
// place that notices a lost session.
import { signal } from '@preact/signals';
import { BASE } from '../lib/base';
import { dropSession, session, sessionHeader } from './session';
import type { FieldError, Info, Problem } from './types';

const API = `${BASE}api/v1`;

// A list, or a part of one: what ExperimentList, TaskList and TokenList have in common.
export interface Page<T> {
  items: T[];
  next: string | null;
  total: number;
}

export class ApiError extends Error {
  status: number;
  errors: FieldError[];
  constructor(status: number, message: string, errors: FieldError[] = []) {
    super(message);
    this.status = status;
    this.errors = errors;
  }
}

// The link that opened this page was refused.
export const linkRefused = signal(false);
export const signedOut = signal(false);
// There was a session, and the daemon does not know it any more: it was started again, or the session was ended.
export const sessionEnded = signal(false);
// A request of this page was answered with the session's secret.
let accepted = false;
// The command that gives a login link, as the daemon tells it to a browser that is not signed in.
export const loginCommand = signal('sluice login');
export const info = signal<Info | null>(null);

// "Differential evolution" for "de": the daemon's own words.
export const strategyTitle = (name: string) => info.value?.strategies.find((s) => s.name === name)?.title ?? name;

async function toError(response: Response): Promise<ApiError> {
  let problem: Problem | null = null;
  try {
    problem = (await response.json()) as Problem;
  } catch {
    // A proxy's HTML page or an empty body: the status is all there is to say.
  }
  if (problem?.login) loginCommand.value = problem.login;
  const message = problem?.detail || problem?.title || `the daemon answered with status ${response.status}`;
  return new ApiError(response.status, message, problem?.errors ?? []);
}

// The oldest event that an answer named (X-Sluice-Event): what happened after it is not in all answers. A stream that
// begins there misses nothing, and nothing needs to be fetched a second time.
let oldest = '';
let named = true;
export let firstEvent = '';

function note(id: string | null) {
  if (!id) {
    named = false;
    return;
  }
  firstEvent ||= id;
  if (!oldest || sequence(id) < sequence(oldest)) oldest = id;
}

const cut = (id: string) => id.lastIndexOf('-');
const sequence = (id: string) => Number(id.slice(cut(id) + 1));

// Is no answer older than this event?
export function answeredSince(id: string): boolean {
  return named && !!id && oldest.slice(0, cut(oldest)) === id.slice(0, cut(id)) && sequence(oldest) >= sequence(id);
}

export async function request(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
  signal?: AbortSignal,
): Promise<Response> {
  const secret = path === '/login' ? '' : session();
  const sent: Record<string, string> = { Accept: 'application/json', ...sessionHeader(secret), ...headers };
  const init: RequestInit = { method, headers: sent, credentials: 'omit', signal };
  if (body instanceof Blob) {
    init.body = body;
    sent['Content-Type'] = 'application/octet-stream';
  } else if (body !== undefined) {
    init.body = JSON.stringify(body);
    sent['Content-Type'] = 'application/json';
  }
  let response: Response;
  try {
    response = await fetch(API + path, init);
  } catch {
    throw new ApiError(0, 'The daemon does not answer. It may be restarting, or the tunnel is down.');
  }
  if (response.ok) {
    note(response.headers.get('X-Sluice-Event'));
    accepted ||= !!secret;
    return response;
  }
  if (response.status === 401 && path !== '/login') {
    // Another tab may have dropped the secret that this one was signed in with.
    if (secret || accepted) sessionEnded.value = true;
    if (secret) dropSession(secret);
    signedOut.value = true;
  }
  throw await toError(response);
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await (await request('GET', path, undefined, {}, signal)).json()) as T;
}

export async function text(path: string): Promise<string> {
  return await (await request('GET', path, undefined, { Accept: 'text/plain' })).text();
}

export async function post<T = unknown>(
  path: string,
  body: unknown = {},
  headers?: Record<string, string>,
): Promise<T> {
  const response = await request('POST', path, body, headers);
  return (response.status === 204 ? null : await response.json()) as T;
}

export async function remove(path: string): Promise<void> {
  await request('DELETE', path);
}

// Saves an answer as a file. A plain link would not carry the session's header.
export async function save(path: string, name: string): Promise<void> {
  saveBlob(await (await request('GET', path, undefined, { Accept: '*/*' })).blob(), name);
}

export function saveBlob(blob: Blob, name: string) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

// Follows the cursor to the end, or to `most` rows; `next` is null where nothing was left out.
export async function list<T>(path: string, most = 5000): Promise<Page<T>> {
  const join = path.includes('?') ? '&' : '?';
  const all: T[] = [];
  let cursor: string | null = null;
  let total = 0;
  do {
    const tail: string = cursor ? `&cursor=${encodeURIComponent(cursor)}` : '';
    const page: Page<T> = await get<Page<T>>(`${path}${join}limit=1000${tail}`);
    all.push(...page.items);
    total = page.total;
    cursor = page.next;
  } while (cursor && all.length < most);
  return { items: all, next: cursor, total };
}

let loading: Promise<void> | null = null;

// Calls during a request wait for the same answer.
export function loadInfo(): Promise<void> {
  loading ??= get<Info>('/info')
    .then((got) => {
      info.value = got;
    })
    .finally(() => {
      loading = null;
    });
  return loading;
}

export function taskPath(experiment: string, number: number): string {
  return `/experiments/${experiment}/tasks/${number}`;
}

export function message(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
