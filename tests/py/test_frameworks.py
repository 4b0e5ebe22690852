"""Real frameworks, run by the daemon in one line each: every scalar that the framework's own reader or record has, sluice
has, value for value and step for step, and no other. Run by `make test-frameworks`; what the same scripts wrote and printed
once is in every `make test` (test_recorded.py)."""

import json
import os

import pytest

from conftest import ROOT
from frameworks import SCRIPTS, differences

HOME = ROOT / "build/venv-frameworks"
FRAMEWORKS = SCRIPTS.parent
HELPERS = sorted(p for p in SCRIPTS.glob("*.py") if p.stem in ("truth", "keras_model", "lightning_model", "hf_trainer_model"))
NAMES = sorted(p.stem for p in SCRIPTS.glob("*.py") if p not in HELPERS)

pytestmark = [
    pytest.mark.skipif("SLUICE_FRAMEWORKS" not in os.environ, reason="takes minutes: run by make test-frameworks"),
    pytest.mark.skipif(not (HOME / "bin/python").exists(), reason="not installed (scripts/setup frameworks)"),
]


# One line each: the words after the script's name.
CALLS = {
    "absl_csv": ["learning_rate=0.3", "augment=true", "optimizer=adam"],
    "click_csv": ["learning_rate=0.3", "augment=true", "optimizer=adam"],
    "fire_csv": ["learning_rate=0.3", "augment=true", "optimizer=adam"],
    "hydra_csv": ["optimizer.lr=0.3", "optimizer.name=adam", "--file", "hydra_config.yaml"],
}
CALLBACKS = sorted(p.stem for p in (FRAMEWORKS / "callbacks").glob("*.py"))


def compare(make_daemon, name, folder, *words):
    environment = {"PATH": f"{HOME}/bin:{os.environ['PATH']}", "VIRTUAL_ENV": str(HOME), "CUDA_VISIBLE_DEVICES": ""}
    daemon = make_daemon(env=environment).start()
    created = daemon.cli("run", "--detach", "--json", f"{name}.py", *words, cwd=folder)
    experiment = json.loads(created.stdout)["id"]
    daemon.wait_ended(experiment, deadline_s=600)
    task = daemon.task(experiment, 1)
    assert task["state"] == "finished", task
    with open(task["folder"] + "/work/truth.bin") as file:
        truth = json.load(file)
    wrong = differences(name, truth, daemon.metrics(experiment, 1))
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", NAMES)
def test_every_scalar_is_found(make_daemon, name):
    compare(make_daemon, name, SCRIPTS, *(word for helper in HELPERS for word in ("--file", helper.name)))


@pytest.mark.parametrize("name", sorted(CALLS))
def test_every_parser_gets_its_values(make_daemon, name):
    compare(make_daemon, name, FRAMEWORKS / "calls", *CALLS[name], "--env", f"PYTHONPATH={SCRIPTS}")


@pytest.mark.parametrize("name", CALLBACKS)
def test_every_callback_reports_what_the_framework_recorded(make_daemon, name):
    """The callbacks of the Python package, also beside the lines that the framework prints: nothing is doubled."""
    compare(make_daemon, name, FRAMEWORKS / "callbacks", "--env", f"PYTHONPATH={SCRIPTS}:{ROOT / 'python'}")


# Wrong in ordinary ways, with the real library (test_wrong_scripts.py has the same texts without it): the script, what is said,
# what to do.
WRONG = {
    "shapes": ("import torch\ntorch.nn.Linear(512, 10)(torch.zeros(32, 784))\n",
               "mat1 and mat2 shapes cannot be multiplied (32x784 and 512x10)", "compare the shapes"),
    "weights": ("import torch\ntorch.nn.Linear(3, 2).load_state_dict(torch.nn.Linear(4, 2).state_dict())\n",
                "RuntimeError: Error(s) in loading state_dict for Linear: size mismatch for weight", "compare the shapes"),
    "loader": ("import os\nfrom torch.utils.data import DataLoader, Dataset\nclass D(Dataset):\n    def __len__(self): return 4\n"
               "    def __getitem__(self, i): os._exit(1)\nlist(DataLoader(D(), num_workers=1))\n",
               "RuntimeError: DataLoader worker", "with num_workers=0 the script shows the error"),
    "gpu": ("import torch\ntorch.zeros(1).cuda()\n", "", "GPU"),
}


@pytest.mark.parametrize("what", sorted(WRONG))
def test_an_error_of_the_real_library_says_what_to_do(make_daemon, tmp_path, what):
    text, message, remedy = WRONG[what]
    (tmp_path / "wrong.py").write_text(text)
    daemon = make_daemon(env={"PATH": f"{HOME}/bin:{os.environ['PATH']}", "VIRTUAL_ENV": str(HOME), "CUDA_VISIBLE_DEVICES": ""}).start()
    created = daemon.cli("run", "--detach", "--json", "wrong.py", cwd=tmp_path)
    experiment = json.loads(created.stdout)["id"]
    daemon.wait_ended(experiment, deadline_s=300)
    cause = daemon.task(experiment, 1)["cause"]
    assert message in cause["text"] and remedy in cause["remedy"], cause
