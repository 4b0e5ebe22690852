// The experiment's page against the real daemon: every task at any number, filters and columns of the daemon, values
// that are true at every moment, and little on the wire. SLUICE_BIN names the program.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { audit, launch, open, until } from './browser.mjs';
import { Daemon, skip } from './daemon.mjs';

let daemon;
let browser;
let seat;
let token;

async function api(method, path, body) {
  const response = await fetch(`${daemon.url}/api/v1${path}`, {
    method,
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: body && JSON.stringify(body),
  });
  assert.ok(response.ok, `${method} ${path}: ${response.status} ${response.ok ? '' : await response.text()}`);
  return response.json();
}

// Results without a run: as many tasks as a test needs within a second.
async function imported(name, count, further = false) {
  const objective = [{ metric: 'val_loss', goal: 'min' }, ...(further ? [{ metric: 'latency', goal: 'min' }] : [])];
  const { id } = await api('POST', '/experiments', {
    experiment: {
      name,
      resources: { backend: 'external' },
      objective,
      parameters: { lr: { min: 1e-5, max: 0.1, scale: 'log' }, optimizer: ['adam', 'sgd'] },
      search: { strategy: 'random', tasks: 1 },
    },
  });
  const rows = Array.from({ length: count }, (_, i) => ({
    parameters: { lr: 10 ** (-5 + (4 * ((i * 7919) % count)) / count), optimizer: i % 2 ? 'sgd' : 'adam' },
    values: { val_loss: 0.2 + ((i * 104729) % count) / count, ...(further ? { latency: 10 + (i % 50) } : {}) },
  }));
  for (let at = 0; at < count; at += 1000)
    await api('POST', `/experiments/${id}/import`, { rows: rows.slice(at, at + 1000) });
  // The daemon sends what it took in pieces: a page that opens meanwhile rightly asks again.
  while ((await api('GET', `/experiments/${id}`)).tasks.finished < count) await new Promise((r) => setTimeout(r, 50));
  return { id, rows };
}

before(async () => {
  if (skip) return;
  daemon = await Daemon.start();
  browser = await launch();
  seat = await open(browser, await daemon.login());
  await seat.page.getByText('Live').waitFor();
  token = await seat.page.evaluate(async () => {
    const secret = Object.values(localStorage)
      .join('\n')
      .match(/[\w-]{40,}/)[0];
    const response = await fetch('/api/v1/tokens', {
      method: 'POST',
      headers: { 'X-Sluice-Session': secret, 'Content-Type': 'application/json' },
      body: '{"name":"tests"}',
    });
    return (await response.json()).token;
  });
});

after(async () => {
  if (skip) return;
  await browser.close();
  await daemon.stop();
});

// Runs in the page: are there so many points in the paths of "Best so far"?
const points = ({ which, n }) =>
  [...document.querySelectorAll(`svg.scatter ${which}`)].reduce((sum, path) => {
    return sum + path.getAttribute('d').split('M').length - 1;
  }, 0) === n;
// Runs in the page: does the summary count at least so many finished tasks?
const finished = (n) =>
  Number(/([\d,]+) finished/.exec(document.querySelector('.kpis, main')?.textContent)?.[1].replaceAll(',', '')) >= n;
// Runs in the page: how many rows there is room for between the first row and the end of the window.
const below = () => Math.ceil((innerHeight - document.querySelector('[data-row]').getBoundingClientRect().top) / 32);
const filter = () => seat.page.getByRole('searchbox', { name: 'Filter tasks' });
const numbers = () => seat.page.locator('[data-row]').evaluateAll((rows) => rows.map((row) => Number(row.dataset.row)));
const foot = (text) => seat.page.locator('.table-foot').getByText(text).waitFor();

