"""What the interface answers: its document, experiments, logs, uploads, event streams, what was submitted."""

import json
import os
import pathlib
import pwd
import re
import socket
import stat

import pytest

from conftest import Answer, DEADLINE_S, Daemon, UnixConnection
from contract import Contract

SCRIPT = """
    import sys
    print("héllo wörld")
    sys.stdout.flush()
    with open("metrics.csv", "w") as out:
        out.write("epoch,loss\\n0,1.5\\n1,0.5\\n2,0.75\\n")
"""
SPEC = {"parameters": {"n": [1, 2]}, "search": {"strategy": "grid"}, "objective": {"metric": "loss", "goal": "min"}}


# The interface.

def test_openapi_document_is_whole(daemon):
    document = daemon.get("/openapi.json")
    assert document["openapi"] == "3.1.0"
    operations = [operation for path in document["paths"].values() for operation in path.values()]
    names = [operation["operationId"] for operation in operations]
    assert len(names) == len(set(names)) > 30

    def walk(node):
        if isinstance(node, dict):
            if "$ref" in node:
                at = document
                for part in node["$ref"].removeprefix("#/").split("/"):
                    at = at[part]
            for value in node.values():
                walk(value)
        elif isinstance(node, list):
            for value in node:
                walk(value)

    walk(document)
    for path, methods in document["paths"].items():
        for operation in methods.values():
            braces = set(re.findall(r"\{(\w+)\}", path))
            assert braces == {p["name"] for p in operation["parameters"] if p["in"] == "path"}
            assert any(code.startswith("2") for code in operation["responses"])


def test_answers_match_the_document(daemon, folder):
    """A finished experiment, read through every GET that answers with JSON."""
    (folder / "allowed").mkdir()
    (folder / "allowed/train.py").write_text("import helper\n")
    (folder / "allowed/helper.py").write_text("")
    (daemon.state / "settings.yaml").write_text(f"scripts: {{folders: [{folder}/allowed]}}\n")
    queries = {"/find": "?q=loss", "/folders/list": f"?folder={folder}/allowed",
               "/folders/script": f"?folder={folder}/allowed&path=train.py"}
    document = daemon.get("/openapi.json")
    contract = Contract(document["components"])
    experiment = daemon.submit(SCRIPT, SPEC)
    daemon.wait_ended(experiment)
    checked = 0
    for path, methods in document["paths"].items():
        operation = methods.get("get")
        content = operation and operation["responses"]["200"].get("content", {}).get("application/json")
        if not content:
            continue
        query = next((queries[end] for end in queries if path.endswith(end)), "")
        target = path.replace("{id}", experiment).replace("{n}", "1") + query
        contract.check(content["schema"], daemon.get(target), target)
        checked += 1
    assert checked >= 14


def test_idempotency_key_gives_the_first_answer_again(daemon):
    body = {"experiment": {"command": ["true"], "name": "once"}}
    headers = {"Idempotency-Key": "k-1"}
    first = daemon.request("POST", "/experiments", body, headers)
    again = daemon.request("POST", "/experiments", body, headers)
    assert (first.status, again.status) == (201, 200)
    assert first.json["id"] == again.json["id"]
    assert first.headers["Location"] == "/api/v1/experiments/" + first.json["id"]
    other = daemon.request("POST", "/experiments", {"experiment": {"command": ["false"]}}, headers)
    assert other.status == 409
    assert daemon.get("/experiments")["total"] == 1
    assert daemon.request("POST", "/experiments", body, {"Idempotency-Key": "x" * 201}).status == 400


def test_problems_name_the_field(daemon):
    answer = daemon.request("POST", "/experiments", {"source": {"name": "a.yaml", "text": "command: [x]\nparameters:\n  u: {min: 9, max: 1}\n"}})
    assert answer.status == 400
    assert answer.headers["Content-Type"] == "application/problem+json"
    problem = answer.json
    assert problem["errors"][0]["line"] == 3
    assert problem["errors"][0]["field"].startswith("/parameters/u")


def test_list_shows_a_change_at_once(daemon):
    """Answers are cached by the store's version: a change must never be hidden by an older answer."""
    assert daemon.get("/experiments")["total"] == 0
    experiment = daemon.submit(SCRIPT, SPEC)
    assert daemon.get("/experiments")["total"] == 1
    daemon.wait_ended(experiment)
    daemon.delete(f"/experiments/{experiment}")
    assert daemon.get("/experiments")["total"] == 0
    assert daemon.request("GET", f"/experiments/{experiment}").status == 404


