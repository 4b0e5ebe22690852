// Short answers to actions and notices of the daemon, gone after a while: what a notice says also stands on the page of
// its experiment. components/Toast.tsx shows them.
import { signal } from '@preact/signals';

interface Message {
  id: number;
  text: string;
  level: string;
  action?: { label: string; run: () => void };
}
export const messages = signal<Message[]>([]);
let serial = 0;
const SHOWN_MS = 7000;
const WARNING_MS = 20000;
const MOST = 4;

export function toast(text: string, options: { level?: string; action?: Message['action'] } = {}) {
  const level = options.level ?? 'info';
  const id = ++serial;
  messages.value = [
    ...messages.value.filter((m) => m.text !== text),
    { id, text, level, action: options.action },
  ].slice(-MOST);
  setTimeout(() => dismiss(id), level === 'info' ? SHOWN_MS : WARNING_MS);
}

export function dismiss(id: number) {
  messages.value = messages.value.filter((m) => m.id !== id);
}
