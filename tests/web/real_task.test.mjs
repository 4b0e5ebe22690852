// The page of a task in a real browser against the real daemon: its output, its files, its results. SLUICE_BIN names
// the program.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { audit, launch, open, SIZES, sideways } from './browser.mjs';
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

async function submit(text, more = {}) {
  const { id } = await daemon.api('POST', '/experiments', {
    experiment: { name: 'task page', script: 'train.py', parameters: { lr: [0.1] }, objective: 'val_loss', ...more },
    files: [{ path: 'train.py', text }],
  });
  return id;
}

async function ended(id) {
  for (;;) {
    const e = await daemon.api('GET', `/experiments/${id}`);
    if (['finished', 'error', 'stopped'].includes(e.state)) return e;
    await new Promise((done) => {
      setTimeout(done, 100);
    });
  }
}

// Colours, a progress bar, hostile text, 20,000 lines, and an exception far from the end of the other stream.
const LOUD = `import os, sys
os.makedirs('plots', exist_ok=True)
open('plots/loss.svg', 'w').write('<svg xmlns="http://www.w3.org/2000/svg" width="60" height="40"><script>alert(1)</script><rect width="60" height="40" fill="green"/></svg>')
open('metrics.csv', 'w').write('epoch,val_loss,note\\n1,0.5,"<b>x, y</b>"\\n2,0.25,\\n')
open('page.html', 'w').write('<script>alert(1)</script>')
open('blob.bin', 'wb').write(bytes(range(256)) * 10)
print('\\x1b[1;32mgreen\\x1b[0m plain \\x1b[38;2;250;10;10mred')
print('still red\\x1b[0m')
print('10%\\r50%\\r100% done')
print('<img src=x onerror=alert(1)> \\u202eevil')
for i in range(20000):
    print('row', i, 'needle' if i == 12345 else '', '.' * 30)
sys.stdout.flush()
raise ValueError('layer <b>17</b> is broken')
`;

const output = () => seat.page.getByRole('region', { name: 'Output' });

test('the output has colours, is searched as a whole, and leads to the exception', { skip }, async () => {
  const { page } = seat;
  const id = await submit(LOUD);
  await ended(id);
  await page.goto(`${daemon.url}/e/${id}/1`);
  await output().getByRole('tab', { name: 'stderr', selected: true }).waitFor();
  await output().getByRole('button', { name: 'Go to the exception' }).click();
  await output().locator('li.target').getByText('ValueError: layer <b>17</b> is broken').waitFor();
  await output().getByRole('tab', { name: 'stdout' }).click();
  await output().getByText('last ').waitFor();
  await output().getByRole('searchbox').fill('needle');
  await output().getByText('1 matching line of 20,004').waitFor();
  await output().getByRole('button', { name: 'Go to line 12350' }).click();
  await output().locator('li.target').getByText('row 12345 needle').waitFor();
  assert.equal(await output().locator('li.target .line-number').innerText(), '12350');
  await output().getByRole('button', { name: 'Load later output' }).waitFor();
  await output().getByRole('button', { name: 'Go to the end' }).click();
  await output()
    .getByText(/^row 19999 /)
    .waitFor();
  await output().getByRole('searchbox').fill('plain');
  await output().getByRole('button', { name: 'Go to line 1', exact: true }).click();
  await output().locator('.ansi-2.ansi-bold', { hasText: 'green' }).waitFor();
  await output().locator('.ansi-1', { hasText: 'still red' }).waitFor();
  await output().getByText('100% done', { exact: true }).waitFor();
  assert.equal(await output().locator('img').count(), 0);
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    output().getByRole('button', { name: 'Download the output' }).click(),
  ]);
  assert.equal(file.suggestedFilename(), `${id}-1-1.stdout.txt`);
  const text = await readFile(await file.path(), 'utf8');
  assert.equal(text.split('\n').length, 20005);
  assert.deepEqual(await audit(page), []);
  assert.deepEqual(seat.troubles, []);
});

