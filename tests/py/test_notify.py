"""Messages by webhook and mail, with a real receiver and a real program in place of sendmail: what they say, that none
is lost when the daemon is killed, and that errors of a receiver are shown."""

import email
import email.policy
import http.server
import json
import os
import pathlib
import threading

import pytest

from conftest import wait_for
from contract import Contract

SPEC = {"name": 'a <!channel> & "q" \\ é', "parameters": {"n": [1, 2]}, "objective": {"metric": "loss", "goal": "min"}}
GOOD = "print('step=1 loss=0.25')\n"
BAD = "raise ValueError('no data')\n"


class Receiver:
    """Collects what is posted to it. `status` and `body` are its answer; it answers nothing while `hold` is set. One that
    does not listen yet refuses connections, and no one else gets its port."""

    def __init__(self, listens=True):
        self.got, self.status, self.body, self.commands = [], 200, b"ok", b""
        self.hold = threading.Event()
        self.go_on = threading.Event()
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                text = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.commands += command_lines()
                receiver.got.append((self.path, self.headers, json.loads(text)))
                if receiver.hold.is_set():
                    receiver.go_on.wait(300)
                self.send_response(receiver.status)
                self.end_headers()
                self.wfile.write(receiver.body)

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler, bind_and_activate=False)
        self.server.daemon_threads = True
        self.server.server_bind()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/services/secret-T0"
        self.listens = False
        if listens:
            self.listen()

    def listen(self):
        self.listens = True
        self.server.server_activate()
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.go_on.set()
        if self.listens:
            self.server.shutdown()
        self.server.server_close()

    def bodies(self, kind):
        return [body for _, _, body in list(self.got) if body["kind"] == kind]


def command_lines():
    """The arguments of all curl processes, as every user of the machine sees them."""
    found = b""
    for entry in pathlib.Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes() if entry.name.isdigit() else b""
        except OSError:
            continue
        if words.startswith(b"curl\0"):
            found += words
    return found


@pytest.fixture
def receiver():
    made = Receiver()
    yield made
    made.close()


def channel(daemon, name="webhook"):
    return next(c for c in daemon.get("/notify")["channels"] if c["name"] == name)


def test_a_webhook_gets_ends_and_pauses_as_the_document_says(daemon, receiver):
    assert channel(daemon)["target"] is None and daemon.get("/notify")["events"] == ["end", "pause", "stall"]
    daemon.submit(GOOD, SPEC)  # without an address nothing is kept for later
    daemon.wait_ended("e1")
    daemon.post("/notify", {"webhook": receiver.url})
    daemon.submit(GOOD, SPEC)
    body = wait_for(lambda: receiver.bodies("end"), lambda: f"{receiver.got} {daemon.get('/notify')}")[0]
    Contract(daemon.get("/openapi.json")["components"]).check("Notification", body)
    path, headers, _ = receiver.got[0]
    assert path == "/services/secret-T0" and headers["Content-Type"] == "application/json"
    assert headers["X-Sluice-Message"] == body["id"]
    assert body["message"].startswith(SPEC["name"] + " (e2) finished: 2 of 2 tasks finished. Best loss 0.25 (e2/")
    assert body["text"].startswith('a &lt;!channel&gt; &amp; "q" \\ é (e2) finished')
    assert body["experiment"]["id"] == "e2" and body["experiment"]["state"] == "finished"
    assert body["url"].endswith("/e/e2") and body["text"].endswith(body["url"])
    assert b"curl" in receiver.commands and b"secret" not in receiver.commands
    daemon.post("/notify", {"events": ["pause"]})
    daemon.submit(BAD, {**SPEC, "parameters": {"n": list(range(12))}, "search": {"parallel": 1}, "stop": {"failures": 2}})
    pause = wait_for(lambda: receiver.bodies("pause"), lambda: daemon.get("/notify"))[0]
    assert "(e3) is paused: 2 tasks in a row failed" in pause["message"] and "ValueError: no data" in pause["message"]
    daemon.post("/experiments/e3/stop")
    daemon.wait_ended("e3")
    daemon.post("/notify", {"webhook": None})
    assert [b["experiment"]["id"] for b in receiver.bodies("end")] == ["e2"]
    assert channel(daemon)["waiting"] == 0


