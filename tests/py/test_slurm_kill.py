"""Nothing lost, nothing twice, on a real Slurm: the daemon, runners and the controller are killed with -9 at random moments
while three hundred short tasks run. Every task must end well; its script must have run once for every attempt, and every
metric row of the last attempt must be there exactly once.

SLUICE_SLURM_KILLS and SLUICE_KILL_SEED change how often and when."""

import collections
import json
import os
import random
import re
import signal
import time

from conftest import wait_for
from slurm_faults import Administrator, runners

KILLS = int(os.environ.get("SLUICE_SLURM_KILLS", "200"))
TASKS = max(300, KILLS * 3 // 2)
ROWS = 4
# Of a hundred kills. A crash of the controller costs it and us seconds, the others nothing.
CONTROLLER, RUNNER = 3, 30

SCRIPT = f"""#!/bin/bash
echo "$SLUICE_ATTEMPT" >> "$MARKS/$SLUICE_TASK"
echo "epoch,loss" > metrics.csv
for row in $(seq 0 {ROWS - 1}); do
    sleep 0.4
    echo "$row,$SLUICE_TASK.$row" >> metrics.csv
done
"""


class Killer:
    def __init__(self, daemon, administrator, chance):
        self.daemon, self.administrator, self.chance = daemon, administrator, chance
        self.kills = collections.Counter()

    def victims(self):
        """Whom to kill, one after the other."""
        controllers, runners = max(1, KILLS * CONTROLLER // 100), max(1, KILLS * RUNNER // 100)
        order = ["controller"] * controllers + ["runner"] * runners
        order += ["daemon"] * (KILLS - len(order))
        self.chance.shuffle(order)
        return order

    def kill(self, victim):
        """What came of it shows at the end."""
        if victim == "runner" and not self.kill_runner():
            victim = "daemon"
        if victim == "controller":
            self.kill_controller()
        if victim == "daemon":
            assert self.daemon.process.poll() is None, f"the daemon ended by itself: {self.daemon.log_tail()}"
            self.daemon.kill()
            self.daemon.launch()
        self.kills[victim] += 1

    def kill_controller(self):
        lab = self.administrator.lab
        with self.administrator.controller:
            lab.run("stop", "slurmctld", "KILL")
            time.sleep(self.chance.random())
            lab.start("slurmctld")

    def kill_runner(self):
        """False when there is none for a second."""
        until = time.monotonic() + 1
        while time.monotonic() < until:
            pids = runners(self.daemon.state)
            try:
                if pids:
                    os.kill(self.chance.choice(pids), signal.SIGKILL)
                    return True
            except ProcessLookupError:
                pass
            time.sleep(0.02)
        return False


def duplicates(lab, begin):
    """Elements of arrays that were submitted, started and found the claim taken: (token, index) with more than one job."""
    rows = lab.slurm("sacct", "-n", "-X", "-P", "-D", "-u", str(os.getuid()), "-S", begin, "-o", "JobID,Start,JobName").splitlines()
    jobs = collections.defaultdict(set)
    for row in rows:
        job, start, name = (row.split("|", 2) + ["", ""])[:3]  # somebody's name may hold anything
        array, _, index = job.partition("_")
        if re.fullmatch(r"e\d+-sluice-[0-9a-f]{32}", name) and index.isdigit() and start not in ("None", "Unknown"):
            jobs[name, index].add(array)
    return sum(len(arrays) - 1 for arrays in jobs.values())


def kill_while_it_works(slurm, experiment, killer, marks, seed):
    # A daemon that is killed every other second does not get to submit anything: the first array is on its way.
    wait_for(lambda: list(marks.iterdir()), "no task runs", 300)
    working = 0  # of all kills, those that came while tasks were left
    for victim in killer.victims():
        killer.kill(victim)
        working += len(list(marks.iterdir())) < TASKS
        # From in the middle of starting up to well into the work: some times long enough to get on, rarely to submit.
        time.sleep(killer.chance.random() * killer.chance.choices((0.15, 2.5, 8), (80, 17, 3))[0])
    wait_for(slurm.answers, "the daemon does not come back")
    print(f"{sum(killer.kills.values())} kills (seed {seed}): {dict(killer.kills)}, {working} of them while tasks were left")
    assert working >= KILLS // 4, "the work was over too soon for the kills to mean anything"
    slurm.wait_ended(experiment, deadline_s=1800)


def test_random_kills_lose_and_repeat_nothing(slurm, lab, folder):
    seed = int(os.environ.get("SLUICE_KILL_SEED", random.randrange(10**6)))
    chance = random.Random(seed)
    marks = folder / "marks"
    marks.mkdir()
    begin = time.strftime("%Y-%m-%dT%H:%M:%S")
    # On all nodes: one that is drained after a crash does not keep everything waiting. So few at once that the work lasts as
    # long as the kills. A controller that is killed when it should hear of a job's end may believe that it runs until its time
    # limit (once in 2,000 kills, on a busy machine up to four times in 200): a short one, after which the task is run again.
    spec = slurm.spec({"n": list(range(TASKS))}, objective={"metric": "loss", "goal": "min"},
                      environment={"vars": {"MARKS": str(marks)}}, resources={"partition": "cpu,gpu_volta", "time": "1m"},
                      search={"parallel": 10}, retry={"lost": 50, "node_failure": 50, "time": 5})
    experiment = slurm.submit(SCRIPT, spec, name="task.sh")
    administrator = Administrator(lab)
    killer = Killer(slurm, administrator, chance)
    administrator.start()
    try:
        kill_while_it_works(slurm, experiment, killer, marks, seed)
    finally:
        administrator.leave()
    print(f"{administrator.restarted} times a node had to be restarted")

    others = [slurm.task(experiment, task["number"]) for task in slurm.tasks(experiment) if task["state"] != "finished"]
    assert not others, f"{len(others)} of {TASKS} tasks did not finish (seed {seed}): {json.dumps(others[:5], indent=1)}"
    attempts, causes = 0, collections.Counter()
    for task in slurm.tasks(experiment):
        number = task["number"]
        attempts += task["attempt"]
        if task["attempt"] > 1:
            causes.update(each["cause"]["kind"] for each in slurm.task(experiment, number)["attempts"] if each["cause"])
        runs = [int(line) for line in (marks / str(number)).read_text().split()]
        # An attempt whose runner was killed before its script began has no run; none has two, and the last one ran.
        assert len(set(runs)) == len(runs) and runs[-1] == task["attempt"], f"task {number} (seed {seed}): {runs}"
        curve = slurm.metrics(experiment, number)["loss"]
        assert curve["step"] == list(range(ROWS)), f"task {number} (seed {seed}): {curve}"
        assert curve["value"] == [float(f"{number}.{row}") for row in range(ROWS)]
    print(f"{TASKS} tasks, {attempts} attempts ({dict(causes)}), {duplicates(lab, begin)} duplicate submissions caught by the claim, "
          f"{slurm.calls.count()['sbatch']} calls of sbatch")
    assert len(killer.kills) == 3, "daemon, runners and controller: not all of them were killed"
