// The arithmetic behind the charts: smoothing, panels, fronts, interactions, lanes, brushes and merged curves.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import path from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const web = path.join(path.dirname(fileURLToPath(import.meta.url)), '../../web/');
const LIBS = [
  'lib/smooth',
  'lib/panels',
  'lib/front',
  'lib/interaction',
  'lib/lanes',
  'lib/near',
  'lib/alike',
  'lib/spread',
  'lib/label',
  'lib/csv',
  'lib/scale',
];
let lib;

before(async () => {
  const { build } = createRequire(web)('esbuild');
  const contents = [...LIBS, 'lib/axes', 'lib/columns', 'lib/format', 'lib/places', 'data/curves']
    .map((name) => `export * from './${name}';`)
    .join('\n');
  const out = await build({
    stdin: { contents, resolveDir: path.join(web, 'src'), loader: 'ts' },
    bundle: true,
    write: false,
    format: 'esm',
    logLevel: 'silent',
  });
  lib = await import(`data:text/javascript;base64,${Buffer.from(out.outputFiles[0].contents).toString('base64')}`);
});

const near = (a, b, by = 1e-9) => assert.ok(Math.abs(a - b) <= by, `${a} is not ${b}`);

test('smoothing keeps a constant, gaps and the mean of noise, and does not depend on how many points were kept', () => {
  const x = Array.from({ length: 101 }, (_, i) => i);
  for (const v of lib.smooth(
    x,
    x.map(() => 3),
    10,
  ))
    near(v, 3);
  assert.deepEqual(lib.smooth([0, 1, 2], [1, null, 1], 5), [1, null, 1]);
  assert.deepEqual(lib.smooth([0, 1, 2], [1, 2, 3], 0), [1, 2, 3]);
  const noisy = x.map((i) => (i % 2 ? 1 : -1));
  assert.ok(Math.abs(lib.smooth(x, noisy, 20).at(-1)) < 0.1);
  // A slope seen at every step and at every fifth: the same course.
  const every = lib.smooth(x, x, 10);
  const fifth = x.filter((i) => i % 5 === 0);
  const fewer = lib.smooth(fifth, fifth, 10);
  near(every[100], fewer.at(-1), 2.5);
});

test('train and validation share a panel, other metrics do not', () => {
  const panels = lib.panelsOf(['loss', 'val_loss', 'accuracy', 'train/accuracy', 'lr']);
  assert.deepEqual(panels, [
    { name: 'loss', metrics: ['val_loss', 'loss'] },
    { name: 'accuracy', metrics: ['accuracy', 'train/accuracy'] },
    { name: 'lr', metrics: ['lr'] },
  ]);
  // A name that is nothing but a role is a name.
  assert.deepEqual(
    lib.panelsOf(['val', 'test']).map((p) => p.name),
    ['val', 'test'],
  );
});

test('the hypervolume of two objectives is the area, for either goal, and it only grows', () => {
  const at = (n, ...values) => ({ n, values });
  const points = [at(1, 1, 3), at(2, 2, 2), at(3, 3, 1), at(4, 3, 3), at(5, 9, 0)];
  assert.equal(lib.hypervolume(points, ['min', 'min'], [4, 4]), 3 + 2 + 1);
  const turned = points.map((p) => ({ ...p, values: p.values.map((v) => -v) }));
  assert.equal(lib.hypervolume(turned, ['max', 'max'], [-4, -4]), 6);
  assert.equal(lib.hypervolume([at(1, 5, 5)], ['min', 'min'], [4, 4]), 0);
  const order = [points[3], points[1], points[0], points[2], points[4]];
  assert.deepEqual(lib.growth(order, ['min', 'min'], [4, 4]), [1, 4, 5, 6, 6]);
});

test('an interaction is what two parameters do beyond each alone', () => {
  const rows = [];
  for (const a of ['x', 'y'])
    for (const b of [1, 2, 3]) for (let k = 0; k < 6; k++) rows.push({ a, b, noise: ((k * 7) % 5) / 1000 });
  const share = (f) =>
    lib.interaction(
      rows.map((r) => r.a),
      rows.map((r) => r.b),
      rows.map((r) => f(r) + r.noise),
    );
  // Sums only: nothing.
  assert.ok(share((r) => (r.a === 'x' ? 1 : 2) + r.b) < 1e-6);
  // Only together: everything.
  assert.ok(share((r) => ((r.a === 'x') === (r.b === 1) ? 1 : 0)) > 0.6);
  // Noise alone is not called an interaction.
  assert.ok(share((r) => r.noise * 1000) < 0.2);
  assert.equal(lib.interaction(['x', 'y'], [1, 2], [1, 2]), null, 'too few results');
  assert.deepEqual(lib.ranks([5, 1, 5, 9]), [1.5, 0, 1.5, 3]);
});