def test_a_kill_between_event_and_delivery_loses_no_message(make_daemon):
    """The receiver is away at first; then it takes the message, and the daemon is killed before it knows."""
    receiver = Receiver(listens=False)
    try:
        daemon = make_daemon().start()
        daemon.post("/notify", {"webhook": receiver.url})
        daemon.submit(GOOD, SPEC)
        # `next` is null while a try runs
        now = wait_for(lambda: next((c for c in [channel(daemon)] if c["error"] and c["next"]), None),
                       lambda: channel(daemon))
        assert now["waiting"] == 1 and "curl: (7)" in now["error"]
        daemon.kill()
        receiver.listen()
        receiver.hold.set()
        daemon.start()
        wait_for(lambda: receiver.got, "the message is not tried again after the start")
        daemon.kill()
        receiver.hold.clear()
        receiver.go_on.set()
        daemon.start()
        wait_for(lambda: channel(daemon)["sent"], lambda: channel(daemon))
        assert channel(daemon)["waiting"] == 0 and channel(daemon)["error"] is None
        bodies = receiver.bodies("end")
        assert len(bodies) == 2 and bodies[0]["id"] == bodies[1]["id"]
        daemon.restart()
        daemon.post("/notify/test")
        wait_for(lambda: receiver.bodies("test"), lambda: channel(daemon))
        assert len(receiver.bodies("end")) == 2
    finally:
        receiver.close()


def test_an_error_of_the_receiver_is_shown_and_the_message_waits(daemon, receiver):
    receiver.status, receiver.body = 403, b"invalid_token\nmore"
    said = daemon.cli("notify", "--webhook", "-", "--test", text=receiver.url + "\n", status=1).stdout
    assert "webhook: the test message could not be delivered: the receiver answered with status 403: invalid_token\n" == said
    daemon.submit(GOOD, SPEC)
    wait_for(lambda: channel(daemon)["waiting"] == 1 and receiver.bodies("end"), lambda: channel(daemon))
    assert "the last try failed: the receiver answered with status 403" in daemon.cli("notify").stdout
    findings = daemon.cli("doctor", status=1).stdout
    assert "notifications by webhook: the last message could not be delivered: the receiver answered with status 403" in findings
    receiver.status = 200
    assert daemon.cli("notify", "--test").stdout == "webhook: the test message was delivered\n"
    wait_for(lambda: channel(daemon)["waiting"] == 0, lambda: channel(daemon))
    assert channel(daemon)["error"] is None
    assert len({body["id"] for body in receiver.bodies("end")}) == 1
    assert "notifications by webhook: no message has failed" in daemon.cli("doctor").stdout
    answers = [daemon.request("POST", "/notify", {"webhook": bad}).status for bad in
               ("ftp://x", "file:///etc/passwd", "https://a b", "https://a\nurl = x", "-K/etc/passwd")]
    assert answers == [400] * 5 and channel(daemon)["target"] == receiver.url


def test_a_message_that_is_refused_for_good_does_not_hold_up_later_ones(daemon, receiver):
    """The longer it is refused, the longer it waits for its next try; a new message does not wait with it."""
    daemon.post("/notify", {"webhook": receiver.url})
    receiver.status = 422
    daemon.submit(GOOD, SPEC)
    wait_for(lambda: len(receiver.bodies("end")) == 2 and channel(daemon)["error"], lambda: channel(daemon))
    alone = wait_for(lambda: channel(daemon)["next"], lambda: channel(daemon))
    daemon.submit(GOOD, SPEC)
    wait_for(lambda: channel(daemon)["waiting"] == 2, lambda: channel(daemon))
    assert channel(daemon)["next"] < alone
    receiver.status = 200
    wait_for(lambda: channel(daemon)["waiting"] == 0, lambda: channel(daemon))
    assert [body["experiment"]["id"] for body in receiver.bodies("end")] == ["e1", "e1", "e2", "e1"]


