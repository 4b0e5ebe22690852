"""How much longer a running task and its experiment take, in time: from the steps so far, the first not counted."""

import time

import pytest

from conftest import wait_for

# A slow first epoch, then one in half a second.
SCRIPT = """
    import sys, time
    epochs = int(sys.argv[1].split("=")[1])
    for epoch in range(epochs):
        time.sleep(3 if epoch == 0 else 0.5)
        print(f"epoch={epoch} loss={1 / (epoch + 1)}", flush=True)
"""


def left_of(daemon, path):
    return daemon.get(path)["left"]


def test_a_running_task_says_how_much_longer_it_takes(daemon):
    experiment = daemon.submit(SCRIPT, {"parameters": {"epochs": [200]}})
    path = f"/experiments/{experiment}/tasks/1"
    wait_for(lambda: daemon.get(path)["epoch"] == 1, "its first epoch")
    assert left_of(daemon, path) is None, "one epoch says nothing"
    wait_for(lambda: (daemon.get(path)["epoch"] or 0) >= 8, "its eighth epoch")
    task = daemon.get(path)
    left, expected = task["left"], (200 - task["epoch"]) * 0.5
    assert expected * 0.95 < left["time_s"] < expected * 1.25, "the slow first epoch was averaged in"
    assert left["time_low_s"] <= left["time_s"] <= left["time_high_s"]
    assert left["energy_j"] is None or left["energy_j"] > 0
    assert "the first is not counted" in left["basis"]
    of_all = left_of(daemon, f"/experiments/{experiment}")
    assert of_all["time_s"] == pytest.approx(left["time_s"], rel=0.2)
    assert "about " in daemon.cli("show", f"{experiment}/1").stdout and "left" in daemon.cli("show", experiment).stdout
    daemon.restart()
    again = wait_for(lambda: left_of(daemon, path), "nothing is known after a restart of the daemon")
    assert expected * 0.7 < again["time_s"] < expected * 1.3
    daemon.post(f"/experiments/{experiment}/stop")
    daemon.wait_ended(experiment)
    assert left_of(daemon, path) is None and left_of(daemon, f"/experiments/{experiment}") is None


def test_what_is_left_of_an_experiment_follows_the_clock(daemon):
    """Nothing is stored while a step takes long; the answer must not be the one of a second ago and more."""
    script = """
        import time
        for epoch in range(6):
            time.sleep(0.4 if epoch < 5 else 60)
            print(f"epoch={epoch} loss=1", flush=True)
    """
    experiment = daemon.submit(script, {"parameters": {"epochs": [50]}})
    path = f"/experiments/{experiment}"
    wait_for(lambda: (daemon.get(f"{path}/tasks/1")["epoch"] or 0) >= 4, "its epochs")
    seen = []
    for _ in range(5):
        seen.append(left_of(daemon, path)["time_s"])
        time.sleep(1.3)
    assert len(set(seen)) == 5, seen
    daemon.post(f"{path}/stop")
    daemon.wait_ended(experiment)


def test_an_experiment_counts_the_tasks_to_come(daemon):
    script = "import time\ntime.sleep(1)\nprint('step=1 loss=1')\n"
    experiment = daemon.submit(script, {"parameters": {"x": list(range(30))}, "search": {"parallel": 1}})
    wait_for(lambda: daemon.get(f"/experiments/{experiment}")["tasks"]["finished"] >= 5, "five tasks")
    begun = time.monotonic()
    left = left_of(daemon, f"/experiments/{experiment}")
    assert "like 5 that ended" in left["basis"] or "like 6 that ended" in left["basis"]
    assert left["time_low_s"] <= left["time_s"] <= left["time_high_s"]
    daemon.wait_ended(experiment)
    took = time.monotonic() - begun
    assert left["time_s"] == pytest.approx(took, rel=0.5)


def test_advice_names_what_was_seen_and_writes_the_next_file(daemon, folder):
    """Tasks that ask for far more memory and time than they use."""
    script = "import time\ntime.sleep(0.2)\nprint('step=1 loss=1')\n"
    spec = {"parameters": {"x": [1, 2, 3, 4]}, "resources": {"memory": "1G", "time": "2h", "cpus": 1}}
    experiment = daemon.submit(script, spec)
    daemon.wait_ended(experiment)
    advice = daemon.get(f"/experiments/{experiment}/advice")
    assert advice["tasks"] == 4
    found = {item["key"]: item for item in advice["items"]}
    assert found["time"]["value"] == "5m" and "longest of 4 tasks" in found["time"]["text"]
    assert found["memory"]["value"] == "256M" and "peak memory" in found["memory"]["text"]
    shown = daemon.cli("show", experiment).stdout
    assert "time limit 2 h 00 m" in shown and "(time: 5m)" in shown
    daemon.cli("tune-resources", experiment, "-o", str(folder / "next.yaml"))
    text = (folder / "next.yaml").read_text()
    assert text.startswith("# ") and "time limit 2 h 00 m" in text
    (folder / "script.py").write_text(script)
    again = daemon.cli("run", "--json", str(folder / "next.yaml")).stdout
    assert '"memory":"256M"' in again.replace(" ", "") and '"time":"5m"' in again.replace(" ", "")
    assert "exists already" in daemon.cli("tune-resources", experiment, "-o", str(folder / "next.yaml"), status=1).stderr


def test_too_few_tasks_give_no_advice(daemon):
    experiment = daemon.submit("print('step=1 loss=1')\n", {"parameters": {"x": [1]}, "resources": {"time": "2h"}})
    daemon.wait_ended(experiment)
    assert daemon.get(f"/experiments/{experiment}/advice") == {"tasks": 1, "items": []}
    assert "at least 3 are needed" in daemon.cli("tune-resources", experiment).stdout
    assert daemon.request("GET", "/experiments/e99/advice").status == 404
