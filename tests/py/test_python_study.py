"""Studies of the Python package against the real daemon: what users of Optuna expect of the names that are the same."""

import math
import os
import pathlib
import signal
import subprocess
import sys
import threading

import pytest

from conftest import PROGRAM, ROOT, wait_for
from test_notify import receiver  # noqa: F401 (a fixture)

sys.path.insert(0, str(ROOT / "python"))
import sluice  # noqa: E402


@pytest.fixture
def client(daemon):
    return sluice.Client(state=str(daemon.state), program=str(PROGRAM))


def counts(study):
    """What the lists show: the state, and how many trials there are in it and in all."""
    shown = study.client.show(study.id)
    return shown["state"], {state: n for state, n in shown["tasks"].items() if n}


def states(study):
    return [trial.state for trial in study.trials]


# Finding its parameters.


def quadratic(trial):
    x, n = trial.suggest_float("x", -5, 5), trial.suggest_int("n", 1, 8)
    if n > 4:
        trial.suggest_categorical("kind", ["a", "b"])
    return (x - 1) ** 2 + n


def test_a_study_finds_its_parameters_by_itself(client):
    study = sluice.create_study("s", client=client, seed=3)
    assert study.trials == [] and study.id in repr(study)
    with pytest.raises(ValueError, match="no trial"):
        study.best_value
    study.optimize(quadratic, 30)
    assert states(study) == ["finished"] * 30 and study.best_value < 5, study.best_value
    for trial in study.trials:
        x, n = trial.params["x"], trial.params["n"]
        assert trial.value == pytest.approx((x - 1) ** 2 + n)
        assert ("kind" in trial.params) == (n > 4), trial.params
    assert set(study.importance()) >= {"x", "n"}
    study.optimize(quadratic, 5)
    assert states(study) == ["finished"] * 35


def test_a_study_records_the_values_that_its_function_got(client):
    given = []

    def objective(trial):
        given.append({"n": trial.suggest_int("n", 1, 64, log=True), "m": trial.suggest_int("m", 0, 100, step=10),
                      "x": trial.suggest_float("x", 1, 100, log=True), "y": trial.suggest_float("y", 0, 1, step=0.25)})
        return sum(given[-1].values())

    study = sluice.create_study("values", client=client, seed=3)
    study.optimize(objective, 25)
    finished = [trial["parameters"] for trial in study.trials if trial["state"] == "finished"]
    assert len(finished) == 25 and all(values in given for values in finished), [v for v in finished if v not in given]
    assert all(isinstance(values[name], int) for values in finished for name in "nm")


