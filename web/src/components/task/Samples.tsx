// What the processes and GPUs of a task did over its time: one small chart a figure, with its least, mean and most in
// words. Loaded when the card comes into view, and again when the task has new samples.
import { useEffect, useRef, useState } from 'preact/hooks';
import { get } from '../../data/api';
import type { SampleFigure, Task, TaskSamples } from '../../data/types';
import { bytes, duration, plural } from '../../lib/format';
import { Card } from '../Card';

type Column = (number | null)[];
interface Row {
  title: string;
  unit: string;
  column: Column;
}

const W = 300;
const H = 36;
const FOLLOW_MS = 2000;
// For the rules that judge a run: a curve of them says nothing.
const UNSHOWN = new Set(['throttle', 'ready']);
// Counts of processes that wait or are stopped are worth a chart only where there are any.
const QUIET = new Set(['blocked', 'stopped', 'others', 'read_bytes_s', 'write_bytes_s']);

function text(value: number, unit: string): string {
  if (unit === 'B') return bytes(value);
  if (unit === 'B/s') return `${bytes(value)}/s`;
  return String(Number(value.toPrecision(3)));
}

// "0.22 to 0.28 cores, mean 0.25"; a figure that never changed is said once.
function words(values: number[], unit: string): string {
  const [least, most] = [text(Math.min(...values), unit), text(Math.max(...values), unit)];
  const mean = text(values.reduce((sum, value) => sum + value, 0) / values.length, unit);
  const behind = unit && !unit.startsWith('B') ? ` ${unit}` : '';
  return least === most ? `${least}${behind}` : `${least} to ${most}${behind}, mean ${mean}`;
}

function known(column: Column): number[] {
  return column.filter((value): value is number => value !== null);
}

function Chart({ row, time }: { row: Row; time: number[] }) {
  const values = known(row.column);
  const most = Math.max(...values, 0) || 1;
  const until = time[time.length - 1] || 1;
  const x = (i: number) => (time[i] / until) * W;
  const y = (value: number) => H - 1 - (value / most) * (H - 3);
  let pen = 'M';
  let d = '';
  row.column.forEach((value, i) => {
    if (value !== null) d += `${pen}${x(i).toFixed(1)} ${y(value).toFixed(1)}`;
    pen = value === null ? 'M' : 'L';
  });
  return (
    <div class="sampled">
      <dt>{row.title}</dt>
      <dd>
        <svg viewBox={`0 0 ${W} ${H}`} preserveAspectRatio="none" aria-hidden="true" class="spark on">
          <path d={d} vector-effect="non-scaling-stroke" />
        </svg>
        <span class="numeric small dim">{words(values, row.unit)}</span>
      </dd>
    </div>
  );
}

function rowsOf(figures: SampleFigure[], columns: Record<string, unknown>, prefix: string): Row[] {
  return figures.flatMap((figure) => {
    const column = columns[figure.key] as Column | undefined;
    if (!column || UNSHOWN.has(figure.key) || !known(column).length) return [];
    if (QUIET.has(figure.key) && !known(column).some((value) => value > 0)) return [];
    const label = `${prefix}${figure.label}`;
    return [{ title: label[0].toUpperCase() + label.slice(1), unit: figure.unit, column }];
  });
}

function useSamples(task: Task, seen: boolean): TaskSamples | null {
  const [got, set] = useState<TaskSamples | null>(null);
  const last = useRef(0);
  const mark = `${task.experiment}/${task.number} ${task.cost.wall_s}`;
  useEffect(() => {
    if (!seen) return undefined;
    let gone = false;
    const timer = setTimeout(
      () => {
        last.current = Date.now();
        get<TaskSamples>(`/experiments/${task.experiment}/tasks/${task.number}/samples`)
          .then((answer) => {
            if (!gone) set(answer);
          })
          .catch(() => undefined);
      },
      Math.max(0, last.current + FOLLOW_MS - Date.now()),
    );
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [mark, seen]);
  return got;
}

export function Samples({ task }: { task: Task }) {
  const host = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    const watch = new IntersectionObserver((entries) => {
      if (entries.some((entry) => entry.isIntersecting)) setSeen(true);
    });
    watch.observe(host.current!);
    return () => watch.disconnect();
  }, []);
  const samples = useSamples(task, seen);
  const time = samples?.time_s ?? [];
  const rows = samples
    ? [
        ...rowsOf(samples.figures.host, samples.host, ''),
        ...samples.gpus.flatMap((gpu) => rowsOf(samples.figures.gpu, gpu, `GPU ${gpu.id} `)),
      ]
    : [];
  return (
    <div ref={host}>
      <Card title="Use over time" id="samples">
        <div class="body">
          {rows.length > 0 && time.length > 0 ? (
            <>
              <dl class="samples">
                {rows.map((row) => (
                  <Chart key={row.title} row={row} time={time} />
                ))}
              </dl>
              <p class="mute small">
                {plural(time.length, 'sample')} over {duration(time[time.length - 1])}.
                {samples!.gpus.length === 0 && ' GPUs: not measured.'}
              </p>
            </>
          ) : (
            <p class="mute small">
              {samples ? 'No samples: the first comes two seconds after the script has started.' : 'Loading'}
            </p>
          )}
        </div>
      </Card>
    </div>
  );
}
