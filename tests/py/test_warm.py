"""Warm start: a Python script that is forked from a process which has imported its libraries behaves as one that was
started anew. The library is a small one of our own under the name of a real one: what is tried is the keeper, not
torch (tests/py/test_frameworks.py starts the real ones)."""

import json
import os
import signal
import sys
import time

import pytest

from attempt import Attempt, is_alive
from conftest import wait_for

LIBRARY = "import os\nPID_OF_IMPORT = os.getpid()\nstate = []\n"
# Everything that a script can see of the process that it runs in.
TELL = """
import json, os, random, sys
import torch
torch.state.append(os.environ["SLUICE_TASK"])
with open(os.environ["SLUICE_TELL"], "w") as out:
    json.dump({"argv": sys.argv, "name": __name__, "file": __file__, "cwd": os.getcwd(), "path0": sys.path[0],
               "pid": os.getpid(), "sid": os.getsid(0), "environ": dict(os.environ), "random": random.random(),
               "state": torch.state, "imported_by": torch.PID_OF_IMPORT, "cores": sorted(os.sched_getaffinity(0)),
               "main": sys.modules["__main__"].__dict__ is globals(), "executable": sys.executable,
               "started_by": getattr(sys, "orig_argv", None), "kept": [fd for fd in map(int, os.listdir("/proc/self/fd"))
                                                                  if os.path.exists(f"/proc/self/fd/{fd}") and os.get_inheritable(fd)],
               "fds": sorted(os.listdir("/proc/self/fd")),
               "signals": open("/proc/self/status").read().split("SigBlk:")[1].split()[0]}, out)
"""


class Warm:
    """A state folder with a library, and attempts of scripts that import it."""

    def __init__(self, root):
        self.root, self.count = root, 0
        self.library = root / "site-packages" / "torch.py"  # where installed packages are
        self.library.parent.mkdir()
        self.library.write_text(LIBRARY)
        self.dir = root / "warm"

    def attempt(self, script, *args, beside=(), **env):
        self.count += 1
        folder = self.root / f"t{self.count}"
        self.told = folder / "told.json"
        a = Attempt(folder, None, task=self.count, warm_dir=str(self.dir), argv=[sys.executable, "train.py", *args],
                    env={"PYTHONPATH": str(self.library.parent), "SLUICE_TELL": str(self.told), "SLUICE_PARAM_LR": "0.1",
                         "PYTHONDONTWRITEBYTECODE": "1", **env}, grace_ms=2000)
        (a.files / "train.py").write_text(script)
        for name, text in beside:
            (a.files / name).write_text(text)
        return a

    def run(self, script, *args, **more):
        a = self.attempt(script, *args, **more)
        a.start().communicate()
        return a

    def sockets(self):
        return list(self.dir.glob("*.sock"))

    def warm_up(self, script="import torch\n"):
        """The first start is cold and leaves a keeper."""
        a = self.run(script)
        assert any("later tasks start from" in note for note in notes(a))
        wait_for(self.sockets, "no keeper listens")

    def close(self):
        for path in self.sockets():
            path.unlink()  # a keeper whose socket is gone ends


def notes(a):
    return [r["text"] for r in a.records() if r["kind"] == "note"]


def is_warm(a):
    return any("started from a process that had imported torch" in note for note in notes(a))


@pytest.fixture
def warm(tmp_path):
    w = Warm(tmp_path)
    yield w
    w.close()


def told(warm):
    return json.loads(warm.told.read_text())


