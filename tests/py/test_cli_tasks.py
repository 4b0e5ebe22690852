"""The command line against the real daemon: looking at experiments and tasks, changing them and following them, on and off a
terminal."""

import pathlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess

import pytest

from command_line import Terminal, cli  # noqa: F401 (a fixture)
from conftest import DEADLINE_S, PROGRAM, wait_for


# Looking.


def test_ls_and_show_say_what_is_known(cli):
    assert "no experiments" in cli("ls").stdout
    assert "no experiment fits these options" in cli("ls", "--state", "paused").stdout
    cli("run", "train.py", "lr=1,2", "--name", "first")
    cli("run", "train.py", "fail=yes", "--name", "second", status=1)
    rows = cli("ls").stdout.splitlines()
    assert rows[1].startswith("e2  second  error") and "1 failed" in rows[1]
    assert rows[2].startswith("e1  first   finished") and "2/2" in rows[2]
    assert [e["id"] for e in cli.json("ls", "--state", "finished", "--json")["items"]] == ["e1"]
    shown = cli("show", "e1").stdout
    assert "2 in all, 2 finished" in shown and "e1/2" in shown
    assert cli.json("show", "e1/2", "--json")["number"] == 2
    assert "there is no" in cli("show", "e99", status=1).stderr
    assert "is not an id" in cli("show", "x1", status=2).stderr


def test_text_of_others_cannot_command_a_terminal(cli):
    name = "a\033[2J\033]0;owned\a\u202eb"
    cli("run", "train.py", "--name", "plain", "--description", name)
    terminal = Terminal(cli, "show", "e1", env={"NO_COLOR": "1"})
    assert terminal.finish() == 0
    assert "\033" not in terminal.text and "\u202e" not in terminal.text and "^[[2J" in terminal.text


def test_colours_are_for_terminals_without_no_color(cli):
    cli("run", "train.py")
    terminal = Terminal(cli, "ls")
    terminal.finish()
    assert "\033[32mfinished" in terminal.text
    terminal = Terminal(cli, "ls", env={"NO_COLOR": "1"})
    terminal.finish()
    assert "\033" not in terminal.text


def test_tables_fit_the_terminal(cli):
    cli("run", "train.py", "lr=1,2", "--name", "日本語 " * 15)
    for columns in (40, 60, 100):
        for arguments in (["ls"], ["show", "e1"]):
            terminal = Terminal(cli, *arguments, size=(24, columns), env={"NO_COLOR": "1"})
            assert terminal.finish() == 0
            table = terminal.text.partition("\r\n\r\n")[2] or terminal.text
            for line in table.splitlines():
                assert sum(2 if ord(c) > 0x2e80 else 1 for c in line) <= columns, line


def test_logs_follow_until_the_task_is_over(cli):
    (cli.folder / "slow.py").write_text("import sys, time\nfor i in range(8):\n    print('line', i, flush=True)\n    time.sleep(0.1)\n"
                                        "print('bye', file=sys.stderr)\n")
    id = cli.create("slow.py")
    out = cli("logs", "-f", f"{id}/1").stdout
    assert [f"line {i}" for i in range(8)] == re.findall(r"line \d", out)
    assert "==> stderr <==\nbye\n" in out  # whatever of stdout is read after it
    assert cli("logs", f"{id}/1", "--stream", "stderr").stdout == "bye\n"
    assert cli("logs", f"{id}/1", "--stream", "stdout", "--tail", "7").stdout == "line 7\n"
    assert "give a task" in cli("logs", id, status=2).stderr


def test_long_output_is_printed_whole(cli):
    (cli.folder / "long.py").write_text("for i in range(100000): print('row', i)\n")
    id = cli.create("long.py")
    cli.ended(id)
    assert cli("logs", f"{id}/1", "--stream", "stdout").stdout == "".join(f"row {i}\n" for i in range(100000))


# Changing.


