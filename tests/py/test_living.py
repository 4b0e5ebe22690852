"""A search that people take part in while it runs: configurations and results of their own, another budget or
space, workers of their own, against the real daemon."""

import http.client
import json
import os
import random
import select
import socket
import subprocess
import sys
import time

import pytest

from conftest import DEADLINE_S, ROOT, wait_for
from workers import ask, external, work


def problem(daemon, path, body):
    answer = daemon.request("POST", path, body)
    assert answer.status == 400, answer.body
    return answer.json["errors"]


# Configurations and results of one's own.


def test_suggestion_is_run_beside_the_search_and_learnt_from(daemon):
    experiment = daemon.submit("import os\nprint('x', os.environ['SLUICE_PARAM_X'])\n"
                               "open('m.csv', 'w').write('epoch,loss\\n0,%s\\n' % os.environ['SLUICE_PARAM_X'])",
                               {"parameters": {"x": {"min": 0.0, "max": 1.0}, "k": 7}, "objective": "loss",
                                "search": {"strategy": "random", "tasks": 3}})
    answer = daemon.request("POST", f"/experiments/{experiment}/suggest", {"parameters": {"x": 0.125}})
    assert answer.status == 201
    task = answer.json
    assert task["parameters"] == {"x": 0.125, "k": 7}
    assert answer.headers["Location"].endswith(f"/tasks/{task['number']}")
    done = daemon.wait_ended(experiment)
    assert done["tasks"]["finished"] == done["tasks"]["total"] == 4  # it does not count against the three
    assert daemon.task(experiment, task["number"])["best"]["value"] == 0.125
    # An experiment that is over runs again for it.
    later = json.loads(daemon.cli("suggest", experiment, "x=0.25", "--json").stdout)
    assert daemon.wait_state(experiment, ("finished",), later["number"])["best"]["value"] == 0.25
    assert daemon.wait_ended(experiment)["tasks"]["finished"] == 5


@pytest.mark.parametrize("parameters, field", [
    ({"x": 2}, "/parameters/x"), ({"x": 0.5, "y": 1}, "/parameters/y"), ({}, "/parameters/x"), (None, "/parameters")])
def test_suggestion_outside_the_space_says_what_is_wrong(daemon, parameters, field):
    experiment = external(daemon)
    errors = problem(daemon, f"/experiments/{experiment}/suggest", {} if parameters is None else {"parameters": parameters})
    assert [e["field"] for e in errors] == [field]
    assert daemon.tasks(experiment) == []
    if parameters:
        pairs = [f"{k}={v}" for k, v in parameters.items()]
        assert field[1:] in daemon.cli("suggest", experiment, *pairs, status=1).stderr


@pytest.mark.parametrize("strategy", ["grid", "tpe", "asha"])
def test_suggestion_outside_the_space_runs_where_it_is_allowed(daemon, strategy):
    more = {"fidelity": {"parameter": "epochs", "min": 1, "max": 9}} if strategy == "asha" else {}
    experiment = daemon.submit("import os\nprint('epoch 1 loss', os.environ['SLUICE_PARAM_X'])\n",
                               {"parameters": {"x": [0.1, 0.2], "kind": ["a", "b"], "n": {"min": 1, "max": 3, "step": 1},
                                               "epochs": 9},
                                "objective": "loss", "search": {"strategy": strategy, "tasks": 6}, **more})
    path = f"/experiments/{experiment}/suggest"
    errors = problem(daemon, path, {"parameters": {"x": 0.5, "kind": "c", "n": 7}})
    assert [e["field"] for e in errors] == ["/parameters/x", "/parameters/kind", "/parameters/n"]
    assert "0.5" in errors[0]["message"] and errors[0]["remedy"] == "one of: 0.1, 0.2"
    assert errors[2]["remedy"] == "a whole number from 1 to 3"
    for wrong in ({"x": "fast", "kind": "a", "n": 1}, {"x": 0.1, "kind": "a", "n": 1.5}, {"x": True, "kind": "a", "n": 1}):
        assert len(problem(daemon, path, {"parameters": wrong, "outside": True})) == 1
    wanted = {"x": 0.5, "kind": "c", "n": 7, "epochs": 50}
    task = daemon.request("POST", path, {"parameters": wanted, "outside": True})
    assert task.status == 201 and task.json["parameters"] == wanted
    daemon.wait_ended(experiment)
    assert daemon.task(experiment, task.json["number"])["best"]["value"] == 0.5
    asked = daemon.get(f"/experiments/{experiment}/search")["state"]
    daemon.restart()
    assert daemon.get(f"/experiments/{experiment}/search")["state"] == asked
    later = daemon.cli("suggest", experiment, "x=0.75", "kind=d", "n=2", "--outside", "--json")
    daemon.wait_state(experiment, ("finished",), json.loads(later.stdout)["number"])
    done = daemon.wait_ended(experiment)
    assert done["tasks"]["finished"] == done["tasks"]["total"]


