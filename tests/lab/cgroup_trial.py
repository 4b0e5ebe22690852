"""Who ended a script, in control groups of version 2 as Slurm makes them: `tests/lab/nfs boot FOLDER python3
tests/lab/cgroup_trial.py build/sluice`. The kernel that is booted has nothing else mounted, so the memory controller is free
for version 2, which it mostly is not on a machine that uses version 1. Prints one line a trial; ends with 1 when one failed."""

import json
import os
import pathlib
import subprocess
import sys
import time

PROGRAM = os.path.abspath(sys.argv[1])
GROUPS = pathlib.Path("/sys/fs/cgroup")
ROOT = pathlib.Path("/run/trial")
EATS = f"{sys.executable} {ROOT}/eat.py"


def group(job, limit_mb):
    """The group of a batch script of Slurm, with its limit on the job, as with ConstrainRAMSpace."""
    folder = GROUPS
    for name in ("system.slice", "slurmstepd.scope", f"job_{job}", "step_batch", "user", "task_0"):
        (folder / "cgroup.subtree_control").write_text("+memory")
        folder = folder / name
        folder.mkdir(exist_ok=True)
    (GROUPS / f"system.slice/slurmstepd.scope/job_{job}/memory.max").write_text(f"{limit_mb}M")
    return folder


def unit():
    """The group of the daemon in a unit of systemd that delegates: the unit's own group has no process."""
    service = GROUPS / "system.slice/sluice.service"
    for folder in (GROUPS, GROUPS / "system.slice", service):
        folder.mkdir(exist_ok=True)
        (folder / "cgroup.subtree_control").write_text("+memory")
    (service / "daemon").mkdir(exist_ok=True)
    return service / "daemon"


def run(job, script, limit_mb=120, number=1, folder=None):
    """The END record of a task whose runner is in the group of a job, or in `folder` with a slot of its own."""
    task, slot = ROOT / str(job), folder is not None
    folder = folder or group(job, limit_mb)
    batch = task / "batches" / ("0" * 32)
    batch.mkdir(parents=True)
    (task / "files").mkdir()
    (batch / "0.json").write_text(json.dumps({
        "sluice": "0.1.0", "token": "0" * 32, "index": 0, "experiment": "e1", "task": number, "attempt": 1,
        "files_dir": str(task / "files"), "task_dir": str(task / "task"), "attempt_dir": str(task / "task"),
        "argv": ["bash", "-c", script], "setup": [], "env": {}, "params": {}, "results": None, "metrics": None, "fresh": True,
        "grace_ms": 1000, "gpus": None}))
    if slot:
        (batch / "0.slot").write_text(json.dumps({"cpus": 1, "memory_bytes": limit_mb << 20}))
    done = subprocess.run(["bash", "-c", f'echo $$ > {folder}/cgroup.procs; exec "$0" exec "$1" 0', PROGRAM, str(batch)], timeout=120,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    records = [json.loads(line.split(" ", 1)[1]) for line in (task / "task/journal").read_text().splitlines()]
    assert records and records[-1]["kind"] == "end", (done.stdout, records)
    return {**records[-1], "notes": [r["text"] for r in records if r["kind"] == "note"]}


def try_own():
    end = run(1, f"exec {EATS}")
    assert (end["cause"], end["signal"]) == ("memory", 9), end
    return "the kernel ends a script for memory: memory"


def try_child():
    end = run(2, f"{EATS}; exit $?")
    assert (end["cause"], end["exit_code"]) == ("memory", 137), end
    return "the kernel ends what a script started, which says 137: memory"


def try_other():
    eat = group(4, 60) / "cgroup.procs"
    script = f"bash -c 'echo $$ > {eat}; exec {EATS}'; kill -9 $$"
    end = run(3, script)
    counted = (GROUPS / "system.slice/slurmstepd.scope/job_4/memory.events").read_text()
    assert "oom_kill 1" in counted, counted
    assert (end["cause"], end["signal"]) == ("signal", 9), end
    return "another job runs out of memory beside a kill -9: signal"


def try_enough():
    end = run(5, f"{EATS}", limit_mb=500)
    assert end["cause"] == "ok", end
    return "a script that has enough ends well"


def try_limit():
    end = run(6, f"exec {EATS}", folder=unit())
    assert "memory is limited by the kernel, in a control group of the task's own" in end["notes"], end
    assert (end["cause"], end["signal"]) == ("memory", 9) and "more memory than the 120 MB" in end["message"], end
    end = run(7, f"{EATS}; echo goes on; sleep 100", folder=unit())  # the group is ended as a whole
    assert end["cause"] == "memory" and end["signal"] == 9, end
    end = run(8, EATS, limit_mb=500, folder=unit())
    assert end["cause"] == "ok", end
    assert not list((GROUPS / "system.slice/sluice.service").glob("sluice-*"))
    return "a limit of the runner's own ends the script as a whole"


def try_slice():
    folder = GROUPS / "user.slice/user-0.slice/session-1.scope"
    folder.mkdir(parents=True)
    end = run(9, "sleep 0.1", folder=folder)
    assert "memory is watched every second, not limited by the kernel" in end["notes"], end
    return "nothing is made in a slice of systemd: memory is watched"


def try_daemon():
    service = GROUPS / "system.slice/mine.service"
    service.mkdir(parents=True)
    start = f'echo $$ > {service}/cgroup.procs; exec "$0" serve --state /run/trial/state --listen 127.0.0.1:0'
    with subprocess.Popen(["bash", "-c", start, PROGRAM], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as daemon:
        for _ in range(200):  # it answers before it has opened its backends, and it moves when it opens them
            group_of = pathlib.Path(f"/proc/{daemon.pid}/cgroup").read_text().strip()
            if group_of.endswith("/daemon"):
                break
            time.sleep(0.1)
        daemon.terminate()
        said = daemon.stdout.read()
    assert group_of == "0::/system.slice/mine.service/daemon", (group_of, said)
    return "a daemon in a unit that delegates makes room for groups of tasks"


def main():
    ROOT.mkdir()
    (ROOT / "eat.py").write_text("print(len(bytearray(300 << 20)))\n")
    subprocess.run(["mount", "-t", "cgroup2", "cgroup2", str(GROUPS)], check=True)
    failed = False
    for trial in (try_own, try_child, try_other, try_enough, try_limit, try_slice, try_daemon):
        try:
            print(f"ok      {trial.__name__[4:]}: {trial()}", flush=True)
        except Exception as error:  # each trial is told
            failed = True
            print(f"FAILED  {trial.__name__[4:]}: {error!r}", flush=True)
    return failed


sys.exit(main())
