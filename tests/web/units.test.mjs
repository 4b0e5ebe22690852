// The parts without a page: numbers as people read them, the order of rows, filters, the experiment file of the form,
// and cleaned logs.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import path from 'node:path';
import { before, mock, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const web = path.join(path.dirname(fileURLToPath(import.meta.url)), '../../web/');
let format;
let text;
let columns;
let order;
let tree;
let typed;
let larger;
let scale;
let hub;
let axes;
let events;
let problems;
let running;

// The parts of the form that share the YAML library are one bundle.
const TREE = ['data/tree', 'data/rows', 'data/objectives', 'data/fill', 'data/yaml'];

async function load(file) {
  const { build } = createRequire(web)('esbuild');
  const whole = Array.isArray(file) && file.map((name) => `export * from './${name}';`).join('\n');
  const out = await build({
    ...(whole
      ? { stdin: { contents: whole, resolveDir: path.join(web, 'src'), loader: 'ts' } }
      : { entryPoints: [path.join(web, 'src', file)] }),
    bundle: true,
    write: false,
    format: 'esm',
    logLevel: 'silent',
  });
  return import(`data:text/javascript;base64,${Buffer.from(out.outputFiles[0].contents).toString('base64')}`);
}

before(async () => {
  format = await load('lib/format.ts');
  text = await load('lib/text.ts');
  columns = await load('lib/columns.ts');
  order = await load('lib/order.ts');
  tree = await load(TREE);
  tree.useYaml(createRequire(web)('yaml'));
  typed = await load('data/typed.ts');
  larger = await load('data/larger.ts');
  scale = await load('lib/scale.ts');
  hub = await load('data/hub.ts');
  axes = await load('lib/axes.ts');
  events = await load('data/events.ts');
  problems = await load('components/problems.ts');
  running = await load('components/cluster/Running.tsx');
});

const task = (number, more) => ({
  number,
  state: 'finished',
  started: 'x',
  parameters: {},
  best: null,
  epoch: null,
  elapsed_s: null,
  cause: null,
  node: null,
  job: null,
  cost: { energy_j: null },
  ...more,
});

test('another subcommand keeps what was typed, and offers what may belong to it', () => {
  const argument = (name, command, more) => ({
    name,
    flag: `--${name}`,
    default: 1,
    choices: null,
    several: false,
    required: false,
    place: 0,
    before: false,
    command,
    ...more,
  });
  const own = [argument('lr', 'train'), argument('ckpt', 'eval'), argument('workers', null)];
  const args = [...own, argument('debug', null, { before: true })];
  const found = { arguments: args, commands: ['train', 'eval'], pass: 'flags', metric: null };
  const names = (command) => tree.argumentsOf(found, command).map((one) => one.name);
  assert.deepEqual(
    [names('train'), names('later'), names('')],
    [['lr', 'workers'], ['workers'], args.map((a) => a.name)],
  );

  const { parseDocument } = createRequire(web)('yaml');
  const doc = parseDocument('script: t.py');
  const rows = () => tree.rowsOf(doc).map((row) => `${row.name}=${row.values}`);
  tree.fillTree(doc, found, false);
  assert.deepEqual([doc.get('subcommand'), rows()], ['train', ['lr=1', 'workers=1']]);
  // Nothing was typed into these rows.
  doc.set('subcommand', 'eval');
  tree.fillTree(doc, found, true);
  assert.deepEqual(rows(), ['ckpt=1', 'workers=1']);
  tree.put(doc, ['parameters', 'ckpt'], tree.valueNode('5'));
  tree.addRow(doc, 'mine', tree.listOf('7,8'));
  doc.set('subcommand', 'train');
  tree.fillTree(doc, found, true);
  assert.deepEqual(rows(), ['lr=1', 'workers=1', 'ckpt=5', 'mine=7,8']);
  // One that was not found stays, too.
  doc.set('subcommand', 'later now');
  tree.fillTree(doc, found, true);
  assert.deepEqual([doc.get('subcommand'), rows()], ['later now', ['workers=1', 'ckpt=5', 'mine=7,8']]);
});

test('twice as much memory or time, in words and as the daemon reads it', () => {
  const failed = (kind, asked, more) => ({
    ...task(1, { state: 'error', cause: { kind } }),
    attempts: [{ asked }],
    ...more,
  });
  const GB = 2 ** 30;
  assert.deepEqual(larger.largerFor(failed('memory', { memory_bytes: 16 * GB })), {
    label: '32 GB',
    resources: { memory: '32G' },
  });
  assert.deepEqual(larger.largerFor(failed('memory', { memory_bytes: 200 * 2 ** 20 })).resources, { memory: '400M' });
  assert.deepEqual(larger.largerFor(failed('time', { time_s: 5400 })).resources, { time: '3h' });
  assert.deepEqual(larger.largerFor(failed('time', { time_s: 100 })).resources, { time: '4m' });
  assert.equal(larger.largerFor(failed('exit', { memory_bytes: GB })), null);
  assert.equal(larger.largerFor(failed('time', { time_s: null })), null);
  // Nothing was asked for: what it used is known.
  const used = failed('memory', { memory_bytes: null }, { cost: { max_rss_bytes: 3 * GB } });
  assert.deepEqual(larger.largerFor(used).resources, { memory: '6G' });
  const e = {
    spec: { resources: { memory: '8G', time: '1h30m' }, retry: { memory: { times: 2, factor: 2 } } },
  };
  assert.deepEqual(larger.largerForAll(e, 'memory').resources, { memory: '64G' });
  assert.deepEqual(larger.largerForAll(e, 'time').resources, { time: '3h' });
  for (const [text, value] of [
    ['02:30:00', 9000],
    ['1-00:00:00', 86400],
    ['90s', 90],
    ['much', null],
    [undefined, null],
  ])
    assert.equal(larger.readSeconds(text), value);
  for (const [text, value] of [
    ['512M', 2 ** 29],
    ['1.5 GB', 1.5 * GB],
    ['7', null],
    [undefined, null],
  ])
    assert.equal(larger.readBytes(text), value);
});

test('metrics have three significant digits and say NaN', () => {
  assert.equal(format.metric(0.31751), '0.318');
  assert.equal(format.metric(0.0025), '0.00250');
  assert.equal(format.metric(-12.345), '-12.3');
  assert.equal(format.metric(0.5), '0.500');
  assert.equal(format.metric(12345), '12,345');
  assert.equal(format.metric(1234.56), '1,235');
  assert.equal(format.metric(0), '0');
  assert.equal(format.metric(5.07512e-10), '5.08e-10');
  assert.equal(format.metric(1.5e9), '1.50e9');
  assert.equal(format.reading(0.317512345), '0.31751');
  assert.equal(format.reading('NaN'), 'NaN');
  assert.equal(format.inFull(0.317512345), '0.317512345');
  assert.equal(format.metric('NaN'), 'NaN');
  assert.equal(format.metric('-Infinity'), '-∞');
  assert.equal(format.metric(null), '–');
});

test('parameters, durations, energy and sizes', () => {
  assert.equal(format.param(0.0001), '1e-4');
  assert.equal(format.param(0.25), '0.25');
  assert.equal(format.param(true), 'true');
  assert.equal(format.param(0.0125), '0.0125');
  assert.equal(format.param(0.0032018177), '0.00320');
  assert.equal(format.param(0.00003661234), '3.66e-5');
  assert.equal(format.param(1000), '1000');
  assert.deepEqual(format.params([0.013261, 0.013262, 'a', 'a']), ['0.013261', '0.013262', 'a', 'a']);
  assert.deepEqual(format.params([0.1111111, 0.2222222]), ['0.111', '0.222']);
  assert.equal(format.duration(5.25), '5.3 s');
  assert.equal(format.duration(3.851), '3.9 s');
  assert.equal(format.duration(9.97), '10 s');
  assert.equal(format.duration(1513), '25 m 13 s');
  assert.equal(format.duration(16800), '4 h 40 m');
  assert.equal(format.duration(90000), '1 d 1 h');
  assert.equal(format.energy(null), 'not measured');
  assert.equal(format.energy(3600 * 103), '103 Wh');
  assert.equal(format.bytes(4213), '4.1 kB');
  assert.equal(format.bytes(1073700000), '1.0 GB');
  assert.equal(format.gpuTime(40), '40 s GPU');
  assert.equal(format.gpuTime(66240), '18.4 GPU-h');
});

test('a figure is shown in its unit, also one that this page does not know', () => {
  const cost = { wall_s: 1513, max_rss_bytes: 4213, energy_j: null, hologram_w: 231.5 };
  const text = (key, unit) => format.figureText(cost, { key, unit, label: key, source: '' });
  assert.equal(text('wall_s', 's'), '25 m 13 s');
  assert.equal(text('max_rss_bytes', 'B'), '4.1 kB');
  assert.equal(text('energy_j', 'J'), 'not measured');
  assert.equal(text('hologram_w', 'W'), '232 W');
  assert.equal(text('not_there', 'W'), 'not measured');
});

test('rows without a value come last both ways, and what failed counts with what it reached', () => {
  const rows = [
    task(1, { best: { value: 0.5 } }),
    task(2, { state: 'submitted', started: null }),
    task(3, { state: 'error', best: { value: 0.1 } }),
    task(4, { best: { value: 0.2 } }),
    task(5, { best: { value: 'NaN' } }),
  ];
  assert.deepEqual(
    order.order(rows, 'best').map((t) => t.number),
    [3, 4, 1, 5, 2],
  );
  assert.deepEqual(
    order.order(rows, '-best').map((t) => t.number),
    [1, 4, 3, 5, 2],
  );
});

test('a long name loses its middle, so that names with one beginning stay apart', () => {
  assert.equal(text.shortened('a_parameter_number_11', 11), 'a_par…er_11');
  assert.equal(text.shortened('short', 11), 'short');
});

test('a column is written one way, so that its digits stand below each other', () => {
  const texts = (values) => values.map(columns.aligned(values));
  assert.deepEqual(texts([0.080591, 0.26084, 0.4051]), ['0.0806', '0.261', '0.405']);
  assert.deepEqual(texts([0.080591, 0.0000214, 0.4051]), ['8.06e-2', '2.14e-5', '0.405']);
  assert.deepEqual(texts([64, 32, 128]), ['64', '32', '128']);
  assert.deepEqual(texts([0.1, 0.01, 0.001]), ['0.1', '0.01', '1e-3']);
  assert.deepEqual(texts(['adam', undefined, true]), ['adam', null, 'true']);
});

test('the best of the tasks is what the daemon counts: the first of equals, whatever its state', () => {
  const tasks = [
    task(1, { best: { value: 0.4 } }),
    task(2, { best: { value: 0.2 }, state: 'error' }),
    task(3, { best: { value: 0.2 } }),
    task(4, { best: { value: 'NaN' } }),
  ];
  assert.equal(order.bestOf(tasks, false).number, 2);
  assert.equal(order.bestOf(tasks, true).number, 1);
  assert.equal(order.bestOf([tasks[3]], true), null);
});

test('a range is drawn with its declared bounds from the first task on', () => {
  const lr = { name: 'lr', kind: 'range', min: 1e-5, max: 0.1, scale: 'log', values: null };
  const e = { varying: ['lr'], parameters: [lr], objective: [{ metric: 'loss', goal: 'min' }], step_name: 'epoch' };
  const at = (value) => task(1, { parameters: { lr: value }, best: null });
  const first = axes.buildAxes(e, [at(1e-3)])[0];
  const later = axes.buildAxes(e, [at(1e-3), at(1e-4), at(0.02)])[0];
  assert.deepEqual(first.ticks, later.ticks);
  assert.ok(Math.abs(first.place(at(1e-3)) - 0.5) < 1e-9);
});

test('a brush keeps what its words say: tasks without a value only where they say none or any', () => {
  const e = { varying: [], parameters: [], objective: [{ metric: 'loss', goal: 'min' }], step_name: 'epoch' };
  const tasks = [1, 2, 3].map((n) => task(n, { best: { value: n / 10 }, finished: 'x', parameters: {} }));
  const failed = task(4, { best: null, finished: 'x', state: 'error', parameters: {} });
  const axis = axes.buildAxes(e, [...tasks, failed]).at(-1);
  const kept = (low, high) => [...tasks, failed].filter((t) => axes.keeps(axis, t, low, high)).map((t) => t.number);
  assert.match(axis.words(0, 0.7), /≤/);
  assert.deepEqual(kept(0, 0.7), [1, 2]);
  assert.match(axis.words(0, 0.08), /none/);
  assert.deepEqual(kept(0, 0.08), [4]);
  assert.match(axis.words(0, 1), /any/);
  assert.deepEqual(kept(0, 1), [1, 2, 3, 4]);
});

test('lists are read as people type them', () => {
  assert.deepEqual(typed.listValues('64, 32,16,'), [64, 32, 16]);
  assert.deepEqual(typed.listValues('adam,sgd,"1",true,1e-3,.5'), ['adam', 'sgd', '1', true, 0.001, 0.5]);
  assert.deepEqual(typed.listValues(''), []);
  assert.equal(typed.scalar('no'), 'no');
});

test('what no number holds as it is typed stays a text', () => {
  const texts = ['007', '-01', '1e400', '1e-400', '9007199254740993', '12345678901234567890'];
  assert.deepEqual(texts.map(typed.scalar), texts);
  assert.deepEqual(typed.listValues('0,10,0.5,00.5,1e20,1e308'), [0, 10, 0.5, 0.5, 1e20, 1e308]);
  const { doc } = tree.readTree('parameters: {a: [007, 1e400], b: 12345678901234567890}\n');
  tree.put(doc, ['parameters', 'c'], tree.valueNode('[08, 7]'));
  assert.equal(tree.printTree(doc).trim(), 'parameters: {a: ["007", "1e400"], b: 12345678901234567890, c: ["08", 7]}');
});

// Every key of the file, as its author wrote it.
const FILE = `# the first try
name: x # short
script: m.py
parameters:
  opt: [adam, "1", "a,b"]
  # real numbers, though the ends are whole
  m: {min: 1.0, max: 10.0, scale: log, when: {opt: [adam, "1"]}}
  n: 3
  big: 12345678901234567890
  sizes: [[64, 64], [8]]
  k: {min: 1, max: 9, type: int, default: 3}
  c: {values: [1, 2], when: {n: 3}}
objective:
  - {metric: acc, goal: max, take: last}
  - latency
prune: median
retry: {lost: 3, memory: {times: 2, factor: 2}}
stop: {when: "acc > 0.9", wall: 12h}
`;

test('a file that the form edits keeps its comments, its numbers and every other key', () => {
  const { doc } = tree.readTree(FILE);
  assert.equal(tree.printTree(doc), FILE);
  const row = (name) => tree.rowsOf(doc).find((one) => one.name === name);
  assert.deepEqual(
    tree.rowsOf(doc).map(({ name, kind, values, min, max, when }) => [name, kind, values || `${min}..${max}`, when]),
    [
      ['opt', 'list', 'adam,"1","a,b"', ''],
      ['m', 'range', '1.0..10.0', 'opt=adam,"1"'],
      ['n', 'fixed', '3', ''],
      ['big', 'fixed', '12345678901234567890', ''],
      ['sizes', 'list', '[64, 64],[8]', ''],
      ['k', 'range', '1..9', ''],
      ['c', 'list', '1,2', 'n=3'],
    ],
  );
  for (const name of ['opt', 'n', 'big', 'sizes', 'c']) {
    const { pair, kind, values } = row(name);
    tree.setValues(pair, kind, values);
  }
  for (const part of ['min', 'max']) tree.setPart(row('m').pair, part, row('m')[part]);
  for (const name of ['m', 'c']) tree.setWhen(row(name).pair, tree.whenNode(row(name).when));
  assert.equal(tree.printTree(doc), FILE, 'typing what is there changes nothing');
  tree.put(doc, ['search', 'tasks'], tree.valueNode('9'));
  tree.setObjective(doc, ['objective', 1], 'goal', tree.textNode('min'));
  tree.setPart(row('m').pair, 'max', '1e2');
  const expected = FILE.replace('objective:', 'search:\n  tasks: 9\nobjective:')
    .replace('- latency', '- {metric: latency, goal: min}')
    .replace('max: 10.0', 'max: 1e+2');
  assert.equal(tree.printTree(doc), expected);
});

test('doubled, nameless and empty rows are named; a row in which nothing is typed is no part of the file', () => {
  const one = tree.readTree('parameters: {lr: 0.1}\n').doc;
  tree.setKind(tree.rowsOf(one)[0], 'range');
  assert.deepEqual([tree.rowsOf(one)[0].min, tree.rowsOf(one)[0].max], ['0.1', '']); // the value is not lost
  const { doc } = tree.readTree('parameters: {a: 1}\n');
  tree.addRow(doc);
  assert.equal(tree.printTree(doc), 'parameters:\n  a: 1\n');
  const found = () => tree.rowProblems(tree.rowsOf(doc), tree.printTree(doc));
  assert.deepEqual(found(), []);
  tree.addRow(doc, 'a', tree.valueNode('2'));
  tree.addRow(doc, '', tree.listOf('1,2'));
  tree.addRow(doc, 'b');
  assert.deepEqual(
    found().map((error) => [error.message, error.line]),
    [
      ['a is there twice', 3],
      ['the parameter has no name', 4],
      ['b has no value', 5],
    ],
  );
});

test('a file of JSON becomes YAML as people write it, with its numbers as they are', () => {
  const { doc } = tree.readTree('{"script": "m.py", "parameters": {"lr": {"min": 1.0, "max": 9.0}, "n": [1, 2]}}');
  tree.restyle(doc.contents);
  assert.equal(tree.printTree(doc), 'script: m.py\nparameters:\n  lr: {min: 1.0, max: 9.0}\n  n: [1, 2]\n');
});

test('logs lose terminal codes and keep the last state of a progress bar', () => {
  assert.equal(text.cleanLine('\u001b[1;31mred\u001b[0m'), 'red');
  assert.equal(text.cleanLine(' 1/9\r 5/9\r9/9 done'), '9/9 done');
  assert.equal(text.cleanLine('abc\b\bX'), 'aX');
  assert.equal(text.cleanLine('\u001b]0;title\u0007text'), 'text');
  assert.match(text.cleanLine('x'.repeat(1e6)), /1,000,000 characters/);
});

test('the exception itself is quoted, not the last line', () => {
  const tail =
    'Traceback (most recent call last):\n  File "m.py", line 1\nkeras.errors.ValueError: bad\nsrun: error: n1: task 0\n';
  assert.equal(text.quote(tail), 'keras.errors.ValueError: bad');
  assert.equal(text.brief(tail), 'ValueError: bad');
  assert.equal(text.quote('Killed\n'), 'Killed');
  assert.equal(text.quote(null), null);
});

test('logarithmic ticks are numbers people write', () => {
  assert.deepEqual(scale.niceLog(0.29, 1.6), [0.3, 0.4, 0.5, 0.7, 1, 1.5]);
  assert.deepEqual(scale.niceLog(0.009, 120), [0.01, 0.1, 1, 10, 100]);
  assert.ok(scale.niceLog(1e-9, 1e9).length <= 8);
  assert.ok(scale.niceLog(0.501, 0.502).length >= 2);
});

// Stands in for the stream and remembers what was opened and closed.
class Source {
  static all = [];
  constructor(url, secret, sink) {
    Object.assign(this, { url, secret, sink, closed: false });
    Source.all.push(this);
  }
}

function withHub(run) {
  mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'] });
  Source.all = [];
  try {
    run(
      new hub.Hub((url, secret, sink) => {
        const source = new Source(url, secret, sink);
        return () => {
          source.closed = true;
        };
      }),
    );
  } finally {
    mock.timers.reset();
  }
}

const looked = (session = 's1') => ({ kind: 'visible', session, since: '' });

test('the stream is let go when no tab is looked at, and resumes after the last event', () =>
  withHub((h) => {
    const got = [];
    const say = h.join((message) => got.push(message.kind));
    assert.equal(Source.all.length, 0, 'nothing is asked for before a page has brought the session');
    say(looked());
    const first = Source.all[0];
    assert.equal(first.secret, 's1');
    first.sink.open();
    first.sink.event('task', '{}', 'b1-7');
    assert.deepEqual(got, ['open', 'event']);
    say({ kind: 'hidden' });
    mock.timers.tick(5000);
    assert.ok(!first.closed, 'a short look at another tab keeps it');
    mock.timers.tick(10000);
    assert.ok(first.closed);
    say(looked());
    assert.equal(Source.all[1].url, '/api/v1/events?last=b1-7');
  }));

test('a page that has signed in again gets a stream with the new secret', () =>
  withHub((h) => {
    const say = h.join(() => undefined);
    say(looked('old'));
    Source.all[0].sink.end();
    say(looked('new'));
    say(looked('new'));
    assert.deepEqual(
      Source.all.map((source) => source.secret),
      ['old', 'new'],
    );
  }));

test('a failed stream backs off, and says when it tries again', () =>
  withHub((h) => {
    const waits = [];
    const say = h.join((message) => {
      if (message.kind === 'down') waits.push(message.retry_ms);
    });
    say(looked());
    for (let i = 0; i < 6; i++) {
      Source.all[Source.all.length - 1].sink.end();
      say(looked());
      mock.timers.tick(waits[waits.length - 1]);
    }
    assert.deepEqual(waits, [1000, 2000, 4000, 8000, 15000, 15000]);
  }));

test('a tab that crashed without a word does not keep the stream open', () =>
  withHub((h) => {
    h.join(() => undefined)(looked());
    mock.timers.tick(70000);
    assert.ok(Source.all[0].closed);
  }));

test('events are whole, wherever the stream is cut', () => {
  const stream =
    'retry: 1000\nid: b1-0\n\n: ping\n\nid: b1-1\nevent: task\ndata: {"a": "x: y"}\n\nid: b1-2\r\nevent: log\r\ndata: 1\r\ndata:2\r\n\r\nevent: reset\ndata: {}\n\ndata: cut';
  for (let size = 1; size < stream.length; size++) {
    const got = [];
    const read = events.eventReader((...event) => got.push(event));
    for (let i = 0; i < stream.length; i += size) read(stream.slice(i, i + size));
    assert.deepEqual(got, [
      ['task', '{"a": "x: y"}', 'b1-1'],
      ['log', '1\n2', 'b1-2'],
      ['reset', '{}', 'b1-2'],
    ]);
  }
});

test('an axis that tells nothing is left out, and "none" is a rung only where a task ended without a value', () => {
  const e = {
    varying: ['lr'],
    parameters: [{ name: 'lr', kind: 'choice', values: [1, 2] }],
    objective: [{ metric: 'loss', goal: 'min' }],
    step_name: 'epoch',
  };
  const run = (number, more) =>
    task(number, { parameters: { lr: number }, finished: 'x', epoch: 40, best: { value: number, epoch: 1 }, ...more });
  const look = (tasks) => axes.buildAxes(e, tasks).map((a) => [a.label, a.ticks.some((t) => t.text === 'none')]);
  assert.deepEqual(look([run(1), run(2)]), [
    ['lr', false],
    ['loss', false],
  ]);
  assert.deepEqual(look([run(1), run(2, { epoch: 12 })]), [
    ['lr', false],
    ['epochs run', false],
    ['loss', false],
  ]);
  assert.deepEqual(look([run(1), run(2, { state: 'error', best: null })]), [
    ['lr', false],
    ['loss', true],
  ]);
  assert.deepEqual(look([run(1), run(2, { state: 'running', finished: null, best: null })]), [
    ['lr', false],
    ['loss', false],
  ]);
});

test('each form has errors of its own, and what no field shows is left over', () => {
  const form = new problems.Problems();
  const dialog = new problems.Problems();
  form.all.value = [
    { field: '/search/tasks', message: 'a' },
    { field: '/search', message: 'b' },
    { field: '/searching', message: 'c' },
  ];
  assert.deepEqual(dialog.all.value, []);
  const said = (list) => list.map((error) => error.message).join('');
  const hideTasks = form.show(['/search/tasks']);
  assert.equal(said(form.rest.value), 'bc');
  // The field and the list of its errors both say that they show the place; one of them may leave first.
  const hideAgain = form.show(['/search/tasks', '/search']);
  assert.equal(said(form.rest.value), 'c');
  assert.equal(said(form.at(['/search'])), 'ab');
  hideTasks();
  assert.equal(said(form.rest.value), 'c');
  hideAgain();
  assert.equal(said(form.rest.value), 'abc');
  dialog.take(new Error('no connection'));
  assert.equal(problems.sentence(dialog.rest.value[0]), 'no connection.');
  assert.equal(form.all.value.length, 3);
  const wrong = { field: '/search/tasks', message: "'tasks' must be a number", line: 3, remedy: 'write 60' };
  assert.equal(problems.sentence(wrong), "'tasks' must be a number. Write 60.");
  assert.equal(problems.sentence(wrong, 'Tasks at most'), 'Tasks at most must be a number. Write 60.');
  assert.equal(problems.lineOf(wrong), 'line 3: ');
  assert.equal(format.capitalize(''), '');
  assert.equal(format.capitalize('no objective is set'), 'No objective is set');
  assert.equal(format.capitalize('filter, character 3: it ends'), 'Filter, character 3: it ends');
  // Names stay as they are.
  for (const text of [
    'nan.py reads no arguments',
    'batch_size is missing',
    'e12 waits',
    'model-x.py: missing',
    "'a' is",
  ])
    assert.equal(format.capitalize(text), text);
});

test('a GPU of this machine has the tasks that name it, also as a slice of a card', () => {
  const use = (util_pct) => ({ util_pct, memory_bytes: null, power_w: null });
  const tasks = [
    { task: 'e1/1', gpus: 'MIG-a,MIG-b', use: { gpus: [use(10), use(20)] } },
    { task: 'e1/2', gpus: '1', use: null },
    { task: 'e1/3', gpus: null, use: null },
  ];
  const users = (id) => running.gpuUsers(tasks, id).map(({ task, words }) => [task.task, words]);
  assert.deepEqual(users('MIG-b'), [['e1/1', '20 %']]);
  assert.deepEqual(users('1'), [['e1/2', '']]);
  assert.deepEqual(users('0'), []);
});
