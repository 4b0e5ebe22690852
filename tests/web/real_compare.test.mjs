// Tasks of several experiments side by side, against the real daemon. SLUICE_BIN names the program.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { audit, launch, open, SIZES, sideways } from './browser.mjs';
import { Daemon, skip } from './daemon.mjs';

let daemon;
let browser;
let seat;
let ids;

// Curves of two metrics, told by a worker.
async function made(name, lr, extra) {
  const { id } = await daemon.api('POST', '/experiments', {
    experiment: {
      name,
      resources: { backend: 'external' },
      objective: { metric: 'val_loss', goal: 'min' },
      parameters: { lr: [lr, lr / 2], batch: [32], ...extra },
    },
  });
  for (let k = 0; k < 2; k++) {
    const { number } = await daemon.api('POST', `/experiments/${id}/ask`, {});
    for (let step = 1; step <= 20; step++)
      await daemon.api('POST', `/experiments/${id}/tasks/${number}/tell`, {
        values: { val_loss: lr / step + k, acc: step / 20, loss: lr / step / 2 + k },
        step,
        more: step < 20,
      });
  }
  return id;
}

before(async () => {
  if (skip) return;
  daemon = await Daemon.start();
  browser = await launch();
  seat = await open(browser, await daemon.login());
  await seat.page.getByText('Live').waitFor();
  ids = [await made('first <b>one</b>', 0.5, {}), await made('second, "quoted"', 0.25, { dropout: [0.1] })];
});

after(async () => {
  if (skip) return;
  await browser.close();
  await daemon.stop();
});

test('tasks of two experiments: differences first, chosen metrics, legend, CSV, a URL', { skip }, async () => {
  const { page } = seat;
  await page.goto(`${daemon.url}/compare?tasks=${ids[0]}/1,${ids[1]}/2`);
  await page.getByRole('heading', { name: 'Compare 2 tasks' }).waitFor();
  const headers = page.locator('table.diff tbody th[scope=row]');
  const order = await headers.allInnerTexts();
  assert.ok(order.indexOf('lr') < order.indexOf('batch'), order.join());
  assert.ok(order.indexOf('dropout') < order.indexOf('batch'));
  await page.getByRole('row', { name: 'dropout' }).getByText('not there').waitFor();
  await page.getByRole('img', { name: new RegExp(`^val_loss, loss of ${ids[0]}/1, ${ids[1]}/2 by `) }).waitFor();
  await page.getByText('loss dashed').waitFor();
  const gap = page.getByRole('row', { name: 'Gap at the best' }).locator('td');
  const gaps = await gap.locator('bdi').evaluateAll((list) => list.map((one) => Number(one.title)));
  assert.deepEqual(
    gaps.map((v) => v.toFixed(6)),
    ['0.012500', '0.006250'],
    'validation less training loss',
  );
  await page.getByRole('group', { name: 'Metrics shown' }).getByRole('button', { name: 'acc' }).click();
  await page.getByRole('region', { name: 'Curves of acc' }).waitFor();
  assert.match(decodeURIComponent(page.url()), /metrics=val_loss,loss,acc/);
  await page.getByRole('list', { name: 'Legend' }).getByText('first <b>one</b>').waitFor();
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'CSV' }).click()]);
  const lines = (await readFile(await file.path(), 'utf8')).split('\r\n');
  assert.equal(lines.length, 4);
  const best = (await daemon.api('GET', `/experiments/${ids[1]}/tasks/2`)).best.value;
  assert.ok(lines[2].startsWith(`${ids[1]},"second, ""quoted""",2,`) && lines[2].includes(`,${best},`), lines[2]);
  await page.reload();
  await page.getByRole('region', { name: 'Curves of acc' }).waitFor();
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  const add = page.getByRole('group', { name: 'Tasks to add' });
  await add.getByRole('combobox', { name: 'From' }).selectOption(ids[1]);
  const offered = add.getByRole('list', { name: 'Its best tasks' }).getByRole('checkbox');
  await offered.nth(1).waitFor();
  assert.deepEqual(await offered.evaluateAll((list) => list.map((box) => box.checked)), [false, true], 'best first');
  await offered.nth(0).check();
  await page.getByRole('heading', { name: 'Compare 3 tasks' }).waitFor();
  assert.deepEqual(await audit(page), []);
  await offered.nth(0).uncheck();
  await page.getByRole('heading', { name: 'Compare 2 tasks' }).waitFor();
  await add.getByRole('textbox', { name: 'Add tasks' }).fill('nonsense');
  await page.keyboard.press('Enter');
  await add.getByText('Write numbers or ids between commas').waitFor();
  await add.getByRole('textbox', { name: 'Add tasks' }).fill(`${ids[0]}/2, ${ids[0]}/77`);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Compare 3 tasks' }).waitFor();
  await page.getByText(`There is no task ${ids[0]}/77.`).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: `Remove task ${ids[0]}/1` }).click();
  await page.getByRole('heading', { name: 'Compare 2 tasks' }).waitFor();
  assert.deepEqual(await audit(page), []);
  assert.deepEqual(seat.troubles, []);
});

