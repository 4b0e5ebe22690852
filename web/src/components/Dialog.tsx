// Native modal dialogs: the browser keeps the focus inside and gives it back afterwards.
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Icon, type IconName } from './Icon';

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
      <div class="p">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
      {footer && <footer>{footer}</footer>}
    </dialog>
  );
}

interface Question {
  title: string;
  text: string;
  yes: string;
  no: string;
  icon: IconName;
  answer: (yes: boolean) => void;
}
const question = signal<Question | null>(null);

// Asks before something is lost; the button says what will happen, never just "OK".
export function confirm(q: Omit<Question, 'answer'>): Promise<boolean> {
  return new Promise((resolve) => {
    question.value = {
      ...q,
      answer: (yes) => {
        question.value = null;
        resolve(yes);
      },
    };
  });
}

export function Confirm() {
  const q = question.value;
  if (!q) return null;
  return (
    <Dialog
      title={q.title}
      onClose={() => q.answer(false)}
      footer={
        <>
          <button type="button" class="btn" autofocus onClick={() => q.answer(false)}>
            {q.no}
          </button>
          <button type="button" class="btn danger" onClick={() => q.answer(true)}>
            <Icon name={q.icon} />
            {q.yes}
          </button>
        </>
      }
    >
      <p class="dim">{q.text}</p>
    </Dialog>
  );
}
