"""The compute node's side on a real Slurm: what the doctor's job finds out there, and the program that tasks run."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess

import pytest

from conftest import PROGRAM, SlurmDaemon, wait_for
from test_slurm_backend import HARNESS, Harness

with_harness = pytest.mark.skipif(not HARNESS, reason="backend_harness is not built (meson -Dtests=true)")


def examine(lab, folder, *words):
    """The findings of a backend without a daemon around it."""
    folder.chmod(0o755)
    state = folder / "alone"
    state.mkdir()
    h = Harness(lab.env, state, PROGRAM, *words)
    h.settle()
    findings = h.ask("examine", "cpu")[-1]["findings"]
    assert h.close() == 0
    assert not list(state.glob("doctor-*"))
    return {f["what"]: f for f in findings}


def only(findings, pattern):
    found = [f for what, f in findings.items() if re.search(pattern, what)]
    assert len(found) == 1, findings
    return found[0]


def test_doctor_tells_everything_about_cluster_and_node(slurm):
    done = slurm.cli("doctor", status=0)
    host, port = slurm.tcp_address()
    for pattern in (r"Slurm \d+\.\d+\.\d+, cluster lab; its controller answers",
                    r"gpu_volta +up +2 +\d+ +16 +4 +volta",
                    r"cpu \* +up",
                    r"the cluster keeps accounts, with no energy figures",
                    r"limits: 10001 tasks a job array, .*; default account: \S+",
                    r"the state folder is on \S+",
                    r"a test job ran on cpu1, which sees the state folder",
                    r"cpu1 runs sluice, the copy in the state folder that tasks use",
                    r"claim and journal work on cpu1",
                    rf"cpu1 reaches the daemon at {re.escape(host)}:{port}",
                    r"the clock of cpu1 agrees with this machine's"):
        assert re.search(pattern, done.stdout), (pattern, done.stdout)
    # The same over REST, for the page.
    cluster = slurm.get("/cluster")
    assert not cluster["examining"]
    assert any("claim and journal work" in f["what"] for f in cluster["findings"])
    backend = next(b for b in cluster["backends"] if b["name"] == "slurm")
    assert backend["limits"]["default_account"] and backend["limits"]["array_size"] == 10001
    assert backend["controller"] == "up" and backend["accounting"] is True and backend["energy"] is False
    # Nothing of it stays: no folder, no job.
    assert not list(slurm.state.glob("doctor-*"))
    assert not json.loads(slurm.cli("ls", "--json").stdout)["items"]


def test_doctor_removes_what_a_killed_one_left(slurm):
    left = slurm.state / ("doctor-" + "0123456789abcdef" * 2)
    other = slurm.state / "doctor-notes"
    for folder in (left, other):
        folder.mkdir()
        (folder / "answer").write_text("host=nowhere\n")
    slurm.cli("doctor", status=0)
    assert not left.exists() and other.exists()


@with_harness
def test_a_node_that_does_not_reach_the_daemon_is_fine(lab, folder):
    with socket.socket() as closed:  # bound, but nobody listens
        closed.bind(("127.0.0.1", 0))
        address = "127.0.0.1:%d" % closed.getsockname()[1]
        found = only(examine(lab, folder, "slurm", f"http://{address}"), "reach the daemon")
    assert found["level"] == "ok" and f"cpu1 does not reach the daemon at {address} and does not have to" in found["what"], found
    assert "through files in the state folder" in found["what"] and "sluice serve --listen" in found["fix"]


@with_harness
def test_a_server_that_is_not_sluice_is_not_the_daemon(lab, folder):
    with socket.create_server(("127.0.0.1", 0)) as mute:  # takes connections and says nothing
        found = only(examine(lab, folder, "slurm", "http://127.0.0.1:%d" % mute.getsockname()[1]), "reach the daemon")
    assert "does not reach" in found["what"] and found["level"] == "ok"


@with_harness
def test_without_a_daemon_reaching_it_is_not_tried(lab, folder):
    findings = examine(lab, folder)
    assert "was not tested" in only(findings, "no daemon is listening")["what"]
    assert only(findings, "claim and journal work on cpu1")["level"] == "ok"
    assert all(f["level"] == "ok" for f in findings.values()), findings


# The program on the node.

SHORT = "#!/bin/bash\nsluice report loss=0.5\n"


class Installed:
    """A daemon whose program is a file of the test's own, and a partition where jobs wait until they may run."""

    def __init__(self, lab, folder):
        folder.chmod(0o755)
        self.lab = lab
        self.program = folder / "installed" / "sluice"
        self.program.parent.mkdir()
        shutil.copy(PROGRAM, self.program)
        self.daemon = SlurmDaemon(folder / "state", lab)
        self.daemon.program = self.program
        self.daemon.start()

    def submit(self):
        """An experiment whose job waits."""
        self.lab.slurm("scontrol", "update", "PartitionName=cpu", "State=DOWN")
        experiment = self.daemon.submit(SHORT, self.daemon.spec({"n": [1]}), name="task.sh")
        wait_for(self.daemon.queue, "it is not submitted")
        return experiment

    def release(self, experiment):
        self.lab.slurm("scontrol", "update", "PartitionName=cpu", "State=UP")
        assert self.daemon.wait_ended(experiment)["tasks"]["finished"] == 1
        return [step["reason"] for step in self.daemon.task(experiment, 1)["timeline"]]

    def copies(self, below="."):
        return sorted(self.daemon.state.glob(f"{below}/bin/*/sluice"))


