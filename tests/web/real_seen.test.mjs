// What people see when they look: values that read the same on every page, words and labels that are not cut, reasons
// that are given. Against the real daemon; SLUICE_BIN names the program.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { audit, drawn, launch, open, SIZES, sideways } from './browser.mjs';
import { Daemon, skip } from './daemon.mjs';

let daemon;
let browser;
let page;
let troubles;

const pause = (ms) =>
  new Promise((done) => {
    setTimeout(done, ms);
  });
const ENDED = ['finished', 'error', 'stopped'];

async function submit(text, more, name = 'train.py') {
  const { id } = await daemon.api('POST', '/experiments', {
    experiment: { name: 'seen', script: name, resources: { backend: 'local' }, ...more },
    files: [{ path: name, text }],
  });
  return id;
}

async function ended(id) {
  for (;;) {
    const got = await daemon.api('GET', `/experiments/${id}`);
    if (ENDED.includes(got.state)) return got;
    await pause(50);
  }
}
const visit = (path) => page.goto(`${daemon.url}${path}`);

const FLAGS = `import sys
a = dict(v.lstrip('-').split('=') for v in sys.argv[1:])
x = float(a.get('lr', 0.5))
for e in (1, 2, 3):
    print(f'epoch {e} val_loss {x / e}')
`;

before(async () => {
  if (skip) return;
  daemon = await Daemon.start();
  browser = await launch();
  ({ page, troubles } = await open(browser, await daemon.login()));
  await page.locator('.live.open').waitFor();
});

after(async () => {
  if (skip) return;
  await browser.close();
  await daemon.stop();
});

test('a value that a search drew has three digits everywhere, and the full value as its title', { skip }, async () => {
  const id = await submit(FLAGS, {
    parameters: { lr: { min: 0.011, max: 0.099 } },
    search: { strategy: 'random', tasks: 3, seed: 5 },
    objective: 'val_loss',
  });
  const { best } = await ended(id);
  const value = best.parameters.lr;
  const text = value.toFixed(4);
  assert.match(text, /^0\.0[1-9]\d\d$/);
  await visit(`/e/${id}`);
  await page.locator('.kpi.first').getByText(`lr ${text}`).waitFor();
  const cell = page.locator(`[data-row="${best.task}"] td.right`, { hasText: text });
  await cell.waitFor();
  await visit(`/e/${id}/${best.task}`);
  const shown = page.locator('section[aria-labelledby=params] bdi', { hasText: text });
  await shown.waitFor();
  assert.equal(await shown.getAttribute('title'), String(value));
  await visit(`/e/${id}/compare?tasks=1,2,3`);
  await page.getByRole('cell', { name: text, exact: true }).waitFor();
  await visit(`/new?from=${id}`);
  const first = page.getByRole('region', { name: 'First tasks' }).locator('tbody td.right');
  await first.first().waitFor();
  for (const one of await first.allInnerTexts()) assert.match(one.trim(), /^0\.0\d{3}$/);
  assert.deepEqual(troubles.splice(0), []);
});

test('many words as values: each colour has its word, and no label of an axis is cut', { skip }, async () => {
  const kind = ['alpha', 'beta', 'gamma', 'delta', 'epsilon', 'zeta', 'eta', 'theta', '<img src=x onerror=1>'];
  const id = await submit(FLAGS, {
    parameters: { kind, long_name_of_a_parameter_10: [1e-9, 1e9] },
    objective: 'val_loss',
  });
  await ended(id);
  await visit(`/e/${id}?colour=kind`);
  const legend = page.locator('.legend').first();
  await legend.getByText('theta').waitFor();
  assert.deepEqual((await legend.locator('bdi').allInnerTexts()).slice(1).sort(), [...kind].sort());
  await page.locator('svg.parallel text').first().waitFor();
  for (const size of [SIZES.desk, SIZES.phone]) {
    await page.setViewportSize(size);
    await drawn(page);
    const cut = await page.evaluate(() => {
      const svg = document.querySelector('svg.parallel');
      const room = svg.getBoundingClientRect();
      return [...svg.querySelectorAll('text')]
        .filter((t) => {
          const box = t.getBoundingClientRect();
          return box.left < room.left - 0.5 || box.right > room.right + 0.5;
        })
        .map((t) => t.textContent);
    });
    assert.deepEqual(cut, [], `${size.width}`);
  }
  await page.setViewportSize(SIZES.desk);
  assert.deepEqual(troubles.splice(0), []);
});

