"""A search that people take part in while it runs: configurations and results of their own, another budget or
space, workers of their own; promotions, pruning and several objectives, against the real daemon."""

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

EXTERNAL = {"command": ["true"], "resources": {"backend": "external"}}


def external(daemon, **experiment):
    """An experiment whose tasks the test takes itself."""
    body = {**EXTERNAL, "objective": "loss", "parameters": {"x": {"min": 0.0, "max": 1.0}}, **experiment}
    return daemon.post("/experiments", {"experiment": body})["id"]


def ask(daemon, experiment):
    return daemon.post(f"/experiments/{experiment}/ask")


def tell(daemon, task, **values):
    return daemon.post(f"/experiments/{task['experiment']}/tasks/{task['number']}/tell", {"values": values, "step": 0})


def work(daemon, experiment, measure, most=10**9):
    """Takes tasks until there are none; what was taken."""
    taken = []
    while len(taken) < most and (task := ask(daemon, experiment)):
        tell(daemon, task, **measure(task["parameters"]))
        taken.append(task)
    return taken


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


def test_results_are_imported_from_a_file_and_from_another_experiment(daemon, folder):
    space = {"x": {"min": 0.0, "max": 1.0}, "kind": ["a", "b"]}
    search = {"strategy": "tpe", "tasks": 4}
    first = external(daemon, parameters=space, search=search)
    table = folder / "earlier.csv"
    table.write_text("kind;x;loss;note\na;0,5;x;\n".replace("0,5", "0.5").replace(";x;\n", ";0.25;fine\n")
                     + 'b;0.75;0.5625;"two; three"\nb;0.1;;no result\n')
    said = daemon.cli("import", first, table)
    assert "2 results" in said.stdout and "1 without a result" in said.stderr
    tasks = daemon.tasks(first)
    assert [(t["state"], t["parameters"], t["best"]["value"]) for t in tasks] == [
        ("finished", {"x": 0.5, "kind": "a"}, 0.25), ("finished", {"x": 0.75, "kind": "b"}, 0.5625)]
    assert daemon.get(f"/experiments/{first}/search")["state"]["asked"] == 2  # the search knows of them
    assert len(work(daemon, first, lambda p: {"loss": p["x"]})) == 4  # and has its whole budget

    second = external(daemon, parameters=space, search=search)
    assert "6 results" in daemon.cli("import", second, first).stdout
    assert sorted(t["best"]["value"] for t in daemon.tasks(second)) == sorted(t["best"]["value"] for t in daemon.tasks(first))
    # Its own export, as a file, says the same.
    exported = folder / "export.csv"
    exported.write_text(daemon.cli("export", first).stdout)
    third = external(daemon, parameters=space, search=search)
    assert json.loads(daemon.cli("import", third, exported, "--json").stdout) == {"tasks": 6}
    # What was imported is still there after a crash, and the search too.
    daemon.kill()
    daemon.start()
    assert len(daemon.tasks(third)) == 6
    assert daemon.get(f"/experiments/{third}/search")["state"]["asked"] == 6
    assert len(work(daemon, third, lambda p: {"loss": p["x"]})) == 4


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
    assert (shown["strategy"], shown["varying"]) == ("sobol", ["x", "m"])


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
    assert "would propose otherwise" not in daemon.log.read_text(), "a replay came out otherwise"


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
        assert "would propose otherwise" not in daemon.log.read_text()
        if not given:
            return
    raise AssertionError("every proposal was there before the daemon stopped")


def test_worker_on_the_command_line(daemon):
    experiment = external(daemon, parameters={"x": [3, 1], "kind": "a b"}, search={"strategy": "grid"})
    line = daemon.cli("ask", experiment).stdout
    assert line.startswith(f"{experiment}/1 x=3 kind=")
    daemon.cli("tell", f"{experiment}/1", "loss=nan", "--step", 0, "--more")
    assert daemon.task(experiment, 1)["state"] == "running"
    daemon.cli("tell", f"{experiment}/1", "loss=0.5", "--step", 1)
    assert daemon.task(experiment, 1)["state"] == "finished"  # told is true at once
    assert daemon.metrics(experiment, 1)["loss"] == {"step": [0, 1], "value": ["NaN", 0.5]}
    task = json.loads(daemon.cli("ask", experiment, "--json").stdout)
    daemon.cli("tell", task["id"], "--failed", "it broke")
    assert daemon.task(experiment, 2)["cause"]["text"] == "it broke"
    done = daemon.cli("ask", experiment, status=1)
    assert done.stdout == "" and "no task left" in done.stderr
    daemon.cli("tell", task["id"], "loss=1", status=1)  # it is over
    daemon.cli("tell", task["id"], status=2)
    daemon.cli("tell", experiment, "loss=1", status=2)
    daemon.cli("tell", task["id"], "loss=much", status=2)


