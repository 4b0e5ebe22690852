// What changes on an open page: the objective, warnings, and messages that must not lie over buttons. Against the real
// daemon; SLUICE_BIN names the program.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { audit, launch, open, SIZES, sideways } from './browser.mjs';
import { Daemon, skip } from './daemon.mjs';

let daemon;
let browser;
let seat;

before(async () => {
  if (skip) return;
  daemon = await Daemon.start();
  browser = await launch();
  seat = await open(browser, await daemon.login(), { allow: ['400 (Bad Request)'] });
  await seat.page.locator('.live.open').waitFor();
});

after(async () => {
  if (skip) return;
  await browser.close();
  await daemon.stop();
});

async function submit(text, more) {
  const { id } = await daemon.api('POST', '/experiments', {
    experiment: { name: 'changes', script: 'a.py', resources: { backend: 'local' }, pass: 'env', ...more },
    files: [{ path: 'a.py', text }],
  });
  return id;
}

// The loss is best for the first task, the score for the last.
const TWO = `import os
n = float(os.environ["SLUICE_PARAM_N"])
for epoch in (1, 2):
    print(f"epoch {epoch} loss {n / epoch} score {n * epoch}")
`;

test('the objective is changed among what was recorded, and everything on the page follows', {
  skip,
  timeout: 300000,
}, async () => {
  const { page, troubles } = seat;
  const id = await submit(TWO, { parameters: { n: [1, 2, 3] }, objective: 'loss' });
  await daemon.cli('watch', id);
  await page.goto(`${daemon.url}/e/${id}`);
  await page.getByRole('img', { name: /^loss for 3 tasks/ }).waitFor();
  const change = page.getByRole('button', { name: 'Change the search…' });
  const dialog = page.getByRole('dialog', { name: 'Change the search' });
  await change.click();
  const objective = dialog.getByLabel('Objective');
  assert.equal(await objective.inputValue(), 'loss');
  assert.equal(await dialog.getByLabel('Goal').inputValue(), 'min');
  assert.deepEqual(await objective.locator('option').allInnerTexts(), ['loss', 'score', 'time', 'energy']);
  await objective.selectOption('score');
  assert.equal(await dialog.getByLabel('Goal').inputValue(), '');
  await dialog.getByText('All tasks are ranked again by this, also those that have ended').waitFor();
  for (const size of [SIZES.desk, { width: 1024, height: 768 }, SIZES.phone])
    for (const theme of ['light', 'dark']) {
      await page.setViewportSize(size);
      await page.emulateMedia({ colorScheme: theme });
      assert.ok((await sideways(page)) <= 0, `scrolls sideways at ${size.width}`);
      assert.deepEqual(await audit(page), [], `${size.width} ${theme}`);
    }
  await page.setViewportSize(SIZES.desk);
  await page.emulateMedia({ colorScheme: 'light' });
  await dialog.getByRole('button', { name: 'Change it' }).click();
  await page.getByText('Changed: 3 tasks in all, and nothing is left to run.').waitFor();
  await page.getByRole('img', { name: /^score for 3 tasks/ }).waitFor();
  const { objective: now, best: daemons } = await daemon.api('GET', `/experiments/${id}`);
  assert.deepEqual(now, [{ metric: 'score', goal: 'max' }]);
  assert.deepEqual([daemons.task, daemons.value], [3, 6]);
  // Table, strip, front and best so far: all by the new one.
  await page.locator('tr[data-row="3"]').getByText('6', { exact: true }).waitFor();
  await page.getByRole('link', { name: '#3' }).first().waitFor();
  await page.getByRole('region', { name: 'Result against time' }).getByText('score').first().waitFor();
  assert.deepEqual(troubles.splice(0), []);
});