def test_several_workers_share_a_study(client):
    first = sluice.create_study("shared", direction="maximize", space={"x": {"min": 0.0, "max": 1.0}}, client=client, tasks=24)
    first.enqueue(x=0.5)
    second = sluice.load_study("shared", client=client)
    done = []

    def objective(trial):
        done.append(trial.suggest_float("x", 0, 1))
        return done[-1]

    workers = [threading.Thread(target=one.optimize, args=(objective, 12), kwargs={"n_jobs": 2}) for one in (first, second)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(done) == 24 and 0.5 in done and first.best_params["x"] == max(done)
    assert sorted(trial["best"]["value"] for trial in second.trials) == sorted(done)


def test_a_study_prunes_and_survives_what_its_function_does(client):
    study = sluice.create_study("p", client=client, prune={"rule": "median"}, strategy="random", seed=1, space={"x": {"min": 0.0, "max": 1.0}})

    def objective(trial):
        x = trial.suggest_float("x", 0, 1)
        if x > 0.9:
            raise ArithmeticError("too much")
        for step in range(10):
            trial.report(x * (10 - step), step)
            if trial.should_prune():
                raise sluice.Pruned
        return x

    study.optimize(objective, 30, catch=(ArithmeticError,))
    states = [trial["state"] for trial in study.trials]
    assert states.count("pruned") > 0 and states.count("error") > 0 and states.count("finished") > 0
    assert next(t for t in study.trials if t["state"] == "error")["cause"]["text"].endswith("ArithmeticError: too much")
    with pytest.raises(ZeroDivisionError):
        study.optimize(lambda trial: 1 / 0, 3)
    with pytest.raises(ValueError, match="keeps its range"):
        study.optimize(lambda trial: trial.suggest_float("x", 0, 2), 1)


def test_a_study_with_two_directions_has_a_front(client):
    study = sluice.create_study("two", directions=["minimize", "maximize"], client=client)
    study.optimize(lambda trial: (trial.suggest_float("x", 0, 1), trial.suggest_float("y", 0, 1)), 15)
    assert study.best_trials and all(len(one["values"]) == 2 for one in study.best_trials)
    with pytest.raises(ValueError, match="1 values for 2 directions"):
        study.optimize(lambda trial: trial.suggest_float("x", 0, 1), 1)

def classifiers(trial):
    """Optuna's first example with conditions: what a trial suggests depends on what it suggested before."""
    model = trial.suggest_categorical("classifier", ["svc", "forest"])
    if model == "svc":
        c = trial.suggest_float("svc_c", 1e-3, 1e3, log=True)
        return abs(math.log10(c))
    depth = trial.suggest_int("depth", 2, 32, log=True)
    features = trial.suggest_categorical("features", ["sqrt", None])
    return 1 + depth / 32 + (features is None)


def test_a_trial_has_exactly_what_it_suggested(client):
    given = {}

    def objective(trial):
        value = classifiers(trial)
        given[trial.number] = dict(trial.params)
        return value

    for seed in range(3):
        given.clear()
        study = sluice.create_study("conditions", client=client, seed=seed)
        study.optimize(objective, n_trials=12)
        assert states(study) == ["finished"] * 12
        for trial in study.trials:
            assert trial.params == given[trial.number]
            assert trial["parameters"].get("features") == ("None" if trial.params.get("features", "") is None else trial.params.get("features"))
            assert set(trial.params) == ({"classifier", "svc_c"} if trial.params["classifier"] == "svc" else {"classifier", "depth", "features"})
        assert study.best_params in [trial.params for trial in study.trials]
    assert {name for trial in given.values() for name in trial} == {"classifier", "svc_c", "depth", "features"}
    assert {type(trial["features"]) for trial in given.values() if "features" in trial} <= {str, type(None)}


def test_the_parameters_of_a_study_survive_a_restart_of_the_daemon(daemon, client):
    study = sluice.create_study("kept", client=client, seed=1)
    study.optimize(classifiers, n_trials=15)
    before = [(trial.params, trial.value) for trial in study.trials]
    daemon.stop()
    daemon.start()
    study.optimize(classifiers, n_trials=10)
    assert [(trial.params, trial.value) for trial in study.trials][:15] == before
    assert states(study) == ["finished"] * 25


def test_importance_counts_only_the_trials_that_had_a_parameter(client):
    study = sluice.create_study("importance", client=client, seed=5, strategy="random")

    def objective(trial):
        kind = trial.suggest_categorical("kind", ["a", "b"])
        if kind == "a":
            trial.suggest_float("unused", 0, 1)
        return float(kind == "b") + trial.suggest_float("x", 0, 0.1)

    study.optimize(objective, n_trials=40)
    assert set(study.importance()) == {"kind", "unused", "x"}
    used = {one["parameter"]: one["runs"] for one in client.analysis(study.id)["importance"]}
    assert used == {"kind": 40, "x": 40, "unused": sum(trial.params["kind"] == "a" for trial in study.trials)}
    assert all(("unused" in trial.params) == (trial.params["kind"] == "a") for trial in study.trials)


def test_a_configuration_comes_again_only_where_there_is_no_new_one(client):
    study = sluice.create_study("new", client=client, seed=2)
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=20)
    assert len({trial.params["x"] for trial in study.trials}) == 20
    study = sluice.create_study("few", client=client, seed=2)
    study.optimize(lambda trial: trial.suggest_int("n", 1, 5), n_trials=8)
    # The first value is drawn before the search knows the parameter.
    assert {trial.params["n"] for trial in study.trials} == {1, 2, 3, 4, 5} and len(study.trials) == 8


def test_a_finite_space_that_was_not_declared_has_no_end(client):
    study = sluice.create_study("finite", client=client)
    study.optimize(lambda trial: len(trial.suggest_categorical("word", ["a", "bb"])), n_trials=9)
    assert len(study.trials) == 9 and study.best_value == 1
    study = sluice.create_study("constant", client=client)
    study.optimize(lambda trial: 1.5, n_trials=3)
    assert states(study) == ["finished"] * 3 and study.best_params == {} and study.best_value == 1.5


def test_a_declared_space_is_there_without_suggesting(client):
    study = sluice.create_study("declared", client=client, space={
        "model": ["svm", "rf"], "c": {"min": 0.1, "max": 10.0, "when": {"model": "svm"}}, "depth": {"min": 1, "max": 9, "when": {"model": "rf"}}})

    def objective(trial):
        assert set(trial.params) == ({"model", "c"} if trial.params["model"] == "svm" else {"model", "depth"})
        return trial.params.get("c", 5)

    study.optimize(objective, n_trials=10)
    assert states(study) == ["finished"] * 10


# What a trial gave.


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_the_value_of_a_trial_is_what_the_objective_returned(client, direction):
    study = sluice.create_study("returned", direction=direction, client=client)

    def objective(trial):
        x = trial.suggest_float("x", 0, 1)
        for step, value in enumerate([0.001, 100, 1.0]):
            trial.report(value, step)
        return 10 + x

    study.optimize(objective, n_trials=6)
    assert [trial.value for trial in study.trials] == [10 + trial.params["x"] for trial in study.trials]
    ordered = sorted(10 + trial.params["x"] for trial in study.trials)
    assert study.best_value == ordered[0 if direction == "minimize" else -1]
    assert client.show(study.id)["best"]["value"] == study.best_value
    curve = client.metrics(f"{study.id}/1")["metrics"]["value"]
    assert curve["value"][:3] == [0.001, 100, 1.0] and curve["step"] == [0, 1, 2, 3]


def test_a_value_that_was_reported_last_is_no_second_point(client):
    study = sluice.create_study("curve", client=client)

    def objective(trial):
        for step in range(4):
            trial.report(1 / (step + 1), step)
        return 1 / 4

    study.optimize(objective, n_trials=1)
    assert client.metrics(f"{study.id}/1")["metrics"]["value"]["step"] == [0, 1, 2, 3]
    assert study.trials[0]["cost"]["wall_s"] is not None and study.best_value == 1 / 4


