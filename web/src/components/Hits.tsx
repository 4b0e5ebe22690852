// What the daemon finds for the words in the search field: also what no row of the list shows.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { get, message } from '../data/api';
import type { Hits as Found } from '../data/types';
import { when } from '../lib/format';
import { plain } from '../lib/text';
import { Card } from './Card';
import { StateIcon } from './State';

const PAUSE_MS = 250;

export function Hits({ words }: { words: string }) {
  const found = useSignal<Found | null>(null);
  const error = useSignal<string | null>(null);
  useEffect(() => {
    let live = true;
    const timer = setTimeout(async () => {
      try {
        const got = await get<Found>(`/find?q=${encodeURIComponent(words)}`);
        if (!live) return;
        found.value = got;
        error.value = null;
      } catch (problem) {
        if (live) error.value = message(problem);
      }
    }, PAUSE_MS);
    return () => {
      live = false;
      clearTimeout(timer);
    };
  }, [words]);
  const items = found.value?.items ?? [];
  return (
    <Card title="Found in names, parameters, causes, jobs, tags and notes" id="hits">
      <div aria-live="polite">
        {error.value && <p class="none wrong">{error.value}</p>}
        {!items.length && !error.value && (
          <p class="none mute">{found.value ? 'Nothing. The output of tasks is not searched.' : 'Searching…'}</p>
        )}
        <ul class="hits">
          {items.map((hit) => {
            const id = hit.task ? `${hit.experiment}/${hit.task}` : hit.experiment;
            return (
              <li key={`${id} ${hit.in}`}>
                <a href={`/e/${id}`}>
                  <StateIcon state={hit.state} />
                  <span class="cut">
                    <b class="numeric">{id}</b>{' '}
                    <span class="dim">
                      <bdi>{plain(hit.name)}</bdi>
                    </span>
                  </span>
                  <span class="cut small">
                    <span class="mute">{hit.in}</span> <bdi>{plain(hit.text)}</bdi>
                  </span>
                  <span class="mute small numeric nowrap">{when(hit.time)}</span>
                </a>
              </li>
            );
          })}
        </ul>
        {found.value?.more && <p class="none mute small">There are more; add a word.</p>}
      </div>
    </Card>
  );
}
