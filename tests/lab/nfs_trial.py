"""The claim, the lease and the journal on a real NFS: `tests/lab/nfs run FOLDER python3 tests/lab/nfs_trial.py build/sluice`.

Two hosts, each with a name, processes and a mount of its own; the same folder is /mnt/state on both. What ran is counted by
marks that the scripts leave outside of NFS. Prints one line a trial and ends with 1 when one of them failed."""

import json
import os
import pathlib
import shlex
import subprocess
import sys
import time

PROGRAM = os.path.abspath(sys.argv[1])
STATE = pathlib.Path("/mnt/state")
MARKS = pathlib.Path("/run/marks")
RACES, TASKS, ROWS = 24, 4, 60
RESTART = shlex.split(os.environ["NFS_RESTART"])

SCRIPT = f"""#!/bin/bash
echo "$SLUICE_ATTEMPT" >> "{MARKS}/$SLUICE_TASK"
echo "epoch,loss" > metrics.csv
for row in $(seq 0 {ROWS - 1}); do
    sleep 0.5
    echo "$row,$SLUICE_TASK.$row" >> metrics.csv
done
"""


def wait_for(condition, what, deadline_s=240):
    until = time.monotonic() + deadline_s
    while time.monotonic() < until:
        value = condition()
        if value:
            return value
        time.sleep(0.2)
    raise AssertionError(f"waited {deadline_s} s in vain: {what}")


