// The table of tasks: how it lines up, what it marks, what it counts; and the comparison of many tasks. In a real
// browser against the real daemon. SLUICE_BIN names the program.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { audit, launch, open } from './browser.mjs';
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

async function made(experiment) {
  const { id } = await daemon.api('POST', '/experiments', {
    experiment: { resources: { backend: 'external' }, objective: { metric: 'loss', goal: 'min' }, ...experiment },
  });
  return id;
}

// Runs every task: `values` gives the rows that a task reports, or null where it fails.
async function told(id, count, values) {
  for (let i = 0; i < count; i++) {
    const { number, parameters } = await daemon.api('POST', `/experiments/${id}/ask`, {});
    const rows = values(parameters, i);
    if (!rows) await daemon.api('POST', `/experiments/${id}/tasks/${number}/tell`, { failed: 'it broke' });
    for (const [at, row] of (rows ?? []).entries())
      await daemon.api('POST', `/experiments/${id}/tasks/${number}/tell`, {
        values: row,
        step: at + 1,
        more: at + 1 < rows.length,
      });
  }
}

const rowsOf = (page) => page.locator('table.configurations tbody tr[data-row]');
const lined = (text) => text.replace(/\s+/g, ' ');

// Where the text of the first element that matches begins, ends and stands, in every row.
const places = (page, selector) =>
  rowsOf(page).evaluateAll(
    (rows, what) =>
      rows.flatMap((row) => {
        const found = row.querySelector(what);
        if (!found) return [];
        const range = document.createRange();
        range.selectNodeContents(found);
        const { left, right, bottom, top } = range.getBoundingClientRect();
        const at = row.getBoundingClientRect().top;
        return [{ left, right, middle: (top + bottom) / 2 - at }];
      }),
    selector,
  );
const apart = (list, key) => Math.max(...list.map((p) => p[key])) - Math.min(...list.map((p) => p[key]));

test('of repeats means and spreads stand below each other, and the words of a row on one line', { skip }, async () => {
  const { page } = seat;
  const id = await made({ name: 'lined up', parameters: { net: ['a', 'b', 'c', 'd'] }, repeats: 3 });
  const loss = { a: [0.1, 0.9, 0.8], b: [0.4, 0.5, 0.3], c: [0.7, 0.7, 0.71], d: [0.2, null, 0.2] };
  const seen = {};
  await told(id, 12, ({ net }) => {
    seen[net] = (seen[net] ?? 0) + 1;
    const value = loss[net][seen[net] - 1];
    return value === null ? null : [{ loss: value }];
  });
  for (const size of [
    { width: 1440, height: 900 },
    { width: 1280, height: 800 },
  ]) {
    await page.setViewportSize(size);
    await page.goto(`${daemon.url}/e/${id}?runs=1`);
    await rowsOf(page).nth(6).waitFor();
    assert.equal(await rowsOf(page).count(), 7);
    assert.match(lined(await rowsOf(page).nth(0).innerText()), /0\.400 ± 0\.1/);
    const spreads = await places(page, '.value .spread');
    assert.equal(spreads.length, 7, 'a single run keeps the room of a spread');
    assert.ok(apart(spreads.slice(0, 1).concat(spreads.slice(-2)), 'left') < 0.5, JSON.stringify(spreads));
    const runs = await places(page, '.task-id button.runs span');
    const ids = await places(page, '.task-id a.row');
    assert.ok(
      runs.every((p) => Math.abs(p.middle - ids[0].middle) <= 1.5),
      JSON.stringify([runs, ids]),
    );
  }
  await page.setViewportSize({ width: 1440, height: 900 });
  assert.deepEqual(await audit(page), []);
  assert.deepEqual(seat.troubles, []);
});

test('a wide table keeps the lines of its rows in the columns that stay', { skip }, async () => {
  const { page } = seat;
  const id = await made({ name: 'wide', parameters: { lr: [0.1, 0.01, 0.001], [`${'long'.repeat(20)}`]: [1, 2] } });
  await told(id, 6, ({ lr }) => [{ loss: lr, acc: lr, other: 1 }]);
  const more = 'energy,cpu_time,gpu_time,memory,cause,node,job,started,attempt,m.acc,last.acc,last.loss,m.other';
  await page.goto(`${daemon.url}/e/${id}?more=${more}`);
  await page.locator('.table-wrap.wide').waitFor();
  const lines = await rowsOf(page).evaluateAll((rows) =>
    rows.slice(0, -1).map((row) =>
      ['task-id', 'value'].map((name) => {
        const cell = row.querySelector(`td.${name}`);
        const style = getComputedStyle(cell);
        return [style.position, style.borderBottomWidth, getComputedStyle(cell.closest('table')).borderCollapse].join();
      }),
    ),
  );
  assert.deepEqual(new Set(lines.flat()), new Set(['sticky,1px,separate']));
  assert.deepEqual(seat.troubles, []);
});

