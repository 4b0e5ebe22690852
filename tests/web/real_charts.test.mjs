// The charts of the experiment's page against the real daemon, with real curves: panels, smoothing, zoom, brush,
// selection, the further charts, the front, and every chart as a file. SLUICE_BIN names the program, SLUICE_SHOTS a
// folder for pictures of the pages.
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { audit, drawn, launch, open, sideways } from './browser.mjs';
import { Daemon, skip } from './daemon.mjs';

const shots = process.env.SLUICE_SHOTS;
const EPOCHS = 400;
// The result depends on layers and optimizer together; some tasks fail.
const SCRIPT = `import math, sys
args = dict(a.lstrip('-').split('=') for a in sys.argv[1:] if '=' in a)
lr, layers, opt = float(args['lr']), int(args['layers']), args['optimizer']
seed = int(lr * 1e6) % 97 + layers
if layers == 3 and lr > 0.005:
    raise ValueError('diverged')
for i in range(${EPOCHS}):
    noise = math.sin(i * 12.9898 + seed) * 0.02
    level = 0.2 + abs(math.log10(lr) + 3) * 0.03 + (0.5 if (opt == 'sgd') == (layers < 3) else 0)
    v = level + 0.8 * math.exp(-i / 40) + noise
    print('epoch=%d loss=%.5f val_loss=%.9f accuracy=%.5f latency=%.3f' % (
        i, v * 0.8 - noise, v, 1 - v / 2, layers * 3 + (2 if opt == 'adam' else 0) + lr), flush=False)
`;

let daemon;
let browser;
let seat;
let id;
let two;
let api;

async function ended(experiment) {
  for (;;) {
    const { tasks } = await api('GET', `/experiments/${experiment}`);
    if (tasks.finished + tasks.error === tasks.total) return;
    await new Promise((done) => {
      setTimeout(done, 200);
    });
  }
}

before(async () => {
  if (skip) return;
  daemon = await Daemon.start();
  browser = await launch();
  api = (...call) => daemon.api(...call);
  const experiment = {
    name: 'charts',
    script: 'c.py',
    parameters: { lr: { min: 1e-5, max: 0.1, scale: 'log' }, layers: [2, 3, 4], optimizer: ['adam', 'sgd'] },
    objective: { metric: 'val_loss', goal: 'min' },
    search: { strategy: 'random', tasks: 24, seed: 3 },
    resources: { backend: 'local' },
  };
  const files = [{ path: 'c.py', text: SCRIPT }];
  const objective = [
    { metric: 'val_loss', goal: 'min' },
    { metric: 'latency', goal: 'min' },
  ];
  id = (await api('POST', '/experiments', { experiment, files })).id;
  two = (await api('POST', '/experiments', { experiment: { ...experiment, name: 'two', objective }, files })).id;
  await ended(id);
  await ended(two);
  seat = await open(browser, await daemon.login());
  await seat.page.getByText('Live').waitFor();
});

after(async () => {
  if (skip) return;
  await browser.close();
  await daemon.stop();
});

const chart = () => seat.page.getByRole('img', { name: /^val_loss for \d+ tasks/ });
const query = () => new URL(seat.page.url()).searchParams;
const shoot = async (name) => {
  if (shots) await seat.page.screenshot({ path: path.join(shots, `${name}.png`), fullPage: true });
};

async function visit(search = '', experiment = id) {
  await seat.page.goto(`${daemon.url}/e/${experiment}${search}`);
  await seat.page.locator('#importance').waitFor();
  await seat.page.locator('.plot canvas').first().waitFor();
  await seat.page.locator('svg.parallel path').first().waitFor();
  await seat.page.locator('svg.scatter circle').first().waitFor();
  await drawn(seat.page);
}

test('a zoom is in the address, fetches detail, and a double click resets it and opens nothing', { skip }, async () => {
  const { page } = seat;
  await visit();
  await shoot('plain');
  const asked = [];
  page.on('request', (r) => r.url().includes('/metrics?') && asked.push(new URL(r.url()).searchParams));
  const box = await chart().locator('.plot-area').boundingBox();
  await page.mouse.move(box.x + box.width * 0.4, box.y + 40);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, box.y + 60, { steps: 5 });
  await page.mouse.up();
  await page.waitForURL(/zoom=/);
  const [low, high] = query().get('zoom').split(',').map(Number);
  assert.ok(low > 120 && high < 280, `zoomed to ${low} to ${high} of ${EPOCHS}`);
  for (let i = 0; i < 100 && !asked.length; i++) await page.waitForTimeout(50);
  assert.ok(Number(asked[0].get('from')) > 100 && Number(asked[0].get('to')) < 300, `${asked[0]}`);
  // No word of before the zoom is left over the chart.
  assert.equal(await page.locator('.tip').count(), 0);
  await shoot('zoomed');
  // The same picture from the address alone.
  await visit(`?zoom=${low},${high}`);
  await page.getByRole('button', { name: 'Reset zoom' }).waitFor();
  await chart()
    .locator('.plot-area')
    .dblclick({ position: { x: 200, y: 100 } });
  await page.getByRole('button', { name: 'Reset zoom' }).waitFor({ state: 'detached' });
  await page.waitForTimeout(500);
  assert.equal(new URL(page.url()).pathname, `/e/${id}`);
  assert.equal(query().get('zoom'), null);
  assert.deepEqual(seat.troubles, []);
});

