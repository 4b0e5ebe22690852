// The form and the experiment file are one thing, against the real daemon: copies, imports and edits lose nothing.
import assert from 'node:assert/strict';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { audit, launch, open } from './browser.mjs';
import { Daemon, skip } from './daemon.mjs';

let daemon;
let browser;
let seat;
let folder;

const SCRIPT = `import argparse
p = argparse.ArgumentParser()
for name in ("--lr", "--units", "--opt", "--momentum", "--number", "--sizes", "--epochs"):
    p.add_argument(name)
p.parse_known_args()
print("epoch 1 acc 0.5 latency 2 val_loss 1")
`;

// Between the two of them every key of the file, and every way to write it.
const RICH = `# what this is about
name: rich
description: |
  two lines
  of text
script: train.py
files: [data/labels.csv, tools]
copy_limit: 32M
parameters:
  lr: {min: 1.0, max: 10.0, scale: log} # real, though the ends are whole
  units: {min: 16, max: 64, step: 16, type: int, default: 32}
  opt: [adam, sgd]
  momentum: {min: 0.0, max: 0.99, when: {opt: sgd}}
  number: [1.50, 2]
  sizes: [[64, 64], [8]]
  epochs: 3
constraints: ["units * number <= 128"]
repeats: 2
search: {strategy: nsga2, tasks: 4, parallel: 2, seed: 420}
objective:
  - {metric: acc, goal: max, take: last}
  - {metric: latency, goal: min, take: mean, of: 3}
prune: {rule: median, warmup: 2, min_tasks: 5}
stop: {when: "acc > 0.99", gpu_hours: 40, energy: 20MJ, wall: 12h, failures: off}
pass: flags
style: underscore
separator: space
arguments: {number: "--number={}"}
metrics: {from: stdout}
environment:
  python: none
  modules: none
  keep: [WANDB_MODE, "HF_*"]
  setup: ["true || false", "export X=1"]
  vars: {A: "2", B: text}
resources:
  backend: local
  cpus: 1
  memory: 500M
  time: 1h30m
  partition: gpu
  account: ml
  qos: high
  constraint: a
  nodes: 1
  exclusive: true
  options: ["--mail-type=FAIL"]
retry: {lost: 2, unstarted: 5, node_failure: 1, preempted: 4, memory: {times: 2, factor: 1.5}, time: 1, error: 0}
checkpoint: {signal: USR2, before_limit: 90s}
`;
const COMMAND = `name: command
command: [python3, -c, "print('epoch 1 val_loss {lr}')", "a b"]
parameters:
  lr: {min: 0.1, max: 0.9}
  epochs: {min: 1, max: 9}
search: {strategy: asha, tasks: 3}
fidelity: {parameter: epochs, min: 1, max: 9}
objective: val_loss
prune: asha
`;

before(async () => {
  if (skip) return;
  daemon = await Daemon.start();
  folder = path.join(daemon.state, 'mine');
  await mkdir(path.join(folder, 'data'), { recursive: true });
  await mkdir(path.join(folder, 'tools'));
  await writeFile(path.join(folder, 'train.py'), SCRIPT);
  await writeFile(path.join(folder, 'data/labels.csv'), 'a,b\n1,2\n');
  await writeFile(path.join(folder, 'tools/run'), 'no first line says how it is run\n');
  await writeFile(path.join(folder, 'tools/b.bin'), Buffer.from([0, 255, 10, 13]));
  await chmod(path.join(folder, 'tools/run'), 0o755);
  browser = await launch();
  seat = await open(browser, await daemon.login(), { allow: ['400 (Bad Request)'] });
});

after(async () => {
  await seat?.context.close();
  await browser?.close();
  await daemon?.stop();
});

const show = async (id) => JSON.parse(await daemon.cli('show', id, '--json'));
const editor = () => seat.page.getByLabel('Experiment file');

async function submitted() {
  const { page } = seat;
  await page
    .getByRole('button', { name: /^Submit \d+ task/ })
    .first()
    .click();
  await page.waitForURL(/\/e\/e\d+$/);
  return /e\d+$/.exec(page.url())[0];
}

async function run(name, text) {
  await writeFile(path.join(folder, name), text);
  return JSON.parse(await daemon.cli('run', path.join(folder, name), '--detach', '--json')).id;
}

// What an experiment is, without its own name and times.
async function essence(id) {
  const { spec } = await show(id);
  const { name: _name, ...rest } = spec;
  const files = {};
  for (const one of ['train.py', 'data/labels.csv', 'tools/run', 'tools/b.bin']) {
    const at = path.join(daemon.state, 'experiments', id.slice(1), 'files', one);
    files[one] = await readFile(at, 'base64').catch(() => null);
  }
  return { spec: rest, files };
}

for (const [name, text] of [
  ['rich', RICH],
  ['command', COMMAND],
])
  test(`a copy of ${name}.yaml is the same experiment, key by key`, { skip, timeout: 300000 }, async () => {
    const { page, troubles } = seat;
    const first = await run(`${name}.yaml`, text);
    await page.goto(`${daemon.url}/new?from=${first}`);
    await page.getByText(`Copied from ${name}.`).waitFor();
    await page.getByRole('tab', { name: 'YAML' }).click();
    assert.equal(await editor().inputValue(), text.replace(`name: ${name}`, `name: ${name} (copy)`));
    if (name === 'rich') {
      // Only these have no field.
      const also = page.getByText('Also in the file:').locator('..');
      assert.deepEqual(await also.locator('code').allInnerTexts(), [
        'parameters.units.type',
        'parameters.units.default',
      ]);
      assert.deepEqual(await audit(page), []);
    }
    const second = await submitted();
    const [was, is] = [await essence(first), await essence(second)];
    for (const key of new Set([...Object.keys(was.spec), ...Object.keys(is.spec)]))
      assert.deepEqual(is.spec[key], was.spec[key], key);
    assert.deepEqual(is.files, was.files);
    await daemon.cli('stop', first, second);
    assert.deepEqual(troubles.splice(0), []);
  });

