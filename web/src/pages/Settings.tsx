// Theme, the browsers that are signed in, access tokens, and the way out.
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { Card } from '../components/Card';
import { CopyButton } from '../components/CopyButton';
import { Seg } from '../components/choice';
import { Icon } from '../components/Icon';
import { KeyValues } from '../components/KeyValues';
import { NotifyCard } from '../components/Notify';
import { get, info, message, post, remove, signedOut } from '../data/api';
import { confirm } from '../data/confirm';
import { dropSession, session } from '../data/session';
import { notifying, possible, setNotifying } from '../data/tell';
import { toast } from '../data/toast';
import type { SessionList, SessionRow, Token, TokenList } from '../data/types';
import { when } from '../lib/format';
import { choice, choose } from '../lib/theme';
import { useTitle } from './Other';

function Tokens() {
  const tokens = useSignal<Token[] | null>(null);
  const fresh = useSignal<string | null>(null);
  const error = useSignal<string | null>(null);
  const name = useRef<HTMLInputElement>(null);
  const load = () =>
    get<TokenList>('/tokens')
      .then((page) => {
        tokens.value = page.items;
      })
      .catch((problem) => {
        error.value = message(problem);
      });
  useEffect(() => {
    void load();
  }, []);
  const create = async (event: Event) => {
    event.preventDefault();
    try {
      const made = await post<{ token: string }>('/tokens', { name: name.current!.value.trim() || 'token' });
      fresh.value = made.token;
      name.current!.value = '';
      error.value = null;
      await load();
    } catch (problem) {
      error.value = message(problem);
    }
  };
  const revoke = async (token: Token) => {
    const label = token.name ?? token.id;
    if (
      !(await confirm({
        title: `Revoke “${label}”?`,
        text: 'Programs that use it are refused from now on.',
        yes: 'Revoke',
        no: 'Keep',
        icon: 'trash',
      }))
    )
      return;
    try {
      await remove(`/tokens/${token.id}`);
      await load();
    } catch (problem) {
      toast(message(problem), { level: 'error' });
    }
  };
  return (
    <Card title="Access tokens" id="tokens">
      <div class="body grid">
        <p class="dim small">
          For the Python client and scripts on other machines. A token can do everything you can; its secret is shown
          once.
        </p>
        <form class="row-form" onSubmit={(event) => void create(event)}>
          <label class="visually-hidden" for="token-name">
            Name of the new token
          </label>
          <input class="input" id="token-name" ref={name} placeholder="What it is for, e.g. notebook" />
          <button type="submit" class="btn">
            <Icon name="key" />
            Create token
          </button>
        </form>
        {error.value && (
          <p class="bad small" role="alert">
            {error.value}
          </p>
        )}
        {fresh.value && (
          <div class="banner note" role="status">
            <Icon name="key" />
            <div>
              <b>Copy it now; it is not shown again.</b>
              <div class="secret">
                <code>{fresh.value}</code>
                <CopyButton label="Copy the token" text={() => fresh.value!} />
              </div>
            </div>
          </div>
        )}
        {tokens.value &&
          (tokens.value.length ? (
            <div class="table-wrap">
              <table class="stacked">
                <thead>
                  <tr>
                    <th scope="col">Name</th>
                    <th scope="col">Created</th>
                    <th scope="col">Last used</th>
                    <th scope="col">
                      <span class="visually-hidden">Actions</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {tokens.value.map((token) => (
                    <tr key={token.id}>
                      <td>
                        <bdi>{token.name ?? token.id}</bdi>
                      </td>
                      <td data-label="created">{when(token.created)}</td>
                      <td data-label="last used">{token.used ? when(token.used) : 'never'}</td>
                      <td class="right">
                        <button type="button" class="btn compact danger" onClick={() => void revoke(token)}>
                          Revoke<span class="visually-hidden"> {token.name ?? token.id}</span>
                        </button>
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          ) : (
            <p class="mute small">No tokens yet.</p>
          ))}
      </div>
    </Card>
  );
}

// "Firefox on Linux" is enough to tell one's browsers apart.
function browserName(agent: string | null): string {
  const name = /Firefox|Edg|OPR|Chrome|Safari/.exec(agent ?? '')?.[0];
  const system = /Android|iPhone|iPad|Windows|Mac OS|CrOS|Linux/.exec(agent ?? '')?.[0];
  return name && system ? `${{ Edg: 'Edge', OPR: 'Opera' }[name] ?? name} on ${system}` : (agent ?? 'unknown');
}

function Sessions() {
  const rows = useSignal<SessionRow[] | null>(null);
  const load = () =>
    get<SessionList>('/sessions')
      .then((page) => {
        rows.value = page.items;
      })
      .catch((problem) => toast(message(problem), { level: 'error' }));
  useEffect(() => {
    void load();
  }, []);
  const end = async (row: SessionRow) => {
    try {
      await remove(`/sessions/${row.id}`);
      await load();
    } catch (problem) {
      toast(message(problem), { level: 'error' });
    }
  };
  return (
    <Card title="Signed-in browsers" id="sessions">
      <div class="body grid">
        <p class="dim small">All of them end when the daemon is started again.</p>
        {rows.value &&
          (rows.value.length ? (
            <div class="table-wrap">
              <table class="stacked">
                <thead>
                  <tr>
                    <th scope="col">Browser</th>
                    <th scope="col">Signed in</th>
                    <th scope="col">Last used</th>
                    <th scope="col">
                      <span class="visually-hidden">Actions</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {rows.value.map((row) => (
                    <tr key={row.id}>
                      <td>
                        <bdi>{browserName(row.browser)}</bdi>
                        {row.current && ' (this one)'}
                      </td>
                      <td data-label="signed in">{when(row.created)}</td>
                      <td data-label="last used">{when(row.used)}</td>
                      <td class="right">
                        <button type="button" class="btn compact danger" onClick={() => void end(row)}>
                          End<span class="visually-hidden"> session {row.id}</span>
                        </button>
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          ) : (
            <p class="mute small">None: this page needs no sign-in.</p>
          ))}
      </div>
    </Card>
  );
}

export function SettingsPage() {
  useTitle('Settings');
  const logout = async () => {
    try {
      await post('/logout');
      dropSession(session());
      signedOut.value = true;
    } catch (problem) {
      toast(message(problem), { level: 'error' });
    }
  };
  const about = info.value;
  return (
    <>
      <div class="head center">
        <h1>Settings</h1>
      </div>
      <div class="grid cols-settings">
        <div class="grid">
          <Card title="Appearance" id="look">
            <div class="body">
              <Seg
                label="Theme"
                value={choice.value}
                onPick={choose}
                options={[
                  { value: 'system', label: 'System' },
                  { value: 'light', label: 'Light' },
                  { value: 'dark', label: 'Dark' },
                ]}
              />
            </div>
          </Card>
          <Card title="Notifications" id="notify">
            <div class="body">
              <label class="check wraps">
                <input
                  type="checkbox"
                  checked={notifying.value}
                  disabled={!possible}
                  onChange={async (event) => {
                    const on = event.currentTarget.checked;
                    if (!(await setNotifying(on))) toast('The browser does not allow notifications of this page.');
                  }}
                />
                Notify me in this browser when an experiment ends or pauses, or a task makes no progress
              </label>
              <p class="mute small">Works while a tab of the dashboard is open. Nothing leaves this machine.</p>
              <NotifyCard />
            </div>
          </Card>
          <Card title="This daemon" id="daemon">
            <div class="body">
              {about && (
                <KeyValues
                  rows={[
                    ['Version', about.version],
                    ['User', about.user],
                    ['Host', about.host],
                    [
                      'State folder',
                      <span key="s" class="mono small">
                        {about.state}
                      </span>,
                    ],
                    ['Backends', about.backends.join(', ')],
                  ]}
                />
              )}
              <div class="btns after">
                <button type="button" class="btn" onClick={() => void logout()}>
                  Log out of this browser
                </button>
              </div>
            </div>
          </Card>
        </div>
        <div class="grid">
          <Tokens />
          <Sessions />
        </div>
      </div>
    </>
  );
}
