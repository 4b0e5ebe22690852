// Charts with a point for every task, of an experiment of which the page has a part only, against the real daemon: all
// tasks are there, in the declared scale, of either objective, and they follow filter, brush, selection and hover.
// SLUICE_BIN names the program.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { audit, drawn, launch, open } from './browser.mjs';
import { Daemon, skip } from './daemon.mjs';

const COUNT = 2000;
let daemon;
let browser;
let seat;
let api;
let id;
let rows;

before(async () => {
  if (skip) return;
  daemon = await Daemon.start();
  browser = await launch();
  api = (...call) => daemon.api(...call);
  const experiment = {
    name: 'points',
    resources: { backend: 'external' },
    objective: [
      { metric: 'val_loss', goal: 'min' },
      { metric: 'latency', goal: 'max' },
    ],
    parameters: {
      lr: { min: 1e-5, max: 0.1, scale: 'log' },
      depth: { min: 1, max: 9 },
      optimizer: ['adam', 'sgd'],
      warm: [true, false],
    },
    search: { strategy: 'random', tasks: 1 },
  };
  ({ id } = await api('POST', '/experiments', { experiment }));
  // Within the bounds, and all of it in less than two decades: nothing would say "logarithmic" but the declaration.
  rows = Array.from({ length: COUNT }, (_, i) => ({
    parameters: {
      lr: 1e-3 * (1 + (9 * ((i * 7919) % COUNT)) / COUNT),
      depth: 1 + (i % 9),
      optimizer: i % 2 ? 'sgd' : 'adam',
      warm: i % 3 === 0,
    },
    values: { val_loss: 0.2 + ((i * 104729) % COUNT) / COUNT, latency: 10 + ((i * 37) % 501) / 7 },
  }));
  for (let at = 0; at < COUNT; at += 1000)
    await api('POST', `/experiments/${id}/import`, { rows: rows.slice(at, at + 1000) });
  while ((await api('GET', `/experiments/${id}`)).tasks.finished < COUNT) await new Promise((r) => setTimeout(r, 50));
  seat = await open(browser, await daemon.login());
  await seat.page.getByText('Live').waitFor();
});

after(async () => {
  if (skip) return;
  await browser.close();
  await daemon.stop();
});

const card = () => seat.page.locator('.explore');

async function visit(search) {
  await seat.page.goto(`${daemon.url}/e/${id}${search}`);
  await card().locator('svg.scatter .spots').first().waitFor();
  // What is above it and comes later would move it.
  await seat.page.locator('svg.parallel path').first().waitFor();
  await seat.page.locator('.volume').waitFor();
  await seat.page.locator('.plot canvas').first().waitFor();
  await drawn(seat.page);
}

async function csv() {
  const wait = seat.page.waitForEvent('download');
  await card()
    .getByRole('button', { name: /^Save the chart/ })
    .click();
  await seat.page.getByRole('menuitem', { name: /^CSV/ }).click();
  const text = await readFile(await (await wait).path(), 'utf8');
  return text
    .trim()
    .split('\r\n')
    .map((line) => line.split(','));
}

test('the scatter shows every task, with the declared scale and a legend of its colours', { skip }, async () => {
  await visit('?show=scatter&sx=p.lr&sy=best&sc=p.optimizer');
  assert.match(await card().locator('.legend').textContent(), /optimizer.*adam.*sgd.*2,000 tasks/);
  assert.ok((await card().locator('svg.scatter text').allTextContents()).includes('lr, log'));
  const lines = await csv();
  assert.deepEqual(lines[0], ['task', 'lr', 'val_loss', 'optimizer']);
  assert.equal(lines.length, COUNT + 1);
  for (const [number, lr, loss, optimizer] of lines.slice(1)) {
    const { parameters, values } = rows[number - 1];
    assert.deepEqual([Number(lr), Number(loss), optimizer], [parameters.lr, values.val_loss, parameters.optimizer]);
  }
  assert.deepEqual(await audit(seat.page), []);
  assert.deepEqual(seat.troubles, []);
});

test('a point of thousands is found by the pointer, and a click opens its task', { skip }, async () => {
  const { page } = seat;
  await visit('?show=scatter&sx=p.lr&sy=best');
  const svg = card().locator('svg.scatter');
  await svg.scrollIntoViewIfNeeded();
  await drawn(page);
  const box = await svg.boundingBox();
  const tip = card().locator('.tip');
  for (let x = 100; x < box.width && !(await tip.count()); x += 3) await page.mouse.move(box.x + x, box.y + 150);
  const [, number, lr] = /^#(\d+) {2}lr ([\d.e-]+), val_loss/.exec(await tip.textContent());
  assert.ok(Math.abs(Number(lr) / rows[number - 1].parameters.lr - 1) < 0.01, `${number}: ${lr}`);
  assert.equal(await card().locator(`circle.hot[data-id="${number}"]`).count(), 1);
  await page.mouse.down();
  await page.mouse.up();
  await page.waitForURL(`${daemon.url}/e/${id}/${number}`);
  await page.goBack();
  await card().locator('svg.scatter .spots').first().waitFor();
  assert.deepEqual(seat.troubles, []);
});

