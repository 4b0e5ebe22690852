// The form against the real daemon: what it offers, imports and refuses.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { audit, launch, open } from './browser.mjs';
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

// A script of a folder of this machine that imports two modules beside it.
const IMPORTING = `import argparse, helper
p = argparse.ArgumentParser()
p.add_argument("--lr", type=float, default=0.25)
a = p.parse_args()
with open("log.csv", "w") as f:
    f.write("epoch,val_loss\\n0,%r\\n" % helper.loss(a.lr))
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
  await mkdir(path.join(home, 'work/lib'), { recursive: true });
  await writeFile(path.join(home, 'work/train.py'), IMPORTING);
  await writeFile(
    path.join(home, 'work/helper.py'),
    'from lib.more import offset\ndef loss(lr):\n    return lr + offset\n',
  );
  await writeFile(path.join(home, 'work/lib/more.py'), 'offset = 1\n');
  await writeFile(path.join(home, 'work/program'), Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 0]), { mode: 0o755 });
  await writeFile(path.join(home, 'work/.secret.py'), 'SECRET\n');
  daemon = await Daemon.start({ HOME: home }, 'scripts: {folders: [~/work]}\n');
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

test('the empty page has an example that runs by one click', { skip, timeout: 300000 }, async () => {
  const { page, troubles } = seat;
  await page.getByRole('button', { name: 'Run the example' }).click();
  await page.waitForURL(/\/e\/e\d+$/);
  await daemon.cli('watch', 'e1');
  assert.match(await daemon.cli('ls'), /e1 .*finished/);
  assert.deepEqual(troubles.splice(0), []);
});

// Each writes what it got into its log.
const PLACES = `import sys
lr = float(sys.argv[1])
batch = int(sys.argv[2])
print("got", sys.argv[1:])
print("epoch 0 val_loss", lr)
`;
const IDS = `import sys
experiment = sys.argv[1]
task = sys.argv[2]
batch_size = int(sys.argv[3])
print("got", sys.argv[1:])
print("epoch 0 val_loss", batch_size)
`;

test('a script that counts its arguments gets only its values, one of S-TFManager the experiment and the task', {
  skip,
  timeout: 300000,
}, async () => {
  const { page, troubles } = seat;
  await empty();
  const said = page.locator('.found li').filter({ hasText: 'Reads its arguments by position' });
  const command = page.locator('.call');
  await page.locator('#script').setInputFiles(file('places.py', PLACES));
  await page.getByLabel(/^Values? of lr/).fill('0.25');
  await page.getByLabel(/^Values? of batch/).fill('16');
  await command.getByText('places.py 0.25 16').waitFor();
  await said.and(page.locator('.ok')).waitFor();
  assert.equal(await page.locator('#pass').inputValue(), 'values');
  // The other way would fail, and the form says so.
  await page.locator('#pass').selectOption('positional');
  await said.and(page.locator('.caution')).waitFor();
  await said.getByRole('button', { name: 'Pass only the values' }).click();
  await said.and(page.locator('.ok')).waitFor();
  const id = await submitted();
  await daemon.cli('watch', id);
  assert.ok((await daemon.cli('logs', `${id}/1`)).includes("got ['0.25', '16']"));
  await empty();
  await page.locator('#script').setInputFiles(file('ids.py', IDS));
  await page.getByLabel('Values of batch_size').fill('8');
  await said.and(page.locator('.ok')).waitFor();
  assert.equal(await page.locator('#pass').inputValue(), 'positional');
  const other = await submitted();
  await daemon.cli('watch', other);
  assert.ok((await daemon.cli('logs', `${other}/1`)).includes(`got ['${other}', '1', '8']`));
  assert.deepEqual(troubles.splice(0), []);
});

const argparse = (epochs) => `import argparse
p = argparse.ArgumentParser()
p.add_argument("--lr", type=float, default=0.1)
p.add_argument("--epochs", type=int, default=${epochs})
p.add_argument("--seed", type=int, default=0)
a = p.parse_args()
print("got seed %d epochs %d" % (a.seed, a.epochs))
print("epoch 0 val_loss", a.lr)
`;

test('another script brings its own defaults, and repeats get a seed each', { skip, timeout: 300000 }, async () => {
  const { page, troubles } = seat;
  await empty();
  await page.locator('#script').setInputFiles(file('one.py', argparse(12)));
  await page.getByLabel('Value of lr').fill('0.5');
  assert.equal(await page.getByLabel('Value of epochs').inputValue(), '12');
  await page.locator('#script').setInputFiles(file('two.py', argparse(9)));
  await page.locator('.call').getByText('two.py').waitFor();
  assert.equal(await page.getByLabel('Value of epochs').inputValue(), '9');
  assert.equal(await page.getByLabel('Value of lr').inputValue(), '0.5', 'what was typed stays');
  await page.getByText('Conditions, constraints and repeats').click();
  await page.locator('#repeats').fill('2');
  await page.getByRole('button', { name: 'Submit 2 tasks' }).first().waitFor();
  const id = await submitted();
  await daemon.cli('watch', id);
  const logs = await Promise.all([1, 2].map((n) => daemon.cli('logs', `${id}/${n}`)));
  const seeds = logs.map((log) => /got seed (\d+) epochs 9/.exec(log)?.[1]);
  assert.ok(seeds[0] && seeds[1] && seeds[0] !== seeds[1], `seeds ${seeds}`);
  assert.deepEqual(troubles.splice(0), []);
});

// json.dumps makes something else, the bar counts the training, and what is said of --no-aug is not said of aug.
const BAR = `import argparse, json
p = argparse.ArgumentParser()
p.add_argument("--no-aug", dest="aug", action="store_false", help="no augmentation")
a = p.parse_args()
print(f"\\rEpoch 0: 50% [31.2it/s, loss={1 / 2:.3f}]")
for epoch in range(2):
    val = 1 / (epoch + 2)
    print(f"[epoch {epoch}] val/loss: {val:.5f} | best: {val:.5f}")
