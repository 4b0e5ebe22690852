import { useEffect } from 'preact/hooks';
import { Command } from '../components/Command';
import { CopyButton } from '../components/CopyButton';
import { Brand } from '../components/Icon';
import { Empty } from '../components/notice';
import { info, linkRefused, loginCommand, sessionEnded } from '../data/api';
import { type IconLook, showIcon } from '../data/icon';

// The title of the tab; its icon shows the progress of what the page is about.
export function useTitle(title: string, look: IconLook | null = null) {
  useEffect(() => {
    document.title = `${title} · sluice`;
  }, [title]);
  useEffect(() => showIcon(look), [look?.share, look?.ring, look?.dot]);
}

export function MissingPage({ what = 'page' }: { what?: string }) {
  useTitle('Not found');
  return (
    <section class="card">
      <h1 class="visually-hidden">Not found</h1>
      <Empty icon="search" title={`There is no such ${what}`}>
        <p class="dim">It may have been removed, or the address has a typing error.</p>
        <a class="btn" href="/">
          All experiments
        </a>
      </Empty>
    </section>
  );
}

export function SignedOutPage() {
  // A page that was signed in a moment ago knows the whole command.
  const known = info.value?.login;
  const command = known ?? loginCommand.value;
  return (
    <section class="card signin">
      <div class="empty">
        <Brand />
        <h1>{sessionEnded.value ? 'Sign in again' : 'You are not signed in'}</h1>
        {linkRefused.value && (
          <p class="wrong" role="alert">
            That login link does not work: it was used before, it is too old, or a part of it is missing. Make a new
            one.
          </p>
        )}
        <p class="dim">
          {sessionEnded.value
            ? 'Your session has ended: the daemon was started again, or the session was ended in the settings. On the machine of the daemon, run'
            : 'This dashboard belongs to the person who runs the daemon. On that machine, run'}
        </p>
        <div class="command">
          <pre class="code call">
            <code>
              <Command text={command} />
            </code>
          </pre>
          <CopyButton label="Copy the command" text={() => command} />
        </div>
        <p class="dim">
          {!known && command.includes('=DIR') && (
            <>
              with the state folder of the daemon for <code>DIR</code> (the log of the daemon, or the terminal in which
              it was started, names it){' '}
            </>
          )}
          and open the link it prints. A link works once; run the command again for a new one.
        </p>
        <button type="button" class="btn" onClick={() => location.reload()}>
          Try again
        </button>
      </div>
    </section>
  );
}
