// Starts the dashboard: theme first so that nothing flashes, then the session, then the page.
import { render } from 'preact';
import { App } from './app';
import { linkRefused, loadInfo, post, signedOut } from './data/api';
import { keepSession, onSignIn } from './data/session';
import { experiments } from './data/store';
import { startStream } from './data/stream';
import { startTelling } from './data/tell';
import { toast } from './data/toast';
import { startKeys } from './lib/keys';
import { startRouter } from './lib/router';
import { startTheme } from './lib/theme';

async function signIn() {
  const code = /^#login=(.+)$/.exec(location.hash)?.[1];
  if (!code) return;
  // The code goes out of the address at once: it must stay neither in the history nor in a screenshot.
  history.replaceState(null, '', location.pathname + location.search);
  try {
    keepSession((await post<{ session: string }>('/login', { code: decodeURIComponent(code) })).session);
  } catch {
    // An old link with a session still alive is no reason to stop; without one, /info says 401 and the page says why.
    linkRefused.value = true;
  }
}

async function start() {
  startTheme();
  startRouter();
  startKeys();
  // A link that is pasted into a tab of this page only changes the fragment: the browser loads nothing by itself.
  addEventListener('hashchange', () => {
    if (location.hash.startsWith('#login=')) location.reload();
  });
  await signIn();
  onSignIn(() => {
    if (signedOut.value) location.reload();
  });
  // Everything is asked for at once: through a tunnel each round trip is a tenth of a second.
  const ready = loadInfo().catch(() => undefined);
  experiments.open();
  render(<App />, document.getElementById('app')!);
  await ready;
  if (!signedOut.value) startStream();
  startTelling(() => experiments.items.value.values());
  if (!signedOut.value && linkRefused.value)
    toast('That login link was used before or is wrong. You are signed in already.');
}

void start();