test('of 2,500 tasks each is reachable, and the best is in strip and table', { skip }, async () => {
  const { page } = seat;
  const { id, rows } = await imported('many', 2500);
  await page.goto(`${daemon.url}/e/${id}`);
  const best = rows.indexOf(rows.reduce((a, b) => (b.values.val_loss < a.values.val_loss ? b : a))) + 1;
  await page.locator(`[data-row="${best}"] .best`).waitFor();
  assert.equal((await numbers())[0], best);
  await page.locator('.kpi.first').getByText(`#${best}`).waitFor();
  // Every result is in the chart of the best so far, and the page is as small as with few tasks: an element for each
  // made every sort and filter slow.
  await page.waitForFunction(points, { which: '.points', n: 2500 });
  assert.ok((await page.locator('*').count()) < 2500, `${await page.locator('*').count()} elements`);
  // Rows are drawn to a little below the screen.
  const [drawnRows, room] = [(await numbers()).length, await page.evaluate(below)];
  assert.ok(drawnRows >= room && drawnRows < room + 24, `${drawnRows} rows for room of ${room}`);
  for (const shown of ['500', '1,000', '1,500', '2,000']) {
    await foot(`${shown} of 2,500 that match`);
    await page.getByRole('button', { name: 'Show more' }).click();
  }
  await foot('2,500 tasks');
  // The window holds a part of them; the rest is space.
  assert.ok((await numbers()).length < 300);
  await page.mouse.move(400, 500);
  const worst = rows.indexOf(rows.reduce((a, b) => (b.values.val_loss > a.values.val_loss ? b : a))) + 1;
  // The page may still grow when it is scrolled.
  const atEnd = (n) => {
    scrollTo(0, document.body.scrollHeight);
    return document.querySelector(`[data-row="${n}"]`) !== null;
  };
  await page.waitForFunction(atEnd, worst, { polling: 200 });
  await page.locator(`[data-row="${worst}"]`).waitFor();
  // A task far from the first page, by filter; an order that only the daemon can give.
  await filter().fill(`#${worst}`);
  await foot('1 of 2,500 tasks');
  assert.deepEqual(await numbers(), [worst]);
  await filter().fill('optimizer = sgd and (lr < 2e-5 or val_loss > 1.19)');
  const holds = (r) => r.parameters.optimizer === 'sgd' && (r.parameters.lr < 2e-5 || r.values.val_loss > 1.19);
  await foot(`${rows.filter(holds).length} of 2,500 tasks`);
  await filter().fill('');
  await page.getByRole('columnheader', { name: 'lr' }).getByRole('button').click();
  const least = rows.indexOf(rows.reduce((a, b) => (b.parameters.lr < a.parameters.lr ? b : a))) + 1;
  await page.locator(`tbody tr:first-child[data-row="${least}"]`).waitFor();
  // Another order is the table's alone: the charts show the best.
  await page.getByText('The charts show the best 500 of 2,500 tasks').waitFor();
  await page.waitForFunction(() => document.querySelectorAll('.parallel path').length === 500);
  const drawn = await page.locator('.parallel path').evaluateAll((all) => all.map((one) => Number(one.dataset.id)));
  const byValue = rows.map((r, i) => [r.values.val_loss, i + 1]).sort((a, b) => a[0] - b[0]);
  assert.deepEqual(
    drawn.sort((a, b) => a - b),
    byValue
      .slice(0, 500)
      .map(([, n]) => n)
      .sort((a, b) => a - b),
  );
  assert.deepEqual(seat.troubles, []);
});

