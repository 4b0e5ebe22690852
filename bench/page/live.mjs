// Ten tasks report each second while the page shows an experiment with many; then an hour of such reports as fast as
// they go. Prints what the page took of the main thread and of memory. Called by run; see README.md.
import { execFileSync } from 'node:child_process';
import http from 'node:http';
import { launch } from '../../tests/web/browser.mjs';

const config = JSON.parse(process.env.PAGE_BENCH);
const REPORTING = 10;
const SECONDS = 20;
const HOUR = Number(process.env.BENCH_STEPS ?? 3600);
const LAP = 600;
const agent = new http.Agent({ keepAlive: true, maxSockets: REPORTING });

function post(route, body) {
  return new Promise((done, fail) => {
    const headers = { Host: 'localhost', 'Content-Type': 'application/json' };
    const to = { agent, socketPath: config.socket, path: `/api/v1${route}`, method: 'POST', headers };
    const request = http.request(to, async (answer) => {
      let text = '';
      for await (const piece of answer) text += piece;
      if (answer.statusCode < 300) done(JSON.parse(text));
      else fail(new Error(`${route}: ${answer.statusCode} ${text}`));
    });
    request.on('error', fail);
    request.end(JSON.stringify(body));
  });
}

const base = `/experiments/${config.manyId}`;
const tasks = [];
for (let i = 0; i < REPORTING; i++) tasks.push((await post(`${base}/ask`, {})).number);
// Each falls from 1.2 to below the best of the others, so it comes into the charts on the way.
const report = (step) =>
  Promise.all(
    tasks.map((n, i) => {
      const values = { val_loss: 0.19 + Math.exp(-step / 40) + 0.001 * i };
      return post(`${base}/tasks/${n}/tell`, { values, step, more: true });
    }),
  );

const browser = await launch();
const page = await (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage();
const cdp = await page.context().newCDPSession(page);
await cdp.send('Network.enable');
await cdp.send('Performance.enable', { timeDomain: 'threadTicks' });
let bytes = 0;
cdp.on('Network.loadingFinished', (event) => {
  bytes += event.encodedDataLength;
});
await page.goto(execFileSync(config.bin, ['login'], { encoding: 'utf8' }).match(/http\S+#login=\S+/)[0]);
await page.getByText('Live', { exact: true }).waitFor();
await page.goto(config.apps.sluice.many);
await page.locator('[data-row]').first().waitFor();
await page.waitForTimeout(3000);

async function now() {
  await cdp.send('HeapProfiler.collectGarbage');
  const { metrics } = await cdp.send('Performance.getMetrics');
  const of = (name) => metrics.find((m) => m.name === name).value;
  const heap = (await cdp.send('Runtime.getHeapUsage')).usedSize / 1e6;
  return { busy: of('TaskDuration') * 1000, nodes: of('Nodes'), heap };
}

let step = 0;
let before = await now();
bytes = 0;
for (; step < SECONDS; step++) {
  const start = Date.now();
  await report(step);
  await page.waitForTimeout(Math.max(0, 1000 - (Date.now() - start)));
}
let after = await now();
const share = ((after.busy - before.busy) / SECONDS).toFixed(0);
const line = `${REPORTING} of ${config.many + REPORTING} tasks report each second`;
console.log(`\n${line}: ${share} ms of the main thread and ${(bytes / SECONDS / 1e3).toFixed(0)} kB a second`);
console.log(`heap ${before.heap.toFixed(1)} MB, after ${SECONDS} reports ${after.heap.toFixed(1)} MB`);
while (step < HOUR) {
  for (const end = Math.min(HOUR, step + LAP); step < end; step++) await report(step);
  await page.waitForTimeout(2500);
  before = after;
  after = await now();
  const took = `main thread ${(after.busy - before.busy).toFixed(0)} ms`;
  console.log(`after ${step} reports of each: ${after.heap.toFixed(1)} MB, ${after.nodes} nodes, ${took}`);
}
await browser.close();
agent.destroy();
