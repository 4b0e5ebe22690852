// A page whose code is loaded when it is opened.
import { useSignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { message } from '../data/api';
import { Loading, Trouble } from './notice';

// By the function that loads it: a page that was open before comes at once.
const loaded = new Map<unknown, ComponentType<never>>();

export function Late<P extends object>({ load, props }: { load: () => Promise<ComponentType<P>>; props: P }) {
  const failed = useSignal<string | null>(null);
  const there = useSignal(loaded.has(load));
  useEffect(() => {
    if (there.value) return;
    load()
      .then((page) => {
        loaded.set(load, page as ComponentType<never>);
        there.value = true;
      })
      .catch((error) => {
        failed.value = message(error);
      });
  }, []);
  const Page = loaded.get(load) as ComponentType<P> | undefined;
  if (there.value && Page) return <Page {...props} />;
  return failed.value ? <Trouble what="The page" error={failed.value} /> : <Loading />;
}