test('further charts of many tasks show all of them, and each point has its colour', { skip }, async () => {
  const { page } = seat;
  const { id } = await imported('spread', 2500);
  await page.goto(`${daemon.url}/e/${id}?show=scatter`);
  await page.locator('.explore .legend').getByText('2,500 tasks').waitFor();
  await page.goto(`${daemon.url}/e/${id}?show=slices&colour=lr`);
  await page.locator('.explore').getByText('val_loss of 2,500 finished tasks').waitFor();
  await page.waitForFunction(points, { which: '.spots', n: 5000 });
  const strokes = await page
    .locator('.slices .spots')
    .evaluateAll((all) => all.map((one) => one.getAttribute('stroke')));
  assert.ok(!strokes.includes(null), `${strokes.filter((f) => f === null).length} shapes without a colour`);
  assert.ok(new Set(strokes).size > 20, `${new Set(strokes).size} colours`);
  // Where no task passes the filter the charts say so.
  await filter().fill('val_loss > 100');
  await page.getByText('No task passes the filter.').waitFor();
  assert.equal(await page.getByText('The charts show the best 0').count(), 0);
  assert.deepEqual(seat.troubles, []);
});

test('what remains is of how many run at once, and of one task by its own steps', { skip }, async () => {
  const { page } = seat;
  const experiment = {
    name: 'left',
    resources: { backend: 'external' },
    objective: [{ metric: 'val_loss', goal: 'min' }],
    parameters: { lr: { min: 0.1, max: 1 }, epochs: 10 },
    search: { strategy: 'random', tasks: 4 },
  };
  const { id } = await api('POST', '/experiments', { experiment });
  const ask = async (of) => (await api('POST', `/experiments/${of}/ask`, {})).number;
  const tell = (of, n, more) => api('POST', `/experiments/${of}/tasks/${n}/tell`, { values: { val_loss: 1 }, ...more });
  await tell(id, await ask(id), {});
  await ask(id);
  await ask(id);
  await page.goto(`${daemon.url}/e/${id}`);
  await page.locator('.kpi').getByText('mean of 1 finished, 2 at once').waitFor();
  const alone = { ...experiment, name: 'alone', search: { strategy: 'random', tasks: 1 } };
  const one = (await api('POST', '/experiments', { experiment: alone })).id;
  const number = await ask(one);
  for (let step = 0; step < 4; step++) {
    await tell(one, number, { step, more: true });
    await page.waitForTimeout(300);
  }
  await page.goto(`${daemon.url}/e/${one}`);
  await page.locator('.kpi').getByText('by the steps of what runs').waitFor();
  assert.deepEqual(seat.troubles, []);
});

// Adds one result; each is better than the one before.
async function better(id, n) {
  const parameters = { lr: 0.05 + n * 1e-6, optimizer: 'sgd' };
  await api('POST', `/experiments/${id}/import`, { rows: [{ parameters, values: { val_loss: 0.1 - n * 1e-4 } }] });
}

test('a new result takes its place, and the rows that were asked for stay', { skip }, async () => {
  const { page } = seat;
  const { id } = await imported('growing', 1600);
  await page.goto(`${daemon.url}/e/${id}`);
  await foot('500 of 1,600 that match');
  await page.getByRole('button', { name: 'Show more' }).click();
  await foot('1,000 of 1,600 that match');
  await page.evaluate(() => scrollTo(0, 0));
  await better(id, 1);
  await page.locator('tbody tr:first-child[data-row="1601"] .best').waitFor();
  await foot('1,000 of 1,601 that match');
  assert.deepEqual(seat.troubles, []);
});

test('results that come faster than answers are made do not keep the analysis and the rows away', {
  skip,
}, async () => {
  const { page } = seat;
  const { id } = await imported('faster', 1100);
  let added = 0;
  // No analysis is answered before there is another result.
  await page.route('**/analysis', async (route) => {
    const response = await route.fetch();
    added++;
    await better(id, added);
    await page.waitForFunction(finished, 1100 + added);
    await route.fulfill({ response });
  });
  await page.goto(`${daemon.url}/e/${id}`);
  await page.getByRole('img', { name: /^Best val_loss after 1,1\d\d tasks/ }).waitFor();
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  // No page of rows is answered before the next was asked for, or long after that could have been.
  let seen = () => {};
  let asked = 0;
  await page.route('**/tasks?*', async (route) => {
    seen();
    asked++;
    added++;
    await better(id, added);
    await Promise.race([
      new Promise((done) => {
        seen = done;
      }),
      new Promise((done) => {
        setTimeout(done, 4000);
      }),
    ]);
    await route.continue();
  });
  added++;
  await better(id, added);
  const first = 1100 + added;
  await page.waitForFunction((n) => Number(document.querySelector('[data-row]')?.dataset.row) >= n, first);
  assert.ok(asked <= 2, `${asked} requests at a time`);
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  assert.deepEqual(seat.troubles, []);
});