test('all tasks follow filter, brush and selection', { skip }, async () => {
  const { page } = seat;
  const numbers = async () => (await csv()).slice(1).map((line) => Number(line[0]));
  const those = (keep) => rows.flatMap((row, i) => (keep(row) ? [i + 1] : []));
  await visit(`?show=scatter&q=${encodeURIComponent('optimizer = sgd')}`);
  await card().getByText('1,000 tasks').waitFor();
  assert.deepEqual(
    await numbers(),
    those((r) => r.parameters.optimizer === 'sgd'),
  );
  // A brush over an axis that is not in the chart.
  await visit(`?show=scatter&brush=${encodeURIComponent('depth:3~5')}`);
  assert.deepEqual(
    await numbers(),
    those((r) => r.parameters.depth >= 3 && r.parameters.depth <= 5),
  );
  assert.ok((await card().locator('.spots.off').count()) > 0);
  // Tasks of the table's first page, which are the best.
  const { items } = await api('GET', `/experiments/${id}/tasks?sort=best&limit=2`);
  const chosen = items.map((t) => t.number).sort((a, b) => a - b);
  await visit(`?show=scatter&sel=${chosen}`);
  assert.deepEqual(await numbers(), chosen);
  await page.locator(`[data-row="${chosen[0]}"]`).hover();
  assert.equal(await card().locator(`circle.hot[data-id="${chosen[0]}"]`).count(), 1);
  assert.deepEqual(seat.troubles, []);
});

test('slices and interactions are of all finished tasks and of the chosen objective', { skip }, async () => {
  const { page } = seat;
  await visit('?show=slices');
  await card().getByText('val_loss of 2,000 finished tasks, against each parameter').waitFor();
  const lines = await csv();
  assert.equal(lines.length, COUNT + 1);
  await card().getByLabel('Objective').selectOption('latency');
  await card().getByText('latency of 2,000 finished tasks').waitFor();
  assert.equal(new URL(page.url()).searchParams.get('of'), 'latency');
  await page.reload();
  await card().getByText('latency of 2,000 finished tasks').waitFor();
  const [head, ...of] = await csv();
  assert.deepEqual(head, ['task', 'latency', 'lr', 'depth', 'optimizer', 'warm']);
  for (const [number, latency, , , , warm] of of) {
    assert.equal(Number(latency), rows[number - 1].values.latency);
    assert.equal(warm, String(rows[number - 1].parameters.warm));
  }
  await page.getByRole('group', { name: 'Further chart' }).getByRole('button', { name: 'Interactions' }).click();
  await card().getByText('latency, by rank').waitFor();
  // Of an objective that is to be large the best is the largest.
  assert.match(await card().locator('.legend').textContent(), /worst 10.* best 81/);
  assert.deepEqual(await audit(page), []);
  assert.deepEqual(seat.troubles, []);
});

test('best so far and importance are of the chosen objective, and say so', { skip }, async () => {
  const { page } = seat;
  await page.goto(`${daemon.url}/e/${id}?of=latency`);
  const progress = page.getByRole('region', { name: 'Best so far: latency' });
  // Larger is better.
  const chart = progress.getByRole('img', { name: /^Best latency after 2,000 tasks: 81.4/ });
  await chart.waitFor();
  // As a file it has no title.
  assert.ok((await chart.locator('text').allTextContents()).includes('latency'));
  await page
    .locator('.legend')
    .getByText(/^1,0\d\d tasks of 2,000/)
    .waitFor();
  const wait = page.waitForEvent('download');
  await progress.getByRole('button', { name: /^Save the chart/ }).click();
  await page.getByRole('menuitem', { name: /^CSV/ }).click();
  const file = await wait;
  assert.equal(file.suggestedFilename(), `${id}-best-so-far-latency.csv`);
  const lines = (await readFile(await file.path(), 'utf8')).trim().split('\r\n').slice(1);
  assert.equal(lines.length, COUNT);
  assert.equal(Number(lines.at(-1).split(',')[3]), Math.max(...rows.map((row) => row.values.latency)));
  await progress.getByLabel('Objective').selectOption('val_loss');
  await page.getByRole('region', { name: 'Best so far', exact: true }).waitFor();
  assert.equal(new URL(page.url()).searchParams.get('of'), null);
  const { importance_of: alone } = await api('GET', `/experiments/${id}/analysis`);
  await page.getByRole('region', { name: 'Importance of the parameters' }).getByLabel('For').selectOption('latency');
  const card = page.getByRole('region', { name: 'Importance for latency' });
  await card.getByRole('listitem').first().waitFor();
  assert.deepEqual(
    await card.locator('li bdi').allTextContents(),
    alone.latency.map((one) => one.parameter),
  );
  await page.reload();
  await page.getByRole('region', { name: 'Importance for latency' }).waitFor();
  assert.deepEqual(await audit(page), []);
  assert.deepEqual(seat.troubles, []);
});

