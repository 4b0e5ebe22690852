"""A search starts from the results of earlier experiments of the same program, against the real daemon."""

import base64
import contextlib
import json
import sqlite3
import textwrap

from conftest import wait_for

SCRIPT = """
    import os
    x, y = (float(os.environ["SLUICE_PARAM_" + k]) for k in "XY")
    open("m.csv", "w").write("epoch,loss\\n1,%r\\n" % ((x - .3) ** 2 + (y - .6) ** 2))
"""


def spec(**search):
    return {"parameters": {"x": {"min": 0.0, "max": 1.0}, "y": {"min": 0.0, "max": 1.0}, "k": 7}, "objective": "loss",
            "search": {"strategy": "gp", "tasks": 6, "parallel": 2, "seed": 3, **search}}


def check(daemon, experiment, script=SCRIPT):
    body = {"experiment": {"script": "script.py", **experiment},
            "files": [{"path": "script.py", "text": textwrap.dedent(script)}]}
    return daemon.post("/check", body)


def test_second_experiment_starts_from_the_results_of_the_first(daemon):
    one = daemon.submit(SCRIPT, spec())
    best = daemon.wait_ended(one)["best"]
    words = f"starts from 6 results of {one} (same program, parameters and metric; `learn_from: none` turns this off)"
    checked = check(daemon, spec())
    assert words in checked["reason"] and checked["sample_exact"] is False  # what it will propose is not shown
    assert check(daemon, spec(strategy="random"))["sample_exact"] is True
    # Nor is the command that is shown that of the first task then.
    calls = [check(daemon, spec(strategy=s))["call_exact"] for s in ("gp", "random")]
    assert calls == [False, True] and check(daemon, spec(learn_from="none"))["call_exact"] is True
    two = daemon.submit(SCRIPT, spec())
    wait_for(lambda: (daemon.get(f"/experiments/{two}/search")["ask_ms"] or 0) > 0, lambda: "no time of a proposal is shown")
    done = daemon.wait_ended(two)
    assert done["tasks"]["finished"] == done["tasks"]["total"] == 6  # what was learnt is no task of it
    assert words in done["search"]["reason"] and words in daemon.cli("show", two).stdout
    assert daemon.task(two, 1)["parameters"] == best["parameters"]
    assert done["best"]["value"] < best["value"]
    # A third one learns from both, wherever the results are; the earlier ones may be removed then.
    three = daemon.submit(SCRIPT, spec(tasks=3))
    assert "starts from 12 results of" in daemon.get(f"/experiments/{three}")["search"]["reason"]
    daemon.wait_ended(three)


def test_imported_copies_of_a_result_are_learnt_from_once(daemon):
    one = daemon.submit(SCRIPT, spec())
    daemon.wait_ended(one)
    two = daemon.submit(SCRIPT, spec(tasks=2, learn_from="none", seed=4))
    daemon.wait_ended(two)
    daemon.cli("import", two, one)
    imported = [t["epoch"] for t in daemon.tasks(two) if t["reason"] == "imported"]
    assert len(imported) >= 4 and set(imported) == {None}, imported  # not 0 epochs
    assert f"starts from 8 results of {one}, {two} " in check(daemon, spec())["reason"]


def test_nothing_is_learnt_from_another_function(daemon):
    one = daemon.submit(SCRIPT, spec())
    daemon.wait_ended(one)
    other = spec()
    for change in ({"parameters": {**other["parameters"], "k": 8}},
                   {"parameters": {**other["parameters"], "more": 1}},
                   {"objective": {"metric": "loss", "goal": "max"}}, {"objective": "accuracy"},
                   {"search": {**other["search"], "learn_from": "none"}},
                   {"search": {**other["search"], "strategy": "random"}}):
        assert "starts from" not in (check(daemon, {**other, **change})["reason"] or ""), change
    assert not check(daemon, other, SCRIPT + "\n    # other code\n")["reason"]
    # A user who names it means it, also with other code.
    named = check(daemon, spec(learn_from=[one]), SCRIPT + "\n    # other code\n")["reason"]
    assert named == f"starts from 6 results of {one}"
    # Values outside today's ranges are left out.
    narrow = check(daemon, {**other, "parameters": {**other["parameters"], "x": {"min": 0.0, "max": 0.4}}})["reason"]
    inside = sum(task["parameters"]["x"] <= 0.4 for task in daemon.tasks(one))
    assert 0 < inside < 6 and f"starts from {inside} result" in narrow


