// A stand-in for the daemon: serves web/dist with the real headers and answers docs/internals/rest.md from made-up
// data, with a live event stream. `node tests/web/server.mjs [port] [world]` runs it for looking around; the tests
// start it in their own process.

import { readFile } from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { check, experimentOf, scan, yaml } from './check.mjs';
import { wrongAnswer, wrongEvent, wrongRequest } from './contract.mjs';
import { analysis, attempts, experiment, logText, refresh, search, summary } from './experiment.mjs';
import { passes } from './filter.mjs';
import { CLUSTER, EXAMINED, INFO, USE } from './info.mjs';
import { world } from './world.mjs';

const DIST = path.join(path.dirname(fileURLToPath(import.meta.url)), '../../web/dist');
export const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

// Where the points of a curve lie on the axis that was asked for; an epoch takes a minute here.
function places(q, step) {
  const axis = q.get('axis') ?? 'step';
  return axis === 'step' ? {} : { x: axis === 'time' ? step.map((s) => (s + 1) * 60) : step };
}

export class Fixture {
  constructor(kind = 'all', options = {}) {
    this.models = new Map(world(kind).map((m) => [m.e.id, m]));
    this.streams = new Set();
    this.connections = 0;
    this.boot = 'b1';
    this.seq = 0;
    this.past = [];
    this.sessions = new Set();
    this.needLogin = options.login ?? false;
    this.loginCommand = 'sluice login'; // as a 401 says it
    this.tokens = [{ id: 1, name: 'notebook', created: '2026-11-10T10:00:00.000Z', used: null }];
    this.requests = [];
    this.violations = []; // of the contract; stop() fails where there are any
    this.made = new Map();
    this.down = false;
    this.infoDelay = 0; // ms, as through a slow tunnel
  }

  async start(port = 0) {
    this.server = http.createServer((req, res) =>
      this.handle(req, res).catch((error) => {
        console.error(error);
        res.destroy();
      }),
    );
    await new Promise((done) => {
      this.server.once('listening', done);
      // Somebody else may have been given the port of a server that was stopped; mostly not for long.
      this.server.on('error', (error) => {
        if (error.code !== 'EADDRINUSE' || !port) throw error;
        setTimeout(() => this.server.listen(port, '127.0.0.1'), 200);
      });
      this.server.listen(port, '127.0.0.1');
    });
    this.port = this.server.address().port;
    this.url = `http://127.0.0.1:${this.port}`;
    return this;
  }

  async stop() {
    for (const res of this.streams) res.destroy();
    this.streams.clear();
    this.server.closeAllConnections();
    await new Promise((done) => this.server.close(done));
    if (this.violations.length) throw new Error(`not as in src/http/schemas.json:\n${this.violations.join('\n')}`);
  }

  emit(name, data) {
    this.violations.push(...wrongEvent(name, data));
    const event = { seq: ++this.seq, name, data: JSON.stringify(data) };
    this.past.push(event);
    for (const res of this.streams) this.write(res, event);
  }

  write(res, event) {
    res.write(`id: ${this.boot}-${event.seq}\nevent: ${event.name}\ndata: ${event.data}\n\n`);
  }

  // A task moves on: one more epoch, told as the daemon tells it.
  advance(id, n, values = null) {
    const model = this.models.get(id);
    const task = model.tasks[n - 1];
    const line = model.curves.get(n);
    const step = line.step.length + 1;
    const metric = model.e.objective[0].metric;
    const before = line.val.length ? line.val[line.val.length - 1] : 1.5;
    const val = values?.[metric] ?? Number((before * 0.97).toPrecision(5));
    const train = values?.loss ?? Number((val * 0.8).toPrecision(5));
    line.step.push(step);
    line.val.push(val);
    line.train.push(train);
    task.epoch = step;
    task.progress = step / task.epochs;
    task.last = { value: val, epoch: step };
    const max = model.e.objective[0].goal === 'max';
    if (typeof val === 'number' && (!task.best || (max ? val > task.best.value : val < task.best.value)))
      task.best = { value: val, epoch: step };
    refresh(model);
    this.emit('metrics', {
      experiment: id,
      task: n,
      rows: [{ step, time_ms: Date.now(), epoch: step, values: { loss: train, [metric]: val } }],
    });
    this.emit('task', task);
    this.emit('experiment', summary(model));
  }