open("side.txt", "w").write(json.dumps({"aug": a.aug}))
`;

test('the form says and sets what a script prints, not what it does aside', { skip, timeout: 300000 }, async () => {
  const { page, troubles } = seat;
  await empty();
  await page.locator('#script').setInputFiles(file('bar.py', BAR));
  await page.getByText('Metrics are read from what the script prints or writes').waitFor();
  assert.equal(await page.locator('.found').getByText('json.dumps').count(), 0);
  await page.getByText('--no-aug: no augmentation').waitFor();
  const id = await submitted();
  await daemon.cli('watch', id);
  const { objective } = JSON.parse(await daemon.cli('show', id, '--json'));
  assert.match(JSON.stringify(objective), /"val\/loss"/);
  assert.deepEqual(troubles.splice(0), []);
});

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

test('a module beside the script that was not added is named, with a button that adds it', {
  skip,
  timeout: 300000,
}, async () => {
  const { page, troubles } = seat;
  await empty();
  const text = `import json, os.path, truth\ntry:\n    import not_needed\nexcept ImportError:\n    pass\n${PLAIN}`;
  await page.locator('#script').setInputFiles(file('needs.py', `${text}print("truth", truth.value)\n`));
  const said = page.locator('.more-files .warning');
  await said.waitFor();
  assert.equal(await said.count(), 1);
  assert.match(
    await said.textContent(),
    /It imports truth, which the Python of its tasks does not have.*add truth\.py/s,
  );
  await page.getByLabel('add truth.py').setInputFiles(file('truth.py', 'value = 42\n'));
  await said.waitFor({ state: 'detached' });
  const id = await submitted();
  await daemon.cli('watch', id);
  assert.ok((await daemon.cli('logs', `${id}/1`)).includes('truth 42\n'));
  assert.deepEqual(troubles.splice(0), []);
});

test('an experiment file becomes the form, and a script given as one is offered as the script', {
  skip,
  timeout: 300000,
}, async () => {
  const { page, troubles } = seat;
  await empty();
  const yaml = page.getByLabel('Import YAML');
  await yaml.setInputFiles(file('plain.py', PLAIN));
  await page.getByRole('dialog', { name: 'plain.py is a script' }).getByText('It is no experiment file.').waitFor();
  await page.getByRole('button', { name: 'Use it as the script' }).click();
  await page.getByText('1 argument found by argparse').waitFor();
  const text = 'name: from a file\nscript: plain.py\nparameters: {lr: [0.3, 0.2]}\nresources: {cpus: 1}\nrepeats: 2\n';
  await yaml.setInputFiles(file('git.yaml', `${text}files: [data.csv, git]\n`));
  await page.getByLabel('Upload data.csv').waitFor({ state: 'attached' });
  await page.getByText('files: git: the tracked files are taken along by').waitFor();
  await yaml.setInputFiles(file('e.yaml', text));
  await page.getByRole('dialog').getByRole('button', { name: 'Replace' }).click();
  await page.getByRole('button', { name: 'Submit 4 tasks' }).first().waitFor();
  assert.equal(await page.locator('#name').inputValue(), 'from a file');
  assert.equal(await page.locator('#cpus').inputValue(), '1');
  const id = await submitted();
  await daemon.cli('watch', id);
  assert.match(await daemon.cli('best', id), /0\.2/);
  assert.deepEqual(troubles.splice(0), []);
});

// Saves on USR1 and says whether it goes on.
const SAVER = `import os, signal, sys, time
folder = os.environ["SLUICE_CHECKPOINT_DIR"]
print("resumed" if os.listdir(folder) else "fresh", flush=True)
def save(*_):
    open(folder + "/c", "w").write("x")
    sys.exit(0)
