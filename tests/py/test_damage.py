"""A database with a damaged page: what cannot be read is an error, the user is told, and doctor names the damage."""

import json
import sqlite3

from conftest import UnixConnection, wait_for

PAGE = 4096
SCRIPT = """
    with open("metrics.csv", "w") as out:
        print("epoch,loss", file=out)
        for epoch in range(2000):
            print(f"{epoch},{1 / (epoch + 1)}", file=out)
"""


def damage(database):
    """Overwrites one page that holds rows of `metric` and nothing else."""
    def rows(table):
        base = sqlite3.connect(database)
        try:
            return base.execute(f"SELECT * FROM {table}").fetchall()
        finally:
            base.close()

    base = sqlite3.connect(database)
    base.execute("PRAGMA journal_mode=DELETE")
    root, = base.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'metric'").fetchone()
    tables = [name for name, in base.execute("SELECT name FROM sqlite_schema WHERE type = 'table'") if name != "metric"]
    base.close()
    whole = database.read_bytes()
    right = {name: rows(name) for name in tables}
    # Pages are given out in order: those of the curve come last.
    for page in range(len(whole) // PAGE - 3, 1, -1):
        if page == root - 1:
            continue
        broken = bytearray(whole)
        broken[page * PAGE:(page + 1) * PAGE] = bytes(PAGE)
        database.write_bytes(broken)
        try:
            rows("metric")
        except sqlite3.DatabaseError:
            if {name: rows(name) for name in tables} == right:
                return
    raise AssertionError("no page holds rows of metric alone")


def first_notice(connection):
    """The data of the first `notice` of an event stream."""
    name = None
    while True:
        line = connection.readline().decode()
        assert line, "the event stream ended"
        if line.startswith("event: "):
            name = line[7:].strip()
        elif line.startswith("data: ") and name == "notice":
            return json.loads(line[6:])


def test_a_damaged_page_is_a_500_a_notice_and_a_finding(daemon):
    experiment = daemon.submit(SCRIPT, {"objective": {"metric": "loss", "goal": "min"}})
    daemon.wait_ended(experiment)
    wait_for(lambda: len(daemon.metrics(experiment, 1).get("loss", {}).get("step", [])) == 2000, "not every row arrived")
    assert "the database is sound" in daemon.cli("doctor", status=None).stdout
    daemon.stop()
    damage(daemon.state / "sluice.db")
    daemon.start()

    stream = UnixConnection(daemon.socket)
    stream.request("GET", "/api/v1/events")
    events = stream.getresponse()
    for path in (f"/experiments/{experiment}/tasks/1/metrics?points=5000", f"/experiments/{experiment}/metrics?name=loss",
                 f"/experiments/{experiment}/export?format=json"):
        answer = daemon.request("GET", path)
        assert answer.status == 500, path
        assert answer.headers["Content-Type"] == "application/problem+json"
        assert "Content-Disposition" not in answer.headers
        assert "could not be read" in answer.json["detail"] and "`sluice doctor`" in answer.json["detail"]
    notice = first_notice(events)
    stream.close()
    assert notice["level"] == "error" and "the database could not be read" in notice["text"]

    # What does not need the page is as it was, and so is the daemon.
    assert daemon.task(experiment, 1)["state"] == "finished"
    assert daemon.request("GET", "/experiments/e99").status == 404
    again = daemon.submit("print('still here')")
    assert daemon.wait_ended(again)["state"] == "finished"

    done = daemon.cli("doctor", status=1)
    assert "the database is damaged" in done.stdout and "metric: " in done.stdout and ".recover" in done.stdout
    assert any(finding["level"] == "error" and "damaged" in finding["what"] for finding in daemon.get("/cluster")["findings"])