def test_stop_restart_and_rm(cli):
    id = cli.create("train.py", "lr=1,2", "epochs=100000", "pause=0.1")
    wait_for(lambda: cli.json("show", id, "--json")["tasks"]["running"] >= 1, "nothing runs")
    assert "--yes" in cli("rm", id, status=2, text="").stderr
    assert "--stop" in cli("rm", "--yes", id, status=1).stderr
    cli("stop", id)
    assert cli.ended(id)["state"] == "stopped"
    assert "there was nothing to do" in cli("stop", id).stdout
    assert cli("restart", f"{id}/1").stdout.startswith(f"{id}/1 is to run again: restarted by the user: from the beginning")
    wait_for(lambda: cli.json("show", f"{id}/1", "--json")["state"] == "running", "not restarted")
    assert cli.json("show", f"{id}/1", "--json")["attempt"] == 2
    assert cli("stop", f"{id}/1").stdout in (f"{id}/1 is asked to stop\n", f"{id}/1 is stopped\n")
    assert cli.json("show", id, "--json")["name"] == "train"
    cli("rm", "--yes", "--stop", id)
    wait_for(lambda: cli.json("ls", "--json")["total"] == 0, "not removed")
    assert "there is no" in cli("stop", id, status=1).stderr


def test_rm_asks_on_a_terminal(cli):
    cli("run", "train.py", "--name", "keep me")
    terminal = Terminal(cli, "rm", "e1")
    terminal.until(r"keep me.*\[y/N\]")
    terminal.send("n\n")
    assert terminal.finish() == 1
    assert cli.json("ls", "--json")["total"] == 1
    terminal = Terminal(cli, "rm", "e1")
    terminal.until(r"\[y/N\]")
    terminal.send("y\n")
    assert terminal.finish() == 0
    assert cli.json("ls", "--json")["total"] == 0


SAVES = """
import os, pathlib
saved = pathlib.Path(os.environ["SLUICE_CHECKPOINT_DIR"], "n")
begin = int(saved.read_text()) if saved.exists() else 0
with open("log.csv", "a") as log:
    if not log.tell():
        log.write("epoch,loss\\n")
    for epoch in range(begin, begin + 3):
        log.write(f"{epoch},{10 - epoch}\\n")
saved.write_text(str(begin + 3))
if not begin:
    raise ValueError("half way")
"""


def test_restart_goes_on_from_a_checkpoint_or_begins_anew_and_asks_before_results_go(cli):
    (cli.folder / "saves.py").write_text(SAVES)

    def curve():
        return cli.json("export", "e1", "--format", "json")["tasks"][0]["metrics"]["loss"]["step"]

    cli("run", "saves.py", status=1)
    assert curve() == [0, 1, 2]
    assert cli("restart", "e1/1").stdout.endswith("goes on from its checkpoint\n")
    assert cli.ended("e1")["state"] == "finished" and curve() == [0, 1, 2, 3, 4, 5]
    refused = cli("restart", "e1", status=2, text="").stderr
    assert "1 of the tasks has finished" in refused and "--yes" in refused
    assert "--resume" in cli("restart", "e1", "--resume", "--fresh", "--yes", status=2).stderr
    cli("restart", "e1", "--fresh", "--yes")
    assert cli.ended("e1")["state"] == "error" and curve() == [0, 1, 2]
    task = pathlib.Path(cli.json("show", "e1/1", "--json")["folder"])
    assert (task / "checkpoint/n").read_text() == "3" and not (task / "work.old").exists() and not (task / "checkpoint.old").exists()
    (cli.folder / "saves.py").write_text(SAVES + "print('corrected')\n")
    cli("restart", "e1", "--failed", "--with", "saves.py")
    assert cli.ended("e1")["state"] == "finished" and "corrected" in cli("logs", "e1/1").stdout
    assert "the script was replaced at" in cli("show", "e1").stdout


def test_a_stopped_search_is_said_to_go_on_by_resume(cli):
    wait = cli.folder / "wait"
    (cli.folder / "slow.py").write_text("import os, time\nprint('epoch 1 loss 1', flush=True)\n"
                                        f"while os.path.exists({str(wait)!r}): time.sleep(0.1)\n")
    cli("run", "slow.py", "x=0..1", "--strategy", "random", "--tasks", "1", "--objective", "loss")
    wait.touch()
    cli("change", "e1", "--tasks", "3")
    cli("stop", "e1")
    assert cli.ended("e1")["state"] == "stopped"
    assert "`sluice resume` goes on where it was stopped" in cli("restart", "e1", status=2, text="").stderr
    assert "'sluice resume e1' lets it go on" in cli("change", "e1", "--tasks", "4").stdout
    wait.unlink()
    cli("resume", "e1")
    assert cli.ended("e1")["tasks"]["finished"] == 4


