// Tags, notes, stars, the archive and the search, in a real browser against the real daemon. SLUICE_BIN names the
// program.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { audit, launch, open, SIZES, sideways } from './browser.mjs';
import { Daemon, skip } from './daemon.mjs';

let daemon;
let browser;
let seat;

const HOSTILE = '<img src=x onerror=alert(1)> [x](javascript:alert(1)) \u202etxet\u0007';

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
  const spec = { name, resources: { backend: 'external' }, objective: 'loss', parameters: { lr: [0.1, 0.01] } };
  const { id } = await daemon.api('POST', '/experiments', { experiment: spec });
  const rows = [0.1, 0.01].map((lr) => ({ parameters: { lr }, values: { loss: lr } }));
  await daemon.api('POST', `/experiments/${id}/import`, { rows });
  return id;
}

const region = (name) => seat.page.getByRole('region', { name });

test('tags, star and notes of an experiment are written and stay', { skip }, async () => {
  const { page } = seat;
  const id = await made('marked');
  await page.goto(`${daemon.url}/e/${id}`);
  await page.getByRole('button', { name: 'Star', exact: true }).click();
  await page.getByRole('button', { name: 'Star', exact: true, pressed: true }).waitFor();
  await page.getByRole('button', { name: 'Tag', exact: true }).click();
  await page.getByRole('textbox', { name: 'New tag' }).fill('paper, second try');
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'second try' }).waitFor();
  await page.getByRole('button', { name: 'Remove the tag second try' }).click();
  await page.getByRole('link', { name: 'second try' }).waitFor({ state: 'detached' });
  const notes = region('Notes');
  await notes.getByRole('button', { name: 'Write' }).click();
  await notes
    .getByRole('textbox')
    .fill(
      `# Result\n\n- **bold** and *thin*\n- see ${id}/1\n\n\`\`\`\nlr = 0.1\n\`\`\`\n\n${HOSTILE} https://example.org/a?b=c.`,
    );
  await notes.getByRole('button', { name: 'Save' }).click();
  await notes.getByRole('heading', { name: 'Result' }).waitFor();
  assert.equal(await notes.locator('strong').innerText(), 'bold');
  assert.equal(await notes.locator('pre').innerText(), 'lr = 0.1');
  assert.deepEqual(await notes.locator('a').evaluateAll((all) => all.map((a) => a.getAttribute('href'))), [
    `/e/${id}/1`,
    'https://example.org/a?b=c',
  ]);
  assert.equal(await notes.locator('img, script').count(), 0);
  await notes.getByText('<img src=x onerror=alert(1)>').waitFor();
  await page.reload();
  await page.getByRole('button', { name: 'Star', exact: true, pressed: true }).waitFor();
  await notes.getByRole('heading', { name: 'Result' }).waitFor();
  const stored = await daemon.api('GET', `/experiments/${id}`);
  assert.deepEqual([stored.tags, stored.star], [['paper'], true]);
  assert.ok(stored.notes.includes(HOSTILE));
  assert.deepEqual(await audit(page), []);
  assert.deepEqual(seat.troubles, []);
});

test('a task is marked, and another tab sees it without a reload', { skip }, async () => {
  const { page } = seat;
  const id = await made('task marks');
  const other = await open(browser, await daemon.login());
  await other.page.goto(`${daemon.url}/e/${id}/1`);
  await other.page.getByRole('button', { name: 'Star', exact: true, pressed: false }).waitFor();
  await page.goto(`${daemon.url}/e/${id}/1`);
  await page.getByRole('button', { name: 'Star', exact: true }).click();
  await page.getByRole('button', { name: 'Tag', exact: true }).click();
  await page.getByRole('textbox', { name: 'New tag' }).fill('<b>odd</b>');
  await page.keyboard.press('Enter');
  await other.page.getByRole('button', { name: 'Star', exact: true, pressed: true }).waitFor();
  await other.page.getByText('<b>odd</b>', { exact: true }).waitFor();
  assert.deepEqual(other.troubles, []);
  await other.context.close();
  await page.getByRole('button', { name: 'Tag', exact: true }).click();
  await page.getByRole('textbox', { name: 'New tag' }).fill('x'.repeat(80));
  await page.keyboard.press('Enter');
  await page.getByText('a tag is 1 to 60 bytes').waitFor();
  for (const trouble of seat.troubles.splice(0)) assert.match(trouble, /400/);
});

