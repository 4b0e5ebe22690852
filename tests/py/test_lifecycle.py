"""Every state and every path between them: stop, restart, remove, and what the timeline says about it."""

import csv
import datetime
import pathlib
import time

import pytest

from conftest import processes_below, wait_for

# Reports that it runs, then waits to be let go; SIGTERM ends it.
GATED = """
    import os, pathlib, time
    gate = pathlib.Path(os.environ["GATE"])
    task = os.environ["SLUICE_TASK"]
    with open(gate / f"ran-{task}", "a") as out:
        out.write(os.environ["SLUICE_ATTEMPT"] + " " + os.environ.get("SLUICE_RESUME", "-") + "\\n")
    with open("metrics.csv", "w") as out:
        out.write("epoch,loss\\n0,1.5\\n")
    while not (gate / "open").exists():
        time.sleep(0.02)
    with open("metrics.csv", "a") as out:
        out.write("1,0.5\\n")
    print("done", task)
"""


@pytest.fixture
def gate(folder):
    path = folder / "gate"
    path.mkdir()
    return path


def submit_gated(daemon, gate, count=3, **more):
    spec = {"parameters": {"n": list(range(count)) if count > 1 else 0}, "search": {"strategy": "grid", "parallel": 1},
            "environment": {"vars": {"GATE": str(gate)}}, "objective": {"metric": "loss", "goal": "min"}, **more}
    return daemon.submit(GATED, spec)


def ran(gate, number):
    path = gate / f"ran-{number}"
    return path.read_text().splitlines() if path.exists() else []


def running_number(daemon, experiment):
    found = wait_for(lambda: [t for t in daemon.tasks(experiment) if t["state"] == "running"], "no task runs")
    wait_for(lambda: daemon.metrics(experiment, found[0]["number"]).get("loss"), "no metric arrives")
    return found[0]["number"]


def test_states_follow_each_other_with_times_and_reasons(daemon, gate):
    experiment = submit_gated(daemon, gate)
    number = running_number(daemon, experiment)
    summary = daemon.get(f"/experiments/{experiment}")
    assert summary["state"] == "running"
    assert summary["tasks"]["running"] == 1 and summary["tasks"]["finished"] == 0
    assert summary["tasks"]["waiting"] + summary["tasks"]["submitted"] == 2 or summary["tasks"]["total"] == 3
    task = daemon.task(experiment, number)
    assert task["started"] and not task["finished"] and task["node"]
    (gate / "open").touch()
    assert daemon.wait_ended(experiment)["state"] == "finished"
    task = daemon.task(experiment, number)
    order = [entry["state"] for entry in task["timeline"]]
    assert order[-2:] == ["running", "finished"] and "submitted" in order
    times = [entry["time"] for entry in task["timeline"]]
    assert times == sorted(times)
    assert task["elapsed_s"] >= 0 and task["attempts"][0]["exit_code"] == 0
    assert [len(ran(gate, n)) for n in (1, 2, 3)] == [1, 1, 1]


def test_stopped_task_ends_its_process_and_the_others_go_on(daemon, gate):
    experiment = submit_gated(daemon, gate)
    number = running_number(daemon, experiment)
    folder = daemon.task(experiment, number)["folder"]
    daemon.post(f"/experiments/{experiment}/tasks/{number}/stop")
    task = daemon.wait_state(experiment, ("stopped",), number)
    assert task["finished"]
    wait_for(lambda: not processes_below(folder), "the script goes on")
    assert daemon.metrics(experiment, number)["loss"]["value"] == [1.5]
    (gate / "open").touch()
    assert daemon.wait_ended(experiment)["state"] == "finished"
    states = sorted(task["state"] for task in daemon.tasks(experiment))
    assert states == ["finished", "finished", "stopped"]


def test_stopped_experiment_starts_nothing_more(daemon, gate):
    experiment = submit_gated(daemon, gate)
    running = running_number(daemon, experiment)
    assert daemon.post(f"/experiments/{experiment}/stop")["tasks"] >= 1
    assert daemon.wait_ended(experiment)["state"] == "stopped"
    (gate / "open").touch()
    assert {task["state"] for task in daemon.tasks(experiment)} == {"stopped"}
    assert [number for number in (1, 2, 3) if ran(gate, number)] == [running]
    assert daemon.get(f"/experiments/{experiment}")["state"] == "stopped"


