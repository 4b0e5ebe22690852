// The event stream: what changes on the page without a reload, what happens when the daemon goes away, and signing in.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { audit, drawn, PATIENCE_MS, whole } from './browser.mjs';
import { summary } from './experiment.mjs';
import { INFO } from './info.mjs';
import { stage } from './stage.mjs';

const on = stage();
const { visit } = on;
const live = (page) => page.locator('.live.open').waitFor();

test('five new tasks become five live curves, and the best is named', async () => {
  const page = await visit('/new');
  await page.locator('#script').setInputFiles({
    name: 'model.py',
    mimeType: 'text/plain',
    buffer: Buffer.from('import sys\nbatch_size = int(sys.argv[3])'),
  });
  await page.getByLabel('Values of batch_size').fill('64,32,16,8,4');
  await page.getByRole('button', { name: 'Submit 5 tasks' }).first().click();
  await page.waitForURL('**/e/e11');
  await page.getByText('No value of').waitFor();
  await live(page);
  for (let n = 1; n <= 5; n++) on.fixture.setState('e11', n, 'running');
  for (let step = 0; step < 3; step++)
    for (let n = 1; n <= 5; n++) on.fixture.advance('e11', n, { loss: 1 / (n + step), val_loss: 1.1 / (n + step) });
  await page.getByRole('img', { name: /val_loss for 5 tasks by epoch.*best is task 5/ }).waitFor();
  await page.locator('.kpi.first').getByText('#5').waitFor();
  await page.waitForFunction(() => document.querySelectorAll('[role=progressbar]').length === 5);
  for (let n = 1; n <= 5; n++) on.fixture.setState('e11', n, 'finished');
  await page.getByText('every task has ended').waitFor();
  await page.locator('[data-row="5"]').getByText('Best:').waitFor({ state: 'attached' });
});

test('the list follows without a reload', async () => {
  const page = await visit('/');
  await live(page);
  await page.locator('[data-row="e9"]').getByText('4 of 12').waitFor();
  on.fixture.setState('e9', 5, 'finished');
  await page.locator('[data-row="e9"]').getByText('5 of 12').waitFor();
  on.fixture.emit('removed', { experiment: 'e1' });
  await page.locator('[data-row="e1"]').waitFor({ state: 'detached' });
  on.fixture.emit('notice', { level: 'warning', text: 'e9 is paused: 3 tasks failed' });
  await page.getByText('e9 is paused: 3 tasks failed').waitFor();
});

test('the task page follows: metrics, log, end', async () => {
  const page = await visit('/e/e10/36');
  await live(page);
  await page
    .getByRole('log')
    .getByText(/Epoch 29\/100/)
    .waitFor();
  on.fixture.advance('e10', 36);
  await page
    .getByRole('log')
    .getByText(/Epoch 30\/100/)
    .waitFor();
  await page.getByText('30 of 100').waitFor();
  on.fixture.setState('e10', 36, 'error', {
    cause: {
      kind: 'signal',
      code: null,
      signal: 9,
      text: 'killed by signal 9',
      remedy: 'ask for more memory',
      tail: 'Killed\n',
    },
  });
  await page.getByRole('alert').getByText('Killed by signal 9').waitFor();
});

test('selection, filter and scroll survive updates', async () => {
  const page = await visit('/e/e10?state=running&sel=36');
  await live(page);
  await page.waitForFunction(() => document.querySelectorAll('[data-row]').length === 3);
  await whole(page);
  await page.evaluate(() => scrollTo(0, 200));
  on.fixture.advance('e10', 36);
  await page.locator('[data-row="36"]').getByText('30/100').waitFor();
  await drawn(page);
  assert.ok(await page.getByLabel('Select task 36').isChecked());
  assert.equal(await page.evaluate(() => scrollY), 200);
  assert.equal(await page.locator('[data-row]').count(), 3);
});