test('all points of a zoomed stretch are drawn, of a whole curve the thinned ones', { skip }, async () => {
  const { page } = seat;
  const csv = async () => {
    const wait = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save the chart curves' }).click();
    await page.getByRole('menuitem', { name: /^CSV/ }).click();
    return (await readFile(await (await wait).path(), 'utf8')).trim().split('\r\n').slice(1);
  };
  const stepsOf = (rows) => rows.filter((r) => r.startsWith('1,val_loss,')).map((r) => Number(r.split(',')[2]));
  await visit();
  const all = stepsOf(await csv());
  assert.ok(all.length <= 300 && all.length > 100, `${all.length} points`);
  await visit('?zoom=100,200');
  let part = [];
  for (let i = 0; i < 40 && part.length < 101; i++) part = stepsOf(await csv()).filter((s) => s >= 100 && s <= 200);
  assert.deepEqual(
    part,
    Array.from({ length: 101 }, (_, i) => 100 + i),
  );
  assert.deepEqual(seat.troubles, []);
});

test('a chart gets the digits that it can show, a table and a file get all of them', { skip }, async () => {
  const { page } = seat;
  const asked = [];
  page.on('request', (r) => r.url().includes(`/${id}/metrics?`) && asked.push(new URL(r.url()).searchParams));
  await visit();
  assert.deepEqual(
    asked.map((query) => query.get('digits')),
    ['5'],
  );
  const wait = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save the chart curves' }).click();
  await page.getByRole('menuitem', { name: /^CSV/ }).click();
  const rows = (await readFile(await (await wait).path(), 'utf8')).trim().split('\r\n').slice(1);
  const whole = await api('GET', `/experiments/${id}/metrics?points=300&tasks=1`);
  assert.deepEqual(
    rows.filter((row) => row.startsWith('1,val_loss,')).map((row) => Number(row.split(',')[3])),
    whole.tasks[0].value,
  );
  await visit();
  await page.getByRole('button', { name: 'Table', exact: true }).click();
  const title = String(Math.max(...whole.tasks[0].value));
  assert.ok(title.length > 8, title);
  await page.locator(`td[title="${title}"]`).first().waitFor();
  assert.deepEqual(seat.troubles, []);
});

test('several metrics are panels, train and validation share one, smoothing is in the address', { skip }, async () => {
  const { page } = seat;
  await visit();
  await page.getByRole('button', { name: /^Metric / }).click();
  const choice = page.getByRole('group', { name: 'Metrics drawn' });
  await choice.getByLabel('loss', { exact: true }).check();
  await page.getByRole('img', { name: /^val_loss, loss for \d+ tasks/ }).waitFor();
  await choice.getByLabel('accuracy').check();
  await page.getByRole('img', { name: /^accuracy for \d+ tasks/ }).waitFor();
  assert.equal(await page.locator('.panels .plot').count(), 2);
  assert.deepEqual(query().get('metric').split(',').sort(), ['accuracy', 'loss', 'val_loss']);
  await page.keyboard.press('Escape');
  await page.getByRole('slider', { name: /^Smoothing/ }).fill('8');
  assert.equal(query().get('smooth'), '8');
  // The pointer over one panel marks the same task in the other and in the table.
  const box = await page.locator('.panels .plot-area').first().boundingBox();
  for (let y = 20; y < box.height && !(await page.locator('tr[data-hot]').count()); y += 8)
    await page.mouse.move(box.x + box.width / 2, box.y + y);
  assert.equal(await page.locator('tr[data-hot]').count(), 1);
  await page.locator('.tip', { hasText: 'smoothed' }).waitFor();
  await shoot('panels');
  assert.deepEqual(await audit(page), []);
  await visit(new URL(page.url()).search);
  await page.getByRole('img', { name: /^accuracy for \d+ tasks/ }).waitFor();
  assert.equal(await page.getByRole('slider', { name: /^Smoothing/ }).inputValue(), '8');
  assert.deepEqual(seat.troubles, []);
});