test('what ended in NaN or infinity is marked, and the file of the curves says which', { skip }, async () => {
  const { page } = seat;
  const id = await made({ name: 'no numbers', parameters: { kind: ['good', 'broken', 'huge', 'never'] } });
  const last = { good: 0.2, broken: 'NaN', huge: 'Infinity', never: 'NaN' };
  await told(id, 4, ({ kind }) => [{ loss: kind === 'never' ? 'NaN' : 0.5 }, { loss: last[kind] }]);
  await page.goto(`${daemon.url}/e/${id}?q=${encodeURIComponent('kind != good')}`);
  await rowsOf(page).nth(2).waitFor();
  const text = async (kind) => lined(await rowsOf(page).filter({ hasText: kind }).innerText());
  assert.match(await text('broken'), /last NaN 0\.5/);
  assert.match(await text('huge'), /last ∞ 0\.5/);
  assert.match(await text('never'), / NaN /);
  assert.equal(await rowsOf(page).locator('.value .warned').count(), 3);
  await page.goto(`${daemon.url}/e/${id}`);
  await page.locator('.legend').getByText('NaN or ∞').waitFor();
  assert.equal(lined(await rowsOf(page).filter({ hasText: 'good' }).innerText()).includes('last'), false);
  await page.goto(`${daemon.url}/e/${id}/3`);
  await page.getByRole('button', { name: 'Table', exact: true }).click();
  await page.getByRole('region', { name: 'Metrics as a table' }).getByText('∞').waitFor();
  assert.deepEqual(await audit(page), []);
  assert.deepEqual(seat.troubles, []);
});

const OBJECTIVES = { objective: ['loss', 'cost'].map((metric) => ({ metric, goal: 'min' })) };

test('tasks on the front of two objectives are marked, and can be shown alone', { skip }, async () => {
  const { page } = seat;
  const id = await made({ name: 'front', ...OBJECTIVES, parameters: { x: [1, 2, 3, 4] } });
  await told(id, 4, ({ x }) => [{ loss: x === 4 ? 9 : x, cost: x === 4 ? 9 : 5 - x }]);
  await page.goto(`${daemon.url}/e/${id}`);
  await page.getByRole('button', { name: 'Front 3' }).waitFor();
  assert.equal(await rowsOf(page).count(), 4);
  assert.equal(await rowsOf(page).locator('.tag.front').count(), 3);
  assert.equal(await rowsOf(page).filter({ hasText: '#4' }).locator('.tag.front').count(), 0);
  await page.getByRole('button', { name: 'Front 3' }).click();
  await page.getByText('3 of 4 tasks').waitFor();
  assert.equal(await rowsOf(page).count(), 3);
  await page.reload();
  await page.getByRole('button', { name: 'Front 3', pressed: true }).waitFor();
  await page.getByText('3 of 4 tasks').waitFor();
  assert.deepEqual(await audit(page), []);
  await page.getByRole('button', { name: 'Front 3' }).click();
  await page.getByText(/^4 tasks$/).waitFor();
  assert.deepEqual(seat.troubles, []);
});