def test_results_are_imported_from_a_file_and_from_another_experiment(daemon, folder):
    space = {"x": {"min": 0.0, "max": 1.0}, "kind": ["a", "b"]}
    search = {"strategy": "tpe", "tasks": 4}
    first = external(daemon, parameters=space, search=search)
    table = folder / "earlier.csv"
    table.write_text("kind;x;loss;note\na;0,5;x;\n".replace("0,5", "0.5").replace(";x;\n", ";0.25;fine\n")
                     + 'b;0.75;0.5625;"two; three"\nb;0.1;;no result\n')
    said = daemon.cli("import", first, table)
    assert "2 results" in said.stdout and "without a result that were left out: 1" in said.stderr
    tasks = daemon.tasks(first)
    assert [(t["state"], t["parameters"], t["best"]["value"]) for t in tasks] == [
        ("finished", {"x": 0.5, "kind": "a"}, 0.25), ("finished", {"x": 0.75, "kind": "b"}, 0.5625)]
    assert daemon.get(f"/experiments/{first}/search")["state"]["asked"] == 2  # the search knows of them
    assert len(work(daemon, first, lambda p: {"loss": p["x"]})) == 4  # and has its whole budget

    wrong = folder / "wrong.csv"
    wrong.write_text('knd,x,loss,note\na,0.5,,"two\nlines"\na,0.25,0.5,\n')
    refused = daemon.cli("import", first, wrong, status=1).stderr
    assert f"{wrong}, line 4: 'kind' is missing" in refused and "nor an objective: knd, note" in refused, refused

    second = external(daemon, parameters=space, search=search)
    assert "6 results" in daemon.cli("import", second, first).stdout
    assert sorted(t["best"]["value"] for t in daemon.tasks(second)) == sorted(t["best"]["value"] for t in daemon.tasks(first))
    # Its own export, as a file, says the same.
    exported = folder / "export.csv"
    exported.write_text(daemon.cli("export", first).stdout)
    third = external(daemon, parameters=space, search=search)
    assert json.loads(daemon.cli("import", third, exported, "--json").stdout) == {"tasks": 6, "already": 0}
    # What was imported is still there after a crash, and the search too.
    daemon.kill()
    daemon.start()
    assert len(daemon.tasks(third)) == 6
    assert daemon.get(f"/experiments/{third}/search")["state"]["asked"] == 6
    assert len(work(daemon, third, lambda p: {"loss": p["x"]})) == 4


def test_what_was_imported_is_never_counted_as_proposed(daemon):
    experiment = external(daemon, parameters={"x": {"min": 0.0, "max": 1.0}}, search={"strategy": "random", "tasks": 3})
    rows = [{"parameters": {"x": i / 20}, "values": {"loss": i}} for i in range(10)]
    said = lambda: [daemon.get(f"/experiments/{experiment}/search")[key] for key in ("planned", "proposed", "imported")]
    assert daemon.post(f"/experiments/{experiment}/import", {"rows": rows})["tasks"] == 10 and said() == [3, 0, 10]
    daemon.cli("rm", "--yes", *[f"{experiment}/{number}" for number in range(1, 5)])
    wait_for(lambda: len(daemon.tasks(experiment)) == 6, "they are not removed")
    assert said() == [3, 0, 10]
    daemon.cli("restart", "--yes", f"{experiment}/5")
    assert said() == [3, 0, 10]
    daemon.kill()
    daemon.start()
    assert said() == [3, 0, 10]
    assert len(work(daemon, experiment, lambda p: {"loss": p["x"]})) == 4  # the restarted one, too
    assert said() == [3, 3, 10]