test('the list groups by tag, leaves out the archive and finds what rows do not show', { skip }, async () => {
  const { page } = seat;
  const [first, second] = [await made('vision'), await made('language')];
  await daemon.api('POST', `/experiments/${first}/marks`, { tags: ['thesis'], notes: 'the needle is here' });
  await daemon.api('POST', `/experiments/${second}/tasks/2/marks`, { notes: 'an odd loss curve' });
  await page.goto(daemon.url);
  await page.getByRole('navigation', { name: 'Tags' }).getByRole('link', { name: 'thesis 1' }).click();
  await page.locator(`[data-row="${first}"]`).waitFor();
  assert.equal(await page.locator('[data-row]').count(), 1);
  assert.match(page.url(), /\?tag=thesis$/);
  await page.goto(daemon.url);
  const search = page.locator('[data-search]');
  await search.fill('needle');
  await region(/Found in/)
    .getByRole('link', { name: first })
    .getByText('the needle is here')
    .waitFor();
  await search.fill('odd loss');
  await region(/Found in/)
    .getByRole('link', { name: `${second}/2` })
    .click();
  await page.waitForURL(`**/e/${second}/2`);
  await page.goto(`${daemon.url}/e/${second}`);
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Archive' }).click();
  await page.getByText('archived', { exact: true }).waitFor();
  await page.goto(daemon.url);
  await page.locator(`[data-row="${first}"]`).waitFor();
  assert.equal(await page.locator(`[data-row="${second}"]`).count(), 0);
  await page.getByRole('link', { name: 'Archived' }).click();
  await page.getByRole('heading', { name: 'Archived experiments' }).waitFor();
  await page.locator(`[data-row="${second}"]`).waitFor();
  assert.equal(await page.locator('[data-row]').count(), 1);
  assert.deepEqual(seat.troubles, []);
});

test('marks fit every size and theme', { skip }, async () => {
  const id = await made('looks');
  const tags = ['a fairly long tag of many words in one', ...Array.from({ length: 12 }, (_, i) => `tag${i}`)];
  await daemon.api('POST', `/experiments/${id}/marks`, {
    tags,
    star: true,
    notes: `# Plan\n\n${'long word '.repeat(60)}`,
  });
  await daemon.api('POST', `/experiments/${id}/tasks/1/marks`, { tags, star: true, notes: 'x'.repeat(3000) });
  const storage = await seat.context.storageState();
  for (const [size, box] of Object.entries({ ...SIZES, small: { width: 1024, height: 768 } }))
    for (const theme of ['light', 'dark']) {
      const look = await open(browser, `${daemon.url}/e/${id}`, { size: box, theme, storage });
      for (const path of [`/e/${id}`, `/e/${id}/1`, '/?q=looks']) {
        await look.page.goto(daemon.url + path);
        await look.page.getByText('tag11').first().waitFor();
        assert.equal(await sideways(look.page), 0, `${path} at ${size} scrolls sideways`);
        if (process.env.SHOTS) {
          const name = `marks${path.replace(/\W+/g, '-')}-${size}-${theme}.png`;
          await look.page.screenshot({ path: `${process.env.SHOTS}/${name}`, fullPage: true });
        }
        if (theme === 'dark') assert.deepEqual(await audit(look.page), [], `${path} at ${size}`);
      }
      assert.deepEqual(look.troubles, []);
      await look.context.close();
    }
});
