// Which metrics share a chart: loss and val_loss do, loss and accuracy do not.

const ROLE =
  /^(train|training|tr|val|valid|validation|test|eval|dev)[_./ -]+(?=.)|(?<=.)[_./ -]+(train|training|val|valid|validation|test|eval|dev)$/i;

export interface Panel {
  name: string;
  metrics: string[];
}

export const familyOf = (metric: string) => metric.replace(ROLE, '');

// Is it of the data that was trained on? Such a curve is dashed where another of its family is there.
export function isTraining(metric: string): boolean {
  const role = ROLE.exec(metric);
  return !role || /^tr/i.test(role[1] ?? role[2]);
}

// What was measured on the training data beside a metric that was not.
export function trainingOf(metric: string, names: string[]): string | undefined {
  return isTraining(metric) ? undefined : names.find((name) => isTraining(name) && familyOf(name) === familyOf(metric));
}

export function panelsOf(metrics: string[]): Panel[] {
  const panels = new Map<string, Panel>();
  for (const metric of metrics) {
    const name = familyOf(metric);
    const panel = panels.get(name) ?? { name, metrics: [] };
    panel.metrics.push(metric);
    panels.set(name, panel);
  }
  // What was not trained on is what people look at: it comes first.
  for (const panel of panels.values())
    panel.metrics.sort((a, b) => Number(isTraining(a)) - Number(isTraining(b)) || a.localeCompare(b));
  return [...panels.values()];
}
