// What a page says about itself: a warning, that it is empty, loads or could not be fetched.
import type { ComponentChildren } from 'preact';
import { capitalize, plural } from '../lib/format';
import { Icon, type IconName } from './Icon';
import { Said } from './Said';

export function Banner({
  kind,
  icon,
  title,
  children,
  role,
}: {
  kind: 'error' | 'warn' | 'note';
  icon: IconName;
  title: ComponentChildren;
  children?: ComponentChildren;
  role?: 'alert' | 'status';
}) {
  return (
    <div class={`banner ${kind}`} role={role}>
      <Icon name={icon} />
      <div>
        <b>{title}</b>
        {children}
      </div>
    </div>
  );
}

const WARNINGS = 3;

// The first ones, and the rest behind a click: they must not push the page away.
export function Warnings({ texts }: { texts: string[] }) {
  const rest = texts.slice(WARNINGS);
  const last = texts.length > WARNINGS ? WARNINGS - 1 : -1;
  return (
    <>
      {texts.slice(0, WARNINGS).map((text, i) => (
        <Banner key={text} kind="warn" icon="alert" title={<Said text={capitalize(text)} />}>
          {i === last && (
            <details>
              <summary>{plural(rest.length, 'more warning')}</summary>
              <ul>
                {rest.map((one) => (
                  <li key={one}>
                    <Said text={capitalize(one)} />
                  </li>
                ))}
              </ul>
            </details>
          )}
        </Banner>
      ))}
    </>
  );
}

export function Empty({ icon, title, children }: { icon: IconName; title: string; children: ComponentChildren }) {
  return (
    <div class="empty">
      <Icon name={icon} />
      <h2>{title}</h2>
      {children}
    </div>
  );
}

export function Loading() {
  return (
    <p class="loading mute" role="status">
      Loading…
    </p>
  );
}

export function Trouble({ what, error }: { what: string; error: string | null }) {
  if (error === null) return null;
  return (
    <Banner kind="error" icon="alert" title={`${what} could not be fetched.`} role="alert">
      {' '}
      <span class="dim">
        <Said text={error} />
      </span>
    </Banner>
  );
}
