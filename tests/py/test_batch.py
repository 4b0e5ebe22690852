"""A list of values from the command line becomes tasks, with metrics and a best one; every way of passing
values reaches the script as promised."""

import csv
import json
import os
import textwrap

import pytest

# What S-TFManager's scripts do, without Keras: plain arguments in, a CSVLogger table out.
POSITIONAL = """
    import csv, sys
    experiment, task, batch_size, learning_rate, epochs, early_stopping = sys.argv[1:]
    with open(f"results/{experiment}/{task}/{task}.csv", "w", newline="") as out:
        table = csv.writer(out)
        table.writerow(["epoch", "accuracy", "loss", "val_accuracy", "val_loss"])
        for epoch in range(int(epochs)):
            loss = abs(int(batch_size) - 16) / 100 + 1 / (epoch + 1)
            table.writerow([epoch, 1 - loss / 10, loss, 1 - loss / 9, loss + 0.5])
"""


@pytest.fixture
def batch(daemon, folder):
    """Five tasks from `batch_size=64,32,16,8,4` on the command line, run to the end."""
    script = folder / "model.py"
    script.write_text(textwrap.dedent(POSITIONAL))
    done = daemon.cli("run", "--detach", "--json", "--pass", "positional", "--objective", "val_loss", "--goal", "min",
                      "--name", "five batches", script, "batch_size=64,32,16,8,4", "learning_rate=0.001", "epochs=3",
                      "early_stopping=50")
    experiment = json.loads(done.stdout)["id"]
    daemon.wait_ended(experiment)
    return experiment


def test_five_values_make_five_finished_tasks(daemon, batch):
    summary = daemon.get(f"/experiments/{batch}")
    assert summary["state"] == "finished"
    assert summary["name"] == "five batches"
    assert summary["tasks"]["total"] == 5 and summary["tasks"]["finished"] == 5
    tasks = daemon.tasks(batch)
    assert {task["number"] for task in tasks} == {1, 2, 3, 4, 5}
    assert sorted(task["parameters"]["batch_size"] for task in tasks) == [4, 8, 16, 32, 64]
    for task in tasks:
        assert task["parameters"]["learning_rate"] == 0.001
        assert task["attempt"] == 1 and task["cause"] is None
        assert task["epochs"] == 3


def test_metrics_are_exactly_what_the_script_wrote(daemon, batch):
    for task in daemon.tasks(batch):
        folder = daemon.get(f"/experiments/{batch}/tasks/{task['number']}")["folder"]
        with open(f"{folder}/work/results/{batch}/{task['number']}/{task['number']}.csv", newline="") as table:
            written = list(csv.DictReader(table))
        curves = daemon.metrics(batch, task["number"])
        for name in ("accuracy", "loss", "val_accuracy", "val_loss"):
            assert curves[name]["step"] == [0, 1, 2]
            assert curves[name]["value"] == [float(row[name]) for row in written]


def test_best_task_is_named(daemon, batch):
    best = daemon.get(f"/experiments/{batch}")["best"]
    assert best["parameters"]["batch_size"] == 16
    assert best["value"] == pytest.approx(1 / 3 + 0.5)
    assert best["epoch"] == 2
    text = daemon.cli("best", batch).stdout
    assert f"{batch}/{best['task']}" in text or f" {best['task']} " in text
    listed = json.loads(daemon.cli("best", batch, "-n", "5", "--json").stdout)
    rows = listed["items"] if isinstance(listed, dict) else listed
    values = [row["best"]["value"] for row in rows]
    assert len(values) == 5 and values == sorted(values)


def test_exports_hold_everything(daemon, batch):
    whole = json.loads(daemon.cli("export", batch, "--format", "json").stdout)
    assert len(whole["tasks"]) == 5
    for task in whole["tasks"]:
        assert task["state"] == "finished"
        assert len(task["metrics"]["val_loss"]["value"]) == 3
        assert len(task["attempts"]) == 1
    rows = list(csv.DictReader(daemon.cli("export", batch, "--format", "csv").stdout.splitlines()))
    assert [row["state"] for row in rows] == ["finished"] * 5
    assert sorted(int(row["batch_size"]) for row in rows) == [4, 8, 16, 32, 64]
    assert all(float(row["best_val_loss"]) > 0 for row in rows)