def test_a_warm_script_sees_what_a_cold_one_sees(warm):
    warm.warm_up()
    a = warm.attempt(TELL, "--lr", "0.1", "")
    a.start().communicate()
    assert is_warm(a) and a.end()["cause"] == "ok"
    got = told(warm)
    cold = warm.attempt(TELL, "--lr", "0.1", "")
    descriptor = json.loads((cold.batch / "0.json").read_text())
    del descriptor["warm_dir"]
    (cold.batch / "0.json").write_text(json.dumps(descriptor))
    cold.start().communicate()
    expected = told(warm)
    assert got["imported_by"] != got["pid"] and expected["imported_by"] == expected["pid"]
    assert got["sid"] == got["pid"]
    assert got["file"] == str(a.work / "train.py")
    for key in ("argv", "name", "main", "executable", "cores", "signals", "started_by", "kept"):
        assert got[key] == expected[key], key
    assert got["cwd"] == str(a.work) and got["path0"] == str(a.work)
    own = {"SLUICE_TASK", "SLUICE_TASK_DIR", "SLUICE_CHECKPOINT_DIR", "SLUICE_PARAMS", "SLUICE_REPORT", "SLUICE_TELL", "PWD"}
    assert {k: v for k, v in got["environ"].items() if k not in own} == {
        k: v for k, v in expected["environ"].items() if k not in own}
    assert len(got["fds"]) <= len(expected["fds"]) + 1  # the channel on which it tells its end


def test_what_the_first_optimizer_imports_is_imported_ahead(warm):
    package = warm.library.with_suffix("")
    warm.library.unlink()
    package.mkdir()
    (package / "__init__.py").write_text(LIBRARY)
    (package / "_dynamo.py").write_text("import os\nPID_OF_IMPORT = os.getpid()\n")
    warm.warm_up()
    a = warm.run("import gc, os, sys, torch\nprint(torch._dynamo.PID_OF_IMPORT != os.getpid(), gc.get_freeze_count() > 1000)\n")
    assert is_warm(a) and a.end()["cause"] == "ok", a.stdout()
    assert a.stdout() == "True True\n"


def test_a_script_that_imports_numpy_alone_starts_warm(warm):
    numpy = LIBRARY + "class random:\n    seed = staticmethod(lambda: state.append('seeded'))\n"
    (warm.library.parent / "numpy.py").write_text(numpy)
    warm.warm_up("import numpy\n")
    a = warm.run("import numpy, os\nprint(numpy.PID_OF_IMPORT != os.getpid(), numpy.state)\n")
    assert a.stdout() == "True ['seeded']\n"


def test_what_a_library_counts_at_the_end_is_collected(warm):
    """As nanobind does, which lists on stderr what is left of it: PyTorch with CUDA has such a library."""
    warm.library.write_text(LIBRARY + "class nb_func:\n    def __init__(self):\n        self.me = self\n"
                            "    def __del__(self):\n        os.write(1, b'collected')\nfunction = nb_func()\n")
    warm.warm_up()
    a = warm.run("import atexit, torch\natexit.register(print, 'the script ends')\ntorch.function = None\n")
    assert is_warm(a) and a.stdout() == "the script ends\ncollected"


def test_nothing_leaks_from_one_task_to_the_next(warm):
    warm.warm_up()
    seen = []
    for _ in range(3):
        a = warm.run(TELL)
        assert is_warm(a)
        seen.append(told(warm))
    assert [s["state"] for s in seen] == [[s["environ"]["SLUICE_TASK"]] for s in seen]
    assert len({s["random"] for s in seen}) == 3
    assert len({s["imported_by"] for s in seen}) == 1


@pytest.mark.parametrize("line, cause, code, words", [
    ("raise ValueError('planned')", "exit", 1, "ValueError: planned"),
    ("sys.exit(7)", "exit", 7, "exit code 7"),
    ("sys.exit('no data')", "exit", 1, "no data"),
    ("os.kill(os.getpid(), 11)", "signal", 11, "signal 11"),
    ("this is no Python", "exit", 1, "SyntaxError"),
    ("raise KeyboardInterrupt", "signal", 2, "signal 2"),
    ("import atexit; atexit.register(print, 'bye')", "ok", 0, None),
])
def test_it_ends_as_a_cold_one_ends(warm, line, cause, code, words):
    warm.warm_up()
    a = warm.run(f"import os, sys\nimport torch\n{line}\n")
    end = a.end()
    assert is_warm(a)
    assert (end["cause"], end["signal"] if cause == "signal" else end["exit_code"]) == (cause, code)
    if words:
        assert words in end["message"]
    errors = a.dir / "stderr"
    assert not errors.exists() or "keeper" not in errors.read_text()
    if "atexit" in line:
        assert (a.dir / "stdout").read_text() == "bye\n"


