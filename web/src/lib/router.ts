// History-API routing. Filters, sort order and selection live in the query, so every view is a URL.
import { signal } from '@preact/signals';
import { options } from 'preact';
import { inward, outward } from './base';

export const path = signal(inward(location.pathname));
export const query = signal(new URLSearchParams(location.search));

function read() {
  path.value = inward(location.pathname);
  query.value = new URLSearchParams(location.search);
}

// Links name pages from the dashboard's own root; here they get what a proxy has before it.
const before = options.vnode;
options.vnode = (vnode) => {
  const props = vnode.props as { href?: unknown };
  if (vnode.type === 'a' && typeof props.href === 'string' && props.href.startsWith('/'))
    props.href = outward(props.href);
  before?.(vnode);
};

// How many rows a page had asked for when it was left, so that Back finds as many: the page says it while it is shown.
const entry: Record<string, number> = {};
export function keep(name: string, rows: number | null) {
  if (rows === null) delete entry[name];
  else entry[name] = rows;
}
export const kept = (name: string): number => (globalThis.history?.state as Record<string, number> | null)?.[name] ?? 0;

function leave() {
  history.replaceState({ y: scrollY, ...entry }, '');
}

// How long Back waits for a page to be as long again as it was, and how long it must stay so.
const RESTORE_MS = 10000;
const STEADY_MS = 1000;

// Scrolls to where a page was left, once enough of it is there, and again while its parts come in: the first look may
// still find the page that is being left. Gives up when the user scrolls.
function restore(y: number) {
  const end = Date.now() + RESTORE_MS;
  let mine = true;
  let height = -1;
  let moved = Date.now();
  const own = () => {
    mine = false;
  };
  const stops = ['wheel', 'touchstart', 'keydown', 'mousedown'];
  for (const name of stops) addEventListener(name, own, { once: true, passive: true });
  const step = () => {
    const tall = document.documentElement.scrollHeight;
    const off = Math.abs(scrollY - y) > 2;
    if (mine && off && tall >= y + innerHeight) scrollTo(0, y);
    if (off || tall !== height) moved = Date.now();
    height = tall;
    if (mine && Date.now() < Math.min(end, moved + STEADY_MS)) setTimeout(step, 50);
    else for (const name of stops) removeEventListener(name, own);
  };
  step();
}

export function go(to: string, replace = false) {
  // Where this page is left, for Back.
  if (!replace) leave();
  history[replace ? 'replaceState' : 'pushState'](null, '', outward(to));
  const moved = path.value !== inward(location.pathname);
  read();
  if (moved && !replace) {
    scrollTo(0, 0);
    // A screen reader must hear that the page changed; the heading's landmark takes the focus.
    requestAnimationFrame(() => document.getElementById('main')?.focus({ preventScroll: true }));
  }
}

// Changes some members of the query without a new history entry; null removes one.
export function setQuery(changes: Record<string, string | null>) {
  const next = new URLSearchParams(location.search);
  for (const [key, value] of Object.entries(changes)) {
    if (value === null || value === '') next.delete(key);
    else next.set(key, value);
  }
  // Commas are legal in a query and read better in a link that is sent to others.
  const tail = next.toString().replaceAll('%2C', ',');
  history.replaceState(null, '', location.pathname + (tail ? `?${tail}` : ''));
  query.value = next;
}

export function startRouter() {
  // The page's own address changes without a load; what is relative to it would be looked for elsewhere then.
  const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]');
  if (icon) icon.href = outward('/favicon.svg');
  history.scrollRestoration = 'manual';
  addEventListener('popstate', (event) => {
    read();
    const { y } = (event.state ?? {}) as { y?: number };
    if (typeof y === 'number') restore(y);
  });
  // A reload comes back to its place, too.
  addEventListener('pagehide', leave);
  const { y } = (history.state ?? {}) as { y?: number };
  if (y) restore(y);
  document.addEventListener('click', (event) => {
    if (
      event.defaultPrevented ||
      event.button !== 0 ||
      event.metaKey ||
      event.ctrlKey ||
      event.shiftKey ||
      event.altKey
    )
      return;
    const anchor = (event.target as Element).closest('a');
    if (!anchor || anchor.target || anchor.hasAttribute('download') || anchor.origin !== location.origin) return;
    const to = inward(anchor.pathname);
    if (to.startsWith('/api/') || (anchor.hash && anchor.pathname === location.pathname)) return;
    event.preventDefault();
    go(to + anchor.search);
  });
}

export type Route =
  | { page: 'list' }
  | { page: 'new' }
  | { page: 'queue' }
  | { page: 'cluster' }
  | { page: 'settings' }
  | { page: 'missing' }
  | { page: 'experiment'; id: string }
  | { page: 'compare'; id: string | null }
  | { page: 'task'; id: string; number: number };

export function match(pathname: string): Route {
  if (pathname === '/') return { page: 'list' };
  if (pathname === '/new') return { page: 'new' };
  if (pathname === '/queue') return { page: 'queue' };
  if (pathname === '/cluster') return { page: 'cluster' };
  if (pathname === '/settings') return { page: 'settings' };
  if (pathname === '/compare') return { page: 'compare', id: null };
  const found = /^\/e\/(e\d+)(?:\/(\d+|compare))?\/?$/.exec(pathname);
  if (!found) return { page: 'missing' };
  if (!found[2]) return { page: 'experiment', id: found[1] };
  if (found[2] === 'compare') return { page: 'compare', id: found[1] };
  return { page: 'task', id: found[1], number: Number(found[2]) };
}