test('what is typed in the form changes that line of the file and no other', { skip, timeout: 300000 }, async () => {
  const { page, troubles } = seat;
  await page.goto(`${daemon.url}/new`);
  const given = (name, text) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
  await page.getByLabel('Import YAML').setInputFiles(given('rich.yaml', RICH));
  await page.getByText('train.py is not here yet').waitFor();
  // What it names and a browser cannot read is named, with a button beside.
  await page.getByLabel('Upload data/labels.csv').setInputFiles(given('l.csv', 'a,b\n'));
  await page.getByLabel('Upload tools').setInputFiles([given('run', 'x'), given('b.bin', 'y')]);
  await page.locator('#script').setInputFiles(given('train.py', SCRIPT));
  await page
    .getByRole('button', { name: /^Submit \d+ task/ })
    .first()
    .waitFor();
  await page.getByRole('tab', { name: 'YAML' }).click();
  assert.equal(await editor().inputValue(), RICH, 'files and the script change nothing in the text');
  const lines = RICH.split('\n');
  const edits = [
    ['#stop-when', 'acc > 0.9', /acc > 0\.99/, 'acc > 0.9'],
    ['#vars', 'A: "3"\nB: text', /A: "2"/, 'A: "3"'],
    ['#retry-preempted', '5', /preempted: 4/, 'preempted: 5'],
    ['#factor-memory', '1.50', /factor: 1\.5/, 'factor: 1.50'],
    ['#metric-2', 'time', /metric: latency/, 'metric: time'],
    ['#take', 'mean', /take: last/, 'take: mean'],
    ['#before-limit', '60s', /before_limit: 90s/, 'before_limit: 60s'],
    ['#account', 'hpc', /account: ml/, 'account: hpc'],
  ];
  assert.equal(await page.locator('#description').inputValue(), 'two lines\nof text\n', 'a line break stays one');
  for (const [field, typed, was, is] of edits) {
    const at = lines.findIndex((line) => was.test(line));
    lines[at] = lines[at].replace(was, is);
    const input = page.locator(field);
    if ((await input.evaluate((el) => el.tagName)) === 'SELECT') await input.selectOption(typed);
    else await input.fill(typed);
    assert.deepEqual((await editor().inputValue()).split('\n'), lines, field);
  }
  // And the other way: what is typed in the text is in the fields.
  await editor().fill(lines.join('\n').replace('wall: 12h', 'wall: 3h').replace('cpus: 1', 'cpus: zero'));
  assert.equal(await page.locator('#stop-wall').inputValue(), '3h');
  await page.locator('#cpus-e').getByText('CPUs must be a whole number').waitFor();
  const at = lines.findIndex((line) => line.startsWith('  cpus:')) + 1;
  await page.getByRole('button', { name: `Line ${at}:` }).waitFor();
  await page.locator('.gutter .bad').getByText(String(at), { exact: true }).waitFor();
  await page.locator('#cpus').fill('1');
  await page.locator('#cpus-e').waitFor({ state: 'detached' });
  assert.deepEqual(troubles.splice(0), []);
});

test('a copy of what was changed while it ran has the change; JSON becomes YAML', {
  skip,
  timeout: 300000,
}, async () => {
  const { page, troubles } = seat;
  const json = { script: 'train.py', parameters: { lr: [1, 2, 3] }, search: { strategy: 'random', tasks: 2 } };
  const id = await run('e.json', JSON.stringify(json));
  await daemon.cli('change', id, '--tasks', '3');
  await page.goto(daemon.url); // away from the form of the test before, which would be kept
  await page.evaluate(() => localStorage.removeItem('sluice.draft'));
  await page.goto(`${daemon.url}/new?from=${id}`);
  await page.getByText('Copied from train.').waitFor();
  await page.getByRole('tab', { name: 'YAML' }).click();
  assert.equal(
    await editor().inputValue(),
    'name: train (copy)\nscript: train.py\nparameters:\n  lr: [1, 2, 3]\nsearch:\n  strategy: random\n  tasks: 3\n',
  );
  await daemon.cli('stop', id);
  assert.deepEqual(troubles.splice(0), []);
});

test('a copy runs in the environment that was active for the original', { skip }, async () => {
  const { page, troubles } = seat;
  const body = {
    experiment: { script: 'train.py', parameters: { lr: [1] }, resources: { backend: 'external' } },
    files: [{ path: 'train.py', text: 'print(1)\n' }],
    caller: { python: '/opt/no-such-venv', modules: ['cuda/12.2'], variables: {} },
  };
  const { id } = await daemon.api('POST', '/experiments', body);
  await page.goto(daemon.url);
  await page.evaluate(() => localStorage.removeItem('sluice.draft'));
  await page.goto(`${daemon.url}/new?from=${id}`);
  await page.getByText('Copied from train.').waitFor();
  await page.getByRole('tab', { name: 'YAML' }).click();
  const text = await editor().inputValue();
  assert.match(text, /^environment:\n {2}python: \/opt\/no-such-venv\n {2}modules: \[cuda\/12\.2\]$/m);
  assert.deepEqual(troubles.splice(0), []);
});
