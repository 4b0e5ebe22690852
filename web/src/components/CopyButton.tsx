// Copies a text to the clipboard.
import { toast } from '../data/toast';
import { Icon } from './Icon';

async function copyText(text: string) {
  try {
    await navigator.clipboard.writeText(text);
    toast('Copied.');
  } catch {
    toast('The browser did not allow copying.');
  }
}

export function CopyButton({ label, text, words }: { label: string; text: () => string; words?: boolean }) {
  return (
    <button
      type="button"
      class={words ? 'btn' : 'btn icon compact ghost'}
      aria-label={words ? undefined : label}
      onClick={() => void copyText(text())}
    >
      <Icon name="copy" />
      {words && label}
    </button>
  );
}
