// Names and values, a pair a line.
import type { ComponentChildren } from 'preact';

export function KeyValues({ rows }: { rows: [ComponentChildren, ComponentChildren][] }) {
  return (
    <dl class="pairs">
      {rows.map(([key, value], i) => (
        <div key={i}>
          <dt>{key}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