test('the daemon goes away: data stays, the banner says so, and missed events are fetched by the last id', async () => {
  const page = await visit('/', { allow: ['ERR_', 'Failed to load'] });
  await live(page);
  on.fixture.setState('e9', 5, 'finished');
  await page.locator('[data-row="e9"]').getByText('5 of 12').waitFor();
  const { port } = on.fixture;
  await on.fixture.stop();
  await page.getByText('Reconnecting.').waitFor();
  await page.locator('[data-row="e9"]').getByText('5 of 12').waitFor();
  assert.deepEqual(await audit(page), []);
  on.fixture.setState('e9', 6, 'finished');
  await on.fixture.start(port);
  await page.locator('[data-row="e9"]').getByText('6 of 12').waitFor();
  await page.getByText('Reconnecting.').waitFor({ state: 'detached' });
});

test('a restarted daemon sends reset, and what is shown is fetched again', async () => {
  const page = await visit('/e/e10', { allow: ['ERR_', 'Failed to load'] });
  await live(page);
  on.fixture.advance('e10', 36); // without an event before it there is nothing to go on from
  await page.locator('[data-row="36"]').getByText('30/100').waitFor();
  const { port } = on.fixture;
  await on.fixture.stop();
  await page.getByText('Reconnecting.').waitFor();
  on.fixture.setState('e10', 36, 'finished');
  on.fixture.boot = 'b2';
  on.fixture.past = [];
  await on.fixture.start(port);
  await page.locator('[data-row="36"]').getByText('Finished').waitFor();
});

// A browser opens six connections to one server, so the seventh tab would wait for ever.
test('seven tabs share one stream', async () => {
  const page = await visit('/');
  await live(page);
  for (let i = 0; i < 6; i++) {
    const tab = await on.seats[0].context.newPage();
    await tab.goto(`${on.fixture.url}/e/e10`);
    await tab.locator('.live.open').waitFor();
  }
  assert.equal(on.fixture.streams.size, 1);
  assert.equal(on.fixture.connections, 1);
});

test('without SharedWorker the page keeps its own stream', async () => {
  const context = await on.browser.newContext();
  context.setDefaultTimeout(PATIENCE_MS);
  await context.addInitScript(() => {
    delete globalThis.SharedWorker;
  });
  const page = await context.newPage();
  await page.goto(on.fixture.url);
  await live(page);
  on.fixture.setState('e9', 5, 'finished');
  await page.locator('[data-row="e9"]').getByText('5 of 12').waitFor();
  await context.close();
});

test('a login link signs in and leaves the address', async () => {
  on.fixture.needLogin = true;
  const page = await visit('/#login=good-code');
  await page.getByRole('link', { name: 'conv2d-nodropout-v2' }).first().waitFor();
  assert.equal(new URL(page.url()).hash, '');
  await live(page);
});

test('a session is sent as a header with every request and never as a cookie, and can be ended in the settings', async () => {
  on.fixture.needLogin = true;
  const page = await visit('/#login=good-code', { allow: ['401'] });
  await live(page);
  assert.deepEqual(await on.seats[0].context.cookies(), []);
  const tab = await on.seats[0].context.newPage();
  await tab.goto(`${on.fixture.url}/settings`);
  const row = tab
    .getByRole('region', { name: 'Signed-in browsers' })
    .getByRole('row', { name: /Chrome on Linux \(this one\)/ });
  await row.waitFor();
  assert.deepEqual(await audit(tab), []);
  await row.getByRole('button', { name: 'End session 1' }).click();
  await tab.getByRole('heading', { name: 'Sign in again' }).waitFor();
  // A link that is opened in one tab signs the others in, too.
  await page.reload();
  await page.getByRole('heading', { name: 'You are not signed in' }).waitFor();
  await tab.goto(`${on.fixture.url}/#login=good-code`);
  await live(tab);
  await page.getByRole('link', { name: 'conv2d-nodropout-v2' }).first().waitFor();
  await live(page);
});

