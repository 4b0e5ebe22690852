// Light, dark or the system's choice. Canvas charts cannot use CSS variables, so `theme` is also what
// tells them to read the colours again.
import { effect, signal } from '@preact/signals';

export type Choice = 'system' | 'light' | 'dark';
const KEY = 'sluice.theme';
const dark = matchMedia('(prefers-color-scheme: dark)');

function stored(): Choice {
  const value = localStorage.getItem(KEY);
  return value === 'light' || value === 'dark' ? value : 'system';
}

export const choice = signal<Choice>(stored());
const system = signal(dark.matches);
export const theme = signal<'light' | 'dark'>('light');

export function startTheme() {
  dark.addEventListener('change', () => {
    system.value = dark.matches;
  });
  effect(() => {
    const picked = choice.value === 'system' ? (system.value ? 'dark' : 'light') : choice.value;
    document.documentElement.dataset.theme = picked;
    theme.value = picked;
  });
}

export function choose(next: Choice) {
  if (next === 'system') localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, next);
  choice.value = next;
}

// Long enough for what follows a signal to be rendered; all of it happens before the browser paints.
const TURNS = 30;

// What `make` gives while the page has the light theme. Nothing of it is seen on the screen.
export async function inLight<T>(make: () => T): Promise<T> {
  const before = theme.value;
  const root = document.documentElement;
  try {
    root.dataset.theme = theme.value = 'light';
    for (let i = 0; before !== 'light' && i < TURNS; i++) await Promise.resolve();
    return make();
  } finally {
    root.dataset.theme = theme.value = before;
  }
}

// Asking the browser for a style costs more than drawing with it, and charts ask for each of their tasks.
const tokens = new Map<string, string>();

export function token(name: string): string {
  const root = document.documentElement;
  const key = `${root.dataset.theme} ${name}`;
  let value = tokens.get(key);
  if (value === undefined) {
    value = getComputedStyle(root).getPropertyValue(name).trim();
    tokens.set(key, value);
  }
  return value;
}
