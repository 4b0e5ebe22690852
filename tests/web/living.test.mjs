// Taking part in a search: what the page says about it, and what the dialogs and the form send.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { audit, sideways, until } from './browser.mjs';
import { experimentOf } from './check.mjs';
import { Fixture } from './server.mjs';
import { stage } from './stage.mjs';

const on = stage('living');

async function visit(path, heading, options = {}) {
  const page = await on.visit(path, { allow: ['400 (Bad Request)'], ...options });
  await page.getByRole('heading', { level: 1, name: heading }).waitFor();
  return page;
}
const sent = (path) =>
  on.fixture.requests.filter((r) => r.method === 'POST' && r.path === path).map((r) => JSON.parse(r.body));

test('the search, the importance and the front of two objectives are shown', async () => {
  const page = await visit('/e/e1', 'asha-two-objectives');
  const card = page.getByRole('region', { name: 'Search' });
  await card.getByText('Chosen automatically: short runs tell which').waitFor();
  await card.getByText('40 of 60').waitFor();
  const rows = card.locator('tbody tr');
  assert.deepEqual(await rows.allInnerTexts(), ['3\t27\t9', '9\t9\t2', '9\t3 of 3\t9\tall', '5\t1 of 2\t3\t4 of 5']);
  await card
    .getByText(/^Rank correlation between 3 and 9: 0\.88 over/)
    .first()
    .waitFor();

  const meters = page.getByRole('region', { name: 'Importance of the parameters' }).getByRole('meter');
  assert.deepEqual(
    await meters.evaluateAll((all) => all.map((m) => [m.getAttribute('aria-label'), m.getAttribute('aria-valuenow')])),
    [
      ['Importance of learning_rate', '67'],
      ['Importance of optimizer', '33'],
    ],
  );

  const front = page.locator('section[aria-labelledby=front]');
  await front.getByRole('heading', { name: 'val_loss against size' }).waitFor();
  const area = Number(await front.locator('.reference b').getAttribute('title'));
  const given = await front.getByRole('spinbutton').evaluateAll((all) => all.map((input) => Number(input.value)));
  assert.deepEqual(given, [2, 0], 'the reference point of the daemon');
  const points = on.fixture.models
    .get('e1')
    .tasks.filter((t) => t.state === 'finished')
    .map((t) => [t.best.value, -(t.number % 7)]);
  // The size is to be large: the area between each point and the reference, under those before it.
  const sorted = [...points].sort((a, b) => a[0] - b[0]);
  let low = 0;
  const sum = sorted.reduce((s, [x, y]) => {
    const part = y < low ? (2 - x) * (low - y) : 0;
    low = Math.min(low, y);
    return s + part;
  }, 0);
  assert.ok(Math.abs(sum - area) < 1e-9, `${sum} and ${area}`);
  const best = points.filter(
    (p) => !points.some((q) => q[0] <= p[0] && q[1] <= p[1] && (q[0] < p[0] || q[1] < p[1])),
  ).length;
  assert.equal(await front.locator('circle.on').count(), best);
  assert.equal(await front.locator('circle').count(), points.length);
  await front.getByRole('button', { name: 'Time' }).click();
  await front.getByRole('heading', { name: 'Result against time' }).waitFor();
  await page.getByRole('button', { name: /Pruned/ }).waitFor();
  assert.deepEqual(await audit(page), []);
});

test('what is over still says its strategy, and few results say that they are few', async () => {
  const page = await visit('/e/e2', 'over');
  await page.getByRole('region', { name: 'Search' }).getByText('3 of 3').waitFor();
  assert.equal(await page.getByRole('region', { name: 'Search' }).locator('table').count(), 0);
});