def test_trials_that_fail_or_are_pruned_first_are_kept(client):
    calls = []

    def fails(trial):
        x = trial.suggest_float("x", 0, 1)
        calls.append(x)
        if len(calls) <= 4:
            raise ValueError(f"boom {x}")
        for step in range(3):
            trial.report(x + step, step)
        return x

    study = sluice.create_study("first", client=client)
    study.optimize(fails, n_trials=6, catch=ValueError)
    assert states(study) == ["error"] * 4 + ["finished"] * 2
    assert [trial.params["x"] for trial in study.trials] == calls
    assert study.trials[0]["cause"]["text"].endswith(f"ValueError: boom {calls[0]}")
    good = study.trials[4]
    assert good["cost"]["wall_s"] is not None and len(client.metrics(f"{study.id}/5")["metrics"]["value"]["value"]) == 4
    assert counts(study) == ("finished", {"total": 6, "finished": 2, "error": 4})

    def pruned(trial):
        trial.report(trial.suggest_float("x", 0, 1) + 7, 0)
        raise sluice.TrialPruned()

    study = sluice.create_study("pruned", client=client)
    ended = []
    study.optimize(pruned, n_trials=3, callbacks=[lambda _, trial: ended.append((trial.state, trial.value))])
    assert states(study) == ["pruned"] * 3 and [trial.value for trial in study.trials] == [trial.params["x"] + 7 for trial in study.trials]
    assert ended == [("pruned", trial.value) for trial in study.trials]
    with pytest.raises(ValueError, match="no trial has finished yet"):
        study.best_value


def test_a_pruned_trial_is_never_the_best(client):
    study = sluice.create_study("pruned", client=client)

    def objective(trial):
        x = trial.suggest_float("x", 0, 1)
        if trial.number % 2:
            trial.report(-5, 0)
            raise sluice.Pruned
        return x

    study.optimize(objective, n_trials=6)
    assert study.best_value == min(trial.value for trial in study.trials if trial.state == "finished") >= 0
    assert client.show(study.id)["best"]["value"] == study.best_value


def test_a_trial_that_gives_nan_has_failed_and_the_study_goes_on(client):
    calls = []

    def objective(trial):
        calls.append(trial.suggest_float("x", 0, 1))
        trial.report(math.nan if len(calls) == 2 else 1.0, 0)
        return math.nan if len(calls) in (1, 2, 4) else calls[-1]

    study = sluice.create_study("nan", client=client)
    study.optimize(objective, n_trials=8)
    assert states(study) == ["error", "error", "finished", "error"] + ["finished"] * 4
    assert "returned NaN" in study.trials[0]["cause"]["text"] and study.trials[0].value is None
    assert study.best_value == min(x for i, x in enumerate(calls, 1) if i not in (1, 2, 4))
    task = client.ask(client.run({"command": ["true"], "resources": {"backend": "external"}, "search": {"tasks": 1, "strategy": "random"},
                                  "parameters": {"x": {"min": 0.0, "max": 1.0}}, "objective": "y"})["id"])
    assert client.tell(task["id"], {"y": math.nan})["state"] == "finished"


def test_an_objective_that_gives_no_number_is_told_so(client):
    for given, what in ((None, "returned None; let it return a number"), ("many", "returned 'many', which is not a number"),
                        ([1, 2], "returned 2 values for 1 directions")):
        study = sluice.create_study("nothing", client=client)
        with pytest.raises(ValueError, match=what):
            study.optimize(lambda trial: given, n_trials=3)
        assert states(study) == ["error"] and what.split(";")[0] in study.trials[0]["cause"]["text"]
        study.optimize(lambda trial: given, n_trials=3, catch=(ValueError,))
        assert states(study) == ["error"] * 4


# How many trials.


WORKER = """\
import sys, time
sys.path.insert(0, {package!r})
import sluice
def objective(trial):
    time.sleep(0.01)
    print(trial.number, flush=True)
    return trial.suggest_float("x", 0, 1) {more}
study = sluice.load_study({name!r}, client=sluice.Client(state={state!r}, program={program!r}))
study.optimize(objective, {trials})
"""


def start_worker(daemon, name, trials, more=""):
    text = WORKER.format(package=str(ROOT / "python"), more=more, name=name, state=str(daemon.state), program=str(PROGRAM), trials=trials)
    return subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize("space", [None, {"x": {"min": 0.0, "max": 1.0}}])
def test_several_processes_run_exactly_what_was_asked_for(daemon, client, space):
    study = sluice.create_study("joint", space=space, client=client)
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=1)
    workers = [start_worker(daemon, "joint", 10) for _ in range(4)]
    said = [[int(number) for number in worker.communicate()[0].split()] for worker in workers]
    assert [worker.returncode for worker in workers] == [0] * 4
    assert [len(numbers) for numbers in said] == [10] * 4
    assert sorted(number for numbers in said for number in numbers) == list(range(2, 42))
    assert states(study) == ["finished"] * 41 and counts(study) == ("finished", {"total": 41, "finished": 41})
    assert space is None or len({trial.params["x"] for trial in study.trials}) == 41


