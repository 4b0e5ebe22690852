// The width an SVG chart may take: an element's content box, followed as it changes.
import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

export function useWidth(first: number): [preact.RefObject<HTMLDivElement | null>, Signal<number>] {
  const box = useRef<HTMLDivElement>(null);
  const width = useSignal(first);
  const watched = useRef<HTMLDivElement | null>(null);
  const watch = useRef<ResizeObserver | null>(null);
  // The element may come later than the component, and go again.
  useEffect(() => {
    if (watched.current === box.current) return;
    watched.current = box.current;
    watch.current?.disconnect();
    watch.current = new ResizeObserver(([entry]) => {
      width.value = Math.floor(entry.contentRect.width);
    });
    if (box.current) watch.current.observe(box.current);
  });
  useEffect(() => () => watch.current?.disconnect(), []);
  return [box, width];
}
