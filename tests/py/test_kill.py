"""Nothing lost, nothing twice: the daemon is killed with -9 at random moments, a hundred times and more, while
two hundred short tasks run. Every task must have run exactly once, with every metric row exactly once.

SLUICE_KILLS and SLUICE_KILL_SEED change how often and when."""

import os
import random
import time

import pytest

from conftest import wait_for

KILLS = int(os.environ.get("SLUICE_KILLS", "100"))
TASKS = max(200, KILLS * 2)
ROWS = 4
TASKS_AHEAD = 150

# Leaves a mark for every execution, then writes a few rows, slowly enough to be caught in the middle.
SCRIPT = f"""#!/bin/bash
echo "$SLUICE_ATTEMPT" >> "$MARKS/$SLUICE_TASK"
echo "epoch,loss" > metrics.csv
for row in $(seq 0 {ROWS - 1}); do
    sleep 0.02
    echo "$row,$SLUICE_TASK.$row" >> metrics.csv
done
"""


def test_kill_minus_nine_loses_and_repeats_nothing(make_daemon, folder):
    seed = int(os.environ.get("SLUICE_KILL_SEED", random.randrange(10**6)))
    chance = random.Random(seed)
    marks = folder / "marks"
    marks.mkdir()
    daemon = make_daemon().start()
    # Two at a time: together the tasks take longer than a quarter of the kills, on however many cores.
    experiment = daemon.submit(SCRIPT, {
        "parameters": {"n": list(range(TASKS))}, "search": {"strategy": "grid", "parallel": 2},
        "objective": {"metric": "loss", "goal": "min"}, "environment": {"vars": {"MARKS": str(marks)}},
    }, name="task.sh")

    kills = working = 0  # of all kills, those that came while tasks were left
    while kills < KILLS:
        daemon.kill()
        kills += 1
        working += len(list(marks.iterdir())) < TASKS
        daemon.launch()
        # From in the middle of starting up to well into the work; every fifth time long enough to get on.
        time.sleep(chance.random() * (0.8 if kills % 5 == 0 else 0.12))
    wait_for(daemon.answers, "the daemon does not come back")
    summary = daemon.wait_ended(experiment, deadline_s=600)
    print(f"{kills} kills (seed {seed}), {working} of them while tasks were left")

    assert summary["tasks"]["finished"] == TASKS, summary["tasks"]
    again = {mark.name: mark.read_text() for mark in marks.iterdir() if mark.read_text() != "1\n"}
    assert not again, f"executed more than once (seed {seed}): {again}"
    assert len(list(marks.iterdir())) == TASKS
    for task in daemon.tasks(experiment):
        number = task["number"]
        assert (task["state"], task["attempt"]) == ("finished", 1), task
        curve = daemon.metrics(experiment, number)["loss"]
        assert curve["step"] == list(range(ROWS)), f"task {number} (seed {seed}): {curve}"
        assert curve["value"] == [float(f"{number}.{row}") for row in range(ROWS)]
    # What was needed to run them exactly once is gone, also where a kill came between a commit and the removal.
    batches = daemon.state / "experiments" / experiment / "batches"
    wait_for(lambda: not list(batches.glob("*/*")), lambda: f"left over: {list(batches.glob('*/*'))[:9]}")
    assert working >= KILLS // 4, "the work was over too soon for the kills to mean anything"


def test_kill_minus_nine_while_a_search_thinks_loses_and_repeats_nothing(make_daemon, folder):
    """The Gaussian process proposes on another thread while results come in. Whatever had been written when the daemon
    was killed, the search goes on from there as it would have."""
    tasks, kills = 60, max(10, KILLS // 6)
    seed = int(os.environ.get("SLUICE_KILL_SEED", random.randrange(10**6)))
    chance = random.Random(seed)
    marks = folder / "marks"
    marks.mkdir()
    daemon = make_daemon().start()
    # Together the tasks take longer than the kills, on however quick a machine.
    experiment = daemon.submit(f"""#!/bin/bash
echo "$SLUICE_ATTEMPT" >> "$MARKS/$SLUICE_TASK"
sleep {0.03 * kills}
printf 'epoch,loss\\n0,%s\\n' "$SLUICE_PARAM_X0" > metrics.csv
""", {
        "parameters": {f"x{i}": {"min": 0.0, "max": 1.0} for i in range(12)}, "objective": {"metric": "loss", "goal": "min"},
        "search": {"strategy": "gp", "tasks": tasks, "parallel": 4, "seed": 5, "startup": 4}, "environment": {"vars": {"MARKS": str(marks)}},
    }, name="task.sh")
    working = 0
    for _ in range(kills):
        time.sleep(chance.random() * 0.4)
        daemon.kill()
        working += len(list(marks.iterdir())) < tasks
        daemon.launch()
    wait_for(daemon.answers, "the daemon does not come back")
    summary = daemon.wait_ended(experiment, deadline_s=600)

    assert summary["tasks"]["finished"] == tasks, f"{summary['tasks']} (seed {seed})"
    assert {mark.read_text() for mark in marks.iterdir()} == {"1\n"} and len(list(marks.iterdir())) == tasks
    points = {tuple(task["parameters"].values()) for task in daemon.tasks(experiment)}
    assert len(points) == tasks, "a configuration was proposed twice"
    assert "would propose something else" not in daemon.log.read_text(), "a replay came out otherwise"
    assert working >= kills // 2, "the work was over too soon for the kills to mean anything"


def test_tasks_that_wait_in_the_backend_run_once_after_a_kill(make_daemon, folder):
    """Very short tasks are handed over before a slot is free. A killed daemon leaves them without a runner."""
    seed = int(os.environ.get("SLUICE_KILL_SEED", random.randrange(10**6)))
    chance = random.Random(seed)
    marks = folder / "marks"
    marks.mkdir()
    daemon = make_daemon().start()
    experiment = daemon.submit('echo "$SLUICE_ATTEMPT" >> "$MARKS/$SLUICE_TASK"\n', {
        "parameters": {"n": list(range(TASKS_AHEAD))}, "search": {"strategy": "grid"},
        "environment": {"vars": {"MARKS": str(marks)}}}, name="task.sh")
    ahead = 0
    for _ in range(max(3, KILLS // 25)):
        enough = len(list(marks.iterdir())) + 15 + chance.randrange(10)
        wait_for(lambda: len(list(marks.iterdir())) >= min(enough, TASKS_AHEAD), "nothing runs")
        counts = daemon.get(f"/experiments/{experiment}")["tasks"]
        ahead = max(ahead, counts["submitted"])
        daemon.kill()
        daemon.launch()
        wait_for(daemon.answers, "the daemon does not come back")
    summary = daemon.wait_ended(experiment, deadline_s=600)
    assert summary["tasks"]["finished"] == TASKS_AHEAD, summary["tasks"]
    again = {mark.name: mark.read_text() for mark in marks.iterdir() if mark.read_text() != "1\n"}
    assert not again and len(list(marks.iterdir())) == TASKS_AHEAD, f"not executed exactly once (seed {seed}): {again}"
    if not ahead:
        pytest.skip("tasks take longer than 100 ms on this machine now: none was handed over ahead")
