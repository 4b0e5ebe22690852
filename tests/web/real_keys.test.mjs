// The form and the experiment file, for every key that the daemon knows: what the file says is in a field (or is named
// beside the form), and what is typed in the field is in the file and changes nothing else. The daemon is asked which
// keys there are, so a new one fails here until it is in the table.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { drawn, launch, open } from './browser.mjs';
import { Daemon, skip } from './daemon.mjs';

const yaml = createRequire(path.join(path.dirname(fileURLToPath(import.meta.url)), '../../web/'))('yaml');

// Two values of each key. `with`: what the key needs beside it; `without`: what it replaces;
// `text`: no field, but the page says it.
const KEYS = {
  '': {
    name: ['one', 'two'],
    description: ['about it', 'about another'],
    script: { values: ['b.py', 'c.py'], text: /^([bc]\.py) is not here yet/ },
    // Without the script only what the file says can be chosen.
    subcommand: ['train'],
    command: {
      values: [
        ['python3', 'b.py'],
        ['python3', 'c.py'],
      ],
      without: 'script',
    },
    files: { values: [['b.csv'], ['c.csv']], text: /^([bc]\.csv) is not here yet/ },
    copy_limit: ['32M', '64M'],
    parameters: null,
    constraints: [['n < 100'], ['n < 200']],
    repeats: [2, 3],
    search: null,
    objective: null,
    prune: null,
    stop: null,
    fidelity: null,
    pass: ['flags', 'env'],
    style: { values: ['dash', 'underscore'], with: { pass: 'flags' } },
    separator: { values: ['space'], with: { pass: 'flags' } },
    arguments: null,
    metrics: null,
    environment: null,
    resources: null,
    retry: null,
    checkpoint: null,
    stall: null,
    power: null,
    warm: ['on', 'off'],
  },
  search: {
    strategy: ['random', 'tpe'],
    tasks: { values: [4, 5], with: { search: { strategy: 'random' } } },
    parallel: [2, 3],
    seed: [42, 43],
    duplicates: { values: [true], with: { search: { strategy: 'random', tasks: 4 } } },
    open: { values: [true], with: { resources: { backend: 'external' }, search: { strategy: 'random' } } },
    learn_from: ['none', 'auto'],
  },
  objective: {
    metric: ['loss', 'acc'],
    goal: { values: ['min', 'max'], with: { objective: { metric: 'x' } } },
    take: { values: ['last', 'mean'], with: { objective: { metric: 'x' } } },
    of: { values: [3, 4], with: { objective: { metric: 'x', take: 'mean' } } },
    at_most: { values: [3, 4], with: { objective: { metric: 'x', goal: 'min' } } },
    at_least: { values: [3, 4], with: { objective: { metric: 'x', goal: 'min' } } },
  },
  prune: {
    rule: ['median', 'asha'],
    warmup: { values: [2, 3], with: { prune: { rule: 'median' } } },
    min_tasks: { values: [5, 6], with: { prune: { rule: 'median' } } },
    reduction: { values: [4, 5], with: { prune: { rule: 'asha' } } },
    threshold: { values: [0.5, 0.6], with: { prune: { rule: 'threshold' } } },
  },
  stop: {
    when: { values: ['x > 3', 'x > 4'], with: { objective: 'x' } },
    gpu_hours: [40, 50],
    energy: ['20MJ', '30MJ'],
    wall: ['12h', '13h'],
    failures: [5, 'off'],
  },
  fidelity: {
    parameter: { values: ['epochs', 'steps'], with: { search: { strategy: 'asha' } } },
    min: { values: [1, 2], with: { fidelity: { parameter: 'epochs', max: 9 }, search: { strategy: 'asha' } } },
    max: { values: [8, 9], with: { fidelity: { parameter: 'epochs', min: 1 }, search: { strategy: 'asha' } } },
  },
  metrics: {
    csv: ['a/*.csv', 'b/*.csv'],
    jsonl: ['a/*.jsonl', 'b/*.jsonl'],
    json: ['a/*.json', 'b/*.json'],
    tfevents: ['a/*', 'b/*'],
    log: ['a/*.log', 'b/*.log'],
    pattern: ['x is (?P<x>[0-9.]+)', 'y is (?P<y>[0-9.]+)'],
    from: ['stdout', 'csv'],
  },
  environment: {
    setup: [['true'], ['true', 'export X=1']],
    vars: [{ A: '2' }, { A: '3' }],
    python: ['none', 'auto'],
    modules: ['none', ['cuda']],
    keep: [['WANDB_MODE'], ['WANDB_MODE', 'HF_*']],
  },
  resources: {
    backend: ['local', 'external'],
    gpus: [0, 1],
    share: { values: ['auto'], with: { resources: { gpus: 1 } } },
    gpu_type: ['volta', 'ampere'],
    cpus: [1, 2],
    memory: ['500M', '600M'],
    time: ['1h', '2h'],
    partition: ['a', 'b'],
    account: ['a', 'b'],
    qos: ['a', 'b'],
    constraint: ['a', 'b'],
    nodes: [1, 2],
    exclusive: [true],
    options: [['--mail-type=FAIL'], ['--mail-type=END']],
    template: ['a.sh', 'b.sh'],
  },
  retry: {
    lost: [1, 2],
    unstarted: [1, 2],
    node_failure: [1, 2],
    preempted: [1, 2],
    memory: [1, 2],
    time: [1, 2],
    shared: [1, 2],
    stall: [1, 2],
    error: [1, 2],
  },
  'retry.memory': {
    times: { values: [1, 2], with: { retry: { memory: { factor: 2 } } } },
    factor: { values: [2, 3], with: { retry: { memory: { times: 2 } } } },
  },
  'retry.time': {
    times: { values: [1, 2], with: { retry: { time: { factor: 2 } } } },
    factor: { values: [2, 3], with: { retry: { time: { times: 2 } } } },
  },
  checkpoint: {
    signal: ['USR2', 'TERM'],
    before_limit: ['60s', '90s'],
  },
  stall: {
    after: ['3x', '10m'],
    do: ['stop', 'restart'],
  },
  power: {
    limit: ['300W', '200W'],
    cap: ['auto'],
  },
  'parameters.p': {
    min: { values: [1, 2], with: { parameters: { p: { max: 9 } } } },
    max: { values: [8, 9], with: { parameters: { p: { min: 1 } } } },
    scale: { values: ['log'], with: { parameters: { p: { min: 1, max: 9 } } } },
    step: { values: [2, 4], with: { parameters: { p: { min: 1, max: 9 } } } },
    points: { values: [3, 5], with: { parameters: { p: { min: 1, max: 9 } } } },
    type: { values: ['int', 'float'], with: { parameters: { p: { min: 1, max: 9 } } } },
    values: {
      values: [
        [1, 2],
        [1, 2, 3],
      ],
      with: { parameters: { p: { when: { n: 1 } } } },
    },
    value: { values: [1], with: { parameters: { p: { when: { n: 1 } } } } },
    default: { values: [2, 3], with: { parameters: { p: { min: 1, max: 9 } } } },
    when: { values: [{ n: 1 }, { n: 2 }], with: { parameters: { p: { min: 1, max: 9 } } } },
    categorical: { values: [true, false], with: { parameters: { p: { values: [1, 2] } } } },
    optional: { values: [true, false], with: { parameters: { p: { min: 1, max: 9 } } } },
  },
};
// Maps of any names.
const FREE = { arguments: { p: ['--p={}', '--q={}'] } };

