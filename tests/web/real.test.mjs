// The same form and the same curves against the real daemon: five batch sizes, one learning rate, five tasks on this
// machine. SLUICE_BIN names the program; SLUICE_SHOTS a folder for the screenshots, which are thrown away without it.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { audit, launch, open, PATIENCE_MS } from './browser.mjs';

const run = promisify(execFile);
const bin = process.env.SLUICE_BIN;
const skip = bin ? false : 'SLUICE_BIN is not set: no daemon to talk to';

// An S-TFManager script: positions, and the folder for the CSVLogger. The smallest batch size learns best.
const SCRIPT = `import csv, os, sys, time
experiment, task, batch_size, learning_rate, epochs, early_stopping = sys.argv[1:7]
folder = os.path.join("results", experiment, task)
os.makedirs(folder, exist_ok=True)
with open(os.path.join(folder, task + ".csv"), "w", newline="") as f:
    out = csv.writer(f)
    out.writerow(["epoch", "loss", "val_loss"])
    for epoch in range(int(epochs)):
        level = 0.1 + float(batch_size) / 100
        value = level + (1.5 - level) * 0.6 ** epoch
        out.writerow([epoch, value * 0.9, value])
        f.flush()
        print("Epoch %d/%s val_loss %.4f" % (epoch + 1, epochs, value), flush=True)
        time.sleep(0.25)
`;

