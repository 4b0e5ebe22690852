"""PyTorch with a SummaryWriter: scalars of both kinds, groups of scalars in folders of their own, other summaries."""

import math

import torch
import truth
from torch.utils.tensorboard import SummaryWriter

writer = SummaryWriter("runs/first")
for step in range(0, 50, 5):
    writer.add_scalar("Loss/train", math.exp(-step / 10), step)
    writer.add_scalar("Loss/test", math.exp(-step / 12), step, new_style=True)
    writer.add_scalar("double", math.pi * step, step, new_style=True, double_precision=True)
    writer.add_scalars("rates", {"a": step / 3, "b": step / 7}, step)
    writer.add_histogram("weights", torch.arange(100) * step, step)
writer.add_scalar("odd", float("nan"), 1)
writer.add_scalar("odd", float("inf"), 2)
writer.add_text("note", "nothing to see")
writer.close()
truth.write(truth.of_events("runs/first"))
