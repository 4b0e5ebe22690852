"""Why tasks wait on this machine: behind whom, or for their own experiment's limit, and that it stays true."""

import sqlite3

import pytest

from conftest import wait_for

HOLD = "#!/bin/sh\nexec sleep 1000\n"
QUICK = "#!/bin/sh\nexit 0\n"


def create(daemon, script, tasks=1, **more):
    return daemon.post("/experiments", {
        "experiment": {"script": "run.sh", "parameters": {"x": list(range(tasks))}, "pass": "env", **more},
        "files": [{"path": "run.sh", "text": script}]})["id"]


def tasks_of(daemon, id, state="waiting"):
    return daemon.get(f"/experiments/{id}/tasks?limit=1000&state={state}")["items"]


@pytest.fixture
def cpus(daemon):
    return next(b["cpus"] for b in daemon.get("/cluster")["backends"] if b["name"] == "local")


def plural(n):
    return f"{n} CPU{'' if n == 1 else 's'}"


def wait_until_why(daemon, id, why):
    """Until every waiting task says so."""
    return wait_for(lambda: (found := tasks_of(daemon, id)) and all((t["reason"], t["waiting_for"]) == (None, why) for t in found) and found,
                    lambda: f"{why!r}, not {[(t['reason'], t['waiting_for']) for t in tasks_of(daemon, id)]}")


def test_a_task_says_behind_whom_it_waits_until_that_is_over(daemon, cpus):
    first = create(daemon, HOLD, resources={"backend": "local", "cpus": cpus})
    second = create(daemon, QUICK, 3)
    why = f"waits for 1 CPU: {first} has {cpus} of {cpus}"
    assert len(wait_until_why(daemon, second, why)) == 3
    assert daemon.get(f"/experiments/{second}/tasks/2")["waiting_for"] == why
    assert daemon.get(f"/experiments/{second}")["note"] == why
    # A daemon that was killed finds the runner again, and whose it is.
    daemon.kill()
    daemon.start()
    third = create(daemon, QUICK, 2)
    wait_until_why(daemon, third, why)
    wait_until_why(daemon, second, why)
    daemon.post(f"/experiments/{first}/stop")
    for id in (second, third):
        wait_for(lambda: daemon.get(f"/experiments/{id}")["state"] == "finished", lambda: daemon.get(f"/experiments/{id}"))
        over = daemon.get(f"/experiments/{id}")
        assert over["note"] is None and over["waiting_for"] is None
        assert all(t["reason"] is None and t["waiting_for"] is None for t in tasks_of(daemon, id, "finished"))


def test_an_adaptive_search_says_behind_whom_it_waits_before_it_has_a_task(daemon, cpus):
    first = create(daemon, HOLD, resources={"backend": "local", "cpus": cpus})
    wait_for(lambda: daemon.get(f"/experiments/{first}")["tasks"]["running"], "the first runs")
    second = create(daemon, QUICK, parameters={"x": {"min": 0, "max": 1}}, search={"strategy": "tpe", "tasks": 2})
    wait_for(lambda: daemon.get(f"/experiments/{second}")["note"] == f"waits for 1 CPU: {first} has {cpus} of {cpus}",
             lambda: daemon.get(f"/experiments/{second}"))
    assert daemon.get(f"/experiments/{second}")["tasks"]["waiting"] == 0


def test_a_task_says_that_it_waits_for_its_own_experiment(daemon, cpus):
    alone = create(daemon, HOLD, 3, resources={"backend": "local", "cpus": cpus})
    wait_until_why(daemon, alone, f"waits for {plural(cpus)}: its own experiment has {cpus} of {cpus}")
    assert daemon.get(f"/experiments/{alone}")["note"] is None  # it runs: no news
    daemon.post(f"/experiments/{alone}/stop")
    wait_for(lambda: daemon.get(f"/experiments/{alone}")["state"] == "stopped", lambda: daemon.get(f"/experiments/{alone}"))
    limited = create(daemon, HOLD, 3, search={"parallel": 1})
    wait_until_why(daemon, limited, "waits for another task of its experiment to end: parallel is 1")
    assert daemon.get(f"/experiments/{limited}")["waiting_for"].endswith("parallel is 1")
    shown = daemon.cli("show", limited).stdout  # said once, not in every row
    assert shown.count("parallel is 1") == 1 and shown.count("as above") == 1, shown


def test_ten_thousand_waiting_tasks_are_not_written_to(daemon, cpus):
    first = create(daemon, HOLD, resources={"backend": "local", "cpus": cpus})
    many = create(daemon, QUICK, parameters={"x": list(range(100)), "y": list(range(100))}, search={"strategy": "grid"})
    wait_for(lambda: daemon.get(f"/experiments/{many}")["tasks"]["waiting"] == 10000, lambda: daemon.get(f"/experiments/{many}")["tasks"])
    wait_until_why(daemon, many, f"waits for 1 CPU: {first} has {cpus} of {cpus}")
    daemon.stop()
    with sqlite3.connect(daemon.state / "sluice.db") as db:
        assert db.execute("SELECT count(*), count(reason) FROM task WHERE experiment = 2").fetchone() == (10000, 0)
        assert db.execute("SELECT note FROM experiment WHERE id = 2").fetchone()[0].startswith("waits for 1 CPU")
    db.close()
    daemon.start()
    daemon.post(f"/experiments/{many}/stop")
    daemon.post(f"/experiments/{first}/stop")


def test_very_short_tasks_do_not_keep_an_older_experiment_from_its_slots(daemon, cpus):
    """They are handed over before a slot is free, but not while another experiment wants slots. At most two run at once."""
    half = {"backend": "local", "cpus": max(1, cpus // 2)}
    older = create(daemon, "#!/bin/sh\nexec sleep 0.3\n", 8, resources=half, search={"parallel": 1})
    younger = create(daemon, QUICK, 3000, resources=half)
    assert daemon.wait_ended(older)["tasks"]["finished"] == 8
    assert daemon.get(f"/experiments/{younger}")["tasks"]["waiting"] > 0, "the older one waited for the younger one"
    daemon.post(f"/experiments/{younger}/stop")
    daemon.wait_ended(younger)
