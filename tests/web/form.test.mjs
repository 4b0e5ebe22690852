// The form for a new experiment: what it sends, where errors appear, and that nothing typed is lost.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { audit, until } from './browser.mjs';
import { experimentOf } from './check.mjs';
import { stage } from './stage.mjs';

const on = stage();

// The browser writes every answer above 399 to its console; a form full of mistakes makes some.
async function visit(path = '/new', options = {}) {
  const page = await on.visit(path, { allow: ['400 (Bad Request)'], ...options });
  await page.getByRole('heading', { level: 1, name: 'New experiment' }).waitFor();
  return page;
}
const created = () =>
  on.fixture.requests
    .filter((r) => r.method === 'POST' && r.path === '/experiments')
    .map((r) => JSON.parse(r.body))
    .map((sent, i) => ({ ...sent, experiment: experimentOf(sent), key: keys()[i] }));
const keys = () =>
  on.fixture.requests
    .filter((r) => r.method === 'POST' && r.path === '/experiments')
    .map((r) => r.headers['idempotency-key']);
const file = (name, text) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
const POSITIONAL = `import sys
batch_size = int(sys.argv[3])
learning_rate = float(sys.argv[4])
epochs = int(sys.argv[5])
early_stopping = int(sys.argv[6])
# CSVLogger
`;
const FLAGS =
  "parser.add_argument('--lr', default=0.1)\nparser.add_argument('--batch-size', default=8)\nCSVLogger('x.csv')\n";

test('an S-TFManager script: five batch sizes make five tasks', async () => {
  const page = await visit();
  await page.locator('#script').setInputFiles(file('model.py', POSITIONAL));
  await page.getByText('Reads its arguments by position').waitFor();
  await page.getByText(/^Uses CSVLogger; names val_loss/).waitFor();
  assert.equal(await page.locator('#name').inputValue(), 'model');
  await page.locator('#name').fill('batch sizes');
  await page.getByLabel('Values of batch_size').fill('64,32,16,8,4');
  await page.getByRole('button', { name: 'Submit 5 tasks' }).first().waitFor();
  assert.deepEqual(await audit(page), []);
  await page.getByRole('tab', { name: 'Batch script' }).click();
  await page.getByText('--array=').waitFor();
  await page.getByRole('tab', { name: 'YAML' }).click();
  const text = await page.getByLabel('Experiment file').inputValue();
  assert.match(text, /^ {2}batch_size: \[64, 32, 16, 8, 4\]$/m);
  await page.getByRole('button', { name: 'Submit 5 tasks' }).first().click();
  await page.waitForURL('**/e/e11');
  await page.waitForFunction(() => document.querySelectorAll('[data-row]').length === 5);
  const [made] = created();
  assert.deepEqual(made.experiment, {
    name: 'batch sizes',
    script: 'model.py',
    parameters: { batch_size: [64, 32, 16, 8, 4], learning_rate: [0.001], epochs: 100, early_stopping: 50 },
    objective: { metric: 'val_loss' },
    pass: 'positional',
  });
  assert.deepEqual(Object.keys(made.experiment.parameters), [
    'batch_size',
    'learning_rate',
    'epochs',
    'early_stopping',
  ]);
  assert.deepEqual(made.files, [{ path: 'model.py', text: POSITIONAL }]);
  assert.ok(made.key.length >= 16);
});

test('the first check waits for what it needs, however slow the connection', async () => {
  on.fixture.infoDelay = 1500;
  await visit();
  await until(() => on.fixture.requests.some((r) => r.path === '/check'));
  const checks = on.fixture.requests.filter((r) => r.path === '/check');
  assert.ok(checks.length > 0);
});

