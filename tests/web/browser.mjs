// The browser of the tests: Debian's Chromium by playwright-core, and pages that fail on any console error, CSP
// report or request to another origin.
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

// The packages live with the dashboard's sources; these tests stand beside all the other tests.
const web = path.join(path.dirname(fileURLToPath(import.meta.url)), '../../web/');
const need = createRequire(web);
const { chromium } = need('playwright-core');
export const AXE = need.resolve('axe-core/axe.min.js');

const ARGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

// Until something is taken to be missing: a page that takes half a second takes ten on a machine with much else to do.
export const PATIENCE_MS = Number(process.env.PATIENCE_MS ?? 60000);

export async function launch() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ARGS,
    timeout: PATIENCE_MS,
  });
}

export const SIZES = { desk: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } };

// Opens a page whose `troubles` must be empty at the end. `allow` names console texts a test provokes on purpose.
export async function open(browser, url, { theme = 'light', size = 'desk', allow = [], storage } = {}) {
  const context = await browser.newContext({
    viewport: SIZES[size] ?? size,
    colorScheme: theme,
    reducedMotion: 'reduce',
    timezoneId: 'UTC',
    locale: 'en-GB',
    storageState: storage,
  });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const troubles = [];
  const origin = new URL(url).origin;
  const note = (text) => {
    if (!allow.some((part) => text.includes(part))) troubles.push(text);
  };
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning')
      note(`console ${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => note(`exception: ${error.stack ?? error}`));
  context.on('request', (request) => {
    const at = new URL(request.url());
    if (at.origin !== origin && at.protocol !== 'data:' && at.protocol !== 'blob:')
      note(`request to another origin: ${request.url()}`);
  });
  await page.goto(url);
  // A page that is left before the link is answered is not signed in. It is drawn after that.
  if (url.includes('#login=')) await page.locator('#app > *').first().waitFor({ state: 'attached' });
  return { page, context, troubles };
}

// What was rendered is drawn, and what waits for that (shortcuts, observers) is in place.
export async function drawn(page) {
  await page.evaluate(
    () =>
      new Promise((done) => {
        requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)));
      }),
  );
}

// All parts of an experiment's page have come, for tests that point at places in it: they move until then.
export async function whole(page) {
  await page.getByRole('img', { name: /^val_loss for \d+ tasks/ }).waitFor();
  await page.getByRole('region', { name: 'Importance of the parameters' }).waitFor();
  await page
    .getByRole('region', { name: 'Search' })
    .getByText(/^\d+ of \d+$/)
    .waitFor();
  await drawn(page);
}

// Waits for what only this side can see.
export async function until(what) {
  for (const end = Date.now() + PATIENCE_MS; !what() && Date.now() < end; )
    await new Promise((done) => {
      setTimeout(done, 50);
    });
}

let axeSource;

// What axe-core objects to, in one line each. Evaluated through the debugger, which the page's CSP does not concern.
export async function audit(page) {
  const { readFile } = await import('node:fs/promises');
  axeSource ??= await readFile(AXE, 'utf8');
  await page.evaluate(axeSource);
  const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
  return found.violations.map(
    (v) =>
      `${v.id} (${v.impact}): ${v.help}: ${v.nodes
        .slice(0, 3)
        .map((n) => `${n.target.join(' ')} ${n.any?.[0]?.message ?? ''}`)
        .join(' | ')}`,
  );
}

// Wider than the window means scrolling sideways, which no page may need.
export async function sideways(page) {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}
