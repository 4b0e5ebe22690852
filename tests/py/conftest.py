"""What the end-to-end tests share: a daemon of their own in a folder of their own, requests over its unix
socket, the command line, and waiting for something to become true instead of for time to pass."""

import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = pathlib.Path(os.environ.get("SLUICE_BIN", ROOT / "build" / "sluice"))
sys.path.insert(0, str(ROOT / "tests/lab"))
ENDED = ("finished", "error", "stopped", "pruned")
DEADLINE_S = 300  # when a wait gives up: far beyond what anything here takes

# Writes to everything that a task may write to and that sluice reads.
LOUD = '#!/bin/bash\necho out\necho err >&2\n"$SLUICE_BIN" report loss=1 epoch=0\n'


def wait_for(condition, what, deadline_s=DEADLINE_S):
    """Calls condition until it returns something true, and returns that."""
    until = time.monotonic() + deadline_s
    pause = 0.01
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > until:
            raise AssertionError(f"waited {deadline_s} s in vain: {what() if callable(what) else what}")
        time.sleep(pause)
        pause = min(pause * 1.5, 0.2)


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout=DEADLINE_S):
        super().__init__("localhost", timeout=timeout)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Answer:
    """Status, headers and body of an answer; `json` reads the body."""

    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()

    @property
    def json(self):
        return json.loads(self.body)


class Refused(AssertionError):
    """The daemon answered with an error where none was expected."""

    def __init__(self, method, path, answer):
        super().__init__(f"{method} {path}: {answer.status} {answer.body[:2000].decode(errors='replace')}")
        self.answer = answer


