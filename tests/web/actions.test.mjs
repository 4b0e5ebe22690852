// Everything people do, once: what is sent to the daemon is looked at, not only what the page shows.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { audit, drawn, whole } from './browser.mjs';
import { stage } from './stage.mjs';

const on = stage();
const { visit } = on;
const sent = (method, path) => on.fixture.requests.filter((r) => r.method === method && r.path === path);
const body = (request) => JSON.parse(request.body);

test('the list filters by text and state and keeps both in the address', async () => {
  const page = await visit('/');
  await page.getByRole('link', { name: 'conv2d-nodropout-v2' }).first().waitFor();
  await page.getByRole('searchbox', { name: 'Search experiments and tasks' }).fill('conv2d');
  await page.waitForFunction(() => document.querySelectorAll('[data-row]').length === 2);
  await page.waitForURL(/q=conv2d/);
  await page.getByRole('button', { name: /^Active/ }).click();
  await page.waitForFunction(() => document.querySelectorAll('[data-row]').length === 1);
  await page.waitForURL(/show=active/);
  await page.reload();
  await page.waitForFunction(() => document.querySelectorAll('[data-row]').length === 1);
  assert.equal(await page.getByRole('searchbox', { name: 'Search experiments and tasks' }).inputValue(), 'conv2d');
});

test('the list sorts by a header and says so', async () => {
  const page = await visit('/');
  await page.getByRole('button', { name: 'Experiment', exact: true }).click();
  await page.locator('th[aria-sort=ascending]').waitFor();
  const names = await page.locator('[data-row] a.row').allInnerTexts();
  assert.deepEqual(
    names,
    [...names].sort((a, b) => a.localeCompare(b)),
  );
});

test('needs attention quotes the cause and leads to the tasks that have it', async () => {
  const page = await visit('/');
  await page.getByText('ResourceExhaustedError: OOM when allocating').first().click();
  await page.waitForURL(/\/e\/e\d+\?state=error$/);
  await page.locator('[data-row]').first().getByText('Error', { exact: true }).waitFor();
});

test('keys: j and k move, Enter opens, x selects, c compares, / searches, ? helps, n begins', async () => {
  const page = await visit('/');
  await page.locator('[data-row]').first().waitFor();
  await drawn(page);
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.keyboard.press('k');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/e/e10');
  await page.locator('[data-row]').first().waitFor();
  await drawn(page);
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  await page.getByText('2 tasks selected').waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('x');
  assert.equal(
    await page.getByRole('searchbox', { name: 'Filter tasks' }).inputValue(),
    'x',
    'shortcuts are off while typing',
  );
  await page.getByRole('searchbox', { name: 'Filter tasks' }).fill('');
  await page.getByRole('heading', { level: 1 }).click();
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
  assert.deepEqual(await audit(page), []);
  await page.keyboard.press('Escape');
  await page.getByRole('dialog', { name: 'Keyboard' }).waitFor({ state: 'detached' });
  await page.keyboard.press('c');
  await page.getByRole('heading', { name: 'Compare 2 tasks' }).waitFor();
  await drawn(page);
  await page.keyboard.press('n');
  await page.getByRole('heading', { level: 1, name: 'New experiment' }).waitFor();
});

test('the skip link leads to the content', async () => {
  const page = await visit('/');
  await page.locator('[data-row]').first().waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'main');
});

test('bulk stop sends explicit numbers and the dialog says how many', async () => {
  const page = await visit('/e/e10?sel=1,35,36,40');
  await page.getByText('4 tasks selected').waitFor();
  await page.getByRole('region', { name: 'Selected tasks' }).getByRole('button', { name: /^Stop/ }).click();
  const dialog = page.getByRole('dialog', { name: 'Stop 3 tasks?' });
  await dialog.getByText('2 running tasks lose the work').waitFor();
  assert.deepEqual(await audit(page), []);
  await dialog.getByRole('button', { name: 'Stop 3 tasks' }).click();
  await page.getByText('Stopped 3 tasks.').waitFor();
  assert.deepEqual(body(sent('POST', '/experiments/e10/tasks/stop')[0]), { tasks: [35, 36, 40] });
  await page.locator('[data-row="35"]').getByText('Stopped').waitFor();
  await page.getByRole('button', { name: 'Restart them' }).click();
  await page.getByText('Restarted 3 tasks.').waitFor();
  assert.deepEqual(body(sent('POST', '/experiments/e10/tasks/restart')[0]), { tasks: [35, 36, 40] });
});

