"""A state folder that the version before wrote (tests/data/before): this daemon opens it, and everything that the
earlier one answered is still there. Members may be new; what differs on purpose is listed with its reason."""

import json
import re
import sqlite3
import tarfile
import urllib.request

import pytest

from conftest import ROOT

BEFORE = ROOT / "tests/data/before"
ANSWERS = json.loads((BEFORE / "answers.json").read_text())
CUT_OFF = "e4"  # ran and waited when its daemon was killed: it goes on, so its answers may not stay

# Where an answer may differ (a regular expression over route and place), and why.
DIFFERENT = {
    r"^/experiments\?limit=100/body/items/0/": "e4 was cut off and has gone on; its other answers are looked at below",
    r"^/experiments/e3/.*/elapsed_s: ": "task 3 is with a worker: its time grows",
    r"^/experiments/e1/.*/elapsed_s: 1\.288 became 1\.287$": "task 1 was restarted: its attempt ended 1 ms before the task did",
    r"^/experiments/e1/export\?format=csv/body: '1,finished,.*,1\.288,2' became .*,1\.287,2,": "the same time as text",
    r"^/experiments/e[123]/source/(status|body): ": "where no file was submitted, the stored experiment is printed as one",
    r"^/experiments/e[12]/analysis/body/importance: ": "importance is given from 20 results on",
    r"^/experiments/e1/analysis/body/progress: .*'task': 3,.*'task': 2,": "the best so far counts failed and stopped tasks, too",
    r"^/experiments/e2/search/body/(planned|proposed): 7 became 6$": "the imported task is counted apart",
    r"^/experiments/e3/export\?format=csv/body: ": "the same time as text; the tables of e1 and e2 are compared whole",
}


def differences(old, new, at):
    """Every place of the old answer that is missing or different in the new one."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key, value in old.items():
            yield from differences(value, new[key], f"{at}/{key}") if key in new else [f"{at}/{key} is missing: {value!r}"]
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for i, (a, b) in enumerate(zip(old, new)):
            yield from differences(a, b, f"{at}/{i}")
    elif at.endswith("export?format=csv/body") and isinstance(new, str) and old.count("\n") == new.count("\n"):
        # A newer version has more columns, behind those that were there.
        for a, b in zip(old.splitlines(), new.splitlines()):
            if not b.startswith(a + ","):
                yield f"{at}: {a!r} became {b!r}"
    elif old != new:
        yield f"{at}: {old!r} became {new!r}"


@pytest.fixture
def migrated(make_daemon):
    """The old state below a new folder, and this daemon on it, once what was cut off has ended."""
    daemon = make_daemon(env={"SLURM_CONF": "/nonexistent"})
    daemon.state.mkdir(mode=0o700)
    with tarfile.open(BEFORE / "files.tar.gz") as tar:
        for entry in tar:
            entry.linkname = entry.linkname.replace("STATE", str(daemon.state))
            tar.extract(entry, daemon.state, filter="fully_trusted")
    for path in daemon.state.rglob("*.json"):
        path.write_text(path.read_text().replace("STATE", str(daemon.state)))
    with sqlite3.connect(daemon.state / "sluice.db") as db:
        db.executescript((BEFORE / "dump.sql").read_text().replace("STATE", str(daemon.state)))
    db.close()
    daemon.start()
    daemon.wait_ended(CUT_OFF)
    return daemon


def answer_of(daemon, route):
    answer = daemon.request("GET", route)
    text = answer.body.decode().replace(str(daemon.state), "STATE")
    return {"status": answer.status, "body": json.loads(text) if "json" in answer.headers["Content-Type"] else text}


def test_everything_that_the_version_before_answered_is_still_there(migrated):
    found, used = [], set()
    for route, old in ANSWERS.items():
        if re.match(rf"/experiments/{CUT_OFF}\b", route):
            continue
        for place in differences(old, answer_of(migrated, route), route):
            why = [pattern for pattern in DIFFERENT if re.search(pattern, place)]
            used.update(why)
            if not why:
                found.append(place)
    assert not found, "\n".join(found)
    assert used == set(DIFFERENT)  # a difference that is gone is not listed any more


def test_what_was_cut_off_goes_on(migrated):
    e = migrated.get(f"/experiments/{CUT_OFF}")
    old = ANSWERS[f"/experiments/{CUT_OFF}"]["body"]
    assert {key: e[key] for key in ("name", "spec", "parameters", "created")} == {
        key: old[key] for key in ("name", "spec", "parameters", "created")}
    assert old["tasks"]["running"] == 1 and old["tasks"]["waiting"] == 1 and old["waiting_for"]
    assert e["state"] == "finished" and e["tasks"]["finished"] == 2 and e["waiting_for"] is None
    first = migrated.task(CUT_OFF, 1)
    assert [a["state"] for a in first["attempts"]] == ["error", "finished"] and first["attempts"][0]["cause"]["kind"] == "lost"


def test_what_was_kept_can_be_worked_with(migrated):
    """A token opens the door, a task that was out is told, a failed one runs again, an experiment is removed."""
    token = (BEFORE / "token").read_text().strip()
    assert migrated.request("GET", "/tokens").json["items"][0]["name"] == "notebook"
    host, port = migrated.tcp_address()
    request = urllib.request.Request(f"http://{host}:{port}/api/v1/experiments", headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request) as answer:
        assert json.load(answer)["total"] == 4
    migrated.post("/experiments/e3/tasks/3/tell", {"values": {"score": 0.9}})
    assert migrated.get("/experiments/e3")["best"]["task"] == 3
    assert migrated.post("/experiments/e3/ask")["number"] == 4
    migrated.post("/experiments/e1/tasks/2/restart")
    again = migrated.wait_state("e1", ("error",), 2)
    assert again["attempt"] == 3 and again["cause"]["code"] == 1 and "broken on purpose" in again["cause"]["tail"]
    migrated.delete("/experiments/e2")
    assert migrated.get("/experiments")["total"] == 3