test('an axis is logarithmic over a decade or more where that is asked for', () => {
  const log = (values, asked) => lib.spread(values, String, { log: asked }).log;
  assert.deepEqual(
    [log([0.96, 0.99], true), log([0.01, 0.1], true), log([1, 50]), log([1, 100]), log([1, 1000], false)],
    [false, true, false, true, false],
  );
});

test('a label stands where neither its own curve nor another label is', () => {
  const area = { left: 0, top: 0, right: 400, bottom: 200 };
  const line = [
    [0, 180],
    [200, 100],
    [400, 20],
  ];
  const put = (spot, taken = []) => lib.labelPlace(spot, 30, 1, area, line, taken);
  const clear = ([x, y]) =>
    line.every(
      (to, i) => !i || !lib.crosses(line[i - 1], to, { left: x - 33, right: x + 33, top: y - 11, bottom: y + 4 }),
    );
  for (const spot of line) assert.ok(clear(put(spot)), `at ${spot}: ${put(spot)}`);
  // On a level curve it is below.
  assert.deepEqual(
    lib.labelPlace(
      [200, 100],
      30,
      1,
      area,
      [
        [0, 100],
        [400, 100],
      ],
      [],
    ),
    [200, 118],
  );
  const taken = [];
  const [first, second] = [put([200, 100], taken), put([200, 100], taken)];
  assert.notDeepEqual(first, second);
});

test('attempts stand on the lanes of their GPUs, or on as few slots as they need; the rest is idle', () => {
  const t = (s) => new Date(s * 1000).toISOString();
  const attempt = (task, from, to, gpus = null, node = 'n1') => ({
    task,
    number: 1,
    state: to === null ? 'running' : 'finished',
    submitted: t(0),
    started: from === null ? null : t(from),
    finished: to === null ? null : t(to),
    node,
    gpus,
    job: null,
  });
  const slots = lib.lanesOf([attempt(1, 0, 10), attempt(2, 0, 4), attempt(3, 5, 10), attempt(4, null, null)], 0);
  assert.deepEqual(
    slots.lanes.map((lane) => [lane.name, lane.bars.map((b) => b.task), lane.busy_ms]),
    [
      ['n1 slot 1', [1], 10000],
      ['n1 slot 2', [2, 3], 9000],
    ],
  );
  near(slots.idle, 0.05);
  const gpus = lib.lanesOf([attempt(1, 0, 10, '0,1'), attempt(2, 5, null, '1')], 20000);
  assert.deepEqual(
    gpus.lanes.map((lane) => [lane.name, lane.busy_ms]),
    [
      ['n1 GPU 0', 10000],
      // Two tasks on one GPU at one time count once.
      ['n1 GPU 1', 20000],
    ],
  );
  near(gpus.idle, 0.25);
  assert.equal(lib.lanesOf([], 0).idle, null);
});

test('a brush in the address means the same values when the axis has grown', () => {
  const e = {
    varying: ['lr', 'opt'],
    parameters: [
      { name: 'lr', kind: 'range', min: 1e-4, max: 0.1, scale: 'log' },
      { name: 'opt', kind: 'choice', values: ['a', 'b'] },
    ],
    objective: [{ metric: 'loss', goal: 'min' }],
    step_name: 'epoch',
  };
  const task = (lr, opt, loss) => ({
    parameters: { lr, opt },
    best: loss === null ? null : { value: loss },
    epoch: 5,
    finished: 'now',
  });
  const few = [task(0.001, 'a', 0.5), task(0.01, 'b', 0.3), task(0.01, 'a', null)];
  const axes = lib.buildAxes(e, few);
  const place = (axis, v) => axis.place(v);
  const loss = axes.find((a) => a.key === 'loss');
  const brushes = { loss: [0, place(loss, few[1]) + 0.01], lr: [0.2, 0.8], opt: [0, 0.4] };
  const text = lib.writeBrushes(brushes, axes);
  const grown = lib.buildAxes(e, [...few, task(0.05, 'b', 9)]);
  const back = lib.readBrushes(text, grown);
  const kept = (t) => grown.every((a) => !back[a.key] || lib.keeps(a, t, ...back[a.key]));
  const only = (key, t) =>
    lib.keeps(
      grown.find((a) => a.key === key),
      t,
      ...back[key],
    );
  assert.ok(only('loss', few[1]) && !only('loss', few[0]), text);
  // A task without a value is not among "at most 0.3".
  assert.ok(!only('loss', few[2]));
  assert.ok(only('opt', few[0]) && !only('opt', few[1]));
  assert.ok(!kept(few[0]));
  assert.deepEqual({ ...lib.readBrushes('nothing:1~2;lr:x~y;;', axes) }, {});
});

