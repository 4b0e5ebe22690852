// Names that mean something to the language of the page: a parameter and a metric may be called `constructor`, which
// every object has, and `__proto__`, which is what objects are made from. Against the real daemon; SLUICE_BIN names it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, open } from './browser.mjs';
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

const SCRIPT = `import json, sys
a = dict(v.lstrip('-').split('=') for v in sys.argv[1:])
for e in (1, 2, 3):
    print(json.dumps({'epoch': e, 'val_loss': float(a['lr']) / e, '__proto__': e, 'toString': 2 * e}))
`;

async function submit(parameters, objective = 'val_loss') {
  const { id } = await daemon.api('POST', '/experiments', {
    experiment: { name: 'names', script: 'train.py', parameters, objective, pass: 'flags' },
    files: [{ path: 'train.py', text: SCRIPT }],
  });
  await daemon.cli('watch', id);
  return id;
}

test('parameters and metrics may have the names of what every object has', { skip }, async () => {
  const { page, troubles } = seat;
  const id = await submit({ lr: [0.1, 0.2], constructor: ['a', 'b'], valueOf: [1, 2] }, [
    { metric: 'val_loss', goal: 'min' },
    { metric: 'toString', goal: 'max' },
    { metric: '__proto__', goal: 'max' },
  ]);
  await page.goto(`${daemon.url}/e/${id}?colour=constructor`);
  await page.locator('tr[data-row]').nth(7).waitFor();
  // An axis has its name in full as a title.
  const names = page.locator('svg.parallel title');
  for (const name of ['constructor', 'valueOf', 'toString', '__proto__'])
    await names.getByText(name, { exact: true }).first().waitFor({ state: 'attached' });
  await page.goto(`${daemon.url}/e/${id}/1`);
  await page.locator('section[aria-labelledby=params]').getByText('constructor').waitFor();
  // A row of the list has every objective of the best task.
  const { best } = await daemon.api('GET', `/experiments/${id}`);
  await page.goto(`${daemon.url}/`);
  const cell = page.locator(`tr[data-row="${id}"] td.right`).first();
  await cell.getByText('/').first().waitFor();
  const [values, labels] = (await cell.innerText()).split('\n').filter((line) => line.trim());
  assert.deepEqual(
    values.split('/').map(Number),
    best.values.map((v) => Number(v.toPrecision(3))),
  );
  assert.match(labels, /^val_loss ↓ \/ toString ↑ \/ __proto__ ↑$/);
  assert.deepEqual(troubles.splice(0), []);
});

test('a task without such a parameter is compared as one that has none', { skip }, async () => {
  const { page, troubles } = seat;
  const [one, two] = [await submit({ lr: [0.1], constructor: ['a'] }), await submit({ lr: [0.2] })];
  await page.goto(`${daemon.url}/compare?tasks=${one}/1,${two}/1`);
  const row = page.getByRole('row', { name: /^constructor/ });
  await row.waitFor();
  assert.deepEqual((await row.getByRole('cell').allInnerTexts()).slice(-2), ['a', 'not there']);
  assert.deepEqual(troubles.splice(0), []);
});