def test_large_files_of_another_size_are_not_the_same(daemon):
    """Files of a MiB are not read, but their sizes are compared, as those of small ones in base64 are."""
    def body(large, small=b"abcd"):
        return {"experiment": {"script": "script.py", **spec()},
                "files": [{"path": "script.py", "text": textwrap.dedent(SCRIPT)}, {"path": "data.txt", "text": "x" * large},
                          {"path": "small.bin", "base64": base64.b64encode(small).decode()}]}
    one = daemon.post("/experiments", body(1 << 20))["id"]
    daemon.wait_ended(one)
    assert f"starts from 6 results of {one}" in daemon.post("/check", body(1 << 20))["reason"]
    for other in (body((1 << 20) + 1), body(1 << 20, b"abcde"), body(1 << 20, b"abce")):
        assert not daemon.post("/check", other)["reason"]


def test_an_experiment_to_learn_from_must_be_there(daemon):
    answer = daemon.request("POST", "/check", {"experiment": {"script": "script.py", **spec(learn_from=["e99"])},
                                               "files": [{"path": "script.py", "text": "pass\n"}]})
    assert answer.status == 400
    assert "there is no experiment e99 to learn from" in json.dumps(answer.json)


def test_what_was_learnt_survives_a_kill_and_the_removal_of_the_first(daemon):
    one = daemon.submit(SCRIPT, spec())
    daemon.wait_ended(one)
    two = daemon.submit(SCRIPT, spec(tasks=4, parallel=1))
    wait_for(lambda: daemon.tasks(two, state="finished"), lambda: "no task has finished")
    daemon.kill()
    daemon.start()
    daemon.request("DELETE", f"/experiments/{one}")
    wait_for(lambda: daemon.request("GET", f"/experiments/{one}").status == 404, lambda: "it is still there")
    daemon.restart()
    daemon.wait_ended(two)
    assert "would have proposed other tasks" not in daemon.log_tail()
    # The same sequence without a kill.
    three = daemon.submit(SCRIPT, spec(tasks=4, parallel=1, learn_from="none"))
    daemon.wait_ended(three)
    assert [t["parameters"] for t in daemon.tasks(two)] != [t["parameters"] for t in daemon.tasks(three)]


def test_a_search_that_would_have_proposed_otherwise_goes_on_with_its_results(daemon, folder):
    """As after an update that changes the search: the last proposal on record is not the one that is made again."""
    gate = folder / "gate"
    script = textwrap.dedent(SCRIPT) + f"""
import time
while os.environ["SLUICE_TASK"] == "4" and not os.path.exists({str(gate)!r}):
    time.sleep(0.05)
"""
    one = daemon.submit(script, spec(parallel=1))
    wait_for(lambda: len(daemon.tasks(one, state="finished")) == 3 and daemon.tasks(one, state="running"), lambda: daemon.tasks(one))
    before = {task["number"]: task["parameters"] for task in daemon.tasks(one)}
    daemon.kill()
    with contextlib.closing(sqlite3.connect(daemon.state / "sluice.db")) as db, db:
        changed = db.execute("UPDATE search_event SET value = json_set(value, '$.parameters.x', 0.123) WHERE kind = 0 AND asked = "
                             "(SELECT max(asked) FROM search_event WHERE kind = 0)").rowcount
    assert changed == 1
    daemon.start()
    wait_for(lambda: "this version of the search would have proposed other tasks" in daemon.log_tail(), daemon.log_tail)
    gate.touch()
    done = daemon.wait_ended(one)
    assert done["tasks"]["finished"] == done["tasks"]["total"] == 6
    after = {task["number"]: task["parameters"] for task in daemon.tasks(one)}
    assert {number: after[number] for number in before} == before
    assert len({json.dumps(values) for values in after.values()}) == 6
