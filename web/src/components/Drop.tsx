// A button that opens a box of choices; Escape or a click elsewhere closes it.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Icon, type IconName } from './Icon';

export function Drop({
  label,
  name,
  icon,
  class: cls = '',
  children,
}: {
  label: ComponentChildren;
  // What the box is called.
  name: string;
  icon?: IconName;
  class?: string;
  children: (close: () => void) => ComponentChildren;
}) {
  const open = useSignal(false);
  const box = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!open.value) return;
    const away = (event: Event) => {
      if (!box.current?.contains(event.target as Node)) open.value = false;
    };
    document.addEventListener('pointerdown', away);
    return () => document.removeEventListener('pointerdown', away);
  }, [open.value]);
  const close = () => {
    open.value = false;
    button.current?.focus();
  };
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
        class={`btn compact ${cls}`}
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