test('a second objective keeps a limit, a wrong choice is said at its field, and another tab follows the command line', {
  skip,
  timeout: 300000,
}, async () => {
  const { page, troubles } = seat;
  const id = await submit(TWO, {
    parameters: { n: [1, 2, 3] },
    objective: [
      { metric: 'loss', goal: 'min' },
      { metric: 'score', at_most: 100 },
    ],
  });
  await daemon.cli('watch', id);
  await page.goto(`${daemon.url}/e/${id}`);
  await page.getByRole('button', { name: 'Change the search…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Change the search' });
  await dialog.getByRole('button', { name: 'Add an objective' }).click();
  await dialog.getByRole('button', { name: 'Change it' }).click();
  await dialog.locator('#c-metric-1-e').waitFor();
  await dialog.getByLabel('Objective 2', { exact: true }).selectOption('time');
  await dialog.getByRole('button', { name: 'Change it' }).click();
  await dialog.waitFor({ state: 'detached' });
  const shown = await daemon.api('GET', `/experiments/${id}`);
  assert.deepEqual(
    shown.objective.map((o) => [o.metric, o.goal]),
    [
      ['loss', 'min'],
      ['time', 'min'],
    ],
  );
  assert.deepEqual(shown.limits, [{ metric: 'score', at_most: 100 }]);
  // From elsewhere: the open page has the other curves by itself.
  await daemon.cli('change', id, '--objective', 'score');
  await page.getByRole('img', { name: /^score for 3 tasks/ }).waitFor();
  await page.locator('tr[data-row="3"]').getByText('6', { exact: true }).waitFor();
  assert.deepEqual(troubles.splice(0), []);
});

test('the warning that all tasks gave the same counts on while the page is open', {
  skip,
  timeout: 300000,
}, async () => {
  const { page, troubles } = seat;
  const gate = path.join(daemon.state, 'go');
  const id = await submit(
    `import os, time\nn = int(os.environ["SLUICE_PARAM_N"])\nwhile n > 3 and not os.path.exists("${gate}"):\n    time.sleep(0.1)\nprint("epoch 1 loss 1")\n`,
    { parameters: { n: [1, 2, 3, 4, 5] }, objective: 'loss' },
  );
  await page.goto(`${daemon.url}/e/${id}`);
  await page.getByText('All 3 tasks gave exactly the same loss').waitFor();
  await writeFile(gate, '');
  await page.getByText('All 5 tasks gave exactly the same loss').waitFor();
  assert.equal(await page.getByText('gave exactly the same').count(), 1);
  assert.deepEqual(troubles.splice(0), []);
});