test('a script that counts its arguments and would get flags is named, with the way out', async () => {
  const page = await visit();
  await page.locator('#script').setInputFiles(file('model.py', POSITIONAL));
  const found = page.locator('.found li').filter({ hasText: 'Reads its arguments by position' });
  await found.and(page.locator('.ok')).waitFor();
  await page.locator('#pass').selectOption('flags');
  await found.and(page.locator('.caution')).waitFor();
  await found.getByRole('button', { name: 'Pass the experiment and the task first' }).click();
  await found.and(page.locator('.ok')).waitFor();
  assert.equal(await page.locator('#pass').inputValue(), 'positional');
});

test('what the script takes becomes the parameters, and what was typed stays', async () => {
  const page = await visit();
  await page.getByRole('button', { name: 'Add parameter' }).click();
  await page.getByLabel('Parameter name').fill('batch_size');
  await page.getByLabel('Values of batch_size').fill('7,8');
  await page.locator('#script').setInputFiles(file('train.py', FLAGS));
  await page.getByText('2 arguments found').waitFor();
  assert.equal(await page.getByLabel('What the script receives').inputValue(), '');
  assert.deepEqual(await page.getByLabel('Parameter name').evaluateAll((all) => all.map((i) => i.value)), [
    'lr',
    'batch_size',
  ]);
  assert.equal(await page.getByLabel('Value of lr').inputValue(), '0.1');
  assert.equal(await page.getByLabel('Values of batch_size').inputValue(), '7,8', 'what was typed stays');
  await page.getByRole('button', { name: 'Submit 2 tasks' }).first().waitFor();
});

test('no parameter is lost silently: doubled, nameless, empty, and half a condition', async () => {
  const page = await visit();
  await page.locator('#script').setInputFiles(file('model.py', POSITIONAL));
  await page.getByRole('button', { name: 'Submit 3 tasks' }).first().waitFor();
  const add = page.getByRole('button', { name: 'Add parameter' });
  const last = (label) => page.getByLabel(label).last();
  await add.click();
  await last('Values of the new parameter').fill('1,2');
  await page.getByText('the parameter has no name. Name it, or remove the row.').waitFor();
  assert.equal(
    await page
      .getByRole('button', { name: /^Submit/ })
      .first()
      .isDisabled(),
    true,
  );
  await last('Parameter name').fill('batch_size');
  await page.getByText('batch_size is there twice.').waitFor();
  await last('Parameter name').fill('dropout');
  await last('Values of dropout').fill('');
  await page.getByText('dropout has no value.').waitFor();
  await last('Values of dropout').fill('0.1,"a,b"');
  await page.getByRole('button', { name: 'Submit 6 tasks' }).first().waitFor();
  await page.getByText('Conditions, constraints and repeats').click();
  await page.getByLabel('dropout', { exact: true }).fill('nonsense');
  await page.getByText("'nonsense' is no condition. Write optimizer=sgd.").waitFor();
  await page.getByLabel('dropout', { exact: true }).fill('');
  await page.locator('#constraints').fill('batch_size < 99');
  await page.locator('#constraints').fill('');
  assert.equal(await page.locator('#constraints').isVisible(), true, 'the section stays open');
});

test('a binary file is said at once and cannot be submitted', async () => {
  const page = await visit();
  await page
    .locator('#script')
    .setInputFiles({ name: 'model.py', mimeType: 'text/plain', buffer: Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 255]) });
  await page.getByText('model.py is a binary file').waitFor();
  assert.equal(
    await page
      .getByRole('button', { name: /^Submit/ })
      .first()
      .isDisabled(),
    true,
  );
});

test('a pasted script fills the form; two objectives are sent', async () => {
  const page = await visit();
  await page.getByRole('button', { name: 'paste its text' }).click();
  await page.getByLabel('File name').fill('train.py');
  await page.getByLabel('Text of the script').fill(FLAGS);
  assert.deepEqual(await audit(page), []);
  await page.getByRole('button', { name: 'Use this script' }).click();
  await page.getByText('2 arguments found').waitFor();
  await page.getByRole('button', { name: 'Add another objective' }).click();
  await page.getByText('the objective has no metric.').waitFor();
  await page.getByLabel('Metric 2', { exact: true }).fill('latency');
  await page.getByLabel('Goal 2', { exact: true }).selectOption('min');
  await page.getByRole('button', { name: 'Submit 1 task' }).first().click();
  await page.waitForURL('**/e/e11');
  assert.deepEqual(created()[0].experiment.objective, [{ metric: 'val_loss' }, { metric: 'latency', goal: 'min' }]);
});

