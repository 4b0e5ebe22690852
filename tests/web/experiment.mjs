// A made-up experiment in the shapes of docs/internals/rest.md, the same at every run.

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
      created: at(0),
      submitted: plan.state === 'waiting' ? null : at(0),
      started: begun ? at(start) : null,
      finished: begun && plan.state !== 'running' ? at(start + secs) : null,
      elapsed_s: begun ? Math.round(secs * 10) / 10 : null,
      attempt: 1,
      node: begun ? `volta0${1 + (i % 2)}` : null,
      gpus: begun ? String(i % 2) : null,
      job: plan.state === 'waiting' ? null : `561126_${n}`,
      expected_start: null,
      tags: [],
      star: false,
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
    tags: o.tags ?? [],
    star: o.star ?? false,
    archived: false,
    notes: null,
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
    removed: 0,
    search: { strategy: o.strategy ?? 'grid', reason: null, seed: 420, tasks: configs.length, options: {} },
    metrics: ['loss', metric],
    step_name: 'epoch',
    warnings: o.warnings ?? [],
    no_value: null,
    no_energy: null,
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
      reference: rows.length ? [2, 0] : null,
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
    importance_needs: 20,
    importance:
      done.length >= 20
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

// GET …/attempts
export function attempts({ e, tasks }) {
  return {
    experiment: e.id,
    attempts: tasks
      .filter((t) => t.submitted)
      .map(({ number, state, submitted, started, finished, node, gpus, job }) => ({
        ...{ task: number, number: 1, state, submitted, started, finished, node, gpus, job },
      })),
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
    imported: 0,
    ask_ms: null,
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
  const { spec, parameters, varying, parallel, removed, search, metrics, no_value, no_energy, folder, ...most } =
    model.e;
  const { resources, pass, notes, ...rest } = most;
  return rest;
}

export function logText(model, task) {
  const line = model.curves.get(task.number);
  const out = [];
  for (let i = 0; i < line.step.length; i++)
    out.push(`Epoch ${line.step[i]}/100  234/234  11.4s  loss ${line.train[i]}  val_loss ${line.val[i]}  lr 3.0e-03`);
  return out.join('\n') + (out.length ? '\n' : '');
}
