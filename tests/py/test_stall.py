"""Scripts that hang in five ways are recognised, with what they do meanwhile and where they stand; ended and run again
where the file says so. The shapes of healthy runs are in tests/unit/model/test_stall.c."""

import os

import pytest

from conftest import wait_for
from test_notify import Receiver

# Twelve rows, then it hangs as its argument says.
SCRIPT = """
    import ctypes, multiprocessing, os, signal, sys, threading, time

    def rows(first, last):
        for step in range(first, last):
            print(f"step={step} loss={1 / (step + 1)}", flush=True)
            time.sleep(0.25)

    def starve(queue):
        for step in range(3):
            queue.put(step)
        time.sleep(1000)  # the loader never delivers the next batch

    how = sys.argv[1].split("=")[1]
    rows(0, 12)
    if how == "deadlock":
        lock = threading.Lock()
        lock.acquire()
        lock.acquire()
    elif how == "livelock":
        while True:
            pass
    elif how == "loader":
        queue = multiprocessing.Queue()
        multiprocessing.Process(target=starve, args=(queue,), daemon=True).start()
        while True:
            print(f"step={20 + queue.get()} loss=0.1", flush=True)
    elif how == "stopped":
        os.kill(os.getpid(), signal.SIGSTOP)
    elif how == "blocked":  # who has called vfork() waits in state D, as for a disk
        if ctypes.CDLL(None).vfork() == 0:
            time.sleep(1000)
            os._exit(0)
    elif how == "pause":
        time.sleep(14)
    elif how == "once" and os.environ["SLUICE_ATTEMPT"] == "1":
        time.sleep(1000)
    rows(30, 32)
"""
EXPECTED = {
    "deadlock": "it does nothing: a deadlock",
    "livelock": "livelock",  # with a core of its own it spins; on a machine that is full it is as busy as before
    "loader": "it does nothing: a deadlock",
    "stopped": "a process of it is stopped (state T)",
    "blocked": "it waits for a disk or a file system (state D)",
}


def spec(ways, **stall):
    return {"parameters": {"how": list(ways)}, "stall": {"after": "6s", **stall}, "search": {"parallel": 4},
            "resources": {"cpus": 1}, "warm": "off"}


def notes(task):
    return [line["reason"] for line in task["timeline"] if line["reason"]]


@pytest.fixture
def seeing_daemon(make_daemon, folder):
    """A daemon with a py-spy in PATH, which says where the script of its pid stands."""
    program = folder / "bin" / "py-spy"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n[ \"$1\" = dump ] || exit 2\nprintf 'Process %s: python3\\nPython v3.11\\n\\n"
                       "Thread %s (idle): \"MainThread\"\\n    main (script.py:25)\\n    <module> (script.py:40)\\n' $4 $4\n")
    program.chmod(0o755)
    return make_daemon(env={"PATH": f"{program.parent}:{os.environ['PATH']}"}).start()


@pytest.mark.parametrize("how", EXPECTED)
def test_a_script_that_hangs_is_recognised_with_the_evidence(seeing_daemon, how):
    daemon = seeing_daemon
    receiver = Receiver() if how == "deadlock" else None
    if receiver:
        daemon.post("/notify", {"webhook": receiver.url})
    experiment = daemon.submit(SCRIPT, spec([how]))
    task = wait_for(lambda: (found := daemon.task(experiment, 1))["reason"] and found, lambda: daemon.task(experiment, 1))
    assert task["state"] == "running" and task["reason"].startswith("makes no progress: no metrics for ")
    assert EXPECTED[how] in task["reason"] and "(longest pause before: " in task["reason"]
    assert task["stalled"] and daemon.get(f"/experiments/{experiment}")["stalled"] == 1
    if receiver:
        news = wait_for(lambda: receiver.bodies("stall"), lambda: daemon.get("/notify"))[0]
        assert news["task"] == 1 and f"task {experiment}/1 makes no progress: no metrics for " in news["message"]
        receiver.close()
    assert " cores" in task["reason"]
    stack = wait_for(lambda: [note for note in notes(daemon.task(experiment, 1)) if note.startswith("stack by py-spy: ")],
                     "its stack is not in the timeline")
    assert "main (script.py:25) < <module> (script.py:40)" in stack[0]
    shown = daemon.cli("show", f"{experiment}/1").stdout
    assert "makes no progress" in shown and "stack by py-spy" in shown
    daemon.restart()
    assert daemon.task(experiment, 1)["reason"].startswith("makes no progress"), "a new daemon does not know it"
    daemon.post(f"/experiments/{experiment}/stop")
    ended = daemon.wait_ended(experiment)
    assert ended["state"] == "stopped" and ended["stalled"] == 0 and not daemon.task(experiment, 1)["stalled"]


def test_a_pause_that_ends_is_a_warning_that_ends(daemon):
    experiment = daemon.submit(SCRIPT, spec(["pause"]))
    assert daemon.wait_ended(experiment)["state"] == "finished"
    task = daemon.task(experiment, 1)
    said = notes(task)
    assert any(note.startswith("no metrics for ") for note in said) and "it makes progress again" in said
    assert not task["reason"]


def test_a_task_that_hangs_is_ended_where_the_file_says_so(daemon):
    experiment = daemon.submit(SCRIPT, spec(["deadlock"], do="stop"))
    daemon.wait_ended(experiment)
    task = daemon.task(experiment, 1)
    assert task["state"] == "error" and task["cause"]["kind"] == "stalled"
    assert "ended because it made no progress: no metrics for " in task["cause"]["text"] and len(task["attempts"]) == 1


def test_a_task_that_hangs_is_run_again_where_the_file_says_so(daemon):
    experiment = daemon.submit(SCRIPT, spec(["once"], do="restart"))
    daemon.wait_ended(experiment)
    task = daemon.task(experiment, 1)
    assert task["state"] == "finished" and [a["state"] for a in task["attempts"]] == ["error", "finished"]
    assert task["attempts"][0]["cause"]["kind"] == "stalled"


@pytest.mark.parametrize("after", ["soon", "1x", "10", "1s"])
def test_a_time_that_means_nothing_is_refused(daemon, after):
    text = f"command: [x]\nstall: {{after: {after}}}\n"
    answer = daemon.request("POST", "/experiments", {"source": {"name": "a.yaml", "text": text}})
    assert answer.status == 400 and answer.json["errors"][0]["field"] == "/stall/after", answer.json
