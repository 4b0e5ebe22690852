// The real daemon for a file of tests: a state folder and a port of its own. SLUICE_BIN names the program.
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { PATIENCE_MS } from './browser.mjs';

const run = promisify(execFile);
export const bin = process.env.SLUICE_BIN;
export const skip = bin ? false : 'SLUICE_BIN is not set: no daemon to talk to';

export async function freePort() {
  const server = net.createServer();
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

export class Daemon {
  said = '';

  // `settings` is the text of settings.yaml.
  static async start(more = {}, settings = null) {
    const d = new Daemon();
    d.state = await mkdtemp(path.join(os.tmpdir(), 'sluice-web-'));
    if (settings) await writeFile(path.join(d.state, 'settings.yaml'), settings);
    d.port = await freePort();
    // A cluster of this machine would be preferred.
    d.env = { ...process.env, SLUICE_STATE: d.state, SLURM_CONF: '/nonexistent', ...more };
    d.serve();
    await d.answers();
    return d;
  }

  get url() {
    return `http://127.0.0.1:${this.port}`;
  }

  serve() {
    this.process = spawn(bin, ['serve', '--listen', `127.0.0.1:${this.port}`], {
      env: this.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.process.stdout, this.process.stderr])
      stream.on('data', (d) => {
        this.said += d;
      });
  }

  // Only then `sluice login` is of use: where it finds no daemon it starts one of its own, and that may be quicker.
  async answers() {
    for (const end = Date.now() + PATIENCE_MS; Date.now() < end && this.process.exitCode === null; ) {
      try {
        return await fetch(`${this.url}/api/v1/health`);
      } catch {
        await new Promise((done) => {
          setTimeout(done, 100);
        });
      }
    }
    throw new Error(`the daemon does not answer; it said:\n${this.said}`);
  }

  // What the command line prints.
  async cli(...args) {
    return (await run(bin, args, { env: this.env })).stdout;
  }

  // A link that signs a browser in.
  async login() {
    const url = /https?:\/\/\S+#login=\S+/.exec(await this.cli('login'))?.[0];
    if (!url) throw new Error('sluice login gave no link');
    return url.replace(/127\.0\.0\.1:\d+|localhost:\d+/, `127.0.0.1:${this.port}`);
  }

  // One request by the unix socket, which needs no secret. Throws on a refusal.
  api(method, route, body) {
    return new Promise((done, fail) => {
      const request = http.request(
        {
          socketPath: path.join(this.state, 'sluice.sock'),
          path: `/api/v1${route}`,
          method,
          headers: { Host: 'localhost', 'Content-Type': 'application/json' },
        },
        async (answer) => {
          let text = '';
          for await (const piece of answer) text += piece;
          if (answer.statusCode >= 300) fail(new Error(`${method} ${route}: ${answer.statusCode} ${text}`));
          else done(text ? JSON.parse(text) : null);
        },
      );
      request.on('error', fail);
      request.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  async stop() {
    const gone = new Promise((done) => {
      this.process.once('exit', done);
    });
    if (this.process.exitCode === null && this.process.signalCode === null) {
      this.process.kill('SIGTERM');
      await gone;
    }
    // A runner that a failed test left alive still writes there.
    await rm(this.state, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }
}
