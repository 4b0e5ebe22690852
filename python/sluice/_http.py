"""Requests to the daemon: over its unix socket, or over TCP with a token."""

import http.client
import json
import os
import shutil
import socket
import subprocess
import urllib.parse
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple


class Problem(Exception):
    """The daemon refused a request. The text names the field, what is wrong, and what to do about it.

    `status` is HTTP's. `errors` lists what is wrong with an experiment: maps with `field`, `message` and, where they are
    known, `remedy`, `line` and `column`."""

    def __init__(self, status: int, document: Mapping[str, Any]) -> None:
        self.status = status
        self.errors: List[Dict[str, Any]] = list(document.get("errors") or [])
        text = "\n".join(_line_of(error) for error in self.errors)
        super().__init__(text or document.get("detail") or document.get("title") or f"status {status}")

    def with_note(self, note: str) -> "Problem":
        """The same, with a sentence about what follows from it."""
        self.args = (f"{self}\n{note}",)
        return self


class Paused(Problem):
    """The experiment has paused itself: its tasks fail one after the other, or its search has nothing to go by. The text
    says why, and what to do. `experiment` is its id."""

    def __init__(self, experiment: str, why: str) -> None:
        self.experiment = experiment
        super().__init__(409, {"detail": f"{experiment} is paused: {why}"})


def _line_of(error: Mapping[str, Any]) -> str:
    place = str(error.get("field") or "").lstrip("/").replace("/", ".")
    if error.get("line"):
        place = f"line {error['line']}, {place}" if place else f"line {error['line']}"
    text = ": ".join(part for part in (place, error.get("message")) if part)
    return f"{text}; {error['remedy']}" if error.get("remedy") else text


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def _split_address(address: str) -> urllib.parse.SplitResult:
    """"127.0.0.1:54322" is as good as "http://127.0.0.1:54322/"."""
    parts = urllib.parse.urlsplit(address if "://" in address else "http://" + address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{address!r} is not an address of a daemon; write it as http://127.0.0.1:54322")
    return parts


class Connection:
    """Where the daemon is, and one request at a time to it."""

    def __init__(self, address: Optional[str], token: Optional[str], state: Optional[str], program: str,
                 timeout: float) -> None:
        self.address = _split_address(address) if address else None
        self.token = token
        self.state = os.path.abspath(state or os.environ.get("SLUICE_STATE") or os.path.expanduser("~/.local/state/sluice"))
        self.program = program
        self.timeout = timeout

    def _new(self) -> http.client.HTTPConnection:
        if not self.address:
            return _UnixConnection(os.path.join(self.state, "sluice.sock"), self.timeout)
        kind = http.client.HTTPSConnection if self.address.scheme == "https" else http.client.HTTPConnection
        return kind(self.address.hostname or "", self.address.port, timeout=self.timeout)

    def command(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Runs the program `sluice` for the daemon of this state folder."""
        if not shutil.which(self.program):
            raise ConnectionError(f"the program '{self.program}' was not found in PATH. Add its folder to PATH, or give its path: "
                                  "Client(program=\"/path/to/sluice\")")
        return subprocess.run([self.program, *arguments], env={**os.environ, "SLUICE_STATE": self.state}, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)

    def _start(self) -> None:
        done = self.command("daemon", "start")
        if done.returncode:
            raise ConnectionError(f"the daemon did not start: {done.stderr.strip()}")

    def open(self, method: str, path: str, body: Any, headers: Mapping[str, str]) -> Tuple[Any, http.client.HTTPResponse]:
        """A connection, and an answer whose body has not been read."""
        if self.token:
            headers = {**headers, "Authorization": f"Bearer {self.token}"}
        prefix = self.address.path.rstrip("/") if self.address else ""
        for attempt in range(2):
            connection = self._new()
            try:
                connection.request(method, prefix + "/api/v1" + path, body, dict(headers))
                return connection, connection.getresponse()
            except (FileNotFoundError, ConnectionRefusedError) as error:
                connection.close()
                if self.address:
                    raise ConnectionError(f"no daemon answers at {self.address.geturl()}: {error.strerror}. Is it running, "
                                          "and the tunnel open?") from error
                if attempt:
                    raise
                self._start()
        raise AssertionError("not reached")

    def request(self, method: str, path: str, body: Any = None, headers: Optional[Mapping[str, str]] = None) -> Any:
        """Any request below /api/v1. A map or a list as body is sent as JSON. Returns the answer: read where it is JSON,
        else its text, None where it is empty."""
        headers = dict(headers or {})
        if body is not None and not isinstance(body, (bytes, bytearray)) and not hasattr(body, "read"):
            body = json.dumps(body).encode()
            headers.setdefault("Content-Type", "application/json")
        connection, response = self.open(method, path, body, headers)
        try:
            data = response.read()
        finally:
            connection.close()
        is_json = "json" in (response.headers.get("Content-Type") or "")
        if response.status >= 400:
            raise Problem(response.status, json.loads(data) if is_json and data else {})
        if not data:
            return None
        return json.loads(data) if is_json else data.decode("utf-8", "replace")

    def items(self, path: str) -> Iterator[Dict[str, Any]]:
        """All items of a list, page by page."""
        cursor: Optional[str] = ""
        while cursor is not None:
            more = ("&" if "?" in path else "?") + "cursor=" + urllib.parse.quote(cursor) if cursor else ""
            page = self.request("GET", path + more)
            yield from page["items"]
            cursor = page.get("next")

    def events(self, last_id: Optional[str]) -> Iterator[Tuple[str, Any]]:
        """(name, data) of every event, until the stream ends."""
        headers = {"Accept": "text/event-stream", **({"Last-Event-ID": last_id} if last_id else {})}
        connection, response = self.open("GET", "/events", None, headers)
        try:
            if response.status != 200:
                raise Problem(response.status, {})
            name = "message"
            data: List[str] = []
            for raw in iter(response.readline, b""):
                line = raw.decode("utf-8", "replace").rstrip("\r\n")
                field, _, value = line.partition(":")
                value = value[1:] if value.startswith(" ") else value
                if line == "":
                    if data:
                        yield name, json.loads("\n".join(data))
                    name, data = "message", []
                elif field == "event":
                    name = value
                elif field == "data":
                    data.append(value)
        finally:
            connection.close()
