// A chosen point of the front beside its neighbours: the next ones along the front, and the tasks whose parameters are
// most alike.
import type { Signal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { Experiment, TaskSummary } from '../../data/types';
import { metric, param } from '../../lib/format';
import { nearest } from '../../lib/near';
import { own } from '../../lib/own';
import { setQuery } from '../../lib/router';
import type { FrontDot, FrontPicture } from './Front';

const ALIKE = 3;

interface Props {
  e: Experiment;
  shown: FrontPicture;
  front: FrontDot[];
  chosen: FrontDot;
  tasks: Map<number, TaskSummary>;
  hovered: Signal<string | null>;
}

export function Neighbours({ e, shown, front, chosen, tasks, hovered }: Props) {
  const at = front.findIndex((p) => p.n === chosen.n);
  const alike = useMemo(() => {
    const task = tasks.get(chosen.n);
    const others = shown.dots.map((p) => tasks.get(p.n)).filter((t): t is TaskSummary => !!t && t.number !== chosen.n);
    return task ? nearest(e, task, others, ALIKE) : [];
  }, [chosen.n, tasks, shown]);
  const dot = new Map(shown.dots.map((p) => [p.n, p]));
  const rows: { n: number; why: string }[] = [
    ...(at > 0 ? [{ n: front[at - 1].n, why: `less ${shown.unit}` }] : []),
    { n: chosen.n, why: at < 0 ? 'chosen; others beat it' : 'chosen, on the front' },
    ...(at >= 0 && at < front.length - 1 ? [{ n: front[at + 1].n, why: `more ${shown.unit}` }] : []),
    ...alike.map((t) => ({ n: t.number, why: 'most alike in its parameters' })),
  ];
  const mine = tasks.get(chosen.n)?.parameters ?? {};
  const differ = (n: number) =>
    n === chosen.n
      ? e.varying.map((name) => `${name} ${param(own(mine, name))}`).join(' · ')
      : e.varying
          .filter((name) => own(tasks.get(n)?.parameters, name) !== own(mine, name))
          .map((name) => `${name} ${param(own(tasks.get(n)?.parameters, name))}`)
          .join(' · ') || 'the same parameters';
  return (
    <div class="table-wrap">
      <table class="plain neighbours">
        <caption class="visually-hidden">Neighbours of task {chosen.n}</caption>
        <thead>
          <tr>
            <th scope="col">Task</th>
            <th scope="col" class="right">
              <bdi>{shown.name}</bdi>
            </th>
            <th scope="col" class="right">
              <bdi>{shown.unit}</bdi>
            </th>
            <th scope="col">Where it differs</th>
            <th scope="col">
              <button type="button" class="link" onClick={() => setQuery({ at: null })}>
                Close
              </button>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ n, why }, i) => (
            <tr
              key={`${n} ${i}`}
              class={n === chosen.n ? 'selected' : undefined}
              onMouseEnter={() => {
                hovered.value = String(n);
              }}
              onMouseLeave={() => {
                hovered.value = null;
              }}
            >
              <td>
                <a href={`/e/${e.id}/${n}`}>#{n}</a>
              </td>
              <td class="right numeric" title={String(dot.get(n)?.y)}>
                {metric(dot.get(n)?.y)}
              </td>
              <td class="right numeric" title={String(dot.get(n)?.x)}>
                {shown.format(dot.get(n)?.x ?? 0)}
              </td>
              <td class="wrap">
                <bdi>{differ(n)}</bdi>
              </td>
              <td class="mute small">{why}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
