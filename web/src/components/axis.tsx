// What curves are drawn over: the step of the script's rows, the epoch beside it, or the time since the task began.
import type { Signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Axis, Line } from '../data/store';
import { capitalize, duration } from '../lib/format';
import { query, setQuery } from '../lib/router';
import { Seg } from './choice';

// From the address, so that a link shows the same picture; null: none is named there.
export function axisAsked(): Axis | null {
  const x = query.value.get('x');
  return x === 'time' || x === 'epoch' || x === 'step' ? x : null;
}

export const axisNow = (): Axis => axisAsked() ?? 'step';

// Has the store fetch its curves over the axis in the address; the axis that they are over now.
export function useAxis(store: { axis: Signal<Axis>; over(axis: Axis | null): Promise<void> }): Axis {
  const wanted = axisAsked();
  useEffect(() => void store.over(wanted), [store, wanted]);
  return store.axis.value;
}

export function axisName(axis: Axis, step: string): string {
  return axis === 'step' ? step : axis;
}

export const axisFormat = (axis: Axis) => (axis === 'time' ? duration : undefined);

// The points whose place on the axis is known.
export function placed(line: Line): { x: number[]; y: (number | null)[]; nan: number[] } {
  const nan = line.value.includes(null) ? line.x.filter((x, i) => x !== null && line.value[i] === null) : [];
  if (!line.x.includes(null)) return { x: line.x as number[], y: line.value, nan: nan as number[] };
  const kept = line.x.flatMap((x, i) => (x === null ? [] : [i]));
  return { x: kept.map((i) => line.x[i] as number), y: kept.map((i) => line.value[i]), nan: nan as number[] };
}

// Where a step lies on the axis, where its point is on the chart.
export function placeOf(line: Line, step: number | null | undefined): number | null {
  const at = step == null ? -1 : line.step.indexOf(step);
  return at < 0 ? null : line.x[at];
}

interface SwitchProps {
  axis: Axis;
  step: string;
  // The axis where the address names none.
  usual?: Axis;
  // Whether points have an epoch beside their step, and a time; an axis that none has is not offered.
  epochs: boolean | null;
  times: boolean;
}

export function AxisSwitch({ axis, step, usual = 'step', epochs, times }: SwitchProps) {
  const epoch = step !== 'epoch' && (epochs !== false || axis === 'epoch');
  if (!epoch && !times) return null;
  return (
    <Seg
      label="Horizontal axis"
      value={axis}
      options={[
        { value: 'step', label: capitalize(step) },
        ...(epoch ? [{ value: 'epoch' as const, label: 'Epoch' }] : []),
        ...(times ? [{ value: 'time' as const, label: 'Time' }] : []),
      ]}
      onPick={(value) => setQuery({ x: value === usual ? null : value, zoom: null })}
    />
  );
}
