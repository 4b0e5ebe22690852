// Every screen against the real daemon, with hostile text in every field that a user can fill: three sizes, light and
// dark, axe-core, no sideways scrolling, no console error, CSP report or foreign request, nothing that runs. And what
// belongs to all screens: seven tabs on one stream, and a daemon that is killed and started under open pages.
// SLUICE_BIN names the program.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { audit, drawn, launch, open, PATIENCE_MS, SIZES, sideways } from './browser.mjs';
import { Daemon, skip } from './daemon.mjs';

// Markup, a script, terminal codes, right-to-left text, a word that does not wrap.
const EVIL = `<img src=x onerror="window.pwned=1"><script>window.pwned=1</script> "quoted" \u202eright-to-left\u202c שלום`;
const LONG = 'w'.repeat(120);
const ALL = { ...SIZES, small: { width: 1024, height: 768 } };

// The parameter's value decides what a task does.
const SCRIPT = `import sys, time
how = sys.argv[1].split("=", 1)[1]
print("\\x1b[31m<b>bold</b>\\x1b[0m \\x1b]0;title\\x07 \\u202eabc " + "x" * 3000)
for epoch in range(1, 6):
    print(f"epoch {epoch} val_loss {1 / epoch + len(how) / 100:.4f} loss {0.8 / epoch:.4f}", flush=True)
if "fail" in how:
    raise ValueError('<script>window.pwned=1</script> & <img src=x onerror="window.pwned=1"> ' + "y" * 200)
if how == "long":
    time.sleep(3600)
`;

let daemon;
let browser;
let seat;
let id;

before(async () => {
  if (skip) return;
  daemon = await Daemon.start();
  browser = await launch();
  ({ id } = await daemon.api('POST', '/experiments', {
    experiment: {
      name: EVIL.slice(0, 100),
      description: EVIL,
      script: 'a.py',
      parameters: { how: ['one', 'fail', `<i>${LONG}</i>`, EVIL, 'long'] },
      objective: { metric: 'val_loss', goal: 'min' },
      stop: { failures: 'off' },
    },
    files: [{ path: 'a.py', text: SCRIPT }],
  }));
  await daemon.api('POST', `/experiments/${id}/marks`, {
    tags: ['<b>tag</b>', 'שלום'],
    notes: `# ${EVIL}\n\n[link](javascript:window.pwned=1) ![x](javascript:window.pwned=1)\n\n${LONG}\n`,
    star: true,
  });
  await daemon.api('POST', `/experiments/${id}/tasks/1/marks`, { tags: ['<i>task</i>'], notes: `**${EVIL}**` });
  await daemon.api('POST', '/tokens', { name: EVIL.slice(0, 60) }).catch(() => undefined);
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; ) {
    const { tasks } = await daemon.api('GET', `/experiments/${id}`);
    if (tasks.running === 1 && tasks.finished === 3 && tasks.error === 1) break;
    await new Promise((done) => {
      setTimeout(done, 200);
    });
  }
  seat = await open(browser, await daemon.login(), { allow: ['404'] });
  await seat.page.locator('.live.open').waitFor();
});

after(async () => {
  if (skip) return;
  await browser.close();
  await daemon.api('POST', `/experiments/${id}/stop`, {}).catch(() => undefined);
  await daemon.cli('watch', id).catch(() => undefined);
  await daemon.stop();
});

// What each screen shows when it is there.
const SCREENS = {
  list: ['/', (page) => page.locator('[data-row]').first()],
  'list with hits': [
    '/?q=pwned',
    (page) =>
      page
        .getByRole('region', { name: /^Found in/ })
        .getByText('cause')
        .first(),
  ],
  experiment: [() => `/e/${id}`, (page) => page.getByRole('img', { name: /^val_loss, loss|^val_loss for/ })],
  'experiment with charts': [() => `/e/${id}?show=scatter&smooth=5&sel=1,3`, (page) => page.getByLabel('Across')],
  'experiment with a timeline': [() => `/e/${id}?show=timeline`, (page) => page.getByText(/idle/i).first()],
  'failed task': [() => `/e/${id}/2`, (page) => page.getByRole('alert').getByText('ValueError').first()],
  'finished task': [() => `/e/${id}/1`, (page) => page.getByRole('log').getByText('bold').first()],
  'running task': [() => `/e/${id}/5`, (page) => page.getByText('running for').first()],
  compare: [() => `/e/${id}/compare?tasks=1,2,3,4`, (page) => page.getByRole('heading', { name: 'Compare 4 tasks' })],
  new: ['/new', (page) => page.getByText('No script yet')],
  clone: [() => `/new?from=${id}`, (page) => page.getByRole('button', { name: /^Submit/ }).first()],
  queue: ['/queue', (page) => page.getByRole('link', { name: `${id}/5` }).first()],
  cluster: ['/cluster', (page) => page.getByText('available', { exact: true }).first()],
  settings: ['/settings', (page) => page.getByRole('heading', { level: 1 })],
  'no such experiment': ['/e/e999', (page) => page.getByText('There is no such experiment')],
};

