// With repeats the best is the mean of a configuration, live and after a reload, in a real browser against the real
// daemon. SLUICE_BIN names the program.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, open } from './browser.mjs';
import { Daemon, skip } from './daemon.mjs';

let daemon;
let browser;

before(async () => {
  if (skip) return;
  daemon = await Daemon.start();
  browser = await launch();
});

after(async () => {
  if (skip) return;
  await browser.close();
  await daemon.stop();
});

// a has the luckiest run, b the best mean.
const LOSS = { a: [0.1, 0.9, 0.8], b: [0.4, 0.5, 0.3] };

test('the best of repeats is their mean, live and after a reload', { skip }, async () => {
  const { page } = await open(browser, await daemon.login());
  await page.getByText('Live').waitFor();
  const { id } = await daemon.api('POST', '/experiments', {
    experiment: {
      name: 'repeated',
      resources: { backend: 'external' },
      objective: { metric: 'loss', goal: 'min' },
      parameters: { net: ['a', 'b'] },
      repeats: 3,
    },
  });
  await page.goto(`${daemon.url}/e/${id}`);
  const strip = page.locator('.kpi.first');
  await strip.waitFor();
  for (const net of ['a', 'b'])
    for (const loss of LOSS[net]) {
      const { number } = await daemon.api('POST', `/experiments/${id}/ask`, {});
      await daemon.api('POST', `/experiments/${id}/tasks/${number}/tell`, { values: { loss } });
    }
  const { best } = await daemon.api('GET', `/experiments/${id}`);
  assert.deepEqual([best.mean.toFixed(6), best.repeats], ['0.400000', 3]);
  const shown = async () => {
    await strip.getByText('mean of 3').waitFor({ timeout: 15000 });
    return (await strip.innerText()).replace(/\s+/g, ' ');
  };
  await strip.getByText(/0\.40* ± 0\.1/).waitFor({ timeout: 15000 }); // until then net a leads
  const live = await shown();
  assert.match(live, /0\.40* ± 0\.1/);
  await page.reload();
  assert.equal(await shown(), live);
  await page.goto(daemon.url);
  await page.getByText('mean of 3').waitFor();
  assert.match(await page.locator('tr', { hasText: 'mean of 3' }).innerText(), /0\.40* ± 0\.1/);
});

// The whole page counts configurations: c crashed once, d is not complete. Their means would lead.
test('with repeats table, star, charts and strip rank the same means', { skip }, async () => {
  const { page } = await open(browser, await daemon.login());
  await page.getByText('Live').waitFor();
  const { id } = await daemon.api('POST', '/experiments', {
    experiment: {
      name: 'ranked',
      resources: { backend: 'external' },
      objective: { metric: 'loss', goal: 'min' },
      parameters: { net: ['a', 'b', 'c', 'd'] },
      repeats: 3,
    },
  });
  const loss = { ...LOSS, c: [0.01, null, 0.01], d: [0.02, 0.02] };
  const seen = {};
  for (let asked = 0; asked < 12; asked++) {
    const { number, parameters } = await daemon.api('POST', `/experiments/${id}/ask`, {});
    const { net } = parameters;
    seen[net] = (seen[net] ?? 0) + 1;
    const value = loss[net][seen[net] - 1];
    if (value === undefined) continue;
    const told = value === null ? { failed: 'out of memory' } : { values: { loss: value } };
    await daemon.api('POST', `/experiments/${id}/tasks/${number}/tell`, told);
  }
  const listed = await daemon.api('GET', `/experiments/${id}/tasks?sort=best`);
  assert.deepEqual(
    listed.items.filter((_, i) => i % 3 === 0).map((t) => t.parameters.net),
    ['b', 'a', 'c', 'd'],
  );
  await page.goto(`${daemon.url}/e/${id}`);
  const strip = page.locator('.kpi.first');
  await strip.getByText('mean of 3').waitFor();
  const rows = page.locator('table.configurations tbody tr');
  await rows.nth(3).waitFor();
  assert.equal(await rows.count(), 4);
  const text = async (i) => (await rows.nth(i).innerText()).replace(/\s+/g, ' ');
  assert.match(await text(0), /3 repeats .* b .*Best: 0\.40* ± 0\.1/);
  assert.match(await text(1), / a .*0\.60* ± 0\.436/);
  assert.match(await text(2), / c .*\(2 of 3\)/);
  assert.match(await text(3), / d .*\(2 of 3\)/);
  assert.equal(await page.locator('table.configurations .best').count(), 1);
  // The parallel coordinates have a line for each configuration, the best one is the same.
  assert.equal(await page.locator('.parallel path[data-id]').count(), 4);
  const best = await page.locator('.parallel path.best').getAttribute('data-id');
  assert.equal(`c${best}`, await rows.nth(0).getAttribute('data-row'));
  // Best so far: the complete ones.
  const { progress, fronts } = await daemon.api('GET', `/experiments/${id}/analysis`);
  assert.deepEqual(
    progress.map((p) => p.value.toFixed(3)),
    ['0.600', '0.400'],
  );
  const onFront = fronts.at(-1).points.filter((p) => p.front);
  assert.ok(
    onFront.every((p) => p.values[0] > 0.3),
    JSON.stringify(fronts),
  );
  // The scatter and a filter: the mean is that of all runs.
  await page.goto(`${daemon.url}/e/${id}?show=scatter&q=number%20%3C%203`);
  await page
    .locator('.explore')
    .getByRole('img', { name: /for 4 tasks/ })
    .waitFor();
  await page.locator('table.configurations tbody tr').first().waitFor();
  // The runs of a configuration, by a click and by the address.
  await page.goto(`${daemon.url}/e/${id}`);
  await page
    .getByRole('button', { name: /3 repeats of the configuration/ })
    .first()
    .click();
  await page.locator('tr.inner').nth(2).waitFor();
  assert.match(page.url(), /runs=\d+/);
  await page.reload();
  await page.locator('tr.inner').nth(2).waitFor();
  assert.equal(await rows.count(), 7);
  // The other way round the complete ones still come first.
  await page.goto(`${daemon.url}/e/${id}?sort=-best`);
  await rows.nth(3).waitFor();
  assert.match(await text(0), / a /);
});
