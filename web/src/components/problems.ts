// What is wrong with the fields of a form. Each form and each dialog has a list of its own. A field says which errors
// it shows; what no field shows is in `rest`, so that no error is silent.
import { computed, signal } from '@preact/signals';
import { createContext } from 'preact';
import { useContext, useEffect } from 'preact/hooks';
import { ApiError, message } from '../data/api';
import type { FieldError } from '../data/types';
import { capitalize } from '../lib/format';

// A field is named by its JSON pointer in the experiment.
export function pointer(...parts: string[]): string {
  return parts.map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

// "/search" is that key and everything below it, "=/search" the key alone.
const isBelow = (place: string, at: string) =>
  at.startsWith('=') ? place === at.slice(1) : place === at || place.startsWith(`${at}/`);
const isAt = (error: FieldError, at: string) => isBelow(error.field, at);

export class Problems {
  readonly all = signal<FieldError[]>([]);
  private readonly shown = signal<string[]>([]);
  readonly rest = computed(() => this.all.value.filter((error) => !this.shown.value.some((at) => isAt(error, at))));

  at(places: string[]): FieldError[] {
    return places.flatMap((at) => this.all.value.filter((error) => isAt(error, at)));
  }

  // A field that shows the errors at these places is on the screen; returns what takes it back.
  show(places: string[]): () => void {
    this.shown.value = [...this.shown.peek(), ...places];
    return () => {
      const left = [...this.shown.peek()];
      for (const at of places) left.splice(left.indexOf(at), 1);
      this.shown.value = left;
    };
  }

  // Does a field on the screen show the errors at this place?
  covers(place: string): boolean {
    return this.shown.value.some((at) => isBelow(place, at));
  }

  take(error: unknown) {
    this.all.value =
      error instanceof ApiError && error.errors.length ? error.errors : [{ field: '', message: message(error) }];
  }
}

export const ProblemsContext = createContext(new Problems());

// The errors at a field's places, in the form or dialog around it.
export function useProblems(at: string | string[]): FieldError[] {
  const problems = useContext(ProblemsContext);
  const places = Array.isArray(at) ? at : [at];
  const key = places.join(' ');
  useEffect(() => problems.show(places), [problems, key]);
  return problems.at(places);
}

// The words of an error, with the label of the field it stands at in place of the key of the file.
export function sentence(error: FieldError, label?: string): string {
  const key = error.field.split('/').pop() ?? '';
  const words = label && key ? error.message.replace(`'${key}'`, label) : error.message;
  const end = (text: string) => (/[.?!]$/.test(text) ? text : `${text}.`);
  return error.remedy ? `${end(words)} ${end(capitalize(error.remedy))}` : end(words);
}

// "line 3: ", for an error of a file that is shown as a text.
export const lineOf = (error: FieldError): string => (error.line ? `line ${error.line}: ` : '');
