// Tasks side by side, of one experiment or of several: where they differ, and their curves over each other.
import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { AddTasks } from '../components/AddTasks';
import { AxisSwitch, axisFormat, axisName, axisNow, placed, placeOf, useAxis } from '../components/axis';
import { Card } from '../components/Card';
import { CopyButton } from '../components/CopyButton';
import { Crumbs } from '../components/Crumbs';
import { Curves } from '../components/Curves';
import { Toggle } from '../components/choice';
import { costRows, csvOf, parameterRows, type RowSpec, resultRows, Section } from '../components/compare';
import { Icon } from '../components/Icon';
import { Loading, Trouble } from '../components/notice';
import type { PlotLine } from '../components/plot';
import { saveBlob } from '../data/api';
import { type Compared, CompareStore, keyOf, parseRefs, type Ref } from '../data/compare';
import { hue } from '../lib/colour';
import { finite, paramLine, plural } from '../lib/format';
import { joinNames, splitNames } from '../lib/names';
import { panelsOf, trainingOf } from '../lib/panels';
import { go, query, setQuery } from '../lib/router';
import { theme } from '../lib/theme';
import { MissingPage, useTitle } from './Other';

// Of more tasks the table stands below the curves, where it has the width of the page.
const BESIDE = 3;

// Short where all are of one experiment.
const nameOf = (one: Compared, one_only: boolean) => (one_only ? `#${one.task.number}` : one.key);

function linesOf(all: Compared[], name: string, single: boolean, dash: boolean): PlotLine[] {
  return all.flatMap((one, i): PlotLine[] => {
    const line = one.lines.get(name);
    const points = line && placed(line);
    if (!line || !points?.x.length) return [];
    const goal = one.e.objective[0]?.metric === name;
    const y = goal ? finite(one.task.best?.value) : null;
    const x = goal ? placeOf(line, one.task.best?.epoch) : null;
    return [
      {
        id: one.key,
        key: `${one.key} ${name}`,
        name,
        label: nameOf(one, single),
        css: hue(i + 1),
        ...points,
        dash,
        strong: all.length < 8 && !dash,
        end: dash ? null : one.task.state === 'running' ? 'dot' : one.task.state === 'error' ? 'cross' : null,
        mark: y !== null && x !== null ? { x, y, text: nameOf(one, single) } : null,
      },
    ];
  });
}

function Overlay({ store, all, single }: { store: CompareStore; all: Compared[]; single: boolean }) {
  const hovered = useSignal<string | null>(null);
  const linear = useSignal(false);
  const axis = useAxis(store);
  const version = store.version.value;
  const names = [...new Set(all.flatMap((one) => [...one.lines.keys()]))];
  const goals = [...new Set(all.map((one) => one.e.objective[0]?.metric).filter((n): n is string => !!n))];
  const trained = goals.map((name) => trainingOf(name, names)).filter((n): n is string => !!n);
  const asked = query.value.has('metrics') ? splitNames(query.value.get('metrics')) : [...goals, ...trained];
  const shown = names.filter((name) => asked.includes(name));
  const step = all[0]?.e.step_name || 'epoch';
  const charts = useMemo(
    () =>
      panelsOf(shown).map(({ metrics }) => ({
        metrics,
        lines: metrics.flatMap((name, place) => linesOf(all, name, single, place > 0)),
      })),
    [shown.join(), all, version, theme.value],
  );
  const positive =
    charts.length > 0 && charts.every(({ lines }) => lines.every((l) => l.y.every((v) => v === null || v > 0)));
  const toggle = (name: string) =>
    setQuery({ metrics: joinNames(shown.includes(name) ? shown.filter((n) => n !== name) : [...shown, name]) });
  return (
    <Card
      title="Curves"
      id="overlay"
      extra={
        <>
          <div class="segmented wrap" role="group" aria-label="Metrics shown">
            {names.map((name) => (
              <button key={name} type="button" aria-pressed={shown.includes(name)} onClick={() => toggle(name)}>
                <bdi>{name}</bdi>
              </button>
            ))}
          </div>
          <span class="grow" />
          <AxisSwitch
            axis={axis}
            step={step}
            epochs={store.epochsKnown.value}
            times={all.some((one) => one.task.started !== null)}
          />
          {positive && (
            <Toggle
              label="log y"
              on={!linear.value}
              onChange={(on) => {
                linear.value = !on;
              }}
            />
          )}
        </>
      }
    >
      <div class="body">
        {charts.map(({ metrics, lines }) => (
          <section key={metrics.join()} aria-label={`Curves of ${metrics.join(', ')}`}>
            <h3 class="small">
              <bdi>{metrics[0]}</bdi>
              {metrics.length > 1 && (
                <span class="mute">
                  , <bdi>{metrics.slice(1).join(', ')}</bdi> dashed
                </span>
              )}
            </h3>
            <Curves
              lines={lines}
              version={version}
              label={`${metrics.join(', ')} of ${all.map((one) => nameOf(one, single)).join(', ')} by ${axisName(axis, step)}.`}
              metricName={metrics[0]}
              height={charts.length > 1 ? 220 : 380}
              log={positive && !linear.value}
              xLabel={axisName(axis, step)}
              xFormat={axisFormat(axis)}
              hovered={hovered}
              onPick={(key) => go(`/e/${key}`)}
            />
          </section>
        ))}
        {!charts.length && (
          <p class="no-chart mute">{names.length ? 'No metric is chosen.' : 'None of these has a curve yet.'}</p>
        )}
        <ul class="legend-list" aria-label="Legend">
          {all.map((one, i) => (
            <li key={one.key}>
              <i class="swatch" style={{ background: hue(i + 1) }} />
              <a href={`/e/${one.key}`}>{nameOf(one, single)}</a>{' '}
              <span class="dim small cut">
                {!single && (
                  <>
                    <bdi>{one.e.name}</bdi> ·{' '}
                  </>
                )}
                <bdi>{paramLine(one.task.parameters, one.e.varying)}</bdi>
              </span>
            </li>
          ))}
        </ul>
      </div>
    </Card>
  );
}

