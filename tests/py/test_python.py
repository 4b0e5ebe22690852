"""The Python package: the client against the real daemon, and what training scripts use of it."""

import importlib
import json
import math
import os
import subprocess
import sys
import threading
import types

import pytest

from conftest import PROGRAM, ROOT, wait_for

sys.path.insert(0, str(ROOT / "python"))
import sluice  # noqa: E402

SCRIPT = """\
import sys
sys.path.insert(0, {package!r})
import sluice
p = sluice.params({{"lr": 0.5, "epochs": 1}})
assert sluice.inside()
for epoch in range(p["epochs"]):
    assert sluice.report(epoch=epoch, loss=p["lr"] / (epoch + 1), odd=float("nan"))
print("resuming", sluice.resuming(), sluice.checkpoint_dir())
""".format(package=str(ROOT / "python"))


@pytest.fixture
def client(daemon):
    return sluice.Client(state=str(daemon.state), program=str(PROGRAM))


def test_a_script_reports_and_reads_its_values(client):
    e = client.run({"script": "go.py", "parameters": {"lr": [4, 2], "epochs": 3}, "objective": "loss"}, {"go.py": SCRIPT})
    assert client.wait(e["id"])["state"] == "finished", client.log(e["id"] + "/1", "stderr")
    assert [t["parameters"]["lr"] for t in client.best(e["id"], 2)] == [2, 4]
    curves = client.metrics(f"{e['id']}/1")["metrics"]
    assert curves["loss"]["value"] == [4, 2, pytest.approx(4 / 3)] and curves["loss"]["step"] == [0, 1, 2]
    assert curves["odd"]["value"] == ["NaN"] * 3
    assert client.log(e["id"] + "/1").startswith("resuming False ")
    assert len(client.export(e["id"])["tasks"]) == 2
    assert client.metrics(e["id"], "loss")["name"] == "loss"


def test_files_arrive_byte_for_byte(client):
    large, odd = os.urandom(5 << 20), bytes(range(256))
    script = "import hashlib\nfor p in ('large', 'd/odd'): print(hashlib.sha256(open(p, 'rb').read()).hexdigest())\n"
    import hashlib
    e = client.run({"script": "go.py", "files": ["large", "d/odd"]}, {"go.py": script, "large": large, "d/odd": odd})
    client.wait(e["id"])
    assert client.log(e["id"] + "/1").split() == [hashlib.sha256(x).hexdigest() for x in (large, odd)]


def test_what_is_wrong_is_an_exception_with_the_field(client, folder):
    with pytest.raises(sluice.Problem) as caught:
        client.check({"script": "x.py", "parameters": {"units": {"min": 5, "max": 1}}})
    assert caught.value.status == 400 and caught.value.errors and "units" in str(caught.value)
    with pytest.raises(sluice.Problem) as caught:
        client.show("e99")
    assert caught.value.status == 404
    (folder / "bad.yaml").write_text("script: gone.py\n")
    with pytest.raises(sluice.Problem, match="gone.py"):
        client.run(folder / "bad.yaml")


def test_a_file_goes_with_its_script(client, folder):
    (folder / "go.py").write_text(SCRIPT)
    (folder / "exp.yaml").write_text("script: go.py\nparameters: {lr: [1, 2, 3]}\n")
    assert client.check(folder / "exp.yaml")["count"] == 3
    e = client.run(folder / "exp.yaml")
    client.wait(e["id"])
    assert len(client.tasks(e["id"], state="finished")) == 3


def test_events_tell_what_happens(client):
    seen = []

    def listen():
        for name, data in client.events():
            seen.append(name)
            if name == "experiment" and data["state"] == "finished" and "task" in seen:
                return

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    e = client.run({"script": "go.py", "parameters": {"epochs": 20}}, {"go.py": SCRIPT})
    client.wait(e["id"])

    def heard():
        """Whoever began to listen late hears the next one end."""
        listener.join(timeout=1)
        if listener.is_alive():
            client.restart(e["id"])
            client.wait(e["id"])
        return not listener.is_alive()

    wait_for(heard, lambda: f"the end was not told, only {seen}")


def test_stop_restart_parallel_and_remove(client):
    e = client.run({"script": "s.py", "parameters": {"n": [1, 2]}}, {"s.py": "import time\ntime.sleep(600)\n"})["id"]
    assert client.parallel(e, 2)["parallel"] == 2
    wait_for(lambda: client.tasks(e, state="running"), "nothing runs")
    with pytest.raises(sluice.Problem) as caught:
        client.remove(e)
    assert caught.value.status == 409
    client.stop(e)
    assert client.wait(e)["state"] == "stopped"
    assert client.restart(f"{e}/1")["id"] == f"{e}/1"
    client.remove(e, stop=True)


def test_a_daemon_is_started_where_there_is_none(folder, monkeypatch):
    monkeypatch.setenv("SLUICE_LISTEN", "127.0.0.1:0")
    client = sluice.Client(state=str(folder / "state"), program=str(PROGRAM))
    try:
        assert client.experiments() == []
    finally:
        subprocess.run([PROGRAM, "daemon", "stop"], env={**os.environ, "SLUICE_STATE": str(folder / "state")}, check=True)


