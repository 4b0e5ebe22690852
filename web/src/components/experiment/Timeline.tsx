// Who ran where and when: a lane for each GPU or slot, a bar for each attempt, and what stood idle between them.
import type { Signal } from '@preact/signals';
import { useMemo, useRef } from 'preact/hooks';
import { now } from '../../data/store';
import type { Attempts, Experiment, TaskSummary } from '../../data/types';
import { toCsv } from '../../lib/csv';
import { duration, plural, stamp } from '../../lib/format';
import { type Lane, lanesOf } from '../../lib/lanes';
import { useWidth } from '../../lib/width';
import { useHot } from '../Dots';
import { Export } from '../Export';
import { useAbout } from './Insight';

const LEFT = 132;
const RIGHT = 64;
const ROW = 22;
const TOP = 6;
const BOTTOM = 34;
// More bars than this are drawn as one shape for each state, which the pointer cannot tell apart.
const BARS_MOST = 3000;
// Seconds between ticks.
const SPANS = [1, 5, 10, 30, 60, 300, 600, 1800, 3600, 7200, 21600, 43200, 86400, 172800, 604800, 2592000];

interface Props {
  e: Experiment;
  tasks: TaskSummary[];
  hovered: Signal<string | null>;
  lit: Set<string> | null;
  onOpen: (n: string) => void;
}

function Shapes({ lane, x, y }: { lane: Lane; x: (ms: number) => number; y: number }) {
  const paths = new Map<string, string>();
  for (const bar of lane.bars) {
    const w = Math.max(0.5, x(bar.to) - x(bar.from));
    const d = `M${x(bar.from).toFixed(1)} ${y}h${w.toFixed(1)}v${ROW - 6}h${(-w).toFixed(1)}z`;
    paths.set(bar.state, (paths.get(bar.state) ?? '') + d);
  }
  return (
    <>
      {[...paths].map(([state, d]) => (
        <path key={state} d={d} class={`stint ${state}`} />
      ))}
    </>
  );
}

export function TimelineTab({ e, hovered, lit, onOpen }: Props) {
  const [box, width] = useWidth(900);
  const svg = useRef<SVGSVGElement>(null);
  useHot(svg, hovered);
  const got = useAbout<Attempts>(e, 'attempts').value;
  const running = e.tasks.running > 0;
  // A bar that grows is drawn again every ten seconds, not every one.
  const time = running ? Math.floor(now.value / 10000) * 10000 + 10000 : 0;
  const shown = useMemo(
    () => (got ? lanesOf(got.attempts, Math.min(time || Infinity, Date.now())) : null),
    [got, time],
  );
  if (!shown) return <p class="no-chart mute">Loading when and where the tasks ran…</p>;
  const { lanes, from, to, idle } = shown;
  if (!lanes.length)
    return (
      <p class="no-chart mute">
        {e.tasks.finished ? 'No task has run here: the results were imported.' : 'No task has started yet.'}
      </p>
    );
  const W = width.value;
  const H = TOP + lanes.length * ROW + BOTTOM;
  const span = Math.max(1, to - from);
  const x = (ms: number) => LEFT + ((ms - from) / span) * (W - LEFT - RIGHT);
  const step = SPANS.find((s) => s >= span / 1000 / Math.max(1, (W - LEFT - RIGHT) / 90)) ?? SPANS.at(-1)!;
  const ticks = Array.from({ length: Math.floor(span / 1000 / step) + 1 }, (_, i) => i * step);
  const bars = lanes.reduce((sum, lane) => sum + lane.bars.length, 0);
  const unused = idle === null ? '' : ` ${Math.round(idle * 100)} % of the time of all lanes was idle.`;
  const label = `When ${plural(bars, 'attempt')} ran, on ${plural(lanes.length, 'lane')}.${unused}`;
  const share = (busy: number) => `${Math.round((busy / span) * 100)} %`;
  return (
    <div class="body">
      <div class="explore-bar">
        <span class="small">
          {plural(lanes.length, 'lane')} over {duration(span / 1000)}
          {idle !== null && (
            <>
              , <b>{Math.round(idle * 100)} %</b> idle
            </>
          )}
        </span>
        <span class="mute small">
          {lanes.some((l) => / slot \d+$/.test(l.name)) ? 'Slots are as few as the tasks of a node need.' : ''}
        </span>
        <span class="grow" />
        <Export
          name={`${e.id}-timeline`}
          of={box}
          csv={() =>
            toCsv([
              ['lane', 'task', 'attempt', 'state', 'started', 'ended'],
              ...lanes.flatMap((lane) =>
                lane.bars.map((b) => [
                  lane.name,
                  b.task,
                  b.attempt,
                  b.state,
                  new Date(b.from).toISOString(),
                  b.state === 'running' ? null : new Date(b.to).toISOString(),
                ]),
              ),
            ])
          }
        />
      </div>
      <div ref={box} class="scroll-x">
        <svg
          ref={svg}
          class="timeline"
          width={W}
          height={H}
          viewBox={`0 0 ${W} ${H}`}
          role="img"
          aria-label={label}
          onMouseLeave={() => {
            hovered.value = null;
          }}
          onMouseOver={(event) => {
            hovered.value = (event.target as Element).getAttribute('data-id');
          }}
          onClick={(event) => {
            const id = (event.target as Element).getAttribute('data-id');
            if (id) onOpen(id);
          }}
        >
          {ticks.map((t) => (
            <g key={t}>
              <line class="grid-line" x1={x(from + t * 1000)} x2={x(from + t * 1000)} y1={TOP} y2={H - BOTTOM} />
              <text x={x(from + t * 1000)} y={H - BOTTOM + 15} text-anchor="middle">
                {t ? duration(t) : '0'}
              </text>
            </g>
          ))}
          <text x={LEFT} y={H - 4}>
            since {stamp(new Date(from).toISOString())}
          </text>
          <text x={W} y={H - 4} text-anchor="end">
            busy
          </text>
          {lanes.map((lane, i) => {
            const y = TOP + i * ROW + 3;
            return (
              <g key={lane.name}>
                <text x={LEFT - 8} y={y + 12} text-anchor="end">
                  <title>{lane.name}</title>
                  {lane.name.length > 20 ? `…${lane.name.slice(-19)}` : lane.name}
                </text>
                <rect class="lane" x={LEFT} y={y} width={Math.max(0, W - LEFT - RIGHT)} height={ROW - 6} />
                {bars > BARS_MOST ? (
                  <Shapes lane={lane} x={x} y={y} />
                ) : (
                  lane.bars.map((bar) => (
                    <rect
                      key={`${bar.task} ${bar.attempt}`}
                      data-id={bar.task}
                      class={`stint ${bar.state}${lit && !lit.has(String(bar.task)) ? ' off' : ''}`}
                      x={x(bar.from).toFixed(1)}
                      y={y}
                      width={Math.max(1, x(bar.to) - x(bar.from) - 0.5).toFixed(1)}
                      height={ROW - 6}
                    >
                      <title>{`#${bar.task}, attempt ${bar.attempt}: ${bar.state}, ${duration((bar.to - bar.from) / 1000)}`}</title>
                    </rect>
                  ))
                )}
                <text x={W} y={y + 12} text-anchor="end">
                  {share(lane.busy_ms)}
                </text>
              </g>
            );
          })}
        </svg>
      </div>
    </div>
  );
}
