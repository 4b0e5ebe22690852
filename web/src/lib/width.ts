// The width an SVG chart may take: an element's content box, followed as it changes.
import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

export function useWidth(first: number): [preact.RefObject<HTMLDivElement | null>, Signal<number>] {
  const box = useRef<HTMLDivElement>(null);
  const width = useSignal(first);
  useEffect(() => {
    const watch = new ResizeObserver(([entry]) => {
      width.value = Math.floor(entry.contentRect.width);
    });
    watch.observe(box.current!);
    return () => watch.disconnect();
  }, []);
  return [box, width];
}