@pytest.mark.parametrize("stop, why, state, note", [({"wall": "1s"}, "budget", "stopped", None),
                                                    ({"when": "loss < 2"}, "condition", "finished", "stopping condition met by e1/1: loss < 2")])
def test_experiment_that_stops_itself_does_not_blame_the_user(daemon, gate, stop, why, state, note):
    experiment = submit_gated(daemon, gate, stop=stop)
    if note:  # the task that met the condition runs on to its end: test_stop_when.py
        wait_for(lambda: daemon.get(f"/experiments/{experiment}")["tasks"]["stopped"] == 2, "the others are not stopped")
        (gate / "open").touch()
    told = daemon.wait_ended(experiment)
    assert (told["state"], told["note"]) == (state, note)
    reasons = {task["reason"] for task in daemon.tasks(experiment) if task["state"] != "finished"}
    assert len(reasons) == 1 and why in reasons.pop()


def test_a_stopped_search_goes_on_where_it_was(daemon, folder):
    gate = folder / "gate"
    script = "import os, time\nn = os.environ['SLUICE_TASK']\nwhile int(n) > 2 and not os.path.exists(os.environ['GATE']):\n    time.sleep(0.05)\nprint('loss', 1 / int(n))\n"
    spec = {"parameters": {"x": {"min": 0.0, "max": 1.0}}, "search": {"strategy": "random", "tasks": 7, "parallel": 2, "seed": 3},
            "environment": {"vars": {"GATE": str(gate)}}}
    experiment = daemon.submit(script, spec)
    wait_for(lambda: [t["state"] for t in daemon.tasks(experiment)[:4]] == ["finished"] * 2 + ["running"] * 2, "two do not run")
    before = {t["number"]: t["parameters"] for t in daemon.tasks(experiment)}
    assert "neither paused nor stopped" in daemon.cli("resume", experiment, status=1).stderr
    daemon.cli("stop", experiment)
    assert daemon.wait_ended(experiment)["state"] == "stopped"
    daemon.restart()
    gate.touch()
    daemon.cli("resume", experiment)
    assert daemon.wait_ended(experiment)["state"] == "finished"
    tasks = daemon.tasks(experiment)
    assert [t["state"] for t in tasks] == ["finished"] * 7
    assert {t["number"]: t["parameters"] for t in tasks if t["number"] in before} == before
    attempts = [daemon.task(experiment, t["number"])["attempt"] for t in tasks]
    assert attempts[:4] == [1, 1, 2, 2] and set(attempts[4:]) == {1}, "what had finished was run again"


def seconds(text):
    return datetime.datetime.fromisoformat(text).timestamp()


def test_elapsed_time_leaves_out_the_time_between_attempts(daemon, gate):
    experiment = submit_gated(daemon, gate, count=1)
    running_number(daemon, experiment)
    daemon.cli("stop", f"{experiment}/1")
    stopped = daemon.wait_state(experiment, ("stopped",), number=1)
    wait_for(lambda: time.time() - seconds(stopped["finished"]) > 3, "time does not pass")
    daemon.cli("restart", "--resume", f"{experiment}/1")
    wait_for(lambda: len(ran(gate, 1)) == 2 and daemon.task(experiment, 1)["state"] == "running", "it does not run again")
    going = daemon.task(experiment, 1)
    assert 0 < going["elapsed_s"] < time.time() - seconds(going["started"]) - 3
    (gate / "open").touch()
    daemon.wait_ended(experiment)
    task = daemon.task(experiment, 1)
    own = sum(seconds(attempt["finished"]) - seconds(attempt["started"]) for attempt in task["attempts"])
    assert len(task["attempts"]) == 2 and abs(task["elapsed_s"] - own) < 0.01
    assert task["elapsed_s"] < seconds(task["finished"]) - seconds(task["started"]) - 3
    (row,) = csv.DictReader(daemon.cli("export", experiment, "--format", "csv").stdout.splitlines())
    assert abs(float(row["elapsed_s"]) - own) < 0.01
    found = [len(daemon.tasks(experiment, filter=f"time{sign}{own + 1:.0f}s")) for sign in ("%3C", "%3E")]
    assert found == [1, 0]


def test_an_experiment_whose_tasks_were_stopped_one_by_one_goes_on(daemon, gate):
    experiment = submit_gated(daemon, gate, count=2)
    running_number(daemon, experiment)
    daemon.cli("stop", f"{experiment}/1", f"{experiment}/2")
    assert daemon.wait_ended(experiment)["state"] == "stopped"
    (gate / "open").touch()
    daemon.cli("resume", experiment)
    assert daemon.wait_ended(experiment)["state"] == "finished"


