// Every screen, light and dark, at a desk and on a phone: no console error, no CSP report, no foreign request, no
// sideways scrolling. axe-core, which takes longer than all the rest, looks at each screen in two of the four: both
// themes and both sizes.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { audit, launch, open, sideways } from './browser.mjs';
import { Fixture } from './server.mjs';

const SCREENS = {
  list: ['/', 'conv2d-nodropout-v2'],
  'list, filtered to nothing': ['/?q=nothing-matches', 'No experiment matches'],
  experiment: ['/e/e10', 'Further charts'],
  'experiment with a timeline': ['/e/e10?show=timeline', 'volta01 GPU 0'],
  'experiment with a scatter': ['/e/e10?show=scatter&smooth=5', 'with both values'],
  'experiment with a selection': ['/e/e10?sel=1,2,40&state=finished', 'selected'],
  'experiment with a note and a budget': ['/e/e9', 'slurmctld does not answer'],
  'failed task': ['/e/e10/38', 'ResourceExhaustedError'],
  'running task': ['/e/e10/36', 'running for'],
  'waiting task': ['/e/e10/48', 'not started'],
  compare: ['/e/e10/compare?tasks=4,12,20', 'Compare 3 tasks'],
  'compare nothing': ['/e/e10/compare', 'No task is chosen'],
  new: ['/new', 'No script yet'],
  queue: ['/queue', 'gpu_volta'],
  cluster: ['/cluster', 'gpu_volta'],
  settings: ['/settings', 'notebook'],
  'no such page': ['/nowhere', 'There is no such page'],
  'no such experiment': ['/e/e999', 'There is no such experiment'],
  'no such task': ['/e/e10/999', 'There is no such task'],
};

// What looks the same in every combination is looked at in two of the four.
const PLAIN = ['list, filtered to nothing', 'compare nothing', 'no such page', 'no such experiment', 'no such task'];

let browser;
let fixture;
before(async () => {
  browser = await launch();
  fixture = await new Fixture('all').start();
});
after(async () => {
  await browser?.close();
  await fixture?.stop();
});

for (const theme of ['light', 'dark']) {
  for (const size of ['desk', 'phone']) {
    describe(`${theme}, ${size}`, () => {
      let shared;
      before(async () => {
        shared = await open(browser, `${fixture.url}/settings`, { theme, size, allow: ['404'] });
      });
      after(async () => {
        await shared?.context.close();
      });
      for (const [name, [path, text]] of Object.entries(SCREENS)) {
        if (PLAIN.includes(name) && (theme === 'light') !== (size === 'desk')) continue;
        test(name, async () => {
          const { page, troubles } = shared;
          await page.goto(fixture.url + path);
          await page.getByText(text).first().waitFor({ state: 'attached' });
          await page.waitForTimeout(150);
          assert.equal(await page.locator('h1').count(), 1, 'one h1');
          assert.ok((await sideways(page)) <= 0, 'scrolls sideways');
          if ((theme === 'light') === (size === 'desk')) assert.deepEqual(await audit(page), []);
          assert.deepEqual(troubles.splice(0), []);
          assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), theme);
        });
      }
    });
  }
}

test('200 % zoom and 320 px need no sideways scrolling', async () => {
  const { page, context } = await open(browser, `${fixture.url}/settings`, { size: { width: 320, height: 700 } });
  for (const path of [
    '/',
    '/e/e10',
    '/e/e10/38',
    '/new',
    '/queue',
    '/cluster',
    '/settings',
    '/e/e10/compare?tasks=1,2,3',
    '/e/e6',
    '/e/e7',
  ]) {
    await page.goto(fixture.url + path);
    await page.locator('h1').waitFor({ state: 'attached' });
    await page.waitForTimeout(200);
    assert.ok((await sideways(page)) <= 0, `${path} scrolls sideways by ${await sideways(page)}`);
  }
  await context.close();
});

test('an empty daemon teaches the first step', async () => {
  const empty = await new Fixture('empty').start();
  const { page, context, troubles } = await open(browser, empty.url);
  await page.getByText('No experiments yet').waitFor();
  assert.deepEqual(await audit(page), []);
  await page.getByRole('main').getByRole('link', { name: 'New experiment' }).first().click();
  await page.getByRole('heading', { level: 1, name: 'New experiment' }).waitFor();
  assert.deepEqual(troubles, []);
  await context.close();
  await empty.stop();
});
