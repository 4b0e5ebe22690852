"""What a script started must not outlive its task, nor live beside the next attempt, however it left the script: in the
background, in a session of its own (setsid), as a daemon (double fork, nohup). On each way a task may end."""

import json
import os
import signal

import pytest

from attempt import Attempt, is_alive
from conftest import wait_for

NAMES = ("background", "session", "daemon")
# Each writes its number when it runs.
START = r"""
begin() { echo 'echo $$ > "$MARKS/'$1.$SLUICE_ATTEMPT'.new"; mv "$MARKS/'$1.$SLUICE_ATTEMPT'.new" "$MARKS/'$1.$SLUICE_ATTEMPT'"; exec sleep 3600'; }
bash -c "$(begin background)" &
setsid bash -c "$(begin session)" &
(nohup setsid bash -c "$(begin daemon)" > /dev/null 2>&1 &)
for name in background session daemon; do
	while [ ! -e "$MARKS/$name.$SLUICE_ATTEMPT" ]; do sleep 0.05; done
done
touch "$MARKS/ready.$SLUICE_ATTEMPT"
"""

# Those of the first attempt that live; one that is dead but not waited for by anyone does not.
SEES = r"""
for name in background session daemon; do
	grep -qs '^State:.[RSDT]' /proc/$(cat "$MARKS/$name.1")/status && echo $name
done > "$MARKS/seen"
"""


def pids(marks, attempt=1):
    wait_for((marks / f"ready.{attempt}").exists, "the script does not begin")
    return {name: int((marks / f"{name}.{attempt}").read_text()) for name in NAMES}


def living(found):
    return [name for name, pid in found.items() if is_alive(pid)]


def attempt_with(tmp_path, script, number=1, **more):
    return Attempt(tmp_path, script, attempt=number, env={"MARKS": str(tmp_path)}, grace_ms=500, **more)


@pytest.mark.parametrize("way", ["ends by itself", "signal", "stop file", "time limit"])
def test_nothing_that_a_script_started_outlives_its_attempt(tmp_path, way):
    a = attempt_with(tmp_path, START + ("exit 0\n" if way == "ends by itself" else "sleep 3600\n"))
    if way == "time limit":
        (a.batch / "0.slot").write_text(json.dumps({"time_ms": 4000}))
    p = a.start()
    found = pids(tmp_path)
    if way == "signal":
        p.send_signal(signal.SIGTERM)
    if way == "stop file":
        (a.dir / "stop").touch()
    p.communicate()
    assert a.end()["cause"] == {"ends by itself": "ok", "time limit": "time"}.get(way, "stopped")
    assert not living(found)


def test_the_next_runner_ends_what_a_killed_one_left_before_its_script_begins(tmp_path):
    """As on a cluster without control groups, where no backend looks after the node. A process of another task, and one
    that only has a similar environment, are left alone."""
    a = attempt_with(tmp_path, START + "sleep 3600\n")
    p = a.start()
    found = pids(tmp_path)
    other = attempt_with(tmp_path / "other", START + "sleep 3600\n")
    q = other.start()
    beside = pids(tmp_path / "other")
    p.kill()
    p.communicate()
    assert living(found) == list(NAMES), "they were to outlive their runner"
    again = attempt_with(tmp_path, SEES + "exit 0\n", number=2).run()
    assert again.end()["cause"] == "ok"
    assert (tmp_path / "seen").read_text() == "" and not living(found)
    assert "an earlier attempt had left processes on this machine: they were ended" in [r["text"] for r in again.records("note")]
    assert living(beside) == list(NAMES)
    q.terminate()
    q.communicate()
    assert not living(beside)


def runner_of(daemon, experiment):
    (claim,) = daemon.state.glob(f"experiments/{experiment}/batches/*/0.claim")
    return json.loads(claim.read_text())["pid"]


def test_nothing_lives_beside_the_next_attempt_or_longer_than_its_task(daemon, folder):
    """The runner is killed, then daemon and runner, then the task is stopped."""
    spec = {"retry": {"lost": 2}, "environment": {"vars": {"MARKS": str(folder)}}}
    experiment = daemon.submit(START + "sleep 3600\n", spec, name="run.sh")
    first = pids(folder, 1)
    os.kill(runner_of(daemon, experiment), signal.SIGKILL)
    second = pids(folder, 2)
    assert not living(first) and living(second) == list(NAMES)
    runner = runner_of(daemon, experiment)
    daemon.kill()
    os.kill(runner, signal.SIGKILL)
    assert living(second) == list(NAMES)
    daemon.start()
    third = pids(folder, 3)
    assert not living(second) and living(third) == list(NAMES)
    daemon.post(f"/experiments/{experiment}/stop")
    assert daemon.wait_ended(experiment)["state"] == "stopped"
    assert not living(third)


def test_nothing_outlives_a_task_that_is_lost_for_good(daemon, folder):
    spec = {"retry": {"lost": 0}, "environment": {"vars": {"MARKS": str(folder)}}}
    experiment = daemon.submit(START + "sleep 3600\n", spec, name="run.sh")
    found = pids(folder)
    runner = runner_of(daemon, experiment)
    daemon.kill()
    os.kill(runner, signal.SIGKILL)
    daemon.start()
    daemon.wait_ended(experiment)
    assert daemon.task(experiment, 1)["cause"]["kind"] == "lost"
    assert not living(found)
