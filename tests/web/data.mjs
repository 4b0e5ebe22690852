// Made-up experiments in the shapes of docs/internals/rest.md, the same at every run: the data shapes that break
// dashboards.

// Two hours ago, so that what runs has begun a short while back.
export const T0 = Date.now() - 7200_000;

export function random(seed) {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

export const at = (s) => new Date(T0 + s * 1000).toISOString();
const cost = (wall, gpus = true) => ({
  wall_s: wall,
  cpu_s: wall === null ? null : wall * 3.1,
  gpu_s: gpus ? wall : null,
  max_rss_bytes: wall ? 2.4e9 : null,
  hologram_w: wall ? 231.5 : null,
  energy_j: gpus && wall !== null ? wall * 231 : null,
  energy_source: gpus ? 'NVML, 1 s samples' : 'not measured',
});

const TAIL = `Traceback (most recent call last):
  File "/home/ana/exp/model.py", line 118, in <module>
    history = model.fit(train_ds, validation_data=val_ds, epochs=args.epochs,
  File "/home/ana/.venv/lib/python3.11/site-packages/keras/src/utils/traceback_utils.py", line 122, in error_handler
    raise e.with_traceback(filtered_tb) from None
tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when allocating tensor with shape[64,64,222,222]
  [[{{node conv2d_2/Conv2D}}]]  type float on /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc
srun: error: volta01: task 0: Exited with exit code 1`;

function product(space) {
  return Object.entries(space).reduce(
    (rows, [name, values]) => rows.flatMap((row) => values.map((v) => ({ ...row, [name]: v }))),
    [{}],
  );
}

function curve(rand, epochs, level, scale = 1) {
  const val = [];
  const train = [];
  const pace = 8 + 20 * rand();
  for (let i = 1; i <= epochs; i++) {
    const down = level + (1.6 - level) * Math.exp(-i / pace);
    val.push(Number(((down + (rand() - 0.5) * 0.02 + i * 0.0006) * scale).toPrecision(5)));
    train.push(Number(((down * Math.exp(-i / 60) + rand() * 0.01) * scale).toPrecision(5)));
  }
  return { step: Array.from({ length: epochs }, (_, i) => i + 1), val, train };
}

// Builds an experiment with its tasks and curves. `how(i, values, rand)` gives each task's state and length.
export function experiment(number, o) {
  const rand = random(number * 7919 + 17);
  const id = `e${number}`;
  const fixed = o.fixed ?? { epochs: 100, early_stopping: 20 };
  const configs = o.configs ?? product(o.space ?? {});
  const goal = o.goal ?? 'min';
  const metric = o.metric ?? 'val_loss';
  const tasks = [];
  const curves = new Map();
  let clock = 0;
  configs.forEach((values, i) => {
    const n = i + 1;
    const plan = o.how ? o.how(i, values, rand) : { state: 'finished', epochs: 40 + Math.floor(rand() * 60) };
    const line = curve(rand, plan.epochs ?? 0, plan.level ?? 0.32 + 0.3 * rand(), plan.scale ?? 1);
    if (plan.nan) line.val = line.val.map(() => 'NaN');
    const flip = (v) => (typeof v === 'number' && goal === 'max' ? Number((1 - v / 2).toPrecision(5)) : v);
    line.val = line.val.map(flip);
    const numbers = line.val.filter((v) => typeof v === 'number');
    const top = numbers.length ? (goal === 'max' ? Math.max(...numbers) : Math.min(...numbers)) : null;
    const secs = line.step.length * (6 + 8 * rand());
    const begun = plan.state !== 'submitted' && plan.state !== 'waiting';
    const start = clock;
    if (begun) clock += secs / 4;
    tasks.push({
      id: `${id}/${n}`,
      experiment: id,
      number: n,
      state: plan.state,
      reason:
        plan.reason ?? (plan.state === 'submitted' ? 'Resources' : plan.state === 'stopped' ? 'stopped by ana' : null),
      waiting_for: null,
      cause:
        plan.state === 'error'
          ? (plan.cause ?? {
              kind: 'exit',
              code: 1,
              signal: null,
              text: 'exit code 1',
              remedy: 'see the error output',
              tail: TAIL,
            })
          : null,
      parameters: { ...values, ...fixed },
      repeat: 1,
      seed: 420 + n,
      best:
        top === null
          ? numbers.length === 0 && line.val.length
            ? { value: 'NaN', epoch: 1 }
            : null
          : { value: top, epoch: line.step[line.val.indexOf(top)] },
      last: line.val.length ? { value: line.val[line.val.length - 1], epoch: line.step.length } : null,
      epoch: line.step.length || null,
      epochs: 100,
      progress: begun ? Math.min(1, line.step.length / 100) : null,
      submitted: plan.state === 'waiting' ? null : at(0),
      started: begun ? at(start) : null,
      finished: begun && plan.state !== 'running' ? at(start + secs) : null,
      elapsed_s: begun ? Math.round(secs * 10) / 10 : null,
      attempt: 1,
      node: begun ? `volta0${1 + (i % 2)}` : null,
      gpus: begun ? String(i % 2) : null,
      job: plan.state === 'waiting' ? null : `561126_${n}`,
      expected_start: null,
      cost: cost(begun ? Math.round(secs) : null, o.gpus !== false),
    });
    curves.set(n, line);
  });
  const e = {
    id,
    name: o.name,
    description: o.description ?? '',
    created: at((o.day ?? 0) * -86400),
    started: at((o.day ?? 0) * -86400),
    finished: null,
    strategy: o.strategy ?? 'grid',
    backend: o.backend ?? 'slurm',
    script: o.script ?? 'model.py',
    objective: [{ metric, goal }, ...(o.second ? [o.second] : [])],
    note: o.note ?? null,
    waiting_for: null,
    failure: null,
    paused: o.paused ?? null,
    cost: cost(Math.round(clock * 4), o.gpus !== false),
    spec: {
      name: o.name,
      ...(o.description ? { description: o.description } : {}),
      script: 'model.py',
      parameters: Object.fromEntries([
        ...Object.keys(configs[0] ?? {}).map((name) => {
          const values = [...new Set(configs.map((c) => c[name]))];
          return values.length > 12 && typeof values[0] === 'number'
            ? [name, { min: Math.min(...values), max: Math.max(...values), scale: 'log' }]
            : [name, values];
        }),
        ...Object.entries(fixed),
      ]),
      objective: o.second ? [{ metric, goal }, o.second] : { metric, goal },
      pass: 'positional',
      search: { strategy: o.strategy ?? 'grid', seed: 420 },
      resources: { backend: o.backend ?? 'slurm', gpus: 1, cpus: 4, memory: '16G', time: '2h' },
      environment: { setup: ['module load cuda'] },
    },
    parameters: [
      ...Object.keys(configs[0] ?? {}).map((name) => {
        const values = [...new Set(configs.map((c) => c[name]))];
        const range = values.length > 12 && typeof values[0] === 'number';
        return range
          ? {
              name,
              kind: 'range',
              values: null,
              min: Math.min(...values),
              max: Math.max(...values),
              scale: 'log',
              step: null,
              points: null,
              integer: false,
              default: null,
              when: null,
            }
          : { name, kind: 'choice', values, default: null, when: null };
      }),
      ...Object.entries(fixed).map(([name, value]) => ({
        name,
        kind: 'constant',
        values: [value],
        default: null,
        when: null,
      })),
    ],
    varying: Object.keys(configs[0] ?? {}),
    parallel: 4,
    search: { strategy: o.strategy ?? 'grid', reason: null, seed: 420, tasks: configs.length, options: {} },
    metrics: ['loss', metric],
    step_name: 'epoch',
    warnings: o.warnings ?? [],
    folder: `/home/ana/.local/state/sluice/experiments/${id}`,
    resources: { backend: 'slurm', gpus: 1 },
    pass: 'flags',
  };
  const model = {
    e,
    tasks,
    curves,
    logs: new Map(),
    extra: o.extra ?? 0,
    rungs: o.rungs ?? null,
    brackets: o.brackets ?? null,
  };
  refresh(model);
  return model;
}

// GET …/analysis and GET …/search, as far as the page reads them.
export function analysis(model) {
  const { e, tasks } = model;
  const done = tasks.filter((t) => t.state === 'finished' && typeof t.best?.value === 'number');
  const front = (axes, pick) => {
    const rows = done.map((t) => ({ task: t.number, values: pick(t) }));
    const cost = (values) => values.map((v, i) => (axes[i].goal === 'max' ? -v : v));
    const beats = (a, b) => a.every((v, i) => v <= b[i]) && a.some((v, i) => v < b[i]);
    return {
      axes,
      runs: rows.length,
      hypervolume: rows.length ? 12.5 : null,
      reference: rows.length ? [1, 1] : null,
      points: rows.map((p) => ({ ...p, front: !rows.some((q) => beats(cost(q.values), cost(p.values))) })),
    };
  };
  const first = { name: e.objective[0].metric, goal: e.objective[0].goal };
  const shares = e.varying.map((_, i) => 1 / 2 ** (i + 1));
  const whole = shares.reduce((a, b) => a + b, 0);
  return {
    objective: e.objective,
    best: [],
    progress: [],
    runs: done.length,
    importance:
      done.length > 1
        ? e.varying.map((parameter, i) => ({
            parameter,
            importance: shares[i] / whole,
            score: shares[i],
            runs: done.length,
          }))
        : [],
    fronts: [
      ...(e.objective[1]
        ? [
            front([first, { name: e.objective[1].metric, goal: e.objective[1].goal }], (t) => [
              t.best.value,
              t.number % 7,
            ]),
          ]
        : []),
      front([first, { name: 'time_s', goal: 'min' }], (t) => [t.best.value, t.elapsed_s]),
    ],
    slices: { task: [], value: [], parameters: {} },
    agreement: model.rungs ? [{ from: 3, to: 9, tasks: 12, correlation: 0.875 }] : [],
    curves: forecast(model),
  };
}

// Experiments of many finished tasks earn predictions; the value is what the curve would come to.
function forecast({ e, tasks, curves }) {
  const done = tasks.filter((t) => t.state === 'finished').length;
  if (done < 8)
    return {
      earned: false,
      tasks: done,
      cuts: [0.25, 0.5].map((share) => ({ share, tasks: done, correlation: null, plain: null, error: null })),
    };
  const earned = e.strategy !== 'grid';
  return {
    earned,
    tasks: done,
    cuts: [
      { share: 0.25, tasks: done, correlation: earned ? 0.81 : 0.55, plain: 0.6, error: 0.02 },
      { share: 0.5, tasks: done, correlation: 0.93, plain: 0.88, error: 0.01 },
    ],
    ...(earned
      ? {
          running: tasks
            .filter((t) => t.state === 'running')
            .map((t) => ({
              task: t.number,
              predicted: Number(
                (curves.get(t.number).val.at(-1) * (e.objective[0].goal === 'max' ? 1.08 : 0.8)).toPrecision(4),
              ),
              at: t.parameters.epochs,
              error: 0.02,
            })),
        }
      : {}),
  };
}

export function search(model) {
  const { e, tasks } = model;
  return {
    strategy: e.strategy,
    title: e.strategy.toUpperCase(),
    reason: e.search.reason,
    planned: tasks.length + model.extra,
    proposed: tasks.length,
    fidelities: [],
    state:
      e.state === 'running'
        ? {
            strategy: e.strategy,
            asked: tasks.length,
            pending: 1,
            ...(model.rungs
              ? { rungs: model.rungs, ...(model.brackets ? { brackets: model.brackets } : {}) }
              : { phase: 'model', results: 31 }),
          }
        : null,
  };
}

// The parts of a summary that follow from the tasks, as the daemon computes them.
export function refresh(model) {
  const { e, tasks } = model;
  const counts = {
    total: tasks.length + model.extra,
    waiting: 0,
    submitted: 0,
    running: 0,
    finished: 0,
    error: 0,
    stopped: 0,
    pruned: 0,
  };
  for (const t of tasks) counts[t.state]++;
  e.tasks = counts;
  const open = counts.waiting + counts.submitted + counts.running + model.extra;
  e.state = open
    ? counts.running + counts.finished + counts.error
      ? 'running'
      : 'waiting'
    : counts.finished
      ? 'finished'
      : counts.error
        ? 'error'
        : counts.stopped
          ? 'stopped'
          : 'waiting';
  const max = e.objective[0].goal === 'max';
  const better = (a, b) => (max ? a > b : a < b);
  let best = null;
  const spark = [];
  for (const t of tasks) {
    if (t.state === 'error' || typeof t.best?.value !== 'number') continue;
    if (!best || better(t.best.value, best.best.value)) best = t;
    spark.push(best.best.value);
  }
  e.best = best
    ? { task: best.number, value: best.best.value, epoch: best.best.epoch, parameters: best.parameters }
    : null;
  const every = Math.max(1, Math.ceil(spark.length / 30));
  e.finished = open ? null : new Date(Date.parse(e.created) + 5400_000).toISOString();
  e.spark = spark.filter((_, i) => i % every === 0);
}

export function summary(model) {
  const { spec, parameters, varying, parallel, search, metrics, warnings, folder, resources, pass, ...rest } = model.e;
  return rest;
}

export function logText(model, task) {
  const line = model.curves.get(task.number);
  const out = [];
  for (let i = 0; i < line.step.length; i++)
    out.push(`Epoch ${line.step[i]}/100  234/234  11.4s  loss ${line.train[i]}  val_loss ${line.val[i]}  lr 3.0e-03`);
  return out.join('\n') + (out.length ? '\n' : '');
}

const GRID = { batch_size: [8, 16, 32, 64], learning_rate: [1e-4, 3e-4, 1e-3, 3e-3], dropout: [0, 0.25, 0.5] };

function mixed(i) {
  if (i === 9 || i === 47 - 10) return { state: 'error', epochs: i === 9 ? 11 : 23 };
  if (i === 2) return { state: 'stopped', epochs: 31, level: 0.7 };
  if (i >= 38) return { state: 'submitted', epochs: 0 };
  if (i >= 34) return { state: 'running', epochs: 7 + (i - 34) * 22 };
  return { state: 'finished', epochs: i % 5 === 0 ? 100 : 46 + ((i * 7) % 50) };
}

const LONG = 'a-name-of-exactly-sixty-characters-to-see-where-it-is-cut-ok';
const MARKUP = '<img src=x onerror=alert(1)><b>bold</b> & "quotes"';
const ESC = '\u001b';

// Which sets of experiments a server can hold.
export function world(kind) {
  if (kind === 'empty') return [];
  if (kind === 'many')
    return Array.from({ length: 120 }, (_, i) =>
      experiment(i + 1, { name: `sweep-${i + 1}`, space: { lr: [0.1, 0.01] }, day: i }),
    );
  if (kind === 'living') {
    const r = random(9);
    const number = (v) => Number(v.toPrecision(4));
    const one = experiment(1, {
      name: 'asha-two-objectives',
      strategy: 'asha',
      gpus: false,
      second: { metric: 'size', goal: 'max' },
      extra: 20,
      rungs: [
        { fidelity: 3, told: 27, promoted: 9 },
        { fidelity: 9, told: 9, promoted: 2 },
      ],
      brackets: [
        { start: 9, fidelity: 9, rung: 3, rungs: 3, asked: 0, told: 0, size: 0, over: true },
        { start: 5, fidelity: 3, rung: 1, rungs: 2, asked: 5, told: 4, size: 5, over: false },
      ],
      configs: Array.from({ length: 40 }, (_, i) => ({
        learning_rate: number(10 ** (-4 + 3 * r())),
        optimizer: ['adam', 'sgd'][i % 2],
      })),
      fixed: { epochs: 9 },
      how: (i) =>
        i >= 38
          ? { state: 'running', epochs: 4 }
          : i % 9 === 3
            ? { state: 'pruned', epochs: 3 }
            : { state: 'finished', epochs: 9 },
    });
    one.e.search.reason = 'short runs tell which configurations deserve long ones';
    return [one, experiment(2, { name: 'over', space: { lr: [0.1, 0.01, 0.001] } })];
  }
  const all = [
    experiment(1, {
      name: 'conv2d-nodropout',
      description: 'First attempt, batch size only (64,32,16,8,4)',
      space: { batch_size: [64, 32, 16, 8, 4] },
      day: 5,
      how: (i) => (i === 4 ? { state: 'error', epochs: 3 } : { state: 'finished', epochs: 60 + i }),
    }),
    experiment(2, {
      name: 'one task',
      space: { lr: [0.001] },
      day: 4,
      backend: 'local',
      gpus: false,
      strategy: 'random',
      how: () => ({ state: 'finished', epochs: 1 }),
    }),
    experiment(3, {
      name: 'everything failed',
      space: { units: [16, 32, 64], lr: [0.1, 0.01] },
      day: 3,
      how: (i) => ({
        state: 'error',
        epochs: 0,
        cause:
          i % 2
            ? {
                kind: 'memory',
                code: null,
                signal: 9,
                text: 'out of memory',
                remedy: 'ask for more than 16G',
                tail: 'Killed',
              }
            : undefined,
      }),
    }),
    experiment(4, {
      name: 'all NaN',
      space: { lr: [10, 100] },
      day: 2.5,
      how: () => ({ state: 'finished', epochs: 12, nan: true }),
    }),
    experiment(5, {
      name: 'tiny and huge',
      description: 'values of 1e-9 and 1e9',
      space: { scale: [1e-9, 1, 1e9] },
      fixed: {},
      day: 2,
      how: (_i, v) => ({ state: 'finished', epochs: 30, scale: v.scale }),
    }),
    experiment(6, {
      name: LONG,
      description: 'twelve parameters',
      day: 1.5,
      fixed: {},
      configs: Array.from({ length: 24 }, (_, i) =>
        Object.fromEntries(
          Array.from({ length: 12 }, (_, p) => [
            `parameter_number_${p + 1}`,
            p % 3 === 0
              ? ['adam', 'sgd', 'rmsprop'][(i + p) % 3]
              : Number((((i * 7 + p * 13) % 50) / 50 + 0.01).toFixed(3)),
          ]),
        ),
      ),
    }),
    experiment(7, {
      name: MARKUP,
      description: `${ESC}[31mred${ESC}[0m and עברית right to left مرحبا`,
      script: '<script>alert(1)</script>.py',
      space: { 'lr<b>': [0.1, 0.2], text: ['<i>x</i>', 'مرحبا'] },
      day: 1.2,
      how: (i) =>
        i === 3
          ? {
              state: 'error',
              epochs: 2,
              cause: {
                kind: 'exit',
                code: 3,
                signal: null,
                text: 'exit code 3',
                remedy: 'see the error output',
                tail: `${ESC}[1;31mValueError: <script>alert(2)</script>${ESC}[0m\n`,
              },
            }
          : { state: 'finished', epochs: 20 },
    }),
    experiment(8, {
      name: 'resnet18-cifar100-tpe',
      description: 'TPE over learning rate and momentum',
      goal: 'max',
      metric: 'val_acc',
      strategy: 'tpe',
      day: 1,
      extra: 60,
      configs: (() => {
        const r = random(5);
        return Array.from({ length: 60 }, () => ({
          learning_rate: Number((10 ** (-4 + 3 * r())).toPrecision(4)),
          momentum: Number((0.99 * r()).toPrecision(4)),
        }));
      })(),
      how: (i) =>
        i >= 56
          ? { state: 'running', epochs: 20 + (i % 9) }
          : i % 11 === 3
            ? { state: 'pruned', epochs: 9 }
            : { state: 'finished', epochs: 60 },
    }),
    experiment(9, {
      name: 'unet-retina-seg',
      description: 'Vessel segmentation; depth, base filters',
      space: { depth: [3, 4, 5], filters: [16, 32, 64, 96] },
      day: 0.4,
      note: 'waiting for the controller: slurmctld does not answer',
      how: (i) =>
        i < 4
          ? { state: 'finished', epochs: 80 }
          : i < 6
            ? { state: 'running', epochs: 30 }
            : { state: 'submitted', epochs: 0 },
    }),
    experiment(10, {
      name: 'conv2d-nodropout-v2',
      description:
        'Three Conv2D blocks, 32 to 64 filters, two dense layers. Batch size, learning rate and dropout grid.',
      space: GRID,
      how: mixed,
    }),
  ];
  if (kind === 'big')
    all.push(
      experiment(11, {
        name: 'five hundred',
        space: { a: Array.from({ length: 25 }, (_, i) => i + 1), b: Array.from({ length: 20 }, (_, i) => i / 20) },
        how: (i) => ({ state: i % 50 === 7 ? 'error' : 'finished', epochs: 100 }),
      }),
    );
  const odd = all[6];
  odd.logs.set(
    '1/stdout',
    [
      'plain line',
      `${ESC}[32mgreen ${ESC}[1mbold${ESC}[0m`,
      '<script>alert(3)</script> & <b>markup</b>',
      'مرحبا عالم، هذا نص من اليمين إلى اليسار',
      'x'.repeat(1_000_000),
      '  1/234 [....]\r 12/234 [=>..]\r234/234 [====] - loss: 0.3',
      `${ESC}]0;title\u0007after the title`,
      'last line\n',
    ].join('\n'),
  );
  return all;
}

export const INFO = {
  version: '0.1.0',
  user: 'ana',
  host: 'login1',
  state: '/home/ana/.local/state/sluice',
  login: 'sluice login',
  backends: ['local', 'slurm', 'external'],
  default_backend: 'local',
  open_stops: [],
  figures: [
    { key: 'wall_s', label: 'time used', unit: 's', source: 'the clock' },
    { key: 'cpu_s', label: 'CPU time', unit: 's', source: 'the kernel' },
    { key: 'gpu_s', label: 'GPU time', unit: 's', source: 'the time used' },
    { key: 'max_rss_bytes', label: 'most memory', unit: 'B', source: 'the kernel' },
    { key: 'energy_j', label: 'energy', unit: 'J', source: 'NVML' },
    // The page has never heard of this one.
    { key: 'hologram_w', label: 'hologram power', unit: 'W', source: 'a meter of the future' },
  ],
  strategies: [
    {
      name: 'grid',
      title: 'Grid',
      help: 'Every combination',
      adaptive: false,
      options: [{ name: 'shuffle', type: 'bool', default: false, help: "in random order instead of the file's" }],
    },
    { name: 'random', title: 'Random', help: 'Sample a fixed budget', adaptive: false, options: [] },
    {
      name: 'de',
      title: 'Differential evolution',
      help: 'Evolve a population',
      adaptive: true,
      options: [
        { name: 'population', type: 'int', default: 0, min: 0, max: 10000, help: 'individuals; 0: as published' },
        {
          name: 'mode',
          type: 'word',
          default: 'steady',
          words: ['steady', 'generational'],
          help: 'steady: never wait',
        },
      ],
    },
    {
      name: 'tpe',
      title: 'TPE',
      help: 'Model good regions',
      adaptive: true,
      options: [{ name: 'startup', type: 'int', default: 10, help: 'random tasks before the model' }],
    },
    { name: 'sobol', title: 'Sobol', help: 'Draws that cover the space evenly', adaptive: false, options: [] },
    { name: 'asha', title: 'ASHA', help: 'Stop weak runs early', adaptive: true, options: [] },
  ].map((s) => ({ multi_objective: false, multi_fidelity: s.name === 'asha', finite_only: false, ...s })),
  limits: { tasks: 100000, body_bytes: 16777216 },
};

const SLURM_KEYS = [
  { name: 'partition', kind: 'word', title: 'Partition', help: 'the queue it waits in' },
  { name: 'account', kind: 'word', title: 'Account', help: 'who is charged for it' },
  { name: 'options', kind: 'words', title: 'Further sbatch options', help: 'one a line' },
];

export const CLUSTER = {
  backends: [
    {
      name: 'local',
      available: true,
      keys: [],
      text: '2 CPUs, 23 GB, no GPU',
      cpus: 2,
      cpus_busy: 1,
      memory_busy_bytes: 4e9,
      memory_bytes: 23e9,
      gpus: [{ index: 0, name: 'NVIDIA H200', memory_bytes: 141e9, busy: true }],
    },
    {
      name: 'slurm',
      available: true,
      keys: SLURM_KEYS,
      asking: false,
      text: 'Slurm 22.05.8, 3 partitions',
      version: '22.05.8',
      controller: 'up',
      cluster: 'lab',
      accounting: true,
      energy: false,
      latency_ms: 12,
      limits: { array_size: 10001, submitted_jobs: null, default_account: 'ml' },
      partitions: [
        {
          name: 'gpu_volta',
          default: true,
          state: 'up',
          nodes: 2,
          cpus: 8,
          cpus_per_node: 4,
          gpus: 4,
          gpu_type: 'volta',
          gpus_per_node: 2,
          memory_bytes: 192e9,
          time_limit_s: 3600,
          idle_nodes: 0,
        },
        {
          name: 'gpu_ampere',
          default: false,
          state: 'up',
          nodes: 4,
          cpus: 128,
          cpus_per_node: 32,
          gpus: 8,
          gpu_type: 'ampere',
          gpus_per_node: 2,
          memory_bytes: 512e9,
          time_limit_s: 86400,
          idle_nodes: 1,
        },
        {
          name: 'cpu',
          default: false,
          state: 'down',
          nodes: 12,
          cpus: 768,
          cpus_per_node: 64,
          gpus: 0,
          gpu_type: null,
          gpus_per_node: 0,
          memory_bytes: 256e9,
          time_limit_s: null,
          idle_nodes: 12,
        },
      ],
    },
  ],
  examining: false,
  findings: [
    { level: 'ok', what: 'slurmctld answers in 12 ms', fix: null },
    {
      level: 'warning',
      what: 'Energy is not recorded by this cluster',
      fix: 'Ask the administrator for AcctGatherEnergyType',
    },
  ],
};

// What the same cluster says once it was examined.
export const EXAMINED = [
  { level: 'ok', what: 'a test job ran on volta1, which sees the state folder', fix: null },
  {
    level: 'ok',
    what: 'volta1 does not reach the daemon at 127.0.0.1:54322 and need not: tasks are followed through files in the state folder',
    fix: 'it listens on its own machine only',
  },
];
