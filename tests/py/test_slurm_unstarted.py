"""What keeps tasks from starting on a real Slurm: a full disk, and a node that does not see the state folder. None of it
is a task's fault, so every task finishes."""

import errno
import os
import pathlib
import shutil
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from conftest import SlurmDaemon, processes_below, wait_for

TASK = "#!/bin/bash\nsleep 1\n"  # writes nothing: it is the runner that needs room


def attempts(daemon, experiment, tasks):
    return [attempt for number in range(1, tasks + 1) for attempt in daemon.task(experiment, number)["attempts"]]


def runners(folder):
    """Pids of runners that have not started their script."""
    found = []
    for pid in processes_below(folder):
        try:
            words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"exec" in words:
            found.append(pid)
    return found


def keep_full(folder, seconds):
    """Takes all room below the folder for a while, also what others give back meanwhile."""
    until = time.monotonic() + seconds
    path = folder / "filler"
    with open(path, "ab", buffering=0) as filler:
        while time.monotonic() < until:
            try:
                filler.write(b"x" * 65536)
            except OSError as reason:
                assert reason.errno == errno.ENOSPC
                time.sleep(0.05)
    path.unlink()


def test_a_disk_that_is_full_for_a_while_costs_no_task(lab, folder):
    folder.chmod(0o755)
    state = folder / "small"
    state.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=48m,mode=700", "none", state], capture_output=True).returncode:
        pytest.skip("no tmpfs can be mounted here")
    daemon = SlurmDaemon(state, lab)
    daemon.log = folder / "log"
    try:
        daemon.start()
        # They are queued while there is room, and start when there is none.
        lab.slurm("scontrol", "update", "PartitionName=cpu", "State=DOWN")
        experiment = daemon.submit(TASK, daemon.spec({"n": list(range(12))}, search={"parallel": 4}), name="task.sh")
        wait_for(lambda: daemon.queue("-o", "%i"), "nothing is queued")
        with ThreadPoolExecutor() as pool:
            full = pool.submit(keep_full, state, 15)
            wait_for(lambda: "No space left" in (daemon.get("/info")["trouble"] or ""), "a full disk is not said")
            lab.slurm("scontrol", "update", "PartitionName=cpu", "State=UP")
            waiting = wait_for(lambda: runners(state), "no runner starts")
            os.kill(waiting[0], signal.SIGTERM)  # one gives up, as when a node is shut down
            full.result()
        tasks = daemon.wait_ended(experiment)["tasks"]
        assert tasks["finished"] == 12 and not tasks["error"], tasks
        made = attempts(daemon, experiment, 12)
        unstarted = [attempt for attempt in made if attempt["cause"] and attempt["cause"]["kind"] == "unstarted"]
        assert unstarted and len(made) == 12 + len(unstarted), made
        assert daemon.get("/info")["trouble"] is None
    finally:
        lab.slurm("scontrol", "update", "PartitionName=cpu", "State=UP")
        daemon.stop()
        daemon.clear_queue()
        subprocess.run(["umount", state], check=False)


@pytest.fixture
def blind(slurm, lab):
    """A node of gpu_volta whose slurmd lives in a mount name space with an empty state folder."""
    node = lab.slurm("sinfo", "-h", "-N", "-p", "gpu_volta", "-o", "%N").split()[-1]
    conf = lab.env["SLURM_CONF"]
    lab.run("stop", node)
    words = 'mount -t tmpfs none "$1" && shift && exec "$@"'
    slurmd = subprocess.Popen(
        ["unshare", "--mount", "--", "sh", "-c", words, "sh", str(slurm.state), shutil.which("slurmd", path="/usr/sbin:/sbin"),
         "-D", "-N", node, "-f", conf], env=lab.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        time.sleep(1)
        if slurmd.poll() is not None:
            pytest.skip("no mount name space can be made here")
        wait_for(lambda: lab.slurm("sinfo", "-h", "-N", "-n", node, "-o", "%T").split()[0] in ("idle", "mixed"),
                 f"{node} does not come back")
        yield node
    finally:
        slurmd.terminate()
        slurmd.wait()
        lab.start(node)


@pytest.mark.skipif(os.geteuid() != 0, reason="a mount name space needs root")
def test_a_node_without_the_state_folder_costs_no_task_and_is_left_out(slurm, blind):
    experiment = slurm.submit(TASK, slurm.spec({"n": list(range(24))}, partition="gpu_volta", resources={"gpus": 1}),
                              name="task.sh")
    ended = slurm.wait_ended(experiment)
    assert ended["tasks"]["finished"] == 24 and not ended["tasks"]["error"], ended["tasks"]
    failed = [attempt for attempt in attempts(slurm, experiment, 24) if attempt["cause"]]
    assert len(failed) >= 3 and {a["cause"]["kind"] for a in failed} == {"unstarted"}, failed
    assert {a["node"] for a in failed} == {blind} and all("_" in a["job"] for a in failed), failed
    assert all(f"not started on {blind}" in a["cause"]["text"] for a in failed), failed
    assert any(f"left out: {blind}" in warning for warning in slurm.get(f"/experiments/{experiment}")["warnings"])
    assert any(f"--exclude={blind}" in line[2] for line in slurm.calls.lines() if line[1] == "sbatch")


@pytest.fixture
def refused_job(slurm, lab):
    """The node of cpu cannot make the folder of the next job that is submitted: it asks for a requeue, which our jobs do not
    allow, and cancels that job as root. The element of an array that starts last has the array's own id."""
    held = lab.slurm("sbatch", "--hold", "--parsable", "-p", "cpu", "-o", "/dev/null", "--wrap", "true").strip()
    blocked = lab.folder / "spool/cpu1" / f"job{int(held) + 1:05d}"
    blocked.write_text("")
    yield str(int(held) + 1)
    blocked.unlink(missing_ok=True)
    lab.slurm("scancel", held)


def test_a_node_that_cannot_start_a_task_is_not_called_a_cancel(slurm, lab, refused_job):
    experiment = slurm.submit("#!/bin/bash\n[ $SLUICE_ATTEMPT = 1 ] && sleep 120\ntrue\n", slurm.spec({"n": [1, 2, 3, 4]}), name="task.sh")
    ended = slurm.wait_ended(experiment)
    assert ended["tasks"]["finished"] == 4, [task["cause"] for task in slurm.tasks(experiment)]
    first = [slurm.task(experiment, number)["attempts"][0] for number in range(1, 5)]
    assert [attempt["job"] for attempt in first] == [f"{refused_job}_{index}" for index in range(4)], first
    kinds = [attempt["cause"]["kind"] for attempt in first]
    assert kinds[3] == "unstarted" and set(kinds[:3]) <= {"node", "unstarted"}, first
    assert "Slurm cancelled its job before it began: its node could not start it" in first[3]["cause"]["text"], first
    assert all("could not start" in attempt["cause"]["text"] for attempt in first), first
    rows = lab.slurm("sacct", "-n", "-X", "-P", "-j", refused_job, "-o", "State").split("\n")
    assert rows.count("CANCELLED by 0") == 4 or os.geteuid(), rows


def test_a_daemon_that_was_just_started_knows_the_partitions(slurm, folder):
    (folder / "s.py").write_text("print(1)\n")
    known = slurm.cli("run", folder / "s.py", "--partition=nowhere", status=2).stderr
    slurm.restart()
    assert slurm.cli("run", folder / "s.py", "--partition=nowhere", status=2).stderr == known
    assert "nowhere" in known and slurm.get("/experiments")["total"] == 0