async function freePort() {
  const server = net.createServer();
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

// Fails for one value, and runs long for another.
const FRAIL = `import argparse, sys, time
p = argparse.ArgumentParser()
p.add_argument("--mode")
mode = p.parse_args().mode
print("mode", mode, flush=True)
if mode == "bad":
    raise ValueError("no such <mode>: \\x1b[31mbad\\x1b[0m")
for i in range(3000 if mode == "long" else 2):
    print("val_loss=%.3f epoch=%d" % (1.0 / (i + 1), i), flush=True)
    time.sleep(0.2)
`;

// Four rows in two epochs, with a pause before the last two.
const PAUSED = `import time
with open("log.csv", "w") as f:
    f.write("step,epoch,val_loss\\n10,0.5,4.0\\n20,1.0,3.0\\n")
    f.flush()
    time.sleep(2)
    f.write("30,1.5,2.0\\n40,2.0,1.0\\n")
`;

// Prints more than fits on a screen, then a line every quarter of a second.
const TALKER = `import time
for i in range(60):
    print("begin", i, flush=True)
for i in range(3000):
    print("line", i, flush=True)
    time.sleep(0.25)
`;

let state;
let daemon;
let browser;
let seat;
let shots;
let said = '';
let port;
let env;
const shoot = (name) => seat.page.screenshot({ path: path.join(shots, `${name}.png`), fullPage: true });
const file = (name, text) => ({ name, mimeType: 'text/x-python', buffer: Buffer.from(text) });

function serve() {
  daemon = spawn(bin, ['serve', '--listen', `127.0.0.1:${port}`], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  daemon.stdout.on('data', (d) => {
    said += d;
  });
  daemon.stderr.on('data', (d) => {
    said += d;
  });
}

async function end(signal) {
  if (daemon.exitCode !== null || daemon.signalCode !== null) return;
  const gone = new Promise((done) => {
    daemon.once('exit', done);
  });
  daemon.kill(signal);
  await gone;
}

// Only then `sluice login` is of use: where it finds no daemon it starts one of its own, and that may be quicker.
async function answers() {
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end && daemon.exitCode === null; ) {
    try {
      return await fetch(`http://127.0.0.1:${port}/api/v1/health`);
    } catch {
      await new Promise((done) => {
        setTimeout(done, 100);
      });
    }
  }
  throw new Error(`the daemon does not answer; it said:\n${said}`);
}

async function login() {
  await answers();
  const { stdout } = await run(bin, ['login'], { env });
  const url = /https?:\/\/\S+#login=\S+/.exec(stdout)?.[0];
  assert.ok(url, `sluice login gave no link: ${stdout}`);
  return url.replace(/127\.0\.0\.1:\d+|localhost:\d+/, `127.0.0.1:${port}`);
}

before(async () => {
  if (skip) return;
  state = await mkdtemp(path.join(os.tmpdir(), 'sluice-web-'));
  shots = process.env.SLUICE_SHOTS ?? (await mkdtemp(path.join(os.tmpdir(), 'sluice-shots-')));
  port = await freePort();
  // A cluster of this machine would be preferred.
  env = { ...process.env, SLUICE_STATE: state, SLURM_CONF: '/nonexistent' };
  serve();
  const url = await login();
  browser = await launch();
  seat = await open(browser, url, { allow: ['ERR_', '400 (Bad Request)', '401 (Unauthorized)'] });
});

after(async () => {
  await seat?.context.close();
  await browser?.close();
  if (daemon) await end('SIGTERM');
  // A runner that a failed test left alive still writes there.
  if (state) await rm(state, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  if (shots && !process.env.SLUICE_SHOTS) await rm(shots, { recursive: true, force: true });
});

test('five batch sizes and one learning rate through the form: five tasks, five live curves, the best named', {
  skip,
  timeout: 600000,
}, async (t) => {
  const { page, troubles } = seat;
  t.diagnostic(`screenshots in ${shots}`);
  await page.getByText('No experiments yet').waitFor();
  assert.equal(new URL(page.url()).hash, '', 'the login code left the address');
  await shoot('1-empty');
  await page.getByRole('main').getByRole('link', { name: 'New experiment' }).first().click();
  await page.locator('#script').setInputFiles(file('model.py', SCRIPT));
  await page.locator('#name').fill('five batch sizes');
  await page.getByLabel('Values of batch_size').fill('64,32,16,8,4');
  await page.getByLabel('Values of learning_rate').fill('0.001');
  await page.getByLabel('Value of epochs').fill('8');
  await page.getByRole('button', { name: 'Submit 5 tasks' }).first().waitFor();
  await page.waitForTimeout(500);
  await shoot('2-form');
  await page.getByRole('button', { name: 'Submit 5 tasks' }).first().click();
  await page.waitForURL(/\/e\/e\d+$/);
  await page.waitForFunction(() => document.querySelectorAll('[data-row]').length === 5);
  await page.getByRole('img', { name: /val_loss for [1-5] task/ }).waitFor();
  await shoot('3-live');
  await page.getByRole('img', { name: /val_loss for 5 tasks/ }).waitFor();
  await page.getByText('every task has ended').waitFor();
  const best = page.locator('.kpi.first');
  await best.getByText(/^#\d+$/).waitFor();
  assert.match(await best.innerText(), /batch_size 4/, 'the smallest batch size is the best');
  await shoot('4-finished');
  assert.deepEqual(await audit(page), []);
  await best.getByRole('link').click();
  await page.getByRole('heading', { level: 1, name: /^Task / }).waitFor();
  await page.getByRole('log').getByText('Epoch 8/8').waitFor();
  await shoot('5-task');
  assert.deepEqual(await audit(page), []);
  await page.goto(new URL('/', page.url()).href);
  await page.getByRole('link', { name: 'five batch sizes' }).first().waitFor();
  await shoot('6-list');
  await page.goto(new URL('/cluster', page.url()).href);
  await page.getByRole('heading', { level: 1, name: 'Cluster' }).waitFor();
  await page.waitForTimeout(500);
  await shoot('7-cluster');
  assert.deepEqual(troubles.splice(0), []);
});

test('curves are over step, epoch and real time, by the address, in all three charts', {
  skip,
  timeout: 600000,
}, async () => {
  const { page, troubles } = seat;
  await page.goto(`http://127.0.0.1:${port}/new`);
  await page.locator('#script').setInputFiles(file('paused.py', PAUSED));
  await page.getByRole('button', { name: 'Submit 1 task' }).first().click();
  await page.waitForURL(/\/e\/e\d+$/);
  const experiment = page.url();
  await page.goto(`${experiment}?x=time`);
  // The rows behind the pause come as events, to a chart that is over time already.
  await page.getByText('every task has ended').waitFor();
  const chart = (axis) => page.getByRole('img', { name: new RegExp(`^val_loss.* by ${axis}\\.`) });
  await chart('time').waitFor();
  const cells = () => page.getByRole('region', { name: 'val_loss as a table' }).locator('tbody td').allInnerTexts();
  await page.getByRole('button', { name: 'Table' }).click();
  const live = await cells();
  assert.equal(live[1], '4', 'four points');
  await page.reload();
  await chart('time').waitFor();
  await page.getByRole('button', { name: 'Table' }).click();
  assert.deepEqual(await cells(), live, 'what came as events is what the daemon keeps');
  await page.getByRole('button', { name: 'Epoch', exact: true }).click();
  await page.getByRole('columnheader', { name: 'Last epoch' }).waitFor();
  assert.equal((await cells()).at(-1), '2');
  await page.getByRole('button', { name: 'Step', exact: true }).click();
  await page.getByRole('columnheader', { name: 'Last step' }).waitFor();
  assert.equal((await cells()).at(-1), '40');
  const answer = page.waitForResponse(/tasks\/1\/metrics\?.*axis=time/);
  await page.goto(`${experiment}/1?x=time`);
  const { x } = (await (await answer).json()).metrics.val_loss;
  assert.ok(x.length === 4 && x[3] >= 2 && x.every((v, i) => !i || v >= x[i - 1]), `seconds ${x}`);
  for (const where of [`${experiment}/1`, `${experiment}/compare?tasks=1`]) {
    await page.goto(where);
    await page.getByRole('button', { name: 'Time', exact: true }).click();
    await page.waitForURL(/x=time/);
    await page.getByRole('button', { name: 'Time', exact: true, pressed: true }).waitFor();
    const plot = page.getByRole('img', { name: /^val_loss/ });
    await plot.focus();
    await plot.press('ArrowRight');
    await page
      .getByRole('status')
      .getByText(/, \d+(\.\d+)? ?s: /)
      .waitFor();
    await plot.press('ArrowLeft');
    await page.getByRole('button', { name: 'Epoch', exact: true }).click();
    await page.getByRole('button', { name: 'Epoch', exact: true, pressed: true }).waitFor();
    await plot.press('ArrowLeft');
    await page
      .getByRole('status')
      .getByText(/, epoch \d/)
      .waitFor();
  }
  assert.deepEqual(troubles.splice(0), []);
});

test('the output of a running task grows in the page, and Follow scrolls with it', {
  skip,
  timeout: 600000,
}, async () => {
  const { page, troubles } = seat;
  await page.goto(`http://127.0.0.1:${port}/new`);
  await page.locator('#script').setInputFiles(file('talker.py', TALKER)); // it takes no arguments: one task
  await page.getByRole('button', { name: 'Submit 1 task' }).first().click();
  await page.waitForURL(/\/e\/e\d+$/);
  const experiment = page.url();
  await page.locator('[data-row]').getByText('Running').waitFor();
  await page.goto(`${experiment}/1`);
  const log = page.locator('#log');
  const last = () => log.locator('li').last().innerText();
  const behind = () => log.evaluate((el) => el.scrollHeight - el.scrollTop - el.clientHeight);
  await log.getByText('begin 59').waitFor();
  const first = Number(/line (\d+)/.exec(await last())?.[1] ?? 0);
  await log.getByText(`line ${first + 8}`, { exact: true }).waitFor();
  await page.waitForFunction(() => {
    const el = document.querySelector('#log');
    return el.scrollHeight > el.clientHeight && el.scrollHeight - el.scrollTop - el.clientHeight < 40;
  });
  await page.getByLabel('Follow').uncheck();
  await log.evaluate((el) => {
    el.scrollTop = 0;
  });
  await log.getByText(`line ${first + 16}`, { exact: true }).waitFor();
  assert.ok((await behind()) > 40, 'without Follow the page stays where it is read');
  await page.getByLabel('Follow').check();
  await page.waitForFunction(() => {
    const el = document.querySelector('#log');
    return el.scrollHeight - el.scrollTop - el.clientHeight < 40;
  });
  await shoot('11-growing-log');
  await page.goto(experiment);
  await page.getByRole('button', { name: 'Stop all' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Stop 1 task' }).click();
  await page.locator('[data-row]').getByText('Stopped').waitFor();
  assert.deepEqual(troubles.splice(0), []);
});

// What a new user has: one script of each kind. The values that the form takes from it are the test's, and so is the
// command. click, omegaconf and keras are small stand-ins beside the script where they are not installed.
const LOG = `
import csv
with open("log.csv", "w", newline="") as f:
    out = csv.writer(f)
    out.writerow(["epoch", "val_loss"])
    for epoch in range(2):
        out.writerow([epoch, 1 / (epoch + 1 + lr)])
`;
const ARGPARSE = 'import argparse\np = argparse.ArgumentParser()\n';
const KINDS = [
  {
    name: 'dashes.py',
    text: `${ARGPARSE}p.add_argument("--lr", type=float, default=0.1, help="the rate")
p.add_argument("--opt", choices=["adam", "sgd"], default="sgd")
args = p.parse_args()
lr = args.lr${LOG}`,
    tasks: 2,
    call: 'python3 dashes.py --lr=0.1 --opt=sgd',
  },
  {
    name: 'switches.py',
    text: `${ARGPARSE}p.add_argument("--learning_rate", type=float, default=0.5)
p.add_argument("--sizes", type=int, nargs="+", default=[64, 32])
p.add_argument("--augment", action="store_true")
p.add_argument("--amp", action=argparse.BooleanOptionalAction, default=True)
args = p.parse_args()
assert args.sizes == [64, 32] and args.amp and not args.augment
lr = args.learning_rate${LOG}`,
    tasks: 1,
    call: 'python3 switches.py --learning_rate=0.5 --sizes 64 32 --amp',
  },
  {
    name: 'clicked.py',
    text: `import click
@click.command()
@click.option("--lr", default=0.1)
@click.option("--shout/--no-shout", default=False)
def main(lr, shout):
    assert shout is False
    with open("log.csv", "w") as f:
        f.write("epoch,val_loss\\n0,%s\\n" % lr)
main()
`,
    tasks: 1,
    call: 'python3 clicked.py --lr=0.1 --no-shout',
    module: 'click',
    standIn: `import sys
def command():
    return lambda f: lambda: f(lr=float(sys.argv[1].split("=")[1]), shout=sys.argv[2] != "--no-shout")
def option(*a, **k):
    return lambda f: f
`,
  },
  {
    name: 'places.py',
    text: `import sys
lr = float(sys.argv[1])
epochs = int(sys.argv[2])${LOG}`,
    tasks: 1,
    call: 'python3 places.py 0.001 100',
  },
  {
    name: 'overrides.py',
    text: `from omegaconf import OmegaConf
cfg = OmegaConf.merge(OmegaConf.create({"lr": 0.1, "epochs": 2}), OmegaConf.from_cli())
lr = float(cfg.lr)${LOG}`,
    tasks: 1,
    call: 'python3 overrides.py lr=0.1 epochs=2',
    module: 'omegaconf',
    standIn: `import sys, types
class OmegaConf:
    create = staticmethod(dict)
    from_cli = staticmethod(lambda: dict(a.split("=", 1) for a in sys.argv[1:]))
    merge = staticmethod(lambda a, b: types.SimpleNamespace(**{**a, **b}))
`,
  },
  {
    name: 'callbacks.py',
    text: `import argparse
from keras.callbacks import CSVLogger, EarlyStopping
p = argparse.ArgumentParser()
p.add_argument("--epochs", type=int, default=2)
args = p.parse_args()
callbacks = [CSVLogger("training.csv"), EarlyStopping(monitor="val_mae", mode="min")]
with open("training.csv", "w") as f:
    f.write("epoch,val_mae\\n0,0.5\\n1,0.25\\n")
`,
    tasks: 1,
    call: 'python3 callbacks.py --epochs=2',
    metric: 'val_mae',
    module: 'keras',
    standIn:
      'import sys\nclass CSVLogger:\n    def __init__(self, *a, **k): pass\nEarlyStopping = CSVLogger\nsys.modules["keras.callbacks"] = sys.modules["keras"]\n__path__ = []\n',
  },
];
KINDS.push(
  {
    name: 'stf.py',
    text: `import sys
experiment = sys.argv[1]
task = sys.argv[2]
batch_size = int(sys.argv[3])
learning_rate = float(sys.argv[4])
epochs = int(sys.argv[5])
early_stopping = int(sys.argv[6])
lr = learning_rate
with open("results/%s/%s/%s.csv" % (experiment, task, task), "w") as f:
    f.write("epoch,val_loss\\n0,%s\\n" % (1 / batch_size))
`,
    tasks: 3,
    call: /^python3 stf.py e\d+ 1 64 0.001 100 50$/,
  },
  {
    name: 'train.sh',
    text: `#!/bin/bash
while [ $# -gt 0 ]; do
  case "$1" in
    --lr) lr=$2; shift 2 ;;
    --opt) opt=$2; shift 2 ;;
    *) echo "what is $1?" >&2; exit 2 ;;
  esac
done
echo "epoch 1 val_loss $lr"
`,
    tasks: 2,
    call: '/bin/bash train.sh --lr 0.2 --opt adam',
    metric: '', // what it prints is not read for names
    // A shell script says no defaults: they are typed.
    typed: { lr: '0.2,0.1', opt: 'adam' },
  },
  {
    name: 'commands.py',
    text: `${ARGPARSE}p.add_argument("--seed", type=int, default=1)
sub = p.add_subparsers(dest="what", required=True)
one = sub.add_parser("prepare")
one.add_argument("--data", required=True)
two = sub.add_parser("train")
two.add_argument("--lr", type=float, default=0.1)
two.add_argument("--sizes", type=lambda s: [int(x) for x in s.split(",")], default=[64, 32])
args = p.parse_args()
assert args.what == "train" and args.sizes == [64, 32]
lr = args.lr${LOG}`,
    tasks: 1,
    call: 'python3 commands.py train --lr=0.1',
  },
);

KINDS.push(
  {
    // What it prints is called "Val loss"; the form must not ask for a "loss" that never comes.
    name: 'phrases.py',
    text: `${ARGPARSE}p.add_argument("epochs", type=int)
p.add_argument("-l", "--lr", type=float, default=0.001)
p.add_argument("--no-cuda", action="store_true")
a = p.parse_args()
for e in range(a.epochs):
    print("Epoch: %d | Train loss %.5f | Val loss %.5f" % (e, a.lr / 2 / (e + 1), a.lr / (e + 1)))
`,
    tasks: 1,
    call: 'python3 phrases.py 3 --lr=0.001',
    metric: '',
    best: 'Val loss',
    filled: { 'Value of epochs': '3' },
  },
  {
    name: 'getopted.py',
    text: `import getopt, sys, csv
lr, width = 0.1, 8
for option, value in getopt.getopt(sys.argv[1:], "l:w:", ["lr=", "width="])[0]:
    if option in ("-l", "--lr"): lr = float(value)
    if option in ("-w", "--width"): width = int(value)
out = csv.writer(open("history.csv", "w"))
out.writerow(["epoch", "val_rmse"])
for e in range(5): out.writerow([e, lr * width / (e + 1)])
`,
    tasks: 2,
    call: 'python3 getopted.py --lr=0.2 --width=4',
    metric: '',
    best: 'val_rmse',
    typed: { lr: '0.2,0.1', width: '4' },
  },
  {
    name: 'tune.pl',
    text: `#!/usr/bin/env perl
use strict; use warnings; use Getopt::Long;
my $lr = 0.1;
GetOptions("lr=f" => \\$lr) or die "bad arguments";
for my $e (1..4) { printf "epoch %d val_loss %.4f\\n", $e, $lr / $e; }
`,
    tasks: 1,
    call: 'perl tune.pl',
    metric: '',
    best: 'val_loss',
  },
);

for (const kind of KINDS)
  test(`a new user drops ${kind.name} and presses Submit: all tasks finish`, { skip, timeout: 300000 }, async () => {
    const { page, troubles } = seat;
    await page.goto(`http://127.0.0.1:${port}/new`);
    await page.locator('#script').setInputFiles(file(kind.name, kind.text));
    const there = kind.module && (await run('python3', ['-c', `import ${kind.module}`], { env }).catch(() => null));
    if (kind.module && !there)
      await page.getByLabel('Add other files it needs').setInputFiles(file(`${kind.module}.py`, kind.standIn));
    for (const [name, values] of Object.entries(kind.typed ?? {})) {
      await page.getByRole('button', { name: `Add ${name}`, exact: true }).click();
      await page.getByLabel(`Kind of ${name}`).selectOption('list');
      await page.getByLabel(`Values of ${name}`).fill(values);
    }
    for (const [label, value] of Object.entries(kind.filled ?? {})) await page.getByLabel(label).fill(value);
    const submit = page.getByRole('button', {
      name: kind.tasks === 1 ? 'Submit 1 task' : `Submit ${kind.tasks} tasks`,
    });
    await page
      .getByRole('region', { name: 'Command of the first task' })
      .getByText(kind.call, { exact: true })
      .waitFor();
    assert.equal(await page.locator('#metric').inputValue(), kind.metric ?? 'val_loss');
    await shoot(`form-${kind.name}`);
    await submit.first().click();
    await page.waitForURL(/\/e\/e\d+$/);
    await page.getByText('every task has ended').waitFor();
    const id = /e\d+$/.exec(page.url())[0];
    const { stdout } = await run(bin, ['show', id, '--json'], { env });
    const shown = JSON.parse(stdout);
    assert.equal(shown.state, 'finished');
    assert.equal(shown.tasks.finished, kind.tasks);
    assert.ok(shown.best, 'the metric of the form was found');
    if (kind.best) assert.equal(shown.objective[0].metric, kind.best);
    assert.deepEqual(troubles.splice(0), []);
  });

test('a partition in the form is refused at its field where the daemon has no Slurm', {
  skip,
  timeout: 600000,
}, async () => {
  const { page, troubles } = seat;
  const script = path.join(state, 'once.py');
  await writeFile(script, 'print("val_loss=1")\n');
  const made = await run(bin, ['run', script, '--backend=local', '--partition=gpu', '--detach', '--json'], { env });
  await page.goto(`http://127.0.0.1:${port}/new?from=${JSON.parse(made.stdout).id}`);
  const field = page.locator('#partition');
  await page.getByText('partition has no effect: only the backend slurm understands it').waitFor();
  assert.equal(await field.inputValue(), 'gpu');
  assert.equal(await field.getAttribute('aria-invalid'), 'false');
  await page.locator('#backend').selectOption('');
  await page.locator('#partition-e').getByText("Partition needs the backend 'slurm'").waitFor();
  assert.equal(await field.getAttribute('aria-invalid'), 'true');
  assert.ok(await page.getByRole('button', { name: 'Submit' }).first().isDisabled());
  await shoot('12-no-slurm');
  await field.fill('');
  await page.getByRole('button', { name: 'Submit 1 task' }).first().waitFor();
  // The next test begins with an empty form.
  await page.getByRole('button', { name: 'Clear', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Clear' }).click();
  await page.getByText('No script yet').waitFor();
  assert.deepEqual(troubles.splice(0), []);
});

// A folder in the place of the file that the daemon tries to write stands in for a full disk, which needs a mount.
test('a state folder that cannot be written shows on the page within seconds, and goes away', {
  skip,
  timeout: 600000,
}, async () => {
  const { page, troubles } = seat;
  await page.goto(`http://127.0.0.1:${port}/`);
  await page.getByRole('heading', { level: 1, name: 'Experiments' }).waitFor();
  await mkdir(path.join(state, 'room'));
  const shown = page.getByRole('alert').getByText(/Nothing can be written to the state folder .*: Is a directory/);
  // Nothing runs, so it is a command that finds it.
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end && !(await shown.isVisible()); ) {
    await run(bin, ['ls'], { env });
    await page.waitForTimeout(200);
  }
  await shown.waitFor();
  await page.reload();
  await shown.waitFor();
  await rm(path.join(state, 'room'), { recursive: true });
  await shown.waitFor({ state: 'detached' });
  assert.deepEqual(troubles.splice(0), []);
});

test('a failing task quotes its cause, tasks stop and restart, the daemon may be killed, and all can be removed', {
  skip,
  timeout: 600000,
}, async () => {
  const { page, troubles } = seat;
  await page.goto(`http://127.0.0.1:${port}/new`);
  await page.locator('#script').setInputFiles(file('frail.py', FRAIL));
  await page.getByRole('button', { name: 'Add mode' }).click();
  await page.getByLabel('Kind of mode').selectOption('list');
  await page.getByLabel('Values of mode').fill('bad,long');
  await page.locator('#parallel').fill('2');
  await page.getByRole('button', { name: 'Submit 2 tasks' }).first().click();
  await page.waitForURL(/\/e\/e\d+$/);
  await page.locator('[data-row]').filter({ hasText: 'bad' }).getByText('Error', { exact: true }).waitFor();
  await page.locator('[data-row]').filter({ hasText: 'long' }).getByText('Running').waitFor();
  await shoot('8-mixed');
  const experiment = page.url();
  await page.locator('[data-row]').filter({ hasText: 'bad' }).getByRole('link').click();
  await page.getByRole('alert').getByText('ValueError: no such <mode>: bad').first().waitFor();
  await page.getByRole('log').getByText('ValueError: no such').waitFor();
  assert.deepEqual(await audit(page), []);
  await shoot('9-failed');
  await page.goto(experiment);
  await page.locator('.live.open').waitFor();
  await end('SIGKILL');
  await page.getByText('Reconnecting.').waitFor();
  assert.equal(await page.locator('[data-row]').count(), 2, 'the data stays');
  serve();
  await page.getByRole('heading', { name: 'Sign in again' }).waitFor(); // all sessions end when a daemon starts
  await page.getByText(/^SLUICE_STATE='.+' '.+sluice' login$/).waitFor();
  // A link in a tab that shows the same address only changes the fragment; the page must sign in all the same. A
  // reload by this test could cut off the request that uses the code up.
  await page.goto(`http://127.0.0.1:${port}/`);
  await page.getByRole('heading', { name: 'You are not signed in' }).waitFor();
  await page.goto(await login());
  await page.locator('.live.open').waitFor();
  await page.goto(experiment);
  await page.locator('[data-row]').filter({ hasText: 'long' }).getByText('Running').waitFor();
  await page.getByRole('button', { name: 'Stop all' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Stop 1 task' }).click();
  await page.locator('[data-row]').filter({ hasText: 'long' }).getByText('Stopped').waitFor();
  await page.getByRole('button', { name: 'Restart failed (1)' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Restart 1 failed task' }).click();
  await page.getByText('Restarted 1 task.').waitFor();
  // The second attempt fails as fast as the first: its end is told by the task's page, which counts attempts.
  await page.locator('[data-row]').filter({ hasText: 'bad' }).getByRole('link').click();
  await page
    .getByRole('region', { name: 'All attempts' })
    .locator('tbody tr')
    .nth(1)
    .getByRole('cell', { name: '1', exact: true })
    .waitFor();
  await page
    .getByRole('region', { name: 'Use over time' })
    .getByText(/samples/)
    .waitFor();
  const ran = page.getByRole('region', { name: 'What ran' });
  await ran.getByText(/^Environment \(\d+\)$/).click();
  await ran.getByText(/^PATH=/m).waitFor();
  await shoot('10-second-attempt');
  await page.goto(experiment);
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Remove…' }).click();
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /emove$/ })
    .click();
  await page.getByRole('heading', { level: 1, name: 'Experiments' }).waitFor();
  await page.getByRole('link', { name: 'frail' }).waitFor({ state: 'detached' });
  await page.goto(`http://127.0.0.1:${port}/settings`);
  await page.getByLabel('Name of the new token').fill('ci');
  await page.getByRole('button', { name: 'Create token' }).click();
  await page.getByText('Copy it now').waitFor();
  await page.getByRole('button', { name: 'Revoke ci' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await page.getByText('No tokens yet').waitFor();
  assert.deepEqual(troubles.splice(0), []);
  await page.getByRole('button', { name: 'Log out of this browser' }).click();
  await page.getByText(/^SLUICE_STATE='.+' '.+sluice' login$/).waitFor(); // its state folder is not the usual one
});
