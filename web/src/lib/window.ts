// Which rows of a long table are worth drawing: those on the screen, and some on either side.
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

const AROUND = 12;
// A table that is no longer than this is drawn whole, so that the browser's own search finds all of it.
const SHORT = 60;
// Moves in steps, so that scrolling draws again only now and then.
const STEP = 8;

export function useWindow(count: number, rowPx: number, off: boolean) {
  const box = useRef<HTMLDivElement>(null);
  const first = useSignal(0);
  const last = useSignal(AROUND + STEP);
  useEffect(() => {
    const look = () => {
      const top = box.current?.getBoundingClientRect().top ?? 0;
      const row = (y: number) => Math.max(0, (y - top) / rowPx);
      first.value = Math.max(0, Math.floor((row(0) - AROUND) / STEP) * STEP);
      last.value = Math.ceil((row(innerHeight) + AROUND) / STEP) * STEP;
    };
    look();
    addEventListener('scroll', look, { passive: true });
    addEventListener('resize', look);
    // The table also moves when something above it grows.
    const observer = new ResizeObserver(look);
    observer.observe(document.body);
    return () => {
      removeEventListener('scroll', look);
      removeEventListener('resize', look);
      observer.disconnect();
    };
  }, [rowPx]);
  const from = Math.min(first.value, Math.max(0, count - 1));
  const part: [number, number] =
    off || count <= SHORT ? [0, count] : [from, Math.min(count, Math.max(from + STEP, last.value))];
  return { box, part };
}
