// Of several objectives the one that charts of a single result are about. It is in the address.
import type { Experiment } from '../../data/types';
import { query, setQuery } from '../../lib/router';
import { Pick } from '../choice';

// Its place and its name: that of the address, or the first one.
export function objectiveNow(e: Experiment): [number, string] {
  const at = Math.max(
    0,
    e.objective.findIndex((o) => o.metric === query.value.get('of')),
  );
  return [at, e.objective[at]?.metric ?? 'value'];
}

export function ObjectivePick({ e }: { e: Experiment }) {
  if (e.objective.length < 2) return null;
  const [at, name] = objectiveNow(e);
  return (
    <Pick
      label="Objective"
      value={name}
      options={e.objective.map((o) => ({ value: o.metric, label: o.metric }))}
      onPick={(value) =>
        value !== e.objective[at].metric && setQuery({ of: value === e.objective[0].metric ? null : value })
      }
    />
  );
}
