// The dashboard behind a real nginx below a path, with and without the prefix removed, against the real daemon.
// SLUICE_BIN names the program.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { audit, launch, open } from './browser.mjs';
import { Daemon, freePort, skip as noDaemon } from './daemon.mjs';

function nginxProgram() {
  for (const program of ['nginx', '/usr/sbin/nginx'])
    try {
      execFileSync(program, ['-v'], { stdio: 'ignore' });
      return program;
    } catch {
      // It may be in the other place.
    }
  return null;
}

const nginx = nginxProgram();
const skip = noDaemon || (nginx ? false : 'nginx is not installed');

let daemon;
let browser;
let proxy;
let folder;
let port;

const CONF = (listen, to) => `
daemon off;
pid nginx.pid;
error_log stderr;
events {}
http {
  access_log off;
  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path f; uwsgi_temp_path u; scgi_temp_path s;
  server {
    listen 127.0.0.1:${listen};
    location /hpc/sluice/ {
      proxy_pass http://127.0.0.1:${to}/;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $http_host;
      proxy_buffering off;
    }
    location /kept/ {
      proxy_pass http://127.0.0.1:${to};
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $http_host;
      proxy_buffering off;
    }
    location /other/ { return 200 "another program"; }
  }
}
`;

before(async () => {
  if (skip) return;
  port = await freePort();
  const urls = `[http://127.0.0.1:${port}/hpc/sluice/, http://127.0.0.1:${port}/kept/]`;
  daemon = await Daemon.start({}, `web: {urls: ${urls}}\n`);
  folder = await mkdtemp(path.join(os.tmpdir(), 'sluice-nginx-'));
  await writeFile(path.join(folder, 'nginx.conf'), CONF(port, daemon.port));
  proxy = spawn(nginx, ['-p', folder, '-c', path.join(folder, 'nginx.conf')], { stdio: 'ignore' });
  browser = await launch();
  for (let tries = 0; tries < 100; tries++) {
    const up = await fetch(`http://127.0.0.1:${port}/other/`).catch(() => null);
    if (up?.ok) return;
    await new Promise((done) => {
      setTimeout(done, 100);
    });
  }
  throw new Error('nginx does not answer');
});

after(async () => {
  if (skip) return;
  await browser?.close();
  const gone = new Promise((done) => {
    proxy.once('exit', done);
  });
  proxy.kill('SIGTERM');
  await gone;
  await rm(folder, { recursive: true, force: true });
  await daemon.stop();
});

const SCRIPT = `import time
for epoch in range(1, 400):
    print('epoch', epoch, 'val_loss', 1 / epoch, flush=True)
    time.sleep(0.1)
`;

for (const prefix of ['/hpc/sluice', '/kept'])
  test(`${prefix}: login, pages, deep links, events and actions`, { skip }, async () => {
    const { id } = await daemon.api('POST', '/experiments', {
      experiment: { name: 'proxied', script: 'a.py', parameters: { lr: [0.1] }, objective: 'val_loss' },
      files: [{ path: 'a.py', text: SCRIPT }],
    });
    const link = /http\S+#login=\S+/.exec(await daemon.cli('login'))[0];
    assert.ok(link.startsWith(`http://127.0.0.1:${port}/hpc/sluice/#login=`), link);
    const url = `http://127.0.0.1:${port}${prefix}`;
    const seat = await open(browser, link.replace('/hpc/sluice', prefix));
    const { page } = seat;
    await page.getByText('Live').waitFor();
    const outside = [];
    page.on('request', (request) => {
      if (!request.url().startsWith(`${url}/`)) outside.push(request.url());
    });
    const row = page.locator(`[data-row="${id}"]`);
    assert.equal(await row.getByRole('link').first().getAttribute('href'), `${prefix}/e/${id}`);
    await row.getByRole('link', { name: 'proxied' }).click();
    await page.waitForURL(`${url}/e/${id}`);
    // A deep page that is loaded by itself, and what events bring.
    await page.goto(`${url}/e/${id}/1`);
    await page.getByText('Live').waitFor();
    const epoch = page.getByRole('region', { name: 'Results' }).locator('dd, td').first();
    const seen = await epoch.innerText();
    await page.waitForFunction((old) => !document.body.innerText.includes(old), `Current epoch\n${seen}`);
    await page.getByRole('button', { name: 'Star', exact: true }).click();
    await page.getByRole('button', { name: 'Star', exact: true, pressed: true }).waitFor();
    await page.goto(`${url}/new`);
    await page.getByRole('heading', { name: 'New experiment' }).waitFor();
    await page.goto(`${url}/compare?tasks=${id}/1`);
    await page.getByRole('heading', { name: 'Compare 1 task' }).waitFor();
    assert.deepEqual(await audit(page), []);
    assert.deepEqual(outside, []);
    assert.deepEqual(seat.troubles, []);
    await seat.context.close();
    await daemon.api('POST', `/experiments/${id}/stop`, {});
  });