def test_paused_experiments_are_listed_as_such(daemon):
    paused = daemon.submit("raise SystemExit(1)", {"parameters": {"n": list(range(8))}, "search": {"parallel": 1}, "retry": {"error": 0}})
    wait_for(lambda: daemon.get(f"/experiments/{paused}")["paused"], "it does not pause")
    over = daemon.submit("print('loss 1')")
    daemon.wait_ended(over)
    assert [e["id"] for e in daemon.get("/experiments?state=paused")["items"]] == [paused]
    assert daemon.get("/experiments?state=paused")["total"] == 1
    listed = daemon.cli("ls", "--state", "paused").stdout
    assert paused in listed and over not in listed


def test_restarted_task_is_the_next_attempt(daemon, gate):
    experiment = submit_gated(daemon, gate, count=1)
    running_number(daemon, experiment)
    daemon.cli("stop", f"{experiment}/1")
    daemon.wait_state(experiment, ("stopped",), 1)
    (gate / "open").touch()
    daemon.cli("restart", f"{experiment}/1")
    task = daemon.wait_state(experiment, ("finished",), 1)
    assert task["attempt"] == 2
    assert [attempt["number"] for attempt in task["attempts"]] == [1, 2]
    assert [line.split()[0] for line in ran(gate, 1)] == ["1", "2"]
    assert ran(gate, 1)[1].split()[1] == "-"  # asked for by hand, it begins anew: nothing to resume
    assert daemon.metrics(experiment, 1)["loss"]["value"] == [1.5, 0.5]  # of the last attempt, once


def test_a_restart_that_is_stopped_before_it_begins_leaves_the_task_as_it_was(daemon, gate):
    (gate / "open").touch()
    experiment = submit_gated(daemon, gate, 4, environment={"vars": {"GATE": str(gate)}, "setup": ["[ $SLUICE_TASK != 2 ]"]})
    daemon.wait_ended(experiment)
    before = daemon.tasks(experiment)
    assert [t["state"] for t in before] == ["finished", "error", "finished", "finished"]
    said = daemon.get(f"/experiments/{experiment}/tasks/3/log")["text"]
    assert said
    (gate / "open").unlink()
    daemon.post(f"/experiments/{experiment}/restart")
    assert running_number(daemon, experiment) == 1
    assert [t["state"] for t in daemon.tasks(experiment)][1:] != [t["state"] for t in before][1:]
    daemon.cli("stop", f"{experiment}/4")
    daemon.cli("stop", experiment)
    assert daemon.wait_ended(experiment)["state"] == "stopped"
    daemon.restart()
    after = daemon.tasks(experiment)
    assert after[0]["state"] == "stopped"  # it had begun
    for was, now in zip(before[1:], after[1:]):
        assert {k: now[k] for k in ("state", "reason", "cause", "best", "finished", "node")} == {
            k: was[k] for k in ("state", "reason", "cause", "best", "finished", "node")}
    assert daemon.metrics(experiment, 3)["loss"]["value"] == [1.5, 0.5]
    assert daemon.get(f"/experiments/{experiment}")["best"]["value"] == 0.5
    last = daemon.task(experiment, 3)["timeline"][-1]
    assert last["reason"] == "the restart was stopped before it began: it is as it was", last
    assert daemon.get(f"/experiments/{experiment}/tasks/3/log")["text"] == said
    assert daemon.cli("logs", f"{experiment}/3").stdout.endswith(said)
    # It can be restarted as before.
    (gate / "open").touch()
    daemon.cli("restart", "--yes", f"{experiment}/3")
    assert daemon.wait_state(experiment, ("finished",), 3)["attempt"] > 1
    assert len(ran(gate, 3)) == 2


def test_task_that_is_named_twice_is_touched_once(daemon, gate):
    (gate / "open").touch()
    experiment = submit_gated(daemon, gate, 2)
    daemon.wait_ended(experiment)
    assert daemon.post(f"/experiments/{experiment}/tasks/restart", {"tasks": [1, 2, 1, 1]}) == {"tasks": 2}
    daemon.wait_ended(experiment)
    reasons = [h["reason"] for h in daemon.task(experiment, 1)["timeline"] if "restarted" in (h["reason"] or "")]
    assert len(reasons) == 1
    (gate / "open").unlink()
    daemon.post(f"/experiments/{experiment}/restart")
    assert daemon.post(f"/experiments/{experiment}/tasks/stop", {"tasks": [2, 1, 2, 1]}) == {"tasks": 2}
    daemon.wait_ended(experiment)
    assert daemon.post(f"/experiments/{experiment}/tasks/marks", {"tasks": [1, 1], "add_tags": ["a"]}) == {"tasks": 1}
    assert daemon.task(experiment, 1)["tags"] == ["a"]
    assert daemon.post(f"/experiments/{experiment}/tasks/remove", {"tasks": [1, 1]}) == {"tasks": 1}


