"""The tables of an attack, row by row: every name for the host, every request of another page, and bytes that are no request.
None of them may get in, be taken for two requests, or keep the daemon from answering its owner."""

import http.client
import itertools
import re
import socket

import pytest

from conftest import DEADLINE_S
from test_http import Browser



@pytest.fixture
def browser(daemon):
    browser = Browser(daemon)
    browser.log_in(daemon)
    return browser


class Line:
    """Requests on one connection, as long as it stays open."""

    def __init__(self, host, port):
        self.made = http.client.HTTPConnection(host, port, timeout=DEADLINE_S)

    def status(self, method, path, headers):
        for again in (True, False):
            try:
                self.made.putrequest(method, path, skip_host="Host" in headers)
                for name, value in headers.items():
                    self.made.putheader(name, value)
                if method != "GET":
                    self.made.putheader("Content-Length", "2")
                self.made.endheaders(b"{}" if method != "GET" else None)
                answer = self.made.getresponse()
                answer.read()
                return answer.status
            except (http.client.HTTPException, ConnectionError):
                self.made.close()  # it was closed after the answer before
                if not again:
                    raise
        return None


def test_no_name_but_the_own_is_taken_for_this_host(browser):
    port, line = browser.port, Line(browser.host, browser.port)
    own = {"X-Sluice-Session": browser.session}
    for host in (f"127.0.0.1:{port}", f"localhost:{port}", f"[::1]:{port}", f"LOCALHOST:{port}"):
        assert line.status("GET", "/api/v1/info", {**own, "Host": host}) in (200, 421), host
    assert line.status("GET", "/api/v1/info", {**own, "Host": f"127.0.0.1:{port}"}) == 200
    wrong = ["evil.example", f"evil.example:{port}", f"127.0.0.1.evil.example:{port}", f"localhost.evil.example:{port}",
             f"localhost.:{port}", f"evil.localhost:{port}", f"127.0.0.1:{port + 1}", f"127.0.0.1:{port}.evil.example", f"127.0.0.2:{port}",
             f"0.0.0.0:{port}", f"127.1:{port}", f"2130706433:{port}", f"0x7f.1:{port}", f"0177.0.0.1:{port}", f"[::ffff:127.0.0.1]:{port}",
             f"user@127.0.0.1:{port}", f"127.0.0.1:{port}@evil.example", f"127.0.0.1:0{port}", f"127.0.0.1:{port}/", f"127.0.0.1:{port}#",
             "", ":", f":{port}", f"127.0.0.1:{port},evil.example", f"http://127.0.0.1:{port}", f"127.0.0.1%00:{port}", f"127.0.0.1 :{port}",
             f"\t127.0.0.1\t:{port}"]
    for host in wrong:
        assert line.status("GET", "/api/v1/info", {**own, "Host": host}) in (400, 421), host


def unsafe_routes(daemon):
    """Every operation that changes something, from the description that the daemon gives of itself."""
    found, session = [], str(daemon.get("/sessions")["items"][0]["id"])
    for path, operations in daemon.get("/openapi.json")["paths"].items():
        filled = re.sub(r"\{(\w+)\}", lambda m: {"id": "e1", "key": session}.get(m[1], "1"), path)
        found += [(method.upper(), filled if filled.startswith("/api/") else "/api/v1" + filled)
                  for method in operations if method in ("post", "put", "delete", "patch")]
    return found


def test_no_request_of_another_page_changes_anything(daemon, browser):
    routes = unsafe_routes(daemon)
    assert len(routes) > 20, routes
    own = f"http://{browser.name}"
    origins = [None, own, "null", f"http://evil.example:{browser.port}", f"http://{browser.host}:{browser.port + 1}",
               f"https://{browser.name}", f"{own}.evil.example", f"{own}/"]
    sites = [None, "same-origin", "same-site", "cross-site", ""]
    sessions = [None, "0" * 64, browser.session]
    line, tried = Line(browser.host, browser.port), 0
    for (method, path), origin, site, session in itertools.product(routes, origins, sites, sessions):
        if path.endswith("/login") or "/attempts/" in path:
            continue  # public: a code, or the token of an attempt, is what counts there
        if origin in (None, own) and site in (None, "same-origin", "none") and session == browser.session:
            continue  # the owner's own
        headers = {"Content-Type": "application/json", "Host": browser.name}
        headers.update({name: value for name, value in (("Origin", origin), ("Sec-Fetch-Site", site), ("X-Sluice-Session", session))
                        if value is not None})
        status = line.status(method, path, headers)
        assert status in (401, 403), (method, path, headers, status)
        tried += 1
    assert tried > 2000, tried
    assert daemon.get("/experiments")["total"] == 0 and daemon.get("/sessions")["items"], "something was changed"


