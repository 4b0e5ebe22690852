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
const common = {
  absWorkingDir: root,
  outdir: dist,
  bundle: true,
  minify: true,
  format: 'esm',
  target: ['es2022', 'chrome105', 'firefox110', 'safari16'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'none',
  logLevel: 'warning',
};
// What a page does not need at once becomes a part of its own (part-NAME-HASH.js).
const made = await build({
  ...common,
  entryPoints: [
    { in: 'src/main.tsx', out: 'app' },
    { in: 'src/style/app.css', out: 'app' },
  ],
  splitting: true,
  chunkNames: 'part-[name]-[hash]',
  metafile: true,
});
// The worker and the library of the form are whole files.
await build({
  ...common,
  entryPoints: [
    { in: 'src/data/stream-worker.ts', out: 'stream' },
    { in: 'src/data/yaml-library.ts', out: 'yaml' },
  ],
});
// A second pass by terser takes another 4 % off what travels.
for (const name of (await readdir(dist)).filter((file) => file.endsWith('.js'))) {
  const file = path.join(dist, name);
  const { code } = await minify(await readFile(file, 'utf8'), {
    module: true,
    ecma: 2022,
    compress: { passes: 3, ecma: 2022, unsafe_arrows: true, pure_getters: true },
    mangle: { toplevel: true },
  });
  await writeFile(file, code);
}
await cp(path.join(root, 'favicon.svg'), path.join(dist, 'favicon.svg'));

// What app.js cannot start without, however far away; the rest is loaded when it is needed.
function needed(file, into = new Set()) {
  if (into.has(file)) return into;
  into.add(file);
  for (const one of made.metafile.outputs[`dist/${file}`].imports)
    if (one.kind === 'import-statement' && !one.external) needed(path.basename(one.path), into);
  return into;
}
const first = needed('app.js');
// Without these links the browser would see the parts only after it has read app.js: one more way there and back.
const links = [...first]
  .filter((file) => file !== 'app.js')
  .map((file) => `<link rel="modulepreload" href="./${file}">`);
// The page at /e/e1/7 finds its files two folders up, whatever a proxy puts before its address: one page a depth.
// Addresses that mean nothing are the page too, which says so; deeper ones than these are an error of the daemon.
const DEPTHS = 8;
const source = await readFile(path.join(root, 'index.html'), 'utf8');
const page = source.replace('</head>', `${links.join('')}</head>`);
for (let depth = 0; depth < DEPTHS; depth++) {
  const up = '../'.repeat(depth) || './';
  await writeFile(path.join(dist, `index${depth || ''}.html`), page.replaceAll('="./', `="${up}`));
}
const FIRST = ['index.html', 'favicon.svg', 'app.css', 'stream.js', ...first];
let total = 0;
for (const name of (await readdir(dist)).sort()) {
  const bytes = await readFile(path.join(dist, name));
  const gz = gzipSync(bytes, { level: 9 }).length;
  if (FIRST.includes(name)) total += gz;
  console.log(`${name.padEnd(26)}${String(bytes.length).padStart(9)} bytes${String(gz).padStart(9)} gzipped`);
}
console.log(`${'first page'.padEnd(26)}${''.padStart(15)}${String(total).padStart(9)} of ${BUDGET}`);
if (total > BUDGET) {
  console.error(
    `web: ${total} bytes gzipped is above the budget of ${BUDGET}. Remove something, or argue for more in docs/internals/web.md.`,
  );
  process.exit(1);
}