# Promotions.


PROMOTED = """
import os, pathlib
epochs, task = int(os.environ["SLUICE_PARAM_EPOCHS"]), int(os.environ["SLUICE_TASK"].split("/")[-1])
point = pathlib.Path(os.environ["SLUICE_CHECKPOINT_DIR"]) / "epoch"
first = int(point.read_text()) + 1 if point.exists() else 0
with open(os.environ["SEEN"], "a") as seen:
    print(task, os.environ["SLUICE_ATTEMPT"], os.environ.get("SLUICE_RESUME", "0"), first, epochs, file=seen)
x = float(os.environ["SLUICE_PARAM_X"])
with open("metrics.csv", "a" if first else "w") as rows:
    if not first:
        rows.write("epoch,loss\\n")
    for epoch in range(first, epochs):
        rows.write("%d,%r\\n" % (epoch, x + 1 / (epoch + 1)))
if os.environ["KEEP"] == "1":
    point.write_text(str(epochs - 1))
"""


@pytest.mark.parametrize("keep", ["1", "0"], ids=["from its checkpoint", "from scratch"])
def test_promotion_goes_on_with_the_same_task(daemon, folder, keep):
    seen = folder / "seen"
    experiment = daemon.submit(PROMOTED, {
        "parameters": {"x": {"min": 0.0, "max": 1.0}, "epochs": 9}, "objective": {"metric": "loss", "goal": "min"},
        "fidelity": {"parameter": "epochs", "min": 1, "max": 9}, "search": {"strategy": "asha", "tasks": 24, "parallel": 1},
        "environment": {"vars": {"SEEN": str(seen), "KEEP": keep}}})
    daemon.wait_ended(experiment)
    runs = {}
    for line in seen.read_text().splitlines():
        task, attempt, resume, first, epochs = map(int, line.split())
        runs.setdefault(task, []).append((attempt, resume, first, epochs))
    promoted = {task: tries for task, tries in runs.items() if len(tries) > 1}
    assert promoted, "nothing was promoted"
    for task, tries in runs.items():
        assert [t[3] for t in tries] == [1, 3, 9][:len(tries)]
        assert [t[0] for t in tries] == list(range(1, len(tries) + 1))  # the next attempt of the same task
        assert [t[1] for t in tries] == [0] + [1] * (len(tries) - 1)  # SLUICE_RESUME
        assert [t[2] for t in tries] == ([0, 1, 3][:len(tries)] if keep == "1" else [0] * len(tries))
        shown = daemon.task(experiment, task)
        assert (shown["state"], shown["attempt"], shown["parameters"]["epochs"]) == ("finished", len(tries), tries[-1][3])
        # Every epoch once, whether it was run once or again.
        assert daemon.metrics(experiment, task)["loss"]["step"] == list(range(tries[-1][3]))
    found = daemon.get(f"/experiments/{experiment}/search")
    assert {f["fidelity"]: f["tasks"] for f in found["fidelities"]} == {
        level: sum(t[-1][3] == level for t in runs.values()) for level in {t[-1][3] for t in runs.values()}}
    agreement = daemon.get(f"/experiments/{experiment}/analysis")["agreement"]
    assert (agreement[0]["from"], agreement[0]["to"]) == (1, 3)
    assert agreement[0]["tasks"] == sum(len(t) > 1 for t in runs.values())