// A request with any headers, straight to the daemon or by the proxy.
const ask = (at, method, route, headers) =>
  new Promise((done, fail) => {
    const request = http.request({ host: '127.0.0.1', port: at, path: route, method, headers }, (answer) => {
      answer.resume();
      done(answer.statusCode);
    });
    request.on('error', fail);
    request.end(method === 'POST' ? '{}' : undefined);
  });

test('a setting for a proxy opens nothing else', { skip }, async () => {
  const token = /sluice_\S+|[\w-]{40,}/.exec(await daemon.cli('token', 'create', 'tests'))[0];
  const auth = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const own = `127.0.0.1:${port}`;
  const route = '/api/v1/login-links';
  const cases = [
    [daemon.port, { Host: own }, 201],
    [daemon.port, { Host: own, Origin: `http://${own}` }, 201],
    [daemon.port, { Host: own, Origin: `https://${own}` }, 403],
    [daemon.port, { Host: own, Origin: `http://127.0.0.1:${daemon.port}` }, 403],
    [daemon.port, { Host: own, Origin: 'http://evil.example' }, 403],
    [daemon.port, { Host: own, Origin: 'null' }, 403],
    [daemon.port, { Host: own, 'Sec-Fetch-Site': 'same-site' }, 403],
    [daemon.port, { Host: 'evil.example' }, 421],
    [daemon.port, { Host: `evil.example:${port}` }, 421],
    [daemon.port, { Host: `127.0.0.1:${port}0` }, 421],
    [daemon.port, { Host: `127.0.0.1:${daemon.port}`, Origin: `http://${own}` }, 403],
    [port, { Host: own, Origin: `http://${own}` }, 201],
    [port, { Host: 'evil.example' }, 421],
  ];
  for (const [at, headers, status] of cases) {
    const where = at === port ? `/hpc/sluice${route}` : route;
    assert.equal(await ask(at, 'POST', where, { ...auth, ...headers }), status, JSON.stringify([at === port, headers]));
  }
  // Without a secret, neither way in.
  assert.equal(await ask(port, 'GET', '/hpc/sluice/api/v1/info', { Host: own }), 401);
  assert.equal(await ask(port, 'GET', '/kept/api/v1/info', { Host: own }), 401);
  // The prefix is removed for its own Host only, and once.
  assert.equal(await ask(daemon.port, 'GET', '/kept/api/v1/info', { Host: own, ...auth }), 200);
  assert.equal(await ask(daemon.port, 'GET', '/kept/kept/api/v1/info', { Host: own, ...auth }), 404);
  const local = { Host: `127.0.0.1:${daemon.port}`, ...auth };
  assert.equal(await ask(daemon.port, 'GET', '/kept/api/v1/info', local), 404);
  // On the unix socket, where no secret is asked for, the proxy's Host is a stranger.
  const status = await new Promise((done, fail) => {
    const socketPath = path.join(daemon.state, 'sluice.sock');
    http
      .get({ socketPath, path: '/api/v1/info', headers: { Host: 'hpc.example.org' } }, (answer) => {
        answer.resume();
        done(answer.statusCode);
      })
      .on('error', fail);
  });
  assert.equal(status, 421);
});