  setState(id, n, state, more = {}) {
    const model = this.models.get(id);
    const task = model.tasks[n - 1];
    const now = new Date().toISOString();
    Object.assign(task, { state }, more);
    if (state === 'running')
      Object.assign(task, { started: now, finished: null, node: 'volta01', elapsed_s: 0, progress: 0, reason: null });
    if (state === 'submitted')
      Object.assign(task, {
        started: null,
        finished: null,
        attempt: task.attempt + 1,
        epoch: null,
        progress: null,
        cause: null,
        reason: 'Resources',
      });
    if (['finished', 'error', 'stopped'].includes(state))
      Object.assign(task, { finished: now, elapsed_s: task.elapsed_s || 60 });
    refresh(model);
    this.emit('task', task);
    this.emit('experiment', summary(model));
  }

  log(model, task, stream) {
    const given = model.logs.get(`${task.number}/${stream}`);
    if (given !== undefined) return given;
    if (stream === 'stdout') return logText(model, task);
    return task.cause?.tail ? `${task.cause.tail}\n` : '';
  }

  create(sent) {
    const result = check(sent, false);
    if (result.status !== 200) return result;
    const n = Math.max(0, ...[...this.models.keys()].map((id) => Number(id.slice(1)))) + 1;
    const spec = experimentOf(sent);
    const sample = result.body.sample;
    const varying = Object.keys(sample[0] ?? {}).filter(
      (k) => Array.isArray(spec.parameters[k]) && spec.parameters[k].length > 1,
    );
    const model = experiment(n, {
      name: spec.name ?? 'experiment',
      description: spec.description,
      strategy: result.body.strategy,
      backend: spec.resources?.backend ?? 'local',
      gpus: false,
      metric: spec.objective?.metric,
      goal: spec.objective?.goal,
      configs: sample.map((row) => Object.fromEntries(varying.map((k) => [k, row[k]]))),
      fixed: Object.fromEntries(Object.entries(sample[0] ?? {}).filter(([k]) => !varying.includes(k))),
      how: () => ({ state: 'submitted', epochs: 0 }),
      script: spec.script,
    });
    model.e.created = new Date().toISOString();
    model.e.started = null;
    this.models.set(model.e.id, model);
    this.emit('experiment', summary(model));
    return { status: 201, body: model.e };
  }

  async handle(req, res) {
    const url = new URL(req.url, this.url);
    res.setHeader('Content-Security-Policy', CSP);
    res.setHeader('X-Content-Type-Options', 'nosniff');
    if (this.down) return void req.socket.destroy();
    if (!url.pathname.startsWith('/api/')) return this.asset(url.pathname, res);
    const chunks = [];
    for await (const chunk of req) chunks.push(chunk);
    const raw = Buffer.concat(chunks);
    const route = url.pathname.replace('/api/v1', '');
    if (req.method !== 'GET')
      this.requests.push({ method: req.method, path: route + url.search, headers: req.headers, body: raw.toString() });
    if (req.method !== 'GET') this.violations.push(...wrongRequest(req.method, route, raw.toString()));
    const send = (status, body) => {
      this.violations.push(...wrongAnswer(req.method, route, status, body));
      if (status === 204) return void res.writeHead(204).end();
      res
        .writeHead(status, { 'Content-Type': status >= 400 ? 'application/problem+json' : 'application/json' })
        .end(JSON.stringify(body));
    };
    const refuse = (status, detail) =>
      send(status, {
        type: 'about:blank',
        title: http.STATUS_CODES[status],
        status,
        detail,
        ...(status === 401 && { login: this.loginCommand }),
      });
    if (route === '/login' && req.method === 'POST') {
      if (JSON.parse(raw.toString()).code !== 'good-code') return refuse(401, 'this login link was used or is too old');
      this.sessions.add('s1');
      return send(201, { session: 's1' });
    }
    const session = req.headers['x-sluice-session'];
    if (this.needLogin && !session) return refuse(401, 'not signed in');
    if (this.needLogin && !this.sessions.has(session)) return refuse(401, 'the session has ended');
    const json = () => JSON.parse(raw.toString() || '{}');
    return this.route(req, res, route, url, json, send, refuse, raw);
  }