test('files are looked at and fetched, and none of them runs', { skip }, async () => {
  const { page } = seat;
  const id = await submit(LOUD);
  await ended(id);
  await page.goto(`${daemon.url}/e/${id}/1`);
  const files = page.getByRole('region', { name: 'Files and command' });
  await files.getByRole('button', { name: 'metrics.csv', exact: true }).click();
  await files.getByRole('columnheader', { name: 'val_loss' }).waitFor();
  await files.getByRole('cell', { name: '<b>x, y</b>' }).waitFor();
  await files.getByRole('button', { name: 'plots/loss.svg', exact: true }).click();
  const picture = files.getByRole('img', { name: 'plots/loss.svg' });
  await picture.waitFor();
  assert.equal(await picture.evaluate((img) => img.decode().then(() => img.naturalWidth)), 60);
  await files.getByRole('button', { name: 'page.html', exact: true }).click();
  await files.getByText('<script>alert(1)</script>').waitFor();
  await files.getByRole('button', { name: 'blob.bin', exact: true }).click();
  await files.getByText('It is not a text.').waitFor();
  await files.getByRole('button', { name: 'train.py', exact: true }).first().click();
  await files.getByText("raise ValueError('layer").waitFor();
  await files.getByRole('button', { name: 'batch script', exact: true }).click();
  const content = files.getByRole('region', { name: 'Content of batch script' });
  await content.locator('pre').waitFor();
  // It stands below the list of files, so the page scrolls to it.
  await content.getByRole('button', { name: 'Close the file' }).click();
  await page.setViewportSize({ width: 1440, height: 500 });
  await files.getByRole('button', { name: 'batch script', exact: true }).click();
  await page.waitForFunction(
    (box) => {
      const { top, bottom } = box.getBoundingClientRect();
      return top >= 0 && bottom <= innerHeight + 1;
    },
    await content.elementHandle(),
  );
  await page.setViewportSize(SIZES.desk);
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    files.getByRole('button', { name: 'Download blob.bin' }).click(),
  ]);
  assert.equal((await readFile(await file.path())).length, 2560);
  assert.deepEqual(seat.troubles, []);
});

test('a killed task shows the output that has the story, and its signal', { skip }, async () => {
  const { page } = seat;
  const id = await submit("import os\nprint('the story', flush=True)\nos.kill(os.getpid(), 9)\n");
  await ended(id);
  await page.goto(`${daemon.url}/e/${id}/1`);
  await output().getByRole('tab', { name: 'stdout', selected: true }).waitFor();
  await output().getByText('the story').waitFor();
  await page.getByRole('region', { name: 'Where it ran' }).getByText('none: ended by signal 9').waitFor();
});

test('every objective, the rank and a restart with changes', { skip }, async () => {
  const { page } = seat;
  const LOSS = "import sys\nlr = float(sys.argv[1].split('=')[1])\nprint('epoch 1 val_loss', lr, 'latency', 1 / lr)\n";
  const two = await submit(LOSS, {
    parameters: { lr: [0.1, 0.5] },
    objective: [
      { metric: 'val_loss', goal: 'min' },
      { metric: 'latency', goal: 'min' },
    ],
  });
  await ended(two);
  await page.goto(`${daemon.url}/e/${two}/2`);
  const results = page.getByRole('region', { name: 'Results' });
  await results.getByText('Best latency').waitFor();
  const task = (await daemon.api('GET', `/experiments/${two}/tasks?metrics=*&filter=%232`)).items[0];
  await results.getByTitle(String(task.values.latency.best), { exact: true }).waitFor();
  const id = await submit(LOSS, { parameters: { lr: { min: 0.1, max: 1 } }, search: { strategy: 'random', tasks: 3 } });
  await ended(id);
  const rows = (await daemon.api('GET', `/experiments/${id}/tasks?sort=best`)).items;
  await page.goto(`${daemon.url}/e/${id}/${rows[1].number}`);
  await results.getByText('2 of 3').waitFor();
  await page.goto(`${daemon.url}/e/${id}/${rows[0].number}`);
  await results.getByText('best of 3').waitFor();
  await page.getByRole('button', { name: 'Restart with changes…' }).click();
  const dialog = page.getByRole('dialog');
  assert.equal(await dialog.getByRole('textbox', { name: 'lr' }).inputValue(), String(rows[0].parameters.lr));
  await dialog.getByRole('textbox', { name: 'lr' }).fill('0.125');
  await dialog.getByRole('button', { name: 'Run it' }).click();
  await page.getByText('Queued as #4').waitFor();
  assert.equal((await daemon.api('GET', `/experiments/${id}/tasks/4`)).parameters.lr, 0.125);
  assert.deepEqual(seat.troubles, []);
});

