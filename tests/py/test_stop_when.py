"""`stop: {when}`: the task that meets the condition runs on to its end and counts; the others are stopped."""

import os
import pathlib
import signal

import pytest

from conftest import processes_below, wait_for

# Task 2 meets the condition. Then it waits for the test before it writes its last row.
SCRIPT = """\
import os, pathlib, sys, time
x = float(sys.argv[1].split("=")[1])
go = pathlib.Path(os.environ["GO"])
def row(epoch, accuracy):
    print(f"epoch {epoch} val_accuracy {accuracy}", flush=True)
row(1, 50 + x)
if x == 2:
    row(2, 99.5)
    while not go.exists():
        time.sleep(0.02)
    row(3, 99.6)
else:
    time.sleep(600)
"""
WHEN = "val_accuracy >= 99.2"
MET = "stopping condition met by e1/2: val_accuracy >= 99.2"


def begin(daemon, folder, retry=None, **stop):
    experiment = daemon.submit(SCRIPT, {
        "parameters": {"x": [1, 2, 3, 4, 5]}, "search": {"parallel": 2}, "objective": {"metric": "val_accuracy", "goal": "max"},
        "resources": {"cpus": 1}, "environment": {"vars": {"GO": str(folder / "go")}}, "stop": {"when": WHEN, **stop},
        **({"retry": retry} if retry else {})})
    wait_for(lambda: (daemon.get(f"/experiments/{experiment}")["note"] or "").startswith("stopping condition met"),
             lambda: daemon.get(f"/experiments/{experiment}"))
    return experiment


def states(daemon, experiment):
    return [task["state"] for task in daemon.tasks(experiment)]


def kill_runner(daemon, experiment):
    """Of task 2."""
    below = processes_below(daemon.state / "experiments" / experiment / "tasks/2")
    parents = {int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1]) for pid in below}
    runners = [pid for pid in parents | set(below) if b"\0exec\0" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()]
    assert len(runners) == 1
    os.kill(runners[0], signal.SIGKILL)


@pytest.mark.parametrize("killed", [False, True])
def test_the_task_that_meets_the_condition_runs_on_to_its_end(daemon, folder, killed):
    experiment = begin(daemon, folder)
    wait_for(lambda: sorted(states(daemon, experiment)) == ["running"] + 4 * ["stopped"], lambda: states(daemon, experiment))
    if killed:
        daemon.kill()
        daemon.start()
    e = daemon.get(f"/experiments/{experiment}")
    assert e["state"] == "running" and e["note"] == f"{MET}; it runs on to its end (`sluice stop e1/2` ends it now)"
    (folder / "go").touch()
    e = daemon.wait_ended(experiment)
    assert e["state"] == "finished" and e["note"] == MET
    assert states(daemon, experiment) == ["stopped", "finished", "stopped", "stopped", "stopped"]
    assert (e["best"]["task"], e["best"]["value"], e["best"]["epoch"]) == (2, 99.6, 3)
    assert daemon.metrics(experiment, 2)["val_accuracy"]["value"] == [52, 99.5, 99.6]
    others = {task["reason"] for task in daemon.tasks(experiment) if task["number"] != 2}
    assert others == {"stopped: the stopping condition of the experiment is met"}
    assert MET in daemon.cli("show", experiment).stdout


def test_it_can_be_stopped_by_the_user_and_the_condition_stays_met(daemon, folder):
    experiment = begin(daemon, folder)
    daemon.cli("stop", f"{experiment}/2")
    e = daemon.wait_ended(experiment)
    assert e["state"] == "finished" and e["note"] == MET and e["best"]["value"] == 99.5
    task = daemon.task(experiment, 2)
    assert (task["state"], task["reason"]) == ("stopped", "stopped by the user")


def test_it_is_retried_like_any_other(daemon, folder):
    experiment = begin(daemon, folder, retry={"lost": 3})
    wait_for(lambda: sorted(states(daemon, experiment)) == ["running"] + 4 * ["stopped"], lambda: states(daemon, experiment))
    kill_runner(daemon, experiment)
    wait_for(lambda: len(daemon.task(experiment, 2)["attempts"]) == 2, lambda: daemon.task(experiment, 2))
    (folder / "go").touch()
    e = daemon.wait_ended(experiment)
    assert e["state"] == "finished" and e["note"] == MET and e["best"]["value"] == 99.6
    assert states(daemon, experiment) == ["stopped", "finished", "stopped", "stopped", "stopped"]


@pytest.mark.parametrize("wall", [None, "4s"])
def test_it_is_not_retried_after_a_stop_by_the_user_or_the_budget(daemon, folder, wall):
    """Both come while it waits for its next attempt."""
    experiment = begin(daemon, folder, retry={"lost": 3}, **({"wall": wall} if wall else {}))
    kill_runner(daemon, experiment)
    wait_for(lambda: daemon.task(experiment, 2)["state"] != "running", lambda: daemon.task(experiment, 2))
    if not wall:
        daemon.cli("stop", f"{experiment}/2")
    e = daemon.wait_ended(experiment)
    task = daemon.task(experiment, 2)
    assert e["state"] == "finished" and task["state"] == "stopped"
    assert task["reason"] == ("stopped: the budget of the experiment is used up" if wall else "stopped by the user")


def test_a_budget_that_is_used_up_ends_it_too(daemon, folder):
    experiment = begin(daemon, folder, wall="4s")
    e = daemon.wait_ended(experiment)
    assert e["state"] == "finished" and e["note"] == MET and e["best"]["value"] == 99.5
    task = daemon.task(experiment, 2)
    assert (task["state"], task["reason"]) == ("stopped", "stopped: the budget of the experiment is used up")


def test_a_stop_of_the_whole_experiment_ends_it_too(daemon, folder):
    experiment = begin(daemon, folder)
    daemon.cli("stop", experiment)
    assert daemon.wait_ended(experiment)["state"] == "stopped"


def test_a_restart_begins_with_no_condition_met(daemon, folder):
    experiment = begin(daemon, folder)
    (folder / "go").touch()
    daemon.wait_ended(experiment)
    daemon.cli("restart", experiment, "--yes")
    e = daemon.wait_ended(experiment)
    assert e["state"] == "finished" and e["note"] == MET and states(daemon, experiment)[1] == "finished"
