"""How far a task is: in epochs where its script says them, whatever else it prints, and else not in epochs at all."""

from conftest import wait_for

# Fifty lines of batches before each line of an epoch. It waits within the third epoch.
BATCHES = """
    import os, sys, time
    for epoch in range(1, 5):
        for batch in range(50):
            print(f"  batch {batch} loss {1 / (batch + 1):.4f}", flush=batch == 49)
        while epoch == 3 and not os.path.exists("GO"):
            time.sleep(0.05)
        time.sleep(0.3)
        print(f"epoch {epoch} train_loss {1 / epoch:.4f} val_loss {1 + 1 / epoch:.4f}", flush=True)
"""


def test_batches_are_no_epochs(daemon, folder):
    e = daemon.submit(BATCHES.replace("GO", str(folder / "go")), {"parameters": {"epochs": [4]}, "objective": "val_loss"})
    path = f"/experiments/{e}/tasks/1"
    wait_for(lambda: "149" in str(daemon.metrics(e, 1)), "the batches of its third epoch")
    task = daemon.get(path)
    assert (task["epoch"], task["epochs"], task["progress"]) == (2, 4, 0.5), task
    assert task["left"] is None or task["left"]["time_s"] > 0.2, task["left"]
    daemon.restart()
    (folder / "go").touch()
    daemon.wait_ended(e)
    assert daemon.get(path)["epoch"] == 4
    assert "4/4" in daemon.cli("show", e).stdout


def test_batches_alone_say_nothing_of_epochs(daemon):
    script = """
        import time
        with open("log.csv", "w") as log:
            print("batch,loss", *(f"{b},{1 / (b + 1)}" for b in range(50)), sep="\\n", file=log)
        time.sleep(60)
    """
    e = daemon.submit(script, {"parameters": {"epochs": [4]}, "objective": "loss"})
    path = f"/experiments/{e}/tasks/1"
    wait_for(lambda: daemon.get(path)["last"], "its batches")
    task = daemon.get(path)
    assert (task["epoch"], task["progress"], task["left"]) == (None, None, None), task
    daemon.post(f"/experiments/{e}/stop")
    daemon.wait_ended(e)


def test_more_steps_than_epochs_are_no_epochs(daemon):
    script = "for s in range(50): print(f'step {s} loss {1 / (s + 1)}')\nimport time; time.sleep(60)\n"
    e = daemon.submit(script, {"parameters": {"epochs": [4]}, "objective": "loss"})
    path = f"/experiments/{e}/tasks/1"
    wait_for(lambda: daemon.get(path)["last"], "its steps")
    task = daemon.get(path)
    assert (task["epoch"], task["epochs"], task["progress"], task["left"]) == (50, None, None, None), task
    daemon.post(f"/experiments/{e}/stop")
    daemon.wait_ended(e)


def test_the_script_says_how_many_epochs_it_has(daemon, folder):
    """Without a parameter for it; also where a file has the values that are printed."""
    script = f"""
        import os, time
        log = open("log.csv", "w")
        print("epoch,loss", file=log)
        for epoch in range(1, 9):
            print(epoch, 1 / epoch, sep=",", file=log, flush=True)
            print(f"Epoch {{epoch}}/8 loss {{1 / epoch:.4f}}", flush=True)
            time.sleep(0.3)
            while epoch == 4 and not os.path.exists("{folder / 'go'}"):
                time.sleep(0.05)
    """
    e = daemon.submit(script, {"parameters": {"lr": [0.1]}, "objective": "loss"})
    path = f"/experiments/{e}/tasks/1"
    task = wait_for(lambda: (t := daemon.get(path))["epoch"] == 4 and t["epochs"] and t, lambda: str(daemon.get(path)))
    assert (task["epochs"], task["progress"]) == (8, 0.5), task
    daemon.restart()
    assert daemon.get(path)["epochs"] == 8
    (folder / "go").touch()
    daemon.wait_ended(e)
    assert daemon.get(path)["progress"] == 1


# What the trainer of Hugging Face prints: a loss twice an epoch, and a score an epoch.
HALVES = """
    for i in range(1, 7):
        print({"loss": 1 / i, "epoch": i / 2})
        if i % 2 == 0:
            print({"eval_loss": 2 / i, "epoch": i / 2})
    print({"train_runtime": 12.3, "train_loss": 0.4, "epoch": 3.0})
"""


def test_every_curve_says_what_its_steps_count_where_epochs_have_fractions(daemon):
    e = daemon.submit(HALVES, {"parameters": {"lr": [0.1, 0.2]}})
    daemon.wait_ended(e)
    task = daemon.task(e, 1)
    assert (task["epoch"], task["step_name"], task["best"]) == (3, "epoch", {"value": 2 / 6, "epoch": 3}), task
    experiment = daemon.get(f"/experiments/{e}")
    assert (experiment["objective"][0]["metric"], experiment["step_name"]) == ("eval_loss", "epoch")
    exported = daemon.get(f"/experiments/{e}/export?format=json")["tasks"][1]["metrics"]
    for curves in exported, daemon.get(f"/experiments/{e}/tasks/2/metrics")["metrics"]:
        loss, score = curves["loss"], curves["eval_loss"]
        assert (loss["step_name"], loss["step"], loss["epoch"]) == ("row", [1, 2, 3, 4, 5, 6], [0.5, 1, 1.5, 2, 2.5, 3])
        assert (score["step_name"], score["step"], score.get("epoch")) == ("epoch", [1, 2, 3], None)
    curves = daemon.get(f"/experiments/{e}/metrics?name=loss")["tasks"]
    assert [c["step_name"] for c in curves] == ["row", "row"]


# What Keras prints counts from 1, its file from 0.
KERAS = """
    import argparse, csv, time
    p = argparse.ArgumentParser()
    p.add_argument("--x", type=float)
    p.add_argument("--epochs", type=int)
    a = p.parse_args()
    with open("training.csv", "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["epoch", "loss", "val_loss"])
        for epoch in range(a.epochs):
            print(f"Epoch {epoch + 1}/{a.epochs}", flush=True)
            loss = 1 / (epoch + 1) + a.x
            time.sleep(0.1)
            print(f"10/10 [====================] - 0s 3ms/step - loss: {loss:.4f} - val_loss: {loss + 1:.4f}", flush=True)
            out.writerow([epoch, loss, loss + 1])
            file.flush()
"""


def test_a_promoted_task_counts_its_epochs_as_the_others_do(daemon):
    spec = {
        "parameters": {"x": {"min": 0, "max": 1}, "epochs": 9},
        "fidelity": {"parameter": "epochs", "min": 1, "max": 9},
        "search": {"strategy": "asha", "tasks": 14, "seed": 1},
        "objective": "val_loss",
    }
    e = daemon.submit(KERAS, spec)
    daemon.wait_ended(e)
    tasks = daemon.tasks(e)
    rows = [len(daemon.metrics(e, t["number"])["val_loss"]["step"]) for t in tasks]
    assert max(rows) > 1, rows
    assert [t["epoch"] for t in tasks] == rows
