import { BASE } from '../lib/base';

// The secret of this browser's session. It is kept in the page's storage, which belongs to one origin with its port: a
// cookie would also be sent to the servers that other users run on other ports of the same machine.
// Below the path of a proxy there may be several dashboards on one origin.
const KEY = BASE === '/' ? 'sluice-session' : `sluice-session ${BASE}`;
// Where the browser refuses storage, the session lasts as long as the page.
let memory = '';

export function session(): string {
  try {
    return localStorage.getItem(KEY) ?? memory;
  } catch {
    return memory;
  }
}

export function keepSession(secret: string) {
  memory = secret;
  try {
    localStorage.setItem(KEY, secret);
  } catch {
    // It stays in memory.
  }
}

// Another tab may have signed in meanwhile: only the secret that was refused goes.
export function dropSession(secret: string) {
  if (session() !== secret) return;
  memory = '';
  try {
    localStorage.removeItem(KEY);
  } catch {
    // It was in memory only.
  }
}

// Calls back when another tab has signed in.
export function onSignIn(call: () => void) {
  addEventListener('storage', (event) => {
    if (event.key === KEY && event.newValue) call();
  });
}

export function sessionHeader(secret: string): Record<string, string> {
  return secret ? { 'X-Sluice-Session': secret } : {};
}
