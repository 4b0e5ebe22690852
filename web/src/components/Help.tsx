import { Dialog } from './Dialog';

const KEYS: [string, string][] = [
  ['/', 'search or filter'],
  ['j', 'next row'],
  ['k', 'previous row'],
  ['Enter', 'open the row'],
  ['x', 'select the row'],
  ['c', 'compare the selected'],
  ['s', 'stop the selected or the row'],
  ['r', 'restart the selected or the row'],
  ['n', 'new experiment'],
  ['?', 'this help'],
];

export function Help({ onClose }: { onClose: () => void }) {
  return (
    <Dialog
      title="Keyboard"
      onClose={onClose}
      footer={
        <button type="button" class="btn" onClick={onClose}>
          Close
        </button>
      }
    >
      <dl class="keys">
        {KEYS.map(([key, does]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <p class="mute small">
        In a chart: arrows walk along and between the curves, Enter opens one, Escape resets the zoom.
      </p>
    </Dialog>
  );
}
