// The main paths through the pages on a real Slurm. tests/py/test_slurm_page.py brings the cluster up, starts the
// daemon and runs this with node --test: SLUICE_BIN and SLUICE_STATE name both, SLUICE_URL is the daemon's address.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { audit, launch, open, SIZES, sideways } from './browser.mjs';

const run = promisify(execFile);
const url = process.env.SLUICE_URL;
const cli = async (...args) => (await run(process.env.SLUICE_BIN, args)).stdout;
const tasks = async (id) => JSON.parse(await cli('export', id, '--format', 'json')).tasks;

// Ends when a file says so, so that nothing here depends on how fast the machine is.
const SCRIPT = `import argparse, os, time
p = argparse.ArgumentParser()
p.add_argument("--lr", type=float, default=0.1)
p.add_argument("--epochs", type=int, default=5)
p.add_argument("--until", default="")
a = p.parse_args()
for epoch in range(1, a.epochs + 1):
    print(f"epoch {epoch} val_loss {a.lr + 1 / epoch:.4f}", flush=True)
    time.sleep(0.2)
while a.until and not os.path.exists(a.until):
    time.sleep(0.2)
`;

let browser;
let seat;

before(async () => {
  browser = await launch();
  const link = /https?:\/\/\S+#login=\S+/.exec(await cli('login'))[0];
  seat = await open(browser, url + link.slice(link.indexOf('/#')));
  await seat.page.getByText('Live', { exact: true }).waitFor();
});

after(async () => {
  await browser?.close();
});

const file = (name) => ({ name, mimeType: 'text/x-python', buffer: Buffer.from(SCRIPT) });

test('a script of the form runs on a partition: nodes, jobs, curves, output and the batch script', async () => {
  const { page } = seat;
  await page.goto(`${url}/new`);
  await page.locator('#script').setInputFiles(file('train.py'));
  await page.getByText('3 arguments found').waitFor();
  await page.getByLabel('Kind of lr').selectOption('list');
  await page.getByLabel('Values of lr').fill('0.1, 0.2, 0.3');
  await page.locator('#backend').selectOption('slurm');
  await page.locator('#partition').selectOption('cpu');
  await page.getByRole('tab', { name: 'Batch script' }).click();
  await page
    .getByText(/--partition[= ]cpu/)
    .first()
    .waitFor();
  await page.getByRole('button', { name: 'Submit 3 tasks' }).first().click();
  await page.waitForURL(/\/e\/e\d+$/);
  const id = /e\d+$/.exec(page.url())[0];
  await page.getByRole('img', { name: /^val_loss for 3 tasks/ }).waitFor();
  await page.getByRole('region', { name: 'Tasks' }).getByText('Finished').nth(2).waitFor();
  await page.goto(`${url}/e/${id}/2`);
  await page.getByRole('log').getByText('epoch 5 val_loss').waitFor();
  const [, second] = await tasks(id);
  const attempts = page.getByRole('region', { name: 'Attempts' });
  await attempts.getByText(String(second.job), { exact: true }).waitFor();
  await attempts.getByText('cpu1').waitFor();
  await page
    .getByText(/--lr=0\.2/)
    .first()
    .waitFor();
  assert.deepEqual(await audit(page), []);
  assert.deepEqual(seat.troubles.splice(0), []);
});

// In every size and theme, back to the first of them.
async function fits(page) {
  for (const size of [SIZES.desk, { width: 1024, height: 768 }, SIZES.phone])
    for (const theme of ['light', 'dark']) {
      await page.setViewportSize(size);
      await page.emulateMedia({ colorScheme: theme });
      assert.ok((await sideways(page)) <= 0, `scrolls sideways at ${size.width}`);
      assert.deepEqual(await audit(page), [], `${size.width} ${theme}`);
    }
  await page.setViewportSize(SIZES.desk);
  await page.emulateMedia({ colorScheme: 'light' });
}