test('imported tasks are counted apart, have no step, and those on the front are found among 1,500', {
  skip,
}, async () => {
  const { page } = seat;
  const id = await made({
    name: 'brought',
    ...OBJECTIVES,
    search: { strategy: 'random', tasks: 2 },
    parameters: { x: { min: 0, max: 2000 } },
  });
  // Two beat all others, and the worse of them in the first objective is far down in the table.
  const rows = Array.from({ length: 1500 }, (_, i) => ({
    parameters: { x: i },
    values: { loss: i === 1499 ? 5000 : i + 1, cost: i === 1499 ? 0 : i + 2 },
  }));
  await daemon.api('POST', `/experiments/${id}/import`, { rows });
  await told(id, 2, () => [{ loss: 3000, cost: 3000 }]);
  const search = await daemon.api('GET', `/experiments/${id}/search`);
  assert.deepEqual([search.proposed, search.planned, search.imported], [2, 2, 1500]);
  await page.goto(`${daemon.url}/e/${id}`);
  const card = page.getByRole('region', { name: 'Search' });
  await card.getByText(/^2 of 2$/).waitFor();
  await card.getByText(/^1,500$/).waitFor();
  const first = lined(await rowsOf(page).first().innerText());
  assert.match(first, /#1 .*imported/);
  assert.doesNotMatch(await page.locator('.kpi.first').innerText(), /(step|epoch) 0/);
  // Rows that are not drawn keep their room.
  const height = await rowsOf(page)
    .first()
    .evaluate((row) => row.getBoundingClientRect().height);
  const gap = await page.locator('table.configurations tr.gap td').evaluate((td) => td.getBoundingClientRect().height);
  assert.equal(gap, (500 - (await rowsOf(page).count())) * height);
  await page.getByRole('button', { name: 'Front 2' }).click();
  await page.getByText(/^2 of 1,502 tasks$/).waitFor();
  assert.deepEqual(await rowsOf(page).evaluateAll((all) => all.map((row) => row.dataset.row)), ['1', '1500']);
  await page.goto(`${daemon.url}/e/${id}/1`);
  await page.getByText(/^Imported .*: it did not run here/).waitFor();
  await page.getByRole('region', { name: 'Results' }).waitFor();
  assert.equal(await page.getByRole('region', { name: 'Attempts' }).count(), 0);
  assert.deepEqual(seat.troubles, []);
});

test('of a large table the front is asked for by numbers, none where it is empty, and not where it is long', {
  skip,
}, async () => {
  const { page } = seat;
  // A parameter with the name of the column, which goes before it in a filter.
  const brought = async (name, values) => {
    const search = { strategy: 'random', tasks: 1 };
    const id = await made({ name, ...OBJECTIVES, search, parameters: { number: { min: 5000, max: 9000 } } });
    const rows = Array.from({ length: 1500 }, (_, i) => ({ parameters: { number: 5000 + i }, values: values(i) }));
    for (const at of [0, 1000])
      await daemon.api('POST', `/experiments/${id}/import`, { rows: rows.slice(at, at + 1000) });
    await page.goto(`${daemon.url}/e/${id}`);
  };
  await brought('few', (i) => ({ loss: i + 1, cost: i < 3 ? 3 - i : 50 }));
  await page.getByRole('button', { name: 'Front 3' }).click();
  await page.getByText(/^3 of 1,50\d tasks$/).waitFor();
  await brought('none', (i) => ({ loss: i + 1 }));
  await page.getByRole('button', { name: 'Front 0' }).click();
  await page.getByText(/^No task matches/).waitFor();
  await brought('long', (i) => ({ loss: i + 1, cost: 2000 - i }));
  const long = page.getByRole('button', { name: 'Front 1,500' });
  await long.waitFor();
  assert.equal(await long.isDisabled(), true);
  assert.match(await long.getAttribute('title'), /more than 300 tasks/);
  assert.deepEqual(seat.troubles, []);
});

test('Back finds the rows that were asked for, at their place', { skip }, async () => {
  const { page } = seat;
  const id = await made({
    name: 'long',
    search: { strategy: 'random', tasks: 1 },
    parameters: { x: { min: 0, max: 1 } },
  });
  const rows = Array.from({ length: 1400 }, (_, i) => ({ parameters: { x: i / 1400 }, values: { loss: i } }));
  await daemon.api('POST', `/experiments/${id}/import`, { rows });
  await page.goto(`${daemon.url}/e/${id}`);
  await page.getByText(/^500 of 1,400 that match/).waitFor();
  await page.getByRole('button', { name: 'Show more' }).click();
  await page.getByText(/^1,000 of 1,400 that match/).waitFor();
  await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight - 2000));
  const row = page.locator('tr[data-row="950"]');
  await row.waitFor();
  const top = () => row.evaluate((one) => Math.round(one.getBoundingClientRect().top));
  const before = await top();
  await row.locator('a.row').evaluate((link) => link.click());
  await page.getByRole('heading', { name: 'Task 950' }).waitFor();
  await page.goBack();
  await page.getByText(/^1,000 of 1,400 that match/).waitFor();
  await page.waitForFunction(
    (at) => Math.abs((document.querySelector('tr[data-row="950"]')?.getBoundingClientRect().top ?? -1e6) - at) < 3,
    before,
  );
  assert.deepEqual(seat.troubles, []);
});