def test_processes_that_begin_before_the_first_trial_agree_on_the_parameters(daemon, client):
    study = sluice.create_study("begin", client=client)
    more = '+ len(trial.suggest_categorical("kind", ["a", "bb"]))'
    workers = [start_worker(daemon, "begin", 5, more) for _ in range(3)]
    assert [worker.wait() for worker in workers] == [0] * 3
    for worker in workers:
        worker.stdout.close()
    assert len(study.trials) == 15 and all(set(trial.params) == {"x", "kind"} for trial in study.trials)
    assert all(trial.value == trial.params["x"] + len(trial.params["kind"]) for trial in study.trials)


def test_a_killed_worker_ends_no_one_else(daemon, client):
    study = sluice.create_study("killed", client=client)
    victim, other = start_worker(daemon, "killed", 1000), start_worker(daemon, "killed", 12)
    victim.stdout.readline()
    victim.stdout.readline()
    victim.send_signal(signal.SIGKILL)
    assert len(other.communicate()[0].split()) == 12 and other.returncode == 0
    victim.communicate()
    wait_for(lambda: counts(study)[0] == "finished", lambda: counts(study))  # what the victim had announced is given back
    assert counts(study)[1]["total"] == len(study.trials) and states(study).count("error") <= 1
    client.claim(study.id, 1000)  # by no process that is known
    client.ask(study.id)
    state, shown = counts(study)
    assert state == "running" and shown["total"] > 1000
    done = daemon.cli("stop", study.id)
    assert "planned tasks that had not begun will not run" in done.stdout, done.stdout
    wait_for(lambda: counts(study)[0] in ("finished", "stopped"), lambda: counts(study))
    state, shown = counts(study)
    assert shown["total"] == len(study.trials) and set(states(study)) <= {"finished", "stopped", "error"}
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=2)
    assert counts(study)[1]["total"] == shown["total"] + 2


def test_a_study_ends_with_its_optimize(client):
    study = sluice.create_study("ends", client=client)
    assert counts(study) == ("waiting", {})
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=25)
    assert counts(study) == ("finished", {"total": 25, "finished": 25})
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=20, n_jobs=6)
    assert counts(study) == ("finished", {"total": 45, "finished": 45})
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=1000, timeout=0.5)
    ran = len(study.trials)
    assert 45 < ran < 1045 and counts(study) == ("finished", {"total": ran, "finished": ran})
    study.optimize(lambda trial: study.stop() or trial.suggest_float("x", 0, 1), n_trials=100)
    study.optimize(lambda trial: study.stop() or trial.suggest_float("x", 0, 1))
    assert counts(study) == ("finished", {"total": ran + 2, "finished": ran + 2})
    with pytest.raises(ZeroDivisionError):
        study.optimize(lambda trial: 1 / 0, n_trials=5, n_jobs=2)
    assert counts(study)[0] == "finished" and counts(study)[1]["total"] == len(study.trials)
    study.optimize(lambda trial: 1.0, timeout=0.2)
    assert counts(study)[0] == "finished" and counts(study)[1]["total"] == len(study.trials)


def test_a_stopped_study_ends_the_workers(daemon, client):
    study = sluice.create_study("stop", client=client)
    worker = start_worker(daemon, "stop", 100000)
    for _ in range(3):
        worker.stdout.readline()
    assert "will not run" in daemon.cli("stop", study.id).stdout
    worker.communicate()
    wait_for(lambda: counts(study)[0] in ("finished", "stopped"), lambda: counts(study))
    assert counts(study)[1]["total"] == len(study.trials) < 100000
    assert "nothing to do" in daemon.cli("stop", study.id).stdout


@pytest.mark.parametrize("jobs", [1, 4])
def test_a_stop_ends_workers_without_a_number_of_trials(client, jobs):
    for last in range(20, 20 + 11):  # they claim ten trials at a time: the stop meets every place in these
        study, ran = sluice.create_study("endless", client=client), []

        def objective(trial):
            ran.append(trial.number)
            if len(ran) == last:
                client.stop(study.id)
            if len(ran) > last + jobs:
                study.stop()
            return trial.suggest_float("x", 0, 1)

        study.optimize(objective, n_jobs=jobs)
        assert len(ran) <= last + jobs and counts(study)[0] in ("stopped", "finished"), (last, len(ran), counts(study))
        with pytest.raises(sluice.Problem, match="was stopped") as refused:
            client.claim(study.id, 1, more=True)
        assert refused.value.status == 409
        study.optimize(objective, n_trials=1)
        assert counts(study)[0] == "finished"


def test_a_study_is_said_to_have_ended_once(daemon, client, receiver):
    daemon.post("/notify", {"webhook": receiver.url})
    study = sluice.create_study("grid", space={"a": [1, 2, 3]}, strategy="grid", client=client)
    study.optimize(lambda trial: trial.params["a"], n_trials=50)
    assert counts(study) == ("finished", {"total": 3, "finished": 3}) and study.best_params == {"a": 1}
    study = sluice.create_study("after", client=client)
    study.optimize(lambda trial: 1.0, n_trials=2)
    wait_for(lambda: len(receiver.bodies("end")) >= 2, lambda: receiver.got)
    assert [body["experiment"]["id"] for body in receiver.bodies("end")] == ["e1", "e2"]


# Trials one by one.


