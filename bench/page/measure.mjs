// Opens the same tasks in sluice, optuna-dashboard and TensorBoard, one after the other in one browser, and prints what
// each took. Called by run with the addresses; see README.md.
import { execFileSync } from 'node:child_process';
import { launch } from '../../tests/web/browser.mjs';

const config = JSON.parse(process.env.PAGE_BENCH);
const PATIENCE_MS = Number(process.env.BENCH_PATIENCE_S ?? 120) * 1000;

// What a page must show. Text of code, because it runs in the page.
const READY = {
  sluice: {
    curves: `document.querySelector('.plot-base') && /for \\d+ tasks/.test(document.querySelector('.plot')?.getAttribute('aria-label') ?? '')`,
    // All rows on the screen are drawn at once.
    rows: `document.querySelectorAll('[data-row]').length >= 5`,
  },
  'optuna-dashboard': {
    // Whichever comes first: a curve for each trial, or the history with a point for each.
    curves: `[...document.querySelectorAll('.js-plotly-plot')].some((p) => (p.data ?? []).length >= ${config.tasks} || (p.data?.[0]?.x ?? []).length >= ${config.tasks})`,
    rows: `[...document.querySelectorAll('.js-plotly-plot')].some((p) => (p.data?.[0]?.x ?? []).length >= ${config.many})`,
  },
  TensorBoard: {
    // The table below the chart has a row for each curve that is drawn.
    curves: `[...document.querySelectorAll('tb-data-table')].some((t) => /task00001\\s*0\\.\\d+/.test(t.textContent)) && !!document.querySelector('line-chart canvas, line-chart path')`,
    rows: `(() => { const all = (n) => [n, ...(n.shadowRoot ? all(n.shadowRoot) : []), ...[...n.children].flatMap(all)]; return all(document.body).some((n) => n.childElementCount === 0 && /^0\\.\\d{4,}$/.test((n.textContent ?? '').trim())); })()`,
  },
};

const browser = await launch();

// A page with nothing in its cache: bytes, time until it shows what it should, heap, and time of the main thread.
async function visit(name, url, ready, after) {
  // The conditions are texts, which a page of ours may not evaluate.
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, bypassCSP: true });
  const page = await context.newPage();
  const cdp = await context.newCDPSession(page);
  await cdp.send('Network.enable');
  // Signing in has loaded the app already; the visit that counts loads it again.
  await cdp.send('Network.setCacheDisabled', { cacheDisabled: true });
  // What the main thread computes, not how long other programs kept it waiting.
  await cdp.send('Performance.enable', { timeDomain: 'threadTicks' });
  let bytes = 0;
  cdp.on('Network.loadingFinished', (event) => {
    bytes += event.encodedDataLength;
  });
  if (name === 'sluice') await signIn(page);
  bytes = 0;
  const start = Date.now();
  await page.goto(url, { waitUntil: 'commit' });
  const seen = async (what, ms = PATIENCE_MS) => {
    try {
      await page.waitForFunction(what, undefined, { timeout: ms, polling: 50 });
      return true;
    } catch {
      return false;
    }
  };
  const shown = await seen(ready);
  const out = { time: shown ? Date.now() - start : null };
  // What still comes belongs to the page, too.
  await page.waitForTimeout(3000);
  out.bytes = bytes;
  await cdp.send('HeapProfiler.collectGarbage');
  out.heap = (await cdp.send('Runtime.getHeapUsage')).usedSize;
  out.main = await busy(cdp);
  if (after && shown) Object.assign(out, await after({ page, cdp, seen }));
  await context.close();
  // What a page took that does not show its curves is no figure to compare with.
  return shown ? out : { time: null, without: out };
}

async function busy(cdp) {
  const { metrics } = await cdp.send('Performance.getMetrics');
  return metrics.find((m) => m.name === 'TaskDuration').value;
}

