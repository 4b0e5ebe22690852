"""File systems that do not answer, or answer with errors, while something of the daemon or a runner reads them."""

import ctypes
import json
import os
import pathlib
import signal
import subprocess
import time

import pytest

from attempt import Attempt
from conftest import wait_for

# Signals that a mount holds up are tried from outside as well: control groups can hold a process that SIGKILL does not end.
FREEZER = pathlib.Path("/sys/fs/cgroup/freezer")
libc = ctypes.CDLL(None, use_errno=True)


class Hung:
    """A mount whose server never answers."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.path.mkdir(parents=True, exist_ok=True)
        self.fd = os.open("/dev/fuse", os.O_RDWR)
        options = f"fd={self.fd},rootmode=40000,user_id=0,group_id=0".encode()
        if libc.mount(b"hung", os.fsencode(self.path), b"fuse", 0, options) < 0:
            os.close(self.fd)
            pytest.skip(f"FUSE cannot be mounted: {os.strerror(ctypes.get_errno())}")

    def end(self):
        os.close(self.fd)
        libc.umount2(os.fsencode(self.path), 2)


@pytest.fixture
def hang():
    if os.geteuid() != 0 or not os.path.exists("/dev/fuse"):
        pytest.skip("mounting needs root and /dev/fuse")
    mounts = []
    yield lambda path: mounts.append(Hung(path))
    for mount in mounts:
        mount.end()


@pytest.fixture
def freeze():
    if not os.access(FREEZER, os.W_OK):
        pytest.skip("there is no freezer (version 1 of control groups) to hold a process with")
    group = FREEZER / f"sluice-test-{os.getpid()}"
    group.mkdir()

    def frozen(pid):
        (group / "cgroup.procs").write_text(str(pid))
        (group / "freezer.state").write_text("FROZEN")
        wait_for(lambda: (group / "freezer.state").read_text().strip() == "FROZEN", "it does not freeze")

    yield frozen
    (group / "freezer.state").write_text("THAWED")
    wait_for(lambda: not (group / "cgroup.procs").read_text(), "what was frozen does not end")
    group.rmdir()


def ends(daemon):
    daemon.process.send_signal(signal.SIGTERM)
    return daemon.process.wait(timeout=60)


def test_a_mount_that_hangs_below_the_home_folder_does_not_keep_the_daemon_from_ending(make_daemon, folder, hang):
    home = folder / "home"
    hang(home / "miniconda3")
    daemon = make_daemon(env={"HOME": str(home)}).start()
    assert daemon.get("/environments")["looking"] is True
    assert daemon.get("/health")
    assert ends(daemon) == 0
    assert daemon.start().get("/health"), "what hung keeps the next one from starting"


def collector(daemon):
    """The pid of its `sluice exec --collect`."""
    children = pathlib.Path(f"/proc/{daemon.process.pid}/task/{daemon.process.pid}/children").read_text().split()
    for pid in children:
        try:
            if b"--collect" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes():
                return int(pid)
        except OSError:
            pass
    return None


def test_a_reader_that_cannot_be_killed_does_not_keep_the_daemon_from_ending(daemon, hang, freeze):
    experiment = daemon.submit("#!/bin/bash\necho epoch,loss > m.csv\ntouch began\nexec sleep 1000\n",
                               {"retry": {"lost": 0}}, name="task.sh")
    work = daemon.state / f"experiments/{experiment}/tasks/1/work"
    wait_for((work / "began").exists, "the script does not begin")
    (claim,) = wait_for(lambda: list(daemon.state.glob(f"experiments/{experiment}/batches/*/0.claim")), "no claim")
    runner = json.loads(claim.read_text())["pid"]
    os.kill(runner, signal.SIGSTOP)
    hang(work / "logs")
    os.kill(runner, signal.SIGKILL)
    freeze(wait_for(lambda: collector(daemon), "no collector reads the rest"))
    assert ends(daemon) == 0


def test_a_file_that_cannot_be_read_does_not_hold_the_end_of_its_task_for_ever(tmp_path):
    """Reading the first page of the memory of a process is an I/O error, as of a damaged disk. It is tried for 2 minutes."""
    a = Attempt(tmp_path, '"$SLUICE_BIN" report loss=0.5 epoch=0; ln -s /proc/self/mem results/e1/7/7.csv')
    p = a.start()
    begin = time.monotonic()
    try:
        assert p.wait(timeout=280) == 0
    except subprocess.TimeoutExpired:
        p.kill()
        raise AssertionError("its runner waits for ever") from None
    assert time.monotonic() - begin > 60, "it was not waited for"
    assert [r["cause"] for r in a.records("end")] == ["ok"]
    assert any("results/e1/7/7.csv could not be read to its end: Input/output error" in r["text"] for r in a.records("note"))
    assert [r["values"] for r in a.records("metric")] == [{"loss": 0.5}], "the other files are read"
