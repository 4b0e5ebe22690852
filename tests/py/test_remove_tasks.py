"""Tasks that are removed: they are gone with all that belongs to them, and the search goes on as if they were there. Against
the real daemon."""

import http.client
import json
import random
import sqlite3
import threading

import pytest

from conftest import wait_for
from workers import ask, external, tell, work

SCRIPT = """
import os
x = float(os.environ['SLUICE_PARAM_X'])
print('the output of', x)
open('m.csv', 'w').write('epoch,loss\\n' + ''.join(f'{i},{x + 1 / (i + 1)}\\n' for i in range(50)))
"""


def value(parameters):
    return {"loss": (parameters["x"] - 0.3) ** 2}


def numbers(daemon, experiment):
    return [t["number"] for t in daemon.tasks(experiment)]


def remove(daemon, experiment, *tasks):
    return daemon.post(f"/experiments/{experiment}/tasks/remove", {"tasks": list(tasks)})


def test_removed_tasks_are_gone_with_their_files_and_the_others_stay(daemon):
    experiment = daemon.submit(SCRIPT, {"parameters": {"x": [0, 1, 2, 3, 4]}, "objective": "loss"})
    done = daemon.wait_ended(experiment)
    assert done["best"]["task"] == 1
    folder = daemon.state / "experiments" / experiment
    assert len([p for p in folder.rglob("m.csv")]) == 5
    assert remove(daemon, experiment, 1, 3, 3) == {"tasks": 2}
    shown = daemon.get(f"/experiments/{experiment}")
    assert numbers(daemon, experiment) == [2, 4, 5]
    assert (shown["tasks"]["total"], shown["tasks"]["finished"], shown["removed"]) == (3, 3, 2)
    assert (shown["best"]["task"], shown["state"]) == (2, "finished")
    wait_for(lambda: len([p for p in folder.rglob("m.csv")]) == 3, "their files stay")
    wait_for(lambda: not list(folder.parent.glob(".removed-*")), "their folders stay under another name")
    for path in ("", "/metrics", "/log", "/files"):
        assert daemon.request("GET", f"/experiments/{experiment}/tasks/1{path}").status == 404
    assert {c["task"] for c in daemon.get(f"/experiments/{experiment}/metrics")["tasks"]} == {2, 4, 5}
    assert len(json.loads(daemon.cli("export", experiment, "--format", "json").stdout)["tasks"]) == 3
    # A number is not given again, also not the last one.
    remove(daemon, experiment, 5)
    daemon.restart()
    added = daemon.post(f"/experiments/{experiment}/suggest", {"parameters": {"x": 0}})
    assert added["number"] == 6


def test_task_that_has_not_ended_is_not_removed_and_neither_are_those_named_beside_it(daemon):
    experiment = daemon.submit("import time\ntime.sleep(600)", {"parameters": {"x": [1, 2, 3]}, "search": {"parallel": 1}})
    daemon.wait_state(experiment, ("running",), 1)
    daemon.cli("stop", f"{experiment}/3")
    answer = daemon.request("POST", f"/experiments/{experiment}/tasks/remove", {"tasks": [3, 1]})
    assert answer.status == 409 and f"sluice stop {experiment}/1" in answer.json["detail"]
    assert daemon.request("POST", f"/experiments/{experiment}/tasks/remove", {"tasks": [3, 9]}).status == 404
    assert daemon.request("POST", f"/experiments/{experiment}/tasks/remove", {"tasks": []}).status == 400
    assert daemon.request("POST", "/experiments/e999/tasks/remove", {"tasks": [1]}).status == 404
    assert numbers(daemon, experiment) == [1, 2, 3]
    said = daemon.cli("rm", f"{experiment}/1", f"{experiment}/3", "--yes", status=1)
    assert "has not ended" in said.stderr
    assert "terminal" in daemon.cli("rm", f"{experiment}/3", status=2).stderr
    assert "sluice stop" in daemon.cli("rm", f"{experiment}/3", "--stop", "--yes", status=2).stderr
    assert f"{experiment}/3 is removed" in daemon.cli("rm", f"{experiment}/3", "--yes").stdout
    assert numbers(daemon, experiment) == [1, 2]
    assert daemon.get(f"/experiments/{experiment}")["state"] == "running"


