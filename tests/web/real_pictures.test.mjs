// The pictures of README and docs/tour.md: real tasks, the real daemon, a real browser. They are written to
// build/pictures; `make screenshots` runs this and copies them to docs/images.
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { drawn, launch, open, whole } from './browser.mjs';
import { Daemon, skip } from './daemon.mjs';
import { withPalette } from './palette.mjs';

const OUT = path.join(path.dirname(fileURLToPath(import.meta.url)), '../../build/pictures');
const MOST_BYTES = 150 * 1024;

// A training in miniature: a curve that depends on its parameters, and one choice that fails.
const TRAIN = `#!/bin/sh
for a; do case $a in --lr=*) lr=\${a#*=};; --hidden=*) h=\${a#*=};; --optimizer=*) o=\${a#*=};; esac; done
[ "$o$h" = sgd128 ] && { echo "Traceback (most recent call last):" >&2
echo "ValueError: hidden=128 needs momentum with sgd" >&2; exit 1; }
exec awk -v lr="$lr" -v h="$h" -v o="$o" 'BEGIN {
	best = 0.18 + 0.09 * (log(lr / 0.006) / log(10)) ^ 2 + 1.6 / h + (o == "sgd" ? 0.05 : 0)
	for (e = 1; e <= 40; e++) {
		loss = best + exp(-e * (0.05 + lr * 3)) + 0.012 * sin(e * 2.1 + h) + (e > 28 ? (e - 28) * lr * 0.1 : 0)
		printf "epoch %d loss %.4f val_loss %.4f val_acc %.4f\\n", e, loss * 0.9, loss, 1 - loss / 2
	}
}'
`;
const SCRIPT = `import argparse, csv
p = argparse.ArgumentParser()
p.add_argument("--lr", type=float, default=0.001, help="learning rate")
p.add_argument("--batch_size", type=int, default=64)
p.add_argument("--optimizer", choices=["adam", "sgd"], default="adam")
a = p.parse_args()
with open("log.csv", "w") as f:
    log = csv.writer(f)
    log.writerow(["epoch", "loss", "val_loss"])
`;

let daemon;
let browser;
let blank;
let id;

before(async () => {
  if (skip) return;
  daemon = await Daemon.start();
  browser = await launch();
  blank = await (await browser.newContext()).newPage();
  await mkdir(OUT, { recursive: true });
  const space = { hidden: [16, 32, 64, 128], optimizer: ['adam', 'sgd'] };
  const send = (name, parameters, more) =>
    daemon.api('POST', '/experiments', {
      experiment: {
        name,
        script: 'train.sh',
        parameters,
        objective: { metric: 'val_loss', goal: 'min' },
        resources: { backend: 'local' },
        ...more,
      },
      files: [{ path: 'train.sh', text: TRAIN }],
    });
  await send('baseline', { lr: 0.01, ...space });
  id = (
    await send(
      'digits-mlp',
      { lr: { min: 1e-4, max: 0.1, scale: 'log' }, ...space },
      { search: { strategy: 'random', tasks: 32, seed: 7 }, description: 'How much does the learning rate matter?' },
    )
  ).id;
  for (const one of ['e1', id]) await daemon.cli('watch', one).catch(() => undefined);
});

after(async () => {
  await browser?.close();
  await daemon?.stop();
});

async function keep(page, name, height = 800) {
  await page.mouse.move(5, 895);
  await drawn(page);
  const bytes = await withPalette(await page.screenshot({ clip: { x: 0, y: 0, width: 1280, height } }), blank);
  assert.ok(bytes.length < MOST_BYTES, `${name}.png has ${bytes.length} bytes`);
  await writeFile(path.join(OUT, `${name}.png`), bytes);
}

test('the pages of the documentation are what the program shows', { skip, timeout: 300000 }, async () => {
  const light = await open(browser, await daemon.login(), { size: { width: 1280, height: 800 } });
  const { page } = light;
  await page.getByText('digits-mlp').first().waitFor();
  await keep(page, 'list', 500);
  await page.goto(`${daemon.url}/e/${id}`);
  await whole(page);
  await page.locator('section[aria-labelledby="importance"] .meter, [role=meter]').first().waitFor();
  await keep(page, 'experiment');
  await page.locator('section[aria-labelledby="configs"]').scrollIntoViewIfNeeded();
  const tasks = await daemon.api('GET', `/experiments/${id}/tasks?limit=100`);
  const of = (state) => tasks.items.filter((t) => t.state === state).map((t) => t.number);
  await page.goto(`${daemon.url}/e/${id}/${of('error')[0]}`);
  await page.getByText('ValueError: hidden=128 needs momentum with sgd').first().waitFor();
  await keep(page, 'task');
  await page.goto(`${daemon.url}/e/${id}/compare?tasks=${of('finished').slice(0, 3).join()}`);
  await page.getByText('Compare 3 tasks').first().waitFor();
  await page.locator('.plot-base').first().waitFor();
  await keep(page, 'compare');
  await page.goto(`${daemon.url}/new`);
  await page
    .locator('#script')
    .setInputFiles({ name: 'train.py', mimeType: 'text/x-python', buffer: Buffer.from(SCRIPT) });
  await page.getByText('3 arguments found').waitFor();
  await page.getByRole('region', { name: 'Command of the first task' }).waitFor();
  await page.getByText('Submit 2 tasks').first().waitFor();
  await keep(page, 'form');
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto(`${daemon.url}/e/${id}?show=scatter`);
  await whole(page);
  await page
    .getByLabel(/ against .* for \d+ tasks/)
    .first()
    .waitFor();
  await keep(page, 'experiment-dark');
  assert.deepEqual(light.troubles, []);
  await light.context.close();
});