SLEEPER = """
import os, signal, subprocess, sys, time
import torch
def ended(*_):
    print("saved", flush=True)
    sys.exit(3)
signal.signal(signal.SIGTERM, ended)
children = [subprocess.Popen(["sleep", "3600"]), subprocess.Popen(["sleep", "3600"], start_new_session=True)]
with open(os.environ["SLUICE_TELL"] + ".new", "w") as out:
    out.write(" ".join(str(p) for p in [os.getpid()] + [c.pid for c in children]))
os.rename(os.environ["SLUICE_TELL"] + ".new", os.environ["SLUICE_TELL"])
while True:
    time.sleep(0.05)
"""


def started(warm, a):
    p = a.start()
    wait_for(warm.told.exists, "the script does not begin")
    return p, [int(n) for n in warm.told.read_text().split()]


def test_a_stop_reaches_it_and_all_that_it_started(warm):
    warm.warm_up()
    a = warm.attempt(SLEEPER)
    p, pids = started(warm, a)
    p.send_signal(signal.SIGTERM)
    p.communicate()
    assert is_warm(a) and a.end()["cause"] == "stopped"
    assert (a.dir / "stdout").read_text() == "saved\n"
    assert not [pid for pid in pids if is_alive(pid)]


def test_it_does_not_outlive_a_killed_runner(warm):
    warm.warm_up()
    a = warm.attempt(SLEEPER)
    p, pids = started(warm, a)
    assert is_warm(a)
    p.kill()
    p.communicate()
    wait_for(lambda: not is_alive(pids[0]) and not is_alive(pids[1]), "the script goes on without its runner")
    os.kill(pids[2], signal.SIGKILL)  # in a session of its own: the next attempt looks for it


def keeper_of(pid):
    return int(open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[1])


def test_a_killed_keeper_hurts_no_task(warm):
    warm.warm_up()
    script = "import os, sys, time\nimport torch\nopen(os.environ['SLUICE_TELL'], 'w').write(str(os.getpid()))\n" \
             "while os.path.exists(os.environ['SLUICE_TELL']): time.sleep(0.02)\nsys.exit(9)\n"
    a = warm.attempt(script)
    p = a.start()
    wait_for(lambda: warm.told.exists() and warm.told.read_text(), "the script does not begin")
    os.kill(keeper_of(int(warm.told.read_text())), signal.SIGKILL)
    warm.told.unlink()
    p.communicate()
    assert is_warm(a) and a.end()["cause"] == "exit" and a.end()["exit_code"] == 9
    after = warm.run("import torch\n")  # its socket is there and leads nowhere
    assert after.end()["cause"] == "ok" and not is_warm(after)
    wait_for(lambda: is_warm(warm.run("import torch\n")), "no new keeper was started")


def test_a_task_is_found_by_its_environment_when_runner_and_keeper_are_killed(warm):
    warm.warm_up()
    a = warm.attempt(SLEEPER)
    p, pids = started(warm, a)
    os.kill(p.pid, signal.SIGSTOP)
    os.kill(keeper_of(pids[0]), signal.SIGKILL)
    p.kill()
    p.communicate()
    assert is_alive(pids[0])
    second = Attempt(a.root, None, attempt=2, task=warm.count, argv=["true"])
    second.start().communicate()
    assert second.end()["cause"] == "ok"
    assert not [pid for pid in pids if is_alive(pid)]


