"""`sluice exec` by itself: hand-written descriptors, real scripts, and what the journal says afterwards."""
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import time
import zlib
from pathlib import Path

import pytest

from conftest import DEADLINE_S, wait_for

BIN = os.path.abspath(os.environ.get("SLUICE_BIN", "build/sluice"))
TOKEN = "0" * 32
ENV = {**os.environ, "LC_ALL": "C.UTF-8"}  # a bash that does not know its locale says so on stderr


class Attempt:
    """One descriptor in a state folder of its own."""

    def __init__(self, root, script, attempt=1, task=7, **more):
        self.root = Path(root)
        self.batch = self.root / "batches" / f"{attempt:032d}"
        self.files = self.root / "files"
        self.task = self.root / "tasks" / str(task)
        self.dir = self.task if attempt == 1 else self.task / "attempts" / str(attempt)
        self.work = self.task / "work"
        for folder in (self.batch, self.files):
            folder.mkdir(parents=True, exist_ok=True)
        if script is not None:
            (self.files / "script.sh").write_text(script)
        self.descriptor = {
            "sluice": "0.1.0", "token": TOKEN, "index": 0, "experiment": "e1", "task": task, "attempt": attempt,
            "files_dir": str(self.files), "task_dir": str(self.task), "attempt_dir": str(self.dir),
            "argv": ["bash", "script.sh", "e1", str(task), "64", "0.001"], "setup": [], "env": {},
            "params": {"batch_size": 64}, "results": f"results/e1/{task}", "metrics": None,
            "fresh": attempt == 1, "grace_ms": 10000, "gpus": None, "push": None,
        }
        self.descriptor.update(more)
        self.dir = Path(self.descriptor["attempt_dir"])
        (self.batch / "0.json").write_text(json.dumps(self.descriptor))

    def start(self):
        return subprocess.Popen([BIN, "exec", str(self.batch), "0"], env=ENV, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def run(self):
        done = subprocess.run([BIN, "exec", str(self.batch), "0"], env=ENV, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=DEADLINE_S)
        self.said = done.stdout.decode()
        self.status = done.returncode
        return self

    def records(self, kind=None):
        path = self.dir / "journal"
        found = []
        for line in path.read_bytes().split(b"\n")[:-1] if path.exists() else []:
            crc, text = line.split(b" ", 1)
            assert int(crc, 16) == zlib.crc32(text), line
            record = json.loads(text)
            if kind in (None, record["kind"]):
                found.append(record)
        return found

    def end(self):
        (end,) = self.records("end")
        assert self.records()[-1] == end
        return end

    def rows(self):
        return [(r["step"], r["values"]) for r in self.records("metric")]

    def stdout(self):
        return (self.dir / "stdout").read_text()


def stat_of(pid):
    """State and parent of a process, in one look: it may be gone at the next. (None, None) where there is none."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        return fields[0], int(fields[1])
    except OSError:
        return None, None


def is_alive(pid):
    return stat_of(pid)[0] not in (None, "Z", "X")


def children(pid):
    found = ((int(path.name), *stat_of(path.name)) for path in Path("/proc").glob("[0-9]*"))
    return [child for child, state, parent in found if parent == pid and state not in ("Z", "X")]


def test_the_story_of_a_good_run(tmp_path):
    a = Attempt(tmp_path, 'echo "$@"; pwd; env; echo epoch,loss > results/$1/$2/$2.csv; echo 0,0.5 >> results/$1/$2/$2.csv',
                env={"SLUICE_PARAM_BATCH_SIZE": "64", "QUOTED": "a b\n\"'$x"}).run()
    assert a.status == 0, a.said
    # A machine that is busy for two seconds takes a sample of it.
    assert [r["kind"] for r in a.records() if r["kind"] != "sample"] == ["start", "metric", "end"]
    start, end = a.records("start")[0], a.end()
    assert start["beat_ms"] == 60000  # what the daemon may rely on
    assert start["host"] == os.uname().nodename and start["pid"] > 0 and start["pgid"] > 0 and not start["resume"]
    assert end["cause"] == "ok" and end["exit_code"] == 0 and end["wall_ms"] >= 0 and end["max_rss_bytes"] > 0
    assert a.rows() == [(0, {"loss": 0.5})]
    out = a.stdout()
    assert out.startswith(f"e1 7 64 0.001\n{a.work}\n")
    for name, value in {"SLUICE_EXPERIMENT": "e1", "SLUICE_TASK": "7", "SLUICE_ATTEMPT": "1", "SLUICE_TASK_DIR": a.task,
                        "SLUICE_CHECKPOINT_DIR": a.task / "checkpoint", "SLUICE_PARAMS": a.task / "params.json",
                        "SLUICE_PARAM_BATCH_SIZE": "64", "QUOTED": "a b\n\"'$x"}.items():
        assert f"\n{name}={value}\n" in out
    assert "SLUICE_RESUME" not in out
    assert json.loads((a.task / "params.json").read_text()) == {"batch_size": 64}
    assert not (a.work / "script.sh").exists()  # after a good end only what the script made is left
    assert json.loads((a.batch / "0.claim").read_text())["host"] == os.uname().nodename
    assert sorted(p.name for p in a.batch.iterdir()) == ["0.claim", "0.json"]


def test_the_second_runner_for_an_item_does_nothing(tmp_path):
    a = Attempt(tmp_path, "echo ran >> $SLUICE_TASK_DIR/ran").run()
    before = (a.dir / "journal").read_bytes()
    a.run()
    assert a.status == 0 and a.said == ""
    assert (a.dir / "journal").read_bytes() == before
    assert (a.task / "ran").read_text() == "ran\n"


def test_a_runner_whose_attempt_is_over_runs_nothing(tmp_path):
    a = Attempt(tmp_path, "echo ran >> $SLUICE_TASK_DIR/ran")
    (a.batch / "0.json").unlink()  # what the daemon removes first
    a.run()
    assert a.status == 0 and "over" in a.said, a.said
    shutil.rmtree(a.batch)  # and with the last item of the batch
    a.run()
    assert a.status == 0 and "over" in a.said, a.said
    assert not a.task.exists()


def says(p, word):
    """Reads what a runner prints up to a line with this word."""
    for line in p.stdout:
        if word in line.decode():
            return line.decode()
    raise AssertionError(f"it ended without saying '{word}'")


@pytest.mark.parametrize("away", ["batch", "state"])
def test_a_folder_that_the_node_does_not_see_yet_is_waited_for(tmp_path, away):
    a = Attempt(tmp_path / "state", "echo ran >> $SLUICE_TASK_DIR/ran")
    folder = a.batch if away == "batch" else a.root
    folder.rename(tmp_path / "away")
    p = a.start()
    assert str(a.batch) in says(p, "waiting")
    (tmp_path / "away").rename(folder)
    p.communicate(timeout=DEADLINE_S)
    assert p.returncode == 0 and a.end()["cause"] == "ok"


def test_a_disk_that_is_full_before_the_claim_is_waited_for(tmp_path):
    """A limit on the size of the runner's files stands for the disk."""
    a = Attempt(tmp_path, "echo ran >> $SLUICE_TASK_DIR/ran")
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, old[1]))
    try:
        p = a.start()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
    says(p, "waiting")
    assert sorted(f.name for f in a.batch.iterdir()) == ["0.json"]
    resource.prlimit(p.pid, resource.RLIMIT_FSIZE, old)
    p.communicate(timeout=DEADLINE_S)
    assert p.returncode == 0 and (a.task / "ran").read_text() == "ran\n"