class Daemon:
    """`sluice serve` on a state folder, started, stopped and killed by its pid."""

    def __init__(self, state, env=None):
        self.state = pathlib.Path(state)
        self.socket = self.state / "sluice.sock"
        self.log = self.state.parent / (self.state.name + ".log")
        self.env = {**os.environ, "SLUICE_STATE": str(self.state), "NO_COLOR": "1", **(env or {})}
        self.program = PROGRAM
        self.process = None

    # Life and death.

    def launch(self):
        """Starts the process without waiting for it to answer."""
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [self.program, "serve", "--state", str(self.state), "--listen", "127.0.0.1:0"], env=self.env, stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, start_new_session=True)

    def start(self):
        self.launch()
        wait_for(self.answers, lambda: f"the daemon does not answer; its log: {self.log_tail()}")
        return self

    def answers(self):
        if self.process.poll() is not None:
            raise AssertionError(f"the daemon ended with {self.process.returncode}: {self.log_tail()}")
        try:
            return self.request("GET", "/health").status == 200
        except OSError:
            return False

    def kill(self):
        """kill -9: no chance to tidy up."""
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(timeout=DEADLINE_S)

    def restart(self):
        self.stop()
        return self.start()

    def log_tail(self):
        return self.log.read_text(errors="replace")[-3000:] if self.log.exists() else ""

    # Requests.

    def request(self, method, path, body=None, headers=None, raw=None):
        """One request over the unix socket; `body` becomes JSON, `raw` is sent as it is."""
        headers = dict(headers or {})
        if body is not None:
            raw = json.dumps(body).encode()
        if raw is not None:
            headers.setdefault("Content-Type", "application/json")
        connection = UnixConnection(self.socket)
        try:
            connection.request(method, path if path.startswith("/api/") else "/api/v1" + path, raw, headers)
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def _expect(self, method, path, body=None, headers=None):
        answer = self.request(method, path, body, headers)
        if answer.status >= 400:
            raise Refused(method, path, answer)
        return answer.json if answer.body else None

    def get(self, path):
        return self._expect("GET", path)

    def post(self, path, body=None, headers=None):
        return self._expect("POST", path, {} if body is None else body, headers)

    def delete(self, path):
        return self._expect("DELETE", path)

    def tcp_address(self):
        """(host, port) of the browser's door, as a login link names it."""
        url = self.post("/login-links")["url"]
        host, port = url.split("//")[1].split("/")[0].rsplit(":", 1)
        return host, int(port)

    # Experiments.

    def submit(self, script, experiment=None, name="script.py", files=(), headers=None):
        """Creates an experiment around a script's text; returns its id."""
        spec = {"script": name, **(experiment or {})}
        files = [{"path": name, "text": textwrap.dedent(script)}, *files]
        return self.post("/experiments", {"experiment": spec, "files": files}, headers)["id"]

    def tasks(self, experiment, **query):
        """Every task, however many pages that takes."""
        items, cursor = [], None
        while True:
            query["limit"] = 1000
            if cursor:
                query["cursor"] = cursor
            page = self.get(f"/experiments/{experiment}/tasks?" + "&".join(f"{k}={v}" for k, v in query.items()))
            items += page["items"]
            cursor = page["next"]
            if not cursor:
                return items

    def task(self, experiment, number):
        return self.get(f"/experiments/{experiment}/tasks/{number}")

    def metrics(self, experiment, number, points=100000):
        return self.get(f"/experiments/{experiment}/tasks/{number}/metrics?points={points}")["metrics"]

    def wait_state(self, experiment, states, number=None, deadline_s=DEADLINE_S):
        """Waits until the experiment (or one of its tasks) is in one of `states`; returns it."""
        path = f"/experiments/{experiment}" + (f"/tasks/{number}" if number else "")
        seen = {}

        def reached():
            seen.update(self.get(path))
            return seen["state"] in states and dict(seen)

        return wait_for(reached, lambda: f"{path} is {json.dumps(seen)[:1500]}, not {states}", deadline_s)

    def wait_ended(self, experiment, deadline_s=DEADLINE_S):
        return self.wait_state(experiment, ("finished", "error", "stopped"), deadline_s=deadline_s)

    def files_left(self, experiment):
        """Files and folders that sluice keeps for the tasks of an experiment; links to the submitted files do not count."""
        root = self.state / "experiments" / experiment
        found = [path for part in ("tasks", "batches") for path in (root / part).rglob("*") if not path.is_symlink()]
        return sorted(str(path.relative_to(root)) for path in found)

    def assert_few_files(self, experiment, tasks):
        """A script that writes to stdout and stderr and reports leaves six, and nothing is left of the submission. One
        that took a second has the times of its lines besides."""
        wanted = {f"tasks/{n}{name}" for n in range(1, tasks + 1) for name in
                  ("", "/journal", "/params.json", "/stdout", "/stderr", "/work")}
        def left():
            return [path for path in self.files_left(experiment) if not path.endswith("/logtimes")]

        # The daemon knows of the end a moment before everything is removed.
        wait_for(lambda: set(left()) == wanted,
                 lambda: f"left besides or missing: {sorted(wanted ^ set(left()))[:40]}", 60)

    def cli(self, *args, status=0, cwd=None, text=None, env=None):
        """Runs a verb against this daemon; the finished process. A `status` of None accepts any."""
        done = subprocess.run([PROGRAM, *map(str, args)], env={**self.env, **(env or {})}, cwd=cwd, input=text,
                              capture_output=True, text=True, errors="replace", timeout=DEADLINE_S)
        if status is not None and done.returncode != status:
            raise AssertionError(f"{' '.join(map(str, args))}: exit {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done


def processes_below(folder):
    """Pids of processes that work in the folder or name it: runners and scripts of a daemon under test."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if str(folder) in command or os.readlink(entry / "cwd").startswith(str(folder)):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def sweep(folder):
    """Ends what a test left running below its own folder, by pid."""
    def gone():
        pids = processes_below(folder)
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        return not pids
    wait_for(gone, f"processes below {folder} do not end")


@pytest.fixture
def folder():
    """A short path (a unix socket's may have 107 bytes), removed with everything that still runs there."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="sl-"))
    yield path
    sweep(path)
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def make_daemon(folder):
    """Makes daemons (not started) on state folders below the test's own."""
    made = []

    def make(name="state", env=None):
        made.append(Daemon(folder / name, env))
        return made[-1]

    yield make
    for daemon in made:
        daemon.stop()


@pytest.fixture
def daemon(make_daemon):
    """A daemon that answers."""
    return make_daemon().start()


# A real Slurm.

# Shorter waits than the defaults, where a test has to wait for what they say: how long a lost answer may still come, when
# a silent node is given up, how long between the polite and the rude signal. Not so short that a busy machine, whose
# disk stands still for seconds, looks like a broken cluster.
LAB_SETTINGS = {"MessageTimeout": 5, "SlurmdTimeout": 10, "KillWait": 2, "SlurmctldTimeout": 10, "BatchStartTimeout": 10}


def lab_up(*options, **settings):
    """A cluster of its own, or a skip that says why there is none. The caller ends it with down()."""
    import lab as slurm_lab
    words = [word for key, value in {**LAB_SETTINGS, **settings}.items() for word in ("--set", f"{key}={value}")]
    try:
        return slurm_lab.Lab(*words, *options)
    except slurm_lab.NoLab as reason:
        pytest.skip(f"no Slurm here: {reason}")


@pytest.fixture(scope="session")
def lab():
    """2 nodes of 2 GPUs in gpu_volta, 1 node in cpu, with accounting: one for all modules."""
    up = lab_up()
    yield up
    up.down()


class SlurmDaemon(Daemon):
    """A daemon that finds the lab's cluster, and counts what it asks of it."""

    def __init__(self, state, lab, env=None):
        import lab as slurm_lab
        self.lab = lab
        self.calls = slurm_lab.Calls(pathlib.Path(state).parent / "calls", {**lab.env, **(env or {})})
        super().__init__(state, self.calls.env)

    def spec(self, parameters, partition="cpu", **more):
        """An experiment for the cluster: a grid over the parameters, small tasks."""
        resources = {"backend": "slurm", "partition": partition, "cpus": 1, "memory": "64M", **more.pop("resources", {})}
        return {"parameters": parameters, "search": {"strategy": "grid", **more.pop("search", {})}, "resources": resources, **more}

    def queue(self, *words):
        """Rows of squeue for what this daemon submitted."""
        tokens = self.calls.names()
        if not tokens:
            return []
        return self.lab.slurm("squeue", "-h", "-r", "-n", ",".join(tokens), *words).splitlines()

    def clear_queue(self):
        """After the daemon was stopped: ends its jobs, and nobody else's."""
        def empty():
            jobs = {row.split("_")[0] for row in self.queue("-o", "%i")}
            if jobs:
                self.lab.slurm("scancel", *jobs, check=False)
            return not jobs
        wait_for(empty, "the queue does not empty")


@pytest.fixture
def slurm(lab, folder):
    """A daemon on the lab's cluster; afterwards its queue is emptied."""
    folder.chmod(0o755)
    daemon = SlurmDaemon(folder / "state", lab).start()
    yield daemon
    daemon.stop()
    daemon.clear_queue()