def test_long_texts_of_the_receiver_and_of_the_user_change_nothing(daemon, receiver):
    """The status counts, whatever stands in an answer; and curl has a limit for the length of a body."""
    daemon.post("/notify", {"webhook": receiver.url})

    def tried(status, body):
        receiver.status, receiver.body = status, body
        daemon.cli("notify", "--test", status=None)
        return channel(daemon)["test"]

    refused = tried(500, b"err\n2" + b"x" * 200_000)
    assert refused["state"] == "failed" and refused["error"] == "the receiver answered with status 500: err"
    assert tried(500, b"\0\n2")["error"] == "the receiver answered with status 500"
    assert tried(200, b"<html>" + b"x" * 200_000)["state"] == "sent"
    description = '"x"\n' * 15_000
    daemon.submit(GOOD, {**SPEC, "description": description})
    body = wait_for(lambda: receiver.bodies("end"), lambda: channel(daemon))[0]
    Contract(daemon.get("/openapi.json")["components"]).check("Notification", body)
    assert body["experiment"]["id"] == "e1" and description.startswith(body["experiment"]["description"][:-1])
    wait_for(lambda: channel(daemon)["waiting"] == 0, lambda: channel(daemon))
    assert len(receiver.bodies("end")) == 1 and channel(daemon)["error"] is None


def test_an_address_that_is_no_text_is_refused_and_changes_nothing(daemon):
    daemon.post("/notify", {"webhook": "https://example.org/x", "mail": "ann@example.org"})
    bad = [{name: value} for name in ("webhook", "mail") for value in (5, ["a"], {}, True)]
    assert [daemon.request("POST", "/notify", body).status for body in bad] == [400] * len(bad)
    assert channel(daemon)["target"] == "https://example.org/x" and channel(daemon, "mail")["target"] == "ann@example.org"


@pytest.fixture
def sendmail(folder):
    """A program that keeps each mail in a file, which appears whole and after its arguments; `refuse` makes it fail."""
    home = folder / "mail"
    home.mkdir()
    program = home / "bin" / "sendmail"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\ncd {home}\n[ -e refuse ] && {{ echo 'queue is full' >&2; exit 75; }}\n"
                       "n=$(ls *.mail 2>/dev/null | wc -l)\nprintf '%s\\n' \"$@\" > \"$n.args\"\n"
                       "cat > \"$n.part\"\nmv \"$n.part\" \"$n.mail\"\n")
    program.chmod(0o755)
    return home


def test_mail_goes_through_sendmail_and_no_text_becomes_a_header(make_daemon, sendmail):
    daemon = make_daemon(env={"PATH": f"{sendmail}/bin:{os.environ['PATH']}"}).start()
    answers = [daemon.request("POST", "/notify", {"mail": bad}).status for bad in
               ("-oQ/tmp", "a@b, c@d", "a@b\nBcc: c@d", "|sh", "a b", "a@b@c", "")]
    assert answers == [400] * 6 + [200]  # an empty one turns it off
    (sendmail / "refuse").touch()
    daemon.post("/notify", {"mail": "ann@example.org", "events": ["end"]})
    assert "mail: the test message could not be delivered: queue is full" in daemon.cli("notify", "--test", status=1).stdout
    (sendmail / "refuse").unlink()
    name = "långe namn " + "ö" * 60
    daemon.submit(BAD, {**SPEC, "name": name, "description": "x\r\nBcc: evil@example.org"})
    wait_for(lambda: (sendmail / "0.mail").exists(), lambda: channel(daemon, "mail"))
    assert (sendmail / "0.args").read_text() == "-i\n--\nann@example.org\n"
    raw = (sendmail / "0.mail").read_bytes()
    assert raw.isascii() and max(map(len, raw.splitlines())) <= 76
    mail = email.message_from_bytes(raw, policy=email.policy.default)
    assert [key for key in mail.keys()] == ["To", "Subject", "Date", "Message-ID", "Auto-Submitted", "MIME-Version",
                                            "Content-Type", "Content-Transfer-Encoding"]
    assert mail["Subject"].startswith(name[:55]) and mail["To"] == "ann@example.org"
    text = mail.get_content()
    assert f"{name} (e1) ended with errors: 0 of 2 tasks finished, 2 failed." in text and "/e/e1\n" in text


def test_a_program_that_is_missing_is_named(make_daemon):
    daemon = make_daemon(env={"PATH": "/nonexistent"}).start()
    daemon.post("/notify", {"webhook": "https://example.org/x"})
    assert "curl, which is not in the daemon's PATH" in channel(daemon)["missing"]
    assert "curl, which is not in the daemon's PATH" in daemon.cli("notify", "--test", status=1).stdout
