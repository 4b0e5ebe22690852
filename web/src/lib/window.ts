// Which rows of a long table are worth drawing: those on the screen, and some on either side.
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

const AROUND = 12;
// Moves in steps, so that scrolling draws again only now and then.
const STEP = 8;

export function useWindow(count: number, rowPx: number, off: boolean) {
  const box = useRef<HTMLDivElement>(null);
  const first = useSignal(0);
  useEffect(() => {
    const look = () => {
      const top = box.current?.getBoundingClientRect().top ?? 0;
      const at = Math.floor(Math.max(0, -top) / rowPx);
      const next = Math.max(0, Math.floor((at - AROUND) / STEP) * STEP);
      if (next !== first.value) first.value = next;
    };
    look();
    addEventListener('scroll', look, { passive: true });
    addEventListener('resize', look);
    return () => {
      removeEventListener('scroll', look);
      removeEventListener('resize', look);
    };
  }, [rowPx]);
  const shown = Math.ceil(innerHeight / rowPx) + 2 * AROUND + STEP;
  const from = Math.min(first.value, Math.max(0, count - 1));
  const part: [number, number] = off ? [0, count] : [from, Math.min(count, from + shown)];
  return { box, part };
}
