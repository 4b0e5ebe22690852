// What the pages say of a real experiment is true and can be read at 1280 pixels: ids, times of several attempts,
// waits, files, ranks, equal values. Against the real daemon; SLUICE_BIN names the program.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, open } from './browser.mjs';
import { Daemon, skip } from './daemon.mjs';

let daemon;
let browser;
let page;

const pause = (ms) =>
  new Promise((done) => {
    setTimeout(done, ms);
  });

async function submit(text, more = {}) {
  const { id } = await daemon.api('POST', '/experiments', {
    experiment: { name: 'words', script: 'train.py', parameters: { x: [1] }, ...more },
    files: [{ path: 'train.py', text }],
  });
  return id;
}

async function reached(path, states) {
  for (;;) {
    const got = await daemon.api('GET', path);
    if (states.includes(got.state)) return got;
    await pause(50);
  }
}
const ENDED = ['finished', 'error', 'stopped'];
const visit = (path) => page.goto(`${daemon.url}${path}`);

before(async () => {
  if (skip) return;
  daemon = await Daemon.start();
  browser = await launch();
  ({ page } = await open(browser, await daemon.login()));
  await page.getByText('Live').waitFor();
  await page.setViewportSize({ width: 1280, height: 900 });
});

after(async () => {
  if (skip) return;
  await browser.close();
  await daemon.stop();
});

