"""What goes wrong is said: the cause, the last lines, and what to do."""

import contextlib
import datetime
import json
import os
import pathlib
import shutil
import signal
import subprocess

import pytest

from conftest import PROGRAM, processes_below, wait_for


def failing(daemon, script, spec=None, **more):
    experiment = daemon.submit(script, {"retry": {"error": 0}, **(spec or {})}, **more)
    daemon.wait_ended(experiment)
    return experiment, daemon.task(experiment, 1)


def test_failing_script_shows_cause_and_tail(daemon):
    experiment, task = failing(daemon, "print('epoch 1')\nraise ValueError('the data is not there')")
    assert task["state"] == "error"
    assert task["cause"]["kind"] == "exit" and task["cause"]["code"] == 1
    assert "ValueError: the data is not there" in task["cause"]["tail"]
    assert task["cause"]["text"] and task["cause"]["remedy"]
    assert daemon.get(f"/experiments/{experiment}")["state"] == "error"
    shown = daemon.cli("show", f"{experiment}/1").stdout
    assert "exit code 1" in shown and "ValueError: the data is not there" in shown
    assert "the data is not there" in daemon.cli("logs", f"{experiment}/1", "--stream", "stderr", status=None).stdout


def test_exit_code_is_kept(daemon):
    _, task = failing(daemon, "import sys\nsys.exit(42)")
    assert task["cause"]["code"] == 42 and task["attempts"][0]["exit_code"] == 42


def test_signal_has_its_name(daemon):
    _, task = failing(daemon, "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)")
    assert task["cause"]["kind"] == "signal" and task["cause"]["signal"] in (11, "SIGSEGV")


def test_program_that_does_not_exist_is_a_launch_failure(daemon):
    created = daemon.post("/experiments", {"experiment": {"command": ["/nonexistent/program", "x"]}})
    daemon.wait_ended(created["id"])
    task = daemon.task(created["id"], 1)
    assert task["state"] == "error" and task["cause"]["kind"] == "launch"
    assert "/nonexistent/program" in str(task["cause"])


def test_setup_line_that_fails_ends_the_attempt_with_its_output(daemon):
    _, task = failing(daemon, "print('trained')", {"environment": {"setup": ["module() { echo no such module >&2; return 1; }",
                                                                             "module load cuda"]}})
    assert task["state"] == "error" and task["cause"]["kind"] == "launch"
    assert "setup line 2 ended with status 1" in str(task["cause"]) and "module load cuda" in str(task["cause"])
    assert "no such module" in task["cause"]["tail"]
    _, task = failing(daemon, "print('trained')", {"environment": {"setup": ["false || true", "export X=1"]}})
    assert task["state"] == "finished"


def test_one_failure_does_not_stop_the_others(daemon):
    script = "import os, sys\nsys.exit(os.environ['SLUICE_PARAM_N'] == '2')"
    experiment = daemon.submit(script, {"parameters": {"n": [1, 2, 3, 4]}, "search": {"strategy": "grid"}})
    summary = daemon.wait_ended(experiment)
    assert summary["state"] == "finished"
    assert summary["tasks"]["finished"] == 3 and summary["tasks"]["error"] == 1
    failed = [task for task in daemon.tasks(experiment) if task["state"] == "error"]
    assert [task["parameters"]["n"] for task in failed] == [2]


def test_error_is_retried_as_often_as_asked(daemon):
    script = """
        import os, sys
        sys.exit(0 if os.environ["SLUICE_ATTEMPT"] == "3" else 1)
    """
    experiment = daemon.submit(script, {"retry": {"error": 5}})
    assert daemon.wait_ended(experiment)["state"] == "finished"
    task = daemon.task(experiment, 1)
    assert task["attempt"] == 3
    assert [attempt["exit_code"] for attempt in task["attempts"]] == [1, 1, 0]


def test_time_limit_is_its_own_cause(daemon):
    script = "import time\nprint('begun', flush=True)\ntime.sleep(3600)"
    experiment = daemon.submit(script, {"resources": {"backend": "local", "time": "2s"}})
    task = daemon.wait_state(experiment, ("error",), 1)
    assert task["cause"]["kind"] == "time"


