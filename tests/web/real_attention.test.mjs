// What needs attention, in a real browser against the real daemon: failures by cause, dismissed ones, the title of a
// tab and notifications. SLUICE_BIN names the program.
import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { audit, launch, open, PATIENCE_MS } from './browser.mjs';
import { Daemon, skip } from './daemon.mjs';

let daemon;
let browser;
let seat;

before(async () => {
  if (skip) return;
  daemon = await Daemon.start();
  browser = await launch();
  // A wrong address is refused on purpose.
  seat = await open(browser, await daemon.login(), { allow: ['status of 400'] });
  await seat.page.getByText('Live').waitFor();
});

after(async () => {
  if (skip) return;
  await browser.close();
  await daemon.stop();
});

const SCRIPT = `import sys
n = int(sys.argv[1].split('=')[1])
if n < 4:
    raise ValueError('<b>layer</b> is too wide for this long explanation of what went wrong in the end')
if n == 4:
    raise KeyError('epochs')
print('epoch 1 val_loss 0.5')
`;

const submit = (name, n = [1, 2, 3, 4, 5]) =>
  daemon.api('POST', '/experiments', {
    experiment: { name, script: 'a.py', parameters: { n }, objective: 'val_loss' },
    files: [{ path: 'a.py', text: SCRIPT }],
  });

test('failures stand by cause with their whole text, and can be dismissed', { skip }, async () => {
  const { page } = seat;
  const { id } = await submit('fails');
  const card = page.getByRole('region', { name: 'Needs attention' });
  const first = card.getByText(
    '3 tasks: ValueError: <b>layer</b> is too wide for this long explanation of what went wrong in the end',
  );
  await first.waitFor();
  await card.getByText("#4 KeyError: 'epochs'").waitFor();
  assert.deepEqual(await audit(page), []);
  await card.getByRole('button', { name: /^Dismiss: 3 tasks/ }).click();
  await first.waitFor({ state: 'detached' });
  await page.reload();
  await card.getByText("#4 KeyError: 'epochs'").waitFor();
  assert.equal(await first.count(), 0);
  await page.goto(`${daemon.url}/e/${id}`);
  await page.waitForFunction(() => /^(done|failed|paused \d\/5) fails · sluice$/.test(document.title));
  assert.deepEqual(seat.troubles, []);
});

test('of many causes the first are shown with a way to the rest, and a long text opens', { skip }, async () => {
  const { page } = seat;
  const script = `import sys
n = int(sys.argv[1].split('=')[1])
raise ValueError('cause number %s: %s end' % ('abcdefghi'[n - 1], 'far too wide ' * 20))
`;
  const { id } = await daemon.api('POST', '/experiments', {
    experiment: {
      name: 'many causes',
      script: 'a.py',
      parameters: { n: [1, 2, 3, 4, 5, 6, 7, 8, 9] },
      objective: 'val_loss',
      stop: { failures: 'off' },
    },
    files: [{ path: 'a.py', text: script }],
  });
  await daemon.cli('watch', id).catch(() => undefined);
  await page.goto(daemon.url);
  const card = page.getByRole('region', { name: 'Needs attention' });
  await card.getByText('cause number i').waitFor();
  assert.equal(await card.getByText('cause number a:').count(), 0);
  await card.getByRole('button', { name: /^Show \d+ more$/ }).click();
  const text = card.getByRole('link', { name: /cause number a:/ });
  await text.waitFor();
  const height = () => text.evaluate((node) => node.getBoundingClientRect().height);
  const short = await height();
  await card.locator('.attention', { hasText: 'cause number a:' }).getByRole('button', { name: 'more' }).click();
  assert.ok((await height()) > short * 1.5, `${await height()} after ${short}`);
  assert.deepEqual(await audit(page), []);
  await daemon.api('DELETE', `/experiments/${id}`);
  assert.deepEqual(seat.troubles, []);
});

test('failures that differ in a number only are one cause, which leads to its tasks', { skip }, async () => {
  const { page } = seat;
  const script = `import sys
n = int(sys.argv[1].split('=')[1])
if n == 9:
    raise ValueError('another cause')
raise ValueError('loss diverged with lr=0.%d after 7 steps' % n)
`;
  const { id } = await daemon.api('POST', '/experiments', {
    experiment: {
      name: 'alike',
      script: 'a.py',
      parameters: { n: [1, 2, 3, 9] },
      objective: 'val_loss',
      stop: { failures: 'off' },
    },
    files: [{ path: 'a.py', text: script }],
  });
  await daemon.cli('watch', id).catch(() => undefined);
  await page.goto(daemon.url);
  const card = page.getByRole('region', { name: 'Needs attention' });
  await card.getByText('3 tasks: ValueError: loss diverged with lr=… after 7 steps').click();
  const rows = page.locator('table.configurations tbody tr');
  await page.getByText('3 of 4 tasks').waitFor();
  assert.equal(await rows.count(), 3);
  await daemon.api('DELETE', `/experiments/${id}`);
  assert.deepEqual(seat.troubles, []);
});

// The colour of the tab's icon in its middle and on its ring, a quarter of the way round.
const iconColours = (page) =>
  page.evaluate(async () => {
    const picture = new Image();
    picture.src = document.querySelector('link[rel="icon"]').href;
    await picture.decode();
    const canvas = document.createElement('canvas');
    canvas.width = 32;
    canvas.height = 32;
    const pen = canvas.getContext('2d', { willReadFrequently: true });
    pen.drawImage(picture, 0, 0);
    const name = (x, y) => {
      const [r, g, b, a] = pen.getImageData(x, y, 1, 1).data;
      if (!a) return 'none';
      return r > 180 && g < 120 ? 'red' : g > 140 && r < 100 ? 'green' : b > 200 && r < 120 ? 'blue' : 'other';
    };
    return { middle: name(16, 16), ring: name(28, 16) };
  });

