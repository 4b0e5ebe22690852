"""The daemon's doors, from the outside: raw bytes on real sockets, sessions, the page, limits, two daemons on one folder."""

import gzip
import http.client
import json
import os
import pathlib
import re
import resource
import signal
import socket
import stat
import subprocess

import pytest

from conftest import Answer, DEADLINE_S, PROGRAM, UnixConnection, wait_for
from workers import ask, external, tell


class Raw:
    """A socket to the daemon: bytes out, everything back."""

    def __init__(self, daemon, tcp=False):
        if tcp:
            self.sock = socket.create_connection(daemon.tcp_address(), timeout=DEADLINE_S)
        else:
            self.sock = socket.socket(socket.AF_UNIX)
            self.sock.settimeout(DEADLINE_S)
            self.sock.connect(str(daemon.socket))
        self.file = self.sock.makefile("rb")

    def send(self, data):
        self.sock.sendall(data)

    def line(self):
        return self.file.readline()

    def answer(self):
        """Status, headers and body of the next answer."""
        status = int(self.line().split()[1])
        headers = {}
        while (line := self.line()) not in (b"\r\n", b""):
            name, value = line.decode().split(":", 1)
            headers[name.lower()] = value.strip()
        body = self.file.read(int(headers["content-length"])) if "content-length" in headers else b""
        return status, headers, body

    def rest(self):
        """What comes until the daemon closes."""
        return self.file.read()

    def close(self):
        self.file.close()
        self.sock.close()


@pytest.fixture
def raw(daemon):
    made = []

    def open_raw(tcp=False):
        made.append(Raw(daemon, tcp))
        return made[-1]

    yield open_raw
    for one in made:
        one.close()


class Browser:
    """A session over TCP, with its secret."""

    def __init__(self, daemon):
        self.host, self.port = daemon.tcp_address()
        self.session = None

    @property
    def name(self):
        return f"{self.host}:{self.port}"

    def request(self, method, path, body=None, headers=None):
        headers = dict(headers or {})
        if body is not None:
            body = json.dumps(body)
            headers.setdefault("Content-Type", "application/json")
        if self.session:
            headers.setdefault("X-Sluice-Session", self.session)
        connection = http.client.HTTPConnection(self.host, self.port, timeout=DEADLINE_S)
        try:
            connection.request(method, path, body, headers)
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def log_in(self, daemon):
        link = daemon.post("/login-links")["url"]
        code = link.split("#login=")[1]
        answer = self.request("POST", "/api/v1/login", {"code": code})
        assert answer.status == 201
        self.session = answer.json["session"]
        return answer


@pytest.fixture
def browser(daemon):
    return Browser(daemon)


# The connection.

