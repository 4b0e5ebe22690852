// What a script fills into the form, and what the form says of it: defaults of a script that replaces another, guesses,
// names of fields that are wrong. Against the real daemon; SLUICE_BIN names the program.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { audit, launch, open, SIZES, sideways } from './browser.mjs';
import { Daemon, skip } from './daemon.mjs';

let daemon;
let browser;
let seat;
const file = (name, text) => ({ name, mimeType: 'text/x-python', buffer: Buffer.from(text) });

before(async () => {
  if (skip) return;
  daemon = await Daemon.start();
  browser = await launch();
  seat = await open(browser, await daemon.login(), { allow: ['400 (Bad Request)'] });
});

after(async () => {
  if (skip) return;
  await browser.close();
  await daemon.stop();
});

async function empty() {
  const { page } = seat;
  await page.goto(`${daemon.url}/new`);
  await page.getByRole('button', { name: 'Clear', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Clear' }).click();
  await page.getByText('No script yet').waitFor();
}

const script = (epochs, says) => `import argparse
p = argparse.ArgumentParser()
p.add_argument("--lr", type=float, default=0.1)
p.add_argument("--epochs", type=int, default=${epochs})
p.add_argument("--width", type=int, default=${epochs * 2})
a = p.parse_args()
${says}
`;

test('after a reload, too, a new script brings its defaults for rows that no one touched', {
  skip,
  timeout: 300000,
}, async () => {
  const { page, troubles } = seat;
  await empty();
  await page.locator('#script').setInputFiles(file('one.py', script(12, 'print("epoch 1 val_loss 1")')));
  await page.getByLabel('Value of epochs').waitFor();
  await page.getByLabel('Value of width').fill('7');
  await page.getByText(/--width=7/).waitFor();
  await page.reload();
  assert.equal(await page.getByLabel('Value of epochs').inputValue(), '12');
  await page.locator('.found').getByText('3 arguments found by argparse').waitFor();
  await page.locator('#script').setInputFiles(file('two.py', script(9, 'print("epoch 1 acc 1")')));
  await page.getByText(/two\.py .*--epochs=9/).waitFor();
  assert.equal(await page.getByLabel('Value of epochs').inputValue(), '9');
  assert.equal(await page.getByLabel('Value of width').inputValue(), '7', 'what was typed stays');
  assert.deepEqual(troubles.splice(0), []);
});

test('a guess of the objective is shown as one, what the script watches is not, and nothing is said to be known', {
  skip,
  timeout: 300000,
}, async () => {
  const { page, troubles } = seat;
  const found = page.locator('.found');
  await empty();
  const aside = 'import json\nprint(f"[epoch 0] val/loss: {1.12:.2f} | best: {1.12:.2f}")\njson.dumps({})';
  await page.locator('#script').setInputFiles(file('guess.py', script(3, aside)));
  const guess = found.locator('li.guess');
  await guess.getByText('A guess: val/loss is the objective, by its name.').waitFor();
  assert.equal(await found.locator('li.ok', { hasText: 'objective' }).count(), 0);
  assert.equal(await found.getByText(/Writes metrics|json/).count(), 0);
  await found.getByText(/^Names val\/loss/).waitFor();
  for (const size of [SIZES.desk, { width: 1024, height: 768 }, SIZES.phone])
    for (const theme of ['light', 'dark']) {
      await page.setViewportSize(size);
      await page.emulateMedia({ colorScheme: theme });
      assert.ok((await sideways(page)) <= 0, `scrolls sideways at ${size.width}`);
      assert.deepEqual(await audit(page), [], `${size.width} ${theme}`);
    }
  await page.setViewportSize(SIZES.desk);
  await page.emulateMedia({ colorScheme: 'light' });
  await guess.getByRole('button', { name: 'Choose another' }).click();
  await page.keyboard.press('Control+A');
  await page.keyboard.type('best');
  // It is the user's now.
  await guess.waitFor({ state: 'detached' });
  assert.equal(await page.locator('#metric').inputValue(), 'best');
  await empty();
  const watches = 'EarlyStopping(monitor="val_acc", mode="max")\nprint("epoch 1 val_acc 1")';
  await page.locator('#script').setInputFiles(file('sure.py', script(3, watches)));
  await found.locator('li.ok').getByText('EarlyStopping watches val_acc: it is the objective').waitFor();
  assert.equal(await guess.count(), 0);
  // A list of no objectives, while it is typed, leaves the form there.
  await page.getByRole('tab', { name: 'YAML' }).click();
  const text = page.getByLabel('Experiment file');
  const yaml = await text.inputValue();
  await text.fill(yaml.replace(/^objective:.*\n(?: .*\n)*/m, 'objective: []\n'));
  await found.getByText('EarlyStopping watches val_acc').waitFor({ state: 'detached' });
  assert.match(await text.inputValue(), /^objective: \[\]$/m);
  assert.deepEqual(troubles.splice(0), []);
});

test('what is to be corrected has the name of its field, once, and leads there', {
  skip,
  timeout: 300000,
}, async () => {
  const { page, troubles } = seat;
  await empty();
  await page.locator('#script').setInputFiles(file('one.py', script(3, 'print("epoch 1 val_loss 1")')));
  await page.getByText('Conditions, constraints and repeats').click();
  await page.locator('#constraints').fill('lr <\nlr > > 2');
  await page.locator('#repeats').fill('-1');
  await page.locator('#cpus').fill('many');
  const list = page.locator('p', { hasText: 'To correct:' });
  const names = ['Constraints', 'Repeats', 'CPUs'];
  for (const name of names) await list.getByRole('button', { name, exact: true }).waitFor();
  assert.deepEqual((await list.getByRole('button').allInnerTexts()).sort(), [...names].sort());
  for (const [name, id] of [
    ['Constraints', 'constraints'],
    ['Repeats', 'repeats'],
  ]) {
    await list.getByRole('button', { name, exact: true }).click();
    assert.equal(await page.evaluate(() => document.activeElement.id), id);
  }
  assert.deepEqual(await audit(page), []);
  await page.getByLabel('Kind of lr').selectOption('range');
  await list.getByRole('button', { name: 'lr', exact: true }).waitFor();
  await page.getByRole('button', { name: 'Add parameter' }).click();
  await page.getByLabel('Value of the new parameter').or(page.getByLabel('Values of the new parameter')).fill('3');
  await list.getByRole('button', { name: 'the parameter without a name' }).waitFor();
  // A command with a parameter that is not there, where there is none at all.
  await empty();
  await page.getByRole('button', { name: 'Run a command instead' }).click();
  await page.locator('#command').fill('python3 train.py --lr={lr}');
  await page
    .getByText('There is no parameter for {lr}. Add it to the parameters; {{lr}} passes the text itself.')
    .waitFor();
  assert.deepEqual(troubles.splice(0), []);
});
