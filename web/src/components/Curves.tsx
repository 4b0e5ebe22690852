// The chart of curves as a component: one tab stop, arrows walk along and between the lines, the value is
// announced, and the same numbers are there as a table.
import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { reading } from '../lib/format';
import { theme } from '../lib/theme';
import { pictures } from './picture';
import { keyOf, Plot, type PlotLine } from './plot';

export interface CurvesProps {
  lines: PlotLine[];
  // Moves whenever lines changed in place.
  version: number;
  label: string;
  metricName: string;
  height: number;
  log: boolean;
  xLabel: string;
  xFormat?: (x: number) => string;
  hovered: Signal<string | null>;
  shown?: Set<string> | null;
  // The stretch of the horizontal axis that is shown; undefined: the chart keeps it itself.
  zoom?: [number, number] | null;
  onZoom?: (range: [number, number] | null) => void;
  onPick?: (id: string) => void;
}

export function Curves(props: CurvesProps) {
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<Plot | null>(null);
  const point = useRef(-1);
  const series = useRef<string | null>(null);
  const tip = useSignal<{ left: number; top: number; id: string; index: number } | null>(null);
  const own = useSignal<[number, number] | null>(null);
  const zoom = props.onZoom ? (props.zoom ?? null) : own.value;
  const said = useSignal('');
  const latest = useRef(props);
  latest.current = props;

  // Of what is no number only the curve's data say what it is.
  const shown = (y: number | null) => (y === null ? 'NaN or ∞' : reading(y));

  const describe = (id: string, index: number) => {
    const { lines } = latest.current;
    const line = lines.find((l) => l.id === id && keyOf(l) === series.current) ?? lines.find((l) => l.id === id);
    if (!line || index < 0) return '';
    const x = latest.current.xFormat
      ? latest.current.xFormat(line.x[index])
      : `${latest.current.xLabel} ${line.x[index]}`;
    const name = line.name ?? latest.current.metricName;
    if (!line.raw) return `${line.label}, ${x}: ${name} ${shown(line.y[index])}`;
    return `${line.label}, ${x}: ${name} ${shown(line.raw[index])}, smoothed ${shown(line.y[index])}`;
  };

  const setZoom = (range: [number, number] | null) => {
    if (latest.current.onZoom) latest.current.onZoom(range);
    else own.value = range;
  };

  const show = (id: string | null, index: number) => {
    point.current = index;
    const where = plot.current?.highlight(id, index, series.current) ?? null;
    tip.value = where && id !== null ? { ...where, id, index } : null;
  };

  useLayoutEffect(() => {
    const made = new Plot(host.current!, {
      height: props.height,
      log: props.log,
      xLabel: props.xLabel,
      yLabel: props.metricName,
      xFormat: props.xFormat,
      onHover: (id, index, key) => {
        point.current = index;
        series.current = key;
        if (props.hovered.value === id) show(id, index);
        else props.hovered.value = id;
      },
      onPick: props.onPick && ((id) => latest.current.onPick?.(id)),
      onZoom: (range) => setZoom(range),
    });
    plot.current = made;
    pictures.set(host.current!, () => made.picture());
    const watch = new ResizeObserver(() => made.resize(host.current?.clientWidth ?? 0));
    watch.observe(host.current!);
    return () => {
      watch.disconnect();
      made.destroy();
    };
  }, [props.log, props.height, props.xLabel, theme.value]);

  useLayoutEffect(() => {
    plot.current?.setZoom(zoom);
    tip.value = null;
  }, [zoom?.join(), props.log, props.height, props.xLabel, theme.value]);

  useLayoutEffect(() => {
    plot.current?.setLines(props.lines);
  }, [props.lines, props.version, props.log, props.height, props.xLabel, theme.value]);

  useLayoutEffect(() => {
    plot.current?.setShown(props.shown ?? null);
  }, [props.shown, props.log, props.xLabel, theme.value]);

  // A row of the table may have been pointed at instead of the chart: then no point is marked.
  useEffect(() => props.hovered.subscribe((id) => show(id, id === null ? -1 : point.current)), [props.hovered]);

  const key = (event: KeyboardEvent) => {
    const { lines, hovered } = latest.current;
    if (!lines.length) return;
    if (event.key === 'Escape') {
      hovered.value = null;
      setZoom(null);
      return;
    }
    if (event.key === 'Enter' && hovered.value !== null) {
      latest.current.onPick?.(hovered.value);
      return;
    }
    const across = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    const along = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (!across && !along) return;
    event.preventDefault();
    let at = lines.findIndex(
      (line) => line.id === hovered.value && (series.current === null || keyOf(line) === series.current),
    );
    if (at < 0) {
      at = Math.max(
        0,
        lines.findIndex((line) => line.strong),
      );
      point.current = -1;
    } else at = (at + along + lines.length) % lines.length;
    const size = lines[at].x.length;
    point.current = Math.min(size - 1, Math.max(0, point.current < 0 ? size - 1 : point.current + across));
    const id = lines[at].id;
    const { current } = point;
    series.current = keyOf(lines[at]);
    hovered.value = id;
    show(id, current);
    said.value = describe(id, current);
  };

  const hint = tip.value;
  const words = hint ? describe(hint.id, hint.index) : '';
  // To the left of the point in the right half, if there is room: about six pixels a letter.
  const west = !!hint && hint.left > (host.current?.clientWidth ?? 0) / 2 && hint.left > words.length * 6 + 30;
  return (
    <div
      class="chart"
      onMouseLeave={() => {
        props.hovered.value = null;
      }}
    >
      <div
        ref={host}
        class="plot"
        role="img"
        tabIndex={0}
        aria-label={`${props.label} Arrow keys read the values.`}
        onKeyDown={key}
        onBlur={() => {
          props.hovered.value = null;
        }}
      />
      {hint && (
        <div
          class={west ? 'tip west' : 'tip'}
          aria-hidden="true"
          style={{ left: `${hint.left}px`, top: `${hint.top}px` }}
        >
          {words}
        </div>
      )}
      {zoom && (
        <button type="button" class="btn compact unzoom" onClick={() => setZoom(null)}>
          Reset zoom
        </button>
      )}
      <span class="visually-hidden" role="status">
        {said.value}
      </span>
    </div>
  );
}
