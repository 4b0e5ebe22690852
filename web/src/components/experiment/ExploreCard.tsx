// The bar that opens a further chart. Most visits do without, so their code comes when one is chosen.
import { useSignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { message } from '../../data/api';
import { query, setQuery } from '../../lib/router';
import { Card } from '../Card';
import { Seg } from '../choice';
import type { ExploreProps } from './Explore';

type Tab = 'none' | 'scatter' | 'slices' | 'pairs' | 'timeline';
const TABS: { value: Tab; label: string }[] = [
  { value: 'none', label: 'None' },
  { value: 'scatter', label: 'Scatter' },
  { value: 'slices', label: 'Slices' },
  { value: 'pairs', label: 'Interactions' },
  { value: 'timeline', label: 'Timeline' },
];

export function ExploreCard(props: ExploreProps) {
  const tabs = useSignal<Partial<Record<Tab, ComponentType<ExploreProps>>> | null>(null);
  const failed = useSignal<string | null>(null);
  const wanted = query.value.get('show');
  const tab = TABS.find((t) => t.value === wanted)?.value ?? 'none';
  useEffect(() => {
    if (tab === 'none' || tabs.value) return;
    import('./charts')
      .then(({ ScatterTab, SlicesTab, PairsTab, TimelineTab }) => {
        tabs.value = { scatter: ScatterTab, slices: SlicesTab, pairs: PairsTab, timeline: TimelineTab };
      })
      .catch((error) => {
        failed.value = message(error);
      });
  }, [tab]);
  const Chosen = tabs.value?.[tab];
  return (
    <Card
      title="Further charts"
      id="explore"
      class="explore"
      extra={
        <Seg
          label="Further chart"
          value={tab}
          options={TABS}
          onPick={(value) => setQuery({ show: value === 'none' ? null : value })}
        />
      }
    >
      {tab !== 'none' &&
        (Chosen ? (
          <Chosen {...props} />
        ) : (
          <p class="no-chart mute">{failed.value ? `The chart could not be loaded: ${failed.value}` : 'Loading…'}</p>
        ))}
    </Card>
  );
}