  async asset(name, res) {
    const ext = path.extname(name);
    try {
      const file = await readFile(
        path.join(DIST, ext ? path.basename(name) : `index${name.slice(1).split('/').length - 1 || ''}.html`),
      );
      res.writeHead(200, { 'Content-Type': TYPES[ext || '.html'] ?? 'application/octet-stream' }).end(file);
    } catch {
      res.writeHead(404).end();
    }
  }

  async route(req, res, route, url, json, send, refuse, raw) {
    const q = url.searchParams;
    const get = req.method === 'GET';
    if (route === '/info') {
      if (this.infoDelay)
        await new Promise((done) => {
          setTimeout(done, this.infoDelay);
        });
      return send(200, INFO);
    }
    if (route === '/energy') {
      const none = { tasks: 0, measured: 0, wall_s: 0, gpu_s: null, energy_j: null };
      const total = { ...none, energy_kwh: null, co2_g: null, price: null, failed: none };
      const [by_state, by_strategy, by_experiment, by_source, repeated] = [[], [], [], [], []];
      const sums = { by_state, by_strategy, by_experiment, by_source, repeated };
      return send(200, { total, ...sums, co2_known: false, price_known: false, currency: 'EUR' });
    }
    if (route === '/health') return send(200, { status: 'ok', version: INFO.version });
    if (route === '/cluster' && this.asking) {
      // a daemon that has just started
      return send(200, {
        ...CLUSTER,
        backends: [
          CLUSTER.backends[0],
          {
            name: 'slurm',
            available: false,
            asking: true,
            keys: CLUSTER.backends[1].keys,
            text: 'sluice is asking Slurm for its partitions',
            accounting: false,
            energy: false,
            partitions: [],
            limits: { array_size: null, submitted_jobs: null, default_account: null },
          },
        ],
      });
    }
    if (route === '/cluster/use') return send(200, USE);
    if (route === '/cluster') {
      if (this.examining === undefined) return send(200, CLUSTER);
      if (this.examining) this.examining--; // the job of a second takes a few looks; what it found stays
      return send(200, { ...CLUSTER, examining: this.examining > 0, findings: this.examining ? [] : EXAMINED });
    }
    if (route === '/notify' || route === '/notify/test') {
      const channel = (name, program) => ({
        name,
        target: null,
        program,
        missing: program ? null : 'mail needs the program sendmail or mail, and neither is on this machine',
        waiting: 0,
        sent: null,
        error: null,
        failed: null,
        test: null,
        next: null,
      });
      return send(200, {
        events: ['end', 'pause', 'stall'],
        channels: [channel('webhook', 'curl'), channel('mail', null)],
      });
    }
    if (route === '/environments') {
      const environments = [
        { path: '/home/u/venv', kind: 'venv', version: '3.11.2', found: 'active for e3' },
        { path: '/home/u/miniconda3/envs/ml', kind: 'conda', version: null, found: 'conda' },
      ];
      return send(200, { looking: false, environments });
    }
    if (route === '/cluster/examine') {
      this.examining = 2;
      return send(202, { ...CLUSTER, examining: true, findings: [] });
    }
    if (route === '/events') return this.events(req, res, q);
    if (route === '/scan') return send(200, scan(json()));
    if (route === '/check') {
      const r = check(json(), q.get('scan') === '1');
      return send(r.status, r.body);
    }
    if (route === '/logout') {
      this.sessions.clear();
      return send(204);
    }
    if (route === '/sessions') {
      const items = [...this.sessions].map((secret, i) => ({
        id: i + 1,
        created: '2026-11-10T10:00:00.000Z',
        used: '2026-11-10T10:00:00.000Z',
        expires: '2026-12-10T10:00:00.000Z',
        browser: req.headers['user-agent'],
        current: secret === req.headers['x-sluice-session'],
      }));
      return send(200, { items, next: null, total: items.length });
    }
    if (route.startsWith('/sessions/')) {
      this.sessions.delete([...this.sessions][Number(route.slice(10)) - 1]);
      return send(204);
    }
    if (route === '/tokens') {
      if (get) return send(200, { items: this.tokens, next: null, total: this.tokens.length });
      this.tokens.push({
        id: this.tokens.length + 1,
        name: json().name,
        created: new Date().toISOString(),
        used: null,
      });
      return send(201, { id: this.tokens.length, name: json().name, token: 'sluice_secret_0123456789abcdef' });
    }
    if (route.startsWith('/tokens/')) {
      this.tokens = this.tokens.filter((t) => t.id !== Number(route.slice(8)));
      return send(204);
    }
    if (route.startsWith('/uploads/')) return send(201, { id: 'u1', name: route.slice(9), bytes: raw.length });
    if (route === '/experiments') {
      if (get) {
        const items = [...this.models.values()].reverse().map(summary);
        return send(200, { items, next: null, total: items.length });
      }
      const key = req.headers['idempotency-key'];
      if (this.made.has(key)) return send(200, this.made.get(key));
      const r = this.create(json());
      if (r.status === 201) this.made.set(key, r.body);
      return send(r.status, r.body);
    }
    if (route === '/find') return send(200, { items: [], more: false });
    const found = /^\/experiments\/(e\d+)(?:\/(.*))?$/.exec(route);
    const model = found && this.models.get(found[1]);
    if (!model) return refuse(404, `there is no ${found ? `experiment ${found[1]}` : 'such address'}`);
    return this.experiment(req, res, model, found[2] ?? '', q, json, send, refuse);
  }

