"""Nobody else gets in, nobody gets in the way: another user, a second daemon, a full disk, and secrets that
must not be left lying about."""

import errno
import http.client
import json
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys

import pytest

from conftest import PROGRAM, wait_for

NOBODY = 65534
root_only = pytest.mark.skipif(os.getuid() != 0, reason="needs root to act as a second user")

# Run as another user: tries a request and prints the status, or the error's name.
INTRUDER = """
import http.client, json, socket, sys
kind, where, requests = sys.argv[1], sys.argv[2], json.load(sys.stdin)
for method, path in requests:
    try:
        if kind == "unix":
            connection = http.client.HTTPConnection("localhost", timeout=60)
            connection.sock = socket.socket(socket.AF_UNIX)
            connection.sock.settimeout(60)
            connection.sock.connect(where)
        else:
            connection = http.client.HTTPConnection(where, timeout=60)
        connection.request(method, path, b"{}" if method != "GET" else None, {"Content-Type": "application/json"})
        print(connection.getresponse().status)
    except Exception as reason:
        print(type(reason).__name__)
"""


# The pyenv or venv interpreter may not be readable for another user; the system's is.
THEIR_PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable


def intrude(kind, where, requests):
    done = subprocess.run([THEIR_PYTHON, "-c", INTRUDER, kind, str(where)], input=json.dumps(requests), user=NOBODY, group=NOBODY,
                          extra_groups=[], capture_output=True, text=True, cwd="/", timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def all_routes(daemon):
    """Every route and method of the daemon's own description, with something in place of the parameters."""
    described = daemon.get("/openapi.json")
    base = described.get("servers", [{"url": "/api/v1"}])[0]["url"].rstrip("/")
    requests = []
    for path, methods in described["paths"].items():
        for name in ("id", "experiment"):
            path = path.replace("{%s}" % name, "e1")
        filled = "".join("1" if part.startswith("{") else part for part in re.split(r"(\{[^}]*\})", path))
        full = filled if filled.startswith("/api/") else base + filled
        requests += [(method.upper(), full) for method in methods if method in ("get", "post", "put", "delete", "patch")]
    assert len(requests) >= 20
    return requests


@root_only
def test_second_user_cannot_use_the_socket(daemon, folder):
    experiment = daemon.submit("print('ok')")
    daemon.wait_ended(experiment)
    os.chmod(folder, 0o755)
    requests = all_routes(daemon)
    assert set(intrude("unix", daemon.socket, requests[:1])) <= {"PermissionError"}
    assert daemon.state.stat().st_mode & 0o777 == 0o700
    # Even where the modes are wide open, the peer's uid decides.
    os.chmod(daemon.state, 0o755)
    os.chmod(daemon.socket, 0o666)
    answers = intrude("unix", daemon.socket, requests)
    assert len(answers) == len(requests)
    for (method, path), answer in zip(requests, answers):
        allowed = path.endswith("/health") and answer == "200"
        assert allowed or answer in ("401", "403", "RemoteDisconnected", "ConnectionResetError", "BrokenPipeError"), \
            f"{method} {path}: {answer}"
    assert daemon.get(f"/experiments/{experiment}")["state"] == "finished"


@root_only
def test_second_user_cannot_use_tcp(daemon):
    experiment = daemon.submit("print('ok')")
    daemon.wait_ended(experiment)
    host, port = daemon.tcp_address()
    requests = all_routes(daemon)
    answers = intrude("tcp", f"{host}:{port}", requests)
    for (method, path), answer in zip(requests, answers):
        if path.endswith(("/health", "/openapi.json")) and method == "GET":
            continue
        assert answer in ("400", "401", "403", "404", "429"), f"{method} {path}: {answer}"
        assert path.endswith("/login") or answer in ("401", "403"), f"{method} {path}: {answer}"
    assert daemon.get("/experiments")["total"] == 1
    assert daemon.get(f"/experiments/{experiment}")["state"] == "finished"


def contents(folder):
    """Every plain file below the folder, open to be looked at. What daemon and runner take away meanwhile is not there."""
    for parent, _, names in os.walk(folder):
        for path in (pathlib.Path(parent, name) for name in names):
            try:
                file = open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK))
            except OSError as reason:
                assert reason.errno in (errno.ENOENT, errno.ELOOP, errno.ENXIO), f"{path}: {reason}"  # gone, a link, a socket
                continue
            with file:
                if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    yield path, file