def test_experiment_without_any_task_left_keeps_its_state(daemon):
    experiment = daemon.submit(SCRIPT, {"parameters": {"x": [0, 1]}, "objective": "loss"})
    daemon.wait_ended(experiment)
    remove(daemon, experiment, 1, 2)
    daemon.restart()
    shown = daemon.get(f"/experiments/{experiment}")
    assert (shown["state"], shown["tasks"]["total"], shown["best"]) == ("finished", 0, None)
    daemon.delete(f"/experiments/{experiment}")


# The last proposals are asked for again at the start of the daemon and compared: another sequence would be logged.
@pytest.mark.parametrize("strategy", ["random", "tpe", "de", "cmaes", "gp"])
def test_search_proposes_the_same_with_and_without_removed_tasks(daemon, strategy):
    search = {"strategy": strategy, "tasks": 24, "seed": 5}
    whole, less = (external(daemon, search=search) for _ in range(2))
    for experiment in (whole, less):
        assert len(work(daemon, experiment, value, most=14)) == 14
    remove(daemon, less, 2, 3, 13, 14)  # the end of the last was told just now
    assert daemon.get(f"/experiments/{less}")["tasks"]["total"] == 20
    daemon.restart()
    remove(daemon, less, 7)
    daemon.kill()
    daemon.start()
    for experiment in (whole, less):
        assert len(work(daemon, experiment, value)) == 10
    assert "would have proposed other tasks" not in daemon.log.read_text()
    tried = {e: {t["number"]: t["parameters"] for t in daemon.tasks(e)} for e in (whole, less)}
    assert sorted(tried[whole]) == list(range(1, 25))
    assert tried[less] == {n: p for n, p in tried[whole].items() if n not in (2, 3, 7, 13, 14)}
    assert daemon.get(f"/experiments/{less}")["state"] == "finished"


def test_promotion_of_a_removed_task_begins_as_a_new_task(daemon):
    experiment = external(daemon, parameters={"x": {"min": 0.0, "max": 1.0}, "epochs": {"min": 1, "max": 9}},
                          search={"strategy": "asha", "tasks": 12, "seed": 3},
                          fidelity={"parameter": "epochs", "min": 1, "max": 9})
    removed = None
    while task := ask(daemon, experiment):
        tell(daemon, task, **value(task["parameters"]))
        ended = [t for t in daemon.tasks(experiment) if t["state"] == "finished"]
        if not removed and len(ended) == 3:
            removed = min(ended, key=lambda t: t["best"]["value"])  # the one that would be promoted
            remove(daemon, experiment, removed["number"])
            daemon.restart()
    same = [t for t in daemon.tasks(experiment) if t["parameters"]["x"] == removed["parameters"]["x"]]
    assert len(same) == 1 and same[0]["number"] != removed["number"]
    assert same[0]["parameters"]["epochs"] > removed["parameters"]["epochs"]
    assert "would have proposed other tasks" not in daemon.log.read_text()


def test_removed_tasks_count_against_the_number_of_tasks(daemon):
    experiment = external(daemon, search={"strategy": "random", "tasks": 3})
    work(daemon, experiment, value)
    remove(daemon, experiment, 1, 2)
    shown = daemon.post(f"/experiments/{experiment}/search", {"search": {"tasks": 4}})
    assert shown["tasks"]["total"] == 2
    assert len(work(daemon, experiment, value)) == 1
    assert numbers(daemon, experiment) == [3, 4]


def test_kill_minus_nine_in_the_middle_of_a_removal_loses_nothing_and_leaves_nothing(daemon):
    """Long curves, so that the removal of a dozen tasks takes many turns."""
    tasks, rounds, each = 40, 3, 12
    experiment = daemon.submit(SCRIPT.replace("range(50)", "range(4000)"),
                               {"parameters": {"x": {"min": 0.0, "max": 1.0, "points": tasks}}, "objective": "loss"})
    daemon.wait_ended(experiment)
    chance, left, middle = random.Random(11), set(range(1, tasks + 1)), 0
    for _ in range(rounds):
        wanted = set(chance.sample(sorted(left), each))
        answered = []

        def send(numbers=tuple(wanted)):
            try:
                answered.append(remove(daemon, experiment, *numbers))
            except (OSError, http.client.HTTPException):  # it was killed before it answered
                pass

        thread = threading.Thread(target=send)
        thread.start()
        thread.join(chance.random() * 0.06)
        daemon.kill()
        thread.join()
        daemon.start()
        middle += 0 < len(wanted & set(numbers(daemon, experiment))) < each

        def settled():
            there = set(numbers(daemon, experiment))
            return there == left - wanted or (there == left and not answered)

        wait_for(settled, "some of the tasks are gone and some are not")
        left = set(numbers(daemon, experiment))
    shown = daemon.get(f"/experiments/{experiment}")
    assert shown["tasks"]["finished"] == shown["tasks"]["total"] == len(left) == tasks - shown["removed"]
    assert all(len(daemon.metrics(experiment, n)["loss"]["step"]) == 4000 for n in left)
    folder = daemon.state / "experiments"
    wait_for(lambda: not list(folder.glob(".removed-*")), "folders are left")
    assert len(list((folder / experiment).rglob("m.csv"))) == len(left)
    print(f"{middle} of {rounds} kills were in the middle")