@pytest.fixture
def installed(lab, folder):
    made = Installed(lab, folder)
    yield made
    lab.slurm("scontrol", "update", "PartitionName=cpu", "State=UP")
    made.daemon.stop()
    made.daemon.clear_queue()


OTHER_VERSION = "the runner on the node and the daemon are different versions of sluice"


def another_version(path):
    """This program, but it calls itself another version."""
    version = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=True).stdout.split()[-1].encode()
    path.write_bytes(PROGRAM.read_bytes().replace(version + b"\0", b"9" * len(version) + b"\0"))
    path.chmod(0o755)
    return path


def test_waiting_jobs_run_what_they_were_submitted_with(installed, folder):
    experiment = installed.submit()
    another_version(folder / "newer").rename(installed.program)
    assert OTHER_VERSION not in installed.release(experiment)


def test_a_program_that_nodes_do_not_see_still_runs_there(installed):
    experiment = installed.submit()
    shutil.rmtree(installed.program.parent)
    installed.release(experiment)
    assert installed.daemon.task(experiment, 1)["best"]["value"] == 0.5  # `sluice` was also in the script's PATH


def test_a_runner_of_another_version_is_noted(installed, folder):
    experiment = installed.submit()
    installed.daemon.stop()
    another_version(folder / "newer").rename(installed.program)
    installed.daemon.start()
    assert OTHER_VERSION in installed.release(experiment)


def test_copies_are_shared_and_go_with_their_experiments(installed, folder):
    daemon = installed.daemon
    first, second = (daemon.submit(SHORT, daemon.spec({"n": [1, 2]}), name="task.sh") for _ in range(2))
    for experiment in (first, second):
        daemon.wait_ended(experiment)
    copies = installed.copies("experiments/*")
    assert len(copies) == 2 and len({copy.stat().st_ino for copy in copies + installed.copies()}) == 1
    assert copies[0].read_bytes() == PROGRAM.read_bytes() and not os.path.samefile(copies[0], installed.program)
    script = (daemon.state / f"experiments/{first}/script").read_text()
    assert str(copies[0]) in script, script
    daemon.delete(f"/experiments/{first}")
    wait_for(lambda: len(installed.copies("experiments/*")) == 1, "the copy stays behind")
    # A new version: what the second experiment used stays, and goes when that experiment went before the next one.
    daemon.stop()
    another_version(folder / "newer").rename(installed.program)
    daemon.start()
    third = daemon.submit(SHORT, daemon.spec({"n": [1]}), name="task.sh")
    daemon.wait_ended(third)
    assert len(installed.copies()) == 2
    daemon.delete(f"/experiments/{second}")
    daemon.delete(f"/experiments/{third}")
    wait_for(lambda: not installed.copies("experiments/*"), "the copies stay behind")
    daemon.stop()
    with open(installed.program, "ab") as program:  # one byte makes another program
        program.write(b"x")
    daemon.start()
    daemon.wait_ended(daemon.submit(SHORT, daemon.spec({"n": [1]}), name="task.sh"))
    assert len(installed.copies()) == 1