// A link signs in once; the page keeps the session, and the next address is opened in the same context.
async function signIn(page) {
  await page.goto(execFileSync(config.bin, ['login'], { encoding: 'utf8' }).match(/http\S+#login=\S+/)[0]);
  await page.getByText('Live').waitFor();
  await page.goto('about:blank');
}

// One more task appears while the page is open.
const added = (name, command, text) =>
  async function live({ page, cdp, seen }) {
    const before = await busy(cdp);
    execFileSync(command[0], command.slice(1));
    const start = Date.now();
    const shown = await seen(text);
    return { live: shown ? Date.now() - start : null, liveMain: (await busy(cdp)) - before, page: page && name };
  };

// Typing a filter and pressing a column's head: time of the main thread until the rows are there, and until the charts
// have followed. What is pressed is looked for before, because that search runs in the page.
async function work({ page, cdp, seen }) {
  const out = {};
  const timed = async (key, act, done) => {
    await page.waitForTimeout(1000);
    const before = await busy(cdp);
    const start = Date.now();
    await act();
    if (!(await seen(done, 20000))) return;
    out[`${key}Main`] = (await busy(cdp)) - before;
    out[key] = Date.now() - start;
    await page.waitForTimeout(1500);
    out[`${key}All`] = (await busy(cdp)) - before;
  };
  const foot = `document.querySelector('.table-foot').textContent`;
  const matches = Array.from({ length: config.many }, (_, i) => i + 1).filter((n) => (n % 4) + 1 === 2).length;
  const head = await page.getByRole('columnheader', { name: 'lr' }).getByRole('button').elementHandle();
  await page.getByRole('searchbox', { name: 'Filter tasks' }).focus();
  await timed(
    'filter',
    () => page.keyboard.insertText('layers = 2'),
    `${foot}.includes('of ${matches.toLocaleString('en')} that')`,
  );
  await page.getByRole('searchbox', { name: 'Filter tasks' }).fill('');
  await seen(`${foot}.includes('of ${config.many.toLocaleString('en')} that')`);
  const first = await page.locator('[data-row]').first().getAttribute('data-row');
  await timed(
    'sort',
    () => head.evaluate((button) => button.click()),
    `document.querySelector('[data-row]').dataset.row !== '${first}'`,
  );
  return out;
}

const median = (list) => {
  const there = list.filter((v) => v !== null && v !== undefined).sort((a, b) => a - b);
  return there.length ? there[there.length >> 1] : null;
};

const results = {};
for (let round = 0; round < config.rounds; round++)
  for (const [name, app] of Object.entries(config.apps)) {
    const got = await visit(
      name,
      app.url,
      READY[name].curves,
      app.add && round === 0 ? added(name, app.add, app.added) : null,
    );
    results[name] ??= [];
    results[name].push(got);
    console.error(`${config.tasks} tasks, ${name}: ${JSON.stringify(got)}`);
  }
const large = {};
for (const [name, app] of Object.entries(config.apps)) {
  if (!app.many) continue;
  large[name] = await visit(name, app.many, READY[name].rows, name === 'sluice' ? work : null);
  console.error(`${config.many} tasks, ${name}: ${JSON.stringify(large[name])}`);
}
await browser.close();

const of = (name, key) => median((results[name] ?? []).map((r) => r[key]));
const text = (v, unit) => (v === null || v === undefined ? 'not seen' : `${Math.round(v).toLocaleString('en')} ${unit}`);
const names = Object.keys(config.apps);
const line = (cells) => console.log(`| ${cells.join(' | ')} |`);
const ratio = (values) => {
  const [own, ...others] = values;
  const best = Math.min(...others.filter((v) => v !== null && v !== undefined));
  return own && Number.isFinite(best) ? `${(best / own).toFixed(1)} times` : '–';
};
const row = (label, values, unit, scale = 1) =>
  line([label, ...values.map((v) => text(v === null || v === undefined ? null : v * scale, unit)), ratio(values)]);
line(['', ...names, 'better of the two / sluice']);
line(['---', ...names.map(() => '---:'), '---:']);
const each = (key) => names.map((name) => of(name, key));
row(`${config.tasks} tasks of ${config.points} points: bytes`, each('bytes'), 'kB', 1e-3);
row('time to the curves', each('time'), 'ms');
row('heap after collection', each('heap'), 'kB', 1e-3);
row('main thread', each('main'), 'ms', 1e3);
row('a further task is seen after', each('live'), 'ms');
row('main thread for it', each('liveMain'), 'ms', 1e3);
const big = (key) => names.map((name) => large[name]?.[key] ?? null);
row(`${config.many.toLocaleString('en')} tasks: bytes`, big('bytes'), 'kB', 1e-3);
row('time to the first rows or points', big('time'), 'ms');
row('heap after collection', big('heap'), 'kB', 1e-3);
for (const key of ['filter', 'sort']) {
  const [seen, rows, all] = [large.sluice?.[key], large.sluice?.[`${key}Main`], large.sluice?.[`${key}All`]];
  const ms = (v) => text(v === undefined ? null : v * 1e3, 'ms');
  const cells = [`${text(seen, 'ms')} / ${ms(rows)} / ${ms(all)}`, ...names.slice(1).map(() => '–'), ''];
  line([`${key}: rows seen after / main thread until then / with the charts`, ...cells]);
}
