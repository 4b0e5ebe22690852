"""Does what may go wrong on a cluster, all at once, and keeps a list of it: which process, job or node it was, from when until
when. chaos_check.py reads that list."""

import collections
import contextlib
import dataclasses
import os
import pathlib
import shutil
import signal
import threading
import time

from chaos_check import Side
from slurm_faults import Administrator, runners

# How often each fault comes, of a hundred or so.
FAULTS = {"daemon": 28, "runner": 16, "script": 14, "slurmd": 5, "slurmctld": 3, "slurmdbd": 3, "stop daemon": 6, "stop runner": 6,
          "stop script": 5, "stop slurmctld": 2, "scancel": 7, "full disk": 2, "away": 3}

LONG = ("slurmd", "slurmctld", "slurmdbd", "stop daemon", "stop runner", "stop script", "stop slurmctld", "full disk", "away")


@dataclasses.dataclass
class Fault:
    """One thing that was done: to a process, to a job (12_3), to a node, or to all (none of them is named)."""
    kind: str
    pid: int = 0
    job: str = ""
    node: str = ""
    begin: float = dataclasses.field(default_factory=time.time)
    end: float = float("inf")


class Repairs(Administrator):
    """An administrator whose restarts of nodes are on the list of faults too."""

    def __init__(self, lab, faults):
        super().__init__(lab)
        self.faults = faults

    def repair(self, node):
        fault = Fault("repair", node=node)
        self.faults.append(fault)
        super().repair(node)
        fault.end = time.time()


def job_of(pid):
    """The job whose runner this is, as the runner itself calls it."""
    words = pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    return next((word[len(b"SLUICE_JOB="):].decode() for word in words if word.startswith(b"SLUICE_JOB=")), "")


class Chaos:
    def __init__(self, daemon, lab, side, chance, kinds, events):
        self.sluice, self.lab, self.side, self.chance = daemon, lab, side, chance
        self.kinds, self.events = kinds, events
        self.done = collections.Counter()
        self.faults = []
        self.administrator = Repairs(lab, self.faults)
        self.nodes = lab.slurm("sinfo", "-h", "-N", "-o", "%N").split()
        self.experiments = daemon.state / "experiments"
        self.busy, self.wrong = {}, []  # what takes a while goes on beside the rest

    def order(self):
        kinds, weights = zip(*self.kinds.items())
        order = list(kinds) + self.chance.choices(kinds, weights, k=max(0, self.events - len(kinds)))
        self.chance.shuffle(order)
        return order

    def do(self, kind):
        """The daemon is killed instead where there is no such process now."""
        if kind in LONG:
            self.begin(kind)
        elif getattr(self, kind.replace(" ", "_"))() is False:
            kind = "daemon"
            self.daemon()
        self.done[kind] += 1

    def begin(self, kind):
        """Beside everything else; not twice at the same time."""
        if kind in self.busy:
            self.busy[kind].join()
        self.busy[kind] = threading.Thread(target=self.guarded, args=(kind,), daemon=True)
        self.busy[kind].start()

    def guarded(self, kind):
        try:
            getattr(self, kind.replace(" ", "_"))()
        except Exception as reason:  # pylint: disable=broad-except
            self.wrong.append(f"{kind}: {type(reason).__name__}: {reason}")

    def end(self):
        for thread in self.busy.values():
            thread.join()
        if self.sluice.process.poll() is not None:
            self.sluice.launch()

    @contextlib.contextmanager
    def fault(self, kind, **what):
        """On the list before it happens."""
        fault = Fault(kind, **what)
        self.faults.append(fault)
        try:
            yield fault
        finally:
            fault.end = time.time()

    def running_script(self):
        """The pid of a script that has begun and not ended, or None."""
        found = []
        for path in self.side.iterdir():
            if path.suffix == ".lock":
                continue
            one = Side(self.side, path.name)
            found += [pid for attempt, runs in one.starts.items() if attempt not in one.ends for pid, _ in runs if self.is_script(pid)]
        return self.chance.choice(found) if found else None

    def is_script(self, pid):
        try:
            return str(self.side).encode() in pathlib.Path(f"/proc/{pid}/environ").read_bytes()
        except OSError:
            return False

    def running_runner(self):
        found = runners(self.sluice.state)
        return self.chance.choice(found) if found else None

    # The faults.

    def daemon(self):
        """It may have ended by itself where it was started on a full disk."""
        if self.sluice.process.poll() is None:
            self.sluice.kill()
        time.sleep(self.chance.choice((0, 0, 0.5, 3)))
        self.sluice.launch()

    def kill_of(self, kind, pid):
        if pid is None:
            return False
        try:
            with self.fault(kind, pid=pid, job=job_of(pid)):
                os.kill(pid, signal.SIGKILL)
        except OSError:  # it has ended meanwhile; a pid is not given out again so soon
            return False
        return True

    def runner(self):
        return self.kill_of("runner", self.running_runner())

    def script(self):
        return self.kill_of("script", self.running_script())

    def crash(self, kind, name, most_s, **what):
        with self.administrator.controller, self.fault(kind, **what):
            self.lab.run("stop", name, "KILL")
            time.sleep(self.chance.random() * most_s)
            self.lab.start(name)

    def slurmd(self):
        node = self.chance.choice(self.nodes)
        self.crash("slurmd", node, 4, node=node)

    def slurmctld(self):
        self.crash("slurmctld", "slurmctld", 2)

    def slurmdbd(self):
        self.crash("slurmdbd", "slurmdbd", 2)

    def pause(self, kind, pid, seconds):
        if not pid:
            return
        with self.fault(kind, pid=pid), contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGSTOP)
            time.sleep(seconds)
            os.kill(pid, signal.SIGCONT)

    def stop_daemon(self):
        self.pause("stop daemon", self.sluice.process.pid, self.chance.random() * 5)

    def stop_runner(self):
        self.pause("stop runner", self.running_runner(), self.chance.random() * 3)

    def stop_script(self):
        self.pause("stop script", self.running_script(), self.chance.random() * 3)

    def stop_slurmctld(self):
        with self.administrator.controller:
            self.pause("stop slurmctld", self.lab.daemon_pid("slurmctld"), 8)

    def scancel(self):
        rows = [row for row in self.sluice.queue("-o", "%i", "-t", "R") if "_" in row]
        if not rows:
            return False
        job = self.chance.choice(rows).strip()
        with self.fault("scancel", job=job):
            self.lab.slurm("scancel", job, check=False)
        return True

    def full_disk(self):
        until = time.monotonic() + 6
        path = self.sluice.state / "filler"
        with self.fault("full disk"):
            with open(path, "ab", buffering=0) as filler:
                while time.monotonic() < until:
                    try:
                        filler.write(b"x" * 65536)
                    except OSError:
                        time.sleep(0.05)
            path.unlink()

    def away(self):
        """A mount that is away for a moment: nothing below it is found. What is written there meanwhile is below the mount
        when it comes back."""
        elsewhere, below = self.experiments.with_name("experiments.away"), self.experiments.with_name("experiments.below")
        with self.fault("away"):
            self.experiments.rename(elsewhere)
            time.sleep(self.chance.random() * 4)
            if self.experiments.exists():
                shutil.rmtree(below, ignore_errors=True)
                self.experiments.rename(below)
            elsewhere.rename(self.experiments)