def test_listing_verbs_speak_json_and_text(daemon, batch):
    assert "five batches" in daemon.cli("ls").stdout
    listed = json.loads(daemon.cli("ls", "--json").stdout)
    assert [item["id"] for item in (listed["items"] if isinstance(listed, dict) else listed)] == [batch]
    assert "batch_size" in daemon.cli("show", batch).stdout
    assert json.loads(daemon.cli("show", f"{batch}/1", "--json").stdout)["id"] == f"{batch}/1"
    daemon.cli("show", "e999", status=1)
    daemon.cli("show", "rubbish!", status=2)


REPORT = """
    import json, os, sys
    kept = {k: v for k, v in os.environ.items() if k.startswith("SLUICE_")}
    params = json.load(open(os.environ.get("SLUICE_PARAMS") or os.environ["SLUICE_TASK_DIR"] + "/params.json"))
    json.dump({"argv": sys.argv[1:], "env": kept, "params": params, "cwd": os.getcwd()}, open("seen.json", "w"))
"""

ODD = "a b;$(touch canary)`x`'\"*\n&é"


@pytest.mark.parametrize("how", ["flags", "positional", "env", "json"])
def test_values_reach_the_script(daemon, how):
    experiment = daemon.submit(REPORT, {"pass": how, "parameters": {"batch_size": 64, "learning_rate": 1e-05, "note": ODD,
                                                                    "nesterov": True}})
    assert daemon.wait_ended(experiment)["state"] == "finished"
    folder = daemon.task(experiment, 1)["folder"]
    seen = json.load(open(f"{folder}/work/seen.json"))
    expected = {
        "flags": ["--batch-size=64", "--learning-rate=1e-05", "--note=" + ODD, "--nesterov=true"],
        "positional": [experiment, "1", "64", "1e-05", ODD, "true"],
        "env": [], "json": [],
    }[how]
    assert seen["argv"] == expected
    assert seen["params"] == {"batch_size": 64, "learning_rate": 1e-05, "note": ODD, "nesterov": True}
    assert seen["env"]["SLUICE_PARAM_BATCH_SIZE"] == "64"
    assert seen["env"]["SLUICE_PARAM_NOTE"] == ODD
    assert seen["env"]["SLUICE_EXPERIMENT"] == experiment and seen["env"]["SLUICE_TASK"] == "1"
    assert seen["env"]["SLUICE_ATTEMPT"] == "1" and seen["env"].get("SLUICE_RESUME") is None
    assert seen["env"]["SLUICE_TASK_DIR"] == folder
    assert not os.path.exists(f"{folder}/work/canary")


def test_underscore_style_keeps_underscores(daemon):
    experiment = daemon.submit(REPORT, {"style": "underscore", "parameters": {"batch_size": 64}})
    daemon.wait_ended(experiment)
    assert json.load(open(daemon.task(experiment, 1)["folder"] + "/work/seen.json"))["argv"] == ["--batch_size=64"]


def test_grid_is_the_cartesian_product(daemon):
    spec = {"parameters": {"a": [1, 2, 3], "b": ["x", "y"], "c": 7}, "search": {"strategy": "grid"}}
    experiment = daemon.submit("print('ok')", spec)
    daemon.wait_ended(experiment)
    pairs = {(task["parameters"]["a"], task["parameters"]["b"]) for task in daemon.tasks(experiment)}
    assert pairs == {(a, b) for a in (1, 2, 3) for b in ("x", "y")}


def test_same_seed_same_proposals(daemon):
    spec = {"parameters": {"lr": {"min": 1e-5, "max": 1e-1, "scale": "log"}},
            "search": {"strategy": "random", "tasks": 6, "seed": 7}}
    proposals = []
    for _ in range(2):
        experiment = daemon.submit("print('ok')", spec)
        daemon.wait_ended(experiment)
        proposals.append([task["parameters"]["lr"] for task in sorted(daemon.tasks(experiment), key=lambda t: t["number"])])
    assert proposals[0] == proposals[1]
    assert len(set(proposals[0])) == 6 and all(1e-5 <= lr <= 1e-1 for lr in proposals[0])


def test_idempotency_key_creates_once(daemon):
    body = {"experiment": {"script": "s.py", "parameters": {"a": 1}}, "files": [{"path": "s.py", "text": "print(1)"}]}
    first = daemon.request("POST", "/experiments", body, {"Idempotency-Key": "k1"})
    again = daemon.request("POST", "/experiments", body, {"Idempotency-Key": "k1"})
    assert (first.status, again.status) == (201, 200)
    assert first.json["id"] == again.json["id"]
    body["experiment"]["parameters"]["a"] = 2
    assert daemon.request("POST", "/experiments", body, {"Idempotency-Key": "k1"}).status == 409
    assert daemon.get("/experiments")["total"] == 1