test('an analysis that takes long is asked for again after ten times as long', { skip }, async () => {
  const { page } = seat;
  const { id } = await imported('slow line', 30);
  const asked = [];
  const TOOK_MS = 300;
  await page.route(`**/${id}/analysis`, async (route) => {
    const response = await route.fetch();
    asked.push(Date.now());
    await better(id, asked.length);
    await new Promise((done) => {
      setTimeout(done, TOOK_MS);
    });
    await route.fulfill({ response });
  });
  await page.goto(`${daemon.url}/e/${id}`);
  await until(() => asked.length >= 3);
  // A page that has much else to do waits longer, never less.
  for (let i = 1; i < 3; i++) assert.ok(asked[i] - asked[i - 1] >= TOOK_MS * 9, `${asked[i] - asked[i - 1]} ms`);
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  assert.deepEqual(seat.troubles, []);
});

test('a running task that becomes one of the best of many gets its curve', { skip }, async () => {
  const { page } = seat;
  const { id } = await imported('rising', 1100);
  const { number } = await api('POST', `/experiments/${id}/ask`, {});
  const tell = (step, value) =>
    api('POST', `/experiments/${id}/tasks/${number}/tell`, { values: { val_loss: value }, step, more: true });
  await tell(0, 5);
  const all = page.waitForResponse((response) => response.url().includes(`/${id}/metrics?`));
  await page.goto(`${daemon.url}/e/${id}`);
  await page.getByText('The charts show the best 500 of 1,101 tasks').waitFor();
  await (await all).finished();
  const own = page.waitForResponse((response) => {
    return new URL(response.url()).searchParams.get('tasks') === String(number);
  });
  await tell(1, 0.1);
  const { tasks } = await (await own).json();
  assert.deepEqual(
    tasks.map((curve) => [curve.task, curve.value]),
    [[number, [5, 0.1]]],
  );
  // From then on its points come by events.
  await tell(2, 0.05);
  await page.locator(`[data-row="${number}"] .best`, { hasText: '0.05' }).waitFor();
  assert.deepEqual(seat.troubles, []);
});

test('the curves are asked for without waiting for the rows', { skip }, async () => {
  const { page } = seat;
  const { id } = await imported('at once', 60);
  const curves = page.waitForRequest((request) => request.url().includes(`/${id}/metrics?`));
  await page.route('**/tasks?*', async (route) => {
    await curves;
    await route.continue();
  });
  await page.goto(`${daemon.url}/e/${id}`);
  // As many points as the screen can show, whatever the number of tasks.
  const points = Number(new URL((await curves).url()).searchParams.get('points'));
  assert.ok(points >= 60 && points * 60 <= 30000, `${points} points for each of 60 tasks`);
  await foot('60 tasks');
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  assert.deepEqual(seat.troubles, []);
});

