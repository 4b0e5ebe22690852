"""A real PyTorch script with flags that writes its own CSV: examples/pytorch, with real PyTorch."""

import csv
import json
import os
import subprocess

import pytest

from conftest import ROOT


def python_with_torch():
    for python in (ROOT / "build/venv-ml/bin/python3", "/usr/bin/python3"):
        if os.path.exists(python) and subprocess.run([python, "-c", "import torch"], capture_output=True).returncode == 0:
            return str(python)
    return None


PYTHON = python_with_torch()


@pytest.mark.skipif(not PYTHON, reason="PyTorch is not installed (scripts/setup ml)")
def test_pytorch_script_with_flags(make_daemon):
    daemon = make_daemon(env={"PATH": f"{os.path.dirname(PYTHON)}:{os.environ['PATH']}"}).start()
    created = daemon.cli("run", "--detach", "--json", ROOT / "examples/pytorch/experiment.yaml")
    experiment = json.loads(created.stdout)["id"]
    summary = daemon.wait_ended(experiment, deadline_s=600)
    assert summary["tasks"]["finished"] == 6, [task["cause"] for task in daemon.tasks(experiment)]
    for task in daemon.tasks(experiment):
        detail = daemon.task(experiment, task["number"])
        with open(detail["folder"] + "/work/metrics.csv", newline="") as table:
            rows = list(csv.DictReader(table))
        assert len(rows) == 20
        curve = daemon.metrics(experiment, task["number"])["val_loss"]
        assert curve["value"] == [float(row["val_loss"]) for row in rows]
        assert task["best"]["value"] == min(curve["value"])
        assert f"--learning-rate={task['parameters']['learning_rate']!r}" in detail["argv"]
    assert summary["best"]["value"] < 0.5  # it has learnt something: a constant would stay at the variance of sin