def test_everything_is_private(daemon):
    experiment = daemon.submit("print('ok')")
    daemon.wait_ended(experiment)
    assert daemon.state.stat().st_mode & 0o777 == 0o700
    assert daemon.socket.stat().st_mode & 0o077 == 0
    for path, file in contents(daemon.state):
        if "work" not in path.relative_to(daemon.state).parts:  # what a script writes is its own affair
            assert os.fstat(file.fileno()).st_mode & 0o077 == 0, path
    assert (daemon.state / "experiments" / experiment / "files" / "script.py").stat().st_mode & 0o777 == 0o600


def command_lines():
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                yield (entry / "cmdline").read_bytes()
            except OSError:
                continue


def test_secrets_are_nowhere_to_be_found(daemon):
    """Login codes, bearer tokens and session secrets: not in a command line, a log or the database."""
    host, port = daemon.tcp_address()
    code = daemon.post("/login-links")["url"].split("#login=")[1]
    token = daemon.post("/tokens", {"name": "laptop"})
    secret = token.get("token") or token.get("secret")
    assert secret and len(secret) >= 32
    login = http.client.HTTPConnection(host, port, timeout=60)
    login.request("POST", "/api/v1/login", json.dumps({"code": code}),
                  {"Content-Type": "application/json", "Origin": f"http://{host}:{port}"})
    answer = login.getresponse()
    assert answer.status == 201
    assert "Set-Cookie" not in answer.headers
    session = json.loads(answer.read())["session"]

    # They work...
    for headers in ({"Authorization": f"Bearer {secret}"}, {"X-Sluice-Session": session}):
        connection = http.client.HTTPConnection(host, port, timeout=60)
        connection.request("GET", "/api/v1/experiments", headers=headers)
        assert connection.getresponse().status == 200
    # ...and a script runs meanwhile, so that a runner's command line is there to be looked at.
    experiment = daemon.submit("import time\nprint('begun', flush=True)\ntime.sleep(3600)")
    daemon.wait_state(experiment, ("running",), 1)
    for name, value in (("code", code), ("token", secret), ("session", session)):
        needle = value.encode()
        for line in command_lines():
            assert needle not in line, f"the {name} is in a command line"
        for path, file in contents(daemon.state):
            assert needle not in file.read(), f"the {name} is in {path}"
        assert needle not in daemon.log.read_bytes(), f"the {name} is in the log"
    daemon.post(f"/experiments/{experiment}/stop")

    # A login link works once.
    again = http.client.HTTPConnection(host, port, timeout=60)
    again.request("POST", "/api/v1/login", json.dumps({"code": code}),
                  {"Content-Type": "application/json", "Origin": f"http://{host}:{port}"})
    assert again.getresponse().status in (400, 401, 403)


def test_planted_secret_of_a_user_is_not_logged(daemon):
    canary = "canary-7f3a9b1c"
    experiment = daemon.submit("import time\nprint('begun', flush=True)\ntime.sleep(3600)",
                               {"environment": {"vars": {"WANDB_API_KEY": canary}}})
    daemon.wait_state(experiment, ("running",), 1)
    for line in command_lines():
        assert canary.encode() not in line
    assert canary.encode() not in daemon.log.read_bytes()
    daemon.post(f"/experiments/{experiment}/stop")
    daemon.wait_ended(experiment)