@pytest.mark.parametrize("library, why", [
    ("import threading, time\nthreading.Thread(target=time.sleep, args=(3600,), daemon=True).start()\n",
     "a module that it imports starts threads"),
    ("import tempfile\nlog = tempfile.TemporaryFile()\n", "a module that it imports keeps a file or a connection open"),
    ("import socket\na, b = socket.socketpair()\n", "a module that it imports keeps a file or a connection open"),
    ("import atexit, os, shutil, tempfile\n"
     "os.environ['MPLCONFIGDIR'] = tempfile.mkdtemp()\natexit.register(shutil.rmtree, os.environ['MPLCONFIGDIR'], True)\n",
     "a module that it imports makes a temporary folder (MPLCONFIGDIR)"),
    ("import os\nif 'SLUICE_TASK' not in os.environ:\n    os.abort()\n",
     "a module that it imports ends the process with signal 6"),
    ("raise RuntimeError('no licence')\n", "importing torch failed: RuntimeError: no licence"),
])
def test_a_library_that_cannot_bear_it_starts_cold_and_says_why(warm, library, why):
    warm.library.write_text(library)
    warm.run("import torch\n")
    wait_for(lambda: list(warm.dir.glob("*.cold")), "no keeper has said why not")
    a = warm.run("try:\n    import torch\nexcept RuntimeError as e:\n    print(e)\n")
    assert any(note.startswith(f"started cold: {why}") for note in notes(a))
    assert a.end()["cause"] == "ok"
    if "licence" in why:
        assert (a.dir / "stdout").read_text() == "no licence\n"


def test_a_file_beside_the_script_with_the_name_of_a_library_is_used(warm):
    """As Python does it. `selectors` is one that every keeper has imported."""
    warm.warm_up()
    a = warm.run("import torch\nimport selectors\nprint(selectors.MINE)\n", beside=[("selectors.py", "MINE = 'mine'\n")])
    assert a.end()["cause"] == "ok", (a.dir / "stderr").read_text()
    assert (a.dir / "stdout").read_text() == "mine\n"


def test_variables_that_a_library_sets_are_there(warm):
    """TensorFlow sets five of them when it is imported; what reads them comes later, or in another process."""
    warm.library.write_text(LIBRARY + "os.environ['SET_BY_IMPORT'] = 'yes'\n")
    warm.warm_up()
    a = warm.run("import subprocess, torch\nsubprocess.run(['sh', '-c', 'echo $SET_BY_IMPORT'])\n")
    assert is_warm(a) and a.stdout() == "yes\n"


def test_a_library_may_name_a_folder_for_temporary_files(warm, tmp_path):
    """PyTorch names the one of its compiler, which stays and is shared by cold starts too."""
    warm.library.write_text(LIBRARY + f"os.environ['TORCHINDUCTOR_CACHE_DIR'] = '{tmp_path}'\n")
    warm.warm_up()
    assert is_warm(warm.run("import torch\n"))


def test_settings_that_were_changed_are_read_anew(warm, tmp_path):
    settings = tmp_path / "keras" / "keras.json"
    settings.parent.mkdir()
    settings.write_text("float32")
    warm.library.write_text(LIBRARY + "SETTINGS = open(os.environ['KERAS_HOME'] + '/keras.json').read()\n")
    script = "import torch\nprint(torch.SETTINGS)\n"
    for text in ("float32", "bfloat16"):
        settings.write_text(text)
        wait_for(lambda: is_warm(warm.run(script, KERAS_HOME=str(settings.parent))) or None, "no keeper serves")
        assert warm.run(script, KERAS_HOME=str(settings.parent)).stdout() == text + "\n"


def test_settings_beside_the_script_are_read(warm):
    warm.library.write_text(LIBRARY + "HERE = os.path.exists('matplotlibrc')\n")
    warm.warm_up()
    script = "import torch\nprint(torch.HERE)\n"
    assert warm.run(script, beside=[("matplotlibrc", "")]).stdout() == "True\n"
    assert warm.run(script).stdout() == "False\n"


def test_what_a_warm_script_writes_is_counted(warm):
    warm.warm_up()
    a = warm.run("import os, torch\nwith open('out', 'wb') as out:\n    out.write(os.urandom(3 << 20))\n    out.flush()\n"
                 "    os.fsync(out.fileno())\nprint(open('/proc/self/io').read().split('\\nwrite_bytes: ')[1].split()[0])\n")
    assert is_warm(a) and int(a.stdout()) <= a.end()["write_bytes"] <= int(a.stdout()) + (1 << 16)


