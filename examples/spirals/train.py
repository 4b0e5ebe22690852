#!/usr/bin/env python3
"""Trains a small neural network to tell two interleaved spirals apart: a problem that no straight line
solves. Pure Python, no package needed; a run takes some seconds.

    python3 train.py --hidden=16 --learning-rate=0.1 --momentum=0.9 --epochs=40

Every epoch appends a row to metrics.csv, which is all that sluice needs to follow it.
"""

import argparse
import csv
import math
import random


def spirals(points, noise, chance):
    """Two spirals of `points` each: (x, y, which)."""
    data = []
    for which in (0, 1):
        for i in range(points):
            radius = i / points * 3 + 0.2
            angle = radius * 2.6 + which * math.pi
            data.append((radius * math.cos(angle) + chance.gauss(0, noise),
                         radius * math.sin(angle) + chance.gauss(0, noise), which))
    chance.shuffle(data)
    return data


class Network:
    """Two inputs, two hidden layers of tanh units, one logistic output; learns by backpropagation with
    momentum."""

    def __init__(self, hidden, chance):
        sizes = [2, hidden, hidden, 1]
        self.weights = [[[chance.gauss(0, 1 / math.sqrt(n)) for _ in range(n + 1)] for _ in range(m)]
                        for n, m in zip(sizes, sizes[1:])]
        self.speed = [[[0.0] * len(row) for row in layer] for layer in self.weights]

    def forward(self, inputs):
        """The activations of every layer; the last one holds the probability."""
        layers = [inputs]
        for depth, layer in enumerate(self.weights):
            sums = [row[-1] + sum(w * a for w, a in zip(row, layers[-1])) for row in layer]
            last = depth == len(self.weights) - 1
            layers.append([1 / (1 + math.exp(-max(-60.0, min(60.0, s)))) if last else math.tanh(s) for s in sums])
        return layers

    def learn(self, inputs, target, rate, momentum):
        layers = self.forward(inputs)
        delta = [layers[-1][0] - target]
        for depth in range(len(self.weights) - 1, -1, -1):
            below = layers[depth]
            layer, speed = self.weights[depth], self.speed[depth]
            passed = [sum(d * row[i] for d, row in zip(delta, layer)) * (1 - a * a) for i, a in enumerate(below)]
            for d, row, pace in zip(delta, layer, speed):
                for i, a in enumerate(below):
                    pace[i] = momentum * pace[i] - rate * d * a
                    row[i] += pace[i]
                pace[-1] = momentum * pace[-1] - rate * d
                row[-1] += pace[-1]
            delta = passed

    def measure(self, data):
        """Mean cross-entropy and the share that was told right."""
        loss = right = 0
        for x, y, which in data:
            p = min(1 - 1e-12, max(1e-12, self.forward([x, y])[-1][0]))
            loss -= math.log(p if which else 1 - p)
            right += (p > 0.5) == which
        return loss / len(data), right / len(data)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hidden", type=int, default=16)
    parser.add_argument("--learning-rate", type=float, default=0.1)
    parser.add_argument("--momentum", type=float, default=0.0)
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    chance = random.Random(args.seed)
    train, test = spirals(150, 0.12, chance), spirals(80, 0.12, chance)
    network = Network(args.hidden, chance)
    with open("metrics.csv", "w", newline="") as out:
        table = csv.writer(out)
        table.writerow(["epoch", "loss", "accuracy", "val_loss", "val_accuracy"])
        for epoch in range(args.epochs):
            chance.shuffle(train)
            for x, y, which in train:
                network.learn([x, y], which, args.learning_rate, args.momentum)
            row = [*network.measure(train), *network.measure(test)]
            table.writerow([epoch, *(f"{value:.6f}" for value in row)])
            out.flush()
            print(f"epoch {epoch}: val_loss {row[2]:.4f}, val_accuracy {row[3]:.3f}", flush=True)


if __name__ == "__main__":
    main()