def test_export_is_an_attachment(daemon):
    experiment = daemon.submit(SCRIPT, SPEC)
    daemon.wait_ended(experiment)
    csv = daemon.request("GET", f"/experiments/{experiment}/export?format=csv")
    assert csv.headers["Content-Disposition"] == f'attachment; filename="{experiment}.csv"'
    assert csv.headers["Content-Type"].startswith("text/csv")
    assert csv.body.decode().splitlines()[0].startswith("task,state,n,best_loss,best_epoch,elapsed_s,attempts,cause,wall_s,")
    assert csv.body.decode().splitlines()[0].endswith(",at_best_loss,last_loss")
    whole = daemon.request("GET", f"/experiments/{experiment}/export").json
    assert [task["metrics"]["loss"]["value"] for task in whole["tasks"]] == [[1.5, 0.5, 0.75]] * 2


def test_log_by_pieces_never_cuts_a_character(daemon):
    experiment = daemon.submit(SCRIPT, {**SPEC, "parameters": {"n": 1}})
    daemon.wait_ended(experiment)
    path = f"/experiments/{experiment}/tasks/1/log"
    whole = daemon.get(path)
    assert whole["text"] == "héllo wörld\n"
    assert (whole["offset"], whole["next"], whole["size"]) == (0, 14, 14)
    text, offset = "", 0
    while offset < whole["size"]:
        piece = daemon.get(f"{path}?offset={offset}&limit=2")
        assert piece["next"] > offset
        text, offset = text + piece["text"], piece["next"]
    assert text == whole["text"]
    for back in range(1, 15):
        tail = daemon.get(f"{path}?offset=-{back}")
        assert whole["text"].endswith(tail["text"]) and "\ufffd" not in tail["text"]
    assert daemon.get(f"{path}?offset=999")["text"] == ""
    assert daemon.get(f"{path}?stream=stderr")["text"] == ""
    assert daemon.request("GET", f"{path}?attempt=9").status == 404
    assert daemon.request("GET", f"/experiments/{experiment}/tasks/9/log").status == 404


def test_log_with_bytes_that_are_no_text(daemon):
    experiment = daemon.submit("""
        import sys
        sys.stdout.buffer.write(b"a\\xff\\xfeb\\x00\\x1b[31m<script>\\n")
    """, {**SPEC, "parameters": {"n": 1}})
    daemon.wait_ended(experiment)
    log = daemon.get(f"/experiments/{experiment}/tasks/1/log")
    assert log["text"] == "a\ufffd\ufffdb\x00\x1b[31m<script>\n"
    assert log["next"] == log["size"]


def test_log_that_became_a_link_is_not_followed(daemon, folder):
    experiment = daemon.submit(SCRIPT, {**SPEC, "parameters": {"n": 1}})
    daemon.wait_ended(experiment)
    secret = folder / "secret"
    secret.write_text("secret")
    log = pathlib.Path(daemon.task(experiment, 1)["folder"]) / "stdout"
    log.unlink()
    log.symlink_to(secret)
    answer = daemon.request("GET", f"/experiments/{experiment}/tasks/1/log")
    assert b"secret" not in answer.body


def test_files_inside_the_request_may_fill_the_body(daemon):
    text = "x" * 12_000_000
    experiment = daemon.submit("import os; print(os.path.getsize('big.txt'))", {"files": ["big.txt"]}, files=[{"path": "big.txt", "text": text}])
    daemon.wait_ended(experiment)
    assert daemon.get(f"/experiments/{experiment}/tasks/1/log")["text"] == "12000000\n"
    too_big = daemon.request("POST", "/experiments", {"experiment": {"command": ["true"]}, "files": [{"path": "a", "text": "x" * 17_000_000}]})
    assert too_big.status == 413


