// The experiment file as a text, with the numbers of its lines; what is wrong stands at its line and below.
import { signal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { FieldError } from '../../data/types';
import { capitalize } from '../../lib/format';
import { lineOf, sentence } from '../problems';
import { Said } from '../Said';
import { file, problems, typeSource, view } from './form';

// The line that the editor is to select, also where it is not on the page yet.
const wanted = signal<number | null>(null);
export function showLine(line: number) {
  view.value = 'yaml';
  wanted.value = line;
}

function wrongLines(): FieldError[] {
  const { broken } = file.value!;
  const said = problems.all.value.filter((error) => error.line);
  if (!broken || said.length) return said;
  return [{ field: '', message: broken.message, line: broken.line, column: broken.column }];
}

export function Editor() {
  const area = useRef<HTMLTextAreaElement>(null);
  const { text } = file.value!;
  const lines = text.split('\n').length;
  const wrong = wrongLines();
  const bad = new Set(wrong.map((error) => error.line));
  const go = (line: number) => {
    const all = (area.current?.value ?? '').split('\n');
    const from = all.slice(0, line - 1).join('\n').length + (line > 1 ? 1 : 0);
    area.current?.focus();
    area.current?.setSelectionRange(from, from + (all[line - 1]?.length ?? 0));
  };
  const line = wanted.value;
  useLayoutEffect(() => {
    if (line === null) return;
    go(line);
    wanted.value = null;
  }, [line]);
  return (
    <>
      <div class="editor">
        <pre class="gutter" aria-hidden="true">
          {Array.from({ length: lines }, (_, i) => (
            <span key={i} class={bad.has(i + 1) ? 'bad' : undefined}>
              {i + 1}
            </span>
          ))}
        </pre>
        <textarea
          ref={area}
          class="mono"
          id="source"
          aria-label="Experiment file"
          wrap="off"
          rows={Math.max(lines, 8)}
          spellcheck={false}
          autocomplete="off"
          value={text}
          aria-invalid={wrong.length > 0}
          aria-describedby={wrong.length ? 'source-e' : undefined}
          placeholder={'script: model.py\nparameters:\n  batch_size: [64, 32, 16]'}
          onInput={(event) => typeSource(event.currentTarget.value)}
        />
      </div>
      {wrong.length > 0 && (
        <ul class="checks" id="source-e">
          {wrong.map((error, i) => (
            <li key={i} class="failure">
              <button type="button" class="link" onClick={() => go(error.line!)}>
                {capitalize(lineOf(error))}
              </button>
              <span>
                <Said text={sentence(error)} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