def test_there_are_never_more_than_eight_keepers(warm):
    """As for 10 experiments with variables of their own, one after the other."""
    for n in range(10):
        before = set(warm.sockets())
        warm.run("import torch\n", OMP_NUM_THREADS=str(n + 1))
        wait_for(lambda: set(warm.sockets()) - before, "no keeper listens")
        assert len(warm.sockets()) <= 8
        assert is_warm(warm.run("import torch\n", OMP_NUM_THREADS="1")), "one that is used must not make room"


def test_another_installation_of_packages_is_seen(warm):
    warm.warm_up()
    assert is_warm(warm.run("import torch\n"))
    time.sleep(0.01)
    (warm.library.parent / "new_package.py").write_text("")
    warm.library.write_text(LIBRARY + "VERSION = 2\n")
    a = warm.run("import torch\nprint(torch.VERSION)\n")
    assert a.end()["cause"] == "ok" and (a.dir / "stdout").read_text() == "2\n"


def test_a_library_of_the_users_own_is_never_kept(warm, tmp_path):
    """Found through PYTHONPATH it is as much the user's as a module beside the script: an edit counts at once."""
    own = tmp_path / "checkout" / "torch.py"
    own.parent.mkdir()
    own.write_text(LIBRARY + "VERSION = 1\n")
    script = "import torch\nprint(torch.VERSION)\n"
    a = warm.run(script, PYTHONPATH=str(own.parent))
    assert (a.dir / "stdout").read_text() == "1\n"
    wait_for(lambda: list(warm.dir.glob("*.cold")), "no keeper has said why not")
    own.write_text(LIBRARY + "VERSION = 2\n")
    a = warm.run(script, PYTHONPATH=str(own.parent))
    assert (a.dir / "stdout").read_text() == "2\n" and not is_warm(a)
    assert "started cold: torch is not installed but found in a folder of your own, where it may change" in notes(a)


def test_an_edit_of_what_an_installed_library_imports_from_the_user_counts(warm, tmp_path):
    own = tmp_path / "checkout" / "plugin.py"
    own.parent.mkdir()
    own.write_text("VERSION = 1\n")
    warm.library.write_text(LIBRARY + "import plugin\n")
    script, path = "import torch\nprint(torch.plugin.VERSION)\n", f"{warm.library.parent}:{own.parent}"
    warm.run(script, PYTHONPATH=path)
    wait_for(warm.sockets, "no keeper listens")
    a = warm.run(script, PYTHONPATH=path)
    assert is_warm(a) and (a.dir / "stdout").read_text() == "1\n"
    time.sleep(0.01)
    own.write_text("VERSION = 2\n")  # in place: its folder stays as it was
    a = warm.run(script, PYTHONPATH=path)
    assert (a.dir / "stdout").read_text() == "2\n"


@pytest.mark.parametrize("line", ["os.environ['KERAS_BACKEND'] = 'jax'", "os.environ.setdefault('KERAS_BACKEND', 'jax')"])
def test_a_script_that_sets_variables_for_its_libraries_starts_cold(warm, line):
    """A library reads them when it is imported, which a keeper has done before."""
    warm.warm_up()
    warm.library.write_text(LIBRARY + "BACKEND = os.environ.get('KERAS_BACKEND', 'default')\n")
    a = warm.run(f"import os\n{line}\nimport torch\nprint(torch.BACKEND)\n")
    assert (a.dir / "stdout").read_text() == "jax\n"
    assert any(note.startswith("started cold: the script sets variables") for note in notes(a))


def test_nothing_begins_without_a_runner(warm):
    """The keeper hears of the end of a runner that it has not answered yet."""
    warm.warm_up()
    assert is_warm(warm.run(TELL))
    keeper = told(warm)["imported_by"]
    os.kill(keeper, signal.SIGSTOP)
    a = warm.attempt("import os\nimport torch\nopen(os.environ['SLUICE_TELL'], 'w').close()\n")
    p = a.start()
    wait_for(lambda: a.records("start"), "the runner does not begin")
    time.sleep(0.3)  # its request is on its way
    p.kill()
    p.communicate()
    os.kill(keeper, signal.SIGCONT)
    assert is_warm(warm.run(TELL))  # by then the keeper has looked at the request before
    assert not (a.root / "told.json").exists()


