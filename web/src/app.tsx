// The shell around every page, and which page it is.
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { Confirm } from './components/Dialog';
import { Help } from './components/Help';
import { Brand, Icon } from './components/Icon';
import { Late } from './components/Late';
import { Banner } from './components/notice';
import { Said } from './components/Said';
import { Toasts } from './components/Toast';
import { info, signedOut } from './data/api';
import { now } from './data/store';
import { link } from './data/stream';
import { capitalize, clock } from './lib/format';
import { useKeys } from './lib/keys';
import { go, match, path, type Route } from './lib/router';
import { choose, theme } from './lib/theme';
import { ExperimentPage } from './pages/Experiment';
import { ExperimentsPage } from './pages/Experiments';
import { MissingPage, SignedOutPage } from './pages/Other';
import { TaskPage } from './pages/Task';

const further = () => import('./pages/further');
const newPage = () => further().then((part) => part.NewPage);
const queuePage = () => further().then((part) => part.QueuePage);
const clusterPage = () => further().then((part) => part.ClusterPage);
const settingsPage = () => further().then((part) => part.SettingsPage);
const comparePage = () => further().then((part) => part.ComparePage);

const NAV: { href: string; label: string; on: Route['page'][] }[] = [
  { href: '/', label: 'Experiments', on: ['list', 'new', 'experiment', 'task', 'compare'] },
  { href: '/queue', label: 'Queue', on: ['queue'] },
  { href: '/cluster', label: 'Cluster', on: ['cluster'] },
];

// "e12", "e12/7" and "#7"-less ids go straight to their page; anything else filters the list.
function find(text: string) {
  const id = /^(e\d+)(?:\/(\d+))?$/.exec(text.trim());
  if (id) go(id[2] ? `/e/${id[1]}/${id[2]}` : `/e/${id[1]}`);
  else go(`/?q=${encodeURIComponent(text.trim())}`);
}

function Search() {
  const input = useRef<HTMLInputElement>(null);
  useKeys({
    '/': () => (document.querySelector<HTMLInputElement>('[data-search]') ?? input.current)?.focus(),
  });
  return (
    <form
      class="search top-search"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        find(input.current!.value);
      }}
    >
      <Icon name="search" />
      <input ref={input} type="search" aria-label="Search experiments, or open an id" placeholder="Search, or e12/7" />
      {/* biome-ignore lint/a11y/noAriaHiddenOnFocusable: a <kbd> takes no focus */}
      <kbd aria-hidden="true">/</kbd>
    </form>
  );
}

function Live() {
  const state = link.value.state;
  const words = state === 'open' ? 'Live' : state === 'down' ? 'Reconnecting' : 'Connecting';
  return (
    <span class={`live ${state}`} role="status">
      <span class="text">{words}</span>
    </span>
  );
}

function Lost() {
  if (link.value.state !== 'down') return null;
  const wait = Math.max(0, Math.ceil((link.value.next - now.value) / 1000));
  return (
    <Banner kind="warn" icon="clock" title="Reconnecting." role="status">
      {' '}
      <span class="dim">
        Showing data from {clock(link.value.since, true)};{' '}
        <span aria-hidden="true">{wait ? `next try in ${wait} s` : 'trying now'}.</span>
      </span>
    </Banner>
  );
}

// A full disk or quota: what the page shows is true, but nothing new comes.
function Unwritable() {
  const text = info.value?.trouble;
  if (!text) return null;
  return (
    <Banner kind="error" icon="alert" title="Nothing can be recorded." role="alert">
      {' '}
      <span class="dim">
        <Said text={`${capitalize(text)}.`} />
      </span>
    </Banner>
  );
}

function Top({ route }: { route: Route }) {
  const user = info.value?.user ?? '';
  return (
    <header class="top">
      <a class="brand" href="/" aria-label="sluice, all experiments">
        <Brand />
        <span aria-hidden="true">sluice</span>
      </a>
      <nav class="nav" aria-label="Primary">
        {NAV.map((item) => (
          <a key={item.href} href={item.href} aria-current={item.on.includes(route.page) ? 'page' : undefined}>
            {item.label}
          </a>
        ))}
      </nav>
      <span class="grow" />
      <Search />
      <Live />
      <button
        type="button"
        class="btn icon ghost"
        aria-label={theme.value === 'dark' ? 'Use the light theme' : 'Use the dark theme'}
        onClick={() => choose(theme.value === 'dark' ? 'light' : 'dark')}
      >
        <Icon name={theme.value === 'dark' ? 'sun' : 'moon'} />
      </button>
      <a class="user" href="/settings" aria-current={route.page === 'settings' ? 'page' : undefined}>
        <span aria-hidden="true">{user ? user.slice(0, 2).toUpperCase() : <Icon name="gear" />}</span>
        <span class="visually-hidden">{user ? `Settings, signed in as ${user}` : 'Settings'}</span>
      </a>
    </header>
  );
}

function Body({ route }: { route: Route }) {
  switch (route.page) {
    case 'list':
      return <ExperimentsPage />;
    case 'new':
      return <Late key="new" load={newPage} props={{}} />;
    case 'queue':
      return <Late key="queue" load={queuePage} props={{}} />;
    case 'cluster':
      return <Late key="cluster" load={clusterPage} props={{}} />;
    case 'settings':
      return <Late key="settings" load={settingsPage} props={{}} />;
    case 'experiment':
      return <ExperimentPage key={route.id} id={route.id} />;
    case 'compare':
      return <Late key={`compare ${route.id}`} load={comparePage} props={{ home: route.id }} />;
    case 'task':
      return <TaskPage key={`${route.id}/${route.number}`} id={route.id} number={route.number} />;
    default:
      return <MissingPage />;
  }
}

export function App() {
  const route = match(path.value);
  const help = useSignal(false);
  useKeys({
    '?': () => {
      help.value = true;
    },
    n: () => go('/new'),
  });
  useEffect(() => {
    if (signedOut.value) document.title = 'Sign in · sluice';
  }, [signedOut.value]);
  if (signedOut.value)
    return (
      <main id="main" tabIndex={-1}>
        <SignedOutPage />
        <Toasts />
      </main>
    );
  return (
    <>
      {/* biome-ignore lint/a11y/useValidAnchor: it goes to #main, without leaving that in the address */}
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById('main')?.focus();
        }}
      >
        Skip to content
      </a>
      <Top route={route} />
      <main id="main" tabIndex={-1}>
        <Lost />
        <Unwritable />
        <Body route={route} />
      </main>
      <Toasts />
      <Confirm />
      {help.value && (
        <Help
          onClose={() => {
            help.value = false;
          }}
        />
      )}
    </>
  );
}