def test_what_was_removed_and_is_imported_again_counts_once(daemon, folder):
    space = {"x": {"min": 0.0, "max": 1.0}, "n": {"min": 1, "max": 9}, "kind": ["a", "b"]}
    first = external(daemon, parameters=space, search={"strategy": "tpe", "tasks": 4})
    table = folder / "earlier.csv"
    # Two rows are the same on purpose: two runs of one configuration.
    table.write_text("kind,x,n,loss\na,0.5,3,0.25\nb,1.0,9,1\na,0.5,3,0.25\n")
    asked = lambda: daemon.get(f"/experiments/{first}/search")["state"]["asked"]
    imported = lambda: json.loads(daemon.cli("import", first, table, "--json").stdout)
    assert imported() == {"tasks": 3, "already": 0} and asked() == 3
    daemon.cli("rm", "--yes", f"{first}/1", f"{first}/2", f"{first}/3")
    wait_for(lambda: not daemon.tasks(first), "they are not removed")
    assert imported() == {"tasks": 3, "already": 0} and asked() == 3  # the search had kept what it learnt
    assert imported() == {"tasks": 0, "already": 3} and asked() == 3
    assert sorted(t["best"]["value"] for t in daemon.tasks(first)) == [0.25, 0.25, 1]
    daemon.cli("rm", "--yes", f"{first}/5")
    wait_for(lambda: len(daemon.tasks(first)) == 2, "it is not removed")
    table.write_text("kind,x,n,loss\na,0.5,3,0.25\nb,1.0,9,1\nb,1.0,9,2\n")  # another result is another run
    assert imported() == {"tasks": 2, "already": 1} and asked() == 4
    daemon.kill()
    daemon.start()
    assert asked() == 4 and "would propose something else" not in daemon.log.read_text()
    assert len(work(daemon, first, lambda p: {"loss": p["x"]})) == 4


def test_an_export_with_two_objectives_is_imported_whole_and_only_once(daemon, folder):
    goals = [{"metric": "loss", "goal": "min"}, {"metric": "speed", "goal": "max"}]
    first = external(daemon, objective=goals)
    work(daemon, first, lambda p: {"loss": p["x"], "speed": 10 * p["x"] + 0.1})
    exported = folder / "export.csv"
    exported.write_text(daemon.cli("export", first).stdout)
    second = external(daemon, objective=goals)
    assert "learnt from" in daemon.cli("import", second, exported).stdout

    def values(experiment):
        return [[daemon.metrics(experiment, t["number"])[m]["value"] for m in ("loss", "speed")] for t in daemon.tasks(experiment)]

    assert values(second) == values(first) and len(values(first)) > 1
    for again in (first, second):  # what is there stays what it is
        before = values(again)
        assert f"0 results; {len(before)} more were there already" in daemon.cli("import", again, exported).stdout
        assert values(again) == before


FITTED = """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.1)
parser.add_argument("--batch_size", type=int, default=8)
print("loss:", parser.parse_args().lr)
"""


def test_a_change_is_checked_against_the_script_and_passed_as_it_takes_it(daemon):
    experiment = daemon.submit(FITTED, {"parameters": {"lr": [0.1]}, "objective": "loss"})
    daemon.wait_ended(experiment)
    said = daemon.cli("change", experiment, "batchsize=4,8", status=1).stderr
    assert "the script has no argument 'batchsize'" in said and "batch_size" in said
    assert "whole numbers" in daemon.cli("change", experiment, "batch_size=0.5,8", status=1).stderr
    daemon.cli("change", experiment, "batch_size=4,8")
    daemon.wait_ended(experiment)
    assert {t["state"] for t in daemon.tasks(experiment)} == {"finished"}
    assert daemon.task(experiment, 2)["argv"][-1] == "--batch_size=4"


