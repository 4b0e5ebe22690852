// A ready experiment for the empty list: six tasks of a few seconds that need nothing but Python.

import { go } from '../lib/router';
import { message, post } from './api';
import { toast } from './toast';
import type { Experiment } from './types';

const SCRIPT = `"""Gradient descent on a small curve: what a training script looks like to sluice."""
import argparse, csv, math, time

parser = argparse.ArgumentParser()
parser.add_argument("--learning-rate", type=float, default=0.1, help="size of a step")
parser.add_argument("--batch-size", type=int, default=32, help="larger batches have less noise")
parser.add_argument("--epochs", type=int, default=20)
args = parser.parse_args()

x = 3.0
with open("metrics.csv", "w", newline="") as out:
    table = csv.writer(out)
    table.writerow(["epoch", "loss", "val_loss"])
    for epoch in range(args.epochs):
        noise = math.sin(7 * epoch) / args.batch_size
        x -= args.learning_rate * (2 * x + noise)
        table.writerow([epoch, x * x, x * x + 0.5 / args.batch_size])
        out.flush()
        print("epoch", epoch, "val_loss", x * x, flush=True)
        time.sleep(0.1)
`;

export async function runExample() {
  try {
    const made = await post<Experiment>('/experiments', {
      experiment: {
        name: 'example',
        description: 'A first look: six tasks of a few seconds.',
        script: 'example.py',
        parameters: { learning_rate: [0.3, 0.1, 0.03], batch_size: [64, 16], epochs: 20 },
        search: { strategy: 'grid' },
        objective: { metric: 'val_loss', goal: 'min' },
      },
      files: [{ path: 'example.py', text: SCRIPT }],
    });
    go(`/e/${made.id}`);
  } catch (problem) {
    toast(message(problem), { level: 'error' });
  }
}