  act(model, numbers, action) {
    let done = 0;
    for (const n of numbers) {
      const open = ['running', 'submitted', 'waiting'].includes(model.tasks[n - 1].state);
      if (open !== (action === 'stop')) continue;
      this.setState(model.e.id, n, action === 'stop' ? 'stopped' : 'submitted');
      done++;
    }
    return done;
  }

  experiment(req, res, model, rest, q, json, send, refuse) {
    const id = model.e.id;
    const text = (body) => res.writeHead(200, { 'Content-Type': 'text/plain; charset=utf-8' }).end(body);
    if (rest === '') {
      if (req.method !== 'DELETE') return send(200, model.e);
      this.models.delete(id);
      this.emit('removed', { experiment: id });
      return send(204);
    }
    if (rest === 'stop' || rest === 'restart') {
      const body = json();
      const numbers = model.tasks
        .filter((t) => rest === 'stop' || !body.failed || t.state === 'error')
        .map((t) => t.number);
      const tasks = this.act(model, numbers, rest);
      return send(200, rest === 'stop' ? { tasks, unproposed: 0 } : { tasks });
    }
    if (rest === 'advice') return send(200, { tasks: 0, items: [] });
    if (rest === 'analysis') return send(200, analysis(model));
    if (rest === 'attempts') return send(200, attempts(model));
    if (rest === 'search' && req.method === 'GET') return send(200, search(model));
    if (rest === 'search') return this.change(model, json(), send);
    if (rest === 'suggest') return this.suggest(model, json(), send);
    if (rest === 'script') return text('#!/bin/bash\n');
    if (rest === 'source') return text(yaml.stringify(model.e.spec));
    if (rest === 'files')
      return send(200, {
        files: [
          { path: model.e.script, bytes: 20 },
          { path: 'data/labels.csv', bytes: 4 },
        ],
        python: null,
        modules: [],
      });
    if (rest === 'file') return text(q.get('path') === model.e.script ? 'import sys\nprint(sys.argv)\n' : 'a,b\n');
    if (rest === 'export') return text('task,state\n');
    if (rest === 'tasks') {
      let items = model.tasks.filter((t) => !q.get('state') || t.state === q.get('state'));
      if (q.get('sort') === '-number') items = [...items].reverse();
      if (q.get('filter')) items = items.filter(passes(q.get('filter'), model.e.objective[0]?.metric));
      const limit = Number(q.get('limit') ?? 100);
      const from = Number(q.get('cursor') ?? 0);
      const next = from + limit < items.length ? String(from + limit) : null;
      return send(200, { items: items.slice(from, from + limit), next, total: items.length });
    }
    if (rest === 'tasks/stop' || rest === 'tasks/restart')
      return send(200, { tasks: this.act(model, json().tasks, rest.slice(6)) });
    if (rest === 'metrics') {
      const name = q.get('name') ?? model.e.objective[0].metric;
      const tasks = [...model.curves]
        .filter(([n, c]) => c.step.length && (!q.get('tasks') || q.get('tasks').split(',').includes(String(n))))
        .map(([n, c]) => ({ task: n, step: c.step, value: name === 'loss' ? c.train : c.val, ...places(q, c.step) }));
      return send(200, { experiment: id, name, step_name: 'epoch', tasks });
    }
    const found = /^tasks\/(\d+)(?:\/([\w/]+))?$/.exec(rest);
    const task = found && model.tasks[Number(found[1]) - 1];
    if (!task) return refuse(404, 'there is no such task');
    return this.task(model, task, found[2], q, send);
  }