def test_upload_is_streamed_to_disk_and_used(daemon):
    data = os.urandom(3_000_000)
    connection = UnixConnection(daemon.socket)
    connection.request("PUT", "/api/v1/uploads/data.bin", iter([data[i:i + 100_000] for i in range(0, len(data), 100_000)]),
                       encode_chunked=True, headers={"Transfer-Encoding": "chunked"})
    made = Answer(connection.getresponse())
    connection.close()
    assert made.status == 201 and made.json["bytes"] == len(data)
    assert (daemon.state / "uploads" / made.json["id"]).read_bytes() == data
    assert stat.S_IMODE((daemon.state / "uploads" / made.json["id"]).stat().st_mode) == 0o600
    experiment = daemon.submit("import os; print(os.path.getsize('data.bin'))", {"files": ["data.bin"]},
                               files=[{"path": "data.bin", "upload": made.json["id"]}])
    daemon.wait_ended(experiment)
    assert daemon.get(f"/experiments/{experiment}/tasks/1/log")["text"] == "3000000\n"

    # It is linked, because a copy of gigabytes would hold everybody up. A second experiment has a file of its own.
    upload = daemon.state / "uploads" / made.json["id"]
    first = daemon.state / "experiments" / experiment / "files/data.bin"
    assert first.samefile(upload)
    second = daemon.submit("print(1)", {"files": ["data.bin"]}, files=[{"path": "data.bin", "upload": made.json["id"]}])
    theirs = daemon.state / "experiments" / second / "files/data.bin"
    assert theirs.read_bytes() == data and not theirs.samefile(upload)


# Events.

class Stream:
    """An event stream, read line by line into events."""

    def __init__(self, daemon, last=None, query=""):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(DEADLINE_S)
        self.sock.connect(str(daemon.socket))
        header = f"Last-Event-ID: {last}\r\n" if last else ""
        self.sock.sendall(f"GET /api/v1/events{query} HTTP/1.1\r\nHost: sluice\r\n{header}\r\n".encode())
        self.file = self.sock.makefile("rb")
        self.status = int(self.file.readline().split()[1])
        self.headers = {}
        while (line := self.file.readline()) not in (b"\r\n", b""):
            name, value = line.decode().split(":", 1)
            self.headers[name.lower()] = value.strip()
        self.last = last

    def next(self):
        """(name, data) of the next event."""
        name, data = None, []
        while True:
            line = self.file.readline()
            assert line, "the stream ended"
            line = line.decode().rstrip("\n")
            if line.startswith("id: "):
                self.last = line[4:]
            elif line.startswith("event: "):
                name = line[7:]
            elif line.startswith("data: "):
                data.append(line[6:])
            elif not line and data:
                return name, json.loads("\n".join(data))

    def until(self, condition):
        while True:
            event = self.next()
            if condition(*event):
                return event

    def close(self):
        self.file.close()
        self.sock.close()


def test_events_tell_what_happens_and_resume(daemon):
    stream = Stream(daemon)
    assert stream.headers["content-type"] == "text/event-stream"
    experiment = daemon.submit(SCRIPT, SPEC)
    seen = []
    stream.until(lambda name, data: seen.append(name) or (name == "experiment" and data["state"] == "finished"))
    assert {"experiment", "task", "metrics"} <= set(seen)
    last = stream.last
    stream.close()

    daemon.delete(f"/experiments/{experiment}")
    again = Stream(daemon, last)
    name, data = again.until(lambda name, data: name == "removed")
    assert data == {"experiment": experiment}
    again.close()
    by_query = Stream(daemon, query="?last=" + last)
    assert by_query.until(lambda name, data: name == "removed")
    by_query.close()


def test_stream_that_cannot_resume_is_told_to_fetch_again(daemon):
    stream = Stream(daemon)
    daemon.submit(SCRIPT, SPEC)
    stream.next()
    last = stream.last
    stream.close()
    daemon.restart()
    again = Stream(daemon, last)
    assert again.next() == ("reset", {})
    assert again.last != last
    again.close()
    other = Stream(daemon, "nonsense")
    assert other.next()[0] == "reset"
    other.close()