def test_what_is_enqueued_is_tried_first(client):
    study = sluice.create_study("queue", client=client)
    study.enqueue_trial({"x": 0.125})
    study.enqueue(x=0.25, kind="b")
    seen = []

    def objective(trial):
        seen.append((trial.suggest_float("x", 0, 1), trial.suggest_categorical("kind", ["a", "b"])))
        return seen[-1][0]

    study.optimize(objective, n_trials=3)
    assert seen[0][0] == 0.125 and seen[1] == (0.25, "b")
    study.enqueue(x=0.75, kind="a")
    study.enqueue_trial({"x": 0.5})
    study.optimize(objective, n_trials=4)
    assert seen[3] == (0.75, "a") and seen[4][0] == 0.5
    assert [(trial.params["x"], trial.params["kind"]) for trial in study.trials] == seen
    assert counts(study) == ("finished", {"total": 7, "finished": 7})
    with pytest.raises(sluice.Problem, match="'x' cannot be 7; a number from 0 to 1"):
        study.enqueue_trial({"x": 7})
    study.enqueue_trial({"y": 7})
    with pytest.raises(ValueError, match="'y' cannot be 7, which was enqueued"):
        study.optimize(lambda trial: trial.suggest_float("y", 0, 1), n_trials=2)
    partly = sluice.create_study("partly", space={"x": {"min": 0.0, "max": 1.0}, "y": {"min": 0.0, "max": 1.0}}, client=client)
    partly.enqueue(x=0.5)
    partly.optimize(lambda trial: trial.params["x"] + trial.params["y"], n_trials=2)
    assert partly.trials[0].params["x"] == 0.5 and partly.trials[0].value == 0.5 + partly.trials[0].params["y"]


def test_asking_and_telling(client):
    study = sluice.create_study("ask", client=client)
    trial = study.ask()
    assert trial.number == 1 and trial.params == {} and trial.value is None
    x = trial.suggest_float("x", 0, 1)
    assert trial.params == {"x": x} and trial.suggest_float("x", 0, 1) == x
    study.tell(trial, x)
    assert trial.value == x and trial.state == "finished" and study.best_trial.number == 1
    with pytest.raises(sluice.Problem, match="is not running"):
        study.tell(trial, 1.0)
    pruned, failed = study.ask(), study.ask()
    study.tell(pruned, pruned=True)
    study.tell(failed, failed="no room")
    assert states(study) == ["finished", "pruned", "error"] and counts(study)[0] == "finished"
    with pytest.raises(ValueError, match="keeps its range"):
        study.ask().suggest_float("x", 0, 2)


def test_a_claim_is_for_experiments_that_are_open(client):
    fixed = client.run({"command": ["true"], "resources": {"backend": "external"}, "parameters": {"x": [1, 2]}})["id"]
    with pytest.raises(sluice.Problem, match="has a fixed number of tasks"):
        client.claim(fixed, 1)
    with pytest.raises(sluice.Problem, match="'open' is for workers of your own"):
        client.run({"command": ["true"], "parameters": {"x": [1, 2]}, "search": {"open": True}})
    with pytest.raises(sluice.Problem, match="'open' cannot be changed"):
        client.change(fixed, search={"open": True})
    study = sluice.create_study("claims", client=client)
    with pytest.raises(sluice.Problem, match="at most 100000 tasks"):
        client.claim(study.id, 200000)
    assert client.ask(study.id) is None
    assert client.claim(study.id, 3)["tasks"]["total"] == 3
    assert client.claim(study.id, -2)["tasks"]["total"] == 1


def test_a_claim_is_used_up_by_a_task_that_runs_again_for_longer(client):
    e = client.run({"command": ["true"], "resources": {"backend": "external"}, "objective": "y", "fidelity": {"parameter": "epochs"},
                    "search": {"open": True, "strategy": "hyperband"},
                    "parameters": {"x": {"min": 0.0, "max": 1.0}, "epochs": {"min": 1, "max": 9, "type": "int"}}})
    for claimed in (20, 7):
        client.claim(e["id"], claimed)
        asked = 0
        while (task := client.ask(e["id"])) is not None:
            asked += 1
            client.tell(task["id"], {"y": task["parameters"]["x"]})
        shown = client.show(e["id"])
        assert asked == claimed and shown["state"] == "finished", (asked, shown["state"], shown["tasks"])
    assert shown["tasks"]["total"] < 27


def test_a_search_that_does_not_learn_goes_on_after_a_restart(daemon, client):
    study = sluice.create_study("random", strategy="random", seed=3, space={"x": list(range(8))}, client=client)
    study.optimize(lambda trial: trial.params["x"], n_trials=4)
    daemon.restart()
    study.optimize(lambda trial: trial.params["x"], n_trials=2)
    study.optimize(lambda trial: trial.params["x"], n_trials=100)
    assert sorted(trial.params["x"] for trial in study.trials) == list(range(8))


def test_a_report_that_got_lost_does_not_hide_what_the_trial_ran_with(daemon):
    client = sluice.Client(state=str(daemon.state), program="no-program-starts-it")
    study = sluice.create_study("lost", client=client)
    trial = study.ask()
    x = trial.suggest_float("x", 0, 1)
    daemon.stop()
    with pytest.raises(ConnectionError):
        trial.report(2.0, 1)
    daemon.start()
    study.tell(trial, 1.0)
    assert study.best_params == {"x": x} == client.show(trial.id)["parameters"]


