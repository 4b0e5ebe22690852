"""Nothing lost, nothing twice, on a real Slurm: the daemon, runners and the controller are killed with -9 at random moments
while three hundred short tasks run. Every task must end well; its script must have run once for every attempt, and every
metric row of the last attempt must be there exactly once.

SLUICE_SLURM_KILLS and SLUICE_KILL_SEED change how often and when."""

import collections
import json
import os
import random
import signal
import threading
import time

from conftest import wait_for

KILLS = int(os.environ.get("SLUICE_SLURM_KILLS", "200"))
TASKS = max(300, KILLS * 3 // 2)
ROWS = 4
# Of a hundred kills. A crash of the controller costs it and us seconds, the others nothing.
CONTROLLER, RUNNER = 3, 30
NODES = ("volta1", "volta2", "cpu1")

SCRIPT = f"""#!/bin/bash
echo "$SLUICE_ATTEMPT" >> "$MARKS/$SLUICE_TASK"
echo "epoch,loss" > metrics.csv
for row in $(seq 0 {ROWS - 1}); do
    sleep 0.4
    echo "$row,$SLUICE_TASK.$row" >> metrics.csv
done
"""


def runners(state):
    """Pids of runners of this state folder. A child that has not become its script yet looks like its runner."""
    found = {}
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as command:
                words = command.read().split(b"\0")
            with open(f"/proc/{name}/stat") as stat:
                parent = int(stat.read().rsplit(")", 1)[1].split()[1])
        except (OSError, ValueError):
            continue
        if name.isdigit() and len(words) > 3 and words[1] == b"exec" and words[2].startswith(str(state).encode()):
            found[int(name)] = parent
    return [pid for pid, parent in found.items() if parent not in found]


class Administrator(threading.Thread):
    """A controller that crashed gives out job ids again. Nodes that remember those ids refuse the jobs ("Duplicate jobid") and
    are drained, and jobs are held: someone at the site restarts the nodes' daemons and lets everything go on."""

    def __init__(self, lab):
        super().__init__(daemon=True)
        self.lab, self.over, self.restarted = lab, threading.Event(), 0

    def run(self):
        while not self.over.wait(2):
            for node in self.lab.slurm("sinfo", "-h", "-N", "-t", "drain,down", "-o", "%N", check=False).split():
                if node not in NODES:
                    continue  # a message of an unreachable controller
                self.lab.run("stop", node)
                self.lab.slurm("scontrol", "update", f"NodeName={node}", "State=RESUME", check=False)
                self.lab.run("start", node)
                self.restarted += 1
            for row in self.lab.slurm("squeue", "-h", "-t", "PD", "-o", "%A %r", check=False).splitlines():
                job, _, reason = row.partition(" ")
                if "held" in reason.lower():
                    self.lab.slurm("scontrol", "release", job, check=False)


class Killer:
    def __init__(self, daemon, lab, chance):
        self.daemon, self.lab, self.chance = daemon, lab, chance
        self.kills = collections.Counter()

    def kill(self):
        """Kills someone. What came of it shows at the end."""
        dice = self.chance.random() * 100
        if dice < CONTROLLER:
            self.lab.run("stop", "slurmctld", "KILL")
            time.sleep(self.chance.random())
            self.lab.run("start", "slurmctld")
            self.kills["controller"] += 1
            return
        if dice < CONTROLLER + RUNNER:
            pids = runners(self.daemon.state)
            if pids:
                try:
                    os.kill(self.chance.choice(pids), signal.SIGKILL)
                    self.kills["runner"] += 1
                    return
                except ProcessLookupError:
                    pass
        self.daemon.kill()
        self.daemon.launch()
        self.kills["daemon"] += 1


def duplicates(lab, begin):
    """Elements of arrays that were submitted, started and found the claim taken: (token, index) with more than one job."""
    rows = lab.slurm("sacct", "-n", "-X", "-P", "-D", "-u", str(os.getuid()), "-S", begin, "-o", "JobID,JobName,State,Start").splitlines()
    jobs = collections.defaultdict(set)
    for row in rows:
        job, name, _, start = row.split("|")
        array, _, index = job.partition("_")
        if len(name) == 32 and index.isdigit() and start not in ("None", "Unknown"):
            jobs[name, index].add(array)
    return sum(len(arrays) - 1 for arrays in jobs.values())


def test_random_kills_lose_and_repeat_nothing(slurm, lab, folder):
    seed = int(os.environ.get("SLUICE_KILL_SEED", random.randrange(10**6)))
    chance = random.Random(seed)
    marks = folder / "marks"
    marks.mkdir()
    begin = time.strftime("%Y-%m-%dT%H:%M:%S")
    # On all nodes: one that is drained after a crash does not keep everything waiting. So few at once that the work lasts as
    # long as the kills. A controller that is killed when it should hear of a job's end may believe that it runs until its time
    # limit (seen once in 2,000 kills): a short one, after which the task is run again.
    spec = slurm.spec({"n": list(range(TASKS))}, objective={"metric": "loss", "goal": "min"},
                      environment={"vars": {"MARKS": str(marks)}}, resources={"partition": "cpu,gpu_volta", "time": "1m"},
                      search={"parallel": 10}, retry={"lost": 50, "node_failure": 50, "time": 5})
    experiment = slurm.submit(SCRIPT, spec, name="task.sh")
    killer = Killer(slurm, lab, chance)
    administrator = Administrator(lab)
    administrator.start()
    # A daemon that is killed every other second does not get to submit anything: the first array is on its way.
    wait_for(lambda: list(marks.iterdir()), "no task runs", 120)
    working = 0  # of all kills, those that came while tasks were left
    while sum(killer.kills.values()) < KILLS:
        killer.kill()
        working += len(list(marks.iterdir())) < TASKS
        # From in the middle of starting up to well into the work: some times long enough to get on, rarely to submit.
        time.sleep(chance.random() * chance.choices((0.15, 2.5, 8), (80, 17, 3))[0])
    wait_for(slurm.answers, "the daemon does not come back")
    print(f"{sum(killer.kills.values())} kills (seed {seed}): {dict(killer.kills)}, {working} of them while tasks were left")
    summary = slurm.wait_ended(experiment, deadline_s=900)
    administrator.over.set()
    administrator.join()
    print(f"{administrator.restarted} times a node had to be restarted")

    others = [slurm.task(experiment, task["number"]) for task in slurm.tasks(experiment) if task["state"] != "finished"]
    assert not others, f"{len(others)} of {TASKS} tasks did not finish (seed {seed}): {json.dumps(others[:5], indent=1)}"
    attempts = 0
    for task in slurm.tasks(experiment):
        number = task["number"]
        attempts += task["attempt"]
        runs = [int(line) for line in (marks / str(number)).read_text().split()]
        # An attempt whose runner was killed before its script began has no run; none has two, and the last one ran.
        assert len(set(runs)) == len(runs) and runs[-1] == task["attempt"], f"task {number} (seed {seed}): {runs}"
        curve = slurm.metrics(experiment, number)["loss"]
        assert curve["step"] == list(range(ROWS)), f"task {number} (seed {seed}): {curve}"
        assert curve["value"] == [float(f"{number}.{row}") for row in range(ROWS)]
    print(f"{TASKS} tasks, {attempts} attempts, {duplicates(lab, begin)} duplicate submissions caught by the claim, "
          f"{slurm.calls.count()['sbatch']} calls of sbatch")
    assert working >= KILLS // 4, "the work was over too soon for the kills to mean anything"
    assert len(killer.kills) == 3, "daemon, runners and controller: not all of them were killed"