signal.signal(signal.SIGUSR1, save)
for i in range(3000):
    print("epoch %d val_loss %.3f" % (i, 1 / (i + 1)), flush=True)
    time.sleep(0.2)
`;

test('a stop may let the script save, and a restart goes on from there or starts fresh', {
  skip,
  timeout: 300000,
}, async () => {
  const { page, troubles } = seat;
  const script = path.join(daemon.state, 'saver.yaml');
  await writeFile(path.join(daemon.state, 'saver.py'), SAVER);
  await writeFile(script, 'script: saver.py\ncheckpoint: {signal: USR1, before_limit: 30s}\n');
  const { id } = JSON.parse(await daemon.cli('run', script, '--detach', '--json'));
  const said = async (text) => {
    for (let i = 0; i < 300; i++) {
      if ((await daemon.cli('logs', `${id}/1`)).includes(text)) return;
      await new Promise((done) => {
        setTimeout(done, 200);
      });
    }
    throw new Error(`${id}/1 never said ${text}`);
  };
  await page.goto(`${daemon.url}/e/${id}/1`);
  const stop = async (save) => {
    await said('epoch 1 ');
    // The log may be ahead of the page, which offers to save only where it has seen that the script runs.
    await page.locator('.state.running').first().waitFor();
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    if (save) await page.getByRole('checkbox', { name: 'Let scripts save a checkpoint first' }).check();
    await page.getByRole('button', { name: 'Stop 1 task' }).click();
    await page.getByRole('button', { name: 'Restart', exact: true }).click();
  };
  await said('fresh\n');
  await stop(true);
  await page.getByRole('button', { name: 'Restart 1 task' }).click();
  await said('resumed\n');
  await stop(false);
  await page.getByRole('checkbox', { name: /^Start fresh/ }).check();
  await page.getByRole('button', { name: 'Restart 1 task' }).click();
  await said('fresh\n');
  await daemon.cli('stop', id);
  assert.deepEqual(troubles.splice(0), []);
});

test('equal failures pause the experiment, and the button lets it go on', { skip, timeout: 300000 }, async () => {
  const { page, troubles } = seat;
  const script = path.join(daemon.state, 'bad.py');
  await writeFile(script, 'import sys\nraise ValueError("broken on purpose")\n');
  const made = await daemon.cli('run', script, 'n=1,2,3,4,5,6,7,8', '--pass=env', '--detach', '--json');
  await page.goto(`${daemon.url}/e/${JSON.parse(made).id}`);
  await page.getByRole('button', { name: 'Go on as it is' }).click();
  await page.getByText('The experiment goes on.').waitFor();
  assert.deepEqual(troubles.splice(0), []);
});

test('a warning of another experiment leaves Submit free, has a link, and goes away', {
  skip,
  timeout: 300000,
}, async () => {
  const page = await seat.context.newPage();
  await page.clock.install();
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.goto(`${daemon.url}/`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.getByRole('link', { name: 'New experiment' }).first().click();
  await page.locator('#script').setInputFiles(file('plain.py', PLAIN));
  const submit = page.getByRole('button', { name: /^Submit \d+ task/ }).first();
  await submit.waitFor();
  const script = path.join(daemon.state, 'broken.py');
  await writeFile(script, 'raise ValueError("broken again")\n');
  const { id } = JSON.parse(await daemon.cli('run', script, 'n=1,2,3,4,5,6,7,8', '--pass=env', '--detach', '--json'));
  const said = page.locator('.toast.warning').filter({ hasText: `${id} is paused` });
  await said.waitFor();
  assert.ok(!(await said.textContent()).includes('`'));
  assert.ok((await said.locator('code').count()) > 0);
  await submit.scrollIntoViewIfNeeded();
  const [a, b] = [await said.boundingBox(), await submit.boundingBox()];
  const apart = a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
  assert.ok(apart, `${JSON.stringify(a)} covers ${JSON.stringify(b)}`);
  await said.getByRole('button', { name: `Show ${id}` }).waitFor();
  await page.clock.fastForward(60000);
  await said.waitFor({ state: 'detached' });
  await page.close();
});

