"""`memory` on this machine: kept by the kernel in a control group for each task where one can be made, watched by the runner
where not. Both ways end the task with the same cause, and say which it was."""

import os
import pathlib
import signal
import subprocess
import sys

import pytest

from conftest import PROGRAM, wait_for

EATS = "import sys, time\nx = bytearray(b'x') * (300 << 20)\ntime.sleep(int(sys.argv[1]) if len(sys.argv) > 1 else 600)\n"
# The cgroup file systems are not there: no control group can be made.
HIDDEN = """#!/bin/sh
exec unshare -m sh -c 'umount -l /sys/fs/cgroup/memory; umount -l /sys/fs/cgroup/unified; umount -l /sys/fs/cgroup; exec "$0" "$@"' \
    "{program}" "$@" 2>/dev/null
"""


def findings(daemon):
    daemon.post("/cluster/examine")
    wait_for(lambda: not daemon.get("/cluster")["examining"], "it examines on")
    return [one["what"] for one in daemon.get("/cluster")["findings"]]


def run(daemon, text, limit="100M"):
    experiment = daemon.submit(text, {"resources": {"memory": limit}, "environment": {"python": sys.executable}})
    daemon.wait_ended(experiment)
    return daemon.task(experiment, 1), [step["reason"] for step in daemon.task(experiment, 1)["timeline"]]


@pytest.fixture
def watched(make_daemon, tmp_path):
    daemon = make_daemon("watched")
    if os.geteuid() == 0:
        wrapper = tmp_path / "hidden"
        wrapper.write_text(HIDDEN.format(program=PROGRAM))
        wrapper.chmod(0o755)
        if subprocess.run(["unshare", "-m", "true"], check=False).returncode:
            pytest.skip("no mount namespace can be made")
        daemon.program = str(wrapper)
    daemon.start()
    assert any("`memory` is watched every second" in what for what in findings(daemon))
    return daemon


@pytest.fixture
def limited(make_daemon):
    daemon = make_daemon("limited").start()
    if not any("limited by the kernel, in a control group" in what for what in findings(daemon)):
        pytest.skip("no control group can be made here")
    return daemon


def groups():
    """Folders that runners have made."""
    return [path for path in pathlib.Path("/sys/fs/cgroup").glob("**/sluice-[0-9]*") if path.is_dir()]


def test_what_uses_more_is_ended_by_its_runner_where_it_is_watched(watched):
    task, timeline = run(watched, EATS)
    assert task["state"] == "error" and task["cause"]["kind"] == "memory", task
    assert "more than the 100 MB" in task["cause"]["text"] and "ended by its runner" in task["cause"]["text"]
    assert "memory is watched every second, not limited by the kernel" in timeline


FORKS = """
import os, time
x = bytearray(os.urandom(60 << 20))
children = [os.fork() for _ in range(2)]
s = sum(x[::4096])
time.sleep(4)
"""


def test_pages_that_processes_share_count_once(watched):
    """Four processes with the same 60 MB: 240 MB resident, 60 MB in truth. It ends by itself."""
    task, _ = run(watched, FORKS, "150M")
    assert task["state"] == "finished", task


def test_what_uses_more_is_ended_by_the_kernel_where_there_are_groups(limited):
    task, timeline = run(limited, EATS)
    assert task["state"] == "error" and task["cause"]["kind"] == "memory", task
    assert task["cause"]["text"] == "needed more memory than the 100 MB of resources: {memory: …}; ended by the kernel"
    assert "memory is limited by the kernel, in a control group of the task's own" in timeline
    task, _ = run(limited, FORKS, "150M")
    assert task["state"] == "finished", task
    task, timeline = run(limited, "print('epoch 1 loss 1')\n")
    assert task["state"] == "finished" and "lack of memory" not in str(timeline)


def test_a_process_that_the_kernel_ended_is_named_though_the_script_went_on(limited):
    script = f"import subprocess, sys\np = subprocess.run([sys.executable, '-c', {EATS!r}, '5'])\nsys.exit('the worker is gone')\n"
    task, timeline = run(limited, script)
    # In version 2 the kernel ends the group as a whole.
    assert task["cause"]["kind"] == "memory" or (
        task["cause"]["text"] == "the worker is gone" and "the kernel ended a process of the script for lack of memory" in timeline), task


def test_groups_are_removed_also_those_of_killed_runners(limited, tmp_path):
    ready = tmp_path / "ready"
    script = f"import os, time, pathlib\npathlib.Path({str(ready)!r}).write_text(str(os.getpid()))\ntime.sleep(600)\n"
    experiment = limited.submit(script, {"resources": {"memory": "200M"}, "retry": {"lost": 0}})
    wait_for(lambda: ready.exists() and ready.read_text(), "it does not begin")
    (mine,) = [group for group in groups() if ready.read_text() in (group / "cgroup.procs").read_text().split()]
    os.kill(int(mine.name.split("-")[1]), signal.SIGKILL)
    limited.wait_ended(experiment)
    run(limited, "print('epoch 1 loss 1')\n")
    assert not mine.exists()
