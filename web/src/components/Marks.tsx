// The marks of an experiment or a task: a star and tags in its title, notes in a card. `onMark` sends a change and
// returns once the page has it.
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { Marks } from '../data/types';
import { plain } from '../lib/text';
import { Card } from './Card';
import { Icon } from './Icon';
import { Markdown } from './Markdown';

type OnMark = (marks: Marks) => Promise<unknown>;

export function Star({ on, onMark }: { on: boolean; onMark: OnMark }) {
  return (
    <button
      type="button"
      class={`star ${on ? 'on' : ''}`}
      aria-pressed={on}
      aria-label="Star"
      title={on ? 'Remove the star' : 'Mark with a star'}
      onClick={() => void onMark({ star: !on })}
    >
      <Icon name="star" />
    </button>
  );
}

export function TagList({ tags }: { tags: string[] }) {
  return (
    <>
      {tags.map((tag) => (
        <a
          key={tag}
          class="tag own"
          href={`/?tag=${encodeURIComponent(tag)}`}
          title={`Experiments tagged ${plain(tag)}`}
        >
          <bdi>{plain(tag)}</bdi>
        </a>
      ))}
    </>
  );
}

export function Tags({ tags, onMark, link = true }: { tags: string[]; onMark: OnMark; link?: boolean }) {
  const adding = useSignal(false);
  const input = useRef<HTMLInputElement>(null);
  const add = async () => {
    const words = (input.current?.value ?? '')
      .split(',')
      .map((word) => word.trim())
      .filter(Boolean);
    adding.value = false;
    if (words.length) await onMark({ add_tags: words });
  };
  return (
    <span class="tags">
      {tags.map((tag) => (
        <span key={tag} class="tag own">
          {link ? (
            <a href={`/?tag=${encodeURIComponent(tag)}`}>
              <bdi>{plain(tag)}</bdi>
            </a>
          ) : (
            <bdi>{plain(tag)}</bdi>
          )}
          <button
            type="button"
            aria-label={`Remove the tag ${plain(tag)}`}
            onClick={() => void onMark({ remove_tags: [tag] })}
          >
            <Icon name="x" />
          </button>
        </span>
      ))}
      {adding.value ? (
        <form
          class="tag-add"
          onSubmit={(event) => {
            event.preventDefault();
            void add();
          }}
        >
          <input
            ref={input}
            autofocus
            aria-label="New tag"
            placeholder="tag, another"
            maxLength={200}
            onBlur={() => void add()}
            onKeyDown={(event) => {
              if (event.key !== 'Escape') return;
              event.currentTarget.value = '';
              adding.value = false;
            }}
          />
        </form>
      ) : (
        <button
          type="button"
          class="tag add"
          onClick={() => {
            adding.value = true;
          }}
        >
          <Icon name="plus" />
          Tag
        </button>
      )}
    </span>
  );
}

export function Notes({ notes, onMark }: { notes: string | null; onMark: OnMark }) {
  const draft = useSignal<string | null>(null);
  const editing = draft.value !== null;
  const save = async () => {
    const text = draft.value!.trim();
    if ((await onMark({ notes: text || null })) !== null) draft.value = null;
  };
  return (
    <Card
      title="Notes"
      id="notes"
      extra={
        <>
          <span class="grow" />
          {!editing && (
            <button
              type="button"
              class="btn ghost small"
              onClick={() => {
                draft.value = notes ?? '';
              }}
            >
              {notes ? 'Edit' : 'Write'}
            </button>
          )}
        </>
      }
    >
      <div class="body">
        {editing ? (
          <>
            <textarea
              class="input mono notes-input"
              aria-label="Notes in Markdown"
              autofocus
              rows={8}
              value={draft.value!}
              onInput={(event) => {
                draft.value = event.currentTarget.value;
              }}
              onKeyDown={(event) => {
                if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void save();
              }}
            />
            <div class="btns">
              <button type="button" class="btn primary small" onClick={() => void save()}>
                Save
              </button>
              <button
                type="button"
                class="btn small"
                onClick={() => {
                  draft.value = null;
                }}
              >
                Cancel
              </button>
              <span class="mute small">Markdown. e12 and e12/7 become links.</span>
            </div>
          </>
        ) : notes ? (
          <Markdown text={notes} />
        ) : (
          <p class="mute small">None. What you write here is found by the search.</p>
        )}
      </div>
    </Card>
  );
}
