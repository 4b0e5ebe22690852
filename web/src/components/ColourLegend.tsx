// What the colours of a chart mean.
import type { Colouring } from '../lib/colour';
import { param, params, plural } from '../lib/format';

// More words than can be listed.
function Between({ first, last, count }: NonNullable<Colouring['between']>) {
  return (
    <span>
      <bdi>{param(first)}</bdi> <i class="swatch ramp" /> <bdi>{param(last)}</bdi>, {plural(count, 'value')} in order
    </span>
  );
}

export function ColourLegend({ colours }: { colours: Colouring }) {
  const write = colours.format ?? param;
  const labels = params(colours.legend.map((item) => item.label));
  return (
    <>
      {colours.name && (
        <span class="mute">
          <bdi>{colours.name}</bdi>
        </span>
      )}
      {colours.legend.map((item, i) => (
        <span key={String(item.label)}>
          <i class="swatch" style={{ background: item.css }} />
          <bdi>{labels[i]}</bdi>
        </span>
      ))}
      {colours.between && <Between {...colours.between} />}
      {colours.ramp && (
        <span>
          {write(colours.ramp.low)} <i class="swatch ramp" /> {write(colours.ramp.high)}
          {colours.ramp.log ? ', log' : ''}
        </span>
      )}
    </>
  );
}