def test_over_tcp_it_needs_its_token(daemon, client):
    address = "http://" + (daemon.state / "address").read_text().strip()
    token = client.request("POST", "/tokens", {"name": "t"})["token"]
    assert sluice.Client(address, token).experiments() == []
    with pytest.raises(sluice.Problem) as caught:
        sluice.Client(address, "x" * 43).experiments()
    assert caught.value.status == 401


def test_workers_of_ones_own_ask_and_tell(client):
    e = client.run({"command": ["true"], "parameters": {"x": [3, 1, 2]}, "objective": "y", "resources": {"backend": "external"}})["id"]
    told = 0
    while task := client.ask(e):
        client.tell(task["id"], {"y": task["parameters"]["x"] ** 2}, step=0)
        told += 1
    assert told == 3
    assert client.best(e)[0]["parameters"]["x"] == 1


def test_a_living_search(client):
    space = {"x": {"min": 0.0, "max": 1.0}}
    first, second = (client.run({"command": ["true"], "parameters": space, "objective": {"metric": "y", "goal": "max"},
                                 "resources": {"backend": "external"}, "search": {"strategy": "tpe", "tasks": 2}})["id"] for _ in range(2))
    assert client.suggest(first, x=0.25)["parameters"] == {"x": 0.25}
    while task := client.ask(first):
        client.tell(task["id"], {"y": task["parameters"]["x"]})
    assert client.import_results(second, first) == 3
    assert client.import_results(second, [{"parameters": {"x": 0.5}, "values": {"y": 7}}]) == 1
    assert client.best(second)[0]["best"]["value"] == 7
    assert client.search(second)["state"]["asked"] == 4
    assert client.change(second, search={"tasks": 9}, parameters={"x": {"min": 0.0, "max": 2.0}})["tasks"]["total"] == 13
    assert client.analysis(second)["runs"] == 4
    with pytest.raises(sluice.Problem) as caught:
        client.suggest(second, x=3)
    assert caught.value.errors[0]["field"] == "/parameters/x"


# Without a daemon.


def test_outside_sluice_nothing_has_an_effect(monkeypatch, tmp_path):
    for name in ("SLUICE_REPORT", "SLUICE_PARAMS", "SLUICE_TASK_DIR", "SLUICE_RESUME", "SLUICE_CHECKPOINT_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    assert not sluice.inside() and not sluice.resuming()
    assert sluice.report(loss=1) is False
    assert sluice.params({"a": 1}) == {"a": 1}
    assert not list(tmp_path.iterdir())
    assert sluice.checkpoint_dir() == "checkpoint" and (tmp_path / "checkpoint").is_dir()


def test_report_writes_one_json_line_a_row(monkeypatch, tmp_path):
    class Tensor:
        def item(self):
            return 0.25

    monkeypatch.setenv("SLUICE_REPORT", str(tmp_path / "report"))
    assert sluice.report(epoch=1, loss=Tensor(), a=math.inf, b=-math.inf, c=math.nan)
    assert sluice.report(epoch=2.0, loss=True)
    with pytest.raises((TypeError, ValueError)):
        sluice.report(loss="many")
    rows = [json.loads(line) for line in (tmp_path / "report").read_text().splitlines()]
    assert rows == [{"epoch": 1, "loss": 0.25, "a": "Infinity", "b": "-Infinity", "c": "NaN"}, {"epoch": 2, "loss": 1}]


def stand_in(monkeypatch, name):
    """A module that has a Callback and nothing else, where the real one is not installed."""
    parts = name.split(".")
    for i in range(len(parts)):
        module = types.ModuleType(".".join(parts[: i + 1]))
        monkeypatch.setitem(sys.modules, module.__name__, module)
    module.Callback = type("Callback", (), {})


def test_the_keras_callback_reports_every_epoch(monkeypatch, tmp_path):
    stand_in(monkeypatch, "keras.callbacks")
    monkeypatch.setenv("SLUICE_REPORT", str(tmp_path / "report"))
    monkeypatch.delitem(sys.modules, "sluice.keras", raising=False)
    callback = importlib.import_module("sluice.keras").Report()
    callback.on_epoch_end(0, {"loss": 0.5, "val_loss": 0.75})
    callback.on_epoch_end(1)
    rows = [json.loads(line) for line in (tmp_path / "report").read_text().splitlines()]
    assert rows == [{"epoch": 0, "loss": 0.5, "val_loss": 0.75}, {"epoch": 1}]


def test_the_lightning_callback_reports_from_one_process(monkeypatch, tmp_path):
    stand_in(monkeypatch, "lightning.pytorch.callbacks")
    monkeypatch.setenv("SLUICE_REPORT", str(tmp_path / "report"))
    monkeypatch.delitem(sys.modules, "sluice.lightning", raising=False)
    callback = importlib.import_module("sluice.lightning").Report()
    for zero in (True, False):
        callback.on_train_epoch_end(types.SimpleNamespace(is_global_zero=zero, current_epoch=3, callback_metrics={"loss": 1.5}), None)
    assert (tmp_path / "report").read_text() == '{"loss": 1.5, "epoch": 3}\n'