test('a task that crashed or was stopped does not win', { skip }, async () => {
  const { page } = seat;
  const { id } = await daemon.api('POST', '/experiments', {
    experiment: {
      name: 'crashed',
      resources: { backend: 'external' },
      objective: { metric: 'val_loss', goal: 'min' },
      parameters: { lr: [1, 2, 3] },
    },
  });
  for (const [k, tells] of [[{ val_loss: 0.3 }], [{ val_loss: 0.1 }, 'out of memory'], [{ val_loss: 0.5 }]].entries()) {
    const { number } = await daemon.api('POST', `/experiments/${id}/ask`, {});
    const path = `/experiments/${id}/tasks/${number}/tell`;
    await daemon.api('POST', path, { values: tells[0], step: 1, more: k === 1 });
    if (tells[1]) await daemon.api('POST', path, { failed: tells[1] });
  }
  await page.goto(`${daemon.url}/compare?tasks=${id}/1,${id}/2,${id}/3`);
  const cells = page.getByRole('row', { name: /^Best val_loss/ }).locator('td');
  await cells.nth(2).waitFor();
  const stars = await cells.evaluateAll((list) => list.map((td) => td.classList.contains('winner')));
  assert.deepEqual(stars, [true, false, false]);
  assert.match(await cells.nth(1).innerText(), /0\.1/);
});

test('the comparison fits every size and theme', { skip }, async () => {
  const storage = await seat.context.storageState();
  for (const [size, box] of Object.entries({ ...SIZES, small: { width: 1024, height: 768 } }))
    for (const theme of ['light', 'dark']) {
      const url = `${daemon.url}/compare?tasks=${ids[0]}/1,${ids[1]}/2,${ids[1]}/1&metrics=val_loss,acc`;
      const look = await open(browser, url, { size: box, theme, storage });
      await look.page.getByRole('region', { name: 'Curves of acc' }).waitFor();
      assert.equal(await sideways(look.page), 0, `scrolls sideways at ${size}`);
      if (process.env.SHOTS)
        await look.page.screenshot({ path: `${process.env.SHOTS}/compare-${size}-${theme}.png`, fullPage: true });
      await look.page.getByRole('button', { name: 'Add', exact: true }).click();
      const { x, width } = await look.page.getByRole('group', { name: 'Tasks to add' }).boundingBox();
      assert.ok(x >= 0 && x + width <= box.width, `the box to add tasks is outside at ${size}: ${x}`);
      await look.page.keyboard.press('Escape');
      if (theme === 'dark') assert.deepEqual(await audit(look.page), [], size);
      assert.deepEqual(look.troubles, []);
      await look.context.close();
    }
});
