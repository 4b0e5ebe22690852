// Axes of the charts against the real daemon: what exists is offered, everything is inside its card, and tasks of one
// place lie beside each other. SLUICE_BIN names the program.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { audit, drawn, launch, open } from './browser.mjs';
import { Daemon, skip } from './daemon.mjs';

// Steps only; nothing counts epochs.
const SCRIPT = `import sys
args = dict(a.lstrip('-').split('=') for a in sys.argv[1:] if '=' in a)
for i in range(1, 6):
    print('step=%d val_loss=%.4f' % (i, float(args['lr']) + int(args['layers']) / i))
`;
const RANGES = {
  lr: { min: 1e-5, max: 0.1, scale: 'log' },
  layers: [2, 3],
  depth: { min: 1, max: 12 },
  optimizer: ['adam', 'sgd'],
  batch_size_of_training: [16, 32, 64],
};

let daemon;
let browser;
let seat;
let api;
let steps;
let big;

async function finished(id, count) {
  while ((await api('GET', `/experiments/${id}`)).tasks.finished < count) await new Promise((r) => setTimeout(r, 100));
}

before(async () => {
  if (skip) return;
  daemon = await Daemon.start();
  browser = await launch();
  api = (...call) => daemon.api(...call);
  const objective = { metric: 'val_loss', goal: 'min' };
  const experiment = {
    name: 'steps',
    script: 's.py',
    parameters: RANGES,
    objective,
    search: { strategy: 'random', tasks: 24, seed: 3 },
    resources: { backend: 'local' },
  };
  steps = (await api('POST', '/experiments', { experiment, files: [{ path: 's.py', text: SCRIPT }] })).id;
  big = (
    await api('POST', '/experiments', {
      experiment: {
        name: 'one value each',
        resources: { backend: 'external' },
        objective,
        parameters: { lr: RANGES.lr, optimizer: RANGES.optimizer },
        search: { strategy: 'random', tasks: 1 },
      },
    })
  ).id;
  const rows = Array.from({ length: 200 }, (_, i) => ({
    parameters: { lr: 10 ** (-5 + (4 * i) / 200), optimizer: i % 2 ? 'sgd' : 'adam' },
    values: { val_loss: 0.2 + ((i * 37) % 200) / 200 },
  }));
  await api('POST', `/experiments/${big}/import`, { rows });
  await finished(big, 200);
  await finished(steps, 24);
  seat = await open(browser, await daemon.login());
  await seat.page.getByText('Live').waitFor();
});

after(async () => {
  if (skip) return;
  await browser.close();
  await daemon.stop();
});

async function visit(id, search = '') {
  await seat.page.goto(`${daemon.url}/e/${id}${search}`);
  await seat.page.locator('#importance').waitFor();
  await seat.page.locator('.plot canvas').first().waitFor();
  await seat.page.locator('svg.parallel path').first().waitFor();
  await drawn(seat.page);
}

test('an axis that no point has is not offered, and an address that names it shows the steps', { skip }, async () => {
  const { page } = seat;
  const axes = page.getByRole('group', { name: 'Horizontal axis' });
  await visit(steps);
  assert.deepEqual(await axes.getByRole('button').allTextContents(), ['Step', 'Time']);
  await visit(steps, '?x=epoch');
  await page.getByRole('img', { name: /^val_loss for 24 tasks by step/ }).waitFor();
  assert.equal(await axes.getByRole('button', { name: 'Step', pressed: true }).count(), 1);
  await page.goto(`${daemon.url}/e/${steps}/1?x=epoch`);
  await page
    .getByRole('img', { name: /val_loss.*step/ })
    .first()
    .waitFor();
  assert.equal(await axes.getByRole('button', { name: 'Epoch' }).count(), 0);
  await page.goto(`${daemon.url}/e/${steps}/compare?tasks=1,2&x=epoch`);
  await page
    .getByRole('img', { name: /val_loss/ })
    .first()
    .waitFor();
  assert.equal(await axes.getByRole('button', { name: 'Epoch' }).count(), 0);
  // Imported results have no time either.
  await visit(big);
  assert.equal(await axes.count(), 0);
  assert.deepEqual(seat.troubles, []);
});

test('all parallel axes are inside their card, with whole numbers and names in full on hover', { skip }, async () => {
  const { page } = seat;
  for (const width of [1440, 1280]) {
    await page.setViewportSize({ width, height: width === 1280 ? 800 : 900 });
    await visit(steps);
    const card = await page.locator('section.card', { has: page.locator('#parallel') }).boundingBox();
    const texts = await page
      .locator('svg.parallel text')
      .evaluateAll((all) =>
        all.map((one) => ({ text: one.lastChild.textContent, right: one.getBoundingClientRect().right })),
      );
    const outside = texts.filter(({ right }) => right > card.x + card.width);
    assert.deepEqual(outside, [], `at ${width}`);
    assert.ok(texts.some(({ text }) => text === 'val_loss'));
    const titles = await page.locator('svg.parallel text.name title').allTextContents();
    assert.ok(titles.includes('batch_size_of_training'), titles.join());
    const boxes = await page.locator('svg.parallel text.name').evaluateAll((all) =>
      all.map((one) => {
        const { left, right, top, bottom } = one.getBoundingClientRect();
        return { left, right, top, bottom };
      }),
    );
    const crossing = boxes.some((a, i) =>
      boxes.some(
        (b, k) => k > i && a.left < b.right && b.left < a.right && a.top + 3 < b.bottom && b.top + 3 < a.bottom,
      ),
    );
    assert.ok(!crossing, `names lie on each other at ${width}`);
    assert.deepEqual(await audit(page), []);
  }
  await page.setViewportSize({ width: 1440, height: 900 });
  const sliders = page.getByRole('slider', { name: /^Range of depth/ });
  await sliders.focus();
  await page.keyboard.press('PageDown');
  await page.waitForURL(/brush=depth/);
  assert.match(new URL(page.url()).searchParams.get('brush'), /^depth:~\d+$/);
  await page.locator('svg.parallel').dblclick({ position: { x: 3, y: 150 } });
  await page.waitForFunction(() => !location.search.includes('brush'));
  assert.deepEqual(seat.troubles, []);
});

test('tasks of one place lie beside each other, in curves and in cells', { skip }, async () => {
  const { page } = seat;
  await visit(big);
  await page.getByText('Each task has one value.').waitFor();
  // Wherever the pointer is, the nearest tasks are others.
  const area = await page.locator('.plot-area').first().boundingBox();
  const seen = new Set();
  for (let part = 1; part < 10; part++) {
    await page.mouse.move(area.x + (area.width * part) / 10, area.y + area.height / 2);
    const tip = page.locator('.chart .tip');
    if (await tip.count()) seen.add(await tip.textContent());
  }
  assert.ok(seen.size > 4, `${seen.size} tasks found along the chart`);
  await visit(steps, '?show=pairs&pa=layers&pb=optimizer');
  const circles = page.locator('.explore circle');
  await circles.first().waitFor();
  const places = await circles.evaluateAll((all) => all.map((c) => `${c.getAttribute('cx')} ${c.getAttribute('cy')}`));
  assert.equal(new Set(places).size, 24, 'each task has a place of its own');
  const cells = await page.locator('.explore svg .above text').allTextContents();
  assert.ok(cells.length === 4 && cells.every((t) => /^[\d.]+, \d+ tasks?$/.test(t)), cells.join(' | '));
  assert.deepEqual(seat.troubles, []);
});