test('a stopped experiment goes on by its button, and the time between is not counted', { skip }, async () => {
  const { page } = seat;
  const { id } = await api('POST', '/experiments', {
    experiment: { name: 'stopped', script: 'run.sh', parameters: { n: 1 } },
    files: [{ path: 'run.sh', text: '#!/bin/bash\ntouch "$SLUICE_CHECKPOINT_DIR/saved"\nsleep 600\n' }],
  });
  await page.goto(`${daemon.url}/e/${id}`);
  const resume = page.getByRole('button', { name: 'Resume' });
  await page.locator('[data-row="1"]').getByText('running').waitFor();
  assert.equal(await resume.count(), 0);
  await api('POST', `/experiments/${id}/stop`, {});
  await resume.waitFor();
  await new Promise((done) => setTimeout(done, 3000));
  await resume.click();
  await page.getByText('The experiment goes on.').waitFor();
  await page.locator('[data-row="1"]').getByText('running').waitFor();
  assert.equal(await resume.count(), 0);
  const task = await api('GET', `/experiments/${id}/tasks/1`);
  assert.equal(task.attempt, 2);
  const all = (Date.now() - Date.parse(task.started)) / 1000;
  await page.goto(`${daemon.url}/e/${id}/1`);
  const said = await page.getByText(/^running for/).textContent();
  const shown = Number(/running for (\d+(?:\.\d+)?) s/.exec(said)[1]);
  assert.ok(shown < all - 2, `${said}, ${all} s after its first start`);
  await api('POST', `/experiments/${id}/stop`, {});
});

test('tasks beyond the first page of the list are compared', { skip }, async () => {
  const { page } = seat;
  const { id } = await imported('far apart', 1500);
  await page.goto(`${daemon.url}/e/${id}/compare?tasks=2,1490,1499`);
  await page.getByRole('heading', { name: 'Compare 3 tasks' }).waitFor();
  for (const number of ['#2', '#1490', '#1499'])
    await page.getByRole('columnheader', { name: number, exact: false }).first().waitFor();
});

test('a wrong filter is an error with the nearest name, and what was shown stays', { skip }, async () => {
  const { page } = seat;
  const { id } = await imported('wrong', 20);
  const allowed = seat.troubles.length;
  await page.goto(`${daemon.url}/e/${id}`);
  await page.locator('[data-row]').first().waitFor();
  await filter().fill('lrr < 1');
  await page.getByText("There is no column 'lrr'; did you mean 'lr'?").waitFor();
  assert.equal((await numbers()).length, 20);
  assert.equal(await filter().getAttribute('aria-invalid'), 'true');
  await filter().fill('lr < 1');
  await page.getByText('did you mean').waitFor({ state: 'detached' });
  // The browser itself logs the 400.
  for (const trouble of seat.troubles.splice(allowed)) assert.match(trouble, /400/);
});

test('a second objective has a column, an axis and a place in the strip', { skip }, async () => {
  const { page } = seat;
  const { id, rows } = await imported('two', 60, true);
  await page.goto(`${daemon.url}/e/${id}`);
  await page.getByRole('columnheader', { name: 'latency' }).getByRole('button').click();
  const least = Math.min(...rows.map((row) => row.values.latency));
  const first = rows.findIndex((row) => row.values.latency === least) + 1;
  await page.locator(`tbody tr:first-child[data-row="${first}"]`).waitFor();
  await page.locator('svg.parallel text.name', { hasText: 'latency' }).waitFor();
  await page.locator('.kpi.first .detail', { hasText: 'latency' }).waitFor();
  assert.deepEqual(seat.troubles, []);
});

test('columns are chosen, kept in the address and in a view', { skip }, async () => {
  const { page } = seat;
  const { id } = await imported('columns', 12, true);
  await page.goto(`${daemon.url}/e/${id}`);
  await page.locator('[data-row]').first().waitFor();
  const choice = page.getByRole('group', { name: 'Columns and views' });
  await page.getByRole('button', { name: 'Columns' }).click();
  await choice.getByLabel('latency, last').check();
  await choice.getByLabel('optimizer').uncheck();
  await page.getByRole('columnheader', { name: 'latency, last' }).waitFor();
  assert.equal(await page.getByRole('columnheader', { name: 'optimizer' }).count(), 0);
  await choice.getByLabel('Name of the view').fill('mine');
  await choice.getByRole('button', { name: 'Save' }).click();
  assert.deepEqual(await audit(page), []);
  await page.goto(`${daemon.url}/e/${id}`);
  await page.getByRole('columnheader', { name: 'optimizer' }).waitFor();
  await page.getByRole('button', { name: 'Columns' }).click();
  await choice.getByRole('button', { name: 'mine', exact: true }).click();
  await page.getByRole('columnheader', { name: 'latency, last' }).waitFor();
  await page.locator('[data-row] td', { hasText: '10' }).first().waitFor();
  assert.deepEqual(seat.troubles, []);
});

