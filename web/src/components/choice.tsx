// One of a few values, at a glance: buttons in a row, a switch, a list.
import type { ComponentChildren } from 'preact';

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

export function Toggle({
  label,
  on,
  off,
  onChange,
}: {
  label: ComponentChildren;
  on: boolean;
  // Why it cannot be switched.
  off?: string;
  onChange: (on: boolean) => void;
}) {
  return (
    <div class="segmented">
      <button type="button" aria-pressed={on} disabled={!!off} title={off} onClick={() => onChange(!on)}>
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