test('names of many axes stand apart', { skip }, async () => {
  const names = Array.from({ length: 8 }, (_, i) => `a_long_parameter_name_${i + 10}`);
  const id = await submit(FLAGS, {
    parameters: Object.fromEntries(names.map((name) => [name, [1, 2]])),
    search: { strategy: 'random', tasks: 3 },
    objective: 'val_loss',
  });
  await ended(id);
  await visit(`/e/${id}`);
  await page.locator('svg.parallel .name').nth(8).waitFor();
  const boxes = await page.locator('svg.parallel .name').evaluateAll((all) =>
    all.map((t) => {
      const { left, right, top } = t.getBoundingClientRect();
      return { left, right, top };
    }),
  );
  // Where one row has no room for them they are in two.
  for (const row of new Set(boxes.map((one) => one.top))) {
    const own = boxes.filter((one) => one.top === row);
    for (let i = 1; i < own.length; i++) assert.ok(own[i].left >= own[i - 1].right + 2, JSON.stringify(boxes));
  }
});

test('warnings beyond three wait behind a click, and unknown parameters are one warning', { skip }, async () => {
  const shell = `for a; do case $a in --epochs=*) e=\${a#*=};; --batch=*) b=\${a#*=};; esac; done
echo "epoch 1 val_loss $((1 + e))"
`;
  const parameters = { epochss: [1], epochz: [1], epoch: [1], batchs: [1], batchz: [1], qqqqqq: [1], wwwwwww: [1] };
  const id = await submit(shell, { parameters, objective: 'val_loss', style: 'dash' }, 'train.sh');
  const { warnings } = await ended(id);
  assert.ok(warnings.length > 3, JSON.stringify(warnings));
  assert.equal(warnings.filter((w) => w.includes("'qqqqqq', 'wwwwwww'")).length, 1, JSON.stringify(warnings));
  await visit(`/e/${id}`);
  await page.locator('.banner.warn').nth(2).waitFor();
  assert.equal(await page.locator('.banner.warn').count(), 3);
  const rest = page.getByText(new RegExp(`^${warnings.length - 3} more warnings?$`));
  await rest.click();
  const last = warnings[warnings.length - 1];
  await page.locator('.banner li', { hasText: last.slice(1) }).waitFor();
  assert.deepEqual(troubles.splice(0), []);
});

test('numbers above a thousand are grouped in the list, and imported results have a colour', { skip }, async () => {
  const { id } = await daemon.api('POST', '/experiments', {
    experiment: {
      name: 'imported',
      resources: { backend: 'external' },
      objective: 'val_loss',
      parameters: { lr: { min: 1e-4, max: 0.1, scale: 'log' } },
      search: { strategy: 'random', tasks: 1200 },
    },
  });
  await daemon.api('POST', `/experiments/${id}/import`, {
    rows: [1, 2].map((n) => ({ parameters: { lr: n / 100 }, values: { val_loss: n } })),
  });
  await visit('/');
  const row = page.locator(`[data-row="${id}"]`);
  await row.getByText(/^2 of 1,20\d$/).waitFor();
  await row.getByText(/^\+1,200$|^\+1,198$/).waitFor();
  await visit('/queue');
  await page
    .getByRole('region', { name: 'Our queue' })
    .locator('tr', { hasText: `${id} imported` })
    .getByText('Waits for a worker of yours to ask for it')
    .waitFor();
  await visit(`/e/${id}`);
  await page.locator('[data-row="1"]').waitFor();
  const grey = await page.evaluate(() => {
    const probe = document.createElement('i');
    probe.style.background = 'var(--border-2)';
    document.body.append(probe);
    const { backgroundColor } = getComputedStyle(probe);
    probe.remove();
    return backgroundColor;
  });
  const colour = await page.locator('[data-row="1"] .swatch').evaluate((one) => getComputedStyle(one).backgroundColor);
  assert.notEqual(colour, grey);
  await visit(`/e/${id}?show=timeline`);
  await page.getByText('No task has run here: the results were imported.').waitFor();
  await visit(`/e/${id}/compare?tasks=1,2`);
  const high = async (name) => (await page.getByRole('button', { name, exact: true }).boundingBox()).height;
  await page.getByRole('button', { name: 'Copy link' }).waitFor();
  assert.equal(await high('Add'), await high('Copy link'));
  await daemon.api('POST', `/experiments/${id}/stop`, {});
  assert.deepEqual(troubles.splice(0), []);
});

test('a search that may run one task says why the others are not there', { skip }, async () => {
  const id = await submit('import time\nprint("epoch 1 val_loss 1", flush=True)\ntime.sleep(600)\n', {
    parameters: { lr: { min: 0.1, max: 0.2 } },
    search: { strategy: 'tpe', tasks: 9, parallel: 1 },
    objective: 'val_loss',
  });
  for (;;) {
    if ((await daemon.api('GET', `/experiments/${id}`)).tasks.running) break;
    await pause(50);
  }
  await visit('/queue');
  const row = page.getByRole('region', { name: 'Our queue' }).locator('tr', { hasText: `${id} seen` });
  await row.getByText('Waits for another task of its experiment to end: parallel is 1').waitFor();
  await daemon.api('POST', `/experiments/${id}/stop`, {});
  assert.deepEqual(troubles.splice(0), []);
});