  // As the daemon: a value outside of a range is refused with its field.
  suggest(model, body, send) {
    for (const p of model.e.parameters) {
      const value = body.parameters[p.name];
      if (p.kind === 'range' && (typeof value !== 'number' || value < p.min || value > p.max)) {
        return send(400, {
          type: 'about:blank',
          title: 'Bad Request',
          status: 400,
          detail: 'no',
          errors: [{ field: `/parameters/${p.name}`, message: `${value} is not between ${p.min} and ${p.max}` }],
        });
      }
    }
    const n = model.tasks.length + 1;
    const task = {
      ...model.tasks[0],
      id: `${model.e.id}/${n}`,
      number: n,
      state: 'waiting',
      parameters: { ...model.tasks[0].parameters, ...body.parameters },
      best: null,
      last: null,
      epoch: null,
      started: null,
      finished: null,
      cause: null,
    };
    model.tasks.push(task);
    model.curves.set(n, { step: [], val: [], train: [] });
    refresh(model);
    this.emit('task', task);
    this.emit('experiment', summary(model));
    return send(201, this.detail(model, task));
  }

  change(model, body, send) {
    for (const [name, spec] of Object.entries(body.parameters ?? {})) {
      if (spec.min > spec.max)
        return send(400, {
          type: 'about:blank',
          title: 'Bad Request',
          status: 400,
          detail: 'no',
          errors: [
            { field: `/parameters/${name}`, message: `min ${spec.min} is above max ${spec.max}`, remedy: 'swap them' },
          ],
        });
      const p = model.e.parameters.find((one) => one.name === name);
      Object.assign(
        p,
        Array.isArray(spec)
          ? { kind: 'choice', values: spec }
          : typeof spec === 'object'
            ? { kind: 'range', ...spec }
            : { kind: 'constant', values: [spec] },
      );
      model.e.spec.parameters[name] = spec;
    }
    if (body.search?.tasks) model.extra = Math.max(0, body.search.tasks - model.tasks.length);
    if (body.search?.strategy) model.e.strategy = model.e.search.strategy = body.search.strategy;
    refresh(model);
    this.emit('experiment', summary(model));
    return send(200, model.e);
  }

  detail(model, task) {
    return {
      ...task,
      timeline: [
        { time: task.submitted, state: 'submitted', reason: 'sent to the partition gpu_volta' },
        task.started && { time: task.started, state: 'running', reason: `started on ${task.node}` },
        task.finished && { time: task.finished, state: task.state, reason: task.cause?.text ?? task.reason },
      ].filter((s) => s?.time),
      attempts: Array.from({ length: task.attempt }, (_, i) => ({
        number: i + 1,
        state: i + 1 < task.attempt ? 'stopped' : task.state,
        cause: task.cause,
        submitted: task.submitted,
        started: task.started,
        finished: task.finished,
        node: task.node,
        job: task.job,
        signal: null,
        gpus: task.gpus,
        asked: { cpus: 4, gpus: 1, memory_bytes: 16 * 2 ** 30, time_s: 7200, partition: null },
        ran: task.started ? 'c0ffee' : null,
        warm: task.started ? false : null,
        exit_code: task.state === 'error' ? 1 : task.state === 'finished' ? 0 : null,
        cost: task.cost,
      })),
      folder: `${model.e.folder}/tasks/${task.number}`,
      files: [
        { path: 'results/1/1.csv', bytes: 4213 },
        { path: 'params.json', bytes: 97 },
      ],
      metrics: model.e.metrics,
      notes: null,
      argv: ['python', model.e.script, ...Object.entries(task.parameters).map(([k, v]) => `--${k}=${v}`)],
    };
  }

