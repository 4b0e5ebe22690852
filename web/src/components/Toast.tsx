// Short answers to actions, read out politely, gone after a while; and notices of the daemon, which stay.
import { signal } from '@preact/signals';
import { Icon } from './Icon';

interface Message {
  id: number;
  text: string;
  level: string;
  action?: { label: string; run: () => void };
}
const messages = signal<Message[]>([]);
let serial = 0;
const SHOWN_MS = 7000;
const MOST = 4;

export function toast(text: string, options: { level?: string; action?: Message['action'] } = {}) {
  const level = options.level ?? 'info';
  const id = ++serial;
  messages.value = [
    ...messages.value.filter((m) => m.text !== text),
    { id, text, level, action: options.action },
  ].slice(-MOST);
  if (level === 'info') setTimeout(() => dismiss(id), SHOWN_MS);
}

function dismiss(id: number) {
  messages.value = messages.value.filter((m) => m.id !== id);
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {messages.value.map((m) => (
        <div key={m.id} class={`toast ${m.level}`}>
          {m.level !== 'info' && <Icon name="alert" />}
          <span>{m.text}</span>
          {m.action && (
            <button
              type="button"
              class="link"
              onClick={() => {
                m.action!.run();
                dismiss(m.id);
              }}
            >
              {m.action.label}
            </button>
          )}
          <button type="button" class="close" aria-label="Dismiss" onClick={() => dismiss(m.id)}>
            <Icon name="x" />
          </button>
        </div>
      ))}
    </div>
  );
}
