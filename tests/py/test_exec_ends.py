"""How attempts end under `sluice exec`: exit codes, setup lines, stops, signals and time limits."""
import json
import os
import re
import resource
import signal
import subprocess
import time

import pytest

from attempt import Attempt, BIN, children, is_alive
from conftest import DEADLINE_S, wait_for


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


@pytest.mark.parametrize("end, counts", [("kill -9 $$", False), ("bash -c 'kill -9 $$'; exit $?", False), ("exit 0", True), ("exit 1", True)])
def test_a_last_line_without_an_end_counts_unless_the_script_was_killed(tmp_path, end, counts):
    a = Attempt(tmp_path, f"printf 'epoch,loss\\n11,0.5\\n12,0.4' > m.csv\n{end}").run()
    assert a.rows() == [(11, {"loss": 0.5}), (12, {"loss": 0.4})][:1 + counts]
    notes = [note["text"] for note in a.records("note")]
    assert ("m.csv: line 3 has no end and does not count: the script was killed" in notes) == (not counts), notes


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


def test_the_end_is_seen_where_the_parent_ignores_ends_of_children(tmp_path):
    a = Attempt(tmp_path, "exit 3")
    done = subprocess.run(["bash", "-c", f"trap '' CHLD HUP; exec {BIN} exec {a.batch} 0"], timeout=DEADLINE_S)
    assert (done.returncode, a.end()["exit_code"]) == (3, 3)


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


def test_a_table_that_is_too_wide_to_be_read_is_named(tmp_path):
    script = """python3 -c 'print(",".join(["epoch"] + [f"column{n:05}" for n in range(10000)])); print(",".join(["1"] * 10001))' > wide.csv"""
    a = Attempt(tmp_path, script).run()
    assert a.end()["cause"] == "ok" and not a.records("metric")
    assert [r["text"] for r in a.records("note")] == [
        "wide.csv is not read as metrics: its first line is longer than 64 KB; a table of at most 256 columns is read"]
