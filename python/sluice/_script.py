"""What a training script may use. Outside sluice nothing here has an effect, so that scripts still run by themselves."""

import json
import math
import os


def inside():
    """Does sluice run this script?"""
    return bool(os.environ.get("SLUICE_REPORT"))


def params(defaults=None):
    """The task's values, over the defaults. Outside sluice: the defaults."""
    values = dict(defaults or {})
    folder = os.environ.get("SLUICE_TASK_DIR")
    path = os.environ.get("SLUICE_PARAMS") or (folder and os.path.join(folder, "params.json"))
    if path:
        with open(path, encoding="utf-8") as file:
            values.update(json.load(file))
    return values


def checkpoint_dir(otherwise="checkpoint"):
    """A folder that is kept across attempts of this task; `otherwise` outside sluice. It exists."""
    path = os.environ.get("SLUICE_CHECKPOINT_DIR") or otherwise
    os.makedirs(path, exist_ok=True)
    return path


def resuming():
    """Is this a second or later attempt, with checkpoints of an earlier one?"""
    return os.environ.get("SLUICE_RESUME") == "1"


def _number(value):
    value = float(value.item() if hasattr(value, "item") else value)
    if math.isfinite(value):
        return int(value) if value.is_integer() and abs(value) < 2**53 else value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def report(**metrics):
    """Reports one row, such as report(epoch=4, val_loss=0.31): numbers, or anything with item() that gives one.

    One write of one line: any number of processes of a script may report. True when it was reported, False outside
    sluice."""
    path = os.environ.get("SLUICE_REPORT")
    row = {name: _number(value) for name, value in metrics.items()}
    if not path or not row:
        return False
    line = (json.dumps(row, allow_nan=False) + "\n").encode()
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0), 0o600)
    try:
        if os.write(file, line) != len(line):
            raise OSError(f"{path}: the disk is full")
    finally:
        os.close(file)
    return True