test('the points of a zoomed stretch take the place of the thinned ones', () => {
  const infinite = new Map();
  const line = { step: [0, 10, 20, 30, 40], value: [1, 2, 3, 4, 5], x: [0, 10, 20, 30, 40], infinite };
  assert.deepEqual(lib.within(line, [12, 28]), [10, 30]);
  assert.equal(lib.within(line, [50, 60]), null);
  const detail = {
    step: [10, 15, 20, 25, 30],
    value: [2, null, 3, 9, 4],
    x: [10, 15, 20, 25, 30],
    infinite: new Map([[15, 'Infinity']]),
  };
  const merged = lib.merge(line, detail);
  assert.deepEqual(merged.step, [0, 10, 15, 20, 25, 30, 40]);
  assert.deepEqual(merged.value, [1, 2, null, 3, 9, 4, 5]);
  assert.equal(merged.infinite.get(15), 'Infinity');
  assert.deepEqual(lib.merge(line, { step: [], value: [], x: [], infinite }), line);
});

test('the most alike tasks: numbers by their declared range, labels as equal or not', () => {
  const e = {
    varying: ['lr', 'opt'],
    parameters: [
      { name: 'lr', kind: 'range', min: 1e-4, max: 1, scale: 'log' },
      { name: 'opt', kind: 'choice', values: ['a', 'b'] },
    ],
  };
  const task = (number, lr, opt) => ({ number, parameters: { lr, opt } });
  const others = [task(2, 0.1, 'a'), task(3, 0.0012, 'a'), task(4, 0.001, 'b')];
  assert.deepEqual(
    lib.nearest(e, task(1, 0.001, 'a'), others, 2).map((t) => t.number),
    [3, 2],
  );
});

test('cells of a CSV with commas, quotes and lines are quoted', () => {
  assert.equal(lib.toCsv([['a,b', 'say "x"', null, 1.5, 'two\nlines']]), '"a,b","say ""x""",,1.5,"two\nlines"\r\n');
});

test('results of a column have three significant digits each, or as many as tell them apart', () => {
  const of = (...values) => values.map(lib.alignedResults(values));
  assert.deepEqual(of(0.20221, 0.73712, 0.4), ['0.202', '0.737', '0.400']);
  assert.deepEqual(of(0.99312, 0.99351, 0.99401), ['0.99312', '0.99351', '0.99401']);
  assert.deepEqual(of(8, 12.0361, 11), ['8.00', '12.0', '11.0']);
  // Small ones are not rounded to the digits of the others.
  assert.deepEqual(of(0.0025, 0.31, 0.42, 0.6), ['0.00250', '0.310', '0.420', '0.600']);
  assert.deepEqual(of(3, 14, 200), ['3', '14', '200']);
  assert.deepEqual(of(1e-9, 0.5), ['1.00e-9', '0.500']);
  assert.deepEqual(of('NaN', 0.5), ['NaN', '0.500']);
  assert.equal(lib.threeDigits(19.2), '19.2');
  assert.equal(lib.threeDigits(8.0051), '8.01');
  assert.equal(lib.threeDigits(123456), '123,456');
  assert.equal(lib.threeDigits(0.00001234), '1.23e-5');
});

test('points of a column stand below each other, and what is not a plain number is left as it is', () => {
  const values = [0.0025, 0.31, 12, 'NaN', null];
  const text = lib.linedUp(values, (v) => (v === null ? null : String(v)));
  assert.deepEqual(values.map(text), ['0.0025', '0.31\u2007\u2007', '12\u2008\u2007\u2007\u2007\u2007', 'NaN', null]);
  assert.equal(text(0.12345), '0.12345', 'longer than any that was known');
});

test('what a partition has left: nodes that take nothing are not free, and what is not known is not counted', () => {
  const node = (state, more) => ({
    ...{ names: 'n', nodes: 1, state, partitions: 'a,b', reason: null, cpus: 8, cpus_busy: 2 },
    ...{ memory_bytes: 1, memory_busy_bytes: 0, gpus: 2, gpus_busy: 1, gpu_type: 'volta', ...more },
  });
  const groups = [node('mixed'), node('drained'), node('idle', { partitions: 'ab' })];
  assert.deepEqual(lib.leftIn(groups, 'b'), { cpus: 16, cpus_free: 6, gpus: 4, gpus_free: 1 });
  assert.equal(lib.leftIn(groups, 'c'), null);
  assert.equal(lib.leftIn([node('idle', { gpus_busy: null })], 'a').gpus_free, null);
});