def test_restart_failed_touches_only_the_failed(daemon, gate):
    script = """
        import os, pathlib, sys
        if os.environ["SLUICE_PARAM_N"] == "1" and os.environ["SLUICE_ATTEMPT"] == "1":
            sys.exit("not this time")
        print("fine")
    """
    experiment = daemon.submit(script, {"parameters": {"n": [0, 1, 2]}, "search": {"strategy": "grid"}})
    assert daemon.wait_ended(experiment)["tasks"]["error"] == 1
    failed = [task["number"] for task in daemon.tasks(experiment) if task["state"] == "error"]
    daemon.cli("restart", experiment, "--failed")
    wait_for(lambda: daemon.get(f"/experiments/{experiment}")["tasks"]["finished"] == 3, "not all finished")
    attempts = {task["number"]: task["attempt"] for task in daemon.tasks(experiment)}
    assert attempts == {number: 2 if number in failed else 1 for number in (1, 2, 3)}


def test_actions_on_thousands_are_carried_out_though_the_daemon_is_killed(daemon, gate):
    """They take many turns. What was acknowledged is done to every task, once, and nothing else begins meanwhile."""
    count = 3000
    experiment = submit_gated(daemon, gate, count=count)
    running_number(daemon, experiment)

    def counts():
        return daemon.get(f"/experiments/{experiment}")["tasks"]

    wait_for(lambda: counts()["waiting"] == count - 1, "not everything was proposed")
    assert daemon.post(f"/experiments/{experiment}/stop", {}) == {"tasks": count, "unproposed": 0}
    daemon.kill()
    daemon.start()
    wait_for(lambda: daemon.get(f"/experiments/{experiment}")["state"] == "stopped", "it is not stopped")
    assert counts()["stopped"] == count
    assert [n for n in range(1, count + 1) if ran(gate, n)] == [1]
    for number in (1, 2, count // 2, count):
        states = [line["state"] for line in daemon.task(experiment, number)["timeline"]]
        assert states.count("stopped") == 1, states

    assert daemon.post(f"/experiments/{experiment}/restart", {}) == {"tasks": count}
    daemon.kill()
    daemon.start()
    wait_for(lambda: counts()["waiting"] == count - 1 and counts()["running"] == 1, "not everything waits again")
    assert daemon.request("DELETE", f"/experiments/{experiment}?stop=1").status == 204
    daemon.kill()
    daemon.start()
    wait_for(lambda: daemon.get("/experiments")["total"] == 0, "it is still there")
    assert [n for n in range(1, count + 1) if ran(gate, n)] == [1]


def test_stop_of_a_finished_task_changes_nothing(daemon):
    experiment = daemon.submit("print('ok')")
    daemon.wait_ended(experiment)
    daemon.request("POST", f"/experiments/{experiment}/tasks/1/stop", {})
    assert daemon.task(experiment, 1)["state"] == "finished"
    assert daemon.get(f"/experiments/{experiment}")["state"] == "finished"


def test_removing_needs_a_stop_first(daemon, gate):
    experiment = submit_gated(daemon, gate)
    running_number(daemon, experiment)
    folder = pathlib.Path(daemon.get(f"/experiments/{experiment}")["folder"])
    assert folder.is_dir()
    assert daemon.request("DELETE", f"/experiments/{experiment}").status == 409
    assert daemon.get(f"/experiments/{experiment}")["state"] == "running"
    assert daemon.request("DELETE", f"/experiments/{experiment}?stop=1").status == 204
    wait_for(lambda: daemon.request("GET", f"/experiments/{experiment}").status == 404, "it is still there")
    wait_for(lambda: not processes_below(folder), "the script goes on")
    wait_for(lambda: not folder.exists(), "its folder is still there")
    assert daemon.get("/experiments")["total"] == 0


def test_removed_id_is_not_given_out_again(daemon):
    first = daemon.submit("print('ok')")
    daemon.wait_ended(first)
    daemon.cli("rm", first, status=2)  # without a terminal nobody can be asked
    daemon.cli("rm", "--yes", first)
    wait_for(lambda: daemon.request("GET", f"/experiments/{first}").status == 404, "it is still there")
    second = daemon.submit("print('ok')")
    assert second != first
    assert daemon.wait_ended(second)["state"] == "finished"


def test_everything_is_there_after_a_restart_of_the_daemon(daemon, gate):
    experiment = submit_gated(daemon, gate)
    number = running_number(daemon, experiment)
    before = daemon.task(experiment, number)
    daemon.restart()
    after = daemon.task(experiment, number)
    assert after["state"] == "running" and after["started"] == before["started"]
    (gate / "open").touch()
    assert daemon.wait_ended(experiment)["state"] == "finished"
    assert [len(ran(gate, n)) for n in (1, 2, 3)] == [1, 1, 1]


def test_task_that_ends_while_the_daemon_is_down_is_taken_up(daemon, gate):
    experiment = submit_gated(daemon, gate, count=1)
    running_number(daemon, experiment)
    folder = daemon.task(experiment, 1)["folder"]
    daemon.kill()
    (gate / "open").touch()
    wait_for(lambda: not processes_below(folder), "the script does not end")
    daemon.start()
    assert daemon.wait_state(experiment, ("finished",), 1)["attempt"] == 1
    assert daemon.metrics(experiment, 1)["loss"] == {"step_name": "epoch", "step": [0, 1], "value": [1.5, 0.5]}
    assert len(ran(gate, 1)) == 1


def test_parallel_is_kept(daemon, gate):
    experiment = submit_gated(daemon, gate, count=4)
    running_number(daemon, experiment)
    assert daemon.get(f"/experiments/{experiment}")["parallel"] == 1
    assert len([n for n in range(1, 5) if ran(gate, n)]) == 1
    daemon.post(f"/experiments/{experiment}/parallel", {"parallel": 2})
    (local,) = (backend for backend in daemon.get("/cluster")["backends"] if backend["name"] == "local")
    if local["cpus"] >= 2:  # those that the daemon may use, not those of the machine
        wait_for(lambda: len([n for n in range(1, 5) if ran(gate, n)]) == 2, "the second one does not start")
    (gate / "open").touch()
    assert daemon.wait_ended(experiment)["tasks"]["finished"] == 4


def test_log_is_read_in_pieces_and_from_the_end(daemon):
    experiment = daemon.submit("import sys\nfor i in range(1000): print('line', i)\nprint('oops', file=sys.stderr)")
    daemon.wait_ended(experiment)
    path = f"/experiments/{experiment}/tasks/1/log?stream=stdout"
    whole = "".join(f"line {i}\n" for i in range(1000))
    text, offset = "", 0
    while True:
        piece = daemon.get(f"{path}&offset={offset}&limit=1000")
        assert piece["offset"] == offset
        text += piece["text"]
        if piece["next"] == offset:
            break
        offset = piece["next"]
    assert text == whole and piece["size"] == len(whole)
    assert whole.endswith(daemon.get(f"{path}&offset=-100")["text"])
    assert daemon.get(f"/experiments/{experiment}/tasks/1/log?stream=stderr")["text"] == "oops\n"
    assert daemon.cli("logs", f"{experiment}/1", "--stream", "stdout").stdout == whole
    both = daemon.cli("logs", f"{experiment}/1").stdout
    assert whole in both and "oops\n" in both


def test_a_finished_task_leaves_few_files(daemon):
    """Cluster quotas count files. What an experiment has once is not counted: the difference of two sizes is."""
    sizes = {2: None, 8: None}
    for count in sizes:
        sizes[count] = daemon.submit("print('loss=0.5')\n", {"parameters": {"n": list(range(count))}, "search": {"strategy": "grid"},
                                                             "objective": {"metric": "loss", "goal": "min"}})
        assert daemon.wait_ended(sizes[count])["tasks"]["finished"] == count

    def listed(count):
        return sorted(str(path.relative_to(daemon.state)) for path in (daemon.state / "experiments" / sizes[count]).rglob("*"))

    # What a batch needs is removed a moment after its end.
    batches = [daemon.state / "experiments" / id / "batches" for id in sizes.values()]
    wait_for(lambda: not any(list(path.iterdir()) for path in batches), lambda: [list(path.iterdir()) for path in batches])
    assert len(listed(8)) - len(listed(2)) <= 6 * 6, listed(8)