test('commands are code beside the list and in errors, and plain in tooltips', { skip, timeout: 300000 }, async () => {
  const { page, troubles } = seat;
  const id = await submit('import sys\nprint("no metric here")\n', { parameters: { n: [1, 2] }, objective: 'loss' });
  await daemon.cli('watch', id).catch(() => undefined);
  await page.goto(`${daemon.url}/`);
  await page.locator(`tr[data-row="${id}"]`).waitFor();
  const ticks = () =>
    page.evaluate(() => {
      const words = [...document.querySelectorAll('main *')].flatMap((one) => [
        ...['title', 'aria-label'].map((name) => one.getAttribute(name) ?? ''),
        ...[...one.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data),
      ]);
      return words.filter((text) => text.includes('`'));
    });
  const paused = await submit('raise ValueError("broken")\n', { parameters: { n: [1, 2, 3, 4, 5, 6] } });
  const attention = page.getByRole('region', { name: 'Needs attention' });
  await attention.getByText('Paused:').first().waitFor();
  assert.ok((await attention.locator('code').count()) > 0);
  assert.deepEqual(await ticks(), []);
  for (const where of [`/e/${paused}`, `/e/${id}`, `/e/${id}/1`, '/queue', '/cluster']) {
    await page.goto(daemon.url + where);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.locator('.card').first().waitFor();
    assert.deepEqual(await ticks(), [], where);
  }
  await page.goto(`${daemon.url}/new`);
  await page.getByRole('tab', { name: 'YAML' }).click();
  await page.getByLabel('Experiment file').fill('command: [python3, train.py]\nresources: {options: ["--mem 4G"]}\n');
  await page
    .getByText(/To correct|thing to correct/)
    .first()
    .waitFor();
  assert.deepEqual(await ticks(), []);
  await page.getByRole('button', { name: 'Clear', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Clear' }).click();
  assert.deepEqual(troubles.splice(0), []);
});

test('on a phone a message leaves the bar and what is below free, and sessions can be ended', {
  skip,
  timeout: 300000,
}, async () => {
  const phone = await open(browser, await daemon.login(), { size: 'phone', theme: 'dark' });
  const { page } = phone;
  await page.locator('.live.open').waitFor();
  const inside = async (one) => {
    const box = await one.boundingBox();
    return box.x >= 0 && box.x + box.width <= SIZES.phone.width;
  };
  // What a finger at the middle of the control would touch.
  const free = (one) =>
    one.evaluate((control) => {
      const { x, y, width, height } = control.getBoundingClientRect();
      return control.contains(document.elementFromPoint(x + width / 2, y + height / 2));
    });
  await page.goto(`${daemon.url}/settings`);
  const end = page.getByRole('button', { name: /^End session/ }).first();
  await end.waitFor();
  assert.ok(await inside(end), 'End is in the view');
  await page.getByRole('button', { name: 'Create token' }).waitFor();
  await page.getByLabel('Name of the new token').fill('x');
  await page.getByRole('button', { name: 'Create token' }).click();
  const revoke = page.getByRole('button', { name: /^Revoke/ });
  await revoke.waitFor();
  assert.ok(await inside(revoke), 'Revoke is in the view');
  const id = await submit(TWO, { parameters: { n: [1, 2, 3] }, objective: 'loss' });
  await daemon.cli('watch', id);
  await page.goto(`${daemon.url}/e/${id}/1`);
  const bottom = page.locator('.btns.bottom-phone .btn:visible').first();
  await bottom.waitFor();
  await page.getByRole('button', { name: /^Copy/ }).first().click();
  await page.locator('.toast').waitFor();
  assert.ok(await free(bottom), 'the bar is free');
  await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
  const box = await page.evaluate(() => {
    const all = [...document.querySelectorAll('main .card a, main .card button, main .card summary')].filter(
      (one) => one.offsetParent && !one.closest('.bottom-phone'),
    );
    const low = all.map((one) => one.getBoundingClientRect()).sort((a, b) => b.bottom - a.bottom)[0];
    return { control: low.bottom, toast: document.querySelector('.toast').getBoundingClientRect().top };
  });
  assert.ok(box.control <= box.toast, `${box.control} is below ${box.toast}`);
  assert.ok((await sideways(page)) <= 0);
  assert.deepEqual(await audit(page), []);
  assert.deepEqual(phone.troubles, []);
  await phone.context.close();
});

test('the command to sign in again lies inside its card and can be copied', { skip, timeout: 300000 }, async () => {
  const own = await open(browser, await daemon.login(), { allow: ['401'] });
  const { page, context } = own;
  await page.locator('.live.open').waitFor();
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto(`${daemon.url}/settings`);
  const row = page.getByRole('row').filter({ hasText: '(this one)' });
  await row.getByRole('button', { name: /^End/ }).click();
  await page.getByRole('heading', { name: /sign in again|not signed in/i }).waitFor();
  for (const size of [SIZES.desk, { width: 1024, height: 768 }, SIZES.phone]) {
    await page.setViewportSize(size);
    const [card, code] = [await page.locator('.signin').boundingBox(), await page.locator('.signin pre').boundingBox()];
    assert.ok(code.x >= card.x && code.x + code.width <= card.x + card.width, `${size.width}`);
    const cut = await page.locator('.signin pre').evaluate((one) => one.scrollWidth - one.clientWidth);
    assert.ok(cut <= 0, `${size.width}: ${cut} px of the command are cut off`);
  }
  await page.getByRole('button', { name: 'Copy the command' }).click();
  await page.getByText('Copied.').waitFor();
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /sluice'? login$/);
  assert.deepEqual(await audit(page), []);
  await context.close();
});