def test_many_idle_streams_are_cheap(daemon):
    def memory():
        status = pathlib.Path(f"/proc/{daemon.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) * 1024

    if "libasan" in pathlib.Path(f"/proc/{daemon.process.pid}/maps").read_text():
        pytest.skip("the sanitizer's own memory is not what is measured here")
    daemon.get("/experiments")
    before = memory()
    streams = [Stream(daemon) for _ in range(500)]
    per_stream = (memory() - before) / len(streams)
    experiment = daemon.submit(SCRIPT, {**SPEC, "parameters": {"n": 1}})
    for stream in streams:
        stream.until(lambda name, data: name == "experiment" and data["id"] == experiment and data["state"] == "finished")
        stream.close()
    assert per_stream < 2048


def test_stream_that_does_not_read_is_dropped_and_others_are_not(daemon):
    """A reader that sleeps must not make the daemon keep what it does not take."""
    deaf, good = Stream(daemon), Stream(daemon)
    deaf.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    spec = {"parameters": {"n": list(range(30)), "text": "x" * 30000}, "search": {"strategy": "grid", "parallel": 8}}
    experiment = daemon.submit("print('ok')", spec)
    good.until(lambda name, data: name == "experiment" and data["id"] == experiment and data["state"] == "finished")
    deaf.file.read()  # returns once the daemon has closed it
    deaf.close()
    good.close()


# What was submitted.


def test_submitted_files_come_back_and_nothing_else_does(daemon):
    blob = bytes(range(256)) * 3000
    upload = daemon.request("PUT", "/uploads/big.bin", raw=blob, headers={"Content-Type": "application/octet-stream"}).json["id"]
    experiment = daemon.post("/experiments", {
        "experiment": {"script": "model.py", "files": ["data/big.bin"]},
        "files": [{"path": "model.py", "text": "print('ü')\n"}, {"path": "data/big.bin", "upload": upload}]})["id"]
    listed = daemon.get(f"/experiments/{experiment}/files")["files"]
    assert sorted((f["path"], f["bytes"]) for f in listed) == [("data/big.bin", len(blob)), ("model.py", len("print('ü')\n".encode()))]
    assert daemon.request("GET", f"/experiments/{experiment}/file?path=model.py").body.decode() == "print('ü')\n"
    got = daemon.request("GET", f"/experiments/{experiment}/file?path=data/big.bin")
    assert got.body == blob and got.headers["Content-Disposition"] == "attachment"
    (daemon.state / "experiments" / experiment / "files" / "link").symlink_to(daemon.state / "sluice.db")
    for path in ("../experiment.yaml", "../../../sluice.db", "/etc/passwd", "data", "link", "none.py", "data/../model.py"):
        assert daemon.request("GET", f"/experiments/{experiment}/file?path={path}").status == 404, path
    assert daemon.request("GET", f"/experiments/{experiment}/file").status == 400
    assert daemon.request("GET", "/experiments/e99/files").status == 404
    assert daemon.cli("show", experiment, "--script").stdout == "print('ü')\n"


def test_info_names_the_user_without_an_environment(folder):
    daemon = Daemon(folder / "state")
    for name in ("USER", "LOGNAME"):
        daemon.env.pop(name, None)
    daemon.start()
    try:
        assert daemon.get("/info")["user"] == pwd.getpwuid(os.getuid()).pw_name
    finally:
        daemon.stop()


def test_mistyped_and_unknown_members_change_nothing(daemon):
    experiment = daemon.submit("print(1)")
    daemon.wait_ended(experiment)
    before = daemon.tasks(experiment)
    for path, body in [
        ("/restart", {"failed": "true"}), ("/restart", {"failed": 1}), ("/restart", {"failed": {}}), ("/restart", {"fail": True}), ("/restart", {"mode": "fesh"}), ("/tasks/1/restart", {"mode": 1}),
        ("/restart", [None]), ("/restart", False), ("/tasks/restart", {"tasks": [1], "all": True}),
        ("/tasks/restart", {"tasks": ["1"]}), ("/tasks/stop", {"tasks": 1}), ("/tasks/1/restart", {"failed": True}),
        ("/tasks/1/stop", [None]), ("/stop", {"tasks": [1]}), ("/parallel", {"parallel": "2"}),
        ("/parallel", {"parallel": 2, "x": 1}),
    ]:
        answer = daemon.request("POST", f"/experiments/{experiment}{path}", body)
        assert (answer.status, daemon.tasks(experiment)) == (400, before), (path, body, answer.body)
    answer = daemon.request("POST", f"/experiments/{experiment}/restart", {"fail": True})
    assert answer.json["detail"] == "fail: this member is not known"