def test_killed_runner_is_noticed(daemon):
    """The process around the script is killed with -9 together with the script: the task must not hang."""
    experiment = daemon.submit("import time\nprint('begun', flush=True)\ntime.sleep(3600)", {"retry": {"lost": 0}})
    wait_for(lambda: "begun" in daemon.get(f"/experiments/{experiment}/tasks/1/log?stream=stdout")["text"]
             if daemon.task(experiment, 1)["state"] == "running" else None, "it does not begin")
    folder = daemon.get(f"/experiments/{experiment}")["folder"]
    for pid in processes_below(folder):
        with contextlib.suppress(ProcessLookupError):  # the script dies with its runner
            os.kill(pid, signal.SIGKILL)
    task = daemon.wait_state(experiment, ("error",), 1)
    assert task["cause"]["kind"] in ("lost", "signal")
    # Its runner's last sample is older than its end, or there was none.
    (attempt,) = task["attempts"]
    elapsed = (datetime.datetime.fromisoformat(attempt["finished"]) - datetime.datetime.fromisoformat(attempt["started"])).total_seconds()
    assert task["cost"]["wall_s"] == pytest.approx(elapsed, abs=0.002), task


# What is below the script outlives a killed runner: only the script itself dies with it.
WRAPPER = """#!/bin/bash
bash -c 'echo $$ > "$MARKS/$SLUICE_ATTEMPT.new"; mv "$MARKS/$SLUICE_ATTEMPT.new" "$MARKS/$SLUICE_ATTEMPT"; exec sleep 3600'
true
"""