def test_a_task_folder_that_cannot_be_made_yet_is_waited_for(tmp_path):
    a = Attempt(tmp_path, "echo ran >> $SLUICE_TASK_DIR/ran")
    a.task.parent.write_text("not a folder")
    p = a.start()
    says(p, "waiting")
    assert (a.batch / "0.claim").exists()
    a.task.parent.unlink()
    p.communicate(timeout=DEADLINE_S)
    assert p.returncode == 0 and (a.task / "ran").read_text() == "ran\n"


def test_a_work_folder_that_cannot_be_made_yet_is_waited_for(tmp_path):
    a = Attempt(tmp_path, "echo ran >> $SLUICE_TASK_DIR/ran", fresh=False)
    a.files.rename(tmp_path / "away")
    p = a.start()
    says(p, "waiting")
    (tmp_path / "away").rename(a.files)
    p.communicate(timeout=DEADLINE_S)
    assert p.returncode == 0 and a.end()["cause"] == "ok"


def test_a_runner_that_is_stopped_while_it_waits_leaves_no_claim(tmp_path):
    a = Attempt(tmp_path, "echo ran >> $SLUICE_TASK_DIR/ran")
    a.task.parent.write_text("not a folder")
    p = a.start()
    says(p, "waiting")
    p.send_signal(signal.SIGTERM)
    p.communicate(timeout=DEADLINE_S)
    assert p.returncode == 128 + signal.SIGTERM
    assert sorted(f.name for f in a.batch.iterdir()) == ["0.json"]
    a.task.parent.unlink()
    assert a.run().status == 0 and a.end()["cause"] == "ok"  # the next runner may have it


def test_a_stop_while_it_waits_with_its_journal_open_is_an_end(tmp_path):
    a = Attempt(tmp_path, "echo ran >> $SLUICE_TASK_DIR/ran")
    a.files.rename(tmp_path / "away")
    p = a.start()
    says(p, "waiting")
    (a.dir / "stop").touch()
    p.communicate(timeout=DEADLINE_S)
    assert a.end()["cause"] == "stopped" and not a.records("start")


def test_of_two_racing_runners_one_runs_the_script(tmp_path):
    for i in range(200):
        a = Attempt(tmp_path / str(i), "echo ran >> $SLUICE_TASK_DIR/ran")
        for p in [a.start(), a.start()]:
            p.communicate(timeout=DEADLINE_S)
            assert p.returncode == 0
        assert (a.task / "ran").read_text() == "ran\n"
        assert len(a.records("start")) == 1 and len(a.records("end")) == 1


def test_exit_code_and_the_end_of_the_error_output(tmp_path):
    a = Attempt(tmp_path, "echo first >&2; printf '10%%\\r50%%\\r100%%\\nboom \\377\\n' >&2; exit 3").run()
    end = a.end()
    assert (end["cause"], end["exit_code"], end["message"]) == ("exit", 3, "boom \ufffd")
    assert end["tail"] == "first\n100%\nboom \ufffd\n"
    assert a.status == 3


