// What the page must not hide or word wrongly, in a real browser against the real daemon: values that are no
// numbers, how a task failed, what a script names. SLUICE_BIN names the program.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, open, PATIENCE_MS } from './browser.mjs';
import { Daemon, skip } from './daemon.mjs';

const NAN = `import os
lr = float(os.environ["SLUICE_PARAM_LR"])
with open("log.csv", "w") as f:
    f.write("epoch,val_loss\\n")
    for e in range(20):
        f.write(f"{e},{'nan' if lr > 0.05 and 6 <= e < 10 else 1 / (e + 1)}\\n")
`;
const AGAIN = `for run in range(2):
    for e in range(6):
        print(f"epoch {e} loss {1 / (e + 1 + run * 6):.4f}", flush=True)
`;
const FAILS = 'import sys\nprint("oh no", file=sys.stderr)\nsys.exit(3)\n';
const PRINTS = `import argparse
p = argparse.ArgumentParser()
p.add_argument("--lr", type=float, default=0.1)
a = p.parse_args()
for epoch in range(3):
    print(f"epoch {epoch} val_loss {a.lr / (epoch + 1)}")
`;

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

async function ran(text, experiment) {
  const body = { experiment: { script: 'a.py', pass: 'env', ...experiment }, files: [{ path: 'a.py', text }] };
  const { id } = await daemon.api('POST', '/experiments', body);
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; ) {
    const { state } = await daemon.api('GET', `/experiments/${id}`);
    if (state === 'finished' || state === 'error') return id;
    await new Promise((done) => {
      setTimeout(done, 100);
    });
  }
  throw new Error('it does not end');
}

// The marks at the bottom of the first chart: how many of its columns have one just above the axis.
const marks = (page) =>
  page.evaluate(() => {
    const canvas = document.querySelector('.plot canvas');
    const ctx = canvas.getContext('2d');
    const ratio = devicePixelRatio;
    const y = canvas.height - (38 + 4) * ratio;
    const { data } = ctx.getImageData(0, Math.round(y), canvas.width, 1);
    let runs = 0;
    let on = false;
    for (let x = 60 * ratio; x < canvas.width; x++) {
      const painted = data[x * 4 + 3] > 200;
      if (painted && !on) runs++;
      on = painted;
    }
    return runs;
  });

test('values that are NaN are marked on the axis, and the legend says what the marks are', { skip }, async () => {
  const { page } = seat;
  const id = await ran(NAN, { parameters: { lr: [0.1] }, objective: 'val_loss' });
  await page.goto(`${daemon.url}/e/${id}`);
  await page.locator('.legend').getByText('NaN or ∞', { exact: true }).waitFor();
  await page.waitForFunction(() => document.querySelector('.plot canvas')?.width > 300);
  assert.equal(await marks(page), 4);
  await page.goto(`${daemon.url}/e/${id}/1`);
  await page.getByText('The marks at the bottom are values that are NaN or infinite.').waitFor();
  assert.equal(await marks(page), 4);
  const none = await ran(NAN, { parameters: { lr: [0.01] }, objective: 'val_loss' });
  await page.goto(`${daemon.url}/e/${none}`);
  await page.locator('.legend').waitFor();
  assert.equal(await page.locator('.legend').getByText('NaN or ∞', { exact: true }).count(), 0);
  assert.equal(await marks(page), 0);
  assert.deepEqual(seat.troubles, []);
});

test('an epoch that sluice counted is marked beside the best value', { skip }, async () => {
  const { page } = seat;
  const id = await ran(AGAIN, { parameters: { lr: [0.1] }, objective: 'loss' });
  const said = 'Counted by sluice: stdout: epoch 0 comes after 5; it is shown as epoch 6';
  await page.goto(`${daemon.url}/e/${id}`);
  for (const place of ['.kpi.first', 'tr[data-row="1"]']) {
    const mark = page.locator(place).locator('abbr');
    await mark.waitFor();
    assert.ok((await mark.getAttribute('title')).startsWith(said), await mark.getAttribute('title'));
  }
  assert.match(await page.locator('.kpi.first').innerText(), /epoch 11\*/);
  await page.goto(`${daemon.url}/e/${id}/1`);
  await page.getByRole('region', { name: 'Results' }).locator('abbr').waitFor();
  // No mark where the steps are those of the file.
  const plain = await ran(NAN, { parameters: { lr: [0.01] }, objective: 'val_loss' });
  await page.goto(`${daemon.url}/e/${plain}`);
  await page.locator('tr[data-row="1"]').waitFor();
  assert.equal(await page.locator('abbr.renumbered').count(), 0);
  assert.deepEqual(seat.troubles, []);
});

test('a failed task says its words, and its exit code once in each place', { skip }, async () => {
  const { page } = seat;
  const id = await ran(FAILS, { parameters: { lr: [0.1] } });
  await page.goto(`${daemon.url}/e/${id}`);
  await page.getByText('No metric has arrived.').waitFor();
  await page.goto(`${daemon.url}/e/${id}/1`);
  const banner = page.getByRole('alert');
  await banner.getByText('oh no', { exact: true }).waitFor();
  await banner.getByText('Before the first epoch ended.').waitFor();
  const cells = await page.getByRole('region', { name: 'All attempts' }).locator('tbody td').allInnerTexts();
  assert.deepEqual(cells.slice(2, 4), ['oh no', '3']);
  assert.deepEqual(seat.troubles, []);
});

test('a script that prints its metric is not said to write none', { skip }, async () => {
  const { page } = seat;
  await page.goto(`${daemon.url}/new`);
  await page
    .locator('#script')
    .setInputFiles({ name: 'prints.py', mimeType: 'text/x-python', buffer: Buffer.from(PRINTS) });
  await page.locator('.found').getByText('1 argument found').waitFor();
  const said = await page.locator('.found').innerText();
  assert.match(said, /Names val_loss/);
  assert.doesNotMatch(said, /No metric writer/);
});