test('a suggestion begins with the best values, is sent typed, and mistakes stand beside their field', async () => {
  const page = await visit('/e/e1', 'asha-two-objectives');
  await page.getByRole('button', { name: 'Suggest a task…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Suggest a task' });
  const { best } = on.fixture.models.get('e1').e;
  const rate = dialog.getByRole('textbox', { name: 'learning_rate' });
  assert.equal(await rate.inputValue(), String(best.parameters.learning_rate));
  assert.equal(await dialog.getByRole('textbox', { name: 'optimizer' }).inputValue(), best.parameters.optimizer);
  assert.deepEqual(await audit(page), []);
  await rate.fill('7');
  await dialog.getByRole('button', { name: 'Run it' }).click();
  await dialog.getByText('7 is not between').waitFor();
  assert.equal(await rate.getAttribute('aria-invalid'), 'true');
  await rate.fill('5e-3');
  await dialog.getByRole('button', { name: 'optimizer: sgd' }).click();
  await rate.press('Enter');
  await page.getByText('Queued as #41.').waitFor();
  await dialog.waitFor({ state: 'detached' });
  assert.deepEqual(sent('/experiments/e1/suggest').at(-1), { parameters: { learning_rate: 0.005, optimizer: 'sgd' } });
  await page.getByRole('button', { name: 'Show it' }).click();
  await page.waitForURL('**/e/e1/41');
});

