// Bundles the dashboard into dist/ and refuses to grow past the budget: the files are embedded in the
// program and travel through ssh tunnels, so a user waits for every kilobyte.

import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { minify } from 'terser';
import { makeTypes } from './make-types.mjs';

await makeTypes();

// What the first page loads, gzipped. 120 kB is a second on a slow line (1 Mbit/s), once: afterwards it is cached.
const BUDGET = 120_000;
const root = path.dirname(fileURLToPath(import.meta.url));
const dist = path.join(root, 'dist');

await rm(dist, { recursive: true, force: true });
await mkdir(dist, { recursive: true });
await build({
  absWorkingDir: root,
  entryPoints: [
    { in: 'src/main.tsx', out: 'app' },
    { in: 'src/style/app.css', out: 'app' },
    { in: 'src/data/stream-worker.ts', out: 'stream' },
  ],
  outdir: dist,
  bundle: true,
  minify: true,
  format: 'esm',
  target: ['es2022', 'chrome105', 'firefox110', 'safari16'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'none',
  logLevel: 'warning',
});
// A second pass by terser takes another 4 % off what travels.
for (const name of ['app.js', 'stream.js']) {
  const file = path.join(dist, name);
  const { code } = await minify(await readFile(file, 'utf8'), {
    module: true,
    ecma: 2022,
    compress: { passes: 3, ecma: 2022, unsafe_arrows: true, pure_getters: true },
    mangle: { toplevel: true },
  });
  await writeFile(file, code);
}
for (const name of ['index.html', 'favicon.svg']) await cp(path.join(root, name), path.join(dist, name));

let total = 0;
for (const name of (await readdir(dist)).sort()) {
  const bytes = await readFile(path.join(dist, name));
  const gz = gzipSync(bytes, { level: 9 }).length;
  total += gz;
  console.log(`${name.padEnd(14)}${String(bytes.length).padStart(9)} bytes${String(gz).padStart(9)} gzipped`);
}
console.log(`${'total'.padEnd(14)}${''.padStart(15)}${String(total).padStart(9)} of ${BUDGET}`);
if (total > BUDGET) {
  console.error(
    `web: ${total} bytes gzipped is above the budget of ${BUDGET}. Remove something, or argue for more in docs/internals/web.md.`,
  );
  process.exit(1);
}
