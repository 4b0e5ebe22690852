// GPUs of this machine on the pages, against the real daemon and its real reader of samples: only the driver is played,
// by a library with one card (tests/nvml) and by an nvidia-smi that lists it. SLUICE_BIN names the program.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { audit, launch, open } from './browser.mjs';
import { Daemon, skip as noDaemon } from './daemon.mjs';

const ROOT = path.join(path.dirname(fileURLToPath(import.meta.url)), '../..');
const WATTS = 250;
const SLICE = 'MIG-c6d4f1ef-42e4-5de3-91c7-45d71c87eb3f';
const SCRIPT = `import time
for epoch in range(600):
    print(f"epoch={epoch} loss={1 / (epoch + 1)}", flush=True)
    time.sleep(0.5)
`;

function compiler() {
  for (const name of ['cc', 'gcc', 'clang'])
    try {
      execFileSync(name, ['--version'], { stdio: 'ignore' });
      return name;
    } catch {
      // the next one
    }
  return null;
}
const cc = compiler();
const skip = noDaemon || (cc ? false : 'no C compiler here');

let folder;
let browser;

before(async () => {
  if (skip) return;
  folder = await mkdtemp(path.join(os.tmpdir(), 'sluice-gpu-'));
  await mkdir(path.join(folder, 'bin'));
  execFileSync(cc, [
    ...['-shared', '-fPIC', '-D_GNU_SOURCE', `-I${ROOT}/src`],
    ...[`${ROOT}/tests/nvml/fake_nvml.c`, '-o', `${folder}/libfake.so`],
  ]);
  browser = await launch();
});

after(async () => {
  if (skip) return;
  await browser.close();
  await rm(folder, { recursive: true, force: true });
});

// A daemon on a machine with one card, as far as it can tell, with a task that runs on it. `slices`: what -L lists.
async function withGpu(card, slices, look) {
  const smi = path.join(folder, 'bin/nvidia-smi');
  const list = slices ? `echo 'GPU 0: ${card} (UUID: GPU-1)'; echo '  ${slices}'` : 'exit 1';
  const answer = `echo '0, GPU-11112222-3333, 40960, ${card}'`;
  await writeFile(smi, `#!/bin/sh\ncase "$*" in *index,uuid*) ${answer};; -L) ${list};; *) exit 1;; esac\n`);
  await chmod(smi, 0o755);
  const daemon = await Daemon.start({
    PATH: `${folder}/bin:${process.env.PATH}`,
    SLUICE_NVML: `${folder}/libfake.so`,
    FAKE_NVML_WATTS: String(WATTS),
    CUDA_VISIBLE_DEVICES: undefined,
  });
  try {
    const { id } = await daemon.api('POST', '/experiments', {
      experiment: { name: 'on the card', script: 'a.py', parameters: { n: [1, 2] }, resources: { gpus: 1 } },
      files: [{ path: 'a.py', text: SCRIPT }],
    });
    const seat = await open(browser, await daemon.login());
    await look(seat.page, daemon, id);
    assert.deepEqual(seat.troubles, []);
    await daemon.api('POST', `/experiments/${id}/stop`, {});
    await daemon.cli('watch', id).catch(() => undefined);
    await seat.context.close();
  } finally {
    await daemon.stop();
  }
}

test('a card has the task that uses it, with the newest sample, here and on the page of the task', { skip }, () =>
  withGpu('Fake GPU', null, async (page, daemon, id) => {
    await page.goto(`${daemon.url}/cluster`);
    const row = page.getByRole('region', { name: 'local' }).getByRole('row', { name: /Fake GPU/ });
    await row.getByText(`37 %, 1.0 GB, ${WATTS} W`).waitFor();
    await row.getByRole('link', { name: `${id}/1` }).waitFor();
    await row.getByText('40 GB').waitFor();
    // One card: the other task waits for it, and the page says so.
    await page.goto(`${daemon.url}/queue`);
    const slots = page.getByRole('region', { name: 'Slots of this machine' });
    await slots
      .getByRole('row', { name: /Fake GPU/ })
      .getByRole('link', { name: `${id}/1` })
      .waitFor();
    const queue = page.getByRole('region', { name: 'Our queue' });
    await queue.getByText(/GPU/).first().waitFor();
    assert.deepEqual(await audit(page), []);
    await page.goto(`${daemon.url}/e/${id}/1`);
    const use = page.getByRole('region', { name: 'Use over time' });
    await use.getByText('GPU 0').first().waitFor();
    await use.getByText(/W\b/).first().waitFor();
    assert.deepEqual(await audit(page), []);
  }),
);

test('a slice of a card is a GPU of its own, with its task', { skip }, () =>
  withGpu('NVIDIA A100', `MIG 3g.20gb  Device  0: (UUID: ${SLICE})`, async (page, daemon, id) => {
    await page.goto(`${daemon.url}/cluster`);
    const row = page.getByRole('region', { name: 'local' }).getByRole('row', { name: /NVIDIA A100 MIG 3g\.20gb/ });
    await row.getByRole('link', { name: `${id}/1` }).waitFor();
    await row.getByText('20 GB').first().waitFor();
    assert.deepEqual(await audit(page), []);
  }),
);