def test_results_of_every_length_count(daemon):
    """The length is a constant of the space, and a task has another one. That must not make its result unknown."""
    experiment = external(daemon, parameters={"x": {"min": 0.0, "max": 1.0}, "y": {"min": 0.0, "max": 1.0}, "epochs": 9},
                          fidelity={"parameter": "epochs", "min": 1, "max": 9}, search={"strategy": "asha", "tasks": 60})
    work(daemon, experiment, lambda p: {"loss": p["x"] + 1 / p["epochs"]}, 40)
    analysis = daemon.get(f"/experiments/{experiment}/analysis")
    assert len(analysis["slices"]["task"]) == analysis["runs"] > 20
    assert max(analysis["importance"], key=lambda i: i["importance"])["parameter"] == "x"
    # Another space: what was learnt goes along.
    daemon.post(f"/experiments/{experiment}/search", {"parameters": {"y": {"min": 0.0, "max": 2.0}}})
    daemon.kill()
    daemon.start()
    assert daemon.get(f"/experiments/{experiment}/search")["state"]["asked"] == 40


def test_larger_budget_goes_on_promoting_what_is_there(daemon):
    """The rungs survive a change of the budget, at once and after a restart: nothing begins anew that could go on."""
    experiment = external(daemon, parameters={"x": {"min": 0.0, "max": 1.0}, "epochs": 9}, fidelity={"parameter": "epochs", "min": 1, "max": 9},
                          search={"strategy": "asha", "tasks": 6})
    work(daemon, experiment, lambda p: {"loss": p["x"]})
    before = daemon.get(f"/experiments/{experiment}")
    daemon.cli("change", experiment, "--tasks", 12)
    rungs = daemon.get(f"/experiments/{experiment}/search")["state"]["rungs"]
    assert sum(r["told"] for r in rungs) == 6 and rungs[0]["told"] >= 3
    daemon.kill()
    daemon.start()
    assert daemon.get(f"/experiments/{experiment}/search")["state"]["rungs"] == rungs
    work(daemon, experiment, lambda p: {"loss": p["x"]})
    daemon.wait_ended(experiment)
    tasks = daemon.tasks(experiment)
    early = [t for t in tasks if t["number"] <= before["tasks"]["finished"]]
    assert sum(t["attempt"] for t in tasks) == 12  # every ask is an attempt
    assert any(t["attempt"] > 1 for t in early), "none of the first tasks went on"


# Pruning.


def test_pruned_task_makes_room_for_the_next(daemon, folder):
    """Two good tasks finish; a poor one that would never end is pruned, and only then the next one starts."""
    script = """
    import os, time, pathlib
    x = os.environ["SLUICE_PARAM_X"]
    (pathlib.Path(os.environ["STARTED"]) / x).touch()
    with open("metrics.csv", "w") as rows:
        rows.write("epoch,loss\\n")
        for epoch in range(3):
            rows.write("%d,%s\\n" % (epoch, x))
    if x == "90":
        time.sleep(100000)
    """
    started = folder / "started"
    started.mkdir()
    experiment = daemon.submit(script, {
        "parameters": {"x": [1, 2, 90, 3]}, "objective": {"metric": "loss", "goal": "min"},
        "search": {"strategy": "grid", "parallel": 1}, "prune": {"rule": "median", "warmup": 1, "min_tasks": 2},
        "environment": {"vars": {"STARTED": str(started)}}})
    done = daemon.wait_ended(experiment)
    assert (done["tasks"]["finished"], done["tasks"]["pruned"]) == (3, 1)
    tasks = {t["parameters"]["x"]: t for t in daemon.tasks(experiment)}
    assert tasks[90]["state"] == "pruned" and tasks[90]["best"]["value"] == 90
    assert tasks[90]["finished"] <= tasks[3]["started"]
    analysis = daemon.get(f"/experiments/{experiment}/analysis")
    assert analysis["runs"] == 3  # of the finished ones


def test_threshold_prunes_what_a_worker_tells(daemon):
    experiment = external(daemon, parameters={"x": [1, 2]}, search={"strategy": "grid"},
                          prune={"rule": "threshold", "threshold": 10, "warmup": 1})
    task = ask(daemon, experiment)
    path = f"/experiments/{experiment}/tasks/{task['number']}/tell"
    for step in range(4):
        answer = daemon.request("POST", path, {"values": {"loss": 50}, "step": step, "more": True})
        if answer.status != 200:
            break
    assert daemon.wait_state(experiment, ("pruned",), task["number"])["best"]["value"] == 50


# What a task is ranked by.


@pytest.mark.parametrize("objective, first, second", [
    ({}, 1, 2), ({"take": "last"}, 3, 2), ({"take": "mean", "of": 2}, 3.5, 2)], ids=["best", "last", "mean"])
