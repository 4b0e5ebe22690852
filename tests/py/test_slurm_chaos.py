"""Everything goes wrong at once on a real Slurm: the daemon, runners, scripts, slurmd, slurmctld and slurmdbd are killed with -9,
processes are stopped and go on, jobs are cancelled by others, the disk is full, the folder of the experiments is away. The
checker reads only what the scripts wrote beside the state folder, the list of what was done, and the daemon's answers.

Runs where SLUICE_CHAOS_EVENTS says how often; `make soak` does 500. SLUICE_KILL_SEED chooses when. It is not part of `make test`:
one of the two complete runs so far found tasks that are called "cancelled by you" although the test had not cancelled their
jobs. The reason is not known. `lost` and `node` are checked weakly: any crash of Slurm's own daemons excuses them."""

import collections
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import threading
import time

import pytest

from conftest import SlurmDaemon, wait_for
from slurm_faults import Administrator, runners

EVENTS = int(os.environ.get("SLUICE_CHAOS_EVENTS", "0"))
TASKS = max(80, EVENTS)
ROWS = 5
# How often each fault comes, of a hundred or so.
FAULTS = {"daemon": 28, "runner": 16, "script": 14, "slurmd": 5, "slurmctld": 3, "slurmdbd": 3, "stop daemon": 6, "stop runner": 6,
          "stop script": 5, "stop slurmctld": 2, "scancel": 7, "full disk": 2, "away": 3}

LONG = ("slurmd", "slurmctld", "slurmdbd", "stop daemon", "stop runner", "stop script", "stop slurmctld", "full disk", "away")

# A line in a file of the task beside the state folder for everything that happens. Two scripts of one task at the same time
# would meet at the lock. What cannot be written for lack of room is written later.
SCRIPT = f"""#!/bin/bash
side="$SIDE/$SLUICE_TASK"
exec 8>"$side.lock"
flock -n 8 || echo "overlap $SLUICE_ATTEMPT" >> "$side"
echo "start $SLUICE_ATTEMPT $$ $PPID $(date +%s.%N)" >> "$side"
until echo "epoch,loss" > metrics.csv; do sleep 0.2; done
for row in $(seq 0 {ROWS - 1}); do
    sleep 0.5
    until echo "$row,$SLUICE_TASK.$SLUICE_ATTEMPT$row" >> metrics.csv; do sleep 0.2; done
done
echo "end $SLUICE_ATTEMPT" >> "$side"
"""


class Side:
    """What the scripts of one task wrote."""

    def __init__(self, folder, number):
        path = folder / str(number)
        self.starts, self.ends, self.overlaps = {}, [], []
        for line in path.read_text().splitlines() if path.exists() else ():
            word, attempt, *rest = line.split()
            if word == "start":
                self.starts.setdefault(int(attempt), []).append((int(rest[0]), int(rest[1])))
            else:
                (self.ends if word == "end" else self.overlaps).append(int(attempt))


class Chaos:
    """Does what may go wrong, and keeps a list of it."""

    def __init__(self, daemon, lab, administrator, side, chance):
        self.sluice, self.lab, self.administrator, self.side, self.chance = daemon, lab, administrator, side, chance
        self.done = collections.Counter()
        self.scripts, self.runners, self.jobs = set(), set(), set()  # pids that were killed, jobs that were cancelled
        self.nodes = lab.slurm("sinfo", "-h", "-N", "-o", "%N").split()
        self.experiments = daemon.state / "experiments"
        self.busy, self.wrong = {}, []  # what takes a while goes on beside the rest

    def order(self):
        kinds, weights = zip(*FAULTS.items())
        order = list(kinds) + self.chance.choices(kinds, weights, k=max(0, EVENTS - len(kinds)))
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

    def pause(self, pid, seconds):
        try:
            os.kill(pid, signal.SIGSTOP)
            time.sleep(seconds)
            os.kill(pid, signal.SIGCONT)
        except ProcessLookupError:
            return False
        return True

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

    def kill_of(self, pid, killed):
        if pid is None:
            return False
        killed.add(pid)
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            killed.discard(pid)
            return False
        return True

    def runner(self):
        return self.kill_of(self.running_runner(), self.runners)

    def script(self):
        return self.kill_of(self.running_script(), self.scripts)

    def crash(self, name, most_s):
        with self.administrator.controller:
            self.lab.run("stop", name, "KILL")
            time.sleep(self.chance.random() * most_s)
            self.lab.start(name)

    def slurmd(self):
        self.crash(self.chance.choice(self.nodes), 4)

    def slurmctld(self):
        self.crash("slurmctld", 2)

    def slurmdbd(self):
        self.crash("slurmdbd", 2)

    def stop_daemon(self):
        return self.pause(self.sluice.process.pid, self.chance.random() * 5)

    def stop_runner(self):
        pid = self.running_runner()
        return self.pause(pid, self.chance.random() * 3) if pid else False

    def stop_script(self):
        pid = self.running_script()
        return self.pause(pid, self.chance.random() * 3) if pid else False

    def stop_slurmctld(self):
        with self.administrator.controller:
            return self.pause(self.lab.daemon_pid("slurmctld"), 8)

    def scancel(self):
        rows = [row for row in self.sluice.queue("-o", "%i", "-t", "R") if "_" in row]
        if not rows:
            return False
        job = self.chance.choice(rows).strip()
        self.jobs.add(job)
        self.lab.slurm("scancel", job, check=False)
        return True

    def full_disk(self):
        until = time.monotonic() + 6
        path = self.sluice.state / "filler"
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
        self.experiments.rename(elsewhere)
        time.sleep(self.chance.random() * 4)
        if self.experiments.exists():
            shutil.rmtree(below, ignore_errors=True)
            self.experiments.rename(below)
        elsewhere.rename(self.experiments)