function Table({ all, single, onRemove }: { all: Compared[]; single: boolean; onRemove: (one: Compared) => void }) {
  const only = useSignal(false);
  const parts: [string, RowSpec[]][] = [
    ['Parameters', parameterRows(all)],
    ['Results', resultRows(all)],
    ['Cost', costRows(all)],
  ];
  const rows = parts.flatMap(([, list]) => list);
  return (
    <Card
      title="Parameters and results"
      id="diff"
      class="clip"
      extra={
        <>
          <span class="grow" />
          <label class="check">
            <input
              type="checkbox"
              checked={only.value}
              onChange={(event) => {
                only.value = event.currentTarget.checked;
              }}
            />
            Only differences
          </label>
          <button
            type="button"
            class="btn ghost small"
            onClick={() => saveBlob(new Blob([csvOf(all, rows)], { type: 'text/csv' }), 'compare.csv')}
          >
            <Icon name="down" />
            CSV
          </button>
        </>
      }
    >
      <div class="table-wrap">
        <table class="diff">
          <thead>
            <tr>
              <th scope="col">
                <span class="visually-hidden">Field</span>
              </th>
              {all.map((one, i) => (
                <th key={one.key} scope="col" class="right">
                  <span class="who">
                    <i class="swatch" style={{ background: hue(i + 1) }} />
                    <a class="row" href={`/e/${one.key}`} title={one.e.name}>
                      {nameOf(one, single)}
                    </a>
                    <button
                      type="button"
                      class="clear"
                      aria-label={`Remove task ${nameOf(one, single)}`}
                      onClick={() => onRemove(one)}
                    >
                      <Icon name="x" />
                    </button>
                  </span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {parts.map(([title, list]) => (
              <Section
                key={title}
                title={title}
                rows={only.value ? list.filter((r) => r.differ) : list}
                columns={all.length}
              />
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}

// `home` is the experiment of the address, whose tasks are named by number alone.
export function ComparePage({ home }: { home: string | null }) {
  const text = query.value.get('tasks') ?? '';
  const refs = parseRefs(text, home);
  const store = useMemo(() => new CompareStore(refs, axisNow()), []);
  useEffect(() => store.open(), [store]);
  const first = useRef(true);
  useEffect(() => {
    if (!first.current) void store.choose(refs);
    first.current = false;
  }, [refs.map(keyOf).join()]);
  const all = [...store.items.value.values()];
  const single = new Set(all.map((one) => one.e.id)).size <= 1 && (!home || all.every((one) => one.e.id === home));
  useTitle(`Compare ${plural(refs.length, 'task')}`);
  const choose = (next: Ref[]) =>
    setQuery({ tasks: next.map((ref) => (ref.id === home ? String(ref.number) : keyOf(ref))).join() || null });
  if (store.missing.value && !all.length) return <MissingPage what="experiment" />;
  const lost = refs.filter((ref) => !store.items.value.has(keyOf(ref)));
  const name = all.find((one) => one.e.id === home)?.e.name ?? home;
  return (
    <>
      <div class="head">
        <div class="headline">
          <Crumbs
            items={[
              { href: '/', label: 'Experiments' },
              ...(home ? [{ href: `/e/${home}`, label: name ?? home }] : []),
              { label: 'Compare' },
            ]}
          />
          <h1>Compare {plural(all.length, 'task')}</h1>
        </div>
        <div class="btns">
          <AddTasks
            home={home ?? all[0]?.e.id ?? null}
            there={refs}
            onAdd={(more) => choose([...refs, ...more.filter((ref) => !refs.some((r) => keyOf(r) === keyOf(ref)))])}
            onRemove={(one) => choose(refs.filter((ref) => keyOf(ref) !== keyOf(one)))}
          />
          <CopyButton words label="Copy link" text={() => location.href} />
        </div>
      </div>
      <Trouble what="The comparison" error={store.error.value} />
      {store.loading.value ? (
        <Loading />
      ) : !all.length ? (
        <section class="card">
          <p class="none mute">
            No task is chosen. <a href={home ? `/e/${home}` : '/'}>Select some in the table</a> and press c, or add them
            here by their ids.
          </p>
        </section>
      ) : (
        <>
          {lost.length > 0 && <p class="wrong small">There is no task {lost.map(keyOf).join(', ')}.</p>}
          <div class={all.length > BESIDE ? 'grid' : 'grid cols-compare'}>
            <Overlay store={store} all={all} single={single} />
            <Table all={all} single={single} onRemove={(one) => choose(refs.filter((ref) => keyOf(ref) !== one.key))} />
          </div>
        </>
      )}
    </>
  );
}
