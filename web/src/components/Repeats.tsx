// What stands behind the mean of a configuration that was run several times, such as "± 0.1, mean of 3". Nothing
// without repeats.
import type { Best } from '../data/types';
import { threeDigits } from '../lib/format';

export function Repeats({ best }: { best: Best }) {
  if (typeof best.mean !== 'number') return null;
  const spread = typeof best.spread === 'number' ? `± ${threeDigits(best.spread)}, ` : '';
  return (
    <span class="mute small">
      {spread}mean of {best.repeats}{' '}
    </span>
  );
}