GET = b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\n"
POST = b"POST /api/v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
SECOND = b"GET /api/v1/info HTTP/1.1\r\nHost: localhost\r\n\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n"
# Each of them is one request at most, and a wrong one.
WIRE = {
    "length and chunks": POST + b"Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + SECOND,
    "chunks and length": CHUNKED + b"Content-Length: 6\r\n\r\n0\r\n\r\n" + SECOND,
    "two lengths": POST + b"Content-Length: 2\r\nContent-Length: 60\r\n\r\n{}" + SECOND,
    "a list of lengths": POST + b"Content-Length: 2, 2\r\n\r\n{}" + SECOND,
    "length with a sign": POST + b"Content-Length: +2\r\n\r\n{}" + SECOND,
    "negative length": POST + b"Content-Length: -1\r\n\r\n{}" + SECOND,
    "hexadecimal length": POST + b"Content-Length: 0x2\r\n\r\n{}" + SECOND,
    "length with a blank inside": POST + b"Content-Length: 2 2\r\n\r\n{}" + SECOND,
    "length above 64 bits": POST + b"Content-Length: 18446744073709551618\r\n\r\n{}" + SECOND,
    "length that is too much": POST + b"Content-Length: 99999999999\r\n\r\n",
    "blank before the colon": POST + b"Content-Length : 2\r\n\r\n{}" + SECOND,
    "folded head": GET + b"X: a\r\n b\r\n\r\n" + SECOND,
    "folded length": POST + b"Content-Length:\r\n 2\r\n\r\n{}" + SECOND,
    "chunked twice": POST + b"Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n" + SECOND,
    "chunked but not last": POST + b"Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n" + SECOND,
    "nearly chunked": POST + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + SECOND,
    "chunked with a tab": POST + b"Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n" + SECOND,
    "chunk with a sign": CHUNKED + b"\r\n+2\r\n{}\r\n0\r\n\r\n" + SECOND,
    "chunk of 2^64": CHUNKED + b"\r\n10000000000000002\r\n{}\r\n0\r\n\r\n" + SECOND,
    "chunk of no number": CHUNKED + b"\r\nzz\r\n{}\r\n0\r\n\r\n" + SECOND,
    "chunk without its end": CHUNKED + b"\r\n2\r\n{}XX0\r\n\r\n" + SECOND,
    "line feeds only": b"GET /api/v1/health HTTP/1.1\nHost: localhost\n\n" + SECOND,
    "carriage return alone": b"GET /api/v1/health HTTP/1.1\rHost: localhost\r\r",
    "zero byte in the path": b"GET /api/v1/he\0alth HTTP/1.1\r\nHost: localhost\r\n\r\n" + SECOND,
    "zero byte in a head": GET + b"X: a\0b\r\n\r\n" + SECOND,
    "head without a colon": GET + b"nonsense\r\n\r\n" + SECOND,
    "head without a name": GET + b": x\r\n\r\n" + SECOND,
    "two hosts": GET + b"Host: evil.example\r\n\r\n" + SECOND,
    "no host": b"GET /api/v1/health HTTP/1.1\r\n\r\n" + SECOND,
    "a method in small letters": b"get /api/v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n" + SECOND,
    "no such method": b"BREW /api/v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n" + SECOND,
    "CONNECT": b"CONNECT localhost:22 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "the address of a proxy": b"GET http://localhost/api/v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n" + SECOND,
    "blanks in the path": b"GET /api/v1/health x HTTP/1.1\r\nHost: localhost\r\n\r\n" + SECOND,
    "HTTP 0.9": b"GET /api/v1/health\r\n\r\n",
    "HTTP 1.0": b"GET /api/v1/health HTTP/1.0\r\nHost: localhost\r\n\r\n",
    "HTTP 2.0": b"GET /api/v1/health HTTP/2.0\r\nHost: localhost\r\n\r\n" + SECOND,
    "the preface of HTTP 2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 64,
    "a head that does not end": GET + b"X: " + b"a" * 20000,
    "a thousand heads": GET + b"".join(b"X%d: y\r\n" % n for n in range(3000)) + b"\r\n",
    "a path that does not end": b"GET /" + b"a" * 20000,
    "a name that is no name": GET + b"X(: y\r\n\r\n" + SECOND,
}


@pytest.mark.parametrize("tcp", [False, True], ids=["socket", "tcp"])
@pytest.mark.parametrize("what", WIRE)
def test_bytes_that_are_no_request_are_refused_once(daemon, what, tcp):
    if tcp:
        peer = socket.create_connection(daemon.tcp_address(), timeout=DEADLINE_S)
    else:
        peer = socket.socket(socket.AF_UNIX)
        peer.settimeout(DEADLINE_S)
        peer.connect(str(daemon.socket))
    with peer:
        try:
            peer.sendall(WIRE[what])
            peer.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # refused before the end
        said = b""
        try:
            while chunk := peer.recv(65536):
                said += chunk
        except ConnectionError:
            pass
    statuses = [int(status) for status in re.findall(rb"HTTP/1\.1 (\d+)", said)]
    assert len(statuses) <= 1, (what, "more than one answer", said)
    assert all(status in (400, 401, 403, 404, 405, 411, 413, 414, 421, 431, 501, 505) for status in statuses), (what, said)
    assert daemon.request("GET", "/health").status == 200
