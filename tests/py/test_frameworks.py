"""Real frameworks, run by the daemon in one line each: every scalar that the framework's own reader or record has, sluice
has, value for value and step for step, and no other. Run by `make test-frameworks`; what the same scripts wrote and printed
once is in every `make test` (test_recorded.py)."""

import json
import os

import pytest

from conftest import ROOT
from frameworks import SCRIPTS, differences

HOME = ROOT / "build/venv-frameworks"
HELPERS = sorted(p for p in SCRIPTS.glob("*.py") if p.stem in ("truth", "keras_model", "lightning_model", "hf_trainer_model"))
NAMES = sorted(p.stem for p in SCRIPTS.glob("*.py") if p not in HELPERS)

pytestmark = [
    pytest.mark.skipif("SLUICE_FRAMEWORKS" not in os.environ, reason="takes minutes: run by make test-frameworks"),
    pytest.mark.skipif(not (HOME / "bin/python").exists(), reason="not installed (scripts/setup frameworks)"),
]


@pytest.mark.parametrize("name", NAMES)
def test_every_scalar_is_found(make_daemon, name):
    environment = {"PATH": f"{HOME}/bin:{os.environ['PATH']}", "VIRTUAL_ENV": str(HOME), "CUDA_VISIBLE_DEVICES": ""}
    daemon = make_daemon(env=environment).start()
    files = [word for helper in HELPERS for word in ("--file", helper.name)]
    created = daemon.cli("run", "--detach", "--json", f"{name}.py", *files, cwd=SCRIPTS)
    experiment = json.loads(created.stdout)["id"]
    daemon.wait_ended(experiment, deadline_s=600)
    task = daemon.task(experiment, 1)
    assert task["state"] == "finished", task
    with open(task["folder"] + "/work/truth.bin") as file:
        truth = json.load(file)
    wrong = differences(name, truth, daemon.metrics(experiment, 1))
    assert not wrong, "\n".join(wrong)