test('without a session the page says how to get one', async () => {
  on.fixture.needLogin = true;
  const page = await visit('/e/e10', { allow: ['401'] });
  await page.getByText('sluice login').waitFor();
  assert.deepEqual(await audit(page), []);
  await page.goto(`${on.fixture.url}/#login=old-code`);
  await page.reload();
  await page.getByRole('heading', { name: 'You are not signed in' }).waitFor();
});

test('a session that ends while a page is open leads to the same page', async () => {
  on.fixture.needLogin = true;
  const page = await visit('/#login=good-code', { allow: ['401'] });
  await live(page);
  on.fixture.sessions.clear();
  for (const res of on.fixture.streams) res.destroy();
  await page.getByRole('heading', { name: 'Sign in again' }).waitFor();
  await page.getByText('sluice login').waitFor();
  assert.deepEqual(await audit(page), []);
});

test('where the state folder is not the usual one, the page says so, and whoever was signed in sees the whole command', async () => {
  const whole = "SLUICE_STATE='/home/ana/it'\\''s mine' '/usr/bin/sluice' login";
  const usual = INFO.login;
  on.fixture.needLogin = true;
  on.fixture.loginCommand = 'SLUICE_STATE=DIR sluice login';
  INFO.login = whole;
  try {
    const page = await visit('/', { allow: ['401'] });
    await page.getByText('SLUICE_STATE=DIR sluice login').waitFor();
    await page.getByText('the log of the daemon, or the terminal in which').waitFor();
    assert.deepEqual(await audit(page), []);
    await page.goto(`${on.fixture.url}/#login=good-code`);
    await live(page);
    on.fixture.sessions.clear();
    for (const res of on.fixture.streams) res.destroy();
    await page.getByText(whole).waitFor();
    assert.equal(await page.getByText('the terminal in which').count(), 0);
  } finally {
    INFO.login = usual;
  }
});

test('what waiting tasks wait for follows their experiment, without an event for each of them', async () => {
  const model = on.fixture.models.get('e9');
  const tell = (text) => {
    model.e.waiting_for = text;
    on.fixture.emit('experiment', summary(model));
  };
  model.e.waiting_for = 'waits for 1 CPU: e1 has 2 of 2';
  Object.assign(model.tasks[11], {
    state: 'waiting',
    submitted: null,
    reason: 'exit code 1; retry 1 of 3',
    waiting_for: model.e.waiting_for,
  });
  const page = await visit('/e/e9');
  await live(page);
  const row = page.locator('[data-row="12"]');
  await row.getByText('exit code 1; retry 1 of 3; waits for 1 CPU: e1 has 2 of 2').waitFor();
  tell('waits for 1 CPU: e3 has 1 of 2, its own experiment has 1 of 2');
  await row
    .getByText('exit code 1; retry 1 of 3; waits for 1 CPU: e3 has 1 of 2, its own experiment has 1 of 2')
    .waitFor();
  tell(null);
  await row.getByText('exit code 1; retry 1 of 3', { exact: true }).waitFor();
  // Nothing of it runs: the page says so, and asks nobody to look after it.
  const stuck = model.e.note;
  await page.goto(`${on.fixture.url}/`);
  await page.locator('.attention').getByText(stuck).waitFor();
  model.e.note = 'waits for 1 CPU: e1 has 2 of 2';
  tell(model.e.note);
  await page.locator('.attention').getByText(stuck).waitFor({ state: 'detached' });
  assert.equal(await page.locator('.attention').getByText('waits for 1 CPU').count(), 0);
  await page.goto(`${on.fixture.url}/e/e9`);
  await page.locator('.banner.note').getByText('Waits for 1 CPU: e1 has 2 of 2').waitFor();
  model.e.note = stuck;
  tell(null);
  await page.locator('.banner.warn').getByText('Waiting for the controller').waitFor();
  await page.goto(`${on.fixture.url}/e/e9/12`);
  await live(page);
  tell('waits for another task of its experiment to end: parallel is 2');
  await page
    .locator('p.reason')
    .getByText('exit code 1; retry 1 of 3; waits for another task of its experiment to end: parallel is 2')
    .waitFor();
});