def test_a_task_is_told_what_it_ran_with(client):
    e = client.run({"command": ["true"], "resources": {"backend": "external"}, "objective": "y", "search": {"strategy": "random", "tasks": 4},
                    "parameters": {"x": {"min": 0.0, "max": 1.0}, "c": {"values": [1, 2], "optional": True}}})
    assert [one.get("optional") for one in e["parameters"]] == [None, True]
    task = client.ask(e["id"])
    assert set(task["parameters"]) == {"x", "c"}
    assert client.tell(task["id"], {"y": 1}, parameters={"x": 0.5})["parameters"] == {"x": 0.5}
    task = client.ask(e["id"])
    for wrong, what in (({"c": 1}, "'x' is missing"), ({"x": 2, "c": 1}, "'x' cannot be 2"), ({"x": 0, "z": 1}, "no parameter 'z'")):
        with pytest.raises(sluice.Problem, match=what):
            client.tell(task["id"], {"y": 1}, parameters=wrong)
    assert client.tell(task["id"], {"y": 3}, more=True)["state"] == "running"
    assert client.tell(task["id"], pruned=True)["state"] == "pruned"
    assert client.suggest(e["id"], x=0.25)["parameters"] == {"x": 0.25}
    assert client.import_results(e["id"], [{"parameters": {"x": 0.75}, "values": {"y": 2}}]) == 1


SLEEPER = """
import sys, time, sluice
study = sluice.load_study(sys.argv[1], client=sluice.Client(state=sys.argv[2]))
def objective(trial):
    trial.suggest_float("x", 0, 1)
    print(trial.number, flush=True)
    time.sleep(1000)
study.optimize(objective, n_trials=10, n_jobs=2)
"""


def test_the_trials_of_a_killed_worker_have_failed_and_its_claims_are_given_back(client):
    study = sluice.create_study("killed", client=client, strategy="random", space={"x": {"min": 0.0, "max": 1.0}})
    with subprocess.Popen([sys.executable, "-c", SLEEPER, study.id, client._connection.state], stdout=subprocess.PIPE,
                          env={**os.environ, "PYTHONPATH": str(ROOT / "python")}) as worker:
        taken = [int(worker.stdout.readline()) for _ in range(2)]

        def objective(trial):
            if trial.number == 3:
                worker.kill()
                wait_for(lambda: states(study).count("error") == 2, "the daemon noticed it")
            return trial.suggest_float("x", 0, 1)

        elsewhere = {"pid": worker.pid, "start": 1, "place": "another machine"}
        client.claim(study.id, 1, worker=elsewhere)
        study.optimize(objective, n_trials=2)
        assert sorted(taken) == [1, 2] and states(study) == ["error", "error", "finished", "finished"]
        assert "its worker is gone" in study.trials[0]["cause"]["text"]
        assert counts(study) == ("running", {"total": 5, "error": 2, "finished": 2})
        client.ask(study.id, worker=elsewhere)
        client.claim(study.id, 3, worker=elsewhere)
        client.claim(study.id, -3, worker=elsewhere)
        assert states(study)[-1] == "running"
        client.tell(f"{study.id}/5", {"value": 1})
        assert counts(study) == ("finished", {"total": 5, "error": 2, "finished": 3})


def test_one_and_true_are_two_choices(client):
    study = sluice.create_study("both", client=client, seed=1)
    seen = set()

    def objective(trial):
        value = trial.suggest_categorical("c", [1, True, 0, False])
        seen.add(repr(value))
        return float(value)

    study.optimize(objective, n_trials=12)
    assert seen == {"1", "True", "0", "False"}
    assert {repr(one.params["c"]) for one in study.trials} == seen
    study.enqueue(c=True)
    trial = study.ask()
    assert trial.suggest_categorical("c", [1, True, 0, False]) is True
    study.tell(trial, 1.0)
    with pytest.raises(ValueError, match="keeps its range"):
        study.optimize(lambda trial: trial.suggest_categorical("c", [1, True, False, False]), 1)


def test_a_trial_whose_result_is_refused_is_not_left_running(client):
    study = sluice.create_study("refused", client=client, space={"x": {"min": 0.0, "max": 1.0}})
    trial = study.ask()
    trial.params["x"] = 5.0
    with pytest.raises(sluice.Problem, match="(?s)x.*trial 1 still runs: tell it again"):
        study.tell(trial, 1.0)
    assert states(study) == ["running"]
    study.tell(trial, failed="its x is out of range")
    assert states(study) == ["error"]

    def objective(trial):
        trial.params["x"] = 7.0
        return 1.0

    with pytest.raises(sluice.Problem, match="(?s)x.*trial 2 was ended as failed"):
        study.optimize(objective, n_trials=3)
    assert counts(study) == ("error", {"total": 2, "error": 2})


def test_an_experiment_of_a_file_is_a_study_with_an_end(client):
    e = client.run({"name": "file", "command": ["true"], "resources": {"backend": "external"}, "objective": {"metric": "y", "goal": "min"},
                    "search": {"strategy": "random", "tasks": 5}, "parameters": {"x": {"min": 0.0, "max": 1.0}}})
    study = sluice.load_study("file", client=client)
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=3)
    assert counts(study) == ("running", {"total": 5, "finished": 3})
    done = client.stop(e["id"])
    assert (done["tasks"], done["unproposed"]) == (0, 2) and counts(study)[0] == "finished"


