"""The command line against the real daemon: submitting and help, with daemons that are absent, killed, of another
version or not daemons at all."""

import hashlib
import json
import os
import pty
import re
import select
import shutil
import signal
import socket
import socketserver
import subprocess
import threading

import pytest

from command_line import TRAIN, Terminal, cli  # noqa: F401 (a fixture)
from conftest import DEADLINE_S, PROGRAM, ROOT, UnixConnection, wait_for


# The daemon.


def test_a_verb_starts_the_daemon_once_and_says_so(cli):
    first = cli("ls")
    assert f"started the daemon (log: {cli.state}/daemon.log)" in first.stderr
    assert "started" not in cli("ls").stderr
    assert (cli.state.stat().st_mode & 0o777) == 0o700


def test_verbs_that_start_at_once_end_with_one_daemon(cli):
    many = [subprocess.Popen([PROGRAM, "ls", "--json"], env=cli.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for _ in range(8)]
    said = [process.communicate(timeout=DEADLINE_S) for process in many]
    assert [process.returncode for process in many] == [0] * 8
    assert sum("started the daemon" in err for _, err in said) == 1
    assert all(json.loads(out)["total"] == 0 for out, _ in said)


def test_a_socket_left_behind_is_no_daemon(cli):
    cli.state.mkdir(mode=0o700)
    stale = socket.socket(socket.AF_UNIX)
    stale.bind(str(cli.state / "sluice.sock"))
    stale.close()
    assert "started the daemon" in cli("ls").stderr


def test_after_a_kill_the_next_verb_starts_it_again(cli):
    cli("ls")
    os.kill(cli.daemon_pid(), signal.SIGKILL)
    wait_for(lambda: "no daemon" in cli("daemon", "status", status=None).stdout, "the daemon is still there")
    assert "started the daemon" in cli("ls").stderr


def test_daemon_stop_waits_and_status_says_it(cli):
    stopped = ["no daemon is running", "not kept alive without a login session; see 'sluice daemon install --dry-run'"]
    assert cli("daemon", "status", status=1).stdout.splitlines() == stopped
    cli("daemon", "start")
    pid = cli.daemon_pid()
    cli("daemon", "restart")
    assert cli.daemon_pid() != pid
    cli("daemon", "stop")
    assert cli("daemon", "status", status=1).stdout.splitlines() == stopped
    assert not (cli.state / "sluice.sock").exists() or cli("daemon", "stop").stdout == "no daemon is running\n"


def test_a_daemon_that_cannot_start_is_explained(cli):
    said = cli("ls", status=1, env={"SLUICE_LISTEN": "nonsense"}).stderr
    assert "daemon ended with status" in said and "daemon.log" in said
    cli.folder.joinpath("plain").write_text("x")
    said = cli("ls", status=1, env={"SLUICE_STATE": str(cli.folder / "plain" / "below")}).stderr
    assert "plain" in said


def test_a_state_folder_with_a_long_path_works(cli):
    cli.env["SLUICE_STATE"] = str(cli.folder / ("long-" * 24) / "state")
    if cli("ls", status=None).returncode != 0:
        pytest.skip("this daemon does not listen below a long path")
    assert "started" not in cli("ls").stderr


# Stand-ins for daemons: what answers on the socket may be anything.


class Listener:
    """Answers on STATE/sluice.sock with whatever `handle(connection)` writes."""

    def __init__(self, state, handle):
        state.mkdir(parents=True, exist_ok=True, mode=0o700)

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                handle(self.request)

        class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
            daemon_threads = True

        self.server = Server(str(state / "sluice.sock"), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def read_request(connection):
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(65536)
        if not more:
            return data
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    length = re.search(rb"(?i)content-length: *(\d+)", head)
    while length and len(body) < int(length.group(1)):
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body


def test_another_version_is_said(cli):
    def answer(connection):
        request = read_request(connection)
        body = b'{"version":"9.9.9"}' if b"/info" in request else b'{"items":[],"next":null,"total":0}'
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))

    with Listener(cli.state, answer):
        said = cli("ls").stderr
    assert "the daemon is version 9.9.9" in said and "sluice daemon restart" in said


