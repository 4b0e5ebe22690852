"""The claim, the lease and the journal on a real NFS, between two hosts and with the server restarted meanwhile. What is tried:
tests/lab/nfs_trial.py."""

import os
import subprocess
import sys

import pytest

from conftest import DEADLINE_S, PROGRAM, ROOT


def test_claim_lease_and_journal_hold_between_two_hosts_on_nfs():
    folder = os.environ.get("SLUICE_NFS")
    if not folder:
        pytest.skip("SLUICE_NFS is not set; `tests/lab/nfs make FOLDER` makes a folder for it")
    done = subprocess.run([ROOT / "tests/lab/nfs", "run", folder, sys.executable, "tests/lab/nfs_trial.py", PROGRAM], cwd=ROOT,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=2 * DEADLINE_S)
    print(done.stdout)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("ok  ") == 3, done.stdout