test('four tasks are compared without a column that is cut, and the box to add fits', { skip }, async () => {
  const { page } = seat;
  const name = 'an experiment with a name that is much too long for a narrow list of choices in a small box';
  const parameters = { lr: [0.1, 0.01, 0.001, 0.0001], optimizer: ['a-rather-long-name-of-an-optimizer'] };
  const id = await made({ name, parameters });
  await told(id, 4, ({ lr }) => [{ loss: lr, another_metric: 1 }]);
  for (const size of [
    { width: 1440, height: 900 },
    { width: 1280, height: 800 },
  ]) {
    await page.setViewportSize(size);
    await page.goto(`${daemon.url}/compare?tasks=${[1, 2, 3, 4].map((n) => `${id}/${n}`).join()}`);
    await page.getByRole('heading', { name: 'Compare 4 tasks' }).waitFor();
    await page.getByText('optimizer').first().waitFor();
    const wrap = page.locator('.table-wrap', { has: page.locator('table.diff') });
    const over = await wrap.evaluate((box) => box.scrollWidth - box.clientWidth);
    assert.ok(over <= 0, `${over} px are cut at ${size.width}`);
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    const box = page.getByRole('group', { name: 'Tasks to add' });
    await box.getByText('#1', { exact: true }).waitFor();
    const out = await box.evaluate((menu) => {
      const edge = menu.getBoundingClientRect().right;
      return [...menu.querySelectorAll('*')].filter((one) => one.getBoundingClientRect().right > edge + 0.5).length;
    });
    assert.equal(out, 0, `${out} parts run past the edge of the box at ${size.width}`);
  }
  await page.setViewportSize({ width: 1440, height: 900 });
  assert.deepEqual(seat.troubles, []);
});

test('a short tag in the list is not cut', { skip }, async () => {
  const { page } = seat;
  const id = await made({
    name: 'tagged',
    description: 'words about the experiment that are much longer than the room that is left beside its tags',
    parameters: { lr: [0.1] },
  });
  await daemon.api('POST', `/experiments/${id}/marks`, { add_tags: ['walk', 'paper'] });
  await page.goto(daemon.url);
  for (const tag of ['walk', 'paper']) {
    const link = page.locator(`tr[data-row="${id}"]`).getByRole('link', { name: tag });
    await link.waitFor();
    const hidden = await link.locator('bdi').evaluate((one) => one.scrollWidth - one.clientWidth);
    assert.ok(hidden <= 0, `${tag}: ${hidden} px are cut`);
  }
  // Also with means of repeats and with thousands of tasks the list needs no scrolling.
  await page.setViewportSize({ width: 1280, height: 800 });
  await page
    .getByText(/^mean of 3, /)
    .first()
    .waitFor();
  const wrap = page.locator('.table-wrap').first();
  const over = await wrap.evaluate((box) => box.scrollWidth - box.clientWidth);
  assert.ok(over <= 0, `${over} px of the list are cut`);
  await page.setViewportSize({ width: 1440, height: 900 });
  assert.deepEqual(seat.troubles, []);
});

test('where the script failed, the same again is not what is suggested', { skip }, async () => {
  const { page } = seat;
  const script = `import argparse, sys
a = argparse.ArgumentParser()
a.add_argument('--lr', type=float)
lr = a.parse_args().lr
for step in (1, 2):
    print(f'step {step} loss: {lr}', flush=True)
sys.exit(3)
`;
  const { id } = await daemon.api('POST', '/experiments', {
    experiment: { name: 'broken', script: 'a.py', parameters: { lr: [0.1] }, objective: 'loss' },
    files: [{ path: 'a.py', text: script }],
  });
  await daemon.cli('watch', id).catch(() => undefined);
  await page.goto(`${daemon.url}/e/${id}/1`);
  await page.getByRole('alert').getByText('After step 2.').waitFor();
  assert.match(await page.getByRole('button', { name: 'Restart with changes…' }).getAttribute('class'), /\bprimary\b/);
  assert.doesNotMatch(
    await page.getByRole('button', { name: 'Restart', exact: true }).getAttribute('class'),
    /\bprimary\b/,
  );
  assert.deepEqual(await audit(page), []);
  assert.deepEqual(seat.troubles, []);
});

test('a misspelt column suggests the one that its name begins with', { skip }, async () => {
  const page = (await open(browser, await daemon.login(), { allow: ['status of 400'] })).page;
  await page.getByText('Live').waitFor();
  const id = await made({ name: 'misspelt', parameters: { lr: [0.1, 0.2] } });
  await told(id, 2, ({ lr }) => [{ loss: lr }]);
  await page.goto(`${daemon.url}/e/${id}?q=${encodeURIComponent('lrate < 1')}`);
  await page.getByText("There is no column 'lrate'; did you mean 'lr'?").waitFor();
  await page.goto(`${daemon.url}/e/${id}?q=${encodeURIComponent('star = true')}`);
  await page.getByText("There is no star 'true'; it is one of yes, no").waitFor();
});