def test_second_daemon_is_refused_and_told_who_holds_the_folder(daemon):
    second = subprocess.run([PROGRAM, "serve", "--state", daemon.state, "--listen", "127.0.0.1:0"], capture_output=True,
                            text=True, timeout=60, env=daemon.env)
    assert second.returncode != 0
    assert str(daemon.process.pid) in second.stderr
    assert daemon.get("/health")["status"] == "ok"
    experiment = daemon.submit("print('ok')")
    assert daemon.wait_ended(experiment)["state"] == "finished"
    # Somebody removes the lease: SQLite's lock is left, and the socket of the daemon that runs stays.
    (daemon.state / "lease").unlink()
    part = daemon.state / "uploads" / "u0123456789abcdef.part"
    part.write_bytes(b"half an upload")
    third = subprocess.run([PROGRAM, "serve", "--state", daemon.state, "--listen", "127.0.0.1:0"], capture_output=True,
                           text=True, timeout=60, env=daemon.env)
    assert third.returncode != 0 and "sluice.sock" in third.stderr, third.stderr
    assert daemon.get("/health")["status"] == "ok" and part.exists()
    # After kill -9 the folder is free again.
    daemon.kill()
    daemon.start()
    assert daemon.get(f"/experiments/{experiment}")["state"] == "finished"


# Run as another user: holds connections open, idle or with half a login in them, until stdin ends.
CROWD = """
import socket, sys
kept = []
for i in range(100):
    s = socket.create_connection((sys.argv[1], int(sys.argv[2])))
    if i % 2:
        s.sendall(b"POST /api/v1/login HTTP/1.1\\r\\nHost: 127.0.0.1:%s\\r\\nContent-Type: application/json\\r\\nContent-Length: 900\\r\\n\\r\\n{"
                  % sys.argv[2].encode())
    kept.append(s)
print("there", flush=True)
sys.stdin.read()
"""


@root_only
def test_a_crowd_and_few_descriptors_cost_no_row_and_no_second_attempt(make_daemon, folder):
    """A journal that cannot be opened is no silence, and one that is not read to its end is no end."""
    daemon = make_daemon()
    daemon.program = folder / "few"
    daemon.program.write_text(f'#!/bin/sh\nulimit -n 64\nexec "{PROGRAM}" "$@"\n')
    daemon.program.chmod(0o755)
    daemon.start()
    experiment = daemon.submit("""
        import os, time
        while not os.path.exists("../../../../../go"):
            time.sleep(0.05)
        with open("m.csv", "w") as f:
            f.write("epoch,loss\\n")
            f.write("".join(f"{i},{1 / (i + 1)}\\n" for i in range(100000)))
    """)
    daemon.wait_state(experiment, ("running",), 1)
    crowd = subprocess.Popen([THEIR_PYTHON, "-c", CROWD, *map(str, daemon.tcp_address())], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, text=True, user=NOBODY, group=NOBODY, extra_groups=[], cwd="/")
    with crowd:
        assert crowd.stdout.readline() == "there\n"
        (daemon.state / "go").touch()
        assert daemon.wait_ended(experiment)["state"] == "finished"
        daemon.cli("ls")
        crowd.stdin.close()
    assert len(daemon.task(experiment, 1)["attempts"]) == 1
    exported = daemon.get(f"/experiments/{experiment}/export?format=json")["tasks"][0]["metrics"]["loss"]["value"]
    assert exported == [1 / (i + 1) for i in range(100000)]