def test_a_disk_without_room_for_the_copy_is_said_and_waited_for(lab, folder):
    folder.chmod(0o755)
    state = folder / "small"
    state.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m,mode=700", "none", state], capture_output=True).returncode:
        pytest.skip("no tmpfs can be mounted here")
    daemon = SlurmDaemon(state, lab)
    daemon.log = folder / "log"
    try:
        daemon.start()
        experiment = daemon.submit(SHORT, daemon.spec({"n": [1]}), name="task.sh")

        def waits():
            task = daemon.task(experiment, 1)
            return task["state"] == "submitted" and "No space left" in (task["reason"] or "") and task["reason"]
        reason = wait_for(waits, lambda: f"no reason: {daemon.task(experiment, 1)}")
        assert "copy of sluice cannot be made" in reason and "free some space there" in reason, reason
        assert not daemon.queue() and not list(state.glob("**/bin/*/sluice*"))
        subprocess.run(["mount", "-o", "remount,size=64m", state], check=True)
        assert daemon.wait_ended(experiment)["tasks"]["finished"] == 1
        assert daemon.task(experiment, 1)["attempt"] == 1
    finally:
        daemon.stop()
        daemon.clear_queue()
        subprocess.run(["umount", state], check=False)


# Setup lines.

def test_a_failing_setup_line_ends_a_job_with_the_line_and_its_output(slurm):
    lines = ["module() { echo \"Lmod has detected the following error: $2 is not there\" >&2; return 1; }", "module load cuda/99"]
    failed = slurm.submit(SHORT, slurm.spec({"n": [1]}, environment={"setup": lines}), name="task.sh")
    slurm.wait_ended(failed)
    cause = slurm.task(failed, 1)["cause"]
    assert cause["kind"] == "launch" and "setup line 2 ended with status 1" in cause["text"], cause
    assert "module load cuda/99" in cause["text"] and "cuda/99 is not there" in cause["tail"]
    assert "cuda/99 is not there" in slurm.cli("logs", f"{failed}/1").stdout
    lines[1] += " || true"
    passed = slurm.submit(SHORT, slurm.spec({"n": [1]}, environment={"setup": lines}), name="task.sh")
    assert slurm.wait_ended(passed)["tasks"]["finished"] == 1


def test_a_daemon_that_found_no_slurm_looks_again(lab, folder):
    """Started before the configuration was there, as before `module load slurm`."""
    folder.chmod(0o755)
    conf = folder / "slurm.conf"
    daemon = SlurmDaemon(folder / "state", lab, env={"SLURM_CONF": str(conf)}).start()
    try:
        def backend():
            return next(b for b in daemon.get("/cluster")["backends"] if b["name"] == "slurm")

        assert not backend()["available"] and str(conf) in backend()["text"]
        refused = daemon.request("POST", "/experiments", {"experiment": {"command": ["true"], "resources": {"partition": "cpu"}}})
        assert refused.status == 400 and "partition" in refused.body.decode()
        conf.symlink_to(lab.env["SLURM_CONF"])
        wait_for(lambda: backend().get("available", True), "Slurm is not found")
        experiment = daemon.submit("import os; print(os.environ['SLURM_JOB_PARTITION'])", daemon.spec({}))
        assert daemon.wait_ended(experiment)["state"] == "finished"
        assert daemon.get(f"/experiments/{experiment}/tasks/1/log")["text"] == "cpu\n"
    finally:
        daemon.stop()
        daemon.clear_queue()


def test_with_the_controller_down_it_is_said_what_is_waited_for_and_what_will_be_submitted(lab, folder):
    """The first use of a daemon, while slurmctld is down."""
    folder.chmod(0o755)
    script = folder / "train.sh"
    script.write_text("#!/bin/bash\necho epoch,loss > metrics.csv\necho 0,0.5 >> metrics.csv\n")
    daemon = SlurmDaemon(folder / "state", lab)
    words = ["run", "--detach", script, "lr=0.1..0.2", "--strategy", "tpe", "--tasks", "2", "--objective", "loss", "--backend", "slurm",
             "--partition", "cpu", "--memory", "64M"]
    lab.run("stop", "slurmctld")
    try:
        daemon.start()
        told = daemon.cli(*words)
        assert "2 tasks on slurm, partition cpu" in told.stdout + told.stderr, told
        assert "stands still when the daemon is not running" in told.stderr and "daemon install" in told.stderr, told.stderr
        wait_for(lambda: "Slurm cannot be asked" in daemon.cli("show", "e1").stdout, lambda: daemon.cli("show", "e1").stdout)
        assert "Slurm cannot be asked" in daemon.cli("ls").stdout
        script_shown = daemon.cli("show", "e1", "--batch-script").stdout
        assert "Not submitted yet" in script_shown and "--job-name=ID-sluice-TOKEN" in script_shown and "0" * 32 not in script_shown
    finally:
        lab.start("slurmctld")
    try:
        assert daemon.wait_ended("e1")["tasks"]["finished"] == 2
        script_shown = daemon.cli("show", "e1", "--batch-script").stdout
        assert "Not submitted yet" not in script_shown and re.search(r"--job-name=e1-sluice-[0-9a-f]{32}", script_shown), script_shown
        assert "stands still" not in daemon.cli(*words).stderr  # said once
        daemon.wait_ended("e2")
    finally:
        daemon.stop()
        daemon.clear_queue()