const BASE = { script: 'a.py', parameters: { n: [1, 2], epochs: 9, steps: 9, p: 1 } };

let daemon;
let browser;
let seat;

before(async () => {
  if (skip) return;
  daemon = await Daemon.start();
  browser = await launch();
  seat = await open(browser, await daemon.login(), { allow: ['400 (Bad Request)'] });
});

after(async () => {
  if (skip) return;
  await browser.close();
  await daemon.stop();
});

const rowOf = (row) => (Array.isArray(row) ? { values: row } : row);
const pathOf = (level, key) => [...level.split('.').filter(Boolean), key];
const isMap = (one) => typeof one === 'object' && one !== null && !Array.isArray(one);
const merged = (a, b) =>
  isMap(a) && isMap(b)
    ? Object.fromEntries(
        [...new Set([...Object.keys(a), ...Object.keys(b)])].map((k) => [
          k,
          k in a && k in b ? merged(a[k], b[k]) : (b[k] ?? a[k]),
        ]),
      )
    : b;

// The experiment with a value at a path, and what it needs there.
function experiment(at, row, value) {
  const base = structuredClone(BASE);
  if (row.without) delete base[row.without];
  if (at[0] === 'parameters' && row.with) delete base.parameters.p;
  const nested = at.reduceRight((rest, key) => ({ [key]: rest }), value);
  const all = merged(base, row.with ?? {});
  return value === undefined ? all : merged(all, nested);
}

async function known(level, more = {}) {
  const at = pathOf(level, 'qqqqqqqqqqqq');
  const text = JSON.stringify(experiment(at, { with: more }, 1));
  const answer = await daemon.api('POST', '/check', { source: { name: 'e.yaml', text } }).catch((e) => e.message);
  const found = /(?:known here|one of): ([\w, ]+?)"/.exec(answer);
  assert.ok(found, `${level}: ${JSON.stringify(answer)}`);
  return found[1].split(', ');
}

test('the table has every key that the daemon knows', { skip, timeout: 300000 }, async () => {
  const { strategies } = await daemon.api('GET', '/info');
  const options = new Set(strategies.flatMap((s) => s.options.map((o) => o.name)));
  const need = {
    objective: { objective: { metric: 'x' } },
    prune: { prune: { rule: 'median' } },
    fidelity: { fidelity: { parameter: 'epochs', min: 1, max: 9 } },
    'parameters.p': { parameters: { p: { min: 1, max: 9 } } },
  };
  for (const [level, keys] of Object.entries(KEYS)) {
    const told = (await known(level, need[level])).filter((key) => level !== 'search' || !options.has(key));
    assert.deepEqual([...told].sort(), Object.keys(keys).sort(), level || 'the file');
  }
});

