// What the steps of the metrics of a task count: with a row an iteration beside a row an epoch, step 3 of one is not
// step 3 of the other.

// The points of a metric by step, each with its epoch; null where that is not known.
export type Epochs = Map<number, number | null>;

// Whether every step is its epoch.
export const byEpoch = (epochs: Epochs) => epochs.size > 0 && [...epochs].every(([step, epoch]) => step === epoch);

// A score at the end says nothing about the rest.
const curves = (all: Map<string, Epochs>) => [...all.values()].filter((epochs) => epochs.size > 1);

// Whether an epoch comes before one of a lower step.
function back(points: [number, number | null][]): boolean {
  const known = points.filter((p): p is [number, number] => p[1] !== null).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  return known.some(
    ([step, epoch], i) => i > 0 && (epoch < known[i - 1][1] || (step === known[i - 1][0] && epoch !== known[i - 1][1])),
  );
}

// Whether the metrics count different things.
export function mixed(all: Map<string, Epochs>): boolean {
  const some = curves(all);
  const epochs = some.filter(byEpoch).length;
  if (epochs) return epochs < some.length;
  return !some.some((one) => back([...one])) && back(some.flatMap((one) => [...one]));
}

// Whether every point has an epoch, over which metrics that count different things can be drawn.
export const haveEpochs = (all: Map<string, Epochs>) =>
  curves(all).every((epochs) => [...epochs.values()].every((epoch) => epoch !== null));

export interface Row {
  at: number;
  // What is shown of it; null where the epoch says it all.
  step: number | null;
  epoch: number | null;
  names: Set<string>;
}

// The rows of a table: metrics share one where they count alike. A row an epoch comes at the end of its epoch.
export function rowsOf(all: Map<string, Epochs>): Row[] {
  const apart = mixed(all);
  const rows = new Map<string, Row>();
  for (const [name, epochs] of all) {
    const whole = byEpoch(epochs);
    for (const [step, epoch] of epochs) {
      const key = apart ? `${whole}/${epoch}/${step}` : String(step);
      const row = rows.get(key) ?? { step: apart && whole ? null : step, epoch, names: new Set(), at: step };
      row.names.add(name);
      rows.set(key, row);
    }
  }
  const place = (row: Row) => (apart && row.epoch !== null ? row.epoch : -1);
  const late = (row: Row) => (row.step === null ? 1 : 0);
  return [...rows.values()].sort((a, b) => place(a) - place(b) || late(a) - late(b) || a.at - b.at);
}