@pytest.mark.parametrize("request_bytes,status", [
    (b"GET /api/v1/health HTTP/1.1\nHost: localhost\n\n", 400),
    (b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
    (b"GET /api/v1/health HTTP/1.0\r\nHost: localhost\r\n\r\n", 505),
    (b"GET http://localhost/api/v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    (b"GET /api/v1/health HTTP/1.1\r\n\r\n", 400),
    (b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 20000 + b"\r\n\r\n", 431),
    (b"GET /api/v1/health HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421),
    (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),
])
@pytest.mark.parametrize("tcp", [False, True])
def test_malformed_request_is_refused_and_the_connection_closed(raw, request_bytes, status, tcp):
    peer = raw(tcp)
    peer.send(request_bytes)
    got, headers, body = peer.answer()
    assert got == status
    assert headers["content-type"] == "application/problem+json"
    assert headers["connection"] == "close"
    assert json.loads(body)["status"] == status
    assert peer.rest() == b""


def test_pipelined_requests_are_answered_in_order_on_one_connection(raw):
    peer = raw()
    paths = ["/api/v1/health", "/api/v1/experiments", "/api/v1/nothing", "/api/v1/health"]
    peer.send(b"".join(f"GET {path} HTTP/1.1\r\nHost: sluice\r\n\r\n".encode() for path in paths))
    assert [peer.answer()[0] for _ in paths] == [200, 200, 404, 200]


def test_task_whose_end_was_told_is_removed_by_the_next_request(daemon, raw):
    """In one go: between these requests the daemon has no time for anything else."""
    experiment = external(daemon, search={"strategy": "random", "tasks": 3})
    told = ask(daemon, experiment)["number"]
    other = ask(daemon, experiment)["number"]
    path = f"/api/v1/experiments/{experiment}/tasks"
    requests = ((f"{path}/{told}/tell", {"values": {"loss": 0.5}}), (f"{path}/remove", {"tasks": [told]}),
                (f"{path}/remove", {"tasks": [other]}))
    peer = raw()
    bodies = [(path, json.dumps(body)) for path, body in requests]
    peer.send("".join(f"POST {path} HTTP/1.1\r\nHost: sluice\r\nContent-Type: application/json\r\n"
                      f"Content-Length: {len(body)}\r\n\r\n{body}" for path, body in bodies).encode())
    assert [peer.answer()[0] for _ in requests] == [200, 200, 409]
    assert [t["number"] for t in daemon.tasks(experiment)] == [other]
    tell(daemon, {"experiment": experiment, "number": other}, loss=0.25)
    assert daemon.get(f"/experiments/{experiment}")["best"]["value"] == 0.25


def test_what_was_restarted_is_not_over_for_the_next_request(daemon, raw):
    """In one go: between these requests the daemon has no time for anything else."""
    experiment = daemon.submit("print('ok')")
    daemon.wait_ended(experiment)
    peer = raw()
    requests = ("POST", "/restart"), ("GET", ""), ("POST", "/stop"), ("GET", "")
    peer.send(b"".join(f"{method} /api/v1/experiments/{experiment}{path} HTTP/1.1\r\nHost: sluice\r\n\r\n".encode()
                       for method, path in requests))
    restarted, again, stopped, over = (json.loads(peer.answer()[2]) for _ in requests)
    assert (restarted, again["state"]) == ({"tasks": 1}, "waiting")
    # It had not begun again, so it is what it was.
    assert (stopped, over["state"]) == ({"tasks": 1, "unproposed": 0}, "finished")


def test_peer_that_sends_and_closes_its_half_still_gets_the_answer(raw):
    peer = raw()
    peer.send(b"GET /api/v1/openapi.json HTTP/1.1\r\nHost: sluice\r\n\r\n")
    peer.sock.shutdown(socket.SHUT_WR)
    assert json.loads(peer.answer()[2])["openapi"] == "3.1.0"


def test_head_is_get_without_the_body(daemon):
    get, head = daemon.request("GET", "/experiments"), daemon.request("HEAD", "/experiments")
    assert head.status == 200 and head.body == b""
    assert head.headers["Content-Length"] == get.headers["Content-Length"] == str(len(get.body))


def test_expect_continue(raw):
    peer = raw()
    body = b'{"experiment":{}}'
    peer.send(b"POST /api/v1/check HTTP/1.1\r\nHost: sluice\r\nExpect: 100-continue\r\nContent-Type: application/json\r\n"
              b"Content-Length: %d\r\n\r\n" % len(body))
    assert peer.line() == b"HTTP/1.1 100 Continue\r\n"
    assert peer.line() == b"\r\n"
    peer.send(body)
    assert peer.answer()[0] in (200, 400)


def test_wrong_method_says_which_are_right(daemon):
    for method in ("PUT", "TRACE"):
        answer = daemon.request(method, "/experiments", {})
        assert answer.status == 405
        assert answer.headers["Allow"] == "GET, HEAD, POST"


def test_body_must_be_json_and_say_so(daemon):
    assert daemon.request("POST", "/check", raw=b"{}", headers={"Content-Type": "text/plain"}).status == 415
    answer = daemon.request("POST", "/check", raw=b'{"a":\n  oops}')
    assert answer.status == 400
    assert "line 2" in answer.json["detail"]
    assert daemon.request("POST", "/check", raw=b"[1]").status == 400


def test_oversized_body_is_refused_before_it_is_sent(raw):
    peer = raw()
    peer.send(b"POST /api/v1/check HTTP/1.1\r\nHost: sluice\r\nContent-Type: application/json\r\nContent-Length: 99999999\r\n\r\n")
    assert peer.answer()[0] == 413


def test_broken_upload_leaves_nothing_behind(daemon, raw):
    peer = raw()
    peer.send(b"PUT /api/v1/uploads/x HTTP/1.1\r\nHost: sluice\r\nContent-Length: 1000\r\n\r\nabc")
    uploads = daemon.state / "uploads"
    wait_for(lambda: list(uploads.iterdir()), "the upload does not begin")
    peer.close()
    wait_for(lambda: not list(uploads.iterdir()), "the unfinished upload stays")


def test_every_answer_carries_the_security_headers(daemon, browser):
    wanted = {
        "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
                                   "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
    }
    for answer in (daemon.request("GET", "/health"), daemon.request("GET", "/nothing"), daemon.request("GET", "/api/v1/experiments/e9"),
                   browser.request("GET", "/"), browser.request("GET", "/experiments/e1"), browser.request("GET", "/nothing.js"),
                   browser.request("GET", "/api/v1/info")):
        assert {name: answer.headers[name] for name in wanted} == wanted
        assert answer.headers["Cache-Control"] in ("no-store", "no-cache")


# The doors.

def test_socket_and_folder_are_closed_to_others(daemon):
    assert stat.S_IMODE(os.stat(daemon.state).st_mode) == 0o700
    assert stat.S_IMODE(os.stat(daemon.socket).st_mode) == 0o600


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_user_gets_in_nowhere(daemon):
    """Every route and method of the document, over both doors, as another uid."""
    document = daemon.get("/openapi.json")
    host, port = daemon.tcp_address()
    os.chmod(daemon.state, 0o755)  # the folder alone would hide the socket
    os.chmod(daemon.state.parent, 0o755)
    os.chmod(daemon.socket, 0o666)
    requests = [[method.upper(), "/api/v1" + re.sub(r"\{id\}", "e1", re.sub(r"\{token\}", "0" * 32, re.sub(r"\{(n|key|index)\}", "1", re.sub(
        r"\{name\}", "x", path))))] for path, methods in document["paths"].items() for method in methods]
    code = """
import encodings.idna, http.client, json, os, socket, sys  # all of it before the files are out of reach
os.setuid(65534)
path, host, port, requests = json.load(sys.stdin)
for method, target in requests:
    connection = http.client.HTTPConnection(host, port, timeout=60)
    connection.request(method, target)
    print("tcp", method, target, connection.getresponse().status)
    sock = socket.socket(socket.AF_UNIX)
    sock.settimeout(60)
    try:
        sock.connect(path)
        sock.sendall(f"{method} {target} HTTP/1.1\\r\\nHost: sluice\\r\\n\\r\\n".encode())
        got = sock.recv(100)
    except OSError:
        got = b""
    print("unix", method, target, got[:12])
"""
    done = subprocess.run(["python3", "-c", code], input=json.dumps([str(daemon.socket), host, port, requests]), text=True,
                          capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 2 * len(requests) > 60
    for line in lines:
        if line.startswith("unix"):
            assert line.endswith("b''"), line
        elif not line.startswith(("tcp GET /api/v1/health", "tcp POST /api/v1/login ")):
            assert line.endswith(" 401"), line
    assert "tcp POST /api/v1/login 401" not in lines  # public, but it opens for a code only
    assert any(line.startswith("tcp POST /api/v1/login 4") for line in lines)


def test_login_link_opens_a_session_once(daemon, browser):
    link = daemon.post("/login-links")["url"]
    address, code = link.split("/#login=")
    assert address == f"http://{browser.name}"
    assert browser.request("GET", "/api/v1/experiments").status == 401
    answer = browser.request("POST", "/api/v1/login", {"code": code})
    assert answer.status == 201
    secret = answer.json["session"]
    assert len(secret) == 43
    assert browser.request("POST", "/api/v1/login", {"code": code}).status == 401
    # Nothing that a browser sends to other ports, too, opens anything.
    assert "Set-Cookie" not in answer.headers
    for name in ("sluice_session", "session", "X-Sluice-Session"):
        assert browser.request("GET", "/api/v1/experiments", headers={"Cookie": f"{name}={secret}"}).status == 401
    browser.session = secret
    assert browser.request("GET", "/api/v1/experiments").status == 200
    assert browser.request("POST", "/api/v1/logout").status == 204
    assert browser.request("GET", "/api/v1/experiments").status == 401


def test_no_answer_hands_the_secret_out_again(daemon, browser):
    browser.log_in(daemon)
    for path, methods in daemon.get("/openapi.json")["paths"].items():
        if "get" in methods and "{" not in path and path != "/events":
            answer = browser.request("GET", "/api/v1" + path)
            assert browser.session not in answer.body.decode() and browser.session not in str(answer.headers), path


def test_sessions_and_codes_end_when_a_daemon_starts(daemon):
    """What a squatter on the port of a dead daemon collects opens nothing at the next one."""
    browser = Browser(daemon)
    browser.log_in(daemon)
    code = daemon.post("/login-links")["url"].split("=")[1]
    daemon.restart()
    browser.port = daemon.tcp_address()[1]
    refused = browser.request("GET", "/api/v1/info")
    assert refused.status == 401
    assert "sign in again" in refused.json["detail"]
    assert browser.request("POST", "/api/v1/login", {"code": code}).status == 401


def test_sessions_are_listed_and_ended(daemon):
    one, two = Browser(daemon), Browser(daemon)
    one.log_in(daemon)
    two.log_in(daemon)
    listed = one.request("GET", "/api/v1/sessions", headers={"User-Agent": "x"}).json
    assert listed["total"] == 2
    assert [row["current"] for row in listed["items"]] == [True, False]
    assert [row["current"] for row in daemon.get("/sessions")["items"]] == [False, False]
    assert one.request("DELETE", f"/api/v1/sessions/{listed['items'][1]['id']}").status == 204
    assert two.request("GET", "/api/v1/info").status == 401
    assert one.request("GET", "/api/v1/info").status == 200
    assert daemon.request("DELETE", f"/sessions/{listed['items'][1]['id']}").status == 404


def test_stream_ends_with_its_session(daemon, browser):
    for end in (lambda: browser.request("POST", "/api/v1/logout"),
                lambda: daemon.request("DELETE", f"/sessions/{daemon.get('/sessions')['items'][0]['id']}")):
        browser.log_in(daemon)
        sock = socket.create_connection((browser.host, browser.port), timeout=DEADLINE_S)
        sock.sendall(f"GET /api/v1/events HTTP/1.1\r\nHost: {browser.name}\r\nX-Sluice-Session: {browser.session}\r\n\r\n".encode())
        file = sock.makefile("rb")
        assert file.readline().startswith(b"HTTP/1.1 200")
        while file.readline() != b"\r\n":
            pass
        assert end().status == 204
        file.read()  # returns once the daemon has closed it
        sock.close()


def test_token_works_until_it_is_taken_back(daemon, browser):
    made = daemon.post("/tokens", {"name": "notebook"})
    header = {"Authorization": f"Bearer {made['token']}"}
    assert browser.request("GET", "/api/v1/experiments", headers=header).status == 200
    listed = daemon.get("/tokens")["items"]
    assert [item["name"] for item in listed] == ["notebook"]
    assert made["token"] not in json.dumps(listed)
    assert listed[0]["used"] is not None
    assert daemon.request("DELETE", f"/tokens/{made['id']}").status == 204
    assert browser.request("GET", "/api/v1/experiments", headers=header).status == 401


def test_requests_of_other_pages_are_refused(daemon, browser):
    browser.log_in(daemon)
    own = {"Origin": f"http://{browser.name}", "Sec-Fetch-Site": "same-origin"}
    assert browser.request("POST", "/api/v1/check", {"experiment": {"command": ["true"]}}, own).status == 200
    for change in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": f"http://localhost:{browser.port + 1}"},
                   {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}):
        assert browser.request("POST", "/api/v1/check", {"experiment": {}}, {**own, **change}).status == 403, change
    assert browser.request("GET", "/api/v1/info", headers={"Host": f"evil.example:{browser.port}"}).status == 421


def test_secrets_are_nowhere_on_disk_or_in_command_lines(daemon, browser):
    browser.log_in(daemon)
    token = daemon.post("/tokens", {"name": "x"})["token"]
    code = daemon.post("/login-links")["url"].split("=")[1]
    secrets = [token.encode(), code.encode(), browser.session.encode()]
    for path in [*daemon.state.rglob("*"), daemon.log]:
        if path.is_file():
            data = path.read_bytes()
            assert not [s for s in secrets if s in data], path
    command = pathlib.Path(f"/proc/{daemon.process.pid}/cmdline").read_bytes()
    assert not [s for s in secrets if s in command]


# The page.

def test_page_is_there_without_login_and_knows_its_views(browser):
    page = browser.request("GET", "/")
    assert page.status == 200
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    # Below a folder the page finds its files further up: a proxy may have put more before the address.
    view = browser.request("GET", "/e/e1/7?x=1")
    assert view.status == 200 and b'src="../../app.js"' in view.body
    assert view.body.replace(b'="../../', b'="./') == page.body
    assert browser.request("GET", "/a/b/c/d/e/f/g").status == 200  # the page says that there is nothing
    assert browser.request("GET", "/a/b/c/d/e/f/g/h/i").status == 404
    assert browser.request("GET", "/nothing.js").status == 404
    assert browser.request("GET", "/..%2f..%2fetc/passwd").status == 400
    assert browser.request("GET", "/../../etc/passwd").status in (200, 404)
    assert b"root:" not in browser.request("GET", "/../../etc/passwd").body
    assert browser.request("POST", "/").status == 405


def test_files_of_the_page_are_packed_and_validated(browser):
    page = browser.request("GET", "/", headers={"Accept-Encoding": "gzip, br"})
    if "ETag" not in page.headers:
        pytest.skip("this program was built without the dashboard")
    plain = browser.request("GET", "/", headers={"Accept-Encoding": "identity"})
    assert gzip.decompress(page.body) == plain.body
    assert browser.request("GET", "/", headers={"If-None-Match": page.headers["ETag"]}).status == 304


# The process.

def test_second_daemon_on_the_folder_is_refused_and_says_who_has_it(daemon):
    done = subprocess.run([PROGRAM, "serve", "--state", str(daemon.state), "--listen", "127.0.0.1:0"], capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == 1
    assert str(daemon.process.pid) in done.stderr and socket.gethostname() in done.stderr
    assert daemon.get("/health")["status"] == "ok"


def test_kill_leaves_nothing_that_stops_the_next_daemon(daemon):
    daemon.kill()
    assert daemon.socket.exists()
    daemon.start()


@pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0", "192.0.2.1:0", "example.org:0", "127.0.0.1", "127.0.0.1:99999", ":0"])
def test_only_loopback_is_listened_on(folder, address):
    done = subprocess.run([PROGRAM, "serve", "--state", str(folder / "state"), "--listen", address], capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == 2
    assert address in done.stderr
    assert not (folder / "state" / "sluice.sock").exists()


def test_port_that_is_taken_is_named(daemon, folder):
    host, port = daemon.tcp_address()
    done = subprocess.run([PROGRAM, "serve", "--state", str(folder / "other"), "--listen", f"{host}:{port}"], capture_output=True,
                          text=True, timeout=60)
    assert done.returncode == 1
    assert f"{host}:{port} is in use" in done.stderr


def test_usual_port_that_is_taken_is_exchanged_for_another(folder):
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the daemon does: an old connection holds no port
        try:
            holder.bind(("127.0.0.1", 54322))
            holder.listen()
        except OSError:
            pass  # somebody holds it already, which is the case to try
        process = subprocess.Popen([PROGRAM, "serve", "--state", str(folder / "state")], stdout=subprocess.PIPE, text=True)
        try:
            line = process.stdout.readline()
            assert "listening on http://127.0.0.1:" in line and ":54322" not in line
        finally:
            process.terminate()
            process.wait(timeout=DEADLINE_S)


def test_ready_line_address_file_and_login_link(folder):
    process = subprocess.Popen([PROGRAM, "serve", "--state", str(folder / "state"), "--listen", "127.0.0.1:0", "--login-link"],
                               stdout=subprocess.PIPE, text=True, stderr=subprocess.DEVNULL)
    try:
        ready = re.fullmatch(r"sluice [\d.]+ listening on http://(127\.0\.0\.1:\d+)\n", process.stdout.readline())
        assert ready
        assert (folder / "state" / "address").read_text() == ready[1] + "\n"
        assert re.fullmatch(rf"open http://{ready[1]}/#login=[A-Za-z0-9_-]{{43}}\n", process.stdout.readline())
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 0


def test_long_state_folder_still_has_its_socket(make_daemon, folder):
    daemon = make_daemon("d" * 100)
    daemon.launch()
    try:
        wait_for((daemon.state / "address").exists, daemon.log_tail)
        here = os.open(daemon.state, os.O_PATH)
        connection = UnixConnection(f"/proc/self/fd/{here}/sluice.sock")
        connection.request("GET", "/api/v1/health")
        assert connection.getresponse().status == 200
        connection.close()
        os.close(here)
    finally:
        daemon.stop()


def test_flood_of_idle_connections_leaves_the_command_line_its_door(daemon):
    peers = []
    address = daemon.tcp_address()
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    # Some of our own open files are for the requests below.
    for _ in range(min(3000, soft - 100) if soft != resource.RLIM_INFINITY else 3000):
        peers.append(socket.create_connection(address, timeout=DEADLINE_S))
    assert len(peers) > 500
    assert daemon.get("/health")["status"] == "ok"
    late = socket.create_connection(address, timeout=DEADLINE_S)
    late.sendall(b"GET /api/v1/health HTTP/1.1\r\nHost: %s:%d\r\n\r\n" % (address[0].encode(), address[1]))
    assert late.recv(12) == b"HTTP/1.1 200"
    for peer in [*peers, late]:
        peer.close()


LOGIN = b"POST /api/v1/login HTTP/1.1\r\nHost: localhost:%d\r\nContent-Type: application/json\r\n"


@pytest.mark.parametrize("length", [b"Content-Length: 1025\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\n401\r\n" + b" " * 1025])
def test_who_has_not_signed_in_may_not_send_much(daemon, raw, length):
    peer = raw(tcp=True)
    peer.send(LOGIN % daemon.tcp_address()[1] + length)
    assert peer.answer()[0] == 413


def test_half_sent_logins_shut_nobody_out(make_daemon, folder):
    """With few open files, and more connections of another user than the daemon may have of them."""
    few = folder / "few"
    few.write_text(f'#!/bin/sh\nulimit -n 128\nexec "{PROGRAM}" "$@"\n')
    few.chmod(0o700)
    daemon = make_daemon()
    daemon.program = few
    daemon.start()
    address = daemon.tcp_address()
    peers = []
    for _ in range(160):
        peers.append(socket.create_connection(address, timeout=DEADLINE_S))
        peers[-1].sendall(LOGIN % address[1] + b"Content-Length: 99\r\n\r\n{")
    for _ in range(10):
        assert daemon.get("/health")["status"] == "ok"
        late = socket.create_connection(address, timeout=DEADLINE_S)
        peers.append(late)
        late.sendall(b"GET /api/v1/health HTTP/1.1\r\nHost: localhost:%d\r\n\r\n" % address[1])
        assert late.recv(12) == b"HTTP/1.1 200"
    links = [os.readlink(link) for link in pathlib.Path(f"/proc/{daemon.process.pid}/fd").iterdir()]
    assert sum(link.startswith("socket:") for link in links) < 75, "more than half of the files are connections"
    for peer in peers:
        peer.close()


# How to get in, where the state folder is not the usual one.


@pytest.mark.parametrize("usual", [False, True])
def test_the_login_command_that_is_shown_finds_this_daemon(folder, usual):
    home = folder / "ho me"
    state = home / ".local/state/sluice" if usual else folder / "it's; here $HOME"
    env = {**os.environ, "HOME": str(home), "SLUICE_LISTEN": "127.0.0.1:0", "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}"}
    env.pop("SLUICE_STATE", None)
    arguments = [] if usual else ["--state", str(state)]
    out = folder / "out"
    with open(out, "w") as stdout:
        process = subprocess.Popen([PROGRAM, "serve", "--listen", "127.0.0.1:0", "--login-link", *arguments], env=env, stdout=stdout,
                                   stderr=subprocess.DEVNULL)
    try:
        said = wait_for(lambda: re.fullmatch(r".*http://(\S+)\nopen (\S+)\n.*another one: (.*)\n", out.read_text()), out.read_text, 30)
        address, first, command = said.groups()
        again = subprocess.run(["sh", "-c", command], env=env, capture_output=True, text=True, timeout=60)
        assert again.returncode == 0 and "started" not in again.stderr, again.stderr
        assert again.stdout.startswith(f"http://{address}/#login=") and again.stdout.strip() != first
        assert (command == "sluice login") == usual

        # Whoever else is on this machine learns what to do, and nothing about its folders.
        connection = http.client.HTTPConnection(address, timeout=30)
        connection.request("GET", "/api/v1/info")
        refused = json.loads(connection.getresponse().read())
        connection.request("POST", "/api/v1/login", json.dumps({"code": "x" * 43}), {"Content-Type": "application/json"})
        wrong = json.loads(connection.getresponse().read())
        assert refused["login"] == wrong["login"] == ("sluice login" if usual else "SLUICE_STATE=DIR sluice login")
        for said in refused, wrong:
            assert f"`{said['login']}`" in said["detail"]
            assert str(folder) not in json.dumps(said) and "here" not in json.dumps(said)
        code = again.stdout.strip().split("=")[1]
        connection.request("POST", "/api/v1/login", json.dumps({"code": code}), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        secret = json.loads(answer.read())["session"]
        connection.request("GET", "/api/v1/info", headers={"X-Sluice-Session": secret})
        assert json.loads(connection.getresponse().read())["login"] == command
        connection.close()
    finally:
        process.terminate()
        process.wait(timeout=60)
