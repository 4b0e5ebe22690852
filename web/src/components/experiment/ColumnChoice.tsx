// Which columns the table has. The choice is in the address; views that people keep are in this browser.
import { useSignal } from '@preact/signals';
import { toast } from '../../data/toast';
import type { Column } from '../../lib/columns';
import { joinNames, splitNames } from '../../lib/names';
import { query, setQuery } from '../../lib/router';
import { Drop } from '../Drop';
import { Icon } from '../Icon';

const GROUPS: Column['group'][] = ['Parameters', 'Results', 'Costs', 'Other'];
// What a view remembers of the address.
const PARTS = [
  ...['q', 'sort', 'state', 'only', 'more', 'fewer', 'brush', 'front', 'over'],
  ...['metric', 'colour', 'x', 'y', 'smooth', 'zoom'],
  ...['show', 'sx', 'sy', 'sc', 'ss', 'pa', 'pb', 'lanes'],
];

type Views = Record<string, string>;

const place = (experiment: string) => `sluice.views.${experiment}`;

function read(experiment: string): Views {
  try {
    return JSON.parse(localStorage.getItem(place(experiment)) ?? '{}') as Views;
  } catch {
    return {};
  }
}

function write(experiment: string, views: Views) {
  try {
    localStorage.setItem(place(experiment), JSON.stringify(views));
  } catch {
    toast('This browser does not let the page keep a view.', { level: 'error' });
  }
}

export const keysOf = (name: 'more' | 'fewer') => splitNames(query.value.get(name));

function toggle(column: Column, on: boolean) {
  const more = keysOf('more').filter((key) => key !== column.key);
  const fewer = keysOf('fewer').filter((key) => key !== column.key);
  if (on && !column.usual) more.push(column.key);
  if (!on) fewer.push(column.key);
  const less = on ? fewer : fewer.filter((k) => column.usual || k !== column.key);
  setQuery({ more: joinNames(more), fewer: joinNames(less) });
}

export function ColumnChoice({ experiment, all, shown }: { experiment: string; all: Column[]; shown: Column[] }) {
  const name = useSignal('');
  const views = useSignal<Views>(read(experiment));
  const on = new Set(shown.map((column) => column.key));
  const keep = () => {
    const now = new URLSearchParams();
    for (const part of PARTS) if (query.value.get(part)) now.set(part, query.value.get(part)!);
    views.value = { ...views.value, [name.value.trim()]: now.toString() };
    write(experiment, views.value);
    name.value = '';
  };
  const use = (view: string) => {
    const then = new URLSearchParams(view);
    setQuery(Object.fromEntries(PARTS.map((part) => [part, then.get(part)])));
  };
  const forget = (view: string) => {
    const { [view]: _gone, ...rest } = views.value;
    views.value = rest;
    write(experiment, rest);
  };
  return (
    <Drop label="Columns" name="Columns and views" icon="gear" class="compact hide-phone">
      {() => (
        <>
          {GROUPS.map((group) => (
            <fieldset key={group}>
              <legend>{group}</legend>
              {all
                .filter((column) => column.group === group)
                .map((column) => (
                  <label key={column.key}>
                    <input
                      type="checkbox"
                      checked={on.has(column.key)}
                      onChange={(event) => toggle(column, event.currentTarget.checked)}
                    />
                    <bdi>{column.label}</bdi>
                  </label>
                ))}
            </fieldset>
          ))}
          <fieldset>
            <legend>Views</legend>
            {Object.entries(views.value).map(([label, view]) => (
              <span key={label} class="view">
                <button type="button" class="link" onClick={() => use(view)}>
                  <bdi>{label}</bdi>
                </button>
                <button
                  type="button"
                  class="btn icon compact ghost"
                  aria-label={`Forget the view ${label}`}
                  onClick={() => forget(label)}
                >
                  <Icon name="x" />
                </button>
              </span>
            ))}
            <form
              class="view"
              onSubmit={(event) => {
                event.preventDefault();
                if (name.value.trim()) keep();
              }}
            >
              <input
                type="text"
                aria-label="Name of the view"
                placeholder="Name of this view"
                value={name.value}
                onInput={(event) => {
                  name.value = event.currentTarget.value;
                }}
              />
              <button type="submit" class="btn compact" disabled={!name.value.trim()}>
                Save
              </button>
            </form>
          </fieldset>
        </>
      )}
    </Drop>
  );
}