def test_an_estimate_says_what_was_different(daemon, folder):
    def estimate(text, *words):
        (folder / "train.py").write_text(text)
        return json.loads(daemon.cli("check", "train.py", *words, "--json", cwd=folder).stdout)["estimate"]

    (folder / "train.py").write_text(FITTED)
    daemon.cli("run", "train.py", "lr=0.1,0.2", "batch_size=4", cwd=folder)
    assert estimate(FITTED, "lr=0.1,0.2,0.3", "batch_size=4")["basis"].startswith("3 tasks of about")
    assert "with" not in estimate(FITTED, "lr=0.1,0.2,0.3", "batch_size=4")["basis"]
    assert "as in e1, with batch_size=4," in estimate(FITTED, "lr=0.1,0.2", "batch_size=8")["basis"]
    assert "whose script of that name has another text" in estimate(FITTED + "\n", "lr=0.1", "batch_size=4")["basis"]
    assert estimate("import sys\nprint('loss:', 1)\n") is None  # the same file name, another program


def test_import_that_does_not_fit_imports_nothing(daemon, folder):
    experiment = external(daemon)
    rows = [{"parameters": {"x": 0.5}, "values": {"loss": 1}}, {"parameters": {"x": 3}, "values": {"loss": 1}}]
    errors = problem(daemon, f"/experiments/{experiment}/import", {"rows": rows})
    assert errors[0]["field"] == "/rows/1/parameters/x"
    assert problem(daemon, f"/experiments/{experiment}/import", {"rows": []})
    assert problem(daemon, f"/experiments/{experiment}/import", {})
    assert daemon.tasks(experiment) == []
    table = folder / "t.csv"
    for text, word in (("x,accuracy\n0.5,1\n", "objective"), ("", "empty"), ('x,loss\n0.5,"1', "quote"), ("x,loss\n1,2,3\n", "line 2")):
        table.write_text(text)
        assert word in daemon.cli("import", experiment, table, status=1).stderr
    assert daemon.tasks(experiment) == []


# Another budget, another space.


def test_budget_grows_while_it_runs_and_after_it_is_over(daemon):
    experiment = external(daemon, search={"strategy": "tpe", "tasks": 3})
    assert len(work(daemon, experiment, lambda p: {"loss": p["x"]}, most=2)) == 2
    shown = daemon.post(f"/experiments/{experiment}/search", {"search": {"tasks": 5}})
    assert shown["tasks"]["total"] == 5
    assert len(work(daemon, experiment, lambda p: {"loss": p["x"]})) == 3
    assert daemon.wait_ended(experiment)["tasks"]["finished"] == 5
    refused = daemon.cli("change", experiment, "--tasks", 4, status=None)
    assert refused.returncode and "5 tasks have finished already" in refused.stderr and "at least 5" in refused.stderr
    assert "7 tasks in all, 5 finished" in daemon.cli("change", experiment, "--tasks", 7).stdout
    assert daemon.get(f"/experiments/{experiment}")["state"] == "running"
    assert len(work(daemon, experiment, lambda p: {"loss": p["x"]})) == 2
    tried = [t["parameters"]["x"] for t in daemon.tasks(experiment)]
    assert len(set(tried)) == 7


def test_repeats_count_once_against_a_new_budget(daemon):
    experiment = external(daemon, search={"strategy": "random", "tasks": 3}, repeats=2)
    work(daemon, experiment, lambda p: {"loss": p["x"]}, most=4)
    daemon.cli("change", experiment, "--tasks", 4)
    assert len(work(daemon, experiment, lambda p: {"loss": p["x"]})) == 4
    tried = [t["parameters"]["x"] for t in daemon.tasks(experiment)]
    assert sorted(tried.count(x) for x in set(tried)) == [2, 2, 2, 2]