test('a job for several partitions counts in each, and of a list that was cut there may be more', () => {
  const row = (partition) => ({ backend: 'slurm', partition, tasks: 2, expected_start: null });
  const use = { nodes: [], running: [row('a'), row('a,b'), row(null)], queued: [row('b,c')], running_total: 3 };
  const ours = (name, isDefault, total = 3) => {
    const { running, waiting, more } = lib.oursIn({ ...use, running_total: total }, 'slurm', {
      name,
      default: isDefault,
    });
    return [running, waiting, more];
  };
  assert.deepEqual(ours('a', true), [3, 0, false]);
  assert.deepEqual(ours('b', false), [1, 2, false]);
  assert.deepEqual(ours('c', false, 4), [0, 2, true]);
});

test('an axis around zero has a zero, not a minus zero', () => {
  assert.ok(Object.is(lib.multiples(1, -0.5, 0.5)[0], 0));
  assert.deepEqual(lib.multiples(5, -7, 11), [-5, 0, 5, 10]);
  assert.equal(lib.count(lib.multiples(1, -0.5, 0.5)[0]), '0');
});

test('an axis has the declared scale and bounds, and ticks of whole numbers are whole', () => {
  const range = (name, more) => ({ name, kind: 'range', values: null, scale: 'linear', ...more });
  const e = {
    parameters: [
      range('lr', { min: 1e-3, max: 5e-3, scale: 'log' }),
      range('wide', { min: 1, max: 1e6 }),
      range('depth', { min: 1, max: 4, integer: true }),
      { name: 'kind', kind: 'choice', values: [1, 2] },
    ],
  };
  const axis = (name, values) => lib.spread(values, String, lib.declared(e, name));
  // Four tenths of a decade is too little to guess that it is logarithmic.
  const lr = axis('lr', [2e-3, 3e-3]);
  assert.equal(lr.log, true);
  near(lr.place(Math.sqrt(1e-3 * 5e-3)), 0.5);
  assert.ok(lr.place(1e-3) > 0 && lr.place(5e-3) < 1, 'both bounds are on the axis');
  assert.equal(axis('wide', [1, 1e6]).log, false);
  assert.deepEqual(
    axis('depth', [1, 4]).ticks.map((t) => t.text),
    ['1', '2', '3', '4'],
  );
  near(axis('kind', [1, 2]).step, 0.5);
  const places = Array.from({ length: 500 }, (_, i) => lib.aside(i + 1));
  assert.ok(Math.min(...places) >= -1 && Math.max(...places) <= 1);
  assert.ok(new Set(places.map((p) => Math.floor(p * 5))).size === 10, 'spread over all of the step');
});

test('a brush over whole numbers says and keeps whole numbers', () => {
  const e = {
    varying: ['depth'],
    objective: [{ metric: 'loss', goal: 'min' }],
    parameters: [{ name: 'depth', kind: 'range', min: 1, max: 12, scale: 'linear', integer: true }],
  };
  const tasks = [6, 7, 9, 10].map((depth, i) => ({ number: i + 1, parameters: { depth }, epoch: null, best: null }));
  const [axis] = lib.buildAxes(e, tasks);
  assert.deepEqual(
    axis.ticks.filter((t) => !/^\d+$/.test(t.text)),
    [],
  );
  const at = (v) => (v - 1) / 11;
  assert.equal(axis.words(at(6.573), at(9.336)), 'depth 7 to 9');
  assert.equal(axis.words(at(6.6), at(7.2)), 'depth 7');
  assert.equal(axis.words(at(7.2), at(7.8)), 'depth none');
  assert.equal(axis.write(at(6.573), at(9.336)), '7~9');
  const [low, high] = axis.read('7~9');
  assert.deepEqual(
    tasks.filter((t) => lib.keeps(axis, t, low, high)).map((t) => t.parameters.depth),
    [7, 9],
  );
});

test('texts that differ in numbers only are alike, and say what they have in common', () => {
  const texts = ['loss diverged with lr=0.1 at 0x7f00', 'loss diverged with lr=5.2e-05 at 0x7fff'];
  assert.equal(lib.shapeOf(texts[0]), lib.shapeOf(texts[1]));
  assert.notEqual(lib.shapeOf('step 1 failed'), lib.shapeOf('step 1 was killed'));
  assert.equal(lib.inCommon(texts), 'loss diverged with lr=… at …');
  assert.equal(lib.inCommon(['[Errno 2] data-1.csv', '[Errno 2] data-77.csv']), '[Errno 2] data-….csv');
  assert.equal(lib.inCommon(['none']), 'none');
  assert.equal(lib.piece('loss diverged with lr=… at …'), 'loss diverged with lr=');
  assert.equal(lib.piece('KeyError: "…"'), 'KeyError:');
});