def test_restart_failed_leaves_the_others_alone(cli):
    cli("run", "train.py", "fail=yes,no")
    assert "1 task to run again" in cli("restart", "e1", "--failed").stdout
    cli.ended("e1")
    assert [cli.json("show", f"e1/{n}", "--json")["attempt"] for n in (1, 2)] == [2, 1]


def test_parallel_changes_how_many_run(cli):
    id = cli.create("train.py", "lr=1,2,3", "epochs=100000", "pause=0.1", "--parallel", "1")
    assert "up to 2 tasks" in cli("parallel", id, "2").stdout
    assert cli.json("show", id, "--json")["parallel"] == 2
    assert "as many tasks at the same time as fit" in cli("parallel", id, "0").stdout
    assert cli.json("show", id, "--json")["parallel"] in (0, None)
    assert "expected a number from 0 (as many as fit)" in cli("parallel", id, "none", status=2).stderr
    cli("stop", id)


def test_export_is_whole_or_not_there(cli):
    cli("run", "train.py", "lr=1,2", "--objective", "val_loss")
    rows = cli("export", "e1").stdout.splitlines()
    assert rows[0].startswith("task,state,") and len(rows) == 3
    whole = cli.json("export", "e1", "--format", "json")
    assert len(whole["tasks"]) == 2 and whole["tasks"][0]["metrics"]["val_loss"]["value"] == [1, 0.5]
    cli("export", "e1", "--format", "json", "-o", "e1.json")
    assert json.loads((cli.folder / "e1.json").read_text())["id"] == "e1"
    assert "there is no" in cli("export", "e9", "-o", "e9.csv", status=1).stderr
    assert not list(cli.folder.glob("e9.csv*"))


def test_login_and_tokens_open_the_door(cli):
    url = cli("login").stdout.strip()
    match = re.fullmatch(r"http://(127\.0\.0\.1):(\d+)/#login=(.+)", url)
    assert match
    token = cli("token", "create", "notebook").stdout.strip()
    assert token and token not in cli("token", "list").stdout
    assert "notebook" in cli("token", "list").stdout

    def ask():
        connection = http.client.HTTPConnection(match.group(1), int(match.group(2)), timeout=30)
        connection.request("GET", "/api/v1/experiments", headers={"Authorization": f"Bearer {token}"})
        return connection.getresponse().status

    assert ask() == 200
    cli("token", "revoke", cli.json("token", "list", "--json")["items"][0]["id"])
    assert ask() == 401


def test_login_over_ssh_says_how_to_reach_the_page_also_without_a_terminal(cli):
    cli.env.pop("SSH_CONNECTION", None)
    cli("ls")
    assert cli("login").stderr == ""
    said = cli("login", env={"SSH_CONNECTION": "192.0.2.1 50000 192.0.2.2 22"})
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/#login=\S+\n", said.stdout), said.stdout
    port, path = re.search(r"ssh -L '?(\d+):(/[^' ]+)'? \S+@\S+\n  then open http://localhost:\1,", said.stderr).groups()
    with socket.socket(socket.AF_UNIX) as door:
        door.connect(path)
        door.sendall(f"GET /api/v1/info HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\n\r\n".encode())
        assert door.makefile("rb").readline().split()[1] == b"200"