test('a brush is in the address in values, and charts follow selection, state and filter', { skip }, async () => {
  const { page } = seat;
  await visit();
  const grab = page.locator('svg.parallel .grab').first();
  const box = await grab.boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height * 0.5);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height * 0.95, { steps: 4 });
  await page.mouse.up();
  await page.waitForURL(/brush=/);
  const text = query().get('brush');
  assert.match(text, /^lr:\S*~0?\.?\S+$/);
  const rows = await page.locator('[data-row]').count();
  assert.ok(rows > 0 && rows < 24, `${rows} rows`);
  await visit(`?brush=${encodeURIComponent(text)}`);
  assert.equal(await page.locator('[data-row]').count(), rows);
  assert.equal(await page.locator('svg.parallel path:not(.off)').count(), rows);
  // A selection lights up its tasks everywhere and hides no row.
  const { items } = await api('GET', `/experiments/${id}/tasks?state=finished&limit=2`);
  await visit(`?sel=${items.map((t) => t.number)}`);
  assert.equal(await page.locator('[data-row]').count(), 24);
  assert.equal(await page.locator('svg.parallel path:not(.off)').count(), 2);
  assert.equal(await page.locator('#front').locator('xpath=../..').locator('circle:not(.off)').count(), 2);
  await page.getByRole('heading', { name: 'val_loss, 2 tasks' }).waitFor();
  await visit('?state=error');
  const failed = (await api('GET', `/experiments/${id}`)).tasks.error;
  assert.ok(failed > 0, 'some tasks fail');
  assert.equal(await page.locator('svg.parallel path:not(.off)').count(), failed);
  assert.deepEqual(seat.troubles, []);
});

test('scatter, slices, interactions and timeline show real values, hover and open tasks', { skip }, async () => {
  const { page } = seat;
  await visit();
  const further = page.getByRole('group', { name: 'Further chart' });
  const card = page.locator('.explore');
  await further.getByRole('button', { name: 'Scatter' }).click();
  const done = (await api('GET', `/experiments/${id}`)).tasks.finished;
  await card.getByRole('img', { name: /^val_loss against lr/ }).waitFor();
  await card.getByLabel('Across').selectOption({ label: 'layers' });
  await card.getByLabel('Up').selectOption({ label: 'accuracy, last' });
  await card.getByLabel('Colour').selectOption({ label: 'optimizer' });
  await card.getByLabel('Size').selectOption({ label: 'Time' });
  await page.waitForFunction((n) => document.querySelectorAll('.explore circle').length === n, done);
  assert.equal(query().get('sy'), 'last.accuracy');
  const dot = card.locator('circle').first();
  const number = await dot.getAttribute('data-id');
  await dot.dispatchEvent('mouseover'); // points may lie on each other
  const title = await card.locator('.dots .tip').textContent();
  const task = await api('GET', `/experiments/${id}/tasks/${number}`);
  assert.ok(title.includes(`layers ${task.parameters.layers}`), title);
  await page.locator(`[data-row="${number}"]`).hover();
  assert.equal(await card.locator(`circle.hot[data-id="${number}"]`).count(), 1);
  await shoot('scatter');
  assert.deepEqual(await audit(page), []);
  await further.getByRole('button', { name: 'Slices' }).click();
  await card.getByRole('img', { name: /against optimizer/ }).waitFor();
  assert.equal(await card.locator('svg.scatter').count(), 3);
  await shoot('slices');
  await further.getByRole('button', { name: 'Interactions' }).click();
  // The result was made so that layers and optimizer act together only.
  const first = card.locator('.two-way tbody tr').first();
  await first.waitFor();
  assert.match(await first.textContent(), /layers and optimizer|optimizer and layers/);
  await shoot('interactions');
  assert.deepEqual(await audit(page), []);
  await further.getByRole('button', { name: 'Timeline' }).click();
  await card.locator('.timeline .stint').first().waitFor();
  assert.equal(await card.locator('.timeline .stint').count(), 24);
  const heights = await card
    .locator('.timeline .lane, .timeline .stint')
    .evaluateAll((all) => [...new Set(all.map((one) => one.getBoundingClientRect().height))]);
  assert.equal(heights.length, 1, `a bar is as high as its lane: ${heights}`);
  const { attempts } = await api('GET', `/experiments/${id}/attempts`);
  assert.equal(attempts.length, 24);
  assert.match(await card.locator('.explore-bar').textContent(), /\d+ % idle/);
  await shoot('timeline');
  assert.deepEqual(await audit(page), []);
  await card.locator('.timeline .stint[data-id="3"]').click();
  await page.waitForURL(`${daemon.url}/e/${id}/3`);
  assert.deepEqual(seat.troubles, []);
});