def test_tasks_are_ranked_by_what_the_objective_takes(daemon, objective, first, second):
    experiment = external(daemon, parameters={"x": [1, 2]}, search={"strategy": "grid"},
                          objective={"metric": "loss", "goal": "min", **objective})
    for curve in ([5, 1, 4, 3], [5, 2, 2, 2]):
        task = ask(daemon, experiment)
        tell_curve(daemon, task, curve, 4)
    wait_for(lambda: daemon.get(f"/experiments/{experiment}")["state"] == "finished", "it does not end")
    expected = sorted([(first, 1), (second, 2)])
    analysis = daemon.get(f"/experiments/{experiment}/analysis")
    assert [(b["value"], b["task"]) for b in analysis["best"]] == expected
    assert [p["value"] for p in analysis["progress"]] == analysis["slices"]["value"] == [first, second]
    best = daemon.get(f"/experiments/{experiment}")["best"]
    assert (best["value"], best["task"]) == expected[0]
    assert daemon.get(f"/experiments/{experiment}/tasks?sort=best")["items"][0]["number"] == expected[0][1]


def test_time_may_be_what_is_improved(daemon, folder):
    """The second task goes on until it has taken a second longer than the first, however long that was."""
    experiment = daemon.submit("import os, time\nwhile os.environ['SLUICE_PARAM_S'] == '2' and not os.path.exists(os.environ['GO']):\n"
                               "    time.sleep(0.02)",
                               {"parameters": {"s": [1, 2]}, "objective": {"metric": "time", "goal": "min"},
                                "search": {"strategy": "grid"}, "environment": {"vars": {"GO": str(folder / "go")}}})
    quick = daemon.wait_state(experiment, ("finished",), 1)["best"]["value"]
    wait_for(lambda: (daemon.task(experiment, 2)["elapsed_s"] or 0) > quick + 1, "the second one does not run")
    (folder / "go").touch()
    assert daemon.wait_ended(experiment)["tasks"]["finished"] == 2
    best = daemon.get(f"/experiments/{experiment}")["best"]
    assert best["parameters"]["s"] == 1 and best["value"] == quick >= 0
    values = daemon.get(f"/experiments/{experiment}/analysis")["slices"]
    assert dict(zip(values["parameters"]["s"], values["value"]))[2] >= quick + 1


def test_pruning_spares_what_is_faster_than_every_finished_task(daemon):
    """Time is the second objective: nobody can say of a task that is younger than the others were that it is dominated."""
    experiment = daemon.submit("""
    import os, time
    x = int(os.environ["SLUICE_PARAM_X"])
    with open("metrics.csv", "w") as rows:
        rows.write("epoch,loss\\n")
        for epoch in range(4):
            rows.write("%d,%d\\n" % (epoch, x))
            rows.flush()
            time.sleep(1.25 if x < 9 else 0.1)  # seconds apart, so that a busy machine does not make it the slowest
    """, {"parameters": {"x": [1, 2, 9]}, "search": {"strategy": "grid", "parallel": 1},
          "objective": [{"metric": "loss", "goal": "min"}, {"metric": "time", "goal": "min"}],
          "prune": {"rule": "median", "warmup": 1, "min_tasks": 2}})
    assert daemon.wait_ended(experiment)["tasks"]["finished"] == 3


def test_a_worker_hears_every_digit(daemon):
    experiment = external(daemon, search={"strategy": "random", "tasks": 1})
    _, said = daemon.cli("ask", experiment).stdout.split()
    assert float(said.removeprefix("x=")) == daemon.task(experiment, 1)["parameters"]["x"]


def test_front_names_the_values_of_tasks_that_left_the_space(daemon):
    experiment = external(daemon, parameters={"x": {"min": 0.0, "max": 1.0}, "kind": ["a", "b"]}, search={"strategy": "random", "tasks": 20})
    work(daemon, experiment, lambda p: {"loss": 0.0 if p["kind"] == "b" else 1.0}, 10)
    daemon.post(f"/experiments/{experiment}/search", {"parameters": {"kind": "a"}})
    front = [p for p in daemon.get(f"/experiments/{experiment}/analysis")["fronts"][0]["points"] if p["front"]]
    assert front and all(p["parameters"]["kind"] == "b" for p in front if p["values"][0] == 0)
    assert any(p["values"][0] == 0 for p in front)