test('a change sends only what differs, and the page follows', async () => {
  const page = await visit('/e/e1', 'asha-two-objectives');
  const change = page.getByRole('button', { name: 'Change the search…' });
  await change.click();
  const dialog = page.getByRole('dialog', { name: 'Change the search' });
  await dialog.getByLabel('learning_rate from').fill('10');
  await dialog.getByRole('button', { name: 'Change it' }).click();
  await dialog.getByText(/is above max .* Swap them/).waitFor();
  assert.deepEqual(await audit(page), []);
  await dialog.getByLabel('learning_rate from').fill('1e-6');
  await dialog.getByLabel('Tasks at most').fill('80');
  await dialog.getByLabel('optimizer').fill('adam, sgd, rmsprop');
  await dialog.getByLabel('Strategy').selectOption('tpe');
  await dialog.getByRole('button', { name: 'Change it' }).click();
  await page.getByText('The search goes on: 80 tasks in all.').waitFor();
  const { max } = on.fixture.models.get('e1').e.parameters[0];
  assert.deepEqual(sent('/experiments/e1/search').at(-1), {
    search: { tasks: 80, strategy: 'tpe' },
    parameters: { learning_rate: { min: 1e-6, max, scale: 'log' }, optimizer: ['adam', 'sgd', 'rmsprop'] },
  });
  // What was changed is what the next change begins with; one value alone fixes a parameter.
  await change.click();
  assert.equal(await dialog.getByLabel('optimizer').inputValue(), 'adam,sgd,rmsprop');
  await dialog.getByLabel('optimizer').fill('sgd');
  await dialog.getByLabel('learning_rate to').fill('');
  await dialog.getByLabel('learning_rate from').fill('0.01');
  await dialog.getByRole('button', { name: 'Change it' }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.deepEqual(sent('/experiments/e1/search').at(-1), { parameters: { learning_rate: 0.01, optimizer: 'sgd' } });
  // Nothing typed is nothing sent.
  await change.click();
  await dialog.getByRole('button', { name: 'Change it' }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.equal(sent('/experiments/e1/search').length, 3);
});

test('dialogs fit a phone and Escape leaves them', async () => {
  const page = await visit('/e/e1', 'asha-two-objectives', { size: 'phone', theme: 'dark' });
  for (const name of ['Suggest a task', 'Change the search']) {
    await page.getByRole('button', { name: `${name}…` }).click();
    await page.getByRole('dialog', { name }).waitFor();
    assert.ok((await sideways(page)) <= 0, `${name} scrolls sideways`);
    assert.deepEqual(await audit(page), []);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog', { name }).waitFor({ state: 'detached' });
  }
  assert.equal(on.fixture.requests.length, 0);
});

test('the form has pruning, the length of training for strategies that need it, and says what external is', async () => {
  const page = await visit('/new', 'New experiment');
  await page.getByRole('button', { name: 'Add parameter' }).click();
  await page.getByLabel('Parameter name').fill('epochs');
  await page.getByLabel('Values of epochs').fill('81');
  assert.equal(await page.getByLabel('Length of training').count(), 0);
  await page.getByRole('radio', { name: /ASHA/ }).check();
  await page.getByLabel('Length of training').selectOption('epochs');
  await page.getByLabel('Shortest').fill('3');
  await page.getByLabel('Longest').fill('81');
  await page.getByLabel('End tasks early').selectOption('asha');
  await page.getByLabel('Reduction').fill('4');
  await page.getByLabel('End tasks early').selectOption('threshold');
  await page.getByLabel('Threshold').fill('2.5');
  assert.equal(await page.getByLabel('Reduction').count(), 0);
  await page.getByLabel('Backend').selectOption('external');
  await page.getByText('sluice runs nothing itself').waitFor();
  const last = () =>
    on.fixture.requests
      .filter((r) => r.path === '/check')
      .map((r) => experimentOf(JSON.parse(r.body)))
      .at(-1);
  await until(() => last()?.resources?.backend === 'external');
  assert.deepEqual(last().prune, { rule: 'threshold', threshold: 2.5 });
  assert.deepEqual(last().fidelity, { parameter: 'epochs', min: 3, max: 81 });
  assert.deepEqual(last().resources, { backend: 'external' });
  assert.deepEqual(await audit(page), []);
  // Another strategy has no use for it. What was typed stays in the file, and its field stays too.
  await page.getByRole('radio', { name: /TPE/ }).check();
  await page.getByLabel('End tasks early').selectOption('');
  await until(() => last().search.strategy === 'tpe' && !last().prune);
  assert.equal(last().search.strategy, 'tpe');
  assert.deepEqual(last().fidelity, { parameter: 'epochs', min: 3, max: 81 });
  assert.equal(await page.getByLabel('Length of training').count(), 1);
  assert.equal(last().prune, undefined);
});

// The dashed line is on a canvas: the table of the same lines says what is drawn, and the arrow keys read it.
test('where a running task is going is drawn and judged only where the backtest earns it', async () => {
  let page = await visit('/e/e1/39', 'Task 39');
  const metrics = page.getByRole('region', { name: 'Metrics' });
  await metrics.getByText('Dashed: a prediction').waitFor();
  const said = await metrics.locator('.forecast').innerText();
  for (const part of [
    'After 25 % of the steps extrapolated curves order 34 finished tasks with rank correlation 0.81',
    ', the best so far with 0.60; half of them were off by 0.02',
  ])
    assert.ok(said.includes(part), said);
  const chart = metrics.getByRole('img');
  await chart.focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await metrics.getByRole('status').getByText('val_loss, predicted, epoch').waitFor({ state: 'attached' });
  assert.deepEqual(await audit(page), []);

  // A finished task goes nowhere.
  await on.seat.context.close();
  page = await visit('/e/e1/1', 'Task 1');
  await page.getByRole('region', { name: 'Metrics' }).getByRole('img').waitFor();
  assert.equal(await page.locator('.forecast').count(), 0);

  await on.seat.context.close();
  page = await visit('/e/e1', 'asha-two-objectives');
  assert.equal(await sideways(page), 0);
  await page.getByText('Dashed: a prediction').waitFor();
});

test('a prediction that lost its backtest is not drawn, and the page says why', async () => {
  await on.fixture.stop();
  on.fixture = await new Fixture('mixed').start();
  const page = await visit('/e/e10', 'conv2d-nodropout-v2');
  await page.getByText('No prediction: it was not good enough for the finished tasks').click();
  await page.getByText('It must rank them clearly better than their best values at that point').waitFor();
  assert.match(await page.locator('.forecast').innerText(), /rank correlation 0\.55, the best so far with 0\.60/);
});