# Run as another user: floods of several kinds, one after the other. A line when one is there, and a line of stdin ends it.
FLOODS = """
import resource, socket, sys
host, port = sys.argv[1], int(sys.argv[2])
most = min(5000, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 50)
head = b"Host: %s:%d\\r\\nContent-Type: application/json\\r\\n" % (host.encode(), port)
login = b"POST /api/v1/login HTTP/1.1\\r\\n" + head
kinds = {
    "idle": (most, b""),
    "slow heads": (most, b"GET /api/v1/info HTTP/1.1\\r\\nX-A: "),
    "half a login": (most, login + b"Content-Length: 900\\r\\n\\r\\n{"),
    "large logins": (120, login + b"Content-Length: 16000000\\r\\n\\r\\n" + b" " * 1000000),
    "chunked logins": (120, login + b"Transfer-Encoding: chunked\\r\\n\\r\\n" + b"8000\\r\\n" + b"[0," * 10922 + b"00\\r\\n"),
    "unread answers": (200, (b"GET /api/v1/openapi.json HTTP/1.1\\r\\n" + head + b"\\r\\n") * 200),
    "large heads": (2000, b"GET /api/v1/info HTTP/1.1\\r\\n" + head + b"X-A: " + b"a" * 15000),
    "unread small answers": (300, (b"GET /api/v1/health HTTP/1.1\\r\\n" + head + b"\\r\\n") * 5000),
    "wrong secrets": (200, b"GET /api/v1/events HTTP/1.1\\r\\nAuthorization: Bearer x\\r\\n" + head + b"\\r\\n"),
}
for name, (count, what) in kinds.items():
    kept = []
    for _ in range(count):
        try:
            s = socket.socket()
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)  # what it does not read stays with the daemon
            s.settimeout(60)
            s.connect((host, port))
            s.setblocking(False)
            s.send(what)
            kept.append(s)
        except OSError:
            pass
    print(name, flush=True)
    sys.stdin.readline()
    for s in kept:
        s.close()
"""


@root_only
def test_floods_of_another_user_take_no_memory_and_the_owner_is_served(daemon):
    flood = subprocess.Popen([THEIR_PYTHON, "-c", FLOODS, *map(str, daemon.tcp_address())], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, text=True, user=NOBODY, group=NOBODY, extra_groups=[], cwd="/")
    peaks = {}
    with flood:
        for name in flood.stdout:
            assert daemon.get("/health")["status"] == "ok"
            address = daemon.tcp_address()
            browser = http.client.HTTPConnection(*address, timeout=60)
            browser.request("GET", "/")
            assert browser.getresponse().status == 200, name
            browser.close()
            daemon.cli("ls")
            status = pathlib.Path(f"/proc/{daemon.process.pid}/status").read_text()
            peaks[name.strip()] = int(status.split("VmHWM:")[1].split()[0])
            flood.stdin.write("\n")
            flood.stdin.flush()
    assert len(peaks) == 9 and max(peaks.values()) < 16 * 1024, peaks
    print(f"most memory, KB: {peaks}")
    done = daemon.submit("print('ok')")
    assert daemon.wait_ended(done)["state"] == "finished"