test('the icon of a tab is a ring in the colour of the state, with a red dot after failures', { skip }, async () => {
  const { page } = seat;
  // The icon is drawn after the page is on the screen.
  const icon = (part) =>
    page.waitForFunction((text) => document.querySelector('link[rel="icon"]').href.includes(text), part);
  const good = await submit('rings', [5]);
  await page.goto(`${daemon.url}/e/${good.id}`);
  await page.waitForFunction(() => document.title === 'done rings · sluice');
  await icon('data:image/png');
  assert.deepEqual(await iconColours(page), { middle: 'none', ring: 'green' });
  const bad = await submit('some fail', [4, 5]);
  await page.goto(`${daemon.url}/e/${bad.id}`);
  await page.waitForFunction(() => document.title === 'done some fail · sluice');
  await icon('data:image/png');
  assert.deepEqual(await iconColours(page), { middle: 'red', ring: 'green' });
  await page.getByRole('link', { name: 'Cluster' }).first().click();
  await page.getByRole('heading', { name: 'Cluster' }).waitFor();
  await icon('favicon.svg');
  assert.deepEqual(seat.troubles, []);
});

test('a webhook is set, tested and its errors are shown on the settings page', { skip }, async () => {
  const { page } = seat;
  const got = [];
  let status = 500;
  const receiver = http.createServer(async (request, answer) => {
    let text = '';
    for await (const piece of request) text += piece;
    got.push(JSON.parse(text));
    answer.writeHead(status).end('no such hook');
  });
  await new Promise((done) => receiver.listen(0, '127.0.0.1', done));
  await page.goto(`${daemon.url}/settings`);
  const card = page.getByRole('region', { name: 'Notifications' });
  await card.getByLabel('Webhook').fill('not an address');
  await card.getByRole('button', { name: 'Save' }).click();
  await card.getByText('Webhook must be an address that begins with https:// or http://').waitFor();
  await card.getByLabel('Webhook').fill(`http://127.0.0.1:${receiver.address().port}/hook`);
  await card.getByRole('button', { name: 'Save' }).click();
  await card.getByText('No message yet.').waitFor();
  await card.getByRole('button', { name: 'Send a test' }).click();
  await card.getByText('Not delivered: the receiver answered with status 500: no such hook').waitFor();
  assert.deepEqual(await audit(page), []);
  status = 200;
  await card.getByRole('button', { name: 'Send a test' }).click();
  await card.getByText('Last message delivered').waitFor();
  assert.deepEqual(
    got.map((body) => body.kind),
    ['test', 'test'],
  );
  const changed = page.waitForResponse((r) => r.request().method() === 'POST' && r.url().endsWith('/notify'));
  await card.getByLabel('it pauses').uncheck();
  await changed;
  await page.reload();
  await card.getByText('Last message delivered').waitFor();
  assert.equal(await card.getByLabel('it pauses').isChecked(), false);
  await card.getByLabel('Webhook').fill('');
  await card.getByRole('button', { name: 'Save' }).click();
  await card.getByText('Last message delivered').waitFor({ state: 'detached' });
  receiver.close();
  assert.deepEqual(seat.troubles, []);
});

test('the cluster page says which task uses this machine, and who waits for what', { skip }, async () => {
  const { page } = seat;
  const { id } = await daemon.api('POST', '/experiments', {
    experiment: {
      name: 'holds',
      script: 'w.py',
      parameters: { n: [1, 2] },
      search: { parallel: 1 },
      resources: { backend: 'local' },
    },
    files: [{ path: 'w.py', text: 'import time\ntime.sleep(600)\n' }],
  });
  await page.goto(`${daemon.url}/queue`);
  const running = page.getByRole('region', { name: 'Running tasks' });
  await running.getByRole('link', { name: `${id}/1` }).waitFor();
  const queue = page.getByRole('region', { name: 'Our queue' });
  await queue.getByRole('link', { name: `${id} holds` }).waitFor();
  await queue.getByText(/parallel is 1|proposes them as others end/).waitFor();
  assert.deepEqual(await audit(page), []);
  await daemon.api('POST', `/experiments/${id}/stop`, {});
  await page.getByRole('button', { name: /Look again|Refresh/ }).click();
  await page.getByText('Nothing of yours runs now.').waitFor();
  assert.deepEqual(seat.troubles, []);
});

test('the browser notifies when an experiment ends, only where that is turned on', { skip }, async () => {
  const { page, context } = seat;
  await context.grantPermissions(['notifications'], { origin: daemon.url });
  await page.goto(`${daemon.url}/settings`);
  await page.evaluate(() => {
    globalThis.shown = [];
    globalThis.Notification = class {
      static permission = 'granted';
      static requestPermission = async () => 'granted';
      constructor(title, options) {
        globalThis.shown.push(`${title}: ${options.body}`);
      }
    };
  });
  const quiet = await submit('quiet', [5]);
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; ) {
    if ((await daemon.api('GET', `/experiments/${quiet.id}`)).state === 'finished') break;
    await new Promise((done) => {
      setTimeout(done, 100);
    });
  }
  await page.getByLabel('Notify me in this browser').check();
  await submit('loud', [5, 6]);
  await page.waitForFunction(() => globalThis.shown.length > 0);
  const shown = await page.evaluate(() => globalThis.shown);
  assert.equal(shown.length, 1);
  assert.match(shown[0], /^loud: Finished: 2 of 2 tasks finished\.$/);
  assert.deepEqual(await audit(page), []);
  assert.deepEqual(seat.troubles, []);
});