test('the pages of cluster and queue: partitions, what runs where, what waits and why, when it may start', async () => {
  const { page } = seat;
  const gate = `${process.env.SLUICE_STATE}/gate`;
  const submit = async (name, gpus) => {
    const said = await cli(
      ...['run', '-d', process.env.SCRIPT, 'lr=0.1,0.2,0.3', `until=${gate}`, '--name', name],
      ...['--backend', 'slurm', '--partition', 'gpu_volta', '--gpus', String(gpus), '--memory', '64M', '--time', '10m'],
    );
    return /e\d+/.exec(said)[0];
  };
  const holds = await submit('holds both nodes', 2);
  await page.goto(`${url}/cluster`);
  const slurm = page.getByRole('region', { name: 'slurm', exact: true });
  await slurm.getByText('Default account').waitFor();
  const volta = slurm.getByRole('row', { name: /^gpu_volta/ });
  await volta.getByText('0 of 4 free').waitFor();
  await slurm.getByRole('row', { name: /^cpu/ }).getByText('8 of 8 free').waitFor();
  const nodes = page.getByRole('region', { name: 'Nodes of slurm' });
  await nodes
    .getByRole('row', { name: /^volta1/ })
    .getByText('2 of 2')
    .waitFor();
  await nodes.getByRole('row', { name: /^cpu1/ }).getByText('Free').waitFor();
  await fits(page);
  // Of a partition it says what of ours is there, and leads to the queue.
  await volta.getByRole('link', { name: /^2 tasks run, 1 task waits, next ≈/ }).click();
  await page.getByRole('heading', { level: 1, name: 'Queue' }).waitFor();
  await page.getByText('2 tasks of yours run, 1 waits.').waitFor();
  const partitions = page.getByRole('region', { name: 'Partitions of slurm' });
  const row = partitions.getByRole('row', { name: /^gpu_volta/ });
  const [, , gpus, ours, waiting, start] = await row.getByRole('cell').allInnerTexts();
  assert.match(gpus, /^0 of 4\b/);
  assert.deepEqual([ours, waiting], ['2', '1']);
  assert.match(start, /\d\d:\d\d/);
  await partitions.getByRole('row', { name: /^cpu/ }).getByText('8 of 8').waitFor();
  const running = page.getByRole('region', { name: 'Running tasks' });
  await running.getByRole('link', { name: `${holds}/1` }).waitFor();
  await running
    .getByText(/^volta[12]$/)
    .nth(1)
    .waitFor();
  const queue = page.getByRole('region', { name: 'Our queue' });
  const waits = queue.getByRole('row', { name: /holds both nodes/ });
  await waits.getByText(/^Waiting for free resources/).waitFor();
  await waits.getByText(/\(in \d+ [ms]/).waitFor();
  await fits(page);
  // The list says the same in short.
  await page.goto(url);
  const where = page.getByRole('region', { name: 'Where tasks run' });
  await where.getByText('0 of 4 GPUs free').waitFor();
  await where.getByText('1 task of yours waits').waitFor();
  // The waiting task says why, and is stopped and started again from the page.
  await page.goto(`${url}/e/${holds}/3`);
  await page.getByText('waiting for free resources').first().waitFor();
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Stop 1 task' }).click();
  await page.getByText('Stopped', { exact: true }).first().waitFor();
  await page.getByRole('button', { name: 'Restart', exact: true }).click();
  const asked = page.getByRole('dialog').getByRole('button', { name: /^Restart/ });
  await Promise.race([asked.click().catch(() => undefined), page.getByText('Restarted 1 task.').waitFor()]);
  await page.getByText('Submitted', { exact: true }).first().waitFor();
  await page.goto(`${url}/e/${holds}`);
  await page.getByRole('button', { name: 'Stop all' }).click();
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Stop \d+ tasks$/ })
    .click();
  await page.getByRole('region', { name: 'Tasks' }).getByText('Stopped', { exact: true }).nth(2).waitFor();
  assert.deepEqual(seat.troubles.splice(0), []);
});

test('the diagnostics run a test job on the cluster', async () => {
  const { page } = seat;
  await page.goto(`${url}/cluster`);
  await page.getByRole('button', { name: 'Run diagnostics' }).click();
  const findings = page.getByRole('region', { name: 'Findings' });
  await findings.getByText(/a test job ran on cpu1/).waitFor();
  await findings.getByText(/claim and journal work on cpu1/).waitFor();
  assert.deepEqual(await audit(page), []);
  assert.deepEqual(seat.troubles.splice(0), []);
});