test('saying no to a dialog sends nothing', async () => {
  const page = await visit('/e/e10');
  await page.getByRole('button', { name: 'Stop all' }).click();
  await page.getByRole('dialog', { name: 'Stop 13 tasks?' }).getByRole('button', { name: 'Keep running' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  assert.equal(on.fixture.requests.length, 0);
});

test('stop all, restart failed', async () => {
  const page = await visit('/e/e10');
  await page.getByRole('button', { name: 'Restart failed (2)' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Restart 2 failed tasks' }).click();
  await page.getByText('Restarted 2 tasks.').waitFor();
  assert.deepEqual(body(sent('POST', '/experiments/e10/restart')[0]), { failed: true });
  await page.getByRole('button', { name: 'Stop all' }).click();
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Stop \d+ tasks$/ })
    .click();
  await page.getByText('Stopped 15 tasks.').waitFor();
});

test('remove asks, stops what runs, and goes back to the list', async () => {
  const page = await visit('/e/e10');
  await page.getByRole('button', { name: 'More actions' }).click();
  assert.deepEqual(await audit(page), []);
  await page.getByRole('menuitem', { name: 'Remove…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Stop and remove' }).click();
  await page.getByRole('heading', { level: 1, name: 'Experiments' }).waitFor();
  assert.equal(sent('DELETE', '/experiments/e10?stop=1').length, 1);
  await page.waitForFunction(() => !document.querySelector('[data-row="e10"]'));
});

test('export offers CSV and JSON as downloads', async () => {
  const page = await visit('/e/e10');
  await page.getByRole('button', { name: 'More actions' }).click();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('menuitem', { name: 'Export as CSV' }).click(),
  ]);
  assert.equal(download.suggestedFilename(), 'e10.csv');
});

test('the table filters by state and by expression, and sorts by a parameter', async () => {
  const page = await visit('/e/e10');
  await page
    .getByRole('group', { name: 'Filter by state' })
    .getByRole('button', { name: /^Error/ })
    .click();
  await page.waitForFunction(() => document.querySelectorAll('[data-row]').length === 2);
  await page.getByRole('group', { name: 'Filter by state' }).getByRole('button', { name: /^All/ }).click();
  await page.getByRole('searchbox', { name: 'Filter tasks' }).fill('learning = 1e-3, dropout > 0');
  await page.waitForFunction(() => document.querySelectorAll('[data-row]').length === 8);
  await page.getByRole('button', { name: 'batch_size' }).click();
  const sizes = await page.locator('[data-row] td:nth-child(4)').allInnerTexts();
  assert.deepEqual(sizes.map(Number), [8, 8, 16, 16, 32, 32, 64, 64]);
  await page.waitForURL(/sort=p\.batch_size/);
});

test('pointing at a row highlights its curve, and arrows in the chart read values', async () => {
  const page = await visit('/e/e10');
  await whole(page);
  await page.locator('[data-row="4"]').hover();
  await page.locator('.parallel.dimmed [data-id="4"].hot').waitFor({ state: 'attached' });
  // The overlay shows the line.
  await page.waitForFunction(() => {
    const canvas = document.querySelector('.plot-over');
    return canvas
      .getContext('2d')
      .getImageData(0, 0, canvas.width, canvas.height)
      .data.some((v) => v > 0);
  });
  const chart = page.locator('.plot');
  await chart.focus();
  await page.keyboard.press('ArrowLeft');
  await page
    .getByRole('status')
    .getByText(/#\d+, epoch \d+: val_loss 0\.\d+/)
    .waitFor({ state: 'attached' });
});

test('dragging zooms, an update keeps the zoom, the button resets it', async () => {
  const page = await visit('/e/e10');
  await whole(page);
  const box = await page.locator('.plot-area').boundingBox();
  await page.mouse.move(box.x + 100, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + 260, box.y + 80, { steps: 4 });
  await page.mouse.up();
  const reset = page.getByRole('button', { name: 'Reset zoom' });
  await reset.waitFor();
  on.fixture.advance('e10', 36);
  await page.locator('[data-row="36"]').getByText('30/100').waitFor();
  await drawn(page);
  assert.ok(await reset.isVisible());
  await reset.click();
  await reset.waitFor({ state: 'detached' });
});

test('brushing an axis keeps its range in the table and the curves', async () => {
  const page = await visit('/e/e10');
  await whole(page);
  const box = await page.locator('.parallel .grab').last().boundingBox();
  await page.mouse.move(box.x + 12, box.y + box.height * 0.55);
  await page.mouse.down();
  await page.mouse.move(box.x + 12, box.y + box.height * 0.9, { steps: 4 });
  await page.mouse.up();
  await page.getByText(/val_loss .* of 38/).waitFor();
  const rows = await page.locator('[data-row]').count();
  assert.ok(rows > 0 && rows < 38, `${rows} rows`);
  await page.getByRole('button', { name: 'Clear the brush' }).click();
  await page.waitForFunction(() => document.querySelectorAll('[data-row]').length === 48);
});

test('a range of an axis is kept by keys, is spoken, and is in the address', async () => {
  const page = await visit('/e/e10');
  await whole(page);
  const axis = page.getByRole('slider', { name: /^Range of val_loss/ });
  await axis.focus();
  assert.equal(await axis.getAttribute('aria-valuetext'), 'all');
  await page.keyboard.press('PageDown');
  await page.keyboard.press('PageDown');
  await page.getByText(/val_loss ≤ .* of 38/).waitFor();
  await page.waitForURL(/brush=val_loss/);
  assert.match(await axis.getAttribute('aria-valuetext'), /^val_loss ≤ \S+, \d+ of 38 tasks$/);
  await page.waitForFunction(() => {
    const fewer = document.querySelectorAll('[data-row]').length;
    return fewer > 0 && fewer < 38;
  });
  await page.keyboard.press('Shift+PageUp');
  await page.getByText(/val_loss \S+ to \S+ · \d+ of 38/).waitFor();
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => document.querySelectorAll('[data-row]').length === 48);
  await page.waitForURL((url) => !url.search.includes('brush='));
});