def test_a_job_of_the_cluster_starts_a_dead_daemon_again(lab, folder):
    """`sluice daemon install` where neither systemd nor cron may be used. A small program stands in for ssh: it writes down what
    is to be run on the login node, and the test runs it there, outside of the job."""
    folder.chmod(0o755)
    stand, state = folder / "bin", folder / "a state"
    stand.mkdir()
    for name in ("sh", "id", "sleep", "sbatch", "squeue", "scancel", "scontrol", "sinfo", "sacct", "env"):
        (stand / name).symlink_to(shutil.which(name))
    (stand / "ssh").write_text(f'#!/bin/sh\nfor last; do :; done\n[ "$last" = true ] || echo "$last" >>{stand}/asked\n')
    (stand / "ssh").chmod(0o755)
    env = {"PATH": str(stand), "HOME": str(folder), "SLUICE_STATE": str(state), "SLURM_CONF": lab.env["SLURM_CONF"],
           "SLUICE_LISTEN": "127.0.0.1:0", "SBATCH_PARTITION": "cpu"}

    def daemon(*words):
        return subprocess.run([PROGRAM, "daemon", *words], env=env, capture_output=True, text=True, timeout=120)

    def runs():
        asked = stand / "asked"
        if asked.exists():
            command = asked.read_text()
            asked.unlink()
            subprocess.run(["sh", "-c", command], check=True, timeout=120, capture_output=True)
        return daemon("status").returncode == 0

    def pending():
        return lab.slurm("squeue", "-h", "-t", "PD", "-n", name, "-o", "%A %V %S").split()

    assert daemon("status").returncode == 1
    said = daemon("install")
    assert said.returncode == 0, said
    name = re.search(r"--job-name=(sluice-keeper-[0-9a-f]{8})\n", said.stdout)[1]
    try:
        wait_for(runs, "the job does not start it")
        assert "kept alive by job" in daemon("status").stdout
        wait_for(pending, "it does not submit itself again")
        pid = json.loads((state / "lease").read_text())["pid"]
        os.kill(pid, signal.SIGKILL)
        wait_for(lambda: daemon("status").returncode == 1, "it does not die")
        lab.slurm("scontrol", "update", f"JobId={pending()[0]}", "StartTime=now")  # ten minutes later
        wait_for(runs, "the next job does not start it again")
    finally:
        done = daemon("uninstall"), daemon("stop", "--force")
    assert "nothing starts the daemon by itself any more" in done[0].stdout, done
    wait_for(lambda: not lab.slurm("squeue", "-h", "-n", name, "-o", "%A"), "the job stays")


def test_keys_of_slurm_are_flags_and_reach_the_batch_script(slurm, folder):
    (folder / "train.sh").write_text("#!/bin/bash\ntrue\n")
    words = ["check", folder / "train.sh", "--backend", "slurm", "--partition", "gpu_volta", "--nodes", "2", "--exclusive", "--time", "1h"]
    said = slurm.cli(*words).stdout
    assert "--nodes=2" in said and "--exclusive" in said and "--partition=gpu_volta" in said, said
    refused = slurm.cli(*words, "--features", "nope", status=None)
    assert "nope" in refused.stdout + refused.stderr, refused
    # Of two sizes that round to the same, the megabytes are shown.
    has = int(slurm.lab.slurm("sinfo", "-h", "-p", "cpu", "-o", "%m").split()[0])
    words = ["check", folder / "train.sh", "--backend", "slurm", "--partition", "cpu", "--memory", f"{has + 1}M"]
    large = slurm.cli(*words, status=2).stderr
    assert f"{has + 1} MB" in large and f"{has} MB" in large, large