test('errors stand at the field they belong to', async () => {
  const page = await visit();
  await page.locator('#script').setInputFiles(file('model.py', POSITIONAL));
  await page.getByLabel('Kind of learning_rate').selectOption('range');
  await page.getByLabel('Lowest value of learning_rate').fill('512');
  await page.getByLabel('Highest value of learning_rate').fill('16');
  await page.getByText('min 512 is above max 16. Swap them.').waitFor();
  const field = page.getByLabel('Lowest value of learning_rate');
  assert.equal(await field.getAttribute('aria-invalid'), 'true');
  assert.match(await page.locator(`#${await field.getAttribute('aria-describedby')}`).innerText(), /above max/);
  assert.deepEqual(await audit(page), []);
  await page.locator('#gpus').fill('two');
  await page.getByText('two is not a number').waitFor();
  assert.ok(
    await page
      .getByRole('button', { name: /^Submit/ })
      .first()
      .isDisabled(),
  );
  await page.locator('#gpus').fill('2');
  await page.getByLabel('Highest value of learning_rate').fill('1024');
  await page.getByLabel('Step of learning_rate').fill('512');
  await page.getByText('2 things to correct').waitFor({ state: 'detached' });
  await page.getByText('3 × 2').waitFor();
});

test('nothing typed is lost by a reload, and clearing asks first', async () => {
  const page = await visit();
  await page.locator('#name').fill('a draft');
  await page.locator('#script').setInputFiles(file('model.py', POSITIONAL));
  await page.getByText('Reads its arguments by position').waitFor();
  // Typed in the very moment before.
  await page.getByLabel('Values of batch_size').fill('7,8,9,10');
  await page.reload();
  await page.getByRole('button', { name: 'Submit 4 tasks' }).first().waitFor();
  assert.equal(await page.locator('#name').inputValue(), 'a draft');
  await page.getByText('model.py').first().waitFor();
  await page.getByRole('button', { name: 'Clear', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Clear' }).click();
  await page.getByText('No script yet').waitFor();
});

test('run one task first submits the first configuration and keeps the form', async () => {
  const page = await visit();
  await page.locator('#script').setInputFiles(file('model.py', POSITIONAL));
  await page.getByLabel('Values of batch_size').fill('64,32');
  await page.getByRole('button', { name: 'Submit 2 tasks' }).first().waitFor();
  await page.getByRole('button', { name: 'Run one task first' }).first().click();
  await page.waitForURL('**/e/e11');
  const [made] = created();
  assert.equal(made.experiment.name, 'model (one task)');
  assert.deepEqual(made.experiment.parameters, {
    batch_size: 64,
    learning_rate: 0.001,
    epochs: 100,
    early_stopping: 50,
  });
  await page.goBack();
  await page.getByRole('button', { name: 'Submit 2 tasks' }).first().waitFor();
});

test('strategy, options, resources, conditions and setup reach the daemon', async () => {
  const page = await visit();
  await page.locator('#script').setInputFiles(file('model.py', POSITIONAL));
  await page.getByRole('radio', { name: /^TPE/ }).check();
  await page.locator('#tasks').fill('20');
  await page.locator('#opt-startup').fill('5');
  await page.locator('#parallel').fill('3');
  await page.locator('#seed').fill('420');
  await page.locator('#metric').fill('val_acc');
  await page.locator('#goal').selectOption('max');
  await page.locator('#backend').selectOption('slurm');
  await page.locator('#partition').selectOption('gpu_ampere');
  await page.locator('#gpus').fill('1');
  await page.locator('#memory').fill('16G');
  await page.locator('#time').fill('2h');
  await page.locator('#setup').fill('module load cuda\nsource ~/venv/bin/activate');
  await page.getByText('More for slurm').click();
  await page.locator('#sbatch').fill('--account=ml');
  await page.getByText('Conditions, constraints and repeats').click();
  await page.locator('#constraints').fill('batch_size * epochs <= 6400');
  await page.locator('#repeats').fill('2');
  await page.getByLabel('early_stopping', { exact: true }).fill('batch_size=64');
  await page.getByRole('button', { name: 'Submit 20 tasks' }).first().click();
  await page.waitForURL('**/e/e11');
  const { experiment } = created()[0];
  assert.deepEqual(experiment.search, { strategy: 'tpe', tasks: 20, parallel: 3, seed: 420, startup: 5 });
  assert.deepEqual(experiment.objective, { metric: 'val_acc', goal: 'max' });
  assert.deepEqual(experiment.resources, {
    backend: 'slurm',
    partition: 'gpu_ampere',
    gpus: 1,
    memory: '16G',
    time: '2h',
    options: ['--account=ml'],
  });
  assert.deepEqual(experiment.environment, { setup: ['module load cuda', 'source ~/venv/bin/activate'] });
  assert.deepEqual(experiment.constraints, ['batch_size * epochs <= 6400']);
  assert.equal(experiment.repeats, 2);
  assert.deepEqual(experiment.parameters.early_stopping, { values: [50], when: { batch_size: 64 } });
});

test('an imported file with errors shows them at their lines, and the form follows what is corrected', async () => {
  const page = await visit();
  const yaml = 'name: from a file # mine\nscript: model.py\nparameters:\n  lr: [0.1, 0.01, 0.001]\n';
  await page.getByLabel('Import YAML').setInputFiles(file('exp.yaml', `${yaml}bad_key: 1\n`));
  const editor = page.getByLabel('Experiment file');
  await page.getByRole('button', { name: 'Line 5:' }).click();
  await page.getByText('unknown key bad_key. Remove it.').waitFor();
  assert.equal(await editor.evaluate((t) => t.value.slice(t.selectionStart, t.selectionEnd)), 'bad_key: 1');
  assert.deepEqual(await audit(page), []);
  await editor.fill('name: [\n');
  await page.getByText('The YAML cannot be read at line').waitFor();
  assert.equal(await page.locator('#name').isDisabled(), true);
  await editor.fill(yaml);
  assert.equal(await page.locator('#name').inputValue(), 'from a file');
  await page.locator('#script').setInputFiles(file('model.py', POSITIONAL));
  await page.getByRole('button', { name: 'Submit 3 tasks' }).first().click();
  await page.waitForURL('**/e/e11');
  assert.deepEqual(created()[0].source, { name: 'exp.yaml', text: yaml });
});

test('what was typed is not replaced by a file or a copy without a question', async () => {
  const page = await visit();
  await page.locator('#name').fill('mine');
  await page.getByLabel('Import YAML').setInputFiles(file('exp.yaml', 'script: a.py\n'));
  await page.getByRole('button', { name: 'Keep the form' }).click();
  assert.equal(await page.locator('#name').inputValue(), 'mine');
  await page.goto(`${on.fixture.url}/new?from=e10`);
  await page.getByRole('button', { name: 'Keep the form' }).waitFor();
});

test('a copy of another experiment fills the form', async () => {
  const page = await visit();
  await page.getByRole('button', { name: 'Copy from another' }).click();
  assert.deepEqual(await audit(page), []);
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^conv2d-nodropout-v2/ })
    .click();
  await page.getByText('Copied from conv2d-nodropout-v2').waitFor();
  assert.equal(await page.getByLabel('Values of learning_rate').inputValue(), '0.0001,0.0003,0.001,0.003');
  assert.equal(await page.locator('#memory').inputValue(), '16G');
  await page.getByRole('button', { name: 'Submit 48 tasks' }).first().click();
  await page.waitForURL('**/e/e11');
  const [sent] = created();
  assert.deepEqual(sent.files, [
    { path: 'model.py', text: 'import sys\nprint(sys.argv)\n' },
    { path: 'data/labels.csv', upload: 'u1' },
  ]);
});

