// The form against the real daemon: what it offers, imports and refuses.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { launch, open } from './browser.mjs';
import { Daemon, skip } from './daemon.mjs';

const PLAIN = `import argparse
p = argparse.ArgumentParser()
p.add_argument("--lr", type=float, default=0.1)
a = p.parse_args()
import sys
print("prefix", sys.prefix)
with open("log.csv", "w") as f:
    f.write("epoch,val_loss\\n0,%r\\n" % a.lr)
`;

let daemon;
let browser;
let seat;
let home;
const file = (name, text) => ({ name, mimeType: 'text/x-python', buffer: Buffer.from(text) });

before(async () => {
  if (skip) return;
  home = await mkdtemp(path.join(os.tmpdir(), 'sluice-home-'));
  await mkdir(path.join(home, '.virtualenvs'));
  await promisify(execFile)('python3', ['-m', 'venv', '--without-pip', path.join(home, '.virtualenvs', 'ml')]);
  daemon = await Daemon.start({ HOME: home });
  browser = await launch();
  seat = await open(browser, await daemon.login(), { allow: ['ERR_', '400 (Bad Request)'] });
});

after(async () => {
  await seat?.context.close();
  await browser?.close();
  await daemon?.stop();
  if (home) await rm(home, { recursive: true, force: true });
});

async function empty() {
  const { page } = seat;
  await page.goto(`${daemon.url}/new`);
  await page.getByRole('button', { name: 'Clear', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Clear' }).click();
  await page.getByText('No script yet').waitFor();
}

async function submitted() {
  const { page } = seat;
  await page
    .getByRole('button', { name: /^Submit \d+ task/ })
    .first()
    .click();
  await page.waitForURL(/\/e\/e\d+$/);
  return /e\d+$/.exec(page.url())[0];
}

test('an environment of this machine is offered, and the tasks run in it', { skip, timeout: 300000 }, async () => {
  const { page, troubles } = seat;
  await empty();
  await page.locator('#script').setInputFiles(file('plain.py', PLAIN));
  const ml = path.join(home, '.virtualenvs', 'ml');
  const option = page.locator(`#pythons option[value="${ml}"]`);
  await option.waitFor({ state: 'attached' });
  assert.match(await option.textContent(), /^Python 3\.\d+\.\d+, venv, ~\/\.virtualenvs$/);
  await page.locator('#python').fill(ml);
  await page.locator('#python-h').getByText(`Tasks run with ${ml}/bin/python3, Python 3.`).waitFor();
  const id = await submitted();
  await daemon.cli('watch', id);
  assert.ok((await daemon.cli('logs', `${id}/1`)).includes(`prefix ${ml}\n`));
  assert.deepEqual(troubles.splice(0), []);
});