def test_a_link_in_the_place_of_the_log_is_not_followed(folder):
    """Another user may own the folder that SLUICE_STATE names."""
    state, victim = folder / "planted", folder / "victim"
    state.mkdir()
    victim.write_text("mine\n")
    (state / "daemon.log").symlink_to(victim)
    env = {**os.environ, "SLUICE_STATE": str(state), "SLUICE_LISTEN": "127.0.0.1:0"}
    done = subprocess.run([PROGRAM, "ls"], env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1 and "daemon.log" in done.stderr, done
    assert victim.read_text() == "mine\n"


@pytest.fixture
def small_disk(folder):
    """A file system of 4 MB for the state folder."""
    if os.getuid() != 0:
        pytest.skip("needs root to mount a small file system")
    state = folder / "state"
    state.mkdir(mode=0o700)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m,mode=700", "none", state], capture_output=True).returncode:
        pytest.skip("mounting is not allowed here")
    yield state
    subprocess.run(["umount", "-l", state], check=True)


def fill(folder):
    """Takes all room that is left, to the last byte."""
    path = folder / "filler"
    with open(path, "ab", buffering=0) as out:
        for size in (65536, 1):
            try:
                while True:
                    out.write(b"x" * size)
            except OSError as reason:
                assert reason.errno == errno.ENOSPC, reason
    return path


def said_by(daemon, *words):
    return daemon.cli(*words, status=None).stderr


def test_full_disk_is_said_and_survived(small_disk, make_daemon):
    daemon = make_daemon().start()
    # A task that runs, and whose curve the disk has no room for.
    kept = daemon.submit("""
        import os, time
        print("epoch 0 loss 1.0", flush=True)
        while not os.path.exists("../../../../../go"):
            time.sleep(0.05)
        print("epoch 1 loss 0.5", flush=True)
    """)
    wait_for(lambda: daemon.metrics(kept, 1).get("loss"), "no first row")
    follower = subprocess.Popen([PROGRAM, "watch", kept], env=daemon.env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    filler = fill(small_disk)
    # Nothing has to be written for it: every command says so, and what to do.
    wait_for(lambda: "No space left on device. Free some space there" in said_by(daemon, "ls"), "ls says nothing")
    assert "nothing can be written to the state folder" in said_by(daemon, "show", kept)
    assert "No space left" in daemon.get("/info")["trouble"]
    assert "nothing can be written to the state folder" in follower.stderr.readline()

    body = {"experiment": {"script": "s.py"}, "files": [{"path": "s.py", "text": "print(1)\n" * 20000}]}
    answer = daemon.request("POST", "/experiments", body)
    assert answer.status == 507 and "No space left on device. Free some space there" in answer.json["detail"], answer.body
    assert daemon.get("/health")["status"] == "ok"
    assert daemon.get(f"/experiments/{kept}")["state"] == "running"

    # Killed, and started where nothing can be written: what is there can be looked at.
    daemon.kill()
    fill(small_disk)
    daemon.start()
    assert daemon.get(f"/experiments/{kept}")["state"] == "running"
    assert "nothing can be written" in said_by(daemon, "ls")
    assert not [line for line in said_by(daemon, "ls").splitlines() if not line.startswith("sluice: nothing can be written to the state folder")]
    daemon.stop()
    first = daemon.cli("show", kept, status=0)  # starts one by itself
    assert "started the daemon" in first.stderr and "nothing can be written" in first.stderr and kept in first.stdout
    daemon.cli("daemon", "stop")

    # It goes on by itself.
    daemon.start()
    filler.unlink()
    (small_disk / "go").touch()
    assert daemon.wait_ended(kept)["state"] == "finished"
    assert daemon.metrics(kept, 1)["loss"]["value"] == [1.0, 0.5]
    assert len(daemon.task(kept, 1)["attempts"]) == 1
    wait_for(lambda: daemon.get("/info")["trouble"] is None, "the trouble stays")
    assert said_by(daemon, "ls") == ""
    follower.wait(timeout=60)
    daemon.wait_ended(daemon.post("/experiments", body)["id"])
    daemon.kill()
    daemon.start()
    listed = [item["id"] for item in daemon.get("/experiments")["items"]]
    assert kept in listed and len(listed) == 2
    daemon.stop()

    # Read-only, and full before anything was there: one line that says what to do.
    wait_for(lambda: subprocess.run(["mount", "-o", "remount,ro", small_disk], capture_output=True).returncode == 0, "it stays busy")
    assert re.fullmatch(r"sluice: the daemon cannot be started: \S+: Read-only file system. It is mounted read-only: ask .*\n", said_by(daemon, "ls"))
    served = subprocess.run([PROGRAM, "serve", "--listen", "127.0.0.1:0"], env=daemon.env, capture_output=True, text=True)
    assert re.fullmatch(r"sluice serve: \S+: Read-only file system. It is mounted read-only: ask .*\n", served.stderr) and served.returncode == 1
    subprocess.run(["mount", "-o", "remount,rw", small_disk], check=True)
    for path in small_disk.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    fill(small_disk)
    assert re.fullmatch(r"(sluice serve: .*\n)?sluice: the daemon did not start; nothing can be written to \S+: No space left on device. Free some space there\n",
                        said_by(daemon, "ls"))
