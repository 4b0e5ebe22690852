// How much longer something takes, and which of its tasks are slow. Events do not carry it, so it is asked for now and
// then while something runs.
import { useEffect, useState } from 'preact/hooks';
import { get } from './api';
import type { Experiment, Left } from './types';

const AGAIN_MS = 10000;
// In a list, where every row that runs asks.
export const SELDOM_MS = 30000;

export interface Outlook {
  left?: Left | null;
  slow?: Experiment['slow'];
}

// `path` is that of a task or an experiment; null: nothing runs.
export function useOutlook(path: string | null, again = AGAIN_MS): Outlook {
  const [outlook, setOutlook] = useState<Outlook>({});
  useEffect(() => {
    setOutlook({});
    if (!path) return;
    let there = true;
    const ask = () =>
      !document.hidden &&
      get<Outlook>(path).then(
        (got) => there && setOutlook(got),
        () => undefined, // the page says itself when the daemon does not answer
      );
    void ask();
    const timer = setInterval(ask, again);
    return () => {
      there = false;
      clearInterval(timer);
    };
  }, [path, again]);
  return outlook;
}