// Every control of the form with what it shows.
const controls = () =>
  seat.page.evaluate(() => {
    const out = {};
    for (const one of document.querySelectorAll('form#new input, form#new select, form#new textarea')) {
      if (one.type === 'file') continue;
      // Rows have numbers of their own.
      const id = /^when-/.test(one.id) ? `when of ${one.labels[0].textContent}` : one.id;
      const name = id || one.getAttribute('aria-label') || `${one.name} ${one.value}`;
      const key = name in out ? `${name} again` : name;
      out[key] = /checkbox|radio/.test(one.type) ? String(one.checked) : one.value;
      one.dataset.walked = key;
    }
    return out;
  });
const control = (key) => seat.page.locator(`[data-walked="${key.replaceAll('"', '\\"')}"]`);
const editor = () => seat.page.getByLabel('Experiment file');
const parsed = async () => yaml.parse(await editor().inputValue());
async function say(value) {
  await editor().fill(yaml.stringify(value));
  // Fields that are new say what they show once they are there.
  await drawn(seat.page);
}

async function begin() {
  const { page } = seat;
  await page.goto(`${daemon.url}/new`);
  await page.getByRole('tab', { name: 'YAML' }).click();
  for (const one of await page.locator('form#new details').all())
    await one.evaluate((el) => el.setAttribute('open', ''));
}

async function set(key, shown) {
  const one = control(key);
  const kind = await one.evaluate((el) => (/checkbox|radio/.test(el.type) ? 'box' : el.tagName));
  // A box that is gone with its key is not there to be looked at.
  if (kind === 'box') await one.click();
  else if (kind === 'SELECT') await one.selectOption(shown);
  else await one.fill(shown);
}

// Walks one key in both directions; returns what is not so.
async function walk(at, row) {
  const { page } = seat;
  const [first, second] = row.values;
  const name = at.join('.');
  const [none, one] = [experiment(at, row), experiment(at, row, first)];
  await say(none);
  const before = await controls();
  await say(one);
  const shown = await controls();
  if (row.text) {
    const said = await page.locator('form#new').getByText(row.text).first().innerText();
    return row.text.exec(said)?.[1] === String([first].flat()[0]) ? [] : [`${name} is not said`];
  }
  const moved = Object.keys(shown).filter((key) => shown[key] !== before[key]);
  const also = await page.getByText('Also in the file:').locator('..').locator('code').allInnerTexts();
  if (!moved.length)
    return also.some((one) => one === name || one.startsWith(`${name}.`)) ? [] : [`${name} is nowhere`];
  const problems = [];
  if (also.includes(name)) problems.push(`${name} has a field and is named as without one`);
  // Emptied, the field takes the key out of the file; a row of a parameter stays.
  const emptied = moved.find((k) => before[k] === 'true') ?? moved[0];
  if (at[0] !== 'parameters' && !row.without) {
    await set(emptied, before[emptied] ?? '');
    try {
      assert.deepEqual(await parsed(), none);
    } catch (error) {
      problems.push(`${name}: emptied in ${emptied}, the file is another: ${error.message}`);
    }
  }
  if (second === undefined) return problems;
  const two = experiment(at, row, second);
  await say(two);
  const then = await controls();
  const others = Object.keys(then).filter((k) => shown[k] !== undefined && then[k] !== shown[k]);
  // Of two radio buttons the one that is chosen then.
  const key = others.find((k) => then[k] !== 'false') ?? others[0];
  if (!key) return [...problems, `${name}: both values look alike`];
  await say(one);
  await controls();
  await set(key, then[key]);
  try {
    assert.deepEqual(await parsed(), two);
  } catch (error) {
    problems.push(`${name}: typed in ${key}, the file is another: ${error.message}`);
  }
  return problems;
}

for (const [level, keys] of Object.entries({ ...KEYS, ...FREE }))
  test(`every key of ${level || 'the file'}, in both directions`, { skip, timeout: 600000 }, async () => {
    await begin();
    const problems = [];
    for (const [key, given] of Object.entries(keys)) {
      if (given === null) continue;
      problems.push(...(await walk(pathOf(level, key), rowOf(given))));
    }
    assert.deepEqual(problems, []);
    assert.deepEqual(seat.troubles.splice(0), []);
  });

test('every option of every strategy, in both directions', { skip, timeout: 600000 }, async () => {
  const { strategies } = await daemon.api('GET', '/info');
  await begin();
  const problems = [];
  for (const { name: strategy, options } of strategies)
    for (const option of options) {
      const values = option.words?.length
        ? option.words.filter((word) => word !== option.default).slice(0, 2)
        : option.type === 'bool'
          ? [!option.default]
          : [3, 5];
      const more = { search: { strategy, tasks: 30 } };
      problems.push(...(await walk(['search', option.name], { values, with: more })));
    }
  assert.deepEqual(problems, []);
  assert.deepEqual(seat.troubles.splice(0), []);
});
