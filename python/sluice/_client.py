"""The REST interface of the daemon, over its unix socket or over TCP with a token."""

import base64
import http.client
import json
import os
import shutil
import socket
import subprocess
import time
import urllib.parse
import uuid

_INLINE_BYTES = 4 << 20  # larger files go before the request, one by one
_OVER = ("finished", "error", "stopped", "pruned")


class Problem(Exception):
    """The daemon said no. `status` is HTTP's; `errors` lists what is wrong with an experiment."""

    def __init__(self, status, document):
        self.status = status
        self.errors = document.get("errors") or []
        lines = [": ".join(part for part in (e.get("field", "").lstrip("/").replace("/", "."), e.get("message")) if part)
                 for e in self.errors]
        super().__init__("\n".join(lines) or document.get("detail") or document.get("title") or f"status {status}")


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def _state_folder():
    return os.environ.get("SLUICE_STATE") or os.path.expanduser("~/.local/state/sluice")


def _path_of(id, rest=""):
    experiment, _, task = id.partition("/")
    return f"/experiments/{experiment}" + (f"/tasks/{task}" if task else "") + rest


class Client:
    """Talks to the daemon of this user, starting it with the program `sluice` where there is none; or, with an address
    ("http://127.0.0.1:54322") and a token, to one over TCP."""

    def __init__(self, address=None, token=None, state=None, program="sluice", timeout=120):
        self._address = urllib.parse.urlsplit(address) if address else None
        self._token = token
        self._state = os.path.abspath(state or _state_folder())
        self._program = program
        self._timeout = timeout

    def _connection(self):
        if self._address:
            return http.client.HTTPConnection(self._address.hostname, self._address.port or 80, timeout=self._timeout)
        return _UnixConnection(os.path.join(self._state, "sluice.sock"), self._timeout)

    def _start(self):
        if self._address or not shutil.which(self._program):
            raise ConnectionError("no daemon answers, and the program 'sluice' is not in PATH to start one")
        subprocess.run([self._program, "daemon", "start"], env={**os.environ, "SLUICE_STATE": self._state}, check=True)

    def _open(self, method, path, body, headers):
        """An answer whose body is still to be read."""
        if self._token:
            headers = {**headers, "Authorization": f"Bearer {self._token}"}
        for attempt in range(2):
            connection = self._connection()
            try:
                connection.request(method, "/api/v1" + path, body, headers)
                return connection, connection.getresponse()
            except (FileNotFoundError, ConnectionRefusedError):
                connection.close()
                if attempt:
                    raise
                self._start()

    def request(self, method, path, body=None, headers=None):
        """Any request below /api/v1. A map or list as body goes as JSON; the answer is read if it is JSON, else text."""
        headers = dict(headers or {})
        if body is not None and not isinstance(body, (bytes, bytearray)) and not hasattr(body, "read"):
            body = json.dumps(body).encode()
            headers.setdefault("Content-Type", "application/json")
        connection, response = self._open(method, path, body, headers)
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

    def _items(self, path):
        """All items of a list, page by page."""
        cursor = ""
        while cursor is not None:
            more = ("&" if "?" in path else "?") + "cursor=" + urllib.parse.quote(cursor) if cursor else ""
            page = self.request("GET", path + more)
            yield from page["items"]
            cursor = page.get("next")

    # Submitting.

    def _file(self, path, content):
        if isinstance(content, str):
            content = content.encode()
        if len(content) > _INLINE_BYTES:
            name = urllib.parse.quote(os.path.basename(path), safe="")
            upload = self.request("PUT", "/uploads/" + name, bytes(content), {"Content-Type": "application/octet-stream"})
            return {"path": path, "upload": upload["id"]}
        return {"path": path, "base64": base64.b64encode(content).decode()}

    def _command_line(self, verb, path):
        """An experiment file goes through the program, which knows how to collect its files."""
        done = subprocess.run([self._program, verb, "--json", *(["--detach"] if verb == "run" else []), path], text=True,
                              env={**os.environ, "SLUICE_STATE": self._state}, capture_output=True)
        if done.returncode:
            raise Problem(400 if done.returncode == 2 else 500, {"detail": done.stderr.strip()})
        return json.loads(done.stdout)

    def run(self, experiment, files=None):
        """Submits an experiment: the path of a file, or a map with the same keys and `files` {path: text or bytes} with at
        least the script. The created experiment."""
        if isinstance(experiment, (str, os.PathLike)):
            return self._command_line("run", os.fspath(experiment))
        body = {"experiment": experiment, "files": [self._file(p, c) for p, c in (files or {}).items()]}
        return self.request("POST", "/experiments", body, {"Idempotency-Key": uuid.uuid4().hex})

    def check(self, experiment):
        """Validates and counts, runs nothing."""
        if isinstance(experiment, (str, os.PathLike)):
            return self._command_line("check", os.fspath(experiment))
        return self.request("POST", "/check", {"experiment": experiment})

    # Looking. Ids are "e12" and "e12/7".

    def experiments(self):
        return list(self._items("/experiments?limit=1000"))

    def show(self, id):
        return self.request("GET", _path_of(id))

    def tasks(self, id, state=None, sort="number"):
        path = _path_of(id, f"/tasks?limit=1000&sort={sort}") + (f"&state={state}" if state else "")
        return list(self._items(path))

    def best(self, id, n=1):
        """The n best tasks that have a value."""
        page = self.request("GET", _path_of(id, f"/tasks?sort=best&limit={n}"))
        return [task for task in page["items"] if task["best"]]

    def metrics(self, id, name=None, points=10000):
        """Of an experiment: one metric of every task; of a task: all of them."""
        query = {"points": points, **({"name": name} if name and "/" not in id else {})}
        return self.request("GET", _path_of(id, "/metrics?" + urllib.parse.urlencode(query)))

    def export(self, id):
        """Everything about an experiment, with every metric of every task."""
        return self.request("GET", _path_of(id, "/export?format=json"))

    def log(self, id, stream="stdout", attempt=None):
        """The whole output of a task's last (or given) attempt."""
        text, offset = [], 0
        while True:
            query = {"stream": stream, "offset": offset, **({"attempt": attempt} if attempt else {})}
            chunk = self.request("GET", _path_of(id, "/log?" + urllib.parse.urlencode(query)))
            text.append(chunk["text"])
            if chunk["next"] <= offset or chunk["next"] >= chunk["size"]:
                return "".join(text)
            offset = chunk["next"]

    def wait(self, id, poll_s=0.5):
        """Waits until the experiment or task is over, and returns it."""
        while True:
            shown = self.show(id)
            if shown["state"] in _OVER:
                return shown
            time.sleep(poll_s)

    def events(self, last_id=None):
        """Yields (name, data) of the event stream until it ends."""
        headers = {"Accept": "text/event-stream", **({"Last-Event-ID": last_id} if last_id else {})}
        connection, response = self._open("GET", "/events", None, headers)
        try:
            if response.status != 200:
                raise Problem(response.status, {})
            name, data = "message", []
            while True:
                raw = response.readline()
                if not raw:
                    return
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

    # Changing.

    def stop(self, id):
        return self.request("POST", _path_of(id, "/stop"), {})

    def restart(self, id, failed=False):
        return self.request("POST", _path_of(id, "/restart"), {"failed": True} if failed else {})

    def remove(self, id, stop=False):
        self.request("DELETE", _path_of(id) + ("?stop=1" if stop else ""))

    def parallel(self, id, n):
        return self.request("POST", _path_of(id, "/parallel"), {"parallel": n})

    # A search that people take part in.

    def suggest(self, id, **parameters):
        """Runs a configuration of one's own beside those of the search. The task."""
        return self.request("POST", _path_of(id, "/suggest"), {"parameters": parameters})

    def import_results(self, id, rows):
        """Gives the search results from elsewhere: [{"parameters": {...}, "values": {"val_loss": 0.3}}, ...], or the id of
        another experiment, whose finished tasks are taken. How many there were."""
        if isinstance(rows, str):
            rows = list(self._results(rows, self.show(id)["objective"]))
        return self.request("POST", _path_of(id, "/import"), {"rows": rows})["tasks"]

    def _results(self, id, objective):
        for task in self.export(id)["tasks"]:
            values = {}
            for one in objective:
                curve = [v for v in task["metrics"].get(one["metric"], {}).get("value", []) if not isinstance(v, str)]
                if curve:
                    values[one["metric"]] = (max if one["goal"] == "max" else min)(curve)
            if task["state"] == "finished" and values:
                yield {"parameters": task["parameters"], "values": values}

    def change(self, id, search=None, parameters=None, constraints=None):
        """Other settings while it runs: change("e1", search={"tasks": 80}, parameters={"lr": {"min": 1e-6, "max": 1.0}}). The
        experiment."""
        body = {"search": search, "parameters": parameters, "constraints": constraints}
        return self.request("POST", _path_of(id, "/search"), {k: v for k, v in body.items() if v is not None})

    def search(self, id):
        """The strategy, why it was chosen, and its inside while it works."""
        return self.request("GET", _path_of(id, "/search"))

    def analysis(self, id):
        """Best tasks, progress, importance of the parameters, fronts, slices."""
        return self.request("GET", _path_of(id, "/analysis"))

    # Workers of one's own (backend: external).

    def ask(self, id):
        """The next task of an experiment with the backend `external`, or None when nothing is left. Waits while the search
        waits for results of others."""
        while True:
            try:
                return self.request("POST", _path_of(id, "/ask"), {})
            except Problem as problem:
                if problem.status != 409:
                    raise
                time.sleep(0.2)

    def tell(self, id, values=None, step=None, more=False, failed=None):
        """What a task gave; more=True: it goes on."""
        body = {"values": values or {}, "step": step, "more": more, "failed": failed}
        return self.request("POST", _path_of(id, "/tell"), {k: v for k, v in body.items() if v is not None and v is not False})