test('a restart with changes takes values that were not declared, where the user allows it', { skip }, async () => {
  const { page } = seat;
  const id = await submit("import os\nprint('epoch 1 val_loss', os.environ['SLUICE_PARAM_LR'])\n", {
    pass: 'env',
    parameters: { lr: [0.1, 0.2], units: { min: 8, max: 64, step: 8 }, epochs: 3 },
    search: { strategy: 'random', tasks: 2 },
  });
  await ended(id);
  await page.goto(`${daemon.url}/e/${id}/1`);
  await page.getByRole('button', { name: 'Restart with changes…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'lr: 0.2' }).click();
  assert.equal(await dialog.getByRole('textbox', { name: 'lr' }).inputValue(), '0.2');
  await dialog.getByRole('textbox', { name: 'lr' }).fill('0.7');
  await dialog.getByRole('textbox', { name: 'units' }).fill('100');
  await dialog.getByRole('button', { name: 'Run it' }).click();
  await dialog.getByText("'lr' cannot be 0.7. One of: 0.1, 0.2.").waitFor();
  await dialog.getByText("'units' cannot be 100. A whole number from 8 to 64 in steps of 8.").waitFor();
  await dialog.getByRole('checkbox', { name: 'Allow other values than the declared ones' }).check();
  await dialog.getByRole('textbox', { name: 'epochs' }).fill('9');
  await dialog.getByRole('textbox', { name: 'units' }).fill('many');
  await dialog.getByRole('button', { name: 'Run it' }).click();
  await dialog.getByText("'units' cannot be a text").waitFor();
  await dialog.getByRole('textbox', { name: 'units' }).fill('100');
  assert.deepEqual(await audit(page), []);
  await dialog.getByRole('button', { name: 'Run it' }).click();
  await page.getByText('Queued as #3').waitFor();
  await ended(id);
  const task = await daemon.api('GET', `/experiments/${id}/tasks/3`);
  assert.deepEqual(task.parameters, { lr: 0.7, units: 100, epochs: 9 });
  assert.equal(task.best.value, 0.7);
  await page.goto(`${daemon.url}/e/${id}`);
  await page.getByRole('row', { name: /#3\b.*0\.7/ }).waitFor();
  // The browser notes refused requests itself.
  assert.deepEqual(
    seat.troubles.splice(0).filter((text) => !text.includes('status of 400')),
    [],
  );
});

test('the axis of a running task reaches its last epoch, and new lines have a time', { skip }, async () => {
  const { page } = seat;
  const id = await submit(
    `import time, sys
for epoch in range(1, 1001):
    print('epoch', epoch, 'val_loss', 1 / epoch, flush=True)
    time.sleep(0.3)
`,
    { parameters: { lr: [0.1], epochs: [1000] } },
  );
  await page.goto(`${daemon.url}/e/${id}/1`);
  await output()
    .locator('.line-time', { hasText: /\d\d:\d\d:\d\d/ })
    .first()
    .waitFor();
  assert.equal((await daemon.api('GET', `/experiments/${id}/tasks/1`)).epochs, 1000);
  // The numbers of an axis are drawn on a canvas, again with every epoch.
  await page.evaluate(() => {
    globalThis.drawnTexts = new Set();
    const draw = CanvasRenderingContext2D.prototype.fillText;
    CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
      globalThis.drawnTexts.add(text);
      draw.call(this, text, ...rest);
    };
  });
  await page.waitForFunction(() => globalThis.drawnTexts.has('1,000'));
  // The tab says how far it is, and its icon is a ring.
  await page.waitForFunction(() => /^\d %|^running/.test(document.title));
  assert.match(await page.title(), /^(\d %|running) #1 task page · sluice$/);
  await page.waitForFunction(() => document.querySelector('link[rel="icon"]').href.startsWith('data:image/png'));
  // A row of the list says when its experiment will end, as the experiment's page does.
  await page.goto(`${daemon.url}/`);
  const row = page.locator(`tr[data-row="${id}"]`);
  await row.getByText(/^≈ .*\d.* left$/).waitFor();
  assert.match(
    await row.locator('[title*="tasks ended"]').getAttribute('title'),
    /^0 of 1 tasks ended; about .*by their own steps/,
  );
  await daemon.api('POST', `/experiments/${id}/stop`, {});
  await ended(id);
  await page.goto(`${daemon.url}/e/${id}/1`);
  await page.waitForFunction(() => document.title === 'stopped #1 task page · sluice');
  assert.deepEqual(seat.troubles, []);
});

test('the lines of a task that has ended have the times at which they were written', { skip }, async () => {
  const { page } = seat;
  const id = await submit(`import time
for epoch in range(1, 4):
    print('épöch', epoch, flush=True)
    time.sleep(2)
print('{"epoch": 1, "val_loss": 0.5}')
`);
  await ended(id);
  await page.goto(`${daemon.url}/e/${id}/1`);
  const times = output().locator('.line-time');
  await times.first().waitFor();
  const { started, finished } = (await daemon.api('GET', `/experiments/${id}/tasks/1`)).attempts[0];
  const clock = (time) => new Date(time).toISOString().slice(11, 19);
  const texts = await times.allTextContents();
  assert.equal(texts.length, 4);
  assert.deepEqual([...texts].sort(), texts);
  assert.equal(new Set(texts.slice(0, 3)).size, 3, 'lines two seconds apart have different times');
  assert.ok(texts[0] >= clock(started) && texts[3] <= clock(Date.parse(finished) + 1000), texts.join());
  assert.deepEqual(seat.troubles, []);
});

test('the page fits every size and theme', { skip }, async () => {
  const id = await submit(LOUD);
  await ended(id);
  const storage = await seat.context.storageState();
  for (const [size, box] of Object.entries({ ...SIZES, small: { width: 1024, height: 768 } }))
    for (const theme of ['light', 'dark']) {
      const look = await open(browser, `${daemon.url}/e/${id}/1`, { size: box, theme, storage });
      await look.page.getByRole('button', { name: 'metrics.csv', exact: true }).click();
      await look.page.getByRole('columnheader', { name: 'val_loss' }).waitFor();
      await look.page.getByRole('tab', { name: 'stdout' }).click();
      await look.page.getByRole('searchbox', { name: 'Search the output' }).fill('row 1');
      await look.page.getByRole('button', { name: 'Go to line 6', exact: true }).waitFor();
      assert.equal(await sideways(look.page), 0, `scrolls sideways at ${size}`);
      if (process.env.SHOTS)
        await look.page.screenshot({ path: `${process.env.SHOTS}/task-${size}-${theme}.png`, fullPage: true });
      if (theme === 'dark') assert.deepEqual(await audit(look.page), [], size);
      assert.deepEqual(look.troubles, []);
      await look.context.close();
    }
});
// A row an iteration in one file, a row an epoch in the other; the best is epoch 3.
const TWO_COUNTS = `train, val = open('train_log.csv', 'w'), open('val_log.csv', 'w')
print('epoch,iter,loss', file=train)
print('epoch,val_loss', file=val)
for epoch in range(1, 6):
    for i in range(1, 21):
        it = (epoch - 1) * 20 + i
        print(f'{epoch},{it},{it / 1000}', file=train)
    print(f'{epoch},{1 + abs(epoch - 3)}', file=val)
`;

test('iterations and epochs share an axis of epochs and no row, and compare by epoch', { skip }, async () => {
  const id = await submit(TWO_COUNTS, { parameters: { lr: [0.1, 0.2] } });
  await ended(id);
  const { page } = seat;
  await page.goto(`${daemon.url}/e/${id}/1`);
  await page.getByRole('img', { name: /val_loss by epoch\. Best 1 at epoch 3\./ }).waitFor();
  const axes = page.getByRole('group', { name: 'Horizontal axis' });
  await axes.getByText('Step', { exact: true }).click();
  await page.getByRole('img', { name: /val_loss by step\./ }).waitFor();
  assert.match(page.url(), /x=step/);
  await page.getByRole('button', { name: 'Table', exact: true }).click();
  const rows = page.getByRole('region', { name: 'Metrics as a table' }).locator('tbody tr');
  const cells = (await rows.allInnerTexts()).map((text) => text.split('\t').map((cell) => cell.trim()));
  assert.equal(cells.length, 105);
  assert.deepEqual(cells[0].slice(0, 2), ['1', '1']);
  assert.equal(Number(cells[0][2]), 0.001);
  assert.equal(cells[0][3], '', 'the first iteration has no validation loss');
  assert.equal(cells[20][0], '1');
  assert.deepEqual([cells[20][2], Number(cells[20][3])], ['', 3], 'which comes at the end of the epoch');
  await page.goto(`${daemon.url}/compare?tasks=${id}/1,${id}/2`);
  const title = (name) => page.getByRole('row', { name }).locator('td bdi').first().getAttribute('title');
  assert.equal(await title('loss at the best'), '0.06');
  assert.equal(Number(await title('Gap at the best')).toFixed(6), '0.940000');
  assert.deepEqual(seat.troubles, []);
});
