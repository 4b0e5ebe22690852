// Small pieces that every page uses.
import type { ComponentChildren } from 'preact';
import { toast } from '../data/toast';
import { Icon, type IconName } from './Icon';

export function Card({
  title,
  id,
  extra,
  children,
  class: cls = '',
  hideTitle,
  step,
}: {
  title: ComponentChildren;
  id: string;
  extra?: ComponentChildren;
  children: ComponentChildren;
  class?: string;
  hideTitle?: boolean;
  step?: number;
}) {
  return (
    <section class={`card ${cls}`} aria-labelledby={id}>
      <header>
        {step && (
          <span class="step" aria-hidden="true">
            {step}
          </span>
        )}
        <h2 id={id} class={hideTitle ? 'visually-hidden' : undefined}>
          {title}
        </h2>
        {extra}
      </header>
      {children}
    </section>
  );
}

export function Seg<T extends string>({
  label,
  value,
  options,
  onPick,
  class: cls = '',
}: {
  label: string;
  value: T;
  options: { value: T; label: ComponentChildren; class?: string }[];
  onPick: (value: T) => void;
  class?: string;
}) {
  return (
    <div class={`segmented ${cls}`} role="group" aria-label={label}>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          class={option.class}
          aria-pressed={option.value === value}
          onClick={() => onPick(option.value)}
        >
          {option.label}
        </button>
      ))}
    </div>
  );
}

export function Toggle({ label, on, onChange }: { label: string; on: boolean; onChange: (on: boolean) => void }) {
  return (
    <div class="segmented">
      <button type="button" aria-pressed={on} onClick={() => onChange(!on)}>
        {label}
      </button>
    </div>
  );
}

export function Pick({
  label,
  value,
  options,
  onPick,
  class: cls = '',
}: {
  label: string;
  value: string;
  options: { value: string; label: string }[];
  onPick: (value: string) => void;
  class?: string;
}) {
  return (
    <label class={`pick ${cls}`}>
      {label}
      <select value={value} onChange={(event) => onPick(event.currentTarget.value)}>
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    </label>
  );
}

export function KeyValues({ rows }: { rows: [ComponentChildren, ComponentChildren][] }) {
  return (
    <dl class="pairs">
      {rows.map(([key, value], i) => (
        <div key={i}>
          <dt>{key}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export function Bar({ share, label, state, meter }: { share: number; label: string; state?: string; meter?: boolean }) {
  const percent = Math.round(Math.min(1, Math.max(0, share)) * 100);
  return (
    // biome-ignore lint/a11y/useAriaPropsSupportedByRole: both roles have all of these
    <div
      class="bar"
      role={meter ? 'meter' : 'progressbar'}
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={percent}
    >
      <i class={state ? `fill-${state}` : undefined} style={{ width: `${percent}%` }} />
    </div>
  );
}

export function Banner({
  kind,
  icon,
  title,
  children,
  role,
}: {
  kind: 'error' | 'warn' | 'note';
  icon: IconName;
  title: ComponentChildren;
  children?: ComponentChildren;
  role?: 'alert' | 'status';
}) {
  return (
    <div class={`banner ${kind}`} role={role}>
      <Icon name={icon} />
      <div>
        <b>{title}</b>
        {children}
      </div>
    </div>
  );
}

export function Empty({ icon, title, children }: { icon: IconName; title: string; children: ComponentChildren }) {
  return (
    <div class="empty">
      <Icon name={icon} />
      <h2>{title}</h2>
      {children}
    </div>
  );
}

export function Crumbs({ items }: { items: { href?: string; label: string }[] }) {
  return (
    <nav class="crumb" aria-label="Breadcrumb">
      {items.map((item, i) => (
        <>
          {i > 0 && <span aria-hidden="true">/</span>}
          {item.href ? (
            <a href={item.href}>
              <bdi>{item.label}</bdi>
            </a>
          ) : (
            <span aria-current="page">
              <bdi>{item.label}</bdi>
            </span>
          )}
        </>
      ))}
    </nav>
  );
}

// Sort headers are buttons in th[aria-sort].
export function SortHead({
  name,
  label,
  sort,
  onSort,
  right,
  class: cls = '',
}: {
  name: string;
  label: ComponentChildren;
  sort: string;
  onSort: (next: string) => void;
  right?: boolean;
  class?: string;
}) {
  const up = sort === name;
  const down = sort === `-${name}`;
  return (
    <th
      scope="col"
      class={`${right ? 'right ' : ''}${cls}`}
      aria-sort={up ? 'ascending' : down ? 'descending' : undefined}
    >
      <button type="button" onClick={() => onSort(up ? `-${name}` : name)}>
        <span>{label}</span>
        {up && <Icon name="asc" />}
        {down && <Icon name="desc" />}
      </button>
    </th>
  );
}

export function Loading() {
  return (
    <p class="loading mute" role="status">
      Loading…
    </p>
  );
}

async function copyText(text: string) {
  try {
    await navigator.clipboard.writeText(text);
    toast('Copied.');
  } catch {
    toast('The browser did not allow copying.');
  }
}

export function CopyButton({ label, text, words }: { label: string; text: () => string; words?: boolean }) {
  return (
    <button
      type="button"
      class={words ? 'btn' : 'btn icon compact ghost'}
      aria-label={words ? undefined : label}
      onClick={() => void copyText(text())}
    >
      <Icon name="copy" />
      {words && label}
    </button>
  );
}

export function Trouble({ what, error }: { what: string; error: string | null }) {
  if (error === null) return null;
  return (
    <Banner kind="error" icon="alert" title={`${what} could not be fetched.`} role="alert">
      {' '}
      <span class="dim">{error}</span>
    </Banner>
  );
}