def test_ten_megabytes_of_error_output_leave_a_short_tail(tmp_path):
    a = Attempt(tmp_path, "yes 'an error line' | head -c 10000000 >&2; exit 1").run()
    assert (a.dir / "stderr").stat().st_size == 10000000
    assert 4000 < len(a.end()["tail"]) <= 8192


def test_a_signal_is_the_cause(tmp_path):
    end = Attempt(tmp_path, "kill -SEGV $$").run().end()
    assert (end["cause"], end["signal"]) == ("signal", signal.SIGSEGV) and "exit_code" not in end


@pytest.mark.parametrize("argv, expect", [
    (["no-such-program-here"], "no such program"),
    (["python3", "missing.py"], "missing.py: no such file"),
    (["./plain.txt"], "chmod +x"),
    (["./badbang"], "interpreter"),
])
def test_what_cannot_be_started_says_what_to_do(tmp_path, argv, expect):
    a = Attempt(tmp_path, "", argv=argv)
    (a.files / "plain.txt").write_text("x")
    (a.files / "badbang").write_text("#!/no/such/interpreter\n")
    (a.files / "badbang").chmod(0o700)
    end = a.run().end()
    assert end["cause"] == "launch" and expect in end["message"]


def test_an_executable_script_is_found_beside_its_files(tmp_path):
    a = Attempt(tmp_path, "", argv=["go"])
    (a.files / "go").write_text("#!/bin/sh\necho gone\n")
    (a.files / "go").chmod(0o700)
    assert a.run().end()["cause"] == "ok"
    assert a.stdout() == "gone\n"


def test_setup_lines_run_first_and_arguments_stay_arguments(tmp_path):
    a = Attempt(tmp_path, 'echo "$FROM_SETUP"; printf "%s\\n" "$@"', setup=["export FROM_SETUP='it was'", "false || true"],
                argv=["bash", "script.sh", "$(touch canary)", "a  b", ";touch canary"]).run()
    assert a.end()["cause"] == "ok"
    assert a.stdout() == "it was\n$(touch canary)\na  b\n;touch canary\n"
    assert not (a.work / "canary").exists()
    assert not (a.dir / "stderr").exists() and not (a.dir / "setup").exists()


@pytest.mark.parametrize("lines, line, status", [
    (["export A=1", "false", "touch reached"], 2, 1),
    (["no-such-command-here load cuda"], 1, 127),
    (["(exit 5)"], 1, 5),
    (["exit 0"], 1, 0),
    (["true", "exit 3"], 2, 3),
    (["set -e", "false; true"], 2, 1),
    (["echo 'a quote left open"], 1, 2),  # bash 5.2: 2; older ones: 1
    (["if true; then"], 1, 2),
    (["true", "if true; then", "false", "fi"], 2, 1),
    (["true", "fi", "touch reached"], 2, 2),
    (["source ./missing"], 1, 1),
    (["f() { return 7; }", "f"], 2, 7),
    (["cat missing | cat; test -e missing"], 1, 1),
])
def test_a_setup_line_that_fails_ends_the_attempt(tmp_path, lines, line, status):
    a = Attempt(tmp_path, "touch reached", setup=lines).run()
    end = a.end()
    assert end["cause"] == "launch" and end["exit_code"] != 0
    said = re.match(r"setup line (\d+) ended with status (\d+), so the script was not started: (.*)", end["message"], re.S)
    assert said and int(said[1]) == line and said[3].startswith(lines[line - 1]), end["message"]
    assert int(said[2]) in (status, 1 if status == 2 else status)
    assert ("|| true" in end["message"]) == (status != 0)
    assert not (a.work / "reached").exists()


def test_what_a_failing_setup_printed_is_in_the_error(tmp_path):
    end = Attempt(tmp_path, "true", setup=["echo on stdout; echo on stderr >&2; false"]).run().end()
    assert "on stdout" in end["tail"] and "on stderr" in end["tail"]


@pytest.mark.parametrize("lines", [
    ["false || true"],
    ["echo 'false' >inner; echo true >>inner", "source ./inner"],  # what fails inside is that file's business
    ["f() { false; true; }", "f"],
    ["trap 'echo mine' EXIT", "false | true"],
    ["for i in 1 2; do false; done; true"],
    ["if true; then", "  export A=1", "fi", "[ $A = 1 ]"],  # as people type it into a form, line by line
    ["case x in", "y) false;;", "esac"],
    ["cat <<END >text", "if", "END", "grep -q if text"],
    ["# a comment", "", "true"],
    ["set -euo pipefail", "true"],
    ["for a in \\", "1 2; do", "true; done"],
    ["cat <<'END' >text\nit's\nEND\ntrue"],
])
def test_what_a_setup_line_minds_itself_does_not_end_the_attempt(tmp_path, lines):
    a = Attempt(tmp_path, "touch reached", setup=lines).run()
    assert a.end()["cause"] == "ok"
    assert (a.work / "reached").exists()


def test_the_script_sees_what_the_setup_exports_and_nothing_of_ours(tmp_path):
    a = Attempt(tmp_path, "env | grep -c sluice_; echo $A; declare -F", setup=["set -a", "A=1", "declare B=2"]).run()
    assert a.stdout() == "0\n1\n"


