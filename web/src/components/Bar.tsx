// A share of a whole: progress, or a measure.
export function Bar({ share, label, state, meter }: { share: number; label: string; state?: string; meter?: boolean }) {
  const percent = Math.round(Math.min(1, Math.max(0, share)) * 100);
  return (
    // biome-ignore lint/a11y/useAriaPropsSupportedByRole: both roles have all of these
    <div
      class="bar"
      role={meter ? 'meter' : 'progressbar'}
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={percent}
    >
      <i class={state ? `fill-${state}` : undefined} style={{ width: `${percent}%` }} />
    </div>
  );
}
