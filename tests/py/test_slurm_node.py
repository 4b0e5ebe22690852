"""The compute node's side on a real Slurm: what the doctor's job finds out there."""

import json
import re
import socket

import pytest

from conftest import PROGRAM
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
                    r"cpu1 runs sluice: /\S+",
                    r"claim and journal work from cpu1",
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
    assert found["level"] == "ok" and f"cpu1 does not reach the daemon at {address} and need not" in found["what"], found
    assert "through files in the state folder" in found["what"] and "sluice serve --listen" in found["fix"]


@with_harness
def test_a_server_that_is_not_sluice_is_not_the_daemon(lab, folder):
    with socket.create_server(("127.0.0.1", 0)) as mute:  # takes connections and says nothing
        found = only(examine(lab, folder, "slurm", "http://127.0.0.1:%d" % mute.getsockname()[1]), "reach the daemon")
    assert "does not reach" in found["what"] and found["level"] == "ok"


@with_harness
def test_without_a_daemon_reaching_it_is_not_tried(lab, folder):
    findings = examine(lab, folder)
    assert "was not tried" in only(findings, "the daemon")["what"]
    assert only(findings, "claim and journal work from cpu1")["level"] == "ok"
    assert all(f["level"] == "ok" for f in findings.values()), findings
