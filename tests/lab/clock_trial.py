"""The clock is set by hours while tasks run: `tests/lab/nfs boot FOLDER python3 tests/lab/clock_trial.py build/sluice`. The
kernel that is booted has a clock of its own, so nothing else notices. Prints one line a trial; ends with 1 when one failed."""

import json
import os
import pathlib
import subprocess
import sys
import time

PROGRAM = os.path.abspath(sys.argv[1])
ROOT = pathlib.Path("/run/trial")
HOUR, DAY = 3600, 86400


def set_clock(by_s):
    time.clock_settime(time.CLOCK_REALTIME, time.time() + by_s)


def wait_for(condition, what, deadline_s=200):
    until = time.monotonic() + deadline_s
    while time.monotonic() < until:
        value = condition()
        if value:
            return value
        time.sleep(0.1)
    raise AssertionError(f"waited {deadline_s} s in vain: {what}")


class Daemon:
    """A state folder of its own; a verb starts the daemon."""

    def __init__(self, name):
        self.folder = ROOT / name
        self.folder.mkdir()
        self.env = {**os.environ, "SLUICE_STATE": str(self.folder / "state"), "HOME": str(self.folder), "GO": str(self.folder / "go")}

    def sluice(self, *words, check=True):
        done = subprocess.run([PROGRAM, *map(str, words)], env=self.env, cwd=self.folder, capture_output=True, text=True, timeout=200,
                              check=False)
        assert not check or done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    def submit(self, script, *words):
        (self.folder / "task.sh").write_text("#!/bin/bash\n" + script)
        (self.folder / "task.yaml").write_text("script: task.sh\n" + "".join(f"{word}\n" for word in words))
        self.sluice("run", "task.yaml", "--detach", "--backend", "local")

    def experiment(self):
        return json.loads(self.sluice("show", "e1", "--json"))

    def task(self, number=1):
        return json.loads(self.sluice("show", f"e1/{number}", "--json"))

    def began(self, number=1):
        wait_for(lambda: self.task(number)["state"] == "running", "it does not begin")

    def end(self):
        """Lets the scripts end."""
        (self.folder / "go").touch()
        wait_for(lambda: self.experiment()["state"] in ("finished", "error", "stopped"), "it does not end")


WAITS = 'while [ ! -e "$GO" ]; do sleep 0.1; done\n'


def try_forward():
    """An hour of wall time is not used up by a clock that is set two hours ahead."""
    daemon = Daemon("forward")
    daemon.submit(WAITS, "environment: {keep: [GO]}", "parameters: {n: [1, 2]}", "stop: {wall: 1h}")
    begin = time.monotonic()
    daemon.began()
    set_clock(2 * HOUR)
    time.sleep(3)  # several turns
    daemon.end()
    took = time.monotonic() - begin
    told = daemon.experiment()
    assert told["tasks"]["finished"] == 2, told["tasks"]
    assert daemon.task()["elapsed_s"] <= took + 1, (daemon.task()["elapsed_s"], took)
    return "2 h ahead with `stop: {wall: 1h}`: both tasks finish, and took seconds"


def try_back():
    """A retry that waits for a second does not wait for an hour."""
    daemon = Daemon("back")
    daemon.submit('[ "$SLUICE_ATTEMPT" = 2 ] || exit 1\n', "retry: {error: 1}")
    set_clock(-HOUR)
    wait_for(lambda: daemon.experiment()["state"] == "finished", "the retry does not come")
    assert daemon.task()["attempt"] == 2
    return "1 h back while a retry waits: it comes at once"


def try_day():
    """What runs while the clock goes back by a day ended after it began, and took as long as it took."""
    daemon = Daemon("day")
    daemon.submit(WAITS, "environment: {keep: [GO]}")
    begin = time.monotonic()
    daemon.began()
    set_clock(-DAY)
    time.sleep(3)
    daemon.end()
    took = time.monotonic() - begin
    (attempt,) = daemon.task()["attempts"]
    assert attempt["finished"] >= attempt["started"], attempt
    assert 2.5 < daemon.task()["elapsed_s"] <= took + 1, (daemon.task()["elapsed_s"], took)
    return "1 day back while it runs: it ended after it began, with the right time"


def try_killed():
    """The clock jumps while the daemon is dead: the next one goes on as before."""
    daemon = Daemon("killed")
    daemon.submit(WAITS, "environment: {keep: [GO]}", "stop: {wall: 1h}")
    begin = time.monotonic()
    daemon.began()
    os.kill(json.loads((daemon.folder / "state/lease").read_text())["pid"], 9)
    set_clock(3 * HOUR)
    assert daemon.experiment()["state"] == "running"
    daemon.end()
    took = time.monotonic() - begin
    assert daemon.experiment()["state"] == "finished", daemon.experiment()
    assert daemon.task()["elapsed_s"] <= took + 1, (daemon.task()["elapsed_s"], took)
    return "3 h ahead while the daemon is dead: nothing is stopped, and the time is right"


def main():
    ROOT.mkdir()
    failed = False
    for trial in (try_forward, try_back, try_day, try_killed):
        try:
            print(f"ok      {trial.__name__[4:]}: {trial()}", flush=True)
        except Exception as error:  # each trial is told
            failed = True
            print(f"FAILED  {trial.__name__[4:]}: {error!r}", flush=True)
    return failed


sys.exit(main())