def test_a_trial_is_pruned_by_the_report_that_makes_it_poor(client):
    ended = []
    study = sluice.create_study("exact", prune={"rule": "median", "min_tasks": 3}, client=client)

    def objective(trial):
        poor = trial.number > 3
        for step in range(6):
            trial.report(10 if poor else 1, step)
            if trial.should_prune():
                ended.append((trial.number, step))
                raise sluice.Pruned
        return 1

    study.optimize(objective, n_trials=6)
    assert ended == [(number, 1) for number in range(4, 7)]
    assert states(study) == ["finished"] * 3 + ["pruned"] * 3
    assert all(trial["cost"]["wall_s"] is not None and trial.value == 10 for trial in study.trials[3:])


# What is told, and what cannot be.


def longer(client, **over):
    return client.run({"command": ["true"], "resources": {"backend": "external"}, "objective": [{"metric": "y", "goal": "min"}],
                       "search": {"strategy": "asha", "open": True, "seed": 1}, "fidelity": {"parameter": "epochs", "min": 1, "max": 9},
                       "parameters": {"x": {"min": 0.0, "max": 1.0}, "o": {"min": 0.0, "max": 1.0, "optional": True}, "epochs": 9}, **over})["id"]


@pytest.mark.parametrize("epochs", [9, {"min": 1, "max": 9}, {"min": 1.0, "max": 9.0}])
def test_a_task_keeps_the_length_that_the_search_gave_it(daemon, client, epochs):
    e = longer(client, parameters={"x": {"min": 0.0, "max": 1.0}, "epochs": epochs})
    client.claim(e, 3)
    task = client.ask(e)
    assert task["parameters"]["epochs"] == 1
    with pytest.raises(sluice.Problem, match="the search decides how long a task runs: 'epochs' is 1") as problem:
        client.tell(task["id"], {"y": 1}, parameters={"x": 0.5, "epochs": 9})
    assert problem.value.status == 400
    for parameters in (task["parameters"], {"x": 0.5}, {"x": 0.25, "epochs": 1}):
        told = client.tell(task["id"], {"y": 1}, more=True, parameters=parameters)
        assert told["parameters"] == {**parameters, "epochs": 1}
    daemon.kill()
    daemon.start()
    client = sluice.Client(state=str(daemon.state), program=str(PROGRAM))
    assert client.tell(task["id"], {"y": 1})["parameters"] == {"x": 0.25, "epochs": 1}


def test_a_study_with_a_fidelity_may_do_without_an_optional_parameter(client):
    e = longer(client, search={"strategy": "asha", "tasks": 12, "seed": 1})
    study = sluice.load_study(e, client=client)
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), 9)
    assert set(states(study)) <= {"finished"} and all("o" not in trial.params and trial.params["epochs"] in (1, 3, 9) for trial in study.trials)


def test_every_task_has_the_parameter_that_says_how_long_it_runs(client):
    with pytest.raises(sluice.Problem, match="every task has 'epochs'"):
        longer(client, parameters={"x": {"min": 0.0, "max": 1.0}, "epochs": {"value": 9, "optional": True}})


def test_repeats_run_with_what_was_proposed(client):
    e = client.run({"command": ["true"], "resources": {"backend": "external"}, "objective": [{"metric": "y", "goal": "min"}], "repeats": 2,
                    "search": {"strategy": "random", "open": True}, "parameters": {"x": {"min": 0.0, "max": 1.0}}})["id"]
    client.claim(e, 2)
    for task in (client.ask(e), client.ask(e)):
        with pytest.raises(sluice.Problem, match="one of 2 repeats") as problem:
            client.tell(task["id"], {"y": 1}, parameters={"x": task["parameters"]["x"] / 2})
        assert problem.value.status == 400
        assert client.tell(task["id"], {"y": 1}, parameters=task["parameters"])["parameters"] == task["parameters"]


def test_a_task_ends_in_one_way_or_goes_on(client):
    study = sluice.create_study("ends", space={"x": {"min": 0.0, "max": 1.0}}, client=client)
    trial = study.ask()
    for wrong in ({"pruned": True, "more": True}, {"failed": "x", "pruned": True}, {"failed": "x", "more": True}):
        with pytest.raises(sluice.Problem, match="ends in one way, or goes on") as problem:
            client.tell(trial.id, {"value": 1}, **wrong)
        assert problem.value.status == 400
    assert states(study) == ["running"]


@pytest.mark.parametrize("strategy", ["asha", "hyperband", "dehb"])
def test_a_task_goes_on_without_what_it_did_not_need(daemon, client, strategy):
    e = longer(client, search={"strategy": strategy, "open": True, "seed": 1})
    client.claim(e, 60)
    first, lengths = {}, set()
    for turn in range(60):
        task = client.ask(e)
        number, parameters = task["number"], task["parameters"]
        epochs = parameters.pop("epochs")
        lengths.add(epochs)
        if number in first:
            assert parameters == first[number], "it goes on with another configuration"
        else:
            first[number] = {"x": parameters["x"]} if number % 3 else parameters
        client.tell(task["id"], {"y": first[number]["x"]}, parameters=first[number] if number % 3 else None)
        if turn == 30:
            daemon.kill()
            daemon.start()
            client = sluice.Client(state=str(daemon.state), program=str(PROGRAM))
    assert lengths == {1, 3, 9}
    assert all(one["parameters"].keys() - {"epochs"} == first[one["number"]].keys() for one in client.tasks(e))
    assert "would have proposed" not in daemon.log_tail()