def test_grid_takes_up_a_new_choice_and_repeats_nothing(daemon):
    experiment = external(daemon, parameters={"x": [1, 2], "y": ["p", "q"]}, search={"strategy": "grid"})
    work(daemon, experiment, lambda p: {"loss": p["x"]}, most=1)
    daemon.cli("change", experiment, "x=1,2,3")
    work(daemon, experiment, lambda p: {"loss": p["x"]})
    tried = [tuple(t["parameters"].values()) for t in daemon.tasks(experiment)]
    assert sorted(tried) == sorted((x, y) for x in (1, 2, 3) for y in "pq")
    assert daemon.wait_ended(experiment)["tasks"]["total"] == 6


def test_range_is_widened_and_a_parameter_fixed_while_it_runs(daemon):
    experiment = external(daemon, parameters={"x": {"min": 0.0, "max": 1.0}, "kind": ["a", "b"],
                                              "m": {"min": 0.0, "max": 1.0, "when": {"kind": "b"}}},
                          search={"strategy": "random", "tasks": 40})
    before = work(daemon, experiment, lambda p: {"loss": p["x"]}, most=10)
    daemon.post(f"/experiments/{experiment}/search", {"parameters": {"x": {"min": 5.0, "max": 6.0}, "m": {"min": 2.0, "max": 3.0}}})
    daemon.kill()  # the change is as good as any other fact
    daemon.start()
    middle = work(daemon, experiment, lambda p: {"loss": p["x"]}, most=15)
    daemon.cli("change", experiment, "kind=b", "--strategy", "sobol")
    after = work(daemon, experiment, lambda p: {"loss": p["x"]})
    assert all(t["parameters"]["x"] <= 1 for t in before)
    assert all(5 <= t["parameters"]["x"] <= 6 for t in middle + after)
    assert all(("m" in t["parameters"]) == (t["parameters"]["kind"] == "b") for t in before + middle)  # its condition stayed
    assert all(2 <= t["parameters"]["m"] <= 3 for t in middle if "m" in t["parameters"])
    assert all(t["parameters"]["kind"] == "b" for t in after)
    assert len(before + middle + after) == 40  # those outside the new space count as well
    numbers = [t["number"] for t in before + middle + after]
    assert numbers == sorted(set(numbers))
    shown = daemon.get(f"/experiments/{experiment}")
    assert (shown["strategy"], shown["varying"]) == ("sobol", ["x", "kind", "m"])  # kind differs among the tasks


def test_change_that_makes_no_sense_changes_nothing(daemon):
    experiment = external(daemon, search={"strategy": "tpe", "tasks": 4, "parallel": 2})
    before = daemon.get(f"/experiments/{experiment}")
    path = f"/experiments/{experiment}/search"
    assert problem(daemon, path, {"parameters": {"x": {"min": 3, "max": 1}}})[0]["field"] == "/parameters/x"
    assert problem(daemon, path, {"search": {"strategy": "gues"}})[0]["field"] == "/search/strategy"
    assert problem(daemon, path, {"script": "other.py"})[0]["field"] == "/script"
    assert problem(daemon, path, {})
    assert problem(daemon, path, {"constraints": ["nonsense <"]})
    after = daemon.get(f"/experiments/{experiment}")
    assert {k: after[k] for k in ("spec", "search", "parallel", "tasks")} == {k: before[k] for k in ("spec", "search", "parallel", "tasks")}
    # How many may run was said by itself, and stays.
    daemon.post(f"/experiments/{experiment}/parallel", {"parallel": 3})
    assert daemon.post(path, {"search": {"tasks": 6}})["parallel"] == 3
    assert daemon.post(path, {"search": {"parallel": 5}})["parallel"] == 5
    assert daemon.request("POST", "/experiments/e999/search", {"search": {"tasks": 6}}).status == 404
    assert daemon.request("GET", "/experiments/e999/search").status == 404


# Workers of one's own.

KILLS = 12
STRIDE = 6  # tasks that every kill lets the workers go on for: on a quick machine all would be over before the kills

