// A labelled control with its help and its errors, tied together for screen readers.
import type { ComponentChildren } from 'preact';
import { sentence, useProblems } from './problems';
import { Said } from './Said';

// `skip`: what something else beside it says already. `name`: what the form calls the field where it has no label.
export function Errors({
  at,
  id,
  label,
  name,
  skip,
}: {
  at: string | string[];
  id: string;
  label?: ComponentChildren;
  name?: string;
  skip?: RegExp;
}) {
  const found = useProblems(at).filter((error) => !skip?.test(error.message));
  if (!found.length) return null;
  return (
    <p
      class="wrong"
      id={id}
      data-at={found.map((error) => error.field).join(' ')}
      data-name={name ?? (typeof label === 'string' ? label : undefined)}
    >
      <Said text={found.map((error) => sentence(error, typeof label === 'string' ? label : undefined)).join(' ')} />
    </p>
  );
}

interface TextProps {
  id: string;
  label: ComponentChildren;
  value: string;
  onInput: (value: string) => void;
  at: string | string[];
  help?: ComponentChildren;
  optional?: boolean;
  placeholder?: string;
  mono?: boolean;
  numeric?: boolean;
  unit?: string;
  class?: string;
  rows?: number;
  // The id of a <datalist> to choose from.
  list?: string;
}

export function TextField(p: TextProps) {
  const bad = useProblems(p.at).length > 0;
  const shared = {
    id: p.id,
    class: `input${p.mono ? ' mono' : ''}${bad ? ' bad' : ''}`,
    value: p.value,
    placeholder: p.placeholder,
    'aria-invalid': bad,
    'aria-describedby': [bad && `${p.id}-e`, p.help && `${p.id}-h`].filter(Boolean).join(' ') || undefined,
  };
  const control = p.rows ? (
    <textarea {...shared} rows={p.rows} spellcheck={false} onInput={(event) => p.onInput(event.currentTarget.value)} />
  ) : (
    <input
      {...shared}
      list={p.list}
      inputMode={p.numeric ? 'decimal' : undefined}
      autocomplete="off"
      spellcheck={false}
      onInput={(event) => p.onInput(event.currentTarget.value)}
    />
  );
  return (
    <div class={`field ${p.class ?? ''}`}>
      <label for={p.id}>
        {p.label}
        {p.optional && <span class="mute"> optional</span>}
      </label>
      {p.unit ? (
        <div class="affix">
          {control}
          <span>{p.unit}</span>
        </div>
      ) : (
        control
      )}
      <Errors at={p.at} id={`${p.id}-e`} label={p.label} />
      {p.help && (
        <p class="help" id={`${p.id}-h`}>
          {p.help}
        </p>
      )}
    </div>
  );
}

export function SelectField({
  id,
  label,
  value,
  options,
  onPick,
  at,
  help,
  class: cls = '',
}: {
  id: string;
  label: string;
  value: string;
  options: { value: string; label: string }[];
  onPick: (value: string) => void;
  at: string | string[];
  help?: string;
  class?: string;
}) {
  const bad = useProblems(at).length > 0;
  return (
    <div class={`field ${cls}`}>
      <label for={id}>{label}</label>
      <select
        class={`input${bad ? ' bad' : ''}`}
        id={id}
        value={value}
        aria-invalid={bad}
        aria-describedby={bad ? `${id}-e` : undefined}
        onChange={(event) => onPick(event.currentTarget.value)}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
      <Errors at={at} id={`${id}-e`} label={label} />
      {help && <p class="help">{help}</p>}
    </div>
  );
}