def test_torch_draws_other_numbers_in_every_task(warm):
    warm.library.write_text(LIBRARY + "import random\nclass G:\n    def __init__(self): self.n = random.random()\n"
                            "    def seed(self): self.n = random.SystemRandom().random()\ndefault_generator = G()\n")
    warm.warm_up()
    seen = set()
    for _ in range(3):
        a = warm.run("import torch\nprint(torch.default_generator.n)\n")
        assert is_warm(a)
        seen.add((a.dir / "stdout").read_text())
    assert len(seen) == 3


def test_modules_beside_a_linked_script_are_found(warm):
    """Python follows the link: model.py lies beside the file, not beside the link."""
    warm.warm_up()
    a = warm.attempt("")
    project = a.root / "project"
    project.mkdir()
    (project / "model.py").write_text("X = 5\n")
    (project / "real.py").write_text("import torch\nimport model\nprint(model.X)\n")
    (a.root / "train.py").symlink_to(project / "real.py")
    (a.batch / "0.json").write_text(json.dumps({**a.descriptor, "argv": [sys.executable, str(a.root / "train.py")]}))
    a.start().communicate()
    assert is_warm(a) and a.end()["cause"] == "ok", a.end()
    assert (a.dir / "stdout").read_text() == "5\n"


@pytest.mark.parametrize("script, argv", [("import json\n", None), ("import torch\n", ["-u", "train.py"])])
def test_what_gains_nothing_or_has_options_starts_as_ever(warm, script, argv):
    a = warm.attempt(script)
    if argv:
        descriptor = {**a.descriptor, "argv": [sys.executable, *argv]}
        (a.batch / "0.json").write_text(json.dumps(descriptor))
    a.start().communicate()
    assert a.end()["cause"] == "ok" and not notes(a) and not warm.dir.exists()


def test_a_keeper_ends_when_its_folder_goes(warm):
    warm.warm_up()
    a = warm.run(TELL)
    keeper = told(warm)["imported_by"]
    assert is_warm(a) and is_alive(keeper)
    warm.close()
    wait_for(lambda: not is_alive(keeper), "the keeper stays")


def warm_tasks(daemon, library, when):
    """Which of the tasks of an experiment started warm."""
    spec = {"script": "train.py", "parameters": {"x": list(range(12))}, "warm": when, "pass": "env",
            "search": {"strategy": "grid", "parallel": 1},
            "environment": {"vars": {"PYTHONPATH": str(library)}, "python": sys.executable}}
    script = "import time\nimport torch\ntime.sleep(0.1)\n"
    made = daemon.post("/experiments", {"experiment": spec, "files": [{"path": "train.py", "text": script}]})
    assert daemon.wait_ended(made["id"])["tasks"]["finished"] == 12
    tasks = [daemon.get(f"/experiments/{made['id']}/tasks/{n}") for n in range(1, 13)]
    noted = [any("started from a process" in (h["reason"] or "") for h in task["timeline"]) for task in tasks]
    exported = daemon.get(f"/experiments/{made['id']}/export?format=json")["tasks"]
    assert noted == [task["attempts"][-1]["warm"] for task in tasks] == [task["attempts"][-1]["warm"] for task in exported]
    word = "warm" if noted[-1] else "cold"
    assert word in daemon.cli("show", f"{made['id']}/12").stdout.splitlines()[-1].split()
    return noted


def test_later_tasks_of_an_experiment_start_warm_unless_it_says_off(daemon, tmp_path):
    library = tmp_path / "site-packages"
    library.mkdir()
    (library / "torch.py").write_text(LIBRARY)
    auto = warm_tasks(daemon, library, "auto")
    assert not auto[0] and auto[-1], auto
    assert not any(warm_tasks(daemon, library, "off"))
    assert list((daemon.state / "warm").glob("*.sock"))
    daemon.stop()
    assert not list((daemon.state / "warm").glob("*.sock")), "keepers stay behind"
