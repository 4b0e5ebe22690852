// The messages of data/toast.ts, read out politely.
import { dismiss, messages } from '../data/toast';
import { Icon } from './Icon';
import { Said } from './Said';

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {messages.value.map((m) => (
        <div key={m.id} class={`toast ${m.level}`}>
          {m.level !== 'info' && <Icon name="alert" />}
          <span>
            <Said text={m.text} />
          </span>
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
