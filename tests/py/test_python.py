"""The Python package: the client against the real daemon, and what training scripts use of it."""

import ast
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


def test_tasks_run_in_the_environment_of_this_process(daemon, client, folder, monkeypatch):
    import venv
    venv.create(folder / "mine", with_pip=False, symlinks=True)
    monkeypatch.setattr(sys, "prefix", str(folder / "mine"))
    monkeypatch.setenv("X_MODE", "kept")
    script = "import os, sys; print(sys.prefix, os.environ.get('X_MODE'))"
    e = client.run({"script": "go.py", "environment": {"keep": ["X_*"]}}, {"go.py": script})
    client.wait(e["id"])
    assert client.log(e["id"] + "/1").split() == [str(folder / "mine"), "kept"]
    # By an address too, where the daemon is on this machine; files keep their modes.
    (folder / "go.sh").write_text("#!/bin/sh\necho $VIRTUAL_ENV; test -x tool && ./tool\n")
    (folder / "tool").write_text("#!/bin/sh\necho ran\n")
    (folder / "tool").chmod(0o755)
    (folder / "exp.yaml").write_text("script: go.sh\nfiles: [tool]\n")
    there = sluice.Client((daemon.state / "address").read_text().strip(), client.request("POST", "/tokens", {"name": "e"})["token"])
    e = there.run(folder / "exp.yaml")
    there.wait(e["id"])
    assert there.log(e["id"] + "/1").split() == [str(folder / "mine"), "ran"]


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


SAVES = """\
import sys, time
sys.path.insert(0, {package!r})
import sluice
sluice.should_stop()
print("ready", flush=True)
while not sluice.should_stop():
    time.sleep(0.01)
open(sluice.checkpoint_dir() + "/saved", "w").write("x")
print("saved", flush=True)
""".format(package=str(ROOT / "python"))


def test_a_script_hears_that_it_should_stop(client):
    e = client.run({"script": "s.py", "checkpoint": {"signal": "USR2"}}, {"s.py": SAVES})["id"]
    wait_for(lambda: "ready" in client.log(e + "/1"), "it does not begin")
    client.stop(e)
    assert client.wait(e)["state"] == "stopped"
    assert "saved" in client.log(e + "/1")


def test_every_method_goes_to_the_address_that_was_given(daemon, client, folder, monkeypatch):
    address = (daemon.state / "address").read_text().strip()  # without http://
    token = client.request("POST", "/tokens", {"name": "t"})["token"]
    monkeypatch.setenv("SLUICE_STATE", str(folder / "elsewhere"))
    there = sluice.Client(address, token, program="/no/such/program")
    (folder / "lib").mkdir()
    (folder / "lib" / "__init__.py").write_text("value = 3\n")
    (folder / "beside.py").write_text("import lib\nvalue = lib.value + 1\n")
    (folder / "go.py").write_text("import beside\nprint(beside.value, open('data/x').read())\n")
    (folder / "data").mkdir()
    (folder / "data" / "x").write_text("data")
    (folder / "exp.yaml").write_text("script: go.py\nfiles: [data/x]\n")
    assert there.check(folder / "exp.yaml")["needs"] == ["go.py", "data/x"]
    e = there.run(folder / "exp.yaml")
    assert client.wait(e["id"])["state"] == "finished", client.log(e["id"] + "/1", "stderr")
    assert client.log(e["id"] + "/1") == "4 data\n"
    assert not (folder / "elsewhere").exists()
    (folder / "exp.yaml").write_text("script: gone.py\n")
    with pytest.raises(sluice.Problem, match="gone.py: not found beside"):
        there.run(folder / "exp.yaml")


def test_errors_say_what_to_do(client, folder):
    with pytest.raises(sluice.Problem, match="did you mean 'parameters'"):
        client.check({"script": "x.py", "parametres": {"lr": 1}})
    e = client.run({"script": "go.py", "parameters": {"epochs": 2}}, {"go.py": SCRIPT})["id"]
    client.wait(e)
    assert list(client.metrics(e + "/1", "loss")["metrics"]) == ["loss"]
    for id in (e, e + "/1"):
        with pytest.raises(sluice.Problem, match="did you mean 'loss'"):
            client.metrics(id, "los")
    with pytest.raises(ValueError, match="http://127.0.0.1:54322"):
        sluice.Client("ftp://x")
    with pytest.raises(ConnectionError, match="tunnel"):
        sluice.Client("127.0.0.1:1").experiments()
    with pytest.raises(ConnectionError, match="was not found in PATH"):
        sluice.Client(state=str(folder / "none"), program="no-such-program").run(folder / "exp.yaml")


