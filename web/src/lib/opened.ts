// What a button opens beside it: a click elsewhere closes it, and after `close` the button has the focus again.
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

export function useOpened() {
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
  return { open, box, button, close };
}
