// What stands behind the mean of a configuration that was run several times, such as "± 0.1, mean of 3". Nothing
// without repeats.
import type { Best } from '../data/types';
import { threeDigits } from '../lib/format';

const spreadOf = (best: Best) => (typeof best.spread === 'number' ? `± ${threeDigits(best.spread)}` : '');

export function Repeats({ best }: { best: Best }) {
  if (typeof best.mean !== 'number') return null;
  return (
    <span class="mute small">
      {spreadOf(best) && `${spreadOf(best)}, `}mean of {best.repeats}{' '}
    </span>
  );
}

// The same for two narrow lines: the spread beside the value, the rest below it.
export const SpreadOf = ({ best }: { best: Best }) =>
  typeof best.mean === 'number' && spreadOf(best) ? <span class="mute small">{spreadOf(best)}</span> : null;
export const meanOf = (best: Best | null) => (typeof best?.mean === 'number' ? `mean of ${best.repeats}, ` : '');
