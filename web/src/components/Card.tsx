// A titled box on a page.
import type { ComponentChildren } from 'preact';

export function Card({
  title,
  id,
  extra,
  children,
  class: cls = '',
  hideTitle,
  step,
}: {
  title: ComponentChildren;
  id: string;
  extra?: ComponentChildren;
  children: ComponentChildren;
  class?: string;
  hideTitle?: boolean;
  step?: number;
}) {
  return (
    <section class={`card ${cls}`} aria-labelledby={id}>
      <header>
        {step && (
          <span class="step" aria-hidden="true">
            {step}
          </span>
        )}
        <h2 id={id} class={hideTitle ? 'visually-hidden' : undefined}>
          {title}
        </h2>
        {extra}
      </header>
      {children}
    </section>
  );
}