def test_waiting_for_what_has_paused_says_why(client):
    e = client.run({"command": ["sh", "-c", "echo oh no >&2; exit 3"], "parameters": {"x": [1, 2, 3, 4, 5]}, "search": {"parallel": 1}})["id"]
    with pytest.raises(sluice.Paused, match=f"{e} is paused: 3 tasks in a row failed.*oh no.*sluice resume {e}") as paused:
        client.wait(e)
    assert paused.value.experiment == e and isinstance(paused.value, sluice.Problem)
    with pytest.raises(sluice.Paused, match="oh no"):
        client.wait(e + "/4")
    assert client.wait(e + "/1")["state"] == "error"
    client.resume(e)
    assert client.wait(e)["tasks"]["error"] == 5
    blind = {"script": "go.py", "parameters": {"lr": {"min": 0.1, "max": 1.0}}, "objective": "lss", "search": {"strategy": "tpe", "tasks": 6}}
    with pytest.raises(sluice.Paused, match="found loss.* in `sluice report`; no lss; did you mean loss"):
        client.wait(client.run(blind, {"go.py": SCRIPT})["id"])
    for script, expect in (("import time", "nothing was found. sluice reads CSV, TSV, JSON and TensorBoard files"),
                           ("open('log.csv', 'w').write('epoch,loss\\n0,1\\n')", "found loss in log.csv; no lss; did you mean loss"),
                           ("print('epoch 1 loss 0.5')", "found loss in printed output; no lss")):
        with pytest.raises(sluice.Paused, match=expect):
            client.wait(client.run(blind, {"go.py": script})["id"])
    with pytest.raises(sluice.Paused, match="no file with metrics matched"):
        client.wait(client.run({**blind, "metrics": {"csv": "*.tsv"}}, {"go.py": "open('log.csv', 'w').write('epoch,loss\\n0,1\\n')"})["id"])


def test_tables_and_notebooks(client, capsys):
    e = client.run({"script": "go.py", "name": "<b>", "parameters": {"lr": [4, 2], "epochs": 3}, "objective": "loss"}, {"go.py": SCRIPT})
    ended = client.wait(e["id"], progress=True)
    shown = capsys.readouterr().err
    assert "2 of 2 tasks finished" in shown and shown.endswith("\n")
    assert "&lt;b&gt;" in ended._repr_html_() and "<b>" not in ended._repr_html_()
    table = client.table(e["id"])
    assert [(row["task"], row["state"], row["lr"], row["best"]) for row in table] == [(1, "finished", 4, pytest.approx(4 / 3)),
                                                                                      (2, "finished", 2, pytest.approx(2 / 3))]
    assert table._repr_html_().count("<tr>") == 3
    frame = types.ModuleType("pandas")
    frame.DataFrame = lambda rows, columns: (len(rows), columns)
    sys.modules["pandas"] = frame
    try:
        assert table.to_pandas() == (2, table.columns)
    finally:
        del sys.modules["pandas"]


# Without a daemon.


def test_installing_leaves_nothing_behind(tmp_path):
    before = sorted(path for path in (ROOT / "python").rglob("*") if "__pycache__" not in path.parts)
    done = subprocess.run([str(ROOT / "build/venv/bin/pip"), "install", "-q", "--no-deps", "--disable-pip-version-check",
                           "--target", str(tmp_path), str(ROOT / "python")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "sluice" / "py.typed").exists()
    assert sorted(path for path in (ROOT / "python").rglob("*") if "__pycache__" not in path.parts) == before


class Annotations(ast.NodeVisitor):
    """Subscripts of built-in types, and types joined by |: Python 3.8 evaluates and refuses them."""

    def __init__(self):
        self.new = []

    def visit_Subscript(self, node):
        if isinstance(node.value, ast.Name) and node.value.id in ("dict", "list", "tuple", "set", "type"):
            self.new.append(node.lineno)
        self.generic_visit(node)


def test_every_file_is_python_3_8():
    for path in sorted((ROOT / "python/sluice").glob("*.py")):
        text = path.read_text()
        tree = ast.parse(text, str(path), feature_version=(3, 8))
        found = Annotations()
        found.visit(tree)
        assert not found.new or "from __future__ import annotations" in text, (path, found.new)


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
    assert sluice.report({"loss": True}, epoch=2.0)
    rows = [json.loads(line) for line in (tmp_path / "report").read_text().splitlines()]
    assert rows == [{"epoch": 1, "loss": 0.25, "a": "Infinity", "b": "-Infinity", "c": "NaN"}, {"loss": 1, "epoch": 2}]


def test_report_never_ends_a_training(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("SLUICE_REPORT", str(tmp_path / "report"))
    for _ in range(2):
        assert sluice.report(loss="many", odd=None, size=[1, 2], fine=1)
    assert sluice.report(loss="many") is False and sluice.report([1]) is False
    assert (tmp_path / "report").read_text() == '{"fine": 1}\n' * 2
    said = capsys.readouterr().err
    assert said.count("loss is not a number") == 1 and "odd" in said and "size" in said
    monkeypatch.setenv("SLUICE_REPORT", str(tmp_path / "no" / "folder"))
    assert sluice.report(loss=1) is False
    assert "No such file" in capsys.readouterr().err


def test_seed_is_the_tasks_own(monkeypatch):
    import random
    monkeypatch.delenv("SLUICE_SEED", raising=False)
    assert sluice.seed() == 0 and sluice.seed(7) == 7
    monkeypatch.setenv("SLUICE_SEED", "12345678901")
    assert sluice.seed(everything=True) == 12345678901
    first = random.random()
    sluice.seed(everything=True)
    assert random.random() == first


def stand_in(monkeypatch, name):
    """A module that has a Callback and nothing else: the real ones take seconds to import."""
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
        callback.on_train_epoch_end(types.SimpleNamespace(is_global_zero=zero, current_epoch=3, global_step=40, callback_metrics={"loss": 1.5}), None)
    assert (tmp_path / "report").read_text() == '{"loss": 1.5, "epoch": 3, "step": 40}\n'
