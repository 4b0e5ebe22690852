// The layout of the main pages in three sizes, light and dark, against kept baselines (layout.json; LAYOUT=write writes
// them anew). See layout.mjs for what is compared.
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { launch, open, SIZES, whole } from './browser.mjs';
import { differences, layoutOf } from './layout.mjs';
import { Fixture } from './server.mjs';

const KEPT = new URL('layout.json', import.meta.url);
const WRITE = process.env.LAYOUT === 'write';
const WINDOWS = { desk: SIZES.desk, small: { width: 1024, height: 768 }, phone: SIZES.phone };
const PAGES = {
  list: ['/', 'conv2d-nodropout-v2'],
  experiment: ['/e/e10', null],
  'failed task': ['/e/e10/38', 'ResourceExhaustedError'],
  compare: ['/e/e10/compare?tasks=4,12,20', 'Compare 3 tasks'],
  new: ['/new', 'No script yet'],
  queue: ['/queue', 'gpu_volta'],
  cluster: ['/cluster', 'gpu_volta'],
  settings: ['/settings', 'notebook'],
};

let browser;
let fixture;
let seat;
let blank;
let kept = {};
before(async () => {
  browser = await launch();
  fixture = await new Fixture('all').start();
  seat = await open(browser, `${fixture.url}/settings`);
  blank = await (await browser.newContext()).newPage();
  if (!WRITE) kept = JSON.parse(await readFile(KEPT, 'utf8'));
});
after(async () => {
  await browser?.close();
  await fixture?.stop();
  if (!WRITE) return;
  const line = ([key, value]) => `    ${JSON.stringify(key)}: ${JSON.stringify(value)}`;
  const parts = Object.entries(kept).map(
    ([key, value]) => `  ${JSON.stringify(key)}: {\n${Object.entries(value).map(line).join(',\n')}\n  }`,
  );
  await writeFile(KEPT, `{\n${parts.join(',\n')}\n}\n`);
});

async function show(name) {
  const { page } = seat;
  const [address, text] = PAGES[name];
  await page.setViewportSize(WINDOWS.desk);
  await page.goto(fixture.url + address);
  if (text) await page.getByText(text).first().waitFor({ state: 'attached' });
  else await whole(page);
  return page;
}

// Parts of a page may come late on a busy machine: it is compared again until nothing differs, for a while.
async function compared(page, was, width) {
  const until = Date.now() + 30000;
  for (;;) {
    const found = differences(await layoutOf(page, blank), was, width);
    if (!found.length || Date.now() > until) return found;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

for (const name of Object.keys(PAGES))
  test(`${name}: every region is where it was, and none covers another`, async () => {
    const page = await show(name);
    for (const [size, window] of Object.entries(WINDOWS)) {
      await page.setViewportSize(window);
      for (const theme of ['light', 'dark']) {
        await page.emulateMedia({ colorScheme: theme });
        const key = `${name}, ${size}, ${theme}`;
        if (WRITE) {
          await new Promise((resolve) => setTimeout(resolve, 3000)); // everything has come
          const { over, ...now } = await layoutOf(page, blank);
          assert.deepEqual(over, [], key);
          kept[key] = now;
        }
        assert.deepEqual(await compared(page, kept[key], window.width), [], key);
      }
    }
    await page.emulateMedia({ colorScheme: 'light' });
    assert.deepEqual(seat.troubles.splice(0), []);
  });

test('a region that vanishes, moves, covers another or is blank is found', { skip: WRITE }, async () => {
  const page = await show('experiment');
  const was = kept['experiment, desk, light'];
  assert.deepEqual(await compared(page, was, WINDOWS.desk.width), []);
  const spoil = async (selector, rules) => {
    await page.$eval(selector, (el, set) => Object.assign(el.style, set), rules);
    const found = differences(await layoutOf(page, blank), was, WINDOWS.desk.width);
    await page.$eval(
      selector,
      (el, set) => {
        for (const name of Object.keys(set)) el.style[name] = '';
      },
      rules,
    );
    return found.join('; ');
  };
  const card = 'section[aria-labelledby="parallel"]';
  assert.match(await spoil(card, { display: 'none' }), /section:parallel is (gone|empty)/);
  assert.match(await spoil(card, { marginLeft: '-200px' }), /covers section:parallel|section:parallel covers/);
  assert.match(await spoil(card, { position: 'relative', top: '300px' }), /covers/);
  assert.match(await spoil('section[aria-labelledby="curves"]', { width: '300px' }), /section:curves is 300 wide/);
  assert.match(await spoil('main', { filter: 'invert(1)' }), /brightness differs/);
  assert.deepEqual(await compared(page, was, WINDOWS.desk.width), []);
});