test('the list fits 1280 pixels and names the id, and so do the pages', { skip }, async () => {
  const id = await submit("print('epoch 1 loss 11 delay 5')\nprint('epoch 2 loss 9 delay 5')\n", {
    objective: [
      { metric: 'loss', goal: 'min' },
      { metric: 'delay', at_most: 20 },
    ],
    parameters: { a_long_name_of_a_parameter: [0.001], another_long_name: ['a value of some length'] },
  });
  await reached(`/experiments/${id}`, ENDED);
  await visit('/');
  await page.locator(`[data-row=${id}]`).getByText(id, { exact: true }).waitFor();
  const wrap = await page
    .locator('.table-wrap')
    .first()
    .evaluate((el) => [el.scrollWidth, el.clientWidth]);
  assert.ok(wrap[0] <= wrap[1], `the table is ${wrap[0]} wide in ${wrap[1]}`);
  const room = await page.locator('.search.list input').evaluate((el) => {
    const ctx = document.createElement('canvas').getContext('2d');
    ctx.font = getComputedStyle(el).font;
    return [ctx.measureText(el.placeholder).width, el.clientWidth];
  });
  assert.ok(room[0] <= room[1], `the placeholder needs ${room[0]} of ${room[1]}`);
  await visit(`/e/${id}`);
  await page.locator('.title').getByText(id, { exact: true }).waitFor();
  await page.getByText('Needs 20 finished tasks with a value, and a parameter that varies.').waitFor();
  await page.locator('.kpi.first .value', { hasText: /^9 #1$/ }).waitFor();
  await page.locator('.kpi.first .label', { hasText: 'delay at most 20' }).waitFor();
  const cut = await page
    .locator('.kpi .label, .kpi .value, .kpi .detail')
    .evaluateAll((all) => all.filter((el) => el.scrollWidth > el.clientWidth + 1).map((el) => el.textContent));
  assert.deepEqual(cut, []);
  await visit(`/e/${id}/1`);
  await page.locator('.title').getByText(`${id}/1`, { exact: true }).waitFor();
  const files = page.locator('section[aria-labelledby=files]');
  await files.getByText('No files written.').waitFor();
});

test('the buttons over the curves are in one row, and a long command is seen in full', { skip }, async () => {
  const id = await submit("print('epoch 1 val_loss 0.5 val_acc 0.1')\n", {
    parameters: {
      lr: [0.1, 0.2],
      a_parameter_with_a_long_name: [0.123456789],
      another_one_that_is_long: ['some words in quotes'],
    },
    objective: 'val_loss',
  });
  await reached(`/experiments/${id}`, ENDED);
  await visit(`/e/${id}`);
  const controls = page.locator('.card > header .controls').first();
  await controls.getByRole('button', { name: 'Table' }).waitFor();
  const rows = await controls.locator(':scope > *').evaluateAll((all) => [
    ...new Set(
      all
        .map((one) => one.getBoundingClientRect())
        .filter((box) => box.height)
        .map((box) => Math.round((box.top + box.bottom) / 20)),
    ),
  ]);
  assert.equal(rows.length, 1, `rows at ${rows}`);
  await visit(`/new?from=${id}`);
  const call = page.getByRole('region', { name: 'Command of the first task' });
  await call.getByText('--another').waitFor();
  assert.ok((await call.evaluate((e) => e.scrollWidth - e.clientWidth)) <= 0);
  // A short word is not cut at its signs: each is on one line.
  const lines = await call.locator('.shell-word').evaluateAll((all) => all.map((one) => one.getClientRects().length));
  assert.ok(lines.length > 4 && lines.every((n) => n === 1), `${lines}`);
});

test('commands in the texts of the daemon are code, and markup in them is text', { skip }, async () => {
  const id = await submit("open('<b>x<b>.txt', 'w').write('nothing')\n", { objective: 'loss' });
  await reached(`/experiments/${id}`, ENDED);
  await visit(`/e/${id}`);
  const banner = page.locator('.banner', { hasText: 'nothing was found' });
  await banner.locator('code', { hasText: /^sluice report NAME=VALUE$/ }).waitFor();
  assert.ok(!(await banner.innerText()).includes('`'));
  assert.equal(await banner.locator('b b').count(), 0);
});

test('a wait for a free place counts as waiting', { skip }, async () => {
  const id = await submit('import time\ntime.sleep(2)\n', { parameters: { x: [1, 2, 3] }, search: { parallel: 1 } });
  await reached(`/experiments/${id}`, ENDED);
  await visit(`/e/${id}`);
  const wait = page.locator('section[aria-labelledby=costs] dt', { hasText: 'Wait before the start, median' });
  const said = await wait.locator('xpath=following-sibling::dd[1]').innerText();
  assert.ok(Number.parseFloat(said) >= 2, said);
  await page.getByText('No metric has arrived. All tasks have ended.').waitFor();
  await visit(`/e/${id}/3`);
  const waited = /waited ([\d.]+) s/.exec(await page.locator('.stages').innerText());
  assert.ok(Number(waited[1]) >= 4, waited[0]);
});

test('after a restart the times of the timeline are in order', { skip }, async () => {
  const id = await submit(
    `import os, time
at = os.environ['SLUICE_CHECKPOINT_DIR'] + '/at'
first = int(open(at).read()) if os.path.exists(at) else 0
for i in range(first, 40):
    print('epoch', i, 'loss', 1 / (i + 1), flush=True)
    open(at, 'w').write(str(i + 1))
    time.sleep(0.1 if first == 0 else 0)
`,
    { objective: 'loss' },
  );
  const task = `/experiments/${id}/tasks/1`;
  while (!((await daemon.api('GET', task)).epoch > 3)) await pause(100);
  await daemon.api('POST', `/experiments/${id}/tasks/stop`, { tasks: [1] });
  await reached(task, ['stopped']);
  await pause(1100);
  await daemon.api('POST', `/experiments/${id}/tasks/restart`, { tasks: [1] });
  const end = await reached(task, ['finished', 'error']);
  assert.equal(end.attempt, 2);
  assert.ok(end.submitted > end.started, 'the newest attempt was submitted after the first start');
  await visit(`/e/${id}/1`);
  const stages = await page.locator('.stages .stage').allInnerTexts();
  const times = stages.map((text) => /\d\d:\d\d:\d\d/.exec(text)[0]);
  assert.deepEqual(times, [...times].sort(), stages.join(' | '));
});

test('a failed task has no rank, and equal values no star', { skip }, async () => {
  const id = await submit("import sys\nprint('epoch 1 loss 0.5')\nif sys.argv[1] == '--x=2': sys.exit(3)\n", {
    parameters: { x: [1, 2] },
    objective: 'loss',
  });
  await reached(`/experiments/${id}`, ENDED);
  await visit(`/e/${id}/2`);
  const results = page.locator('section[aria-labelledby=results]');
  await results.getByText('0.500').first().waitFor();
  assert.equal(await results.getByText('Rank').count(), 0);
  await visit(`/e/${id}/compare?tasks=1,2`);
  const row = page.locator('tr', { hasText: 'Best loss' });
  await row.waitFor();
  assert.equal(await row.locator('.winner').count(), 0);
});

test('the form names what is to be corrected and goes there', { skip }, async () => {
  await visit('/new');
  await page.locator('#gpus').fill('-3');
  await page.locator('p', { hasText: 'To correct:' }).getByRole('button', { name: 'GPUs' }).click();
  assert.equal(await page.evaluate(() => document.activeElement.id), 'gpus');
});
