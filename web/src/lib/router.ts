// History-API routing. Filters, sort order and selection live in the query, so every view is a URL.
import { signal } from '@preact/signals';

export const path = signal(location.pathname);
export const query = signal(new URLSearchParams(location.search));

function read() {
  path.value = location.pathname;
  query.value = new URLSearchParams(location.search);
}

export function go(to: string, replace = false) {
  history[replace ? 'replaceState' : 'pushState'](null, '', to);
  const moved = path.value !== location.pathname;
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
  addEventListener('popstate', read);
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
    if (anchor.pathname.startsWith('/api/') || (anchor.hash && anchor.pathname === location.pathname)) return;
    event.preventDefault();
    go(anchor.pathname + anchor.search);
  });
}

export type Route =
  | { page: 'list' }
  | { page: 'new' }
  | { page: 'cluster' }
  | { page: 'settings' }
  | { page: 'missing' }
  | { page: 'experiment' | 'compare'; id: string }
  | { page: 'task'; id: string; number: number };

export function match(pathname: string): Route {
  if (pathname === '/') return { page: 'list' };
  if (pathname === '/new') return { page: 'new' };
  if (pathname === '/cluster') return { page: 'cluster' };
  if (pathname === '/settings') return { page: 'settings' };
  const found = /^\/e\/(e\d+)(?:\/(\d+|compare))?\/?$/.exec(pathname);
  if (!found) return { page: 'missing' };
  if (!found[2]) return { page: 'experiment', id: found[1] };
  if (found[2] === 'compare') return { page: 'compare', id: found[1] };
  return { page: 'task', id: found[1], number: Number(found[2]) };
}