test('a task that took too much memory restarts with twice as much', { skip, timeout: 300000 }, async () => {
  const { page, troubles } = seat;
  const script = path.join(daemon.state, 'large.py');
  await writeFile(script, 'import time\nx = bytearray(150 << 20)\ntime.sleep(6)\nprint("val_loss 1")\n');
  const { id } = JSON.parse(await daemon.cli('run', script, '--memory=100M', '--detach', '--json'));
  await page.goto(`${daemon.url}/e/${id}/1`);
  await page.getByRole('button', { name: 'Restart with 200 MB' }).click();
  await page.getByText('Restarted 1 task with 200 MB.').waitFor();
  await daemon.cli('watch', id);
  assert.deepEqual(troubles.splice(0), []);
});

test('a script of a folder that the owner allows fills the form, and what it imports goes along', {
  skip,
  timeout: 300000,
}, async () => {
  const { page, troubles } = seat;
  await empty();
  await page.getByRole('button', { name: 'take it from a folder of this machine' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'train.py' }).waitFor();
  assert.equal(await dialog.getByText('.secret.py').count(), 0);
  // What is no text is said, and the form stays as it is.
  await dialog.getByRole('button', { name: 'program' }).click();
  await dialog.getByRole('alert').getByText('program is a binary file').waitFor();
  assert.deepEqual(await audit(page), []);
  await dialog.getByRole('button', { name: 'lib', exact: true }).click();
  await dialog.getByRole('button', { name: 'more.py' }).waitFor();
  await dialog
    .getByRole('navigation')
    .getByRole('button', { name: path.join(home, 'work') })
    .click();
  await dialog.getByRole('button', { name: 'train.py' }).click();
  await page.getByText('Took train.py with helper.py, lib/more.py.').waitFor();
  await page.locator('.more-files').getByText('lib/more.py').waitFor();
  assert.equal(await page.getByLabel('Value of lr').inputValue(), '0.25');
  const id = await submitted();
  await daemon.cli('watch', id);
  assert.match(await daemon.cli('show', id), /val_loss 1\.25/);
  assert.deepEqual(
    troubles.splice(0).filter((one) => !one.includes('400')),
    [],
  );
});
