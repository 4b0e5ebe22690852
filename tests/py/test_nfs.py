"""What needs a kernel of its own: a real NFS between two hosts, control groups of version 2, a clock that jumps. What is
tried, and how, is in tests/lab: nfs (a user-mode Linux from Debian's packages), nfs_trial.py, cgroup_trial.py, clock_trial.py."""

import fcntl
import os
import pathlib
import subprocess
import sys

import pytest

from conftest import DEADLINE_S, PROGRAM, ROOT


NOT_BOOTED = 125  # as `tests/lab/nfs` says


@pytest.fixture(scope="module")
def machine():
    """The folder with the kernel, made where it is missing (42 MB from Debian)."""
    folder = pathlib.Path(os.environ.get("SLUICE_NFS", ROOT / "build/nfs"))
    if os.geteuid() != 0:
        pytest.skip("a kernel of its own was tried as root only")
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "root/usr/bin/linux.uml").exists():
            done = subprocess.run([ROOT / "tests/lab/nfs", "make", folder], capture_output=True, text=True, check=False)
            if done.returncode:
                pytest.skip(f"the packages of a kernel of its own cannot be had: {done.stderr.strip().splitlines()[-1:]}")
    return folder


def run_trials(machine, verb, script, count):
    done = subprocess.run([ROOT / "tests/lab/nfs", verb, machine, sys.executable, f"tests/lab/{script}", PROGRAM], cwd=ROOT,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=3 * DEADLINE_S)
    print(done.stdout)
    if done.returncode == NOT_BOOTED:
        pytest.skip(f"the kernel does not boot here: {done.stdout.strip().splitlines()[-1:]}")
    assert done.returncode == 0 and done.stdout.count("ok  ") == count, done.stdout


def test_claim_lease_and_journal_hold_between_two_hosts_on_nfs(machine):
    run_trials(machine, "run", "nfs_trial.py", 3)


def test_who_ended_a_script_is_known_from_control_groups_of_version_2(machine):
    run_trials(machine, "boot", "cgroup_trial.py", 7)


def test_a_clock_that_is_set_by_hours_stops_nothing_and_delays_nothing(machine):
    run_trials(machine, "boot", "clock_trial.py", 4)