for (const [name, [path, shown]] of Object.entries(SCREENS))
  test(`${name}: every size and theme, nothing runs`, { skip }, async () => {
    const { page, troubles } = seat;
    await page.setViewportSize(SIZES.desk);
    await page.goto(daemon.url + (typeof path === 'string' ? path : path()));
    await shown(page).waitFor();
    for (const [size, window] of Object.entries(ALL)) {
      await page.setViewportSize(window);
      for (const theme of ['light', 'dark']) {
        await page.emulateMedia({ colorScheme: theme });
        await drawn(page);
        assert.ok((await sideways(page)) <= 0, `scrolls sideways: ${size}`);
        // axe-core takes longer than all the rest.
        if ((theme === 'light') === (size === 'desk')) assert.deepEqual(await audit(page), [], `${size} ${theme}`);
        if (process.env.SHOTS)
          await page.screenshot({ path: `${process.env.SHOTS}/${name.replaceAll(' ', '-')}-${size}-${theme}.png` });
      }
    }
    assert.equal(await page.locator('h1').count(), 1);
    assert.equal(await page.evaluate(() => globalThis.pwned), undefined, 'something ran');
    assert.equal(await page.locator('main img[src="x"], main script').count(), 0, 'markup became elements');
    assert.deepEqual(troubles.splice(0), []);
  });

test('by keys alone: skip link, rows, select, compare, search, help, new', { skip }, async () => {
  const { page, troubles } = seat;
  await page.setViewportSize(SIZES.desk);
  await page.goto(daemon.url);
  await page.locator('[data-row]').first().waitFor();
  await drawn(page);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'main');
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/e/${id}`);
  await page.locator('[data-row]').nth(4).waitFor();
  await drawn(page);
  for (const key of ['j', 'x', 'j', 'x']) await page.keyboard.press(key);
  await page.getByText('2 tasks selected').waitFor();
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('c');
  await page.getByRole('heading', { name: 'Compare 2 tasks' }).waitFor();
  await drawn(page);
  await page.keyboard.press('n');
  await page.getByRole('heading', { level: 1, name: 'New experiment' }).waitFor();
  assert.deepEqual(troubles.splice(0), []);
});

test('an experiment is exported as CSV and JSON, with its hostile values', { skip }, async () => {
  const { page, troubles } = seat;
  const exported = async (kind) => {
    await page.getByRole('button', { name: 'More actions' }).click();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: `Export as ${kind}` }).click(),
    ]);
    assert.equal(file.suggestedFilename(), `${id}.${kind.toLowerCase()}`);
    return readFile(await file.path(), 'utf8');
  };
  await page.goto(`${daemon.url}/e/${id}`);
  await page.locator('[data-row]').first().waitFor();
  const csv = await exported('CSV');
  assert.ok(csv.includes(`"${EVIL.replaceAll('"', '""')}"`), csv);
  const values = JSON.parse(await exported('JSON')).tasks.map((task) => task.parameters.how);
  assert.ok(values.includes(EVIL) && values.length === 5, JSON.stringify(values));
  assert.deepEqual(troubles.splice(0), []);
});

// A browser opens six connections to one server over HTTP/1.1, so the seventh tab would wait for ever.
test('seven tabs are live at once, and follow one event', { skip }, async () => {
  const tabs = [];
  for (let i = 0; i < 7; i++) {
    const tab = await seat.context.newPage();
    await tab.goto(i % 2 ? `${daemon.url}/e/${id}` : daemon.url);
    await tab.locator('.live.open').waitFor();
    tabs.push(tab);
  }
  const made = await daemon.api('POST', '/experiments', {
    experiment: { name: 'for all tabs', resources: { backend: 'external' }, parameters: { n: [1] }, objective: 'loss' },
  });
  for (const [i, tab] of tabs.entries()) {
    if (i % 2) continue;
    await tab.locator(`[data-row="${made.id}"]`).waitFor();
  }
  await daemon.api('POST', `/experiments/${id}/tasks/1/marks`, { tags: ['seen everywhere'] });
  for (const [i, tab] of tabs.entries()) if (i % 2) await tab.getByText('seen everywhere').first().waitFor();
  for (const tab of tabs) await tab.close();
  assert.deepEqual(seat.troubles.splice(0), []);
});

test('the daemon is killed and started under open pages: the data stay, and all come back', { skip }, async () => {
  const paths = ['/', `/e/${id}`, `/e/${id}/5`, `/e/${id}/compare?tasks=1,3`, '/queue'];
  const tabs = [];
  const noise = [
    'ERR_CONNECTION_REFUSED',
    'ERR_EMPTY_RESPONSE',
    'ERR_INCOMPLETE_CHUNKED',
    'ERR_CONNECTION_RESET',
    '401',
  ];
  const own = await open(browser, await daemon.login(), { allow: noise });
  for (const path of paths) {
    const tab = await own.context.newPage();
    tab.on('pageerror', (error) => own.troubles.push(String(error)));
    await tab.goto(daemon.url + path);
    await tab.locator('.live.open').waitFor();
    tabs.push(tab);
  }
  await tabs[1].locator('[data-row="5"]').waitFor();
  const gone = new Promise((done) => {
    daemon.process.once('exit', done);
  });
  daemon.process.kill('SIGKILL');
  await gone;
  for (const tab of tabs) await tab.getByText('Reconnecting.').waitFor();
  assert.equal(await tabs[1].locator('[data-row]').count(), 5, 'the rows stay');
  daemon.serve();
  await daemon.answers();
  // All sessions end when a daemon starts: one link brings every tab back.
  await tabs[1].getByRole('heading', { name: 'Sign in again' }).waitFor();
  await own.page.goto(await daemon.login());
  await own.page.locator('.live.open').waitFor();
  for (const [i, tab] of tabs.entries()) {
    await tab.goto(daemon.url + paths[i]);
    await tab.locator('.live.open').waitFor();
  }
  await tabs[1].locator('[data-row="5"]').getByText('Running').waitFor();
  assert.deepEqual(own.troubles, []);
  await own.context.close();
});