def test_the_scripts_own_exit_code_is_not_taken_for_the_setups(tmp_path):
    end = Attempt(tmp_path, "exit 1", setup=["true"]).run().end()
    assert end["cause"] == "exit" and end["exit_code"] == 1


def test_stopping_during_the_setup_is_stopping(tmp_path):
    a = Attempt(tmp_path, "touch reached", setup=["touch ready; sleep 1000"])
    p = a.start()
    wait_for((a.work / "ready").exists, "the setup")
    p.send_signal(signal.SIGTERM)
    p.communicate(timeout=DEADLINE_S)
    assert a.end()["cause"] == "stopped" and not (a.work / "reached").exists()


def test_a_program_missing_after_the_setup_is_a_launch_failure(tmp_path):
    end = Attempt(tmp_path, "", setup=["true"], argv=["no-such-program-here"]).run().end()
    assert end["cause"] == "launch" and "no-such-program-here" in end["message"]


def test_stopping_ends_the_script_and_its_children(tmp_path):
    a = Attempt(tmp_path, "sleep 1000 & echo $! > child; wait")
    p = a.start()
    child = int(wait_for(lambda: (a.work / "child").exists() and (a.work / "child").read_text(), "the child"))
    p.send_signal(signal.SIGTERM)
    p.communicate(timeout=DEADLINE_S)
    assert a.end()["cause"] == "stopped"
    assert not is_alive(child)


def test_a_script_that_ignores_the_wish_is_killed_after_its_grace_period(tmp_path):
    a = Attempt(tmp_path, "trap '' TERM; touch ready; while :; do sleep 0.05; done", grace_ms=300)
    p = a.start()
    wait_for((a.work / "ready").exists, "the script")
    p.send_signal(signal.SIGTERM)
    p.communicate(timeout=DEADLINE_S)
    assert (a.end()["cause"], a.end()["signal"]) == ("stopped", signal.SIGKILL)
    assert any("grace" in r["text"] for r in a.records("note"))


def test_a_script_may_tidy_up_when_it_is_stopped(tmp_path):
    a = Attempt(tmp_path, "trap 'echo saved > $SLUICE_CHECKPOINT_DIR/c; exit 0' TERM; touch ready; while :; do sleep 0.05; done")
    p = a.start()
    wait_for((a.work / "ready").exists, "the script")
    p.send_signal(signal.SIGTERM)
    p.communicate(timeout=DEADLINE_S)
    assert (a.end()["cause"], a.end()["exit_code"]) == ("stopped", 0)
    assert (a.task / "checkpoint" / "c").read_text() == "saved\n"


def test_a_stop_file_before_the_start_keeps_the_script_from_running(tmp_path):
    a = Attempt(tmp_path, "touch $SLUICE_TASK_DIR/ran")
    a.dir.mkdir(parents=True)
    (a.dir / "stop").touch()
    assert a.run().end()["cause"] == "stopped"
    assert not (a.task / "ran").exists() and not a.records("start")


def test_a_stop_file_stops_a_running_script(tmp_path):
    a = Attempt(tmp_path, "touch ready; sleep 1000")
    p = a.start()
    wait_for((a.work / "ready").exists, "the script")
    (a.dir / "stop").touch()
    p.communicate(timeout=DEADLINE_S)
    assert a.end()["cause"] == "stopped"


def test_a_signal_at_any_moment_of_the_start_leaves_a_whole_story(tmp_path):
    for i in range(60):
        a = Attempt(tmp_path / str(i), "sleep 1000", grace_ms=1000)
        p = a.start()
        time.sleep(i * 0.0002)
        p.send_signal(signal.SIGTERM)
        p.communicate(timeout=DEADLINE_S)
        if (a.batch / "0.claim").exists():
            assert a.end()["cause"] == "stopped"
        else:
            assert not a.records()


def test_a_killed_runner_takes_the_script_with_it(tmp_path):
    a = Attempt(tmp_path, "echo $$ > pid; exec sleep 1000")
    p = a.start()
    pid = int(wait_for(lambda: (a.work / "pid").exists() and (a.work / "pid").read_text(), "the script"))
    p.kill()
    p.communicate()
    wait_for(lambda: not is_alive(pid), "the script's end")
    assert not a.records("end")
    assert a.records("start")[0]["pgid"] == pid


