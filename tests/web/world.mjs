// The experiments that a server of the tests holds: the data shapes that break dashboards.
import { experiment, random } from './experiment.mjs';

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