// More tasks than are fetched for a chart.
async function large(name, count, spec, rowOf) {
  const { id } = await api('POST', '/experiments', {
    experiment: {
      name,
      resources: { backend: 'external' },
      objective: [
        { metric: 'val_loss', goal: 'min' },
        { metric: 'latency', goal: 'max' },
      ],
      search: { strategy: 'random', tasks: 1 },
      ...spec,
    },
  });
  const all = Array.from({ length: count }, (_, i) => rowOf(i));
  for (let at = 0; at < count; at += 1000)
    await api('POST', `/experiments/${id}/import`, { rows: all.slice(at, at + 1000) });
  while ((await api('GET', `/experiments/${id}`)).tasks.finished < count) await new Promise((r) => setTimeout(r, 50));
  return { id, rows: all };
}

async function saved(region, page) {
  const wait = page.waitForEvent('download');
  await region.getByRole('button', { name: /^Save the chart/ }).click();
  await page.getByRole('menuitem', { name: /^CSV/ }).click();
  const file = await wait;
  const text = await readFile(await file.path(), 'utf8');
  return {
    name: file.suggestedFilename(),
    lines: text
      .trim()
      .split('\r\n')
      .slice(1)
      .map((line) => line.split(',')),
  };
}

test('of very many tasks a chart has a sample and says so; a filter of few shows them all', { skip }, async () => {
  const { page } = seat;
  const count = 20500;
  // A parameter has the name of a built-in column. Each task is the best of its second objective.
  const { id, rows } = await large('many', count, { parameters: { best: { min: 0, max: 1 } } }, (i) => ({
    parameters: { best: (i + 1) / 32768 },
    values: { val_loss: 2 + ((i * 7919) % count), latency: i + 1 },
  }));
  await page.goto(`${daemon.url}/e/${id}?show=scatter&sx=p.best&sy=best`);
  await card()
    .getByText(/^a fair sample of 10,\d\d\d tasks of 20,500 tasks$/)
    .waitFor();
  const sample = await saved(card(), page);
  assert.equal(sample.name, `${id}-scatter-sample.csv`);
  for (const [number, parameter, loss] of sample.lines.slice(0, 50))
    assert.deepEqual(
      [Number(parameter), Number(loss)],
      [rows[number - 1].parameters.best, rows[number - 1].values.val_loss],
    );
  const few = rows.flatMap((row, i) => (row.values.val_loss < 7 ? [i + 1] : []));
  await page.getByRole('searchbox', { name: 'Filter tasks' }).fill('val_loss < 7');
  await card()
    .getByText(/^5 tasks$/)
    .waitFor();
  const some = await saved(card(), page);
  assert.equal(some.name, `${id}-scatter.csv`);
  assert.deepEqual(
    some.lines.map(([number]) => Number(number)),
    few,
  );
  // What the filter cannot be is said, and no points of the former one are under it.
  await page.getByRole('searchbox', { name: 'Filter tasks' }).fill('val_los < < 7');
  await card()
    .getByText(/^The tasks could not be read: /)
    .waitFor();
  assert.equal(await card().locator('svg.scatter').count(), 0);
  await page.getByRole('searchbox', { name: 'Filter tasks' }).fill('');
  await card()
    .getByText(/^a fair sample of 10,\d\d\d tasks of 20,500 tasks$/)
    .waitFor();
  // The best so far is of all tasks.
  await page.goto(`${daemon.url}/e/${id}?of=latency`);
  const progress = page.getByRole('region', { name: 'Best so far: latency' });
  await progress.getByRole('img', { name: /^Best latency after 20,500 tasks: 20,?500/ }).waitFor();
});

test('of repeats the best so far of each objective is of means, and runs of a filter stay single', {
  skip,
}, async () => {
  const { page } = seat;
  // Two runs of each configuration.
  const spec = { repeats: 2, parameters: { x: { min: 0, max: 1 } } };
  const { id, rows } = await large('twice', 1200, spec, (i) => ({
    parameters: { x: (i >> 1) / 1024 },
    values: { val_loss: 1 + ((i * 7919) % 1200) / 1200, latency: 10 + ((i * 104729) % 1200) / 8 },
  }));
  const means = Array.from(
    { length: 600 },
    (_, i) => (rows[2 * i].values.latency + rows[2 * i + 1].values.latency) / 2,
  );
  await page.goto(`${daemon.url}/e/${id}?of=latency&show=scatter&sx=p.x&sy=best`);
  const progress = page.getByRole('region', { name: 'Best so far: latency' });
  await progress.getByRole('img', { name: /^Best latency after 600 tasks/ }).waitFor();
  const { lines } = await saved(progress, page);
  assert.deepEqual(
    lines.map(([number, , value]) => [(number - 1) >> 1, Number(value)]).sort((a, b) => a[0] - b[0]),
    means.map((value, i) => [i, value]),
  );
  await card()
    .getByText(/^600 tasks$/)
    .waitFor();
  await page.getByRole('searchbox', { name: 'Filter tasks' }).fill('number > 1100');
  await card().getByText('100 tasks that pass the filter, as single runs').waitFor();
});
