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
  const live = await shown();
  assert.match(live, /0\.40* ± 0\.1/);
  await page.reload();
  assert.equal(await shown(), live);
  await page.goto(daemon.url);
  await page.getByText('mean of 3').waitFor();
  assert.match(await page.locator('tr', { hasText: 'mean of 3' }).innerText(), /0\.40* ± 0\.1/);
});
