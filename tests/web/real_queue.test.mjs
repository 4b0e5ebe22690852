// The page of the queue on one machine: who has its slots, what is free, what waits and why. Against the real daemon;
// SLUICE_BIN names the program.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { audit, launch, open, SIZES, sideways } from './browser.mjs';
import { Daemon, skip } from './daemon.mjs';

let daemon;
let browser;
let seat;

before(async () => {
  if (skip) return;
  daemon = await Daemon.start();
  browser = await launch();
  seat = await open(browser, await daemon.login());
  await seat.page.locator('.live.open').waitFor();
});

after(async () => {
  if (skip) return;
  await browser.close();
  await daemon.stop();
});

// Ends when a file says so.
async function submit(name, tasks, more) {
  const gate = path.join(daemon.state, name.split(' ')[0]);
  const text = `import os, time\nwhile not os.path.exists("${gate}"):\n    time.sleep(0.1)\nprint("epoch 1 loss 1")\n`;
  const parameters = { n: Array.from({ length: tasks }, (_, i) => i + 1) };
  const { id } = await daemon.api('POST', '/experiments', {
    experiment: { name, script: 'w.py', parameters, pass: 'env', resources: { backend: 'local', ...more } },
    files: [{ path: 'w.py', text }],
  });
  return { id, end: () => writeFile(gate, '') };
}

test('the slots of this machine, by whom they are used, what is free, and what waits and why', {
  skip,
  timeout: 300000,
}, async () => {
  const { page, troubles } = seat;
  const local = (await daemon.api('GET', '/cluster')).backends.find((b) => b.name === 'local');
  await page.getByRole('navigation', { name: 'Primary' }).getByRole('link', { name: 'Queue' }).click();
  await page.getByText('0 tasks of yours run, 0 wait.').waitFor();
  await page.getByText('Nothing of yours waits.').waitFor();
  const slots = page.getByRole('region', { name: 'Slots of this machine' });
  await slots.getByRole('img', { name: `CPUs: ${local.cpus} free` }).waitFor();
  const cells = async (name) =>
    (await slots.getByRole('row', { name }).getByRole('cell').allInnerTexts()).map((text) => text.trim());
  assert.equal((await cells(/^Free/))[1], String(local.cpus));

  const first = await submit('holds all', local.cpus + 1, { memory: '32M' });
  await page.getByText(`${local.cpus} tasks of yours run, 1 waits.`).waitFor();
  const second = await submit('comes later', 2);
  await page.getByText(`${local.cpus} tasks of yours run, 3 wait.`).waitFor();
  await slots.getByRole('img', { name: `CPUs: ${first.id} has ${local.cpus}, 0 free` }).waitFor();
  assert.deepEqual((await cells(new RegExp(`^${first.id} `))).slice(0, 2), [
    `${first.id} holds all`,
    String(local.cpus),
  ]);
  assert.equal((await cells(/^Free/))[1], '0');
  await slots.getByRole('link', { name: `${first.id}/1`, exact: true }).waitFor();
  const queue = page.getByRole('region', { name: 'Our queue' });
  const waits = queue.getByRole('row', { name: /comes later/ });
  await waits.getByText(`Waits for 1 CPU: ${first.id} has ${local.cpus} of ${local.cpus}`).waitFor();
  await waits.getByRole('cell', { name: '2', exact: true }).waitFor();
  await queue.getByText('a free slot goes to the experiment with the fewest running tasks').waitFor();
  for (const size of [SIZES.desk, { width: 1024, height: 768 }, SIZES.phone, { width: 320, height: 700 }])
    for (const theme of ['light', 'dark']) {
      await page.setViewportSize(size);
      await page.emulateMedia({ colorScheme: theme });
      assert.ok((await sideways(page)) <= 0, `scrolls sideways at ${size.width}`);
      assert.deepEqual(await audit(page), [], `${size.width} ${theme}`);
    }
  await page.setViewportSize(SIZES.desk);
  await page.emulateMedia({ colorScheme: 'light' });
  // The cluster's page names the machine, and leads here.
  await page.goto(`${daemon.url}/cluster`);
  await page.getByRole('link', { name: 'Our tasks in the queue' }).click();
  await page.waitForURL('**/queue');
  await first.end();
  await second.end();
  await page.getByText('0 tasks of yours run, 0 wait.').waitFor();
  await slots.getByRole('img', { name: `CPUs: ${local.cpus} free` }).waitFor();
  assert.deepEqual(troubles.splice(0), []);
});