def false_cause(attempt, runs, chaos):
    """Why this cause cannot be, or None. Crashes of the cluster's own daemons may end anything as lost."""
    kind, pids = attempt["cause"]["kind"], {pid for pid, _ in runs}
    parents = {parent for _, parent in runs}
    crashes = chaos.done["slurmd"] + chaos.done["slurmctld"] + chaos.done["stop slurmctld"]
    if kind == "unstarted":
        return "its script began" if runs else None
    if kind == "signal":
        return None if pids & chaos.scripts else "its script was not killed"
    if kind == "cancelled":
        return None if attempt["job"] in chaos.jobs else f"its job {attempt['job']} was not cancelled; {sorted(chaos.jobs)} were"
    if kind in ("lost", "node"):
        return None if parents & chaos.runners or not runs or crashes else "its runner was not killed"
    return "nothing of the kind was done"


def check_task(task, side, chaos, daemon, experiment):
    """What is wrong with a task, in words."""
    number, last = task["number"], task["attempt"]
    detail = daemon.task(experiment, number)
    yield from (f"attempt {n} ran beside another" for n in side.overlaps)
    yield from (f"attempt {n} began {len(runs)} times" for n, runs in side.starts.items() if len(runs) > 1)
    ended = [n for n in side.ends if not {pid for pid, _ in side.starts[n]} & chaos.scripts]
    # A runner that is killed after the script's last word makes it run again, and nothing else does.
    again = [n for n in ended[:-1] if not {parent for _, parent in side.starts[n]} & chaos.runners]
    if again and not (chaos.done["slurmd"] or chaos.done["slurmctld"]):
        yield f"attempts {again} ended well, and it ran again"
    for attempt in detail["attempts"]:
        why = attempt["cause"] and false_cause(attempt, side.starts.get(attempt["number"], []), chaos)
        if why:
            yield f"attempt {attempt['number']} is called {attempt['cause']['kind']} ({attempt['cause']['text']}), but {why}"
    if task["state"] == "finished":
        if last not in side.ends:
            yield "finished without its script's end"
        curve = daemon.metrics(experiment, number).get("loss", {"step": [], "value": []})
        if curve["step"] != list(range(ROWS)) or curve["value"] != [float(f"{number}.{last}{row}") for row in range(ROWS)]:
            yield f"wrong rows: {curve}"
    elif task["state"] != "error" or task["cause"]["kind"] != "cancelled":
        yield f"ended as {task['state']}: {json.dumps(task['cause'])}"


@pytest.mark.skipif(not EVENTS, reason="part of make soak; SLUICE_CHAOS_EVENTS=60 runs it")
@pytest.mark.skipif(os.geteuid() != 0, reason="a small disk needs root")
def test_chaos_loses_repeats_and_blames_nothing(lab, folder):
    seed = int(os.environ.get("SLUICE_KILL_SEED", random.randrange(10**6)))
    print(f"seed {seed}")
    chance = random.Random(seed)
    folder.chmod(0o755)
    side, state = folder / "side", folder / "small"
    side.mkdir()
    state.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256m,mode=700", "none", state], capture_output=True).returncode:
        pytest.skip("no tmpfs can be mounted here")
    daemon = SlurmDaemon(state, lab)
    daemon.log = folder / "log"
    administrator = Administrator(lab)
    try:
        daemon.start()
        chaos = Chaos(daemon, lab, administrator, side, chance)
        spec = daemon.spec({"n": list(range(TASKS))}, objective={"metric": "loss", "goal": "min"}, environment={"vars": {"SIDE": str(side)}},
                           resources={"partition": "cpu,gpu_volta", "time": "30m"}, search={"parallel": 8},
                           retry={"lost": 50, "node_failure": 50, "error": 50, "unstarted": 50})
        experiment = daemon.submit(SCRIPT, spec, name="task.sh")
        wait_for(lambda: list(side.iterdir()), "no task runs", 300)
        administrator.start()
        try:
            for kind in chaos.order():
                chaos.do(kind)
                time.sleep(chance.random() * chance.choices((0.3, 2, 6), (60, 30, 10))[0])
            chaos.end()
            wait_for(daemon.answers, "the daemon does not come back")
            daemon.wait_ended(experiment, deadline_s=1800)
        finally:
            administrator.leave()
        print(f"{sum(chaos.done.values())} events: {dict(chaos.done)}")
        wrong, attempts, causes = chaos.wrong, 0, collections.Counter()
        for task in daemon.tasks(experiment):
            found = Side(side, task["number"])
            attempts += task["attempt"]
            causes.update(a["cause"]["kind"] for a in daemon.task(experiment, task["number"])["attempts"] if a["cause"])
            wrong += [f"task {task['number']}: {what}" for what in check_task(task, found, chaos, daemon, experiment)]
        print(f"{TASKS} tasks, {attempts} attempts, causes {dict(causes)}")
        assert not wrong, f"seed {seed}, {len(wrong)} wrong:\n" + "\n".join(wrong[:40])
        assert len(chaos.done) >= len(FAULTS) - 2, chaos.done
    finally:
        daemon.stop()
        daemon.clear_queue()
        subprocess.run(["umount", "-l", state], check=False)
