"""Drives a backend by hand through `backend_harness`, which tests/unit/backend builds: for tests of the backend alone, and
for recording what Slurm's programs print."""

import json
import os
import pathlib
import secrets
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PLACES = [ROOT / "build/asan/tests/unit/backend/backend_harness", ROOT / "build-test/tests/unit/backend/backend_harness"]
HARNESS = os.environ.get("BACKEND_HARNESS") or next((str(p) for p in PLACES if p.exists()), None)

DEADLINE_S = 300  # when a wait gives up: far beyond what anything here takes
# Does what the file `do` of the batch folder says, for this index.
RUNNER = """#!/bin/bash
[ "$1" = --version ] && exit 0
cd "$2" && index=$3 && . ./do
"""
# For what a task does: it goes on when the test says so (Batch.go), not when some time has passed.
UNTIL_GO = "until [ -e go ]; do sleep 0.1; done"


class Harness:
    """A backend in a process of its own. Every command gives the list of what was answered."""

    def __init__(self, env, state, program, backend="slurm", *daemon, user=None):
        become = ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups", "--"] if user else []
        self.process = subprocess.Popen([*become, HARNESS, backend, str(state), str(program), *daemon], env=env, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd="/")
        self.opened = self.read("open")[-1]

    def read(self, until):
        answers = []
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise AssertionError(f"the harness ended with {self.process.wait()} before it answered '{until}'")
            answers.append(json.loads(line))
            if answers[-1]["event"] == until:
                return answers

    def ask(self, *words):
        self.process.stdin.write("\t".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        return self.read(words[0])

    def poll(self, *watch):
        """What was seen, by index (of one token), and the end of the answer."""
        answers = self.ask("poll", *watch)
        return {a["index"]: a for a in answers[:-1]}, answers[-1]

    def settle(self):
        """Waits until the cluster has been described once."""
        def described():
            self.process.stdin.write("wait\t100\n")  # its loop turns only while it waits for something
            return self.ask("describe")[-1]["describe"]["available"]
        wait_for(described, "a description of the cluster")

    def close(self):
        self.process.stdin.close()
        status = self.process.wait(timeout=DEADLINE_S)
        self.process.stdout.close()
        return status


def wait_for(condition, what, deadline_s=DEADLINE_S):
    until = time.monotonic() + deadline_s
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < until, f"waited {deadline_s} s in vain: {what() if callable(what) else what}"
        time.sleep(0.2)


class Batch:
    """A batch folder with what its tasks do."""

    def __init__(self, cluster, do, token=None):
        self.token = token or secrets.token_hex(16)
        self.folder = cluster.jobs / f"it's 100% {self.token[:6]}"
        self.folder.mkdir()
        (self.folder / "do").write_text(do)
        self.count = 0

    def submit(self, harness, count, parallel=0, expect="submitted", **resources):
        self.count = count
        pairs = [f"{k}={v}" for k, v in resources.items() if k != "options"]
        pairs += [f"option={v}" for v in resources.get("options", [])]
        answer = harness.ask("submit", self.token, self.folder, count, parallel, *pairs)[-1]
        assert answer["outcome"] == expect, answer
        return answer

    def go(self):
        """Tasks that wait with UNTIL_GO may go on."""
        (self.folder / "go").touch()

    def all(self, job=None):
        return f"{self.token}:{job}:0-{self.count - 1}" if job else f"{self.token}:0-{self.count - 1}"

    def wait(self, harness, state="ended", job=None, deadline_s=DEADLINE_S):
        """Polls until every task is in this state; returns what was seen."""
        seen = {}

        def reached():
            nonlocal seen
            seen, end = harness.poll(self.all(job))
            return end["rc"] == 0 and len(seen) == self.count and all(s["state"] == state for s in seen.values())
        wait_for(reached, lambda: f"all {state}: {seen}", deadline_s)
        return seen