test('the command of a task is what ran, also where the first line of the script names the program', {
  skip,
}, async () => {
  const id = await submit(
    '#!/bin/sh\nps -o args= -p $$\necho "epoch 1 val_loss 1"\n',
    { objective: 'val_loss' },
    'train.sh',
  );
  await ended(id);
  await visit(`/e/${id}/1`);
  await page.getByRole('log').getByText('/bin/sh train.sh').waitFor();
  await page
    .getByRole('region', { name: 'Files and command' })
    .getByText('/bin/sh train.sh', { exact: true })
    .waitFor();
  assert.deepEqual(troubles.splice(0), []);
});

test('a cause without spaces fits its tables, and columns that are empty are not there', { skip }, async () => {
  const id = await submit(`raise ValueError('x' * 600)\n`, { objective: 'val_loss' });
  await ended(id);
  await visit(`/e/${id}/1`);
  const attempts = page.getByRole('region', { name: 'All attempts' });
  await attempts.getByText('Exit code').waitFor();
  for (const one of [attempts, page.getByRole('region', { name: 'Changes of state' })])
    assert.ok((await one.evaluate((e) => e.scrollWidth - e.clientWidth)) <= 0);
  assert.equal(await attempts.getByRole('columnheader', { name: 'Job' }).count(), 0);
  const good = await submit(FLAGS, { objective: 'val_loss' });
  await ended(good);
  await visit(`/e/${good}/1`);
  const changes = page.getByRole('region', { name: 'Changes of state' });
  await changes.getByText('Finished').waitFor();
  assert.equal(await changes.getByRole('columnheader', { name: 'Reason' }).count(), 0);
  assert.deepEqual(await audit(page), []);
  assert.equal(await sideways(page), 0);
  assert.deepEqual(troubles.splice(0), []);
});

test('finished tasks without a value are not said to be missing', { skip }, async () => {
  const id = await submit('print("epoch 1 val_loss nan")\n', { parameters: { x: [1, 2, 3] }, objective: 'val_loss' });
  await ended(id);
  await visit(`/e/${id}`);
  await page.getByText('Needs two finished tasks with a value.').waitFor();
  assert.deepEqual(troubles.splice(0), []);
});

test('how long a task ran is one column and one axis, and no parameter that matters', { skip }, async () => {
  const text = `import argparse
p = argparse.ArgumentParser()
p.add_argument('--lr', type=float)
p.add_argument('--epochs', type=int)
a = p.parse_args()
for e in range(1, a.epochs + 1):
    print(f'epoch {e} val_loss {abs(a.lr - 0.3) + 1 / e}')
`;
  const id = await submit(text, {
    parameters: { lr: { min: 0.01, max: 0.9 }, epochs: { min: 1, max: 9 } },
    fidelity: { parameter: 'epochs', min: 1, max: 9 },
    search: { strategy: 'asha', tasks: 60 },
    objective: 'val_loss',
    resources: { backend: 'local', cpus: 1 },
  });
  const { tasks } = await ended(id);
  assert.ok(tasks.total < 60 && tasks.total >= 20);
  await visit(`/e/${id}`);
  await page.getByText('The budget is 60 runs: a task that goes on longer counts once more for each rung.').waitFor();
  const matter = page.getByRole('region', { name: 'Importance of the parameters' });
  await matter.getByText('100 %').waitFor();
  assert.equal(await matter.getByText('epochs').count(), 0);
  const names = await page.locator('svg.parallel .name').evaluateAll((all) => all.map((t) => t.lastChild.textContent));
  assert.deepEqual(names, ['lr', 'epochs run', 'val_loss']);
  const heads = await page.locator('#tasks th, table th').allInnerTexts();
  assert.ok(!heads.some((head) => head.trim() === 'epochs'), heads.join(' | '));
  assert.deepEqual(troubles.splice(0), []);
});

test('a phone chooses between steps and time, too', { skip }, async () => {
  const id = await submit(FLAGS, { objective: 'val_loss' });
  await ended(id);
  await page.setViewportSize(SIZES.phone);
  await visit(`/e/${id}`);
  await page.getByRole('button', { name: 'Time', exact: true }).first().click();
  await page.waitForURL(/x=time/);
  assert.ok((await sideways(page)) <= 0);
  await page.setViewportSize(SIZES.desk);
  assert.deepEqual(troubles.splice(0), []);
});