class Host:
    """Name spaces in which one of the two mounts is at STATE."""

    def __init__(self, name):
        self.name = name
        setup = f"mount --bind /mnt/{name} {STATE} && hostname host-{name} && mount -t proc proc /proc && echo up && exec sleep infinity"
        self.first = subprocess.Popen(["unshare", "--mount", "--uts", "--pid", "--fork", "--kill-child", "bash", "-c", setup],
                                      stdout=subprocess.PIPE)
        assert self.first.stdout.readline() == b"up\n"
        children = pathlib.Path(f"/proc/{self.first.pid}/task/{self.first.pid}/children")
        self.enter = ["nsenter", "-t", children.read_text().split()[0], "-m", "-u", "-p"]
        self.env = {**os.environ, "SLUICE_STATE": str(STATE / "sluice"), "HOME": "/tmp"}

    def start(self, *command, **more):
        return subprocess.Popen([*self.enter, *map(str, command)], env=self.env, **more)

    def run(self, *command):
        return subprocess.run([*self.enter, *map(str, command)], env=self.env, capture_output=True, text=True, timeout=300)

    def sluice(self, *words):
        done = self.run(PROGRAM, *words)
        assert done.returncode == 0, (self.name, words, done.stdout, done.stderr)
        return done.stdout

    def serve(self):
        """A daemon on this host: its process, once it answers."""
        daemon = self.start(PROGRAM, "serve", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(lambda: self.run(PROGRAM, "daemon", "status").returncode == 0, f"no daemon on {self.name}")
        return daemon

    def kill_daemon(self):
        """The daemon alone, with -9; its runners go on."""
        pid = json.loads((STATE_SEEN / self.name / "sluice/lease").read_text())["pid"]
        self.run("kill", "-9", pid)


STATE_SEEN = pathlib.Path("/mnt")


def restart_server(seconds=1):
    subprocess.run([*RESTART, str(seconds)], check=True)


def descriptor(number, host_dir):
    task = host_dir / "tasks" / str(number)
    return {
        "sluice": "0.1.0", "token": "0" * 32, "index": number, "experiment": "e1", "task": number + 1, "attempt": 1,
        "files_dir": str(host_dir / "files"), "task_dir": str(task), "attempt_dir": str(task),
        "argv": ["bash", "-c", f"hostname >> {MARKS}/race-{number}"], "setup": [], "env": {}, "params": {}, "results": None,
        "metrics": None, "fresh": True, "grace_ms": 1000, "gpus": None,
    }


def try_claim(a, b):
    """Two hosts run the same item at the same moment: one script. The server goes away in the middle of some races."""
    seen, folder = STATE_SEEN / "a/race", STATE / "race"
    batch = seen / "batches" / ("0" * 32)
    batch.mkdir(parents=True)
    (seen / "files").mkdir()
    for number in range(RACES):
        (batch / f"{number}.json").write_text(json.dumps(descriptor(number, folder)))
    for first in range(0, RACES, 6):
        both = [host.start(PROGRAM, "exec", folder / "batches" / batch.name, number)
                for number in range(first, first + 6) for host in (a, b)]
        if first % 12:
            restart_server(0)
        assert [runner.wait(timeout=240) for runner in both] == [0] * len(both)
    ran = {number: (MARKS / f"race-{number}").read_text().split() for number in range(RACES)}
    assert all(len(hosts) == 1 for hosts in ran.values()), ran
    won = [hosts[0] for hosts in ran.values()]
    return f"{RACES} races of two hosts, 12 with the server restarted: 1 script each ({won.count('host-a')} on a, {won.count('host-b')} on b)"


def try_lease(a, b):
    """The second daemon is refused, also after the server was restarted, and is let in when the first is dead."""
    daemon = a.serve()
    for restart in (False, True):
        if restart:
            restart_server()
            assert a.run(PROGRAM, "daemon", "status").returncode == 0
        refused = b.run(PROGRAM, "serve")
        assert refused.returncode and "another sluice daemon uses this state folder" in refused.stderr, refused
        assert "host-a" in refused.stderr, refused.stderr
    a.kill_daemon()
    daemon.wait(timeout=60)
    b.serve()
    return "the second host's daemon is refused, also after a restart of the server; it starts when the first is killed"


def try_journal(a, b):
    """The daemon of a reads what runners on b write, with the server away in between: every row, in one attempt."""
    script = pathlib.Path("/run/task.sh")
    script.write_text(SCRIPT)
    script.chmod(0o755)
    b.sluice("run", script, "n=" + ",".join(map(str, range(TASKS))), "--objective", "loss", "--backend", "local",
             "--parallel", TASKS, "--detach")
    wait_for(lambda: len(list(MARKS.glob("[0-9]*"))) == TASKS, "the tasks do not start")
    b.kill_daemon()
    a.serve()
    for seconds in (0, 3):
        restart_server(seconds)

    def shown():
        found = json.loads(a.sluice("show", "e1", "--json"))
        return found if found["state"] in ("finished", "error", "stopped") else None

    summary = wait_for(shown, "the experiment does not end")
    assert summary["tasks"]["finished"] == TASKS, summary
    for mark in MARKS.glob("[0-9]*"):
        assert mark.read_text() == "1\n", (mark.name, mark.read_text())
        table = a.sluice("show", f"e1/{mark.name}", "--json")
        answer = json.loads(table)
        assert answer["attempt"] == 1, answer
        rows = metrics(a, mark.name)
        assert rows == [float(f"{mark.name}.{row}") for row in range(ROWS)], (mark.name, rows)
    return f"{TASKS} runners on b, the daemon on a, 2 restarts of the server: 1 attempt each, all {TASKS * ROWS} rows"


def metrics(host, number):
    """The values of one task, as the REST interface gives them."""
    path = f"/api/v1/experiments/e1/tasks/{number}/metrics"
    answer = host.run("curl", "-s", "--unix-socket", STATE / "sluice/sluice.sock", f"http://localhost{path}")
    return json.loads(answer.stdout)["metrics"]["loss"]["value"]


def main():
    STATE.mkdir()
    MARKS.mkdir()
    a, b = Host("a"), Host("b")
    failed = False
    for trial in (try_claim, try_lease, try_journal):
        try:
            print(f"ok      {trial.__name__[4:]}: {trial(a, b)}", flush=True)
        except Exception as error:  # each trial is told
            failed = True
            print(f"FAILED  {trial.__name__[4:]}: {error}", flush=True)
    return failed


sys.exit(main())