def test_a_script_that_is_killed_before_it_begins_was_killed(tmp_path):
    """The runner waits for room to say who it starts; until then the script is a child that does nothing."""
    a = Attempt(tmp_path, "touch begun", gpus="0" * 2000)  # which makes that more than a kilobyte
    p = subprocess.Popen(["bash", "-c", 'ulimit -S -f 1; exec "$@"', "-", BIN, "exec", str(a.batch), "0"], stderr=subprocess.PIPE)
    (child,) = wait_for(lambda: children(p.pid), "the child")
    os.kill(child, signal.SIGKILL)
    resource.prlimit(p.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    p.communicate(timeout=DEADLINE_S)
    end = a.end()
    assert (end["cause"], end["signal"]) == ("signal", 9)
    assert end["message"].startswith("signal 9 (Killed), and the kernel did not say why: perhaps the machine ran out of memory (the most ")
    assert not (a.work / "begun").exists()


def test_processes_left_behind_are_ended(tmp_path):
    a = Attempt(tmp_path, "sleep 1000 & echo $! > child; exit 0", grace_ms=500).run()
    assert a.end()["cause"] == "ok"
    assert not is_alive(int((a.work / "child").read_text()))


@pytest.mark.parametrize("answer", ["", "trap : TERM; "])
def test_processes_that_left_the_group_are_ended_too(tmp_path, answer):
    """A session of its own, and below it another: `setsid`, a daemon that the script started."""
    inner = f"{answer}setsid bash -c \"{answer}echo \\$\\$ > two; sleep 1000\" & echo $$ > one; sleep 1000; wait"
    a = Attempt(tmp_path, f"setsid bash -c '{inner}' & while [ ! -s one ] || [ ! -s two ]; do sleep 0.05; done; exit 0", grace_ms=500).run()
    assert a.end()["cause"] == "ok"
    for name in ("one", "two"):
        assert not is_alive(int((a.work / name).read_text())), name


def test_user_signals_reach_the_script(tmp_path):
    a = Attempt(tmp_path, "trap 'echo one > got' USR1; touch ready; while [ ! -e got ]; do sleep 0.05; done")
    p = a.start()
    wait_for((a.work / "ready").exists, "the script")
    p.send_signal(signal.SIGUSR1)
    p.communicate(timeout=DEADLINE_S)
    assert a.end()["cause"] == "ok"


def test_a_time_limit_in_the_slot_is_kept(tmp_path):
    # The signal comes when bash has long begun, however busy the machine; its trap needs no other program, and time enough.
    a = Attempt(tmp_path, "trap ': > signalled' USR1; trap '' TERM; while :; do sleep 0.05; done", grace_ms=1000)
    (a.batch / "0.slot").write_text(json.dumps({"gpus": "2,5", "time_ms": 6000, "signal_before_ms": 2000, "checkpoint_signal": int(signal.SIGUSR1)}))
    a.run()
    assert a.end()["cause"] == "time"
    assert (a.work / "signalled").exists()
    assert a.records("start")[0]["gpus"] == "2,5"


SAVES = "trap 'echo $SLUICE_ATTEMPT > $SLUICE_CHECKPOINT_DIR/c; %s' USR1; touch ready; while [ ! -e go ]; do sleep 0.05; done"


@pytest.mark.parametrize("script, status, words", [
    (SAVES % "touch go", 0, "exit code 0"), (SAVES % "exit 0", 0, "exit code 0"), (SAVES % "exit 1", 1, "exit code 1"),
    ("touch ready; sleep 100", 128 + signal.SIGUSR1, "signal 10 (User defined signal 1)")],
    ids=["goes on to its end", "exits 0", "exits 1", "no handler"])
def test_any_end_after_the_checkpoint_signal_is_the_time_limit(tmp_path, script, status, words):
    a = Attempt(tmp_path, script, checkpoint_signal=int(signal.SIGUSR1))
    p = a.start()
    wait_for((a.work / "ready").exists, "the script")
    p.send_signal(signal.SIGUSR1)  # what Slurm sends that long before the limit
    p.communicate(timeout=DEADLINE_S)
    end = a.end()
    assert end["cause"] == "time" and words in end["message"] and "to be continued" in end["message"], end
    assert p.returncode == status
    assert (a.task / "checkpoint").exists() == ("trap" in script)


def test_the_checkpoint_signal_is_the_one_that_the_script_wants(tmp_path):
    a = Attempt(tmp_path, "trap 'touch saved; exit 0' INT; touch ready; while :; do sleep 0.05; done",
                checkpoint_signal=int(signal.SIGINT))
    p = a.start()
    wait_for((a.work / "ready").exists, "the script")
    p.send_signal(signal.SIGUSR1)
    p.communicate(timeout=DEADLINE_S)
    assert a.end()["cause"] == "time" and (a.work / "saved").exists()


def test_exit_code_85_asks_to_be_continued(tmp_path):
    a = Attempt(tmp_path, "exit 85").run()
    assert (a.end()["cause"], a.end()["exit_code"], a.end()["message"]) == ("time", 85, "asked to be continued (exit code 85)")


@pytest.mark.parametrize("grace_ms, told", [(4000, ["USR1", "TERM"]), (1000, ["TERM"])], ids=["time to save", "no time to save"])
def test_a_script_that_is_asked_to_stop_may_save_first(tmp_path, grace_ms, told):
    a = Attempt(tmp_path, "trap 'echo USR1 >> told' USR1; trap 'echo TERM >> told; exit 3' TERM; touch ready; while :; do sleep 0.05; done",
                checkpoint_signal=int(signal.SIGUSR1), grace_ms=grace_ms)
    p = a.start()
    wait_for((a.work / "ready").exists, "the script")
    p.send_signal(signal.SIGTERM)
    p.communicate(timeout=DEADLINE_S)
    assert (a.work / "told").read_text().split() == told
    assert a.end()["cause"] == "stopped"


def test_rows_appear_while_the_script_runs(tmp_path):
    a = Attempt(tmp_path, "f=results/e1/7/7.csv; echo epoch,loss > $f; echo 0,0.5 >> $f; while [ ! -e go ]; do sleep 0.05; done; printf '1,0.25' >> $f")
    p = a.start()
    wait_for(lambda: a.rows() == [(0, {"loss": 0.5})], "the first row")
    (a.work / "go").touch()
    p.communicate(timeout=DEADLINE_S)
    assert a.rows() == [(0, {"loss": 0.5}), (1, {"loss": 0.25})]


def test_a_table_written_anew_after_every_epoch_gives_every_row_once(tmp_path):
    script = """for n in 1 2 3 4 5; do
        { echo epoch,loss; for i in $(seq 1 $n); do echo $i,0.$i; done; } > results/e1/7/tmp
        if [ $((n % 2)) = 0 ]; then mv results/e1/7/tmp results/e1/7/7.csv; else cat results/e1/7/tmp > results/e1/7/7.csv; fi
        sleep 0.3; done"""
    a = Attempt(tmp_path, script).run()
    assert a.rows() == [(i, {"loss": float(f"0.{i}")}) for i in range(1, 6)]


def test_a_truncated_file_that_begins_anew_is_read_again(tmp_path):
    a = Attempt(tmp_path, "f=results/e1/7/7.csv; printf 'epoch,loss\\n0,1\\n1,2\\n' > $f; while [ ! -e go ]; do sleep 0.05; done; "
                "printf 'epoch,acc\\n0,9\\n' > $f")
    p = a.start()
    wait_for(lambda: len(a.rows()) == 2, "the first rows")
    (a.work / "go").touch()
    p.communicate(timeout=DEADLINE_S)
    assert a.rows() == [(0, {"loss": 1}), (1, {"loss": 2}), (0, {"acc": 9})]


def test_files_are_found_by_themselves_and_data_is_left_alone(tmp_path):
    a = Attempt(tmp_path, """mkdir -p logs/v0; printf 'epoch,step,val_loss\\n0,10,0.5\\n' > logs/v0/metrics.csv
        printf 'y_true,y_pred\\n1,2\\n3,4\\n' > predictions.csv; printf '{"step": 3, "reward": NaN}\\n' > log.jsonl
        printf 'x,epoch,loss\\n1,1,1\\n' > data.csv.tmp""")
    (a.files / "labels.csv").write_text("epoch,loss\n1,1\n")
    a.run()
    assert sorted(a.rows(), key=str) == [(10, {"val_loss": 0.5}), (3, {"reward": "NaN"})]


def test_a_pattern_names_the_files(tmp_path):
    a = Attempt(tmp_path, "printf 'a\\n1\\n' > results/e1/x.csv; printf 'epoch,loss\\n1,1\\n' > other.csv; printf 'b\\n2\\n' > results/e1/y.txt",
                metrics={"csv": ["results/*/*.csv", "results/*/*.txt"]}).run()
    assert sorted(a.rows(), key=str) == [(1, {"a": 1}), (1, {"b": 2})]


def test_a_resumed_attempt_keeps_its_checkpoint_and_its_steps(tmp_path):
    first = Attempt(tmp_path, "echo 5 > $SLUICE_CHECKPOINT_DIR/c; printf 'epoch,loss\\n0,1\\n1,2\\n2,3\\n' > results/e1/7/7.csv; exit 1").run()
    assert len(first.rows()) == 3
    again = Attempt(tmp_path, "echo resume=$SLUICE_RESUME; cat $SLUICE_CHECKPOINT_DIR/c; printf '2,30\\n3,40\\n' >> results/e1/7/7.csv", attempt=2).run()
    assert again.stdout() == "resume=1\n5\n"
    assert again.records("start")[0]["resume"] is True and again.records("start")[0]["checkpoint"] is True
    assert again.rows()[-2:] == [(2, {"loss": 30}), (3, {"loss": 40})]
    fresh = Attempt(tmp_path, "echo resume=$SLUICE_RESUME; ls $SLUICE_CHECKPOINT_DIR results/e1/7", attempt=3, fresh=True).run()
    assert "checkpoint" not in fresh.records("start")[0]
    empty = Attempt(tmp_path, "true", attempt=4).run().records("start")[0]
    assert empty["resume"] is True and "checkpoint" not in empty  # nothing was left in its folder
    assert fresh.stdout().splitlines()[0] == "resume=" and "7.csv" not in fresh.stdout() and "\nc\n" not in fresh.stdout()


@pytest.mark.parametrize("layout", ["new", "old"])
def test_rows_that_a_killed_runner_did_not_tell_are_told_by_the_next(tmp_path, layout):
    where = {"attempt_dir": str(tmp_path / "tasks/7/attempts/1")} if layout == "old" else {}
    first = Attempt(tmp_path, **where, script="f=results/e1/7/old.csv; printf 'epoch,loss\\n0,1\\n' > $f; touch ready; while [ ! -e go ]; do sleep 0.02; done; printf '1,2\\n' >> $f; touch written; sleep 1000")
    p = first.start()
    wait_for((first.work / "ready").exists, "the script")
    os.kill(p.pid, signal.SIGSTOP)
    wait_for(lambda: stat_of(p.pid)[0] == "T", "the runner stands")  # from here on it cannot read what the script writes
    (first.work / "go").touch()
    wait_for((first.work / "written").exists, "the last row")
    p.kill()
    p.communicate()
    assert (1, {"loss": 2}) not in first.rows()
    again = Attempt(tmp_path, "true", attempt=2).run()
    assert again.rows() == [(0, {"loss": 1}), (1, {"loss": 2})]
    third = Attempt(tmp_path, "true", attempt=3).run()
    assert third.rows() == []


def test_a_claim_is_not_ours_because_a_killed_runner_had_our_pid(tmp_path):
    """In containers pids are the same again and again: here it is 1."""
    a = Attempt(tmp_path, "touch ran")
    (a.batch / "0.claim").write_text("{}\n")
    os.link(a.batch / "0.claim", a.batch / f"0.claim.{os.uname().nodename}.1")
    done = subprocess.run(["unshare", "--pid", "--fork", "--", BIN, "exec", str(a.batch), "0"], capture_output=True, text=True)
    if "unshare" in done.stderr:
        pytest.skip("no name space for pids here")
    assert done.returncode == 0 and not a.records() and not (a.work / "ran").exists()
    assert sorted(p.name for p in a.batch.iterdir()) == ["0.claim", "0.json"]


def test_rows_are_told_also_after_attempts_that_never_began(tmp_path):
    first = Attempt(tmp_path, "f=results/e1/7/old.csv; printf 'epoch,loss\\n0,1\\n' > $f; touch ready; sleep 20")
    p = first.start()
    wait_for((first.work / "ready").exists, "the script")
    p.kill()
    p.communicate()
    # The second runner was killed before it had a journal; the third was told to stop before it started.
    third = Attempt(tmp_path, "true", attempt=3)
    third.dir.mkdir(parents=True)
    (third.dir / "stop").touch()
    third.run()
    assert third.end()["cause"] == "stopped" and not third.records("start")
    assert Attempt(tmp_path, "true", attempt=4).run().rows() == [(0, {"loss": 1})]


def test_a_full_disk_delays_the_journal_and_loses_nothing(tmp_path):
    """A limit on the size of the runner's files stands for the disk; the script has no such limit."""
    a = Attempt(tmp_path, "f=results/e1/7/7.csv; touch ready; while [ ! -e go ]; do sleep 0.02; done; printf 'epoch,loss\\n0,1\\n1,2\\n2,3\\n' > $f")
    p = a.start()
    wait_for((a.work / "ready").exists, "the script")
    old = resource.prlimit(p.pid, resource.RLIMIT_FSIZE)

    def journal_size():
        return (a.dir / "journal").stat().st_size

    def limited():  # a sample may be written between the look and the limit
        found = journal_size()
        resource.prlimit(p.pid, resource.RLIMIT_FSIZE, (found + 30, old[1]))
        return found == journal_size() and found

    size = wait_for(limited, "a journal that stands still")
    (a.work / "go").touch()
    wait_for(lambda: journal_size() == size + 30, "the torn line")
    wait_for(lambda: not is_alive(a.records("start")[0]["pgid"]), "the script's end")
    assert p.poll() is None
    resource.prlimit(p.pid, resource.RLIMIT_FSIZE, old)
    p.communicate(timeout=DEADLINE_S)
    assert a.rows() == [(0, {"loss": 1}), (1, {"loss": 2}), (2, {"loss": 3})]
    assert a.end()["cause"] == "ok"


def test_report_appends_rows(tmp_path):
    a = Attempt(tmp_path, 'set -e; "$SLUICE_BIN" report val_loss=0.31 epoch=4; "$SLUICE_BIN" report val_loss=nan acc=1e-3 epoch=5').run()
    assert a.end()["cause"] == "ok", a.end()
    assert a.rows() == [(4, {"val_loss": 0.31}), (5, {"val_loss": "NaN", "acc": 0.001})]


def left(a):
    return sorted(str(path.relative_to(a.task)) for path in a.task.rglob("*"))


def test_what_is_empty_is_removed_at_the_end(tmp_path):
    a = Attempt(tmp_path, 'test -d "$SLUICE_CHECKPOINT_DIR" && test -d results/e1/7 && "$SLUICE_BIN" report loss=1').run()
    assert a.end()["cause"] == "ok" and a.rows() == [(1, {"loss": 1})]
    assert left(a) == ["journal", "params.json", "work"]


def test_what_holds_something_stays(tmp_path):
    a = Attempt(tmp_path, 'echo out; echo err >&2; touch "$SLUICE_CHECKPOINT_DIR/c" results/e1/seen; echo "not JSON" > "$SLUICE_REPORT"').run()
    assert left(a) == ["checkpoint", "checkpoint/c", "journal", "params.json", "report.jsonl", "stderr", "stdout", "work",
                       "work/results", "work/results/e1", "work/results/e1/seen"]


def test_an_attempt_that_was_given_up_takes_no_folder_from_the_next(tmp_path):
    a = Attempt(tmp_path, "touch ready; while [ ! -e go ]; do sleep 0.02; done")
    p = a.start()
    wait_for((a.work / "ready").exists, "the script")
    (a.dir / "stop").touch()
    (a.work / "go").touch()
    p.communicate(timeout=DEADLINE_S)
    assert (a.task / "checkpoint").is_dir() and (a.work / "results/e1/7").is_dir()


@pytest.mark.parametrize("args, status, says", [
    (["loss=1"], 1, "SLUICE_REPORT"), ([], 2, "usage"), (["loss"], 2, "NAME=VALUE"), (["loss=abc"], 2, "not a number")])
def test_report_says_what_is_wrong(args, status, says, tmp_path):
    env = dict(os.environ)
    env.pop("SLUICE_REPORT", None)
    if status == 2:
        env["SLUICE_REPORT"] = str(tmp_path / "r.jsonl")
    done = subprocess.run([BIN, "report", *args], env=env, stderr=subprocess.PIPE)
    assert done.returncode == status and says in done.stderr.decode()


def test_samples_count_what_the_script_started(tmp_path):
    a = Attempt(tmp_path, "python3 -c 'import time; x = bytearray(b\"x\" * (100 << 20)); time.sleep(1000)' & echo $! > child; wait")
    p = a.start()
    # The first one may come before Python has begun.
    sample = wait_for(lambda: next((s for s in a.records("sample") if s["max_rss_bytes"] > 100 << 20), None), "a sample of 100 MB")
    p.send_signal(signal.SIGTERM)
    p.communicate(timeout=DEADLINE_S)
    assert sample["cpu_ms"] > 0 and sample["wall_ms"] >= 2000
    assert a.end()["max_rss_bytes"] >= sample["max_rss_bytes"] and a.end()["cpu_ms"] >= sample["cpu_ms"]


def test_a_broken_descriptor_is_reported(tmp_path):
    a = Attempt(tmp_path, "")
    (a.batch / "0.json").write_text('{"argv": "x"')
    a.run()
    assert a.status == 1 and "0.json" in a.said


def test_broken_rows_are_noted(tmp_path):
    a = Attempt(tmp_path, "printf 'epoch,loss\\n0,1\\n1\\n2,3\\n' > results/e1/7/7.csv").run()
    assert a.rows() == [(0, {"loss": 1}), (2, {"loss": 3})]
    assert [r["text"] for r in a.records("note")] == ["results/e1/7/7.csv: line 3 has 1 fields, the header 2"]


# The submitted files.


def test_a_later_attempt_finds_the_files_as_the_script_left_them(tmp_path):
    script = """
        if [ $SLUICE_ATTEMPT = 1 ]; then echo changed > config.json; rm gone.txt; exit 3; fi
        cat config.json; ls gone.txt new.txt 2>&1; cat again.txt"""
    files = tmp_path / "files"
    files.mkdir()
    for name in ("config.json", "gone.txt", "again.txt"):
        (files / name).write_text("submitted")
    Attempt(tmp_path, script).run()
    (files / "again.txt").write_text("submitted again")  # by a restart with another file
    (tmp_path / "tasks/7/work.new").mkdir()  # of a runner that was killed while it copied
    (tmp_path / "tasks/7/work.new/config.json").write_text("half")
    a = Attempt(tmp_path, None, attempt=2).run()
    assert a.stdout().startswith("changed\nls: cannot access 'gone.txt'") and a.stdout().endswith("submitted again")


def test_a_runner_that_was_killed_while_it_copied_leaves_whole_files_to_the_next(tmp_path):
    a = Attempt(tmp_path, "cmp data.bin ../../../files/data.bin && echo whole")
    (a.files / "data.bin").write_bytes(os.urandom(32 << 20))
    p = a.start()
    # At whatever point of the copy this comes: the next attempt must have all of it.
    wait_for(lambda: (a.task / "work.new").exists() or a.work.exists(), "the copy has begun")
    p.kill()
    p.wait()
    b = Attempt(tmp_path, None, attempt=2).run()
    assert b.stdout() == "whole\n" and not (a.task / "work.new").exists()


def test_after_a_good_end_what_the_script_did_not_change_is_removed_and_comes_back(tmp_path):
    a = Attempt(tmp_path, """
        if [ $SLUICE_ATTEMPT = 1 ]; then echo x >> kept.txt; mkdir __pycache__; touch __pycache__/a.pyc data/own; fi; cat data/in""")
    (a.files / "data").mkdir()
    for name in ("kept.txt", "data/in", "unused"):
        (a.files / name).write_text("in\n")
    a.run()
    assert a.stdout() == "in\n"
    assert sorted(str(f.relative_to(a.work)) for f in a.work.rglob("*")) == ["data", "data/own", "kept.txt"]
    b = Attempt(tmp_path, None, attempt=2).run()
    assert b.stdout() == "in\n" and (a.work / "kept.txt").read_text() == "in\nx\n"


def test_a_large_file_is_a_link_and_the_journal_says_so(tmp_path):
    a = Attempt(tmp_path, "readlink big.bin; test -L script.sh || echo own", copy_limit_bytes=1000)
    (a.files / "big.bin").write_bytes(b"x" * 1001)
    a.run()
    assert a.stdout() == f"{a.files}/big.bin\nown\n"
    assert [r["text"] for r in a.records("note")] == [
        "big.bin (1001 B) is a read-only link to the submitted file, because it is larger than copy_limit (1000 B)"]


def test_submitted_tables_are_no_metrics_until_the_script_adds_to_them(tmp_path):
    script = "if [ $SLUICE_ATTEMPT = 1 ]; then kill -9 $PPID; sleep 9; fi; echo 2,5 >> log.csv"
    a = Attempt(tmp_path, script)
    for name in ("train.csv", "log.csv"):
        (a.files / name).write_text("epoch,loss\n1,9\n")
    a.run()
    b = Attempt(tmp_path, None, attempt=2).run()
    assert a.rows() == [] and (2, {"loss": 5}) in b.rows() and len(b.rows()) <= 2
