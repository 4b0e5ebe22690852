// Where running tasks are going, as far as the finished ones show that this can be told.
import type { Forecast } from '../data/types';
import { finite, metric, plural } from '../lib/format';
import type { PlotLine } from './plot';

const percent = (share: number) => `${Math.round(share * 100)} %`;

// The dashed continuation of a curve, with the error of the backtest around its end.
export function continuation(forecast: Forecast | undefined, number: number, line: PlotLine): PlotLine | null {
  const goes = forecast?.running?.find((r) => r.task === number);
  let last = line.x.length - 1;
  while (last >= 0 && line.y[last] === null) last--;
  if (!goes || last < 0 || goes.at <= line.x[last] || finite(goes.predicted) === null) return null;
  return {
    id: line.id,
    key: `${line.key ?? line.id} predicted`,
    label: `${line.label}, predicted`,
    css: line.css,
    dash: true,
    end: null,
    x: [line.x[last], goes.at],
    y: [line.y[last], goes.predicted],
    band: goes.error === null ? undefined : [0, goes.error],
  };
}

// What the backtest says, in words. Nothing where nothing runs that could be predicted.
export function Worth({ forecast, shown }: { forecast: Forecast | undefined; shown: boolean }) {
  if (!forecast) return null;
  const tried = forecast.cuts.filter((cut) => cut.correlation !== null);
  const said = tried.map((cut) => (
    <span key={cut.share}>
      {' '}
      After {percent(cut.share)} of the steps extrapolated curves order {plural(cut.tasks, 'finished task')} with rank
      correlation {cut.correlation!.toFixed(2)}, the best so far with{' '}
      {cut.plain === null ? 'none' : cut.plain.toFixed(2)}
      {forecast.earned && cut.error !== null && <>; half of them were off by {metric(cut.error)} at most</>}.
    </span>
  ));
  if (forecast.earned)
    return shown ? (
      <p class="mute small forecast">Dashed: a prediction, from a power law fitted to the curve.{said}</p>
    ) : null;
  if (!tried.length)
    return (
      <p class="mute small forecast">
        No forecast yet: it needs 8 finished tasks with 4 values each in the first half.
      </p>
    );
  return (
    <details class="mute small forecast">
      <summary>No prediction: it was not good enough for the finished tasks</summary>It must rank them clearly better
      than their best values at that point.{said}
    </details>
  );
}