test('another metric, linear axis, time axis and the table of values', async () => {
  const page = await visit('/e/e10');
  await page.getByRole('button', { name: /^Metric/ }).click();
  const choice = page.getByRole('group', { name: 'Metrics drawn' });
  await choice.getByLabel('loss', { exact: true }).check();
  await choice.getByLabel('val_loss').uncheck();
  await page.keyboard.press('Escape');
  await page.getByRole('heading', { name: 'loss, all tasks' }).waitFor();
  await page.waitForURL(/metric=loss/);
  await page.getByRole('button', { name: 'log y' }).click();
  await page.getByRole('button', { name: 'Time', exact: true }).first().click();
  await page.getByRole('img', { name: /^loss for \d+ tasks by time/ }).waitFor();
  await page.waitForURL(/x=time/);
  await page.getByRole('button', { name: 'Table' }).click();
  await page.getByRole('columnheader', { name: 'Last time' }).waitFor();
  await page.getByRole('region', { name: 'loss as a table' }).waitFor();
  assert.deepEqual(await audit(page), []);
});

test('a failed task: cause, log, restart', async () => {
  const page = await visit('/e/e10/38');
  await page.getByRole('alert').getByText('ResourceExhaustedError: OOM').first().waitFor();
  await page.getByRole('tab', { name: 'stderr', selected: true }).waitFor();
  await page.getByRole('log').getByText('Traceback (most').waitFor();
  await page.getByRole('searchbox', { name: 'Search the output' }).fill('oom when');
  await page.getByText('1 matching line').waitFor();
  await page.getByRole('tab', { name: 'stdout' }).click();
  await page.getByRole('searchbox', { name: 'Search the output' }).fill('');
  await page.getByRole('log').getByText('Epoch 23/100').waitFor();
  await page.getByRole('button', { name: 'Restart', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Restart 1 task' }).click();
  await page.getByText('Restarted 1 task.').waitFor();
  await page.getByRole('heading', { level: 1 }).locator('..').getByText('Submitted').waitFor();
  await page.getByText('Attempt').first().waitFor();
});

test('a task that ran out of memory restarts with twice as much in one click', async () => {
  const page = await visit('/e/e3/2');
  await page.getByRole('button', { name: 'Restart with 32 GB' }).click();
  await page.getByText('Restarted 1 task with 32 GB.').waitFor();
  assert.deepEqual(body(sent('POST', '/experiments/e3/search')[0]), { resources: { memory: '32G' } });
  assert.deepEqual(body(sent('POST', '/experiments/e3/tasks/restart')[0]), { tasks: [2] });
});

test('so do all tasks of the experiment that did', async () => {
  const page = await visit('/e/e3');
  await page.getByRole('button', { name: 'Restart 3 with 32 GB' }).click();
  await page.getByText('Restarted 3 tasks with 32 GB.').waitFor();
  assert.deepEqual(body(sent('POST', '/experiments/e3/tasks/restart')[0]), { tasks: [2, 4, 6] });
});

test('a running task can be stopped, and its metrics read as a table', async () => {
  const page = await visit('/e/e10/36');
  await page.getByRole('button', { name: 'Table' }).click();
  await page.getByRole('region', { name: 'Metrics as a table' }).waitFor();
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Stop 1 task' }).click();
  await page.getByText('Stopped 1 task.').waitFor();
});

test('compare: only differences, remove one, add one', async () => {
  const page = await visit('/e/e10/compare?tasks=4,12,20');
  await page.getByRole('rowheader', { name: 'epochs' }).waitFor();
  await page.getByLabel('Only differences').check();
  await page.getByRole('rowheader', { name: 'epochs' }).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Remove task #12' }).click();
  await page.getByRole('heading', { name: 'Compare 2 tasks' }).waitFor();
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByLabel('Add tasks').fill('7');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Compare 3 tasks' }).waitFor();
  await page.waitForURL(/tasks=4,20,7/);
});

test('settings: theme is kept, a token is shown once, revoked, and logging out signs out', async () => {
  const page = await visit('/settings');
  await page.getByRole('button', { name: 'Dark', exact: true }).click();
  await page.reload();
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
  await page.getByLabel('Name of the new token').fill('ci');
  await page.getByRole('button', { name: 'Create token' }).click();
  await page.getByText('sluice_secret_0123456789abcdef').waitFor();
  assert.deepEqual(await audit(page), []);
  await page.getByRole('button', { name: 'Revoke ci' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('cell', { name: 'ci', exact: true }).waitFor({ state: 'detached' });
  assert.equal(sent('DELETE', '/tokens/2').length, 1);
  await page.getByRole('button', { name: 'Log out of this browser' }).click();
  await page.getByText('sluice login').waitFor();
  assert.equal(sent('POST', '/logout').length, 1);
});

test('examining the cluster shows what its test job found, and the limits stand beside the partitions', async () => {
  const page = await visit('/cluster');
  await page.getByText('10,001 tasks a job array, no known limit on jobs in the queue').waitFor();
  await page.getByRole('button', { name: 'Run diagnostics' }).click();
  await page.getByText('a test job ran on volta1').waitFor();
  await page.getByText('it listens on its own machine only').waitFor();
  assert.equal(sent('POST', '/cluster/examine').length, 1);
  assert.equal(await page.getByRole('button', { name: 'Run diagnostics' }).isEnabled(), true);
});

test('two thousand nodes are a few rows, ours first, and our queue has reasons', async () => {
  const page = await visit('/cluster');
  const nodes = page.getByRole('region', { name: 'Nodes of slurm' });
  await nodes.getByText('2,000 nodes, as of').waitFor();
  assert.deepEqual(await nodes.locator('tbody tr b').allTextContents(), ['gpu3', 'gpu[1-2,4-1990]', 'gpu[1991-2000]']);
  await nodes.getByText('Taken out of service').waitFor();
  await nodes.getByText('bad <b>disk</b>').waitFor();
  await page.getByRole('link', { name: 'Our tasks in the queue' }).click();
  const queue = page.getByRole('region', { name: 'Our queue' });
  await queue.getByText('Other jobs have a higher priority').waitFor();
  await queue.getByRole('cell', { name: '998', exact: true }).waitFor();
  const running = page.getByRole('region', { name: 'Running tasks' });
  await running.getByText('97 %, 11 GB, 310 W').waitFor();
  await running.getByText('No progress').waitFor();
  await page.goBack();
  await nodes.getByRole('link', { name: 'e1/5' }).click();
  await page.waitForURL('**/e/e1/5');
});

test('a cluster that has not answered yet is being asked, not absent, and appears by itself', async () => {
  on.fixture.asking = true;
  const page = await visit('/cluster');
  const card = page.getByRole('region', { name: 'slurm', exact: true });
  await card.getByText('being asked', { exact: true }).waitFor();
  assert.equal(await card.getByText('Accounting').count(), 0);
  on.fixture.asking = false;
  await card.getByText('gpu_volta').waitFor();
  await card.getByText('available', { exact: true }).waitFor();
});

test('what could not be fetched of the cluster is forgotten with the next answer', async () => {
  const page = await visit('/cluster', { allow: ['ERR_'] });
  const nodes = page.getByRole('region', { name: 'Nodes of slurm' });
  await nodes.getByText('2,000 nodes, as of').waitFor();
  // The other question has no answer meanwhile, so nothing but the one that failed can take the message away.
  await page.route('**/api/v1/cluster', () => undefined);
  await page.route('**/api/v1/cluster/use', (route) => route.abort());
  const refresh = page.getByRole('button', { name: 'Refresh' });
  await refresh.click();
  const trouble = page.getByText('The state of the cluster could not be fetched.');
  await trouble.waitFor();
  await page.unroute('**/api/v1/cluster/use');
  await refresh.click();
  await trouble.waitFor({ state: 'detached' });
});

test('a task is measured against the best one, and the best against nobody', async () => {
  const page = await visit('/e/e10/4');
  const card = page.getByRole('region', { name: 'Metrics' });
  await card.getByText('Dashed grey: val_loss of the best').waitFor();
  await card.getByRole('link', { name: /^#\d+$/ }).click();
  await page.getByText(/^best of \d+$/).waitFor();
  await card.getByRole('img', { name: /val_loss by epoch/ }).waitFor();
  assert.equal(await card.getByText('Dashed grey').count(), 0);
});
