#!/usr/bin/env python3
"""How many training steps of train.py one machine can do at the most: processes that do nothing else, so many at once, without
sluice. See docs/studies/sharing.md. Start NVIDIA MPS before it (nvidia-cuda-mps-control -d).

    python3 limit.py --batch 64 256 --at-once 1 8 12 16 24
"""

import argparse
import os
import resource
import time

import torch
from torch.nn import functional as F

from train import resnet18

IMAGES = 50000
START_S, START_EACH_S = 4, 0.35  # until all of them have made their first steps


def work(batch, start, seconds):
    """Steps a second, and milliseconds of CPU time (user, system) a step."""
    torch.set_num_threads(1)
    images = torch.randn(IMAGES, 1, 28, 28, device="cuda").contiguous(memory_format=torch.channels_last)
    labels = torch.randint(0, 10, (IMAGES,), device="cuda")
    model = resnet18().to("cuda", memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True, weight_decay=5e-4, fused=True)

    def steps(count):
        for _ in range(count):
            pick = torch.randint(0, IMAGES, (batch,), device="cuda")
            with torch.autocast("cuda", dtype=torch.bfloat16):
                loss = F.cross_entropy(model(images[pick]), labels[pick])
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()

    steps(10)
    torch.cuda.synchronize()
    if time.time() > start:
        raise SystemExit("not ready in time: the others have begun")
    time.sleep(start - time.time())
    before, begun, done = resource.getrusage(resource.RUSAGE_SELF), time.time(), 0
    while time.time() < begun + seconds:
        steps(10)
        done += 10
    torch.cuda.synchronize()
    after = resource.getrusage(resource.RUSAGE_SELF)
    return [done / (time.time() - begun), (after.ru_utime - before.ru_utime) / done * 1000,
            (after.ru_stime - before.ru_stime) / done * 1000]


def measure(batch, at_once, seconds):
    start, children = time.time() + START_S + START_EACH_S * at_once, []
    for _ in range(at_once):
        reading, writing = os.pipe()
        if os.fork() == 0:
            try:
                os.write(writing, " ".join(map(str, work(batch, start, seconds))).encode())
            finally:
                os._exit(0)
        os.close(writing)
        children.append(reading)
    answers = [os.fdopen(child).read().split() for child in children]
    rows = [[float(number) for number in answer] for answer in answers if answer]
    for _ in children:
        os.wait()
    if len(rows) < at_once:
        print(f"batch {batch}, {at_once} at once: only {len(rows)} answered; no figure")
        return
    print(f"batch {batch}, {at_once} at once: {sum(row[0] for row in rows):.0f} steps/s in all, "
          f"{sum(row[1] for row in rows) / at_once:.2f} ms user and {sum(row[2] for row in rows) / at_once:.2f} ms system a step",
          flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, nargs="+", default=[64, 256])
    parser.add_argument("--at-once", type=int, nargs="+", default=[1, 8, 12, 16, 24])
    parser.add_argument("--seconds", type=float, default=5)
    args = parser.parse_args()
    for batch in args.batch:
        for at_once in args.at_once:
            measure(batch, at_once, args.seconds)


if __name__ == "__main__":
    main()
