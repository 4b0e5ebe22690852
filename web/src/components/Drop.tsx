// A button that opens a box of choices; Escape or a click elsewhere closes it.
import type { ComponentChildren } from 'preact';
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
        <div class="menu-list columns" role="group" aria-label={name}>
          {children(close)}
        </div>
      )}
    </div>
  );
}