test('opening a page fetches each thing once, compressed', { skip }, async () => {
  const { page } = seat;
  const { id } = await imported('once', 300);
  // The events of the import are over when it is opened again.
  await page.goto(`${daemon.url}/e/${id}`);
  await page.locator('svg.parallel path').first().waitFor();
  await page.getByText('Live').waitFor();
  await page.goto(`${daemon.url}/settings`);
  await page.getByRole('heading', { name: 'Settings' }).waitFor();
  const seen = [];
  const note = (response) => {
    const url = new URL(response.url());
    if (url.pathname.startsWith('/api/') && !url.pathname.endsWith('/events'))
      seen.push([url.pathname, response.headers()['content-encoding'] ?? '']);
  };
  page.on('response', note);
  await page.goto(`${daemon.url}/e/${id}`);
  await page.locator('[data-row]').first().waitFor();
  await page.getByText('Live').waitFor();
  await page.waitForLoadState('load');
  await page.locator('.importance, #importance').first().waitFor();
  await page.locator('svg.parallel path').first().waitFor();
  page.off('response', note);
  // What the results say as a whole is asked for again when a task ends, as these may just have; and the list after so
  // many at once.
  const paths = seen.map(([path]) => path).filter((path) => !/\/(analysis|search|experiments)$/.test(path));
  assert.deepEqual(
    paths.filter((path, i) => paths.indexOf(path) !== i),
    [],
    'fetched twice',
  );
  assert.equal(seen.find(([path]) => path.endsWith('/tasks'))[1], 'gzip');
  assert.deepEqual(seat.troubles, []);
});

test('only NaN is called NaN, in table and chart', { skip }, async () => {
  const { page } = seat;
  const { id } = await api('POST', '/experiments', {
    experiment: { name: 'nan', script: 'n.py', parameters: { x: [1] }, objective: 'val_loss' },
    files: [{ path: 'n.py', text: 'for i in range(3):\n    print("val_loss=nan epoch=%d" % i)\n' }],
  });
  await page.goto(`${daemon.url}/e/${id}`);
  await page.locator('[data-row] td.value', { hasText: 'NaN' }).waitFor();
  await page.getByText('Every value of val_loss is NaN').waitFor();
  assert.deepEqual(seat.troubles, []);
});

// Values fall by 0.01 every fifth of a second.
const FALLS = `import time
for i in range(60):
    print("val_loss=%.4f epoch=%d" % (1 - i / 100, i), flush=True)
    time.sleep(0.2)
`;

test('the best is the same in strip, chart and table at every moment of a run', { skip }, async () => {
  const { page } = seat;
  const { id } = await api('POST', '/experiments', {
    experiment: {
      name: 'falls',
      script: 'f.py',
      parameters: { lr: { min: 1e-5, max: 0.1, scale: 'log' } },
      objective: 'val_loss',
      search: { strategy: 'random', tasks: 2, seed: 1 },
    },
    files: [{ path: 'f.py', text: FALLS }],
  });
  await page.goto(`${daemon.url}/e/${id}`);
  await page.locator('td.value .best').waitFor();
  // Looked at after every frame of the browser until it has moved a dozen times.
  const seen = await page.evaluate(
    () =>
      new Promise((done) => {
        const all = [];
        const look = () => {
          const strip = document.querySelector('.kpi.first .value')?.firstChild?.textContent.trim();
          const table = document.querySelector('td.value .best')?.textContent.replace('Best: ', '').trim();
          if (all.at(-1)?.join() !== [strip, table].join()) all.push([strip, table]);
          if (all.length > 12) done(all);
          else requestAnimationFrame(look);
        };
        look();
      }),
  );
  for (const [strip, table] of seen) assert.equal(strip, table);
  // The one value of a range stands on the declared bounds, with a ramp.
  await page.locator('.swatch.ramp').waitFor();
  await page.locator('svg.parallel text', { hasText: '0.1' }).first().waitFor();
  await page.getByRole('button', { name: 'Stop all' }).click();
  await page.getByRole('dialog').getByRole('button', { name: /^Stop/ }).click();
  assert.deepEqual(seat.troubles, []);
});