# Several objectives.


def dominated(a, b):
    """Is a no better than b anywhere, and worse somewhere?"""
    return all(x >= y for x, y in zip(a, b)) and any(x > y for x, y in zip(a, b))


def test_front_is_what_nothing_dominates(daemon):
    experiment = external(daemon, objective=[{"metric": "loss", "goal": "min"}, {"metric": "speed", "goal": "max"}],
                          search={"strategy": "nsga2", "tasks": 30}, parameters={"x": {"min": 0.0, "max": 1.0}, "y": {"min": 0.0, "max": 1.0}})
    work(daemon, experiment, lambda p: {"loss": p["x"] ** 2 + p["y"], "speed": 10 - (p["x"] - 1) ** 2 - p["y"]})
    analysis = daemon.get(f"/experiments/{experiment}/analysis")
    front, by_time = analysis["fronts"]
    assert [(a["name"], a["goal"]) for a in front["axes"]] == [("loss", "min"), ("speed", "max")]
    assert [a["name"] for a in by_time["axes"]] == ["loss", "time_s"]
    rows = {p["task"]: (p["values"][0], -p["values"][1]) for p in front["points"]}
    assert len(rows) == front["runs"] == analysis["runs"] == 30
    for point in front["points"]:
        mine = rows[point["task"]]
        assert point["front"] == (not any(dominated(mine, other) for other in rows.values()))
        assert ("parameters" in point) == point["front"]
    # The area between the front and the reference, by hand.
    reference = (front["reference"][0], -front["reference"][1])
    volume, top = 0, reference[1]
    for x, y in sorted(rows[p["task"]] for p in front["points"] if p["front"]):
        volume += (reference[0] - x) * (top - y)
        top = y
    assert front["hypervolume"] == pytest.approx(volume)
    best = daemon.cli("best", experiment, "-n", 100).stdout
    assert all((f"{experiment}/{p['task']} " in best) == p["front"] for p in front["points"])


def test_pruning_spares_what_no_finished_task_dominates(daemon):
    """By the median of the first objective both late tasks would go; one of them is the fastest of all."""
    experiment = external(daemon, objective=[{"metric": "loss", "goal": "min"}, {"metric": "size", "goal": "min"}],
                          search={"strategy": "random", "tasks": 6}, prune={"rule": "median", "warmup": 1, "min_tasks": 3})
    for i in range(4):
        tell(daemon, ask(daemon, experiment), loss=1 + i / 10, size=10)
    spared, poor = ask(daemon, experiment), ask(daemon, experiment)

    def row(task, step, **values):
        return daemon.request("POST", f"/experiments/{experiment}/tasks/{task['number']}/tell",
                              {"values": values, "step": step, "more": True}).status

    for step in range(4):
        assert row(spared, step, loss=50, size=1) == 200
    for step in range(4):
        if row(poor, step, loss=50, size=20) != 200:
            break
    assert daemon.wait_state(experiment, ("pruned",), poor["number"])
    assert daemon.task(experiment, spared["number"])["state"] == "running"
    tell(daemon, spared, loss=50, size=1)
    front = daemon.get(f"/experiments/{experiment}/analysis")["fronts"][0]
    assert spared["number"] in [p["task"] for p in front["points"] if p["front"]]


# Curves.


def tell_curve(daemon, task, curve, end):
    """All of a curve, or the beginning of one that goes on."""
    for step, value in enumerate(curve):
        daemon.post(f"/experiments/{task['experiment']}/tasks/{task['number']}/tell",
                    {"values": {"loss": value}, "step": step, "more": step < end - 1})


