// Tasks are removed, from the table and from a task's page, in a real browser against the real daemon. SLUICE_BIN names
// the program.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { audit, launch, open } from './browser.mjs';
import { Daemon, skip } from './daemon.mjs';

let daemon;
let browser;
let seat;

before(async () => {
  if (skip) return;
  daemon = await Daemon.start();
  browser = await launch();
  seat = await open(browser, await daemon.login());
  await seat.page.getByText('Live').waitFor();
});

after(async () => {
  if (skip) return;
  await browser.close();
  await daemon.stop();
});

async function made(name) {
  const lr = [0.5, 0.4, 0.3, 0.2, 0.1];
  const spec = { name, resources: { backend: 'external' }, objective: 'loss', parameters: { lr } };
  const { id } = await daemon.api('POST', '/experiments', { experiment: spec });
  await daemon.api('POST', `/experiments/${id}/import`, {
    rows: lr.map((value) => ({ parameters: { lr: value }, values: { loss: value } })),
  });
  return id;
}

const rows = (page) =>
  page
    .locator('#configs ~ * tbody tr, section[aria-labelledby="configs"] tbody tr')
    .evaluateAll((all) => all.map((row) => Number(row.textContent.match(/#?(\d+)/)[1])).sort((a, b) => a - b));

test('selected tasks are removed, here and in another tab, and the best is another one', { skip }, async () => {
  const { page } = seat;
  const id = await made('remove some');
  const other = await open(browser, await daemon.login());
  await other.page.goto(`${daemon.url}/e/${id}`);
  await page.goto(`${daemon.url}/e/${id}?sel=4,5`);
  const bulk = page.getByRole('region', { name: 'Selected tasks' });
  await bulk.getByRole('button', { name: 'Remove 2' }).click();
  const dialog = page.getByRole('alertdialog').or(page.getByRole('dialog'));
  await dialog.getByText('Remove 2 tasks?').waitFor();
  await dialog.getByText('The search keeps what it has learnt from them').waitFor();
  assert.deepEqual(await audit(page), []);
  await dialog.getByRole('button', { name: 'Remove 2 tasks' }).click();
  await page.getByText('Removed 2 tasks.').waitFor();
  await bulk.waitFor({ state: 'detached' });
  for (const tab of [page, other.page]) await tab.getByText('3 tasks (2 removed)').waitFor();
  const stored = await daemon.api('GET', `/experiments/${id}/tasks`);
  assert.deepEqual(stored.items.map((t) => t.number).sort(), [1, 2, 3]);
  assert.deepEqual(await rows(page), [1, 2, 3]);
  assert.deepEqual(await rows(other.page), [1, 2, 3]);
  await page.locator('.kpi.first').getByText('#3').waitFor();
  assert.deepEqual([...seat.troubles, ...other.troubles], []);
  await other.page.close();
});

test('next and previous step over removed tasks, and a task is removed from its page', { skip }, async () => {
  const { page } = seat;
  const id = await made('remove one');
  await daemon.api('POST', `/experiments/${id}/tasks/remove`, { tasks: [2, 3] });
  await page.goto(`${daemon.url}/e/${id}/1`);
  await page.getByRole('button', { name: 'Next task' }).click();
  await page.getByRole('heading', { name: 'Task 4', exact: true }).waitFor();
  await page.getByRole('button', { name: 'Previous task' }).click();
  await page.getByRole('heading', { name: 'Task 1', exact: true }).waitFor();
  const other = await open(browser, await daemon.login());
  await other.page.goto(`${daemon.url}/e/${id}/1`);
  await other.page.getByRole('heading', { name: 'Task 1', exact: true }).waitFor();
  await page.getByRole('button', { name: 'Remove', exact: true }).click();
  await page.getByRole('button', { name: 'Remove 1 task' }).click();
  await page.waitForURL(`${daemon.url}/e/${id}`);
  await page.getByText('2 tasks (3 removed)').waitFor();
  await other.page.getByText('It may have been removed').waitFor();
  assert.deepEqual(seat.troubles, []);
  await other.page.close();
});

test('a task that runs is left alone, and the dialog says so', { skip }, async () => {
  const { page } = seat;
  const spec = { name: 'busy', resources: { backend: 'external' }, objective: 'loss', parameters: { lr: [1, 2] } };
  const { id } = await daemon.api('POST', '/experiments', { experiment: spec });
  for (let i = 0; i < 2; i++) await daemon.api('POST', `/experiments/${id}/ask`, {});
  await daemon.api('POST', `/experiments/${id}/tasks/1/tell`, { values: { loss: 1 }, step: 0 });
  await page.goto(`${daemon.url}/e/${id}?sel=1,2`);
  await page.getByRole('button', { name: 'Remove 1', exact: true }).click();
  await page.getByText('1 task that has not ended stays.').waitFor();
  await page.getByRole('button', { name: 'Remove 1 task' }).click();
  await page.getByText('1 task (1 removed), 1 selected').waitFor();
  assert.deepEqual(seat.troubles, []);
});