test('the front and the best so far show, follow hover and filter, and open a task', { skip }, async () => {
  const { page } = seat;
  const { id, rows } = await imported('front', 60, true);
  await page.goto(`${daemon.url}/e/${id}`);
  await page.locator('svg.scatter circle.on').first().waitFor();
  // It takes the width of its card once that is known.
  const large = () => {
    const { width, height } = document.querySelector('svg.scatter').getBoundingClientRect();
    return width > 400 && height >= 300;
  };
  await page.waitForFunction(large);
  // The pointer over a row of the table marks its point in both charts.
  await page.locator('[data-row="1"]').hover();
  assert.equal(await page.locator('svg.scatter circle.hot[data-id="1"]').count(), 2);
  await filter().fill('optimizer = adam');
  const sgd = rows.filter((row) => row.parameters.optimizer === 'sgd').length;
  await page.waitForFunction((n) => document.querySelectorAll('svg.scatter circle.off').length === n, sgd);
  await page.waitForFunction(points, { which: '.points.off', n: sgd });
  await page.getByRole('img', { name: /^Best val_loss after 60 tasks/ }).waitFor();
  const over = page.getByRole('group', { name: 'Best so far over' });
  await over.getByRole('button', { name: 'Time' }).click();
  assert.match(page.url(), /over=time/);
  const point = page.locator('svg.scatter circle.on').last();
  const number = await point.getAttribute('data-id');
  await point.click();
  await page
    .getByRole('table', { name: `Neighbours of task ${number}` })
    .getByRole('link', { name: `#${number}` })
    .click();
  await page.waitForURL(`${daemon.url}/e/${id}/${number}`);
  assert.deepEqual(seat.troubles, []);
});

// The accuracy is best in epoch 4, the joules in epoch 1; then it crashes.
const APART = `import os
for i in (1, 2, 3, 4):
    print("epoch=%d accuracy=%.4f joules=%.2f" % (i, 0.9 + i / 320, 19.2 * i), flush=True)
os.kill(os.getpid(), 11)
`;

test('each objective is shown with its own best and epoch, and a crash is named', { skip }, async () => {
  const { page } = seat;
  const objective = [
    { metric: 'accuracy', goal: 'max' },
    { metric: 'joules', goal: 'min' },
  ];
  const { id } = await api('POST', '/experiments', {
    experiment: { name: 'apart', script: 'a.py', parameters: { x: [1] }, objective },
    files: [{ path: 'a.py', text: APART }],
  });
  await page.goto(`${daemon.url}/e/${id}`);
  const detail = page.locator('.kpi.first .detail');
  await detail.getByText('joules 19.2 at epoch 1').waitFor();
  await detail.getByText(/failed: signal 11/).waitFor();
  await page.locator('[data-row="1"]').getByText('19.2', { exact: true }).waitFor();
  await page.goto(`${daemon.url}/e/${id}/compare?tasks=1`);
  await page
    .getByRole('row', { name: 'Best joules' })
    .getByText(/^19\.2(00)?$/)
    .waitFor();
  await page.getByRole('row', { name: 'joules is best at epoch' }).getByText('1', { exact: true }).waitFor();
  assert.deepEqual(seat.troubles, []);
});
