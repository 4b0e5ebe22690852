"""Several objectives on the command line: with commas, or with the option several times, also in `sluice change`."""

import json

import pytest
from conftest import wait_for

TWO = "import sys\nx = float(sys.argv[1].split('=')[1])\nprint(f'epoch 1 loss {x} accuracy {1 - x / 10} mAP[0.5,0.95]: 0.5')\n"


@pytest.fixture
def two(tmp_path):
    (tmp_path / "two.py").write_text(TWO)
    return tmp_path


def objectives(daemon, experiment):
    return [(o["metric"], o["goal"]) for o in daemon.get(f"/experiments/{experiment}")["objective"]]


def test_several_objectives_with_commas(daemon, two):
    done = daemon.cli("run", "--detach", "--json", "two.py", "x=1,2", "--objective", "loss,accuracy", "--goal", "min,max", cwd=two)
    assert objectives(daemon, json.loads(done.stdout)["id"]) == [("loss", "min"), ("accuracy", "max")]
    done = daemon.cli("run", "--detach", "--json", "two.py", "x=1,2", "--objective", "mAP[0.5,0.95]", cwd=two)
    assert [name for name, _ in objectives(daemon, json.loads(done.stdout)["id"])] == ["mAP[0.5,0.95]"]
    done = daemon.cli("run", "--detach", "--json", "two.py", "x=1,2", "--objective", "accuracy:min,loss:maximize", cwd=two)
    assert objectives(daemon, json.loads(done.stdout)["id"]) == [("accuracy", "min"), ("loss", "max")]
    refused = daemon.cli("run", "two.py", "x=1", "--objective", "loss", "--goal", "min,max", cwd=two, status=2)
    assert "there are more --goal than --objective" in refused.stderr


def test_a_measured_objective_is_shown_beside_a_metric(daemon, two):
    done = daemon.cli("run", "--detach", "--json", "two.py", "x=1,2", "--objective", "accuracy,time", "--goal", "max,min", cwd=two)
    experiment = json.loads(done.stdout)["id"]
    daemon.wait_ended(experiment)
    tasks = daemon.get(f"/experiments/{experiment}/tasks?metrics=*")["items"]
    assert len(tasks) == 2
    for task in tasks:
        took = {"best": task["cost"]["wall_s"], "last": task["cost"]["wall_s"], "epoch": None}
        assert task["values"]["time"] == pytest.approx(took), task
    shown = daemon.cli("show", experiment).stdout
    assert "none" not in shown, shown
    assert "time " in next(line for line in daemon.cli("show", f"{experiment}/1").stdout.splitlines() if line.startswith("best"))


def test_change_ranks_by_several_objectives(daemon, two):
    done = daemon.cli("run", "--detach", "--json", "two.py", "x=3,1,2", "--objective", "loss", cwd=two)
    experiment = json.loads(done.stdout)["id"]
    daemon.wait_ended(experiment)
    daemon.cli("change", experiment, "--objective", "accuracy,loss", "--goal", "max,min")
    assert objectives(daemon, experiment) == [("accuracy", "max"), ("loss", "min")]
    shown = daemon.cli("best", experiment).stdout
    assert "accuracy" in shown and "loss" in shown and f"{experiment}/2" in shown and f"{experiment}/1" not in shown
    daemon.cli("change", experiment, "--objective", "loss", "--objective", "accuracy")
    assert objectives(daemon, experiment) == [("loss", "min"), ("accuracy", "max")]
    refused = daemon.cli("change", experiment, "--objective", "loss,acuracy", status=None)
    assert refused.returncode and "accuracy" in refused.stderr
    refused = daemon.cli("change", experiment, "--goal", "max", status=2)
    assert "--goal needs --objective" in refused.stderr


def test_no_word_of_the_pause_is_left_once_the_objective_is_corrected(daemon, two):
    done = daemon.cli("run", "--detach", "--json", "two.py", "x=1e-3..10:log", "--objective", "los", "--goal", "min",
                      "--tasks", "8", "--parallel", "1", "--strategy", "tpe", cwd=two)
    experiment = json.loads(done.stdout)["id"]
    wait_for(lambda: "paused:" in (daemon.get(f"/experiments/{experiment}")["note"] or ""), "it is not paused")
    daemon.cli("change", experiment, "--objective", "loss")
    assert "paused" not in (daemon.get(f"/experiments/{experiment}")["note"] or "")
    daemon.wait_ended(experiment)
