// A column title that sorts its table.
import type { ComponentChildren } from 'preact';
import { Icon } from './Icon';

// Sort headers are buttons in th[aria-sort].
export function SortHead({
  name,
  label,
  sort,
  onSort,
  right,
  class: cls = '',
}: {
  name: string;
  label: ComponentChildren;
  sort: string;
  onSort: (next: string) => void;
  right?: boolean;
  class?: string;
}) {
  const up = sort === name;
  const down = sort === `-${name}`;
  return (
    <th
      scope="col"
      class={`${right ? 'right ' : ''}${cls}`}
      aria-sort={up ? 'ascending' : down ? 'descending' : undefined}
    >
      <button type="button" onClick={() => onSort(up ? `-${name}` : name)}>
        <span>{label}</span>
        {up && <Icon name="asc" />}
        {down && <Icon name="desc" />}
      </button>
    </th>
  );
}