test('the front: a brush, a reference point, the hypervolume, and the neighbours of a point', { skip }, async () => {
  const { page } = seat;
  await visit('', two);
  const card = page.locator('section.card', { has: page.locator('#front') });
  const { fronts } = await api('GET', `/experiments/${two}/analysis`);
  // The page's arithmetic is the daemon's.
  const said = Number(await card.locator('.reference b').getAttribute('title'));
  assert.ok(Math.abs(said - fronts[0].hypervolume) < 1e-9 * Math.abs(said), `${said}, ${fronts[0].hypervolume}`);
  await card.getByRole('spinbutton', { name: 'latency' }).fill('1000');
  await card.getByRole('spinbutton', { name: 'latency' }).press('Tab');
  await page.waitForURL(/ref=/);
  assert.ok(Number(await card.locator('.reference b').getAttribute('title')) > said);
  await card.locator('circle.on').last().click();
  await card.getByRole('table', { name: /^Neighbours of task/ }).waitFor();
  assert.match(page.url(), /at=\d+/);
  assert.ok((await card.locator('.neighbours tbody tr').count()) >= 4);
  await shoot('front');
  assert.deepEqual(await audit(page), []);
  const pane = await card.locator('.pane').boundingBox();
  await page.mouse.move(pane.x + 4, pane.y + 4);
  await page.mouse.down();
  await page.mouse.move(pane.x + pane.width * 0.5, pane.y + pane.height - 4, { steps: 4 });
  await page.mouse.up();
  await page.waitForURL(/front=/);
  const rows = await page.locator('[data-row]').count();
  assert.ok(rows > 0 && rows < fronts[0].points.length, `${rows} rows`);
  assert.equal(await card.locator('circle:not(.off)').count(), rows);
  assert.deepEqual(seat.troubles, []);
});

test('every chart is saved as SVG, PNG and CSV, in both themes the same and without a style sheet', {
  skip,
}, async () => {
  const { page } = seat;
  const files = {};
  for (const theme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme: theme });
    for (const show of ['scatter', 'slices', 'pairs', 'timeline']) {
      await visit(`?show=${show}&smooth=5`, two);
      await page.locator('.explore svg').first().waitFor();
      const buttons = page.getByRole('button', { name: /^Save the chart/ });
      for (let i = 0; i < (await buttons.count()); i++) {
        const name = (await buttons.nth(i).getAttribute('aria-label')).replace('Save the chart ', '');
        for (const kind of ['SVG', 'PNG', 'CSV']) {
          if (files[`${theme} ${name} ${kind}`] || (theme === 'dark' && kind !== 'SVG')) continue;
          const wait = page.waitForEvent('download');
          await buttons.nth(i).click();
          await page.getByRole('menuitem', { name: new RegExp(`^${kind}`) }).click();
          const file = await wait;
          assert.ok(file.suggestedFilename().endsWith(`.${kind.toLowerCase()}`));
          files[`${theme} ${name} ${kind}`] = await readFile(await file.path());
          if (shots) await file.saveAs(path.join(shots, `saved-${theme}-${file.suggestedFilename()}`));
        }
      }
    }
  }
  await page.emulateMedia({ colorScheme: 'light' });
  const names = Object.keys(files).filter((name) => name.startsWith('light') && name.endsWith('SVG'));
  assert.ok(names.length >= 8, names.join());
  for (const name of names) {
    const text = files[name].toString();
    assert.match(text, /^<svg xmlns/, name);
    assert.doesNotMatch(text, /class=|style=|var\(|<image|href=/, name);
    assert.match(text, /<text/, name);
    assert.equal(files[name.replace('light', 'dark')].toString(), text, `${name} differs in the dark theme`);
    const png = files[name.replace('SVG', 'PNG')];
    assert.equal(png.subarray(1, 4).toString(), 'PNG');
    const width = Number(/width="(\d+)"/.exec(text)[1]);
    assert.equal(png.readUInt32BE(16), width * 3, 'three pixels for one');
    assert.ok(files[name.replace('SVG', 'CSV')].toString().split('\r\n').length > 3, name);
  }
  assert.deepEqual(seat.troubles, []);
});