WORKER = f"""
import http.client, os, sys, time, pathlib
sys.path.insert(0, {str(ROOT / 'python')!r})
import sluice
experiment, marks, kills = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])

def insist(call, *arguments, **named):
    while True:  # the daemon may be away
        try:
            return call(*arguments, **named)
        except (OSError, http.client.HTTPException):
            time.sleep(0.05)

client = sluice.Client()
while True:
    while len(os.listdir(kills)) <= {KILLS} and len(os.listdir(marks)) >= {STRIDE} * len(os.listdir(kills)):
        time.sleep(0.001)
    if not (task := insist(client.ask, experiment)):
        break
    with open(marks / task["id"].split("/")[1], "a") as mark:
        mark.write(task["id"] + "\\n")
    value = task["parameters"]["x"] ** 2
    try:
        insist(client.tell, task["id"], {{"loss": value}}, step=0)
    except sluice.Problem as problem:
        # The daemon was killed between the commit and the answer: then it is told already.
        if problem.status != 404 or insist(client.show, task["id"])["state"] != "finished":
            raise
"""


# The Gaussian process thinks on another thread while tells come in: whatever the order was, it is replayed so.
@pytest.mark.parametrize("strategy,tasks", [("random", 300), ("gp", 120)])
def test_two_workers_and_kill_minus_nine_lose_and_repeat_nothing(daemon, folder, strategy, tasks):
    experiment = external(daemon, search={"strategy": strategy, "tasks": tasks})
    marks, kills = folder / "marks", folder / "kills"
    marks.mkdir()
    kills.mkdir()
    chance = random.Random()
    program = folder / "worker.py"
    program.write_text(WORKER)
    # The program must not start a daemon of its own while ours is away.
    env = {**daemon.env, "PATH": "/nowhere:/usr/bin:/bin"}
    workers = [subprocess.Popen([sys.executable, program, experiment, marks, kills], env=env, stderr=subprocess.PIPE, text=True) for _ in range(2)]

    def marked(count):
        return len(os.listdir(marks)) >= count or any(worker.poll() is not None for worker in workers)

    for kill in range(KILLS):
        wait_for(lambda: marked(STRIDE * kill), "the workers stand still")
        (kills / str(kill)).touch()
        first = STRIDE * kill + chance.randint(1, 3)
        while not marked(first):  # the kill falls among the tasks that were just let go
            time.sleep(0.0005)
        daemon.kill()
        daemon.start()
    (kills / "over").touch()
    for worker in workers:
        _, errors = worker.communicate(timeout=DEADLINE_S)
        assert worker.returncode == 0, errors
    shown = {t["number"]: t for t in daemon.tasks(experiment)}
    assert len(shown) == tasks
    given = {int(mark.name): mark.read_text().count("\n") for mark in marks.iterdir()}
    assert set(given.values()) == {1}, "a task was given twice"
    # At most one task a kill and worker was given in an answer that nobody heard.
    unheard = set(shown) - set(given)
    assert len(unheard) <= KILLS * len(workers)
    for number, task in shown.items():
        if number in unheard:
            assert task["state"] == "running"
            continue
        assert (task["state"], task["attempt"]) == ("finished", 1)
        assert task["best"]["value"] == task["parameters"]["x"] ** 2
        assert daemon.metrics(experiment, number)["loss"]["step"] == [0]
    assert "would propose something else" not in daemon.log.read_text(), "a replay came out otherwise"


NAMES = [f"x{i}" for i in range(20)]
KNOWN = 250


def thinker(daemon):
    """An experiment whose next proposal takes a fraction of a second."""
    experiment = external(daemon, parameters={name: {"min": 0.0, "max": 1.0} for name in NAMES},
                          search={"strategy": "gp", "tasks": 300, "seed": 1})
    chance = random.Random(1)
    points = [{name: chance.random() for name in NAMES} for _ in range(KNOWN)]
    rows = [{"parameters": point, "values": {"loss": sum((x - 0.3) ** 2 for x in point.values())}} for point in points]
    daemon.post(f"/experiments/{experiment}/import", {"rows": rows})
    return experiment


