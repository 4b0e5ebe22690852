// A question before something is lost. components/Dialog.tsx shows it.
import { signal } from '@preact/signals';

interface Question {
  title: string;
  text: string;
  yes: string;
  no: string;
  icon: 'trash' | 'stop' | 'restart' | 'file';
  // Nothing is lost.
  harmless?: boolean;
  // A choice that goes with the answer; it begins unchecked.
  option?: string;
  answer: (yes: boolean, option: boolean) => void;
}
export const question = signal<Question | null>(null);

// The same with a choice: null is no.
export function ask(q: Omit<Question, 'answer'>): Promise<{ option: boolean } | null> {
  return new Promise((resolve) => {
    question.value = {
      ...q,
      answer: (yes, option) => {
        question.value = null;
        resolve(yes ? { option } : null);
      },
    };
  });
}

// Asks before something is lost; the button says what will happen, never just "OK".
export async function confirm(q: Omit<Question, 'answer' | 'option'>): Promise<boolean> {
  return (await ask(q)) !== null;
}
