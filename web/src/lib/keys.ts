// Keyboard shortcuts. A page registers its own; the shell's are always there; all are off while
// the user types or a dialog is open.
import { useEffect, useRef } from 'preact/hooks';

export type Keys = Record<string, (event: KeyboardEvent) => void>;
const layers: { current: Keys }[] = [];

function typing(target: EventTarget | null): boolean {
  const element = target as HTMLElement | null;
  return !!element?.closest?.('input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]');
}

export function startKeys() {
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (typing(event.target) || document.querySelector('dialog[open]')) return;
    for (let i = layers.length - 1; i >= 0; i--) {
      const handler = layers[i].current[event.key];
      if (handler) {
        event.preventDefault();
        handler(event);
        return;
      }
    }
  });
}

export function useKeys(keys: Keys) {
  const ref = useRef(keys);
  ref.current = keys;
  useEffect(() => {
    layers.push(ref);
    return () => {
      layers.splice(layers.indexOf(ref), 1);
    };
  }, []);
}

// Moves the focus from row to row: j and k in every table. Rows carry data-row; the focus goes to the row's link, so
// that Enter opens it without a handler that would take Enter from every other button.
export function moveRow(step: number) {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')];
  if (!rows.length) return;
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const next = at < 0 ? (step > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, at + step));
  const target = rows[next].querySelector<HTMLElement>('a.row') ?? rows[next];
  target.focus();
  rows[next].scrollIntoView({ block: 'nearest' });
}

export function focusedRow(): string | null {
  return document.activeElement?.closest<HTMLElement>('[data-row]')?.dataset.row ?? null;
}
