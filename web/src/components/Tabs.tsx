// Tabs by the ARIA pattern: one tab stop, arrows move.
import type { ComponentChildren } from 'preact';

export function Tabs<T extends string>({
  label,
  value,
  tabs,
  onPick,
  panel,
}: {
  label: string;
  value: T;
  tabs: { value: T; label: ComponentChildren }[];
  onPick: (value: T) => void;
  panel: string;
}) {
  const move = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (!step) return;
    event.preventDefault();
    const at = tabs.findIndex((tab) => tab.value === value);
    const next = tabs[(at + step + tabs.length) % tabs.length].value;
    onPick(next);
    document.getElementById(`${panel}-${next}`)?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label={label} onKeyDown={move}>
      {tabs.map((tab) => (
        <button
          key={tab.value}
          id={`${panel}-${tab.value}`}
          type="button"
          role="tab"
          aria-selected={tab.value === value}
          aria-controls={panel}
          tabIndex={tab.value === value ? 0 : -1}
          onClick={() => onPick(tab.value)}
        >
          {tab.label}
        </button>
      ))}
    </div>
  );
}
