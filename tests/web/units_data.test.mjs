// What the page holds of the daemon, without a browser: names in the address, outputs in pieces, searches, curves that
// could not be fetched, and notifications.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import path from 'node:path';
import { after, before, mock, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const web = path.join(path.dirname(fileURLToPath(import.meta.url)), '../../web/');
const PARTS = [
  'lib/names',
  'lib/format',
  'lib/order',
  'lib/pool',
  'data/counts',
  'data/log',
  'data/tell',
  'data/experiment',
];
// What a page has and node does not.
const PAGE = {
  location: new URL('http://localhost/'),
  document: {
    baseURI: 'http://localhost/',
    visibilityState: 'visible',
    querySelector: () => null,
    addEventListener() {},
  },
  addEventListener() {},
  SharedWorker: class {
    constructor() {
      this.port = { postMessage() {} };
      PAGE.worker = this;
    }
  },
  localStorage: { getItem: () => '1', setItem() {} },
  Notification: class {
    static permission = 'granted';
    static shown = [];
    constructor(title, { body }) {
      PAGE.Notification.shown.push(`${title}: ${body}`);
    }
  },
};
const CONTENTS = `${PARTS.map((name) => `export * from './${name}';`).join('\n')}
import { signal } from '@preact/signals';
import { startStream } from './data/stream';
export { signal, startStream };`;
let lib;
let answer;
const realFetch = globalThis.fetch;

before(async () => {
  for (const [name, value] of Object.entries({ ...PAGE, window: globalThis }))
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  globalThis.fetch = async (url, init) => {
    const got = await answer(new URL(url, 'http://localhost/'), init);
    return new Response(JSON.stringify(got), { headers: { 'Content-Type': 'application/json' } });
  };
  const { build } = createRequire(web)('esbuild');
  const out = await build({
    stdin: { contents: CONTENTS, resolveDir: path.join(web, 'src'), loader: 'ts' },
    bundle: true,
    write: false,
    format: 'esm',
    logLevel: 'silent',
  });
  mock.timers.enable({ apis: ['setInterval'] }); // the page's clock would keep this process alive
  lib = await import(`data:text/javascript;base64,${Buffer.from(out.outputFiles[0].contents).toString('base64')}`);
  mock.timers.reset();
});

after(() => {
  globalThis.fetch = realFetch;
});

test('names with a comma are one name in the address, and older addresses mean the same', () => {
  for (const names of [['mAP[0.5,0.95]', 'loss'], ['val/loss'], ['100%', '%2C'], ['a b&c=d,']])
    assert.deepEqual(lib.splitNames(lib.joinNames(names)), names);
  assert.equal(lib.joinNames(['val/loss', 'accuracy']), 'val/loss,accuracy');
  assert.deepEqual(lib.splitNames('loss,val/acc'), ['loss', 'val/acc']);
  assert.deepEqual(lib.splitNames('top5%,loss'), ['top5%', 'loss']);
  assert.deepEqual(lib.splitNames(null), []);
  assert.equal(lib.nameList(['loss', 'mAP[0.5,0.95]', '"a"', '*']), '*,loss,"mAP[0.5,0.95]",""a"","*"');
});

test('a limit in words', () => {
  assert.equal(lib.limitText({ metric: 'latency', at_most: 20 }), 'latency at most 20');
  assert.equal(lib.limitText({ metric: 'accuracy', at_least: 0.9 }), 'accuracy at least 0.9');
  assert.equal(lib.limitText({ metric: 'time', at_most: 90 }), `time at most ${lib.duration(90)}`);
});

test('a task beyond a limit is not the best, and comes last by its best', () => {
  const task = (number, value, beyond = null) => ({ number, state: 'finished', started: 'x', best: { value }, beyond });
  const tasks = [task(1, 0.9, 'latency is 40, and at most 20 is allowed'), task(2, 0.7), task(3, 0.8)];
  assert.equal(lib.bestOf(tasks, true).number, 3);
  assert.deepEqual(
    lib.order(tasks, '-best').map((t) => t.number),
    [3, 2, 1],
  );
});

// An output of bytes, as the daemon gives pieces of it: each byte that is not UTF-8 is one character.
const output = (bytes) => (url) => {
  const q = (name) => Number(url.searchParams.get(name));
  const offset = q('offset') < 0 ? Math.max(0, bytes.length + q('offset')) : q('offset');
  const part = bytes.subarray(offset, offset + q('limit'));
  const times = { offset: [], time: [] };
  return { offset, next: offset + part.length, size: bytes.length, text: part.toString(), times };
};
const MB = 1024 * 1024;

test('what is kept of a long output begins at a byte of the file, whatever its bytes are', async () => {
  const bytes = Buffer.alloc(4 * MB);
  for (let at = 0; at < bytes.length; at += 16) bytes.write(`${String(at).padStart(14)}\xff\n`, at, 'latin1');
  answer = output(bytes);
  const reader = new lib.LogReader('/log?stream=stdout');
  reader.held.value = { from: 0, next: 0, size: bytes.length, text: '', line: 1, starts: [], times: [] };
  await reader.read();
  const { from, next, text, line } = reader.held.value;
  assert.equal(next, bytes.length);
  assert.ok(from > 0 && text.length >= 2 * MB && text.length < 2.5 * MB, `${from} ${text.length}`);
  assert.equal(text, bytes.subarray(from).toString());
  assert.equal(line, from / 16 + 1);
  await reader.earlier();
  assert.equal(reader.held.value.text, bytes.subarray(reader.held.value.from).toString());
  reader.close();
});

test('a line has the time at which the file had it, whatever its bytes are', () => {
  const at = (seconds) => new Date(seconds * 1000).toISOString();
  const times = (text, offset, ends, got) =>
    lib.timesOf(
      {
        offset,
        next: offset + Buffer.byteLength(text, 'utf8'),
        size: 0,
        text,
        times: { offset: ends, time: ends.map((_, i) => at(i + 1)) },
      },
      got,
    );
  assert.deepEqual(times('ab\ncd\n', 10, [13, 16], null), [
    [0, 1000],
    [3, 2000],
  ]);
  // é has two bytes and 𝄞 four; the rest was not there at the last look.
  assert.deepEqual(times('é𝄞\ncd\n', 0, [7], 9000), [
    [0, 1000],
    [4, 9000],
  ]);
  assert.deepEqual(times('ab\n', 0, [], null), []);
  // A byte that is no UTF-8 is one character.
  const bad = { offset: 0, next: 4, size: 4, text: '\ufffd\na\n', times: { offset: [2, 4], time: [at(1), at(2)] } };
  assert.deepEqual(lib.timesOf(bad), [
    [0, 1000],
    [2, 2000],
  ]);
});

test('a line that is gone to has its number, also behind bytes that are not UTF-8', async () => {
  const bytes = Buffer.concat(Array.from({ length: 20000 }, (_, i) => Buffer.from(`${i + 1}\xff\xfe\n`, 'latin1')));
  answer = output(bytes);
  const reader = new lib.LogReader('/log?stream=stdout');
  await reader.read();
  const offset = bytes.indexOf('\n19000');
  assert.equal(await reader.goTo(offset + 1, 19000), true);
  const { line, text } = reader.held.value;
  const lines = text.split('\n');
  assert.equal(lines[19000 - line], '19000\ufffd\ufffd');
  reader.close();
});

test('a growing output is searched once for a text, then now and then, and a search that ends is aborted', async () => {
  mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  try {
    const turn = () => new Promise((done) => setImmediate(done));
    const asked = [];
    answer = (_url, init) => {
      asked.push(init.signal);
      return { items: [], total: asked.length, lines: 1, size: 1 };
    };
    let size = 10;
    const got = [];
    const end = lib.findIn(
      '/find?stream=stdout',
      'x',
      () => size,
      (hits) => got.push(hits?.total),
    );
    mock.timers.tick(300);
    await turn();
    for (let i = 0; i < 8; i++) {
      size++;
      mock.timers.tick(1000);
      await turn();
    }
    assert.deepEqual([asked.length, got], [1, [1]]);
    mock.timers.tick(2000);
    await turn();
    assert.deepEqual([asked.length, got], [2, [1, 2]]);
    mock.timers.tick(30000);
    await turn();
    assert.equal(asked.length, 2, 'it did not grow');
    let late;
    answer = (_url, init) => {
      asked.push(init.signal);
      return new Promise((done) => {
        late = () => done({ items: [], total: 99, lines: 1, size: 1 });
      });
    };
    size++;
    mock.timers.tick(10000);
    await turn();
    end();
    assert.equal(asked[2].aborted, true);
    late();
    await turn();
    assert.deepEqual(got, [1, 2], 'an answer that came too late was shown');
  } finally {
    mock.timers.reset();
  }
});

test('rows are not collected for curves that could not be fetched', async () => {
  const asked = { sort: 'best', state: 'all', filter: '', metrics: [] };
  const store = new lib.ExperimentStore('e1', 'a%2Cb,loss', 'step', asked);
  assert.deepEqual(store.metrics, ['a,b', 'loss']);
  answer = () => Promise.reject(new TypeError('no network'));
  await assert.rejects(store.show(['loss']));
  assert.equal(store.late, null);
});

// 2,600 tasks, 500 in an answer. The answers are held back until they are let go.
test('rows that are asked for beside an update are there once', async () => {
  const held = [];
  answer = async (url) => {
    const from = Number(url.searchParams.get('cursor') ?? 1);
    await new Promise((go) => held.push(go));
    const items = Array.from({ length: Math.min(500, 2601 - from) }, (_, i) => ({ number: from + i }));
    return { items, next: from + 500 <= 2600 ? String(from + 500) : null, total: 2600 };
  };
  const turn = () => new Promise((done) => setImmediate(done));
  const settled = async (work) => {
    let over = false;
    work.then(() => (over = true));
    while (!over) {
      held.pop()?.();
      await turn();
    }
  };
  const store = new lib.ExperimentStore('e1', null, 'step', { sort: 'number', state: 'all', filter: '', metrics: [] });
  const shown = (n) =>
    assert.deepEqual(
      store.rows.value,
      Array.from({ length: n }, (_, i) => i + 1),
    );
  await settled(store.fetchRows());
  shown(500);
  // The user asks while an update is under way, at its beginning and at its end, and twice.
  for (const [answered, rows] of [
    [0, 1000],
    [1, 1500],
  ]) {
    const update = store.fetchRows();
    for (let i = 0; i < answered; i++) {
      await turn();
      held.shift()();
    }
    const more = Promise.all([store.fetchMore(), store.fetchMore()]);
    // Where both wait for an answer, that of the update comes first.
    await turn();
    held.shift()();
    await turn();
    await settled(Promise.all([update, more]));
    shown(rows);
  }
  // An update that comes in between brings them, too.
  const more = store.fetchMore();
  await turn();
  await settled(Promise.all([store.fetchRows(), more]));
  shown(2000);
});

test('more rows can be asked for again after a failure', async () => {
  const page = (from) => ({ items: [{ number: from }], next: String(from + 1), total: 5000 });
  answer = async (url) => page(Number(url.searchParams.get('cursor') ?? 1));
  const store = new lib.ExperimentStore('e1', null, 'step', { sort: 'number', state: 'all', filter: '', metrics: [] });
  await store.fetchRows();
  answer = () => Promise.reject(new TypeError('no network'));
  await assert.rejects(store.fetchMore());
  assert.equal(store.more, true);
});

test('the first event of an experiment can be its end', () => {
  const e = (id, state) => ({ id, name: id, state, paused: null, tasks: { finished: 1, error: 0, total: 1 } });
  const items = lib.signal([]);
  mock.timers.enable({ apis: ['setInterval'] }); // its beat would keep this process alive
  lib.startStream();
  mock.timers.reset();
  lib.startTelling(() => items.value);
  items.value = [e('e1', 'running'), e('e2', 'finished')];
  const tell = (data) => {
    // The list has followed the event already.
    items.value = items.value.map((one) => (one.id === data.id ? data : one));
    PAGE.worker.port.onmessage({ data: { kind: 'event', name: 'experiment', data: JSON.stringify(data) } });
  };
  tell(e('e2', 'finished'));
  items.value = [...items.value, e('e3', 'running')];
  tell(e('e1', 'finished'));
  tell({ ...e('e3', 'running'), stalled: 2 });
  tell({ ...e('e3', 'running'), stalled: 1 });
  tell(e('e3', 'finished'));
  const text = 'Finished: 1 of 1 tasks finished.';
  assert.deepEqual(PAGE.Notification.shown, [`e1: ${text}`, 'e3: 2 tasks make no progress.', `e3: ${text}`]);
});

test('metrics that count different things share no row', () => {
  const points = (...list) => new Map(list);
  const val = points([1, 1], [2, 2], [3, 3]);
  const iterations = points([1, 1], [2, 1], [3, 2], [4, 2], [5, 3], [6, 3]);
  const both = new Map([
    ['loss', iterations],
    ['val', val],
  ]);
  assert.ok(lib.mixed(both));
  assert.ok(lib.haveEpochs(both));
  assert.deepEqual(
    lib.rowsOf(both).map((row) => [row.epoch, row.step, [...row.names].join()]),
    [1, 2, 3].flatMap((k) => [
      [k, 2 * k - 1, 'loss'],
      [k, 2 * k, 'loss'],
      [k, null, 'val'],
    ]),
  );
  // Lines of their own, each numbered by itself, as Hugging Face prints them.
  const half = points([1, 0.5], [2, 1], [3, 1.5], [4, 2]);
  assert.ok(lib.mixed(new Map(Object.entries({ loss: half, eval_loss: points([1, 1], [2, 2.5]) }))));
  // Without epochs for all there is no axis that they share.
  const bare = new Map(Object.entries({ val, loss: points([10, null], [20, null]) }));
  assert.ok(lib.mixed(bare) && !lib.haveEpochs(bare));
  // One count: by epochs, by iterations with some left out, without epochs, and a score at the end.
  for (const one of [
    { val, loss: val, score: points([1, null]) },
    { loss: iterations, val: points([2, 1], [4, 2], [6, 3]) },
    { a: points([1, null], [2, null]), b: points([1, null], [3, null]) },
  ]) {
    const all = new Map(Object.entries(one));
    assert.ok(!lib.mixed(all), Object.keys(one).join());
    assert.equal(new Set(lib.rowsOf(all).map((row) => row.step)).size, lib.rowsOf(all).length);
  }
});

// As the daemon: a run that was removed leaves a mean of the others, and one that is still to come leaves none.
test('a configuration leads by the runs that are left once none is to come', () => {
  const run = (number, net, value) => ({ number, state: 'finished', parameters: { net }, best: { value }, cost: {} });
  const tasks = [run(1, 'a', 0.6), run(2, 'a', 0.6), run(3, 'b', 0.4)];
  const best = (total) => {
    const e = { spec: { repeats: 2 }, tasks: { total } };
    return new lib.Pool(tasks, true, lib.runsOf(e, tasks.length)).best(false);
  };
  assert.deepEqual([best(4).parameters.net, best(4).repeats], ['a', 2]);
  assert.deepEqual([best(3).parameters.net, best(3).repeats], ['b', 1]);
});
