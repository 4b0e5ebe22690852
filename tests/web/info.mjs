// What a server of the tests says about itself and its cluster.

export const INFO = {
  version: '0.1.0',
  user: 'ana',
  host: 'login1',
  state: '/home/ana/.local/state/sluice',
  login: 'sluice login',
  backends: ['local', 'slurm', 'external'],
  default_backend: 'local',
  trouble: null,
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
      gpus: [{ id: '0', index: 0, name: 'NVIDIA H200', memory_bytes: 141e9, busy: true }],
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

const busy = (util_pct) => ({ util_pct, memory_bytes: 12e9, power_w: 310 });
const group = (names, nodes, state, more = {}) => ({
  names,
  nodes,
  state,
  partitions: 'gpu_volta',
  reason: null,
  cpus: 32 * nodes,
  cpus_busy: 0,
  memory_bytes: 256e9 * nodes,
  memory_busy_bytes: 0,
  gpus: 4 * nodes,
  gpus_busy: 0,
  gpu_type: 'volta',
  ...more,
});

// What runs and waits, and 2,000 nodes.
export const USE = {
  running: [
    {
      task: 'e1/5',
      name: 'Conv2D - without dropout',
      backend: 'slurm',
      stalled: true,
      cpus: 4,
      memory_bytes: 16e9,
      partition: 'gpu_volta',
      node: 'gpu3',
      gpus: '0,1',
      job: '4711_5',
      started: '2026-11-15T11:00:00.000Z',
      use: { time: '2026-11-15T11:30:00.000Z', cpu_cores: 3.2, memory_bytes: 7e9, gpus: [busy(97), busy(12)] },
    },
  ],
  running_total: 1,
  queued: [
    {
      experiment: 'e1',
      name: 'Conv2D - without dropout',
      backend: 'slurm',
      state: 'submitted',
      tasks: 998,
      first: 6,
      reason: 'other jobs have a higher priority',
      since: '2026-11-15T10:00:00.000Z',
      expected_start: '2026-11-15T15:00:00.000Z',
      cpus: 4,
      memory_bytes: 16e9,
      partition: 'gpu_volta',
    },
  ],
  nodes: [
    {
      backend: 'slurm',
      asking: false,
      time: '2026-11-15T11:59:50.000Z',
      error: null,
      nodes: 2000,
      groups: [
        group('gpu[1-2,4-1990]', 1989, 'allocated', { cpus_busy: 50000, gpus_busy: 7900 }),
        group('gpu3', 1, 'mixed', { cpus_busy: 4, gpus_busy: 2 }),
        group('gpu[1991-2000]', 10, 'drained', { reason: 'bad <b>disk</b>' }),
      ],
    },
  ],
};
