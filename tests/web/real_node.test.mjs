// What the runner and the models say, on the pages, against the real daemon: a task that makes no progress, how much
// longer it takes, and what to ask for next time. SLUICE_BIN names the program.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, open, PATIENCE_MS } from './browser.mjs';
import { Daemon, skip } from './daemon.mjs';

const SCRIPT = `import sys, time
how = sys.argv[1].split("=")[1]
if how == "hang":
    for step in range(6):
        print(f"step={step} loss=1", flush=True)
        time.sleep(0.2)
    time.sleep(600)
for epoch in range(int(how)):
    print(f"epoch={epoch} loss=1", flush=True)
    time.sleep(0.2)
`;
let daemon;
let browser;
let seat;
const begun = [];

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
  for (const id of begun) await daemon.api('POST', `/experiments/${id}/stop`, {});
  await ended(); // runners outlive a daemon
  await daemon.stop();
});

async function ended() {
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; ) {
    const { items } = await daemon.api('GET', '/experiments');
    if (items.every((e) => e.tasks.running === 0)) return;
    await new Promise((done) => {
      setTimeout(done, 200);
    });
  }
}

async function submit(experiment) {
  const body = { experiment: { script: 'a.py', ...experiment }, files: [{ path: 'a.py', text: SCRIPT }] };
  const { id } = await daemon.api('POST', '/experiments', body);
  begun.push(id);
  return id;
}

test('an experiment says what its tasks should ask for next time', { skip }, async () => {
  const id = await submit({ parameters: { how: [1, 2, 3] }, resources: { time: '2h', backend: 'local' } });
  await seat.page.goto(`${daemon.url}/e/${id}`);
  await seat.page.getByText('longest of 3 tasks').waitFor();
  assert.match(await seat.page.locator('.card:has(#advice)').innerText(), /time: 5m[\s\S]*tune-resources/);
  assert.deepEqual(seat.troubles, []);
});

test('a running task says how much longer it takes, with an interval', { skip }, async () => {
  const id = await submit({ parameters: { epochs: [400] }, resources: { backend: 'local' } });
  await seat.page.goto(`${daemon.url}/e/${id}/1`);
  await seat.page.getByText(/running for .*, about .* \(.* to .*\) left/).waitFor();
  await seat.page.goto(`${daemon.url}/e/${id}`);
  await seat.page
    .locator('.card:has(#advice)')
    .getByText(/about .* \(.* to .*\)/)
    .waitFor();
  assert.deepEqual(seat.troubles, []);
});

test('a task that makes no progress says so, with the evidence', { skip }, async () => {
  const id = await submit({ parameters: { how: ['hang'] }, stall: { after: '5s' }, resources: { backend: 'local' } });
  const { page } = seat;
  await page.goto(`${daemon.url}/e/${id}/1`);
  await page
    .getByText(/makes no progress: no metrics for .*it does nothing: a deadlock/)
    .first()
    .waitFor();
  // Marked beside its state: on its page, in the table, in the list and by the command line.
  await page.getByText('No progress', { exact: true }).waitFor();
  await page.goto(`${daemon.url}/e/${id}`);
  await page.locator('tr[data-row="1"]').getByText('No progress', { exact: true }).waitFor();
  assert.match(await daemon.cli('ls'), /1 task makes no progress/);
  // It is news on the list, until it is dismissed or ends.
  await page.goto(`${daemon.url}/`);
  await page.locator(`tr[data-row="${id}"]`).getByText('1 task: no progress').waitFor();
  const news = page
    .getByRole('region', { name: 'Needs attention' })
    .getByText(/^#1 makes no progress: no metrics for /);
  await news.waitFor();
  await page.getByRole('button', { name: /^Dismiss: #1 makes no progress/ }).click();
  await news.waitFor({ state: 'detached' });
  assert.deepEqual(seat.troubles, []);
});
