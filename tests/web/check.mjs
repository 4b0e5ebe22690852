// What POST /check answers, for the fixture server: enough of the daemon's validation for the form's tests.
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const need = createRequire(path.join(path.dirname(fileURLToPath(import.meta.url)), '../../web/'));
export const yaml = need('yaml');

// The experiment of a request: a map, or the text of a file.
export const experimentOf = (sent) => sent.experiment ?? yaml.parse(sent.source.text) ?? {};

function problem(errors) {
  return {
    status: 400,
    body: {
      type: 'about:blank',
      title: 'Bad Request',
      status: 400,
      detail: `${errors[0].field.slice(1).replaceAll('/', '.')}: ${errors[0].message}.`,
      errors,
    },
  };
}

export function scan(file) {
  const text = file?.text ?? '';
  const flags = [...text.matchAll(/add_argument\(['"](--[\w-]+)['"](?:, default=([\w.]+))?/g)];
  const places = [...text.matchAll(/^(\w+) = .*sys\.argv\[(\d)\]/gm)].map(([, name, place]) => ({
    name,
    place: Number(place),
  }));
  return {
    arguments: [
      ...flags.map(([, flag, value]) => ({
        name: flag.replace(/^-+/, '').replaceAll('-', '_'),
        flag,
        value,
        place: 0,
      })),
      ...places,
    ].map(({ name, flag = null, value, place }) => ({
      name,
      flag,
      type: null,
      switch: false,
      several: false,
      required: place > 0,
      default: value === undefined ? null : Number(value),
      choices: null,
      help: null,
      command: null,
      before: false,
      place,
      line: 1,
    })),
    commands: [],
    parser: flags.length ? 'argparse' : null,
    line: flags.length ? 1 : 0,
    sure: false,
    metrics: text.includes('CSVLogger') ? ['CSVLogger'] : [],
    columns: text.includes('CSVLogger') ? ['val_loss'] : [],
    metric: text.includes('CSVLogger') ? 'val_loss' : null,
    goal: null,
    metric_from: null,
    checkpoint: text.includes('ModelCheckpoint'),
    pass: flags.length ? 'flags' : text.includes('sys.argv') ? 'positional' : null,
    wrong: null,
    wrong_line: 0,
    notes: ['no checkpoint found: a task that is run again starts from its first epoch'],
  };
}

// What is known of scripts that have run before; of others nothing is.
const ESTIMATES = {
  'known.py': {
    wall_s: 240,
    task_s: 80,
    tasks_s: 400,
    limit_s: null,
    energy_j: null,
    runs: 3,
    basis: '5 tasks of about 1 m 20 s as in e7, 2 at a time',
  },
};

const write = (v) =>
  Array.isArray(v)
    ? `[${v.join(', ')}]`
    : typeof v === 'object' && v
      ? `{${Object.entries(v)
          .map(([k, x]) => `${k}: ${write(x)}`)
          .join(', ')}}`
      : String(v);

export function check(sent, wantScan) {
  const bad = /^(\s*)bad_key/m.exec(sent.source?.text ?? '');
  if (bad)
    return problem([
      {
        field: '/bad_key',
        line: sent.source.text.slice(0, bad.index).split('\n').length,
        column: 1,
        message: 'unknown key bad_key',
        remedy: 'remove it',
      },
    ]);
  try {
    if (sent.source) yaml.parse(sent.source.text);
  } catch (error) {
    const [at] = error.linePos;
    return problem([{ field: '', line: at.line, column: at.col, message: 'not valid YAML' }]);
  }
  const e = experimentOf(sent);
  const strategy = e.search?.strategy ?? 'grid';
  const errors = [];
  const factors = [];
  let rows = [{}];
  for (const [name, spec] of Object.entries(e.parameters ?? {})) {
    const field = `/parameters/${name}`;
    const range = spec && typeof spec === 'object' && !Array.isArray(spec) && 'min' in spec;
    if (range) {
      if (typeof spec.min !== 'number' || typeof spec.max !== 'number')
        errors.push({ field, message: 'min and max must be numbers', remedy: 'write two numbers' });
      else if (spec.min > spec.max)
        errors.push({ field, message: `min ${spec.min} is above max ${spec.max}`, remedy: 'swap them' });
      else if (strategy === 'grid' && !spec.step && !spec.points)
        errors.push({
          field,
          message: 'a grid needs a step for a range',
          remedy: 'give a step or choose another strategy',
        });
      const values = spec.points
        ? Array.from({ length: spec.points }, (_, i) => spec.min + ((spec.max - spec.min) * i) / (spec.points - 1))
        : spec.step
          ? Array.from(
              { length: Math.floor((spec.max - spec.min) / spec.step + 1e-9) + 1 },
              (_, i) => spec.min + i * spec.step,
            )
          : [spec.min, spec.max];
      factors.push({ name, count: values.length });
      rows = rows.flatMap((row) => values.map((v) => ({ ...row, [name]: v })));
    } else {
      const values = Array.isArray(spec) ? spec : spec && typeof spec === 'object' ? spec.values : [spec];
      if (!values.length || values.some((v) => v === ''))
        errors.push({ field, message: 'has no value', remedy: 'write one or more, separated by commas' });
      if (values.length > 1) factors.push({ name, count: values.length });
      rows = rows.flatMap((row) => values.map((v) => ({ ...row, [name]: v })));
    }
  }
  if (e.resources?.gpus !== undefined && typeof e.resources.gpus !== 'number')
    errors.push({ field: '/resources/gpus', message: `${e.resources.gpus} is not a number`, remedy: 'write 1, 2, …' });
  if (e.search?.tasks !== undefined && !(e.search.tasks > 0))
    errors.push({ field: '/search/tasks', message: 'must be at least 1' });
  if (errors.length) return problem(errors);
  const budget = e.search?.tasks ?? (strategy === 'grid' ? rows.length : 60);
  const count = strategy === 'grid' ? Math.min(rows.length, budget) : budget;
  const body = {
    valid: true,
    count,
    how: factors.length
      ? strategy === 'grid'
        ? factors.map((f) => f.count).join(' × ')
        : `a budget of ${budget}`
      : 'one configuration',
    factors,
    finite: true,
    parallel: e.search?.parallel ?? 2,
    backend: e.resources?.backend ?? 'local',
    strategy: e.search?.strategy ?? 'auto',
    reason: null,
    sample: rows.slice(0, 20),
    lacks: [],
    sample_exact: strategy === 'grid',
    experiment: e,
    call: `python3 ${e.script ?? 'model.py'}`,
    call_exact: true,
    chosen: [],
    script: [
      '#!/bin/bash',
      `#SBATCH --job-name=${(e.name ?? 'experiment').replace(/\W+/g, '-')}`,
      `#SBATCH --array=1-${count}%4`,
      `#SBATCH --cpus-per-task=${e.resources?.cpus ?? 1}`,
      '',
      '# one task of the array',
      'exec sluice exec "$SLURM_ARRAY_TASK_ID"',
      '',
    ].join('\n'),
    yaml: `${Object.entries(e)
      .map(([k, v]) =>
        k === 'parameters'
          ? `parameters:\n${Object.entries(v)
              .map(([n, x]) => `  ${n}: ${write(x)}`)
              .join('\n')}`
          : `${k}: ${write(v)}`,
      )
      .join('\n')}\n`,
    warnings: [],
    environment: { python: '/usr/bin/python3', version: '3.11.2', how: null, modules: [], variables: [] },
    needs: e.script ? [e.script] : [],
    estimate: ESTIMATES[e.script] ?? null,
  };
  if (wantScan) body.scan = scan(sent.files?.[0]);
  return { status: 200, body };
}