@pytest.mark.parametrize("noise", [
    b"SSH-2.0-OpenSSH_9.2\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 3\r\n\r\n{\xff}", b"\0" * 100000,
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"], ids=["ssh", "huge", "json", "zeros", "chunk"])
def test_something_else_on_the_socket_is_an_error_not_a_crash(cli, noise):
    def answer(connection):
        read_request(connection)
        connection.sendall(noise)

    with Listener(cli.state, answer):
        done = cli("ls", status=1)
    assert done.stderr.startswith("sluice: ") and not done.stdout


def test_events_older_than_what_was_fetched_are_not_printed_again(cli):
    """The stream is opened before the tasks are fetched. A daemon that was busy sends events from before the fetch after it."""
    asked = threading.Event()

    def task(number, state, attempt):
        return {"id": f"e1/{number}", "number": number, "experiment": "e1", "state": state, "attempt": attempt}

    def experiment(state):
        return {"id": "e1", "name": "x", "state": state, "tasks": {"total": 2}}

    def answer(connection):
        request = read_request(connection)
        if b"/events" in request:
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
            asked.wait(DEADLINE_S)
            events = [task(1, "submitted", 1), task(1, "running", 1), task(1, "finished", 1), task(2, "running", 1),
                      task(1, "submitted", 2), task(1, "running", 2), task(1, "finished", 2)]
            text = "".join(f"event: task\ndata: {json.dumps(event)}\n\n" for event in events)
            text += f"event: experiment\ndata: {json.dumps(experiment('finished'))}\n\n"
            connection.sendall(b"%x\r\n%s\r\n" % (len(text), text.encode()))
            connection.recv(1)
            return
        body = {"version": "0"} if b"/info" in request else experiment("running")
        if b"/tasks" in request:
            body = {"items": [task(1, "finished", 1), task(2, "submitted", 1)], "next": None, "total": 2}
        body = json.dumps(body).encode()
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
        if b"/tasks" in request:
            asked.set()

    with Listener(cli.state, answer):
        lines = cli("watch", "e1", status=None).stdout.splitlines()
    assert [line for line in lines if line.startswith("e1/")] == [
        "e1/2 running", "e1/1 submitted", "e1/1 running", "e1/1 finished"], lines


def test_run_and_check_wait_for_the_first_look_at_the_cluster(cli, tmp_path):
    """A daemon that was just started does not know its partitions yet, and would accept one that does not exist."""
    seen = []

    def answer(connection):
        path = read_request(connection).split()[1].decode().removeprefix("/api/v1")
        seen.append(path.partition("?")[0])
        asking = seen.count("/cluster") % 3 != 0
        body = {"version": "0", "detail": "no", "backends": [{"name": "slurm", "available": True, "asking": asking}]}
        body = json.dumps(body).encode()
        connection.sendall(b"HTTP/1.1 %d X\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" %
                           (400 if path.startswith(("/check", "/exp")) else 200, len(body), body))

    (tmp_path / "s.py").write_text("print(1)\n")
    with Listener(cli.state, answer):
        cli("check", tmp_path / "s.py", status=2)
        cli("run", tmp_path / "s.py", status=2)
    assert seen == ["/info", "/cluster", "/cluster", "/cluster", "/check",
                    "/info", "/cluster", "/cluster", "/cluster", "/check", "/experiments"], seen


def test_a_lost_answer_does_not_make_a_second_experiment(cli):
    """The request arrives, its answer does not: the command line asks again under the same key."""
    cli("ls")
    real = cli.state / "sluice.sock"
    lost = []

    def forward(connection):
        request = read_request(connection)
        with socket.socket(socket.AF_UNIX) as onward:
            onward.connect(str(real))
            onward.sendall(request)
            answer = b""
            while data := onward.recv(65536):
                answer += data
        if request.startswith(b"POST /api/v1/experiments ") and len(lost) < 2:
            lost.append(answer)
            return  # closed without a word
        connection.sendall(answer)

    with Listener(cli.folder / "between", forward):
        done = cli("run", "train.py", "--detach", "--json", env={"SLUICE_STATE": str(cli.folder / "between")})
    assert len(lost) == 2
    assert json.loads(done.stdout)["id"] == "e1"
    assert cli.json("ls", "--json")["total"] == 1


# Submitting.


def test_a_script_with_values_runs_every_configuration(cli):
    done = cli("run", "train.py", "lr=3,1,2", "epochs=2", "--objective", "val_loss", "--name", "three")
    lines = done.stdout.splitlines()
    assert lines[0].endswith("e1: three, 3 tasks on this machine")
    for number in (1, 2, 3):
        assert any(line.startswith(f"e1/{number} finished: best ") for line in lines), done.stdout
    assert lines[-1] == "e1 finished: val_loss 0.5 at epoch 1 in e1/2: lr=1"
    assert "\033" not in done.stdout
    best = cli.json("best", "e1", "-n", "3", "--json")["items"]
    assert [task["parameters"]["lr"] for task in best] == [1, 2, 3]
    assert cli("best", "e1", "-n1").stdout.count("e1/") == 1


def test_where_tasks_run_is_no_surprise(cli):
    # A login node, as far as this shell sees: Slurm's programs and its configuration.
    (cli.folder / "bin").mkdir()
    (cli.folder / "bin/sbatch").symlink_to("/bin/true")
    (cli.folder / "slurm.conf").touch()
    cli("daemon", "start", env={"SLURM_CONF": "/nonexistent"})
    here = {"PATH": f"{cli.folder}/bin:{cli.env['PATH']}", "SLURM_CONF": str(cli.folder / "slurm.conf")}
    # The daemon was started elsewhere and sees no Slurm: the tasks run here, which is said.
    done = cli("run", "--detach", "train.py", env=here)
    assert done.stdout.splitlines()[0] == "e1: train, 1 task on this machine"
    assert "this shell finds sbatch, but the daemon does not find Slurm" in done.stderr and "/nonexistent" in done.stderr
    assert "does not find Slurm" not in cli("run", "--detach", "train.py", env={**here, "SLURM_JOB_ID": "1"}).stderr
    # Who asks for this machine is asked once whether a login node is meant, and nobody is asked where nobody can answer.
    assert "does not find Slurm" not in cli("run", "--detach", "--backend", "local", "train.py", env=here).stderr
    for answer, status in (("n", 2), ("y", 0)):
        terminal = Terminal(cli, "run", "--detach", "--backend", "local", "train.py", env=here)
        terminal.until(r"may be a login node[^?]*\? \[y/N\] ")
        terminal.send(answer + "\n")
        assert terminal.finish() == status, terminal.text
    terminal = Terminal(cli, "run", "--detach", "--backend", "local", "train.py", env=here)
    assert terminal.finish() == 0 and "login node" not in terminal.text
    assert cli.json("ls", "--json")["total"] == 5


def test_what_is_over_without_a_metric_has_none_not_none_yet(cli):
    (cli.folder / "quiet.py").write_text("print('nothing measured')\n")
    lines = cli("run", "quiet.py").stdout.splitlines()
    assert lines[0].endswith("e1: quiet, 1 task on this machine") and lines[-1] == "e1 finished: no value was found for the objective"
    for verb in (["ls"], ["show", "e1"], ["show", "e1/1"]):
        out = cli(*verb).stdout
        assert "none" in out and "yet" not in out, out


def test_an_experiment_that_fails_has_exit_status_one_and_says_why(cli):
    done = cli("run", "train.py", "fail=yes", status=1)
    assert "e1/1 error: best 0.5: ValueError: broken on purpose\n" in done.stdout
    assert done.stdout.endswith("e1 error: val_loss 0.5 at epoch 1 in e1/1, which ended with ValueError: broken on purpose\n")
    assert "1 task failed: sluice show e1 --state error" in done.stderr
    shown = cli("show", "e1/1").stdout
    assert "ValueError: broken on purpose" in shown and "exit code 1" in shown
    assert "fail = yes" in shown
    assert "1 failed: ValueError: broken on purpose" in cli("ls").stdout


def test_a_file_takes_its_script_and_files_along(cli):
    content = bytes(range(256)) * 20
    large = os.urandom(5 << 20)
    project = cli.folder / "project"
    (project / "data").mkdir(parents=True)
    (project / "data" / "odd name.bin").write_bytes(content)
    (project / "data" / "large").write_bytes(large)
    (project / "go.py").write_text("import hashlib, sys\nfor p in ('data/odd name.bin', 'data/large'):\n"
                                   "    print(hashlib.sha256(open(p, 'rb').read()).hexdigest())\n")
    (project / "exp.yaml").write_text("script: go.py\nfiles: [data]\n")
    cli("run", "project/exp.yaml")
    assert cli("logs", "e1/1", "--stream", "stdout").stdout.split() == [hashlib.sha256(content).hexdigest(),
                                                                       hashlib.sha256(large).hexdigest()]


def test_a_wrong_file_is_explained_at_its_place(cli):
    (cli.folder / "exp.yaml").write_text("script: train.py\nparameters:\n  units: {min: 512, max: 16}\nserach: {tasks: 3}\n")
    for verb in ("check", "run"):
        done = cli(verb, "exp.yaml", status=2)
        assert re.search(r"^exp\.yaml:3:\d+: parameters\.units.*: .*512.*16", done.stderr, re.M), done.stderr
        assert re.search(r"^exp\.yaml:4:1: serach: ", done.stderr, re.M), done.stderr
        assert not done.stdout
    changed = cli("run", "exp.yaml", "--name", "x", status=2)  # sent as a tree: the places are found again
    assert re.search(r"^exp\.yaml:3:\d+: parameters\.units", changed.stderr, re.M), changed.stderr
    (cli.folder / "slash.yaml").write_text("script: train.py\nparameters: {a/b: [1, 2], c~d: 1}\n")
    said = cli("check", "slash.yaml", status=2).stderr
    assert "parameters.a/b: 'a/b' is not a name" in said and "parameters.c~d: " in said
    terminal = Terminal(cli, "check", "exp.yaml")
    assert terminal.finish() == 2
    assert "units: {min: 512, max: 16}\r\n" in terminal.text and re.search(r"^ +\S*\^", terminal.text, re.M)
    assert cli.json("ls", "--json")["total"] == 0


@pytest.mark.parametrize("arguments, said", [
    (["nope.yaml"], "nope.yaml: there is no such file"), (["."], ". is a folder"), (["train.py", "lr=1", "lr"], "expected name=values"),
    (["train.py", "ünits=1,2"], "'ünits' is not a name for a parameter: start with a letter; use letters without accents"),
    (["train.py", "--paralel", "3"], "did you mean --parallel?"), (["train.py", "--env", "X"], "expected NAME=VALUE"),
    ([], "arguments are missing"), (["broken.yaml"], "broken.yaml:1:4: "), (["gone.yaml"], "gone.yaml:1:1: script: other.py")])
def test_a_wrong_call_needs_no_daemon_and_has_exit_status_two(cli, arguments, said):
    (cli.folder / "broken.yaml").write_text("a: [1\n")
    (cli.folder / "gone.yaml").write_text("script: other.py\n")
    done = cli("run", *arguments, status=2)
    assert said in done.stderr
    assert not cli.state.exists()


def test_check_tells_of_missing_files_and_of_everything_else(cli):
    (cli.folder / "two.yaml").write_text("script: gone.py\nparameters: {units: {min: 512, max: 16}}\nserach: {}\n")
    done = cli("check", "two.yaml", status=2)
    assert not done.stdout
    assert re.search(r"^two\.yaml:1:1: script: gone\.py: there is no such file$", done.stderr, re.M), done.stderr
    assert "parameters.units" in done.stderr and "serach" in done.stderr
    (cli.folder / "one.yaml").write_text("script: gone.py\n")
    done = cli("check", "one.yaml", status=2)
    assert not done.stdout and "gone.py: there is no such file" in done.stderr


def test_check_counts_and_shows_what_would_be_submitted(cli):
    out = cli("check", "train.py", "lr=1,2", "epochs=1,2,3").stdout
    assert "6 = 2 × 3" in out and "lr=1 epochs=1" in out
    answer = cli.json("check", "train.py", "lr=1,2", "--json")
    assert answer["valid"] and answer["count"] == 2
    assert cli("check", "train.py", "--yaml").stdout.count("train.py") >= 1
    assert cli.json("ls", "--json")["total"] == 0


def test_run_json_prints_one_line_and_still_waits(cli):
    done = cli("run", "--json", "train.py", "fail=yes", status=1)
    assert done.stdout.count("\n") == 1
    assert json.loads(done.stdout)["id"] == "e1"


# Help, manual pages, completions: one table.


VERBS = subprocess.run([PROGRAM, "__man"], capture_output=True, text=True).stdout.split()


def options_of(verb):
    out = subprocess.run([PROGRAM, verb, "--help"], capture_output=True, text=True, check=True).stdout
    return sorted(set(re.findall(r"^  (?:-\w, )?--([a-z-]+)", out.partition("options:")[2], re.M)))


def test_help_is_there_for_everything(cli):
    out = cli("--help").stdout
    for verb in VERBS:
        assert re.search(rf"^  {verb} ", out, re.M)
        assert cli(verb, "--help").stdout.startswith(f"usage: sluice {verb}")
    lines = out.partition("[arguments]\n\n")[2].partition("\n\n")[0].splitlines()
    assert len(lines) == len(VERBS) and len({re.match(r"  \S+ +", line).end() for line in lines}) == 1, out
    assert re.fullmatch(r"sluice \d+\.\d+\.\d+\n", cli("--version").stdout)
    assert "did you mean 'show'?" in cli("shwo", status=2).stderr
    assert cli(status=2).stderr.startswith("sluice runs")
    assert not cli.state.exists()


@pytest.mark.skipif(not shutil.which("scdoc"), reason="scdoc is not installed")
def test_every_verb_and_option_has_its_place_in_the_manual(cli):
    overview = (ROOT / "docs" / "man" / "sluice.1.scd").read_text()
    for verb in VERBS:
        assert f"*sluice-{verb}*(1)" in overview, verb
        page = subprocess.run(["scdoc"], input=cli("__man", verb).stdout, capture_output=True, text=True, check=True).stdout
        for option in options_of(verb):
            assert f"\\-\\-{option}".replace("\\-", "-") in page.replace("\\-", "-"), (verb, option)
    for page in (ROOT / "docs" / "man").glob("*.scd"):
        subprocess.run(["scdoc"], input=page.read_text(), capture_output=True, text=True, check=True)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completions_know_every_verb_and_option(cli, shell):
    script = cli("completion", shell).stdout
    for verb in VERBS:
        assert verb in script
        for option in options_of(verb):
            assert (f"-l {option} " if shell == "fish" else f"--{option}") in script, (verb, option)
    if shutil.which(shell):
        path = cli.folder / "script"
        path.write_text(script)
        subprocess.run([shell, "-n", str(path)], check=True, timeout=DEADLINE_S)


@pytest.mark.skipif(not shutil.which("bash"), reason="bash is not installed")
def test_bash_completes_verbs_options_values_and_ids(cli):
    cli("run", "train.py")

    def complete(*words):
        script = ('source <("$0" completion bash); PATH=$(dirname "$0"):$PATH; COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); '
                  '_sluice 2>/dev/null; echo "${COMPREPLY[@]}"')
        done = subprocess.run(["bash", "-c", script, str(PROGRAM), *words], env=cli.env, capture_output=True, text=True,
                              timeout=DEADLINE_S)
        return done.stdout.split()

    assert complete("sluice", "sho") == ["show"]
    assert complete("sluice", "run", "--para") == ["--parallel"]
    assert complete("sluice", "run", "--pass", "p") == ["positional"]
    assert complete("sluice", "daemon", "st") == ["status", "start", "stop"]
    assert complete("sluice", "show", "") == ["e1"]


STRATEGIES = [line.split("\t")[0] for line in subprocess.run([PROGRAM, "__strategies"], capture_output=True, text=True).stdout.splitlines()]


def test_completion_has_every_strategy_that_the_daemon_has(cli):
    cli("daemon", "start")
    connection = UnixConnection(cli.state / "sluice.sock")
    connection.request("GET", "/api/v1/info")
    known = [strategy["name"] for strategy in json.loads(connection.getresponse().read())["strategies"]]
    connection.close()
    assert STRATEGIES == ["auto", *known] and "tpe" in known


@pytest.mark.parametrize("verb", ["run", "check", "change"])
@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_strategies_are_completed(cli, shell, verb):
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")

    def complete(*words):
        if shell == "bash":  # takes words apart at "="
            words = [part for word in words for part in re.split("(=)", word) if part or not word]
            script = ('source <("$0" completion bash); PATH=$(dirname "$0"):$PATH; COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); '
                      '_sluice 2>/dev/null; printf "%s\\n" "${COMPREPLY[@]}"')
            argv = ["bash", "-c", script, str(PROGRAM), *words]
        else:
            script = f"set -x PATH {PROGRAM.parent} $PATH; {PROGRAM} completion fish | source; complete -C '{' '.join(words)}'"
            argv = ["fish", "--no-config", "-c", script]
        out = subprocess.run(argv, env={**cli.env, "HOME": str(cli.folder)}, capture_output=True, text=True, timeout=DEADLINE_S).stdout
        return sorted(line.split("\t")[0].removeprefix("--strategy=") for line in out.splitlines())

    assert complete("sluice", verb, "x", "--strategy", "") == sorted(STRATEGIES)
    assert complete("sluice", verb, "x", "--strategy", "hyp") == ["hyperband"]
    assert complete("sluice", verb, "x", "--strategy=") == sorted(STRATEGIES)
    assert complete("sluice", verb, "x", "--strategy=hyp") == ["hyperband"]


@pytest.mark.skipif(not shutil.which("zsh"), reason="zsh is not installed")
@pytest.mark.parametrize("typed", ["run x --strategy hyperb", "change e1 --strategy=hyperb"])
def test_zsh_completes_strategies(cli, typed):
    (cli.folder / "script").write_text(cli("completion", "zsh").stdout)
    pid, fd = pty.fork()
    if pid == 0:
        os.chdir(cli.folder)
        env = {**cli.env, "TERM": "dumb", "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}", "HOME": str(cli.folder)}
        os.execvpe("zsh", ["zsh", "-f", "-i"], env)
    text = ""

    def until(pattern):
        nonlocal text

        def seen():
            nonlocal text
            if select.select([fd], [], [], 0.05)[0]:
                text += os.read(fd, 65536).decode(errors="replace")
            return re.search(pattern, text)

        wait_for(seen, lambda: f"{pattern} in {text[-2000:]!r}")

    try:
        os.write(fd, b"unsetopt zle_bracketed_paste; PS1='rea''dy> '; autoload -Uz compinit; compinit -u -D; source ./script; print com''pletes\n")
        until("completes(?s:.)*ready> ")
        os.write(fd, f"sluice {typed}\t".encode())
        until("hyperband")
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(fd)


# How long it may take.


def cpus_of(cli):
    """The CPUs that the daemon has to give."""
    connection = UnixConnection(cli.state / "sluice.sock")
    connection.request("GET", "/api/v1/cluster")
    found = json.loads(connection.getresponse().read())
    connection.close()
    return next(backend["cpus"] for backend in found["backends"] if backend["name"] == "local")


def said_time(cli, *args):
    return re.findall(r"^time +(.*)$", cli("check", *args).stdout, re.M)


def test_check_says_how_long_it_may_take_once_the_script_has_run(cli):
    assert said_time(cli, "train.py", "lr=1,2,3") == []
    assert cli.json("check", "--json", "train.py", "lr=1,2,3")["estimate"] is None
    first = cli.create("train.py", "lr=1,2,3", "pause=0.2")
    cli.ended(first)
    walls = sorted(t["cost"]["wall_s"] for t in cli.json("export", first, "--format", "json")["tasks"])
    estimate = cli.json("check", "--json", "train.py", "lr=1,2,3,4,5", "--parallel", "2")["estimate"]
    at_once = min(2, cpus_of(cli))
    assert estimate["task_s"] == walls[1]
    assert estimate["tasks_s"] == pytest.approx(5 * walls[1])
    assert estimate["wall_s"] == pytest.approx(-(-5 // at_once) * walls[1])
    assert re.fullmatch(rf"about .+ s: 5 tasks of about .+ as in {first}, {at_once} at a time",
                        said_time(cli, "train.py", "lr=1,2,3,4,5", "--parallel", "2")[0])
    # Nothing of another script's; and an experiment that finished nothing says nothing.
    (cli.folder / "other.py").write_text(TRAIN)
    assert said_time(cli, "other.py", "lr=1,2,3") == []
    cli.ended(cli.create("train.py", "fail=yes"))
    assert f"as in {first}," in said_time(cli, "train.py", "lr=1")[0]
    second = cli.create("train.py", "lr=1")
    cli.ended(second)
    assert re.search(rf": 1 task of about .+ as in {second},", said_time(cli, "train.py", "lr=1")[0])
    # Without a machine of its own only the sum of task time is known.
    sum_only = said_time(cli, "train.py", "lr=1,2,3,4", "--backend", "external")[0]
    assert re.fullmatch(rf".+ of task time: 4 tasks of about .+ as in {second} on local; when they run is not known", sum_only)
    assert cli.json("check", "--json", "train.py", "lr=1", "--backend", "external")["estimate"]["wall_s"] is None


def test_the_time_of_a_command_is_that_of_the_same_command(cli):
    for name, command in (("a.yaml", "[sleep, '0.01']"), ("b.yaml", "[sleep, '0.02']")):
        (cli.folder / name).write_text(f"command: {command}\nparameters: {{x: [1, 2]}}\npass: env\n")
    first = cli.create("a.yaml")
    cli.ended(first)
    assert f"as in {first}," in said_time(cli, "a.yaml")[0]
    assert said_time(cli, "b.yaml") == []


def test_check_says_that_the_machine_is_busy(cli):
    cli.ended(cli.create("train.py", "lr=1"))
    cpus = cpus_of(cli)
    (cli.folder / "busy.sh").write_text("#!/bin/sh\nexec sleep 1000\n")
    busy = cli.create("busy.sh", "--cpus", cpus)
    wait_for(lambda: cli.json("show", busy, "--json")["tasks"]["running"] == 1, lambda: cli("show", busy).stdout)
    assert said_time(cli, "train.py", "lr=1,2")[0].endswith("at a time once there is room")
    cli("rm", "--yes", "--stop", busy)


def test_few_runs_say_that_they_are_few(cli):
    """No claim about values where the earlier runs were never given the parameter."""
    (cli.folder / "wait.sh").write_text("#!/bin/sh\ntrue\n")
    cli.ended(cli.create("wait.sh", "x=1", "--pass", "env"))
    few = cli.json("check", "--json", "wait.sh", "x=1", "hidden=8", "--pass", "env")["estimate"]
    assert few["wall_s"] is None
    assert few["basis"] == ("not known: only 1 earlier run, with other values of 'hidden' or without it; "
                            "an estimate for other values needs 20")


def test_many_runs_tell_what_other_values_take(cli):
    """From 20 runs on the estimate follows the values; values far outside those that ran are not guessed."""
    (cli.folder / "wait.sh").write_text('#!/bin/sh\nsleep "$SLUICE_PARAM_S"\n')
    cli.ended(cli.create("wait.sh", "s=0.1,0.2,0.4", "--repeats", "8", "--pass", "env"))
    short = cli.json("check", "--json", "wait.sh", "s=0.1", "--pass", "env")["estimate"]
    long = cli.json("check", "--json", "wait.sh", "s=0.4", "--pass", "env")["estimate"]
    assert short["runs"] == long["runs"] == 24
    assert long["task_s"] > 1.3 * short["task_s"] > 0
    assert long["limit_s"] >= long["task_s"]
    assert re.search(r"by 24 earlier runs, .*; 95 % of the slowest tasks take less than ",
                     said_time(cli, "wait.sh", "s=0.3", "--pass", "env")[0])
    far = cli.json("check", "--json", "wait.sh", "s=20,30", "--pass", "env")["estimate"]
    assert far["task_s"] is None and far["wall_s"] is None and far["limit_s"] is None
    assert far["basis"] == "not known: the values of 's' lie far outside those of 24 earlier runs"
    left = cli.json("check", "--json", "wait.sh", "--pass", "env")["estimate"]
    assert left["basis"] == "not known: 's' is not given, and each of 24 earlier runs had a value for it"
    new = cli.json("check", "--json", "wait.sh", "s=0.2", "depth=3", "--pass", "env")["estimate"]
    assert new["basis"] == "not known: none of 24 earlier runs had the parameter 'depth'"


def test_the_call_has_the_program_of_the_first_line(cli):
    """What `check` shows is what runs: the script prints the command of its own process."""
    text = "#!/bin/bash -u\ntr '\\0' ' ' < /proc/$$/cmdline\n"
    (cli.folder / "own.sh").write_text(text)
    call = cli.json("check", "--json", "own.sh", "lr=0.1")["call"]
    assert call.startswith("/bin/bash -u own.sh ")
    experiment = cli.create("own.sh", "lr=0.1")
    cli.ended(experiment)
    assert call in cli("logs", f"{experiment}/1").stdout
