"""A real Keras script under the contract of S-TFManager, with real TensorFlow: examples/keras, unchanged."""

import csv
import json
import os
import subprocess

import pytest

from conftest import ROOT

PYTHON = ROOT / "build/venv-ml/bin/python"


def has_tensorflow():
    return PYTHON.exists() and subprocess.run([PYTHON, "-c", "import tensorflow"], capture_output=True).returncode == 0


@pytest.mark.skipif(not has_tensorflow(), reason="TensorFlow is not installed (scripts/setup ml)")
def test_keras_script_of_s_tfmanager_runs_unchanged(make_daemon):
    path = f"{PYTHON.parent}:{os.environ['PATH']}"
    daemon = make_daemon(env={"PATH": path}).start()
    created = daemon.cli("run", "--detach", "--json", ROOT / "examples/keras/experiment.yaml")
    experiment = json.loads(created.stdout)["id"]
    summary = daemon.wait_ended(experiment, deadline_s=600)
    assert summary["tasks"]["finished"] == 5, [task["cause"] for task in daemon.tasks(experiment)]
    assert set(summary["metrics"]) >= {"accuracy", "loss", "val_accuracy", "val_loss"}
    best = {}
    for task in daemon.tasks(experiment):
        number = task["number"]
        folder = daemon.task(experiment, number)["folder"]
        with open(f"{folder}/work/results/{experiment}/{number}/{number}.csv", newline="") as table:
            rows = list(csv.DictReader(table))
        assert len(rows) == 5
        curves = daemon.metrics(experiment, number)
        for name in ("accuracy", "loss", "val_accuracy", "val_loss"):
            assert curves[name]["step"] == [0, 1, 2, 3, 4]
            assert curves[name]["value"] == [float(row[name]) for row in rows]
        best[number] = min(float(row["val_loss"]) for row in rows)
    assert summary["best"]["task"] == min(best, key=best.get)
    assert summary["best"]["value"] == min(best.values())
