// A button that opens a box of choices; Escape or a click elsewhere closes it.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useOpened } from '../lib/opened';
import { Icon, type IconName } from './Icon';

export function Drop({
  label,
  name,
  icon,
  class: cls = 'compact',
  children,
}: {
  label: ComponentChildren;
  // What the box is called.
  name: string;
  icon?: IconName;
  class?: string;
  children: (close: () => void) => ComponentChildren;
}) {
  const { open, box, button, close } = useOpened();
  const list = useRef<HTMLDivElement>(null);
  // Where the box begins with a field to type in, what is typed belongs there and is no shortcut of the page.
  useEffect(() => {
    const first = open.value ? list.current?.querySelector<HTMLElement>('input, textarea, select, button, a') : null;
    if (first?.matches('input:not([type=checkbox]), textarea')) first.focus();
  }, [open.value]);
  return (
    <div
      class="menu"
      ref={box}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !open.value) return;
        close();
        event.stopPropagation();
      }}
    >
      <button
        ref={button}
        type="button"
        class={`btn ${cls}`}
        aria-expanded={open.value}
        onClick={() => {
          open.value = !open.value;
        }}
      >
        {icon && <Icon name={icon} />}
        {label}
      </button>
      {open.value && (
        <div ref={list} class="menu-list columns" role="group" aria-label={name}>
          {children(close)}
        </div>
      )}
    </div>
  );
}
