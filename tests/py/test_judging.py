"""How tasks are judged while a search runs: promotions, pruning, what they are ranked by, several objectives, curves, and the
analysis, against the real daemon."""

import json

import pytest

from conftest import wait_for
from workers import ask, external, tell, work


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
        told = [step["reason"] for step in shown["timeline"] if "checkpoint" in (step["reason"] or "")]
        assert told == ["continues from its checkpoint"] * (len(tries) - 1 if keep == "1" else 0)
        # Every epoch once, whether it was run once or again.
        assert daemon.metrics(experiment, task)["loss"]["step"] == list(range(tries[-1][3]))
    found = daemon.get(f"/experiments/{experiment}/search")
    assert {f["fidelity"]: f["tasks"] for f in found["fidelities"]} == {
        level: sum(t[-1][3] == level for t in runs.values()) for level in {t[-1][3] for t in runs.values()}}
    agreement = daemon.get(f"/experiments/{experiment}/analysis")["agreement"]
    assert (agreement[0]["from"], agreement[0]["to"]) == (1, 3)
    assert agreement[0]["tasks"] == sum(len(t) > 1 for t in runs.values())


def test_results_of_every_length_count(daemon):
    """The length is a constant of the space, and a task has another one. That must not make its result unknown.
    The points are spread by Sobol: a model finds x = 0 at once, and then there is nothing to tell from its results."""
    experiment = external(daemon, parameters={"x": {"min": 0.0, "max": 1.0}, "y": {"min": 0.0, "max": 1.0}, "epochs": 9},
                          fidelity={"parameter": "epochs", "min": 1, "max": 9},
                          search={"strategy": "asha", "sampler": "sobol", "tasks": 60})
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


@pytest.mark.parametrize("warmup, state", [(1, "finished"), (0.5, "pruned")])
def test_the_warmup_counts_epochs_though_steps_are_batches(daemon, folder, warmup, state):
    """A row for every ten batches, and a script that is poor in its first epoch: 90 steps are not 90 epochs."""
    script = """
    import os, time, pathlib
    x, go = int(os.environ["SLUICE_PARAM_X"]), pathlib.Path(os.environ["GO"])
    with open("metrics.csv", "w") as rows:
        rows.write("epoch,step,loss\\n")
        for epoch in range(2):
            for batch in range(0, 100, 10):
                rows.write("%s,%d,%s\\n" % (epoch + batch / 100, epoch * 100 + batch, x if x < 90 or epoch == 0 else 0.5))
            rows.flush()
            while x == 90 and epoch == 0 and not go.exists():
                time.sleep(0.02)
    """
    experiment = daemon.submit(script, {
        "parameters": {"x": [1, 2, 90]}, "objective": {"metric": "loss", "goal": "min"},
        "search": {"strategy": "grid", "parallel": 1}, "prune": {"rule": "median", "warmup": warmup, "min_tasks": 2},
        "environment": {"vars": {"GO": str(folder / "go")}}})
    wait_for(lambda: 90 in daemon.metrics(experiment, 3).get("loss", {"step": []})["step"], "the first epoch of task 3")
    (folder / "go").touch()
    daemon.wait_ended(experiment)
    assert daemon.task(experiment, 3)["state"] == state


def test_the_median_is_that_of_tasks_that_were_not_pruned(daemon):
    """Each poor task that was pruned made the median worse, until what is worse than all finished tasks ran on."""
    experiment = external(daemon, parameters={"x": list(range(8))}, search={"strategy": "grid"},
                          prune={"rule": "median", "min_tasks": 2})
    states = []
    for loss in (1, 2, 10, 10, 10, 10, 5):
        task = ask(daemon, experiment)
        path = f"/experiments/{experiment}/tasks/{task['number']}/tell"
        for step in range(3):
            told = daemon.post(path, {"values": {"loss": loss}, "step": step, "more": step < 2})
            if told["state"] == "pruned":
                break
        states.append(daemon.task(experiment, task["number"])["state"])
    assert states == ["finished"] * 2 + ["pruned"] * 5


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
    assert "7 tasks have a curve" in daemon.cli("analyse", experiment).stdout

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


def test_importance_needs_twenty_tasks(daemon):
    experiment = external(daemon, parameters={"x": {"min": 0.0, "max": 1.0}}, search={"strategy": "random", "tasks": 20})
    work(daemon, experiment, lambda p: {"loss": p["x"]}, 19)
    analysis = daemon.get(f"/experiments/{experiment}/analysis")
    assert (analysis["runs"], analysis["importance"], analysis["importance_needs"]) == (19, [], 20)
    assert "needs 20 finished tasks with a value, and a parameter that varies" in daemon.cli("analyse", experiment).stdout
    work(daemon, experiment, lambda p: {"loss": p["x"]}, 1)
    assert [i["parameter"] for i in daemon.get(f"/experiments/{experiment}/analysis")["importance"]] == ["x"]


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


def test_an_objective_is_read_from_print_whatever_its_name_looks_like(daemon):
    """latency_ms looks like the time of a progress bar; named as an objective it is one."""
    script = "for e in 1, 2:\n    print(f'epoch {e} val_acc {e / 10} latency_ms {5 - e}.5')\n"
    made = daemon.post("/experiments", {
        "experiment": {"script": "t.py", "objective": [{"metric": "val_acc", "goal": "max"}, {"metric": "latency_ms", "goal": "min"}]},
        "files": [{"path": "t.py", "text": script}]})
    daemon.wait_ended(made["id"])
    shown = daemon.get(f"/experiments/{made['id']}/tasks/1/metrics")
    assert shown["metrics"]["latency_ms"]["value"] == [4.5, 3.5]
