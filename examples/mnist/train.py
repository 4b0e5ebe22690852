#!/usr/bin/env python3
"""ResNet-18 on MNIST in plain PyTorch, in bf16 with the data on the GPU; a few seconds a task on a large GPU.

    python3 train.py --data=mnist --learning-rate=0.05 --batch-size=256 --weight-decay=5e-4 --momentum=0.9

The folder holds the four files of MNIST (train-images-idx3-ubyte and so on), packed with gzip or not. The last 10,000
training images are the validation set; a search sees val_accuracy and seconds. test_accuracy is for the report alone.
"""

import argparse
import csv
import gzip
import math
import os
import pathlib
import time

import torch
from torch import nn
from torch.nn import functional as F

HELD_OUT = 10000  # of the training images, for validation


class Block(nn.Module):
    def __init__(self, inside, outside, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inside, outside, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(outside)
        self.conv2 = nn.Conv2d(outside, outside, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(outside)
        self.short = nn.Identity()
        if stride != 1 or inside != outside:
            self.short = nn.Sequential(nn.Conv2d(inside, outside, 1, stride, bias=False), nn.BatchNorm2d(outside))

    def forward(self, x):
        y = F.relu(self.norm1(self.conv1(x)), inplace=True)
        return F.relu(self.norm2(self.conv2(y)) + self.short(x), inplace=True)


def resnet18():
    """He et al. 2016; the first layer is made for 28x28: 3x3, stride 2 and no pooling, so that 2x2 is left at the end."""
    widths = [64, 64, 64, 128, 128, 256, 256, 512, 512]
    blocks = [Block(widths[i], widths[i + 1], 2 if i in (2, 4, 6) else 1) for i in range(8)]
    return nn.Sequential(nn.Conv2d(1, 64, 3, 2, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True), *blocks,
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10))


def read_idx(folder, name, header):
    plain = pathlib.Path(folder) / name
    data = plain.read_bytes() if plain.exists() else gzip.open(f"{plain}.gz").read()
    return torch.frombuffer(bytearray(data[header:]), dtype=torch.uint8)


def read_mnist(folder, part, device):
    images = read_idx(folder, f"{part}-images-idx3-ubyte", 16).to(device).view(-1, 1, 28, 28)
    images = ((images.float() / 255 - 0.1307) / 0.3081).contiguous(memory_format=torch.channels_last)
    return images, read_idx(folder, f"{part}-labels-idx1-ubyte", 8).to(device).long()


def evaluate(model, images, labels, autocast):
    """Mean loss and accuracy in percent."""
    model.eval()
    loss = right = 0.0
    with torch.no_grad(), autocast():
        for x, y in zip(images.split(1000), labels.split(1000)):
            out = model(x).float()
            loss += F.cross_entropy(out, y, reduction="sum").item()
            right += (out.argmax(1) == y).sum().item()
    model.train()
    return loss / len(labels), 100 * right / len(labels)


def train_epoch(model, optimizer, schedule, images, labels, batch, autocast):
    """Mean loss. Without a step that waits for the GPU."""
    order = torch.randperm(len(labels), device=labels.device)
    steps = len(labels) // batch
    total = torch.zeros((), device=labels.device)
    for at in range(0, steps * batch, batch):
        pick = order[at:at + batch]
        with autocast():
            loss = F.cross_entropy(model(images[pick]), labels[pick])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        schedule.step()
        total += loss.detach()
    return total.item() / steps


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", default=os.environ.get("MNIST", "mnist"))
    parser.add_argument("--learning-rate", type=float, default=0.05)
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--weight-decay", type=float, default=5e-4)
    parser.add_argument("--momentum", type=float, default=0.9)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--limit", type=int, default=0, help="use only this many images of each part, to try it out")
    return parser.parse_args()


def main():
    args = arguments()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(int(os.environ.get("SLUICE_SEED", "420")))
    torch.set_num_threads(1)

    images, labels = read_mnist(args.data, "train", device)
    part = args.limit or len(labels) - HELD_OUT
    train = images[:-HELD_OUT][:part], labels[:-HELD_OUT][:part]
    val = images[-HELD_OUT:][:part], labels[-HELD_OUT:][:part]
    test = [t[:part] for t in read_mnist(args.data, "t10k", device)]

    model = resnet18().to(device, memory_format=torch.channels_last)
    fused = {"fused": True} if device == "cuda" else {}
    optimizer = torch.optim.SGD(model.parameters(), lr=args.learning_rate, momentum=args.momentum,
                                nesterov=args.momentum > 0, weight_decay=args.weight_decay, **fused)
    steps = args.epochs * (len(train[1]) // args.batch_size)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda i: (1 + math.cos(math.pi * i / steps)) / 2)

    def autocast():
        return torch.autocast(device, dtype=torch.bfloat16)

    with open("metrics.csv", "w", newline="") as out:
        table = csv.writer(out)
        table.writerow(["epoch", "train_loss", "val_loss", "val_accuracy", "test_accuracy", "seconds"])
        seconds = 0.0  # of training; reading, evaluating and starting are not counted
        for epoch in range(1, args.epochs + 1):
            begun = time.monotonic()
            train_loss = train_epoch(model, optimizer, schedule, *train, args.batch_size, autocast)
            seconds += time.monotonic() - begun
            val_loss, val_accuracy = evaluate(model, *val, autocast)
            test_accuracy = evaluate(model, *test, autocast)[1]
            table.writerow([epoch, round(train_loss, 6), round(val_loss, 6), val_accuracy, test_accuracy, round(seconds, 3)])
            out.flush()


if __name__ == "__main__":
    main()