  task(model, task, what, q, send) {
    const line = model.curves.get(task.number);
    if (!what) return send(200, this.detail(model, task));
    if (what === 'metrics')
      return send(200, {
        task: task.id,
        step_name: 'epoch',
        metrics: line.step.length
          ? {
              loss: { step: line.step, value: line.train, ...places(q, line.step) },
              [model.e.objective[0].metric]: { step: line.step, value: line.val, ...places(q, line.step) },
            }
          : {},
      });
    if (what === 'log') {
      const all = Buffer.from(this.log(model, task, q.get('stream')));
      let from = Number(q.get('offset') ?? 0);
      if (from < 0) from = Math.max(0, all.length + from);
      const next = Math.min(all.length, from + Number(q.get('limit') ?? 262144));
      return send(200, {
        stream: q.get('stream'),
        attempt: task.attempt,
        offset: from,
        next,
        size: all.length,
        text: all.subarray(from, next).toString(),
        times: { offset: [], time: [] },
      });
    }
    if (what === 'log/find') {
      const all = this.log(model, task, q.get('stream'));
      let offset = 0;
      const lines = all.split('\n').map((text, i) => {
        const at = offset;
        offset += Buffer.byteLength(text) + 1;
        return { line: i + 1, offset: at, text };
      });
      const found = lines.filter(({ text }) => text.toLowerCase().includes(q.get('q').toLowerCase()));
      return send(200, { items: found, total: found.length, lines: lines.length, size: Buffer.byteLength(all) });
    }
    if (what === 'samples')
      return send(200, {
        task: task.id,
        time_s: [2, 4, 6],
        host: { cpu_cores: [null, 1.5, 2], memory_bytes: [1e9, 2e9, 2e9] },
        gpus: [{ id: '0', util_pct: [0, 97, 98], power_w: [75, 410, 420] }],
        figures: {
          host: [
            { key: 'cpu_cores', label: 'CPU in use', unit: 'cores' },
            { key: 'memory_bytes', label: 'memory', unit: 'B' },
          ],
          gpu: [
            { key: 'util_pct', label: 'utilisation', unit: '%' },
            { key: 'power_w', label: 'power', unit: 'W' },
          ],
        },
      });
    if (what === 'ran')
      return send(200, {
        attempt: task.attempt,
        node: task.node,
        gpus: task.gpus,
        job: task.job,
        seed: task.seed,
        digest: 'c0ffee',
        ran: {
          sluice: '0.1.0',
          script: { path: model.e.script, sha256: 'ab'.repeat(32) },
          git: { commit: 'cd'.repeat(20), dirty: true },
          python: { program: '/home/u/venv/bin/python3', version: '3.11.2', prefix: '/home/u/venv' },
          packages: { numpy: '1.26.4', torch: '2.3.0' },
          packages_left_out: 0,
          modules: ['cuda/12'],
          system: { os: 'Debian GNU/Linux 12', kernel: '6.1', cpu: 'AMD EPYC' },
          gpu: { driver: '550.54.15', models: ['NVIDIA H200'] },
          environment: { PATH: '/usr/bin', WANDB_API_KEY: '(hidden)' },
        },
      });
    this.act(model, [task.number], what);
    return send(200, task);
  }

  events(req, res, q) {
    this.connections++;
    res.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
    res.write(': hello\n\n');
    const last = /^(\w+)-(\d+)$/.exec(req.headers['last-event-id'] ?? q.get('last') ?? '');
    if (last && last[1] !== this.boot) this.write(res, { seq: this.seq, name: 'reset', data: '{}' });
    else if (last) for (const event of this.past) if (event.seq > Number(last[2])) this.write(res, event);
    this.streams.add(res);
    const ping = setInterval(() => res.write(': ping\n\n'), 15000);
    res.on('close', () => {
      clearInterval(ping);
      this.streams.delete(res);
    });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const fixture = await new Fixture(process.argv[3] ?? 'all').start(Number(process.argv[2] ?? 8123));
  console.log(fixture.url);
  setInterval(() => {
    for (const model of fixture.models.values()) {
      for (const task of model.tasks)
        if (task.state === 'running' && task.epoch < 99 && Math.random() < 0.3)
          fixture.advance(model.e.id, task.number);
    }
  }, 1500);
}