def begin_ask(daemon, experiment):
    """A request whose answer nobody has read yet."""
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(DEADLINE_S)
    connection.connect(str(daemon.socket))
    connection.sendall(f"POST /api/v1/experiments/{experiment}/ask HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    return connection


def end_ask(connection):
    """The task that it was given; None where the daemon closed without a word."""
    answer = http.client.HTTPResponse(connection, method="POST")
    try:
        answer.begin()
    except ConnectionError:
        return None
    assert answer.status == 200
    return json.loads(answer.read())


# A proposal takes a tenth of a second of a core, and a busy machine may give all of it to the search before anybody else has
# a turn. What must hold while it thinks is tried until it was seen to think; where it never holds it fails every time.
TRIES = 10


def test_others_are_answered_while_a_search_thinks(daemon):
    for _ in range(TRIES):
        experiment = thinker(daemon)
        answered = 0
        with begin_ask(daemon, experiment) as connection:
            while not select.select([connection], [], [], 0)[0]:
                assert daemon.get("/experiments")["items"]
                assert daemon.get(f"/experiments/{experiment}/search")["state"]["asked"] in (KNOWN, KNOWN + 1)
                answered += 1
            assert end_ask(connection)["number"] == KNOWN + 1
        if answered >= 3:  # one or two where everybody waits for the proposal
            return
    raise AssertionError("everybody waited for the proposal")


def test_client_that_goes_while_the_search_thinks_leaves_the_task_to_the_next(daemon):
    for _ in range(TRIES):
        experiment = thinker(daemon)
        begin_ask(daemon, experiment).close()
        with begin_ask(daemon, experiment) as second:
            begin_ask(daemon, experiment).close()
            given = [ask(daemon, experiment)["number"], end_ask(second)["number"]]
        # Nobody is given what another has, and nothing is given to nobody unless it was ready before the first had gone.
        running = {t["number"] for t in daemon.tasks(experiment) if t["number"] > KNOWN and t["state"] == "running"}
        assert len(set(given)) == 2 and running >= set(given)
        if given == [KNOWN + 2, KNOWN + 1] and running == set(given):
            return
    raise AssertionError(f"tasks were given to clients that had gone: {given} of {running}")


def test_daemon_stops_and_comes_back_while_a_search_thinks(daemon):
    for _ in range(TRIES):
        experiment = thinker(daemon)
        with begin_ask(daemon, experiment) as connection:
            wait_for(lambda: daemon.get(f"/experiments/{experiment}/search"), "it does not answer")
            daemon.stop()
            assert daemon.process.returncode == 0
            given = end_ask(connection)
        daemon.start()
        # What it was not told was not given to it.
        assert ask(daemon, experiment)["number"] == KNOWN + 1 + bool(given)
        assert "would propose something else" not in daemon.log.read_text()
        if not given:
            return
    raise AssertionError("every proposal was there before the daemon stopped")


def test_worker_on_the_command_line(daemon):
    experiment = external(daemon, parameters={"x": [3, 1], "kind": "a b"}, search={"strategy": "grid"})
    line = daemon.cli("ask", experiment).stdout
    assert line.startswith(f"{experiment}/1 x=3 kind=")
    for wrong in (["Loss=1", "--more"], ["los=1", "--more"], ["val=1"]):  # most likely misspelt
        assert "the objective is 'loss'" in daemon.cli("tell", f"{experiment}/1", *wrong, status=1).stderr
    daemon.cli("tell", f"{experiment}/1", "loss=nan", "--step", 0, "--more")
    assert daemon.task(experiment, 1)["state"] == "running"
    daemon.cli("tell", f"{experiment}/1", "loss=0.5", "--step", 1)
    assert daemon.task(experiment, 1)["state"] == "finished"  # told is true at once
    assert daemon.metrics(experiment, 1)["loss"] == {"step_name": "step", "step": [0, 1], "value": ["NaN", 0.5]}
    task = json.loads(daemon.cli("ask", experiment, "--json").stdout)
    daemon.cli("tell", task["id"], "--failed", "it broke")
    assert daemon.task(experiment, 2)["cause"]["text"] == "it broke"
    done = daemon.cli("ask", experiment, status=1)
    assert done.stdout == "" and "no task left" in done.stderr
    daemon.cli("tell", task["id"], "loss=1", status=1)  # it is over
    daemon.cli("tell", task["id"], status=2)
    daemon.cli("tell", experiment, "loss=1", status=2)
    daemon.cli("tell", task["id"], "loss=much", status=2)
