"""Everything goes wrong at once on a real Slurm: the daemon, runners, scripts, slurmd, slurmctld and slurmdbd are killed with -9,
processes are stopped and go on, jobs are cancelled by others, the disk is full, the folder of the experiments is away. The
checker (chaos_check.py) reads only what the scripts wrote beside the state folder, the list of what was done, and the
daemon's answers.

`make test` does each kind once with a seed that stays, but for the crash of slurmctld: what it forgets takes minutes to be
known, and test_slurm_kill.py crashes it too. `make soak` does 500 of all kinds. SLUICE_CHAOS_EVENTS and SLUICE_KILL_SEED say
how many and when; with SLUICE_CHAOS_KEEP, a folder, what there is to learn from a failure stays."""

import dataclasses
import json
import os
import pathlib
import random
import shutil
import subprocess
import time

import pytest

from chaos_check import Report, Side
from chaos_faults import FAULTS, Chaos
from conftest import SlurmDaemon, wait_for

SHORT = 13
EVENTS = int(os.environ.get("SLUICE_CHAOS_EVENTS", SHORT))
SEED = int(os.environ.get("SLUICE_KILL_SEED", "2718"))
KEEP = os.environ.get("SLUICE_CHAOS_KEEP")
TASKS = max(40, EVENTS)
ROWS = 5

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


@pytest.fixture
def small(lab, folder):
    """A daemon whose state folder is a small disk."""
    folder.chmod(0o755)
    state = folder / "small"
    state.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256m,mode=700", "none", state], capture_output=True).returncode:
        pytest.skip("no tmpfs can be mounted here")
    daemon = SlurmDaemon(state, lab)
    daemon.log = folder / "log"
    try:
        yield daemon.start()
    finally:
        daemon.stop()
        daemon.clear_queue()
        subprocess.run(["umount", "-l", state], check=False)


def go_wrong(chaos, chance, experiment):
    chaos.administrator.start()
    try:
        for kind in chaos.order():
            chaos.do(kind)
            time.sleep(chance.random() * chance.choices((0.3, 2, 6), (60, 30, 10))[0])
        chaos.end()
        wait_for(chaos.sluice.answers, "the daemon does not come back")
        chaos.sluice.wait_ended(experiment, deadline_s=1800)
    finally:
        chaos.administrator.leave()


def keep(chaos, tasks, report):
    folder = pathlib.Path(KEEP)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "faults").write_text("\n".join(json.dumps(dataclasses.asdict(fault)) for fault in chaos.faults))
    (folder / "tasks").write_text("\n".join(json.dumps(task) for task in tasks))
    (folder / "wrong").write_text("\n".join([report.line(), *report.wrong]))
    for path in (chaos.sluice.log, chaos.sluice.calls.log, *(chaos.lab.folder / "log").glob("*.log")):
        shutil.copy(path, folder)
    shutil.copytree(chaos.side, folder / "side", dirs_exist_ok=True)
    (folder / "sacct").write_text(chaos.lab.slurm("sacct", "-D", "-P", "-S", "now-2hours", "-o",
                                                  "JobID,JobIDRaw,JobName,State,ExitCode,Start,End,NodeList", check=False))


@pytest.mark.skipif(not EVENTS, reason="SLUICE_CHAOS_EVENTS=0")
@pytest.mark.skipif(os.geteuid() != 0, reason="a small disk needs root")
def test_chaos_loses_repeats_and_blames_nothing(small, lab, folder):
    print(f"seed {SEED}")
    chance = random.Random(SEED)
    side = folder / "side"
    side.mkdir()
    faults = {kind: weight for kind, weight in FAULTS.items() if EVENTS > SHORT or kind != "slurmctld"}
    chaos = Chaos(small, lab, side, chance, faults, EVENTS)
    spec = small.spec({"n": list(range(TASKS))}, objective={"metric": "loss", "goal": "min"}, environment={"vars": {"SIDE": str(side)}},
                      resources={"partition": "cpu,gpu_volta", "time": "30m"}, search={"parallel": 8},
                      retry={"lost": 50, "node_failure": 50, "error": 50, "unstarted": 50})
    experiment = small.submit(SCRIPT, spec, name="task.sh")
    wait_for(lambda: list(side.iterdir()), "no task runs", 300)
    go_wrong(chaos, chance, experiment)
    report = Report()
    tasks = [small.task(experiment, number) for number in range(1, TASKS + 1)]
    for task in tasks:
        task["metrics_read"] = small.metrics(experiment, task["number"])
        report.add(task, Side(side, task["number"]), chaos.faults, ROWS)
    print(f"{sum(chaos.done.values())} events: {dict(chaos.done)}, {chaos.administrator.restarted} nodes repaired")
    print(report.line())
    if KEEP:
        keep(chaos, tasks, report)
    wrong = chaos.wrong + report.wrong
    assert not wrong, f"seed {SEED}, {len(wrong)} wrong:\n" + "\n".join(wrong[:40])
    assert len(chaos.done) >= len(faults) - 2, chaos.done
