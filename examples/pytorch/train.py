#!/usr/bin/env python3
"""A PyTorch script with flags that writes its own CSV: a small regression, some seconds on a CPU.

    python3 train.py --learning-rate=0.01 --units=32 --epochs=20
"""

import argparse
import csv

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--learning-rate", type=float, default=0.01)
parser.add_argument("--units", type=int, default=32)
parser.add_argument("--epochs", type=int, default=20)
args = parser.parse_args()

torch.manual_seed(420)
torch.set_num_threads(1)
x = torch.rand(512, 1) * 6 - 3
y = torch.sin(2 * x) + 0.1 * torch.randn_like(x)
train, test = slice(0, 384), slice(384, None)

model = torch.nn.Sequential(torch.nn.Linear(1, args.units), torch.nn.Tanh(), torch.nn.Linear(args.units, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=args.learning_rate)
loss_of = torch.nn.MSELoss()

with open("metrics.csv", "w", newline="") as out:
    table = csv.writer(out)
    table.writerow(["epoch", "loss", "val_loss"])
    for epoch in range(args.epochs):
        for at in range(0, 384, 32):
            optimizer.zero_grad()
            loss = loss_of(model(x[at:at + 32]), y[at:at + 32])
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            table.writerow([epoch, loss_of(model(x[train]), y[train]).item(), loss_of(model(x[test]), y[test]).item()])
        out.flush()
