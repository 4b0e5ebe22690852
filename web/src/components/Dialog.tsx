// Native modal dialogs: the browser keeps the focus inside and gives it back afterwards.
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { question } from '../data/confirm';
import { Icon } from './Icon';

export function Dialog({
  title,
  onClose,
  children,
  footer,
}: {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  footer?: ComponentChildren;
}) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = ref.current!;
    const before = document.activeElement as HTMLElement | null;
    dialog.showModal();
    return () => {
      dialog.close();
      before?.focus?.();
    };
  }, []);
  return (
    <dialog
      ref={ref}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === ref.current) onClose();
      }}
    >
      <div class="content">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
      {footer && <footer>{footer}</footer>}
    </dialog>
  );
}

export function Confirm() {
  const q = question.value;
  const box = useRef<HTMLInputElement>(null);
  if (!q) return null;
  return (
    <Dialog
      title={q.title}
      onClose={() => q.answer(false, false)}
      footer={
        <>
          <button type="button" class="btn" autofocus onClick={() => q.answer(false, false)}>
            {q.no}
          </button>
          <button
            type="button"
            class={q.harmless ? 'btn primary' : 'btn danger'}
            onClick={() => q.answer(true, !!box.current?.checked)}
          >
            <Icon name={q.icon} />
            {q.yes}
          </button>
        </>
      }
    >
      <p class="dim">{q.text}</p>
      {q.option && (
        <label class="check">
          <input ref={box} type="checkbox" /> {q.option}
        </label>
      )}
    </Dialog>
  );
}