def test_curves_are_extrapolated_where_that_would_have_helped(daemon):
    """Curves that cross: what is worse at first ends better. Only with enough of them is anything predicted."""
    def curve(k, steps):
        return [1 - 0.03 * k + (2 + 0.08 * k) * (step + 1) ** -0.3 for step in range(steps)]

    experiment = external(daemon, parameters={"k": list(range(11)), "epochs": 40}, search={"strategy": "grid"},
                          objective={"metric": "loss", "goal": "min"})
    tasks = [ask(daemon, experiment) for _ in range(11)]
    for task, steps in ((tasks[1], 20), (tasks[9], 20), (tasks[10], 5)):
        tell_curve(daemon, task, curve(task["parameters"]["k"], steps), 40)
    for task in tasks[2:9]:
        tell_curve(daemon, task, curve(task["parameters"]["k"], 40), 40)
    curves = daemon.get(f"/experiments/{experiment}/analysis")["curves"]
    assert (curves["earned"], curves["tasks"]) == (False, 7) and "running" not in curves
    assert "7 have a curve" in daemon.cli("analyse", experiment).stdout

    tell_curve(daemon, tasks[0], curve(tasks[0]["parameters"]["k"], 40), 40)
    curves = daemon.get(f"/experiments/{experiment}/analysis")["curves"]
    assert (curves["earned"], curves["tasks"]) == (True, 8)
    assert [c["share"] for c in curves["cuts"]] == [0.25, 0.5]
    for cut in curves["cuts"]:
        assert cut["tasks"] == 8 and cut["correlation"] > 0.99 and cut["plain"] < 0
    # The one with five steps has not come to the first cut.
    assert [(r["task"], r["at"]) for r in curves["running"]] == [(tasks[1]["number"], 39), (tasks[9]["number"], 39)]
    for row, task in zip(curves["running"], (tasks[1], tasks[9])):
        assert abs(row["predicted"] - curve(task["parameters"]["k"], 40)[-1]) < 1e-6
    lines = daemon.cli("analyse", experiment).stdout.split("Where the running tasks are going")[1].split("\n")
    assert [line.split()[0] for line in lines[2:4]] == [f"{experiment}/{tasks[9]['number']}", f"{experiment}/{tasks[1]['number']}"]


# The analysis and the search, as they are shown.


def test_importance_slices_and_progress(daemon):
    experiment = external(daemon, parameters={"x": {"min": 0.0, "max": 1.0}, "idle": {"min": 0.0, "max": 1.0}, "kind": ["a", "b"],
                                              "m": {"min": 0.0, "max": 1.0, "when": {"kind": "b"}}},
                          search={"strategy": "sobol", "tasks": 64})
    work(daemon, experiment, lambda p: {"loss": (p["x"] - 0.3) ** 2})
    analysis = daemon.get(f"/experiments/{experiment}/analysis")
    assert analysis["runs"] == 64
    first = analysis["importance"][0]
    assert first["parameter"] == "x" and first["importance"] > 0.5 and first["runs"] == 64
    assert sum(i["importance"] for i in analysis["importance"]) == pytest.approx(1)
    slices = analysis["slices"]
    tasks = {t["number"]: t for t in daemon.tasks(experiment)}
    assert set(slices["parameters"]) == {"x", "idle", "kind", "m"}
    for i, number in enumerate(slices["task"]):
        assert slices["value"][i] == tasks[number]["best"]["value"]
        for name, column in slices["parameters"].items():
            assert column[i] == tasks[number]["parameters"].get(name)
    best = float("inf")
    for entry in analysis["progress"]:
        best = min(best, entry["value"])
        assert entry["best"] == best and entry["time"]
    assert analysis["agreement"] == []
    shown = daemon.cli("analyse", experiment).stdout
    assert "64 finished tasks" in shown and shown.index("x ") < shown.index("idle")
    assert json.loads(daemon.cli("analyse", experiment, "--json").stdout)["runs"] == 64


def test_search_is_shown_while_it_works_and_after(daemon):
    experiment = external(daemon, search={"strategy": "tpe", "tasks": 2})
    ask(daemon, experiment)
    shown = daemon.get(f"/experiments/{experiment}/search")
    assert (shown["strategy"], shown["planned"], shown["proposed"]) == ("tpe", 2, 1)
    assert (shown["state"]["asked"], shown["state"]["pending"], shown["state"]["phase"]) == (1, 1, "random")
    tell(daemon, {"experiment": experiment, "number": 1}, loss=1)
    work(daemon, experiment, lambda p: {"loss": p["x"]})
    daemon.wait_ended(experiment)
    over = wait_for(lambda: (s := daemon.get(f"/experiments/{experiment}/search"))["state"] is None and s, "it is let go")
    assert (over["strategy"], over["planned"], over["proposed"]) == ("tpe", 2, 2)