def test_doctor_waits_for_a_slow_nvidia_smi(make_daemon, folder, monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    program = folder / "bin" / "nvidia-smi"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nsleep 2\necho '0, GPU-a, 1000, Test GPU'\n")
    program.chmod(0o755)
    daemon = make_daemon(env={"PATH": f"{program.parent}:{os.environ['PATH']}"}).start()
    assert "1 GPU (Test GPU)" in daemon.cli("doctor", status=None).stdout


def test_doctor_says_what_it_waits_for_on_a_slow_cluster(make_daemon, folder, monkeypatch):
    """A Slurm of scripts whose controller takes its time, and whose job never starts."""
    programs = {"scontrol": "sleep 1; if [ \"$1\" = ping ]; then echo 'Slurmctld(primary) at here is UP'\n"
                            "else printf 'SLURM_VERSION = 22.05.8\\nMaxArraySize = 1001\\n'; fi",
                "sinfo": "printf 'cpu*\\037up\\037infinite\\0371\\037idle\\0374\\0371000\\037(null)\\n'",
                "sbatch": "cat >/dev/null; echo 17", "squeue": ":"}
    (folder / "bin").mkdir()
    for name, text in programs.items():
        path = folder / "bin" / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
    env = {"PATH": f"{folder}/bin:{os.environ['PATH']}", "SLURM_CONF": ""}
    daemon = make_daemon(env=env).start()
    doctor = subprocess.Popen([PROGRAM, "doctor"], env={**os.environ, **env, "SLUICE_STATE": str(daemon.state)},
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert doctor.stderr.readline() == "a test job of one second looks at the cluster from a compute node...\n"
    doctor.kill()
    doctor.communicate()


def test_doctor_without_a_daemon_says_what_was_not_tried(folder):
    (folder / "file").write_text("no folder")
    env = {**os.environ, "SLUICE_STATE": str(folder / "file"), "NO_COLOR": "1"}
    done = subprocess.run([PROGRAM, "doctor"], env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "set SLUICE_STATE to a folder of yours" in done.stdout
    assert "whether a compute node reaches the daemon" in done.stdout


def test_doctor_says_what_is_here(cli):
    out = cli("doctor", status=None).stdout
    assert str(cli.state) in out and "the daemon answers" in out and "local" in out
    assert "will be made" not in out, "it was made for this very look"
    assert any(b["name"] == "local" for b in json.loads(cli("doctor", "--json", status=None).stdout)["backends"])


# The live view.


def test_the_live_view_draws_bars_and_the_best(cli):
    terminal = Terminal(cli, "run", "train.py", "lr=1,2", "epochs=20", "--objective", "val_loss", "--env", f"HOLD={cli.folder}/go")
    terminal.until(r"e1/1 .*━.*\d/20")
    terminal.resize(10, 60)
    (cli.folder / "go").touch()
    assert terminal.finish() == 0
    last = terminal.text.split("\033[J")[-1]
    assert "e1  train  finished" in last and "2/2" in last
    assert "best  val_loss 0.05 at epoch 19" in last
    assert re.search(r"\033\[\d+A", terminal.text)


def test_ctrl_c_leaves_the_experiment_alone(cli):
    terminal = Terminal(cli, "run", "train.py", "epochs=100000", "pause=0.1")
    terminal.until(r"1 running")
    terminal.send("\x03")
    assert terminal.finish() == 130
    assert "e1 keeps running" in terminal.text and "sluice stop e1" in terminal.text
    assert cli.json("show", "e1", "--json")["state"] == "running"
    cli("stop", "e1")
    assert cli("watch", "e1", status=1).stdout.splitlines()[-1].startswith("e1 stopped: ")


@pytest.mark.parametrize("tty", [True, False])
def test_following_survives_a_daemon_that_is_killed(cli, tty):
    arguments = ["run", "train.py", "lr=1,2,3", "epochs=10", "pause=0.05", "--objective", "val_loss", "--parallel", "1",
                 "--env", f"HOLD={cli.folder}/go"]
    if tty:
        terminal = Terminal(cli, *arguments)
        terminal.until(r"1 running")
    else:
        process = subprocess.Popen([PROGRAM, *arguments], env=cli.env, cwd=cli.folder, stdout=subprocess.PIPE, text=True)
        wait_for(lambda: cli.state.exists() and "running" in cli("ls").stdout, "nothing runs")
    os.kill(cli.daemon_pid(), signal.SIGKILL)
    wait_for(lambda: cli("daemon", "status", status=None).returncode, "the daemon is still there")
    cli("daemon", "start")
    (cli.folder / "go").touch()
    if tty:
        assert terminal.finish() == 0
        assert "3/3" in terminal.text.split("\033[J")[-1]
    else:
        out, _ = process.communicate(timeout=DEADLINE_S)
        assert process.returncode == 0
        for number in (1, 2, 3):
            assert out.count(f"e1/{number} finished") == 1, out


def test_watching_what_is_removed_ends(cli):
    id = cli.create("train.py", "epochs=100000", "pause=0.1")
    process = subprocess.Popen([PROGRAM, "watch", id], env=cli.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_for(lambda: cli.json("show", id, "--json")["tasks"]["running"], "nothing runs")
    cli("rm", "--yes", "--stop", id)
    process.communicate(timeout=DEADLINE_S)
    assert process.returncode == 1
    assert "there is no" in cli("watch", "e99", status=1).stderr
