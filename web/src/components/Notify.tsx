// Messages that leave the machine: the addresses of a webhook and of mail, what they are about, whether the last ones
// arrived, and a test.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { get, message, post } from '../data/api';
import type { Notify, NotifyChannel } from '../data/types';
import { capitalize, plural, when } from '../lib/format';
import { Icon } from './Icon';

const LABELS = { webhook: 'Webhook', mail: 'Mail' };
const HELP = {
  webhook: 'Gets a POST with JSON; Slack and Mattermost show its text.',
  mail: 'One address, sent by the mail program of this machine.',
};
const EXAMPLES = { webhook: 'https://hooks.slack.com/services/…', mail: 'ann@example.org' };
const EVENTS = { end: 'it ends', pause: 'it pauses', stall: 'a task makes no progress' };
type Kind = keyof typeof EVENTS;

function Outcome({ channel }: { channel: NotifyChannel }) {
  const { test, error, missing, sent, waiting } = channel;
  if (!channel.target) return null;
  if (test?.state === 'sending') return <p class="mute small">Sending the test…</p>;
  const trouble = error ?? missing;
  return (
    <p class={`small outcome ${trouble ? 'failure' : 'mute'}`}>
      {trouble && <Icon name="alert" />}
      <span>
        {trouble ? (
          <>
            Not delivered: <bdi>{trouble}</bdi>
            {/[.!?]$/.test(trouble) ? '' : '.'}
          </>
        ) : sent ? (
          `Last message delivered ${when(sent)}.`
        ) : (
          'No message yet.'
        )}
        {waiting > 0 && ` ${plural(waiting, 'message')} to be sent again.`}
      </span>
    </p>
  );
}

export function NotifyCard() {
  const now = useSignal<Notify | null>(null);
  const typed = useSignal<Partial<Record<NotifyChannel['name'], string>>>({});
  const error = useSignal<string | null>(null);
  const take = (answer: Notify) => {
    now.value = answer;
    error.value = null;
  };
  const ask = async (what: Promise<Notify>) => {
    try {
      take(await what);
      return true;
    } catch (problem) {
      error.value = capitalize(message(problem));
      return false;
    }
  };
  useEffect(() => {
    void ask(get<Notify>('/notify'));
  }, []);
  const testing = now.value?.channels.some((c) => c.target && c.test?.state === 'sending') ?? false;
  useEffect(() => {
    if (!testing) return undefined;
    const timer = setInterval(() => void ask(get<Notify>('/notify')), 500);
    return () => clearInterval(timer);
  }, [testing]);
  if (!now.value) return error.value ? <p class="wrong">{error.value}</p> : null;
  const { channels, events } = now.value;
  const shown = (c: NotifyChannel) => typed.value[c.name] ?? c.target ?? '';
  const changed = channels.some((c) => shown(c).trim() !== (c.target ?? ''));
  const save = async (event: Event) => {
    event.preventDefault();
    const body = Object.fromEntries(channels.map((c) => [c.name, shown(c).trim() || null]));
    if (await ask(post<Notify>('/notify', body))) typed.value = {};
  };
  const choose = (kind: Kind, on: boolean) => {
    const kept = (Object.keys(EVENTS) as Kind[]).filter((k) => (k === kind ? on : events.includes(k)));
    void ask(post<Notify>('/notify', { events: kept }));
  };
  return (
    <form class="grid notify" onSubmit={(event) => void save(event)}>
      {channels.map((c) => (
        <div key={c.name} class="field">
          <label for={`notify-${c.name}`}>{LABELS[c.name]}</label>
          <input
            class="input"
            id={`notify-${c.name}`}
            value={shown(c)}
            placeholder={EXAMPLES[c.name]}
            autocomplete="off"
            spellcheck={false}
            aria-describedby={`notify-${c.name}-help`}
            onInput={(event) => {
              typed.value = { ...typed.value, [c.name]: event.currentTarget.value };
            }}
          />
          <p class="mute small" id={`notify-${c.name}-help`}>
            {HELP[c.name]}
          </p>
          <Outcome channel={c} />
        </div>
      ))}
      {error.value && (
        <p class="wrong" role="alert">
          {error.value}
        </p>
      )}
      <fieldset class="plain">
        <legend class="small dim">Send a message about an experiment when</legend>
        {(Object.keys(EVENTS) as Kind[]).map((kind) => (
          <label key={kind} class="check">
            <input
              type="checkbox"
              checked={events.includes(kind)}
              onChange={(event) => choose(kind, event.currentTarget.checked)}
            />
            {EVENTS[kind]}
          </label>
        ))}
      </fieldset>
      <div class="btns">
        <button type="submit" class="btn" disabled={!changed}>
          Save
        </button>
        <button
          type="button"
          class="btn"
          disabled={changed || testing || !channels.some((c) => c.target)}
          onClick={() => void ask(post<Notify>('/notify/test', {}))}
        >
          {testing ? 'Sending…' : 'Send a test'}
        </button>
      </div>
    </form>
  );
}