def test_the_second_of_two_who_add_a_parameter_learns_its_range(client, monkeypatch):
    study = sluice.create_study("twice", client=client)
    mine = {"x": {"min": 0.0, "max": 1.0, "optional": True}}
    client.change(study.id, parameters=mine, add=True)
    client.change(study.id, parameters=mine, add=True)
    with pytest.raises(sluice.Problem, match="'x' is there already, from 0 to 1") as problem:
        client.change(study.id, parameters={"x": {"min": 5.0, "max": 9.0, "optional": True}}, add=True)
    assert problem.value.status == 400
    late = sluice.create_study("late", client=client)
    trial, change = late.ask(), client.change

    def slower(*args, **rest):
        change(late.id, parameters=mine)
        return change(*args, **rest)

    monkeypatch.setattr(client, "change", slower)
    with pytest.raises(ValueError, match="keeps its range"):
        trial.suggest_float("x", 5, 9)
    assert client.show(late.id)["spec"]["parameters"] == mine


# Ends as the first thread of a process may, while its other threads work: the kernel then calls the process a zombie.
THREADED = """
import ctypes, sys, threading, time, sluice
study = sluice.load_study(sys.argv[1], client=sluice.Client(state=sys.argv[2]))
def objective(trial):
    begun.set()
    print(trial.number, flush=True)
    time.sleep(14)
    return trial.suggest_float("x", 0, 1)
begun = threading.Event()
threading.Thread(target=study.optimize, args=(objective, 1)).start()
begun.wait()
ctypes.CDLL(None).pthread_exit(None)
"""


def test_a_worker_whose_first_thread_has_ended_lives(client):
    study = sluice.create_study("threaded", client=client)
    with subprocess.Popen([sys.executable, "-c", THREADED, study.id, client._connection.state], stdout=subprocess.PIPE,
                          env={**os.environ, "PYTHONPATH": str(ROOT / "python")}) as worker:
        stat = pathlib.Path(f"/proc/{worker.pid}/stat")
        wait_for(lambda: stat.read_text().rpartition(")")[2].split()[0] == "Z", "its first thread has ended")
        worker.stdout.readline()
        wait_for(lambda: states(study) in (["finished"], ["error"]), "its trial has ended")
        assert states(study) == ["finished"], study.trials[0]["cause"]
        worker.kill()


# A daemon that cannot take a result, or does not want it.


def refusing(monkeypatch, client, status, times):
    """The next results are answered so; returns the list of the answers."""
    tell, answers = client.tell, []

    def refuse(id, values=None, **what):
        if values and len(answers) < times:
            answers.append(status)
            raise sluice.Problem(status, {"detail": "not now"})
        return tell(id, values, **what)

    monkeypatch.setattr(client, "tell", refuse)
    return answers


@pytest.mark.parametrize("status", [409, 500, 503, 507])
def test_a_result_that_the_daemon_cannot_take_now_is_told_again(client, monkeypatch, status):
    study = sluice.create_study("later", client=client)
    answers = refusing(monkeypatch, client, status, 2)
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), 2)
    assert answers == [status] * 2 and states(study) == ["finished"] * 2


def test_a_result_that_the_daemon_cannot_take_for_long_leaves_its_trial_running(client, monkeypatch):
    monkeypatch.setattr(sluice._study, "_TELL_AGAIN_S", 0.1)
    study = sluice.create_study("full", client=client)
    refusing(monkeypatch, client, 507, 3)
    with pytest.raises(sluice.Problem, match=r"not now\n.*1 still runs, and gave 2.5: .*/1") as said:
        study.optimize(lambda trial: trial.suggest_float("x", 0, 1) * 0 + 2.5, 2)
    assert said.value.status == 507 and states(study) == ["running"]
    monkeypatch.undo()
    assert client.tell(f"{study.id}/1", {"value": 2.5})["state"] == "finished"


@pytest.mark.parametrize("status, state", [(422, "error"), (403, "running")])
def test_a_result_that_the_daemon_does_not_want_is_told_once(client, monkeypatch, status, state):
    study = sluice.create_study("never", client=client)
    answers = refusing(monkeypatch, client, status, 5)
    with pytest.raises(sluice.Problem, match="ended as failed" if state == "error" else "still runs"):
        study.optimize(lambda trial: trial.suggest_float("x", 0, 1), 2)
    assert answers == [status] and states(study) == [state]


def test_a_trial_that_is_not_there_any_more_is_not_said_to_run(client, monkeypatch):
    study = sluice.create_study("gone", client=client)
    trial = study.ask()
    refusing(monkeypatch, client, 404, 1)
    with pytest.raises(sluice.Problem) as said:
        study.tell(trial, 1)
    assert str(said.value) == "not now"
