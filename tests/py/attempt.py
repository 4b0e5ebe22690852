"""One attempt of a task for the tests of `sluice exec`: its descriptor, its runner, its journal."""
import json
import os
import subprocess
import zlib
from pathlib import Path

from conftest import DEADLINE_S

BIN = os.path.abspath(os.environ.get("SLUICE_BIN", "build/sluice"))
TOKEN = "0" * 32
ENV = {**os.environ, "LC_ALL": "C.UTF-8"}  # a bash that does not know its locale says so on stderr


class Attempt:
    """One descriptor in a state folder of its own."""

    def __init__(self, root, script, attempt=1, task=7, **more):
        self.root = Path(root)
        self.batch = self.root / "batches" / f"{attempt:032d}"
        self.files = self.root / "files"
        self.task = self.root / "tasks" / str(task)
        self.dir = self.task if attempt == 1 else self.task / "attempts" / str(attempt)
        self.work = self.task / "work"
        for folder in (self.batch, self.files):
            folder.mkdir(parents=True, exist_ok=True)
        if script is not None:
            (self.files / "script.sh").write_text(script)
        self.descriptor = {
            "sluice": "0.1.0", "token": TOKEN, "index": 0, "experiment": "e1", "task": task, "attempt": attempt,
            "files_dir": str(self.files), "task_dir": str(self.task), "attempt_dir": str(self.dir),
            "argv": ["bash", "script.sh", "e1", str(task), "64", "0.001"], "setup": [], "env": {},
            "params": {"batch_size": 64}, "results": f"results/e1/{task}", "metrics": None,
            "fresh": attempt == 1, "grace_ms": 10000, "gpus": None, "push": None,
        }
        self.descriptor.update(more)
        self.dir = Path(self.descriptor["attempt_dir"])
        (self.batch / "0.json").write_text(json.dumps(self.descriptor))

    def start(self):
        return subprocess.Popen([BIN, "exec", str(self.batch), "0"], env=ENV, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def run(self):
        done = subprocess.run([BIN, "exec", str(self.batch), "0"], env=ENV, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=DEADLINE_S)
        self.said = done.stdout.decode()
        self.status = done.returncode
        return self

    def records(self, kind=None):
        path = self.dir / "journal"
        found = []
        for line in path.read_bytes().split(b"\n")[:-1] if path.exists() else []:
            crc, text = line.split(b" ", 1)
            assert int(crc, 16) == zlib.crc32(text), line
            record = json.loads(text)
            if kind in (None, record["kind"]):
                found.append(record)
        return found

    def end(self):
        (end,) = self.records("end")
        assert self.records()[-1] == end
        return end

    def rows(self):
        return [(r["step"], r["values"]) for r in self.records("metric")]

    def stdout(self):
        return (self.dir / "stdout").read_text()


def stat_of(pid):
    """State and parent of a process, in one look: it may be gone at the next. (None, None) where there is none."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        return fields[0], int(fields[1])
    except OSError:
        return None, None


def is_alive(pid):
    return stat_of(pid)[0] not in (None, "Z", "X")


def children(pid):
    found = ((int(path.name), *stat_of(path.name)) for path in Path("/proc").glob("[0-9]*"))
    return [child for child, state, parent in found if parent == pid and state not in ("Z", "X")]