test('clone on an experiment comes here with its values', async () => {
  const page = await on.visit('/e/e10');
  await page.getByRole('button', { name: 'Clone' }).click();
  await page.getByText('Copied from conv2d-nodropout-v2').waitFor();
  assert.equal(await page.locator('#name').inputValue(), 'conv2d-nodropout-v2 (copy)');
  await page.getByText('model.py').first().waitFor();
});

test('a lost answer and a second try make one experiment', async () => {
  const page = await visit('/new', { allow: ['ERR_', '400'] });
  await page.locator('#script').setInputFiles(file('model.py', POSITIONAL));
  const submit = page.getByRole('button', { name: 'Submit 3 tasks' }).first();
  await submit.waitFor();
  let lost = 0;
  await page.route('**/api/v1/experiments', async (route) => {
    if (route.request().method() !== 'POST' || lost++) return route.continue();
    await route.fetch();
    return route.abort();
  });
  await submit.click();
  await page.getByText('Not submitted.').waitFor();
  await submit.click();
  await page.waitForURL('**/e/e11');
  const keys = created().map((r) => r.key);
  assert.equal(keys.length, 2);
  assert.equal(keys[0], keys[1]);
  assert.ok(!on.fixture.models.has('e12'));
});

test('other files are uploaded and named', async () => {
  const page = await visit();
  await page.locator('#script').setInputFiles(file('model.py', POSITIONAL));
  await page.getByLabel('Add other files it needs').setInputFiles(file('labels.csv', 'a,b\n'));
  await page.getByRole('button', { name: 'Remove labels.csv' }).waitFor();
  await page.getByRole('button', { name: 'Submit 3 tasks' }).first().click();
  await page.waitForURL('**/e/e11');
  assert.deepEqual(created()[0].files[1], { path: 'labels.csv', upload: 'u1' });
  assert.deepEqual(created()[0].experiment.files, ['labels.csv']);
});

