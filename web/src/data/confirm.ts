// A question before something is lost. components/Dialog.tsx shows it.
import { signal } from '@preact/signals';

interface Question {
  title: string;
  text: string;
  yes: string;
  no: string;
  icon: 'trash' | 'stop' | 'restart';
  answer: (yes: boolean) => void;
}
export const question = signal<Question | null>(null);

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
