// A section of settings that few need. It is open where the file says something in it, or by hand.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useContext } from 'preact/hooks';
import { ProblemsContext } from '../problems';
import type { FilePath } from './fields';
import { at, place } from './form';

export function More({ title, paths, children }: { title: string; paths: FilePath[]; children: ComponentChildren }) {
  const wrong = useContext(ProblemsContext).at(paths.map(place)).length > 0;
  const used = wrong || paths.some((path) => at(path) !== undefined);
  // It does not close while someone types.
  const opened = useSignal(used);
  if (used) opened.value = true;
  return (
    <details
      class="advanced"
      open={opened.value}
      onToggle={(event) => {
        opened.value = event.currentTarget.open;
      }}
    >
      <summary>{title}</summary>
      <div class="grid">{children}</div>
    </details>
  );
}