ROWS = 300000


def many_rows(daemon, tasks):
    """An experiment whose last task has very many rows. They are put into the database: writing them takes minutes."""
    experiment = daemon.submit(SCRIPT, {"parameters": {"x": list(range(tasks))}, "objective": "loss"})
    daemon.wait_ended(experiment)
    daemon.stop()
    with database(daemon) as db:
        task, name = db.execute("SELECT max(task), max(name) FROM metric").fetchone()
        db.execute("WITH RECURSIVE n (i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n WHERE i < ?) "
                   "INSERT INTO metric (task, name, step, value, time_ms) SELECT ?, ?, i, 0.5, 1 FROM n",
                   (ROWS + 999, task, name))
    daemon.start()
    return experiment


class database:
    """The database of a daemon that does not run; what was done is committed."""

    def __init__(self, daemon):
        self.db = sqlite3.connect(daemon.state / "sluice.db")

    def __enter__(self):
        return self.db

    def __exit__(self, *_):
        self.db.commit()
        self.db.close()


def rows_left(daemon):
    with database(daemon) as db:
        return db.execute("SELECT count(*) FROM metric WHERE step >= 1000").fetchone()[0]


def test_task_with_very_many_rows_is_gone_at_once_and_its_rows_go_in_parts(daemon):
    experiment = many_rows(daemon, 2)
    assert remove(daemon, experiment, 2) == {"tasks": 1}
    assert numbers(daemon, experiment) == [1]
    daemon.kill()
    assert 0 < rows_left(daemon) < ROWS  # all of them would have held the daemon for seconds
    daemon.start()
    for _ in range(3):
        shown = daemon.get(f"/experiments/{experiment}")
        assert (shown["tasks"]["total"], shown["removed"], shown["best"]["task"]) == (1, 1, 1)
        assert numbers(daemon, experiment) == [1]
        assert [e["id"] for e in daemon.get("/experiments")["items"]] == [experiment]
        assert len(json.loads(daemon.cli("export", experiment, "--format", "json").stdout)["tasks"]) == 1
        daemon.kill()
        daemon.start()

    def all_gone():
        daemon.kill()
        left = rows_left(daemon)
        daemon.start()
        return left == 0

    wait_for(all_gone, "rows of the removed task are left")
    assert len(daemon.metrics(experiment, 1)["loss"]["step"]) == 50
    assert daemon.post(f"/experiments/{experiment}/suggest", {"parameters": {"x": 0}})["number"] == 3


def test_experiment_with_very_many_rows_goes_in_parts(daemon):
    experiment = many_rows(daemon, 1)
    daemon.delete(f"/experiments/{experiment}")
    seen = set()

    def all_gone():
        daemon.kill()
        seen.add(rows_left(daemon))
        daemon.start()
        assert daemon.get("/experiments")["items"] == []
        return 0 in seen

    wait_for(all_gone, "rows of the removed experiment are left")
    assert seen - {0, ROWS}, "all rows went at once"


def test_restart_of_a_task_with_very_many_rows_forgets_them_in_parts_and_keeps_every_new_row(daemon):
    experiment = many_rows(daemon, 1)
    daemon.post(f"/experiments/{experiment}/tasks/1/restart", {"mode": "fresh"})
    wait_for(lambda: daemon.task(experiment, 1)["best"] is None, "the old result stays")
    daemon.kill()
    assert 0 < rows_left(daemon) < ROWS
    daemon.start()
    wait_for(lambda: daemon.task(experiment, 1)["state"] == "finished", "the task does not end")
    curve = daemon.metrics(experiment, 1)["loss"]
    assert curve["step"] == list(range(50))
    assert daemon.task(experiment, 1)["best"]["value"] == curve["value"][-1]