test('Back returns to where the table was', { skip }, async () => {
  const { page } = seat;
  await visit();
  await page.evaluate(() => scrollTo(0, 400));
  await page.waitForFunction(() => scrollY > 300);
  const y = await page.evaluate(() => scrollY);
  await page.evaluate(() => document.querySelector('[data-row="5"] a.row').click());
  await page.waitForURL(`${daemon.url}/e/${id}/5`);
  // The page that is left is long enough to be scrolled, too.
  await page.waitForFunction((at) => document.documentElement.scrollHeight > at + innerHeight, y);
  await page.goBack();
  await page.locator('[data-row="5"] a.row').waitFor();
  await page.waitForFunction((at) => Math.abs(scrollY - at) < 4, y);
  assert.deepEqual(seat.troubles, []);
});

test('the charts fit every size and theme', { skip }, async () => {
  const { page } = seat;
  for (const [width, height] of [
    [1440, 900],
    [1024, 768],
    [390, 844],
  ])
    for (const theme of ['light', 'dark']) {
      await page.setViewportSize({ width, height });
      await page.emulateMedia({ colorScheme: theme });
      for (const show of ['scatter', 'slices', 'pairs', 'timeline']) {
        await visit(`?show=${show}&metric=loss,val_loss,accuracy`, two);
        await page.locator('.explore svg').first().waitFor();
        await drawn(page);
        assert.ok((await sideways(page)) <= 0, `${show} at ${width} scrolls sideways by ${await sideways(page)}`);
        if (show === 'scatter') await shoot(`size-${width}-${theme}`);
        else if (theme === 'light') await shoot(`size-${width}-${show}`);
      }
      assert.deepEqual(await audit(page), []);
    }
  assert.deepEqual(seat.troubles, []);
});

test('selected tasks are starred, tagged and noted together, and the filter finds them', { skip }, async () => {
  const { page } = seat;
  await page.setViewportSize({ width: 1440, height: 900 });
  await visit('?sel=3,5,8');
  const bulk = page.getByRole('region', { name: 'Selected tasks' });
  await bulk.getByRole('button', { name: 'Star', exact: true }).click();
  await page.getByText('Starred 3 tasks.').waitFor();
  await page.waitForFunction(() => document.querySelectorAll('[data-row] .starred').length === 3);
  await bulk.getByRole('button', { name: 'Tag' }).click();
  // The field has the focus: `k` would move the row, and Enter would open its task.
  await bulk.getByLabel('New tag').and(page.locator(':focus')).waitFor();
  await page.keyboard.type('keep, <b>bold</b>');
  await bulk.getByRole('button', { name: 'Add' }).click();
  await page.getByRole('columnheader', { name: 'Tags' }).waitFor();
  await page.locator('[data-row="5"]').getByText('keep, <b>bold</b>').waitFor();
  await bulk.getByRole('button', { name: 'Note' }).click();
  await bulk.getByLabel('Note in Markdown').fill('seen together');
  await bulk.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Wrote the note of 3 tasks.').waitFor();
  assert.deepEqual(await audit(page), []);
  await shoot('bulk');
  assert.equal((await api('GET', `/experiments/${id}/tasks/8`)).notes, 'seen together');
  await page.getByRole('searchbox', { name: 'Filter tasks' }).fill('star = yes and tags = keep');
  await page.locator('.table-foot').getByText('3 of 24 tasks').waitFor();
  assert.deepEqual(seat.troubles, []);
});

test('metrics can be chosen on a page that was open before the first value', { skip }, async () => {
  const { page } = seat;
  const go = path.join(daemon.state, 'go');
  const script = `import os, time
while not os.path.exists(${JSON.stringify(go)}):
    time.sleep(0.05)
print('epoch=1 loss=0.5 val_loss=0.6 accuracy=0.7')
`;
  const experiment = {
    name: 'later',
    script: 'later.py',
    parameters: { lr: [0.1] },
    objective: { metric: 'val_loss', goal: 'min' },
    resources: { backend: 'local' },
  };
  const later = (await api('POST', '/experiments', { experiment, files: [{ path: 'later.py', text: script }] })).id;
  await page.goto(`${daemon.url}/e/${later}`);
  await page.getByText('Live').waitFor();
  await page.locator('[data-row="1"]').getByText('Running').waitFor();
  assert.equal(await page.getByRole('button', { name: /^Metric / }).count(), 0);
  await writeFile(go, '');
  await page.getByRole('button', { name: 'Metric val_loss' }).click();
  await page.getByRole('checkbox', { name: 'accuracy' }).check();
  await page.waitForURL(/metric=val_loss%2Caccuracy|metric=val_loss,accuracy/);
  await shoot('later');
  assert.deepEqual(seat.troubles, []);
});