def lives(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def test_a_damaged_end_is_told_as_damage_and_not_as_a_killed_runner(daemon, folder):
    go = folder / "go"
    experiment = daemon.submit(f"import os, time\nwhile not os.path.exists({str(go)!r}): time.sleep(0.05)", {"retry": {"lost": 0}})
    daemon.wait_state(experiment, ["running"], 1)
    journal = daemon.state / "experiments" / experiment / "tasks/1/journal"
    daemon.kill()
    go.touch()
    wait_for(lambda: b'"kind":"end"' in journal.read_bytes(), "the runner does not end")
    journal.write_bytes(journal.read_bytes().replace(b'"kind":"end"', b'"kind":"enx"'))
    daemon.start()
    daemon.wait_ended(experiment)
    task = daemon.task(experiment, 1)
    assert task["cause"]["kind"] == "lost" and "damaged" in task["cause"]["text"], task["cause"]
    assert "was killed" not in task["cause"]["text"]
    told = [step["reason"] for step in task["timeline"]]
    assert "1 damaged line in the journal: metrics may be missing, or how it ended" in told, told


def test_next_attempt_does_not_run_beside_what_the_one_before_left(daemon, folder):
    """Daemon and runner are killed with -9. What the script had started must be gone when the next attempt begins."""
    marks = folder / "marks"
    marks.mkdir()
    experiment = daemon.submit(WRAPPER, {"retry": {"lost": 1}, "environment": {"vars": {"MARKS": str(marks)}}}, name="run.sh")
    wait_for((marks / "1").exists, "the first attempt does not begin")
    first = int((marks / "1").read_text())
    below = processes_below(daemon.get(f"/experiments/{experiment}")["folder"])
    runners = [pid for pid in below if b"\0exec\0" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()]
    assert len(runners) == 1
    daemon.kill()
    os.kill(runners[0], signal.SIGKILL)
    assert lives(first)
    daemon.start()
    wait_for((marks / "2").exists, "there is no second attempt")
    assert not lives(first), "the first attempt still runs beside the second"
    assert lives(int((marks / "2").read_text()))


def test_a_copy_of_a_state_folder_leaves_the_tasks_of_the_original_alone(daemon, make_daemon, folder):
    marks = folder / "marks"
    marks.mkdir()
    spec = {"retry": {"lost": 1}, "environment": {"vars": {"MARKS": str(marks)}}}
    script = "import os, pathlib, time\npathlib.Path(os.environ['MARKS'], str(os.getpid())).touch()\ntime.sleep(3600)"
    experiment = daemon.submit(script, spec)
    wait_for(lambda: list(marks.iterdir()), "the task does not begin")
    original = int(next(marks.iterdir()).name)
    daemon.kill()
    shutil.copytree(daemon.state, folder / "copy", symlinks=True, ignore=shutil.ignore_patterns("*.sock"))
    copy = make_daemon("copy").start()
    # For the copy its attempt is over: it begins another, in its own folder, and ends only that.
    wait_for(lambda: len(list(marks.iterdir())) == 2, "the copy does not begin an attempt of its own")
    other = next(int(mark.name) for mark in marks.iterdir() if int(mark.name) != original)
    assert os.readlink(f"/proc/{other}/cwd").startswith(str(folder / "copy"))
    assert lives(original)
    copy.post(f"/experiments/{experiment}/stop")
    assert copy.wait_ended(experiment)["state"] == "stopped"
    assert lives(original) and not lives(other)
    # After another start the copy knows which attempts are its own.
    mine = copy.submit(script, spec)
    copy.wait_state(mine, ("running",), 1)
    copy.kill()
    copy.start()
    assert copy.task(mine, 1)["state"] == "running" and len(copy.task(mine, 1)["attempts"]) == 1
    copy.post(f"/experiments/{mine}/stop")
    copy.wait_ended(mine)
    # The original's daemon takes it up as if nothing had happened.
    daemon.start()
    task = daemon.task(experiment, 1)
    assert task["state"] == "running" and len(task["attempts"]) == 1


@pytest.mark.parametrize("whole", [False, True])
def test_a_copy_of_a_state_folder_runs_its_own_tasks_also_after_a_removal(daemon, make_daemon, folder, whole):
    first = daemon.submit("print(1)", {"parameters": {"x": [1, 2, 3]}})
    daemon.wait_ended(first)
    daemon.stop()
    shutil.copytree(daemon.state, folder / "copy", symlinks=True, ignore=shutil.ignore_patterns("*.sock"))
    copy = make_daemon("copy").start()
    # The last attempts of the original: their ids must not come back.
    if whole:
        copy.delete(f"/experiments/{first}")
    else:
        copy.post(f"/experiments/{first}/tasks/remove", {"tasks": [2, 3]})
    mine = copy.submit("import time\ntime.sleep(3600)", {"retry": {"lost": 0}})
    copy.wait_state(mine, ("running",), 1)
    copy.kill()
    copy.start()
    assert copy.task(mine, 1)["state"] == "running"
    copy.post(f"/experiments/{mine}/stop")
    assert copy.wait_ended(mine, 20)["state"] == "stopped"
    assert len(copy.task(mine, 1)["attempts"]) == 1


def test_results_that_an_older_database_does_not_know_are_kept(daemon, folder):
    """Somebody puts a copy of the database back: the next experiment gets a number that was used before."""
    daemon.wait_ended(daemon.submit("print(1)"))
    daemon.stop()
    shutil.copy(daemon.state / "sluice.db", folder / "backup.db")
    daemon.start()
    daemon.wait_ended(daemon.submit("open('model.bin', 'w').write('weights')"))
    daemon.stop()
    for name in ("sluice.db", "sluice.db-wal", "sluice.db-shm"):
        (daemon.state / name).unlink(missing_ok=True)
    shutil.copy(folder / "backup.db", daemon.state / "sluice.db")
    daemon.start()
    again = daemon.submit("print(2)")
    assert again == "e2" and daemon.wait_ended(again)["state"] == "finished"
    [kept] = daemon.state.glob("experiments/e2.*/tasks/1/work/model.bin")
    assert kept.read_text() == "weights"
    assert not (daemon.state / "experiments/e2/tasks/1/work/model.bin").exists()


def test_a_moved_state_folder_keeps_its_tasks(daemon, make_daemon, folder):
    experiment = daemon.submit("import time\nprint('begun', flush=True)\ntime.sleep(3600)")
    daemon.wait_state(experiment, ("running",), 1)
    daemon.kill()
    (folder / "state").rename(folder / "moved")
    # Another state folder in the old place is not what this one is a copy of.
    other = make_daemon("state").start()
    other.stop()
    moved = make_daemon("moved").start()
    moved.post(f"/experiments/{experiment}/stop")
    moved.wait_ended(experiment)
    task = moved.task(experiment, 1)
    assert task["state"] == "stopped" and len(task["attempts"]) == 1, task
    # A runner that has told its end may take a moment to leave.
    wait_for(lambda: not [pid for pid in processes_below(folder / "moved") if pid != moved.process.pid], "something still runs")


def test_metrics_of_a_broken_table_are_still_read(daemon):
    script = """
        with open("metrics.csv", "w") as out:
            out.write("epoch,loss,note\\n0,0.5,x\\n1,nan,y\\nrubbish\\n2,inf,z\\n3,0.25,\\n")
    """
    experiment = daemon.submit(script, {"objective": {"metric": "loss", "goal": "min"}})
    daemon.wait_ended(experiment)
    curve = daemon.metrics(experiment, 1)["loss"]
    assert curve["step"][0] == 0 and curve["step"][-1] == 3
    assert curve["value"][0] == 0.5 and curve["value"][-1] == 0.25
    assert "NaN" in curve["value"] and "Infinity" in curve["value"]
    assert daemon.get(f"/experiments/{experiment}")["best"]["value"] == 0.25


def test_report_verb_reaches_the_curves(daemon):
    script = """
        import os, subprocess
        for epoch in range(3):
            subprocess.run(["sluice", "report", f"val_loss={1 / (epoch + 1)}", f"epoch={epoch}"], check=True)
    """
    path = f"{PROGRAM.parent}:/usr/local/bin:/usr/bin:/bin"
    experiment = daemon.submit(script, {"environment": {"vars": {"PATH": path}}, "objective": "val_loss"})
    assert daemon.wait_ended(experiment)["state"] == "finished", daemon.task(experiment, 1)["cause"]
    assert daemon.metrics(experiment, 1)["val_loss"] == {"step_name": "epoch", "step": [0, 1, 2], "value": [1, 0.5, pytest.approx(1 / 3)]}


def test_many_rows_at_the_end_of_a_task_are_all_read_before_it_is_settled(daemon):
    """The journal is larger than what one turn reads: the runner is gone long before its END is read."""
    rows = 100_000
    script = (
        "with open('m.csv', 'w') as out:\n"
        "    out.write('step,loss\\n')\n"
        f"    out.writelines(f'{{i}},{{i}}\\n' for i in range({rows}))\n"
    )
    experiment = daemon.submit(script, {"objective": {"metric": "loss", "goal": "max"}})
    daemon.wait_ended(experiment)
    task = daemon.task(experiment, 1)
    assert task["state"] == "finished" and len(task["attempts"]) == 1, task
    assert task["best"]["value"] == rows - 1
    exported = daemon.cli("export", experiment, "--format", "json").stdout
    steps = json.loads(exported)["tasks"][0]["metrics"]["loss"]["step"]
    assert steps == list(range(rows))


SAVING = """
import os, pathlib, signal, sys, time
saved = pathlib.Path(os.environ["SLUICE_CHECKPOINT_DIR"]) / "epoch"
if saved.exists():
    pathlib.Path("metrics.csv").write_text("epoch,loss\\n1,0.5\\n")
    sys.exit(0)
pathlib.Path("metrics.csv").write_text("epoch,loss\\n0,0.1\\n")

def save(*_):
    saved.write_text("0")
    sys.exit(0)

signal.signal(signal.SIGUSR1, save)
time.sleep(100)
"""


def test_script_that_saves_and_exits_before_its_limit_is_continued_and_not_finished(daemon):
    experiment = daemon.submit(SAVING, {"parameters": {"n": [1]}, "resources": {"time": "12s"}, "objective": {"metric": "loss", "take": "last"},
                                        "checkpoint": {"signal": "USR1", "before_limit": "8s"}})
    daemon.wait_ended(experiment)
    task = daemon.task(experiment, 1)
    assert [(a["state"], (a["cause"] or {}).get("kind")) for a in task["attempts"]] == [("error", "time"), ("finished", None)], task
    told = [(step["state"], step["reason"]) for step in task["timeline"]]
    assert [state for state, _ in told].count("finished") == 1 and task["best"]["value"] == 0.5, told
    assert any("to be continued; retry 1 of 100" in (reason or "") for _, reason in told), told
    assert ("running", "continues from its checkpoint") in told


TRAINS = """\
import csv, os, pathlib, signal, sys, time
folder = pathlib.Path(os.environ["SLUICE_CHECKPOINT_DIR"])
saved = folder / "epoch"
first = int(saved.read_text()) if saved.exists() else 0
asked = []
signal.signal(signal.SIGUSR1, lambda *_: asked.append(1))
signal.signal(signal.SIGTERM, lambda *_: (saved.write_text("-1"), sys.exit(9)))
for epoch in range(first, first + 100):
    with open("log.csv", "a") as f:
        if f.tell() == 0:
            f.write("epoch,loss\\n")
        f.write(f"{epoch},{100 - epoch + (0.5 if first else 0)}\\n")
    if first and epoch >= first + 3:
        sys.exit(0)
    time.sleep(0.2)
    if asked:
        time.sleep(7)  # longer than an ordinary stop leaves
        saved.write_text(str(epoch))  # this epoch is done again
        sys.exit(0)
"""


def test_stop_with_a_checkpoint_waits_until_it_is_saved_and_a_restart_goes_on(daemon):
    spec = {"parameters": {"n": [1]}, "objective": "loss", "checkpoint": {"signal": "USR1", "before_limit": "60s"}}
    e = daemon.submit(TRAINS, spec)
    wait_for(lambda: len(daemon.metrics(e, 1).get("loss", {}).get("step", [])) >= 2, "two epochs")
    assert daemon.cli("stop", "--checkpoint", f"{e}/1").stdout == f"{e}/1 is asked to stop\n"
    assert daemon.task(e, 1)["reason"] == "being stopped" or "saves a checkpoint first" in daemon.task(e, 1)["reason"]
    daemon.wait_state(e, ["stopped"], 1)
    before = daemon.metrics(e, 1)["loss"]
    daemon.cli("restart", "--resume", f"{e}/1")
    daemon.wait_state(e, ["finished"], 1)
    after = daemon.metrics(e, 1)["loss"]
    again = before["step"][-1]
    assert after["step"] == list(range(again + 4)), (before, after)
    assert after["value"] == [100 - n + (0.5 if n >= again else 0) for n in range(again + 4)]
    assert ("running", "continues from its checkpoint") in [(s["state"], s["reason"]) for s in daemon.task(e, 1)["timeline"]]
    plain = daemon.submit(TRAINS, {"parameters": {"n": [1]}, "objective": "loss"})
    assert "has no `checkpoint: {signal: USR1}`" in daemon.cli("stop", "--checkpoint", plain, status=1).stderr
    daemon.cli("stop", plain)


def test_logs_without_output_say_so_and_doctor_sees_a_full_disk(daemon, folder):
    e = daemon.submit("pass", {"parameters": {"n": [1]}})
    daemon.wait_ended(e)
    assert daemon.cli("logs", f"{e}/1").stderr == f"sluice: {e}/1 has written nothing\n"
    assert daemon.cli("logs", f"{e}/1", "--stream", "stdout").stderr == f"sluice: {e}/1 has written nothing to stdout\n"
    small = folder / "small"
    small.mkdir()
    script = f"mount -t tmpfs -o size=64k,mode=700 none {small} && head -c 64k /dev/zero > {small}/x; SLUICE_STATE={small} {PROGRAM} doctor"
    done = subprocess.run(["unshare", "-rm", "sh", "-c", script], capture_output=True, text=True)
    if "unshare" in done.stderr or "mount" in done.stderr:
        pytest.skip("no mounts here: " + done.stderr)
    assert "cannot be written to: No space left on device" in done.stdout and done.returncode != 0, done