test('on a phone the count and the buttons sit at the bottom', async () => {
  const page = await visit('/new', { size: 'phone' });
  await page.locator('#script').setInputFiles(file('model.py', POSITIONAL));
  const foot = page.locator('.foot');
  await foot.getByText('3 tasks', { exact: true }).waitFor();
  const box = await foot.boundingBox();
  assert.ok(box.y + box.height > 840);
  await foot.getByRole('button', { name: 'Submit 3 tasks' }).click();
  await page.waitForURL('**/e/e11');
});

test('the usual strategies are shown, the others on request or where one is chosen', async () => {
  const page = await visit();
  const titles = () => page.getByRole('radiogroup', { name: 'Search strategy' }).locator('b').allInnerTexts();
  await page.getByRole('radio', { name: /^Differential evolution/ }).waitFor();
  assert.deepEqual(await titles(), ['Automatic', 'Grid', 'Random', 'Differential evolution', 'TPE', 'ASHA']);
  await page.getByRole('button', { name: 'Show 1 more strategy' }).click();
  assert.deepEqual((await titles()).slice(-1), ['Sobol']);
  await page.getByRole('radio', { name: /^Sobol/ }).check();
  await page.reload();
  await page.getByRole('radio', { name: /^Sobol/, checked: true }).waitFor();
});

test('a script that has run before: how long it may take, and on what that rests', async () => {
  const page = await visit();
  await page.locator('#script').setInputFiles(file('new.py', POSITIONAL));
  await page.getByLabel('Values of batch_size').fill('64,32,16,8,4');
  await page.getByText('no estimate yet').waitFor();
  await page.locator('#script').setInputFiles(file('known.py', POSITIONAL));
  await page.getByText('≈ 4 m').waitFor();
  await page.getByText('5 tasks of about 1 m 20 s as in e7, 2 at a time').waitFor();
});
