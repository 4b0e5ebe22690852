"""Lists of tasks in any order and through any filter, over all tasks; and compressed answers."""
import gzip
import json
import random
import threading
import time
import urllib.parse

import pytest

import conftest
from contract import Contract

MANY = 3000


@pytest.fixture(scope="module")
def module_daemon(tmp_path_factory):
    daemon = conftest.Daemon(tmp_path_factory.mktemp("query")).start()
    yield daemon
    daemon.stop()


@pytest.fixture(scope="module")
def many(module_daemon):
    """An experiment with 3,000 imported tasks of two metrics, and its rows."""
    chance = random.Random(5)
    spec = {"name": "many", "resources": {"backend": "external"},
            "objective": [{"metric": "val_loss", "goal": "min"}, {"metric": "latency", "goal": "min"}],
            "parameters": {"lr": {"min": 1e-5, "max": 0.1, "scale": "log"}, "optimizer": ["adam", "sgd"],
                           "batch_size": [16, 32, 64]},
            "search": {"strategy": "random", "tasks": 1}}
    experiment = module_daemon.post("/experiments", {"experiment": spec})["id"]
    rows = []
    for _ in range(MANY):
        lr = 10 ** chance.uniform(-5, -1)
        rows.append({"parameters": {"lr": lr, "optimizer": chance.choice(["adam", "sgd"]),
                                    "batch_size": chance.choice([16, 32, 64])},
                     "values": {"val_loss": chance.random(), "latency": chance.uniform(1, 100)}})
    for first in range(0, MANY, 1000):
        module_daemon.post(f"/experiments/{experiment}/import", {"rows": rows[first:first + 1000]})
    tasks = module_daemon.tasks(experiment)
    by_lr = {row["parameters"]["lr"]: row for row in rows}
    numbered = {t["number"]: by_lr[t["parameters"]["lr"]] for t in tasks if t["parameters"].get("lr") in by_lr}
    assert len(numbered) == MANY
    return experiment, numbered


def ask(daemon, experiment, **query):
    return daemon.get(f"/experiments/{experiment}/tasks?" + urllib.parse.urlencode({"limit": 1000, **query}))


def every(daemon, experiment, **query):
    items, cursor = [], {}
    while True:
        page = ask(daemon, experiment, **query, **cursor)
        items += page["items"]
        if not page["next"]:
            assert len(items) == page["total"]
            return items
        cursor = {"cursor": page["next"]}


def numbers(items):
    return [task["number"] for task in items]


@pytest.mark.parametrize("text,holds", [
    ("lr < 1e-3", lambda p, v: p["lr"] < 1e-3),
    ("lr < 1e-3 and optimizer = adam", lambda p, v: p["lr"] < 1e-3 and p["optimizer"] == "adam"),
    ("lr < 1e-3, optimizer = adam", lambda p, v: p["lr"] < 1e-3 and p["optimizer"] == "adam"),
    ("(lr < 1e-4 or lr > 1e-2) && batch != 16",
     lambda p, v: (p["lr"] < 1e-4 or p["lr"] > 1e-2) and p["batch_size"] != 16),
    ("not (optimizer = sgd) and val_loss <= 0.5", lambda p, v: p["optimizer"] != "sgd" and v["val_loss"] <= 0.5),
    ("latency > 90 or best < 0.01", lambda p, v: v["latency"] > 90 or v["val_loss"] < 0.01),
    ("last.latency > 99", lambda p, v: v["latency"] > 99),
    ("state = finished and sgd", lambda p, v: p["optimizer"] == "sgd"),
    ("state = error", lambda p, v: False),
    ("best = none and number > 1", lambda p, v: False),
])
def test_a_filter_keeps_exactly_the_tasks_it_describes(module_daemon, many, text, holds):
    experiment, rows = many
    expected = sorted(n for n, row in rows.items() if holds(row["parameters"], row["values"]))
    found = [n for n in numbers(every(module_daemon, experiment, filter=text)) if n in rows]
    assert found == expected


@pytest.mark.parametrize("sort,key", [
    ("p.lr", lambda row: row["parameters"]["lr"]),
    ("-p.lr", lambda row: -row["parameters"]["lr"]),
    ("latency", lambda row: row["values"]["latency"]),
    ("-latency", lambda row: -row["values"]["latency"]),
    ("best", lambda row: row["values"]["val_loss"]),
])
def test_an_order_holds_over_all_pages(module_daemon, many, sort, key):
    experiment, rows = many
    found = [n for n in numbers(every(module_daemon, experiment, sort=sort)) if n in rows]
    assert found == sorted(rows, key=lambda n: key(rows[n]))


def test_the_best_of_thousands_is_in_the_first_small_page(module_daemon, many):
    experiment, rows = many
    adam = {n: row for n, row in rows.items() if row["parameters"]["optimizer"] == "adam"}
    page = ask(module_daemon, experiment, sort="best", filter="optimizer = adam", limit=3)
    assert numbers(page["items"]) == sorted(adam, key=lambda n: adam[n]["values"]["val_loss"])[:3]
    assert page["total"] == len(adam)
    assert ask(module_daemon, experiment, filter=f"#{MANY}")["total"] == 1


def test_items_carry_the_metrics_that_are_asked_for(module_daemon, many):
    experiment, rows = many
    page = ask(module_daemon, experiment, metrics="*,val_loss", sort="best", limit=5)
    Contract().check("TaskList", page, "tasks with values")
    for task in page["items"]:
        values = rows[task["number"]]["values"]
        at = task["best"]["epoch"]
        said = {name: {"best": values[name], "last": values[name], "epoch": at} for name in ("latency", "val_loss")}
        assert task["values"] == said


@pytest.mark.parametrize("query,words", [
    ({"filter": "lrr < 1"}, ["no column 'lrr'", "did you mean 'lr'"]),
    ({"filter": "val_lsos < 1"}, ["no column 'val_lsos'", "did you mean 'val_loss'"]),
    ({"filter": "lr < abc"}, ["not a number: 'abc'"]),
    ({"filter": "(lr < 1"}, ["')' is missing"]),
    ({"filter": "lr <"}, ["ends too early"]),
    ({"filter": "optimizer = 'adam"}, ["quote is not closed"]),
    ({"filter": "(" * 5000}, ["nested too deeply"]),
    ({"sort": "latencyy"}, ["did you mean 'latency'"]),
    ({"metrics": "nothing"}, ["no metric 'nothing'"]),
    ({"sort": "latency", "cursor": "t9999999"}, ["not there any more"]),
    ({"sort": "latency", "cursor": "x"}, ["must be the \"next\""]),
])
def test_a_wrong_query_says_what_is_wrong(module_daemon, many, query, words):
    answer = module_daemon.request("GET", f"/experiments/{many[0]}/tasks?" + urllib.parse.urlencode(query))
    assert answer.status == 400
    for word in words:
        assert word in answer.json["detail"]


def test_nan_and_failures_are_found_by_name(daemon):
    script = """
        import sys
        mode = sys.argv[-1].split("=")[-1]
        if mode == "bad":
            raise ValueError("broken")
        print("val_loss=%s epoch=0" % ("nan" if mode == "nan" else "0.5"))
    """
    experiment = daemon.submit(script, {"parameters": {"mode": ["good", "nan", "bad"]}, "objective": "val_loss",
                                        "retry": {"error": 0}})
    daemon.wait_ended(experiment)
    mode = {t["parameters"]["mode"]: t["number"] for t in daemon.tasks(experiment)}
    for text, expected in (("state = error", "bad"), ("cause ~ ValueError or cause ~ exit", "bad"), ("best = nan", "nan"),
                           ("best < 1", "good"), ("time < 1d and best > 0", "good")):
        assert numbers(every(daemon, experiment, filter=text)) == [mode[expected]], text


def test_long_answers_are_compressed_and_short_ones_are_not(module_daemon, many):
    experiment, _ = many
    path = f"/experiments/{experiment}/tasks?limit=1000"
    plain = module_daemon.request("GET", path)
    packed = module_daemon.request("GET", path, headers={"Accept-Encoding": "gzip, deflate"})
    assert plain.headers["Content-Encoding"] is None and plain.headers["Vary"] == "Accept-Encoding"
    assert packed.headers["Content-Encoding"] == "gzip" and packed.headers["Vary"] == "Accept-Encoding"
    assert numbers(json.loads(gzip.decompress(packed.body))["items"]) == numbers(plain.json["items"])
    assert len(packed.body) * 5 < len(plain.body)
    for path in (f"/experiments/{experiment}/export?format=csv", f"/experiments/{experiment}/metrics",
                 f"/experiments/{experiment}/tasks?limit=1000&sort=latency", "/openapi.json"):
        packed = module_daemon.request("GET", path, headers={"Accept-Encoding": "gzip"})
        assert packed.headers["Content-Encoding"] == "gzip", path
        assert gzip.decompress(packed.body) == module_daemon.request("GET", path).body, path
    assert module_daemon.request("GET", "/health", headers={"Accept-Encoding": "gzip"}).headers["Content-Encoding"] is None
    for none in ("gzip;q=0", "gzip; q=0", "gzip;q=0.000"):
        refused = module_daemon.request("GET", "/openapi.json", headers={"Accept-Encoding": none})
        assert refused.headers["Content-Encoding"] is None, none


def test_the_daemon_answers_while_it_filters_and_compresses(module_daemon, many):
    experiment, _ = many
    slowest, done = [0.0], threading.Event()

    def look():
        while not done.is_set():
            began = time.monotonic()
            module_daemon.get("/health")
            slowest[0] = max(slowest[0], time.monotonic() - began)

    looking = threading.Thread(target=look)
    looking.start()
    try:
        for _ in range(5):
            path = f"/experiments/{experiment}/tasks?limit=1000&filter=latency+%3E+2&sort=p.lr&metrics=latency"
            module_daemon.request("GET", path, headers={"Accept-Encoding": "gzip"})
    finally:
        done.set()
        looking.join()
    assert slowest[0] < 1, "a short request waited for a long one"


def test_curves_of_some_tasks_and_of_some_steps(daemon):
    script = """
        for step in range(1000):
            print("val_loss=%.6f epoch=%d" % (1 / (step + 1), step))
    """
    experiment = daemon.submit(script, {"parameters": {"x": [1, 2, 3]}, "objective": "val_loss"})
    daemon.wait_ended(experiment)
    path = f"/experiments/{experiment}/metrics?points=100"
    assert [c["task"] for c in daemon.get(path)["tasks"]] == [1, 2, 3]
    some = daemon.get(path + "&tasks=3,1,17,x&from=400&to=449")["tasks"]
    assert [c["task"] for c in some] == [1, 3]
    # 1,000 steps are thinned to 100; of 50 steps none is left out.
    assert all(c["step"] == list(range(400, 450)) for c in some)


def test_curves_have_the_digits_that_are_asked_for(daemon):
    """A picture needs few digits. Where values differ by less than their size, digits of the difference count."""
    script = """
        for step in range(5):
            print("loss=%.9f top=%.9f epoch=%d" % (1 / (step + 3), 900 + 1 / (step + 3), step))
    """
    experiment = daemon.submit(script, {"parameters": {"x": [1]}, "objective": "loss"})
    daemon.wait_ended(experiment)

    def values(**query):
        query = "&".join(f"{key}={value}" for key, value in query.items())
        return daemon.get(f"/experiments/{experiment}/metrics?{query}")["tasks"][0]["value"]

    assert values(name="loss", digits=3) == [0.333, 0.25, 0.2, 0.167, 0.143]
    assert values(name="top", digits=3) == [900.333, 900.25, 900.2, 900.167, 900.143]
    assert values(name="loss", digits=0) == values(name="loss") == [0.333333333, 0.25, 0.2, 0.166666667, 0.142857143]
    assert daemon.request("GET", f"/experiments/{experiment}/metrics?digits=18").status == 400


def test_an_answer_names_the_event_from_which_a_page_misses_nothing(daemon):
    before = daemon.request("GET", "/experiments").headers["X-Sluice-Event"]
    experiment = daemon.submit("print('val_loss=1 epoch=0')", {"parameters": {"x": [1]}, "objective": "val_loss"})
    daemon.wait_ended(experiment)
    after = daemon.request("GET", f"/experiments/{experiment}").headers["X-Sluice-Event"]
    boot, number = before.rsplit("-", 1)
    assert after.rsplit("-", 1)[0] == boot and int(after.rsplit("-", 1)[1]) > int(number)
    connection = conftest.UnixConnection(daemon.socket)
    connection.request("GET", f"/api/v1/events?last={before}")
    stream = connection.getresponse()
    seen = b""
    while f'"id":"{experiment}"'.encode() not in seen:
        seen += stream.read1(65536)
    assert b"event: reset" not in seen
    connection.close()


def test_a_metric_is_named_exactly(daemon):
    """A name with a comma is one name in quotes, and one that no task reported is an error that names the nearest."""
    script = "import json\nfor e in (1, 2): print(json.dumps({'epoch': e, 'loss': 1 / e, 'mAP[0.5,0.95]': e / 10}))\n"
    experiment = daemon.submit(script, {"objective": [{"metric": "loss", "goal": "min"}, {"metric": "later", "goal": "min"}]})
    daemon.wait_ended(experiment)
    values = ask(daemon, experiment, metrics='"mAP[0.5,0.95]",loss')["items"][0]["values"]
    assert {name: value["last"] for name, value in values.items()} == {"mAP[0.5,0.95]": 0.2, "loss": 0.5}
    answer = daemon.request("GET", f"/experiments/{experiment}/metrics?name=los")
    assert answer.status == 404
    assert "has a metric 'los'; did you mean 'loss'? Found: loss, mAP[0.5,0.95]" in answer.json["detail"]
    assert daemon.get(f"/experiments/{experiment}/metrics?name=later")["tasks"] == [], "the experiment asks for it"
    assert daemon.get(f"/experiments/{experiment}/metrics?name=loss")["tasks"][0]["value"] == [1, 0.5]
    body = {"experiment": {"script": "script.py", "objective": "los"}, "files": [{"path": "script.py", "text": script}]}
    warnings = daemon.post("/check", body)["warnings"]
    assert any(f"has not reported los in {experiment}, but loss, mAP[0.5,0.95]; did you mean loss?" in text for text in warnings), warnings
    body["experiment"] = {"script": "script.py", "objective": "loss", "stop": {"when": "los < 0.1"}}
    warnings = daemon.post("/check", body)["warnings"]
    assert any(f"has not reported los in {experiment}" in text and "did you mean loss?" in text for text in warnings), warnings
    body["experiment"]["stop"]["when"] = "loss < 0.1"
    assert not any("has not reported" in text for text in daemon.post("/check", body)["warnings"])


def test_a_metric_that_an_earlier_experiment_asked_for_is_known(daemon):
    """The newest experiment of the same script lacks a timing that only an experiment has which asks for it."""
    script = "for e in (1, 2): print(f'epoch {e} loss {1 / e} latency_ms {e * 10}')\n"
    objectives = [{"metric": "loss", "goal": "min"}, {"metric": "latency_ms", "goal": "min"}]
    for objective in (objectives, "loss"):
        experiment = daemon.submit(script, {"objective": objective})
        daemon.wait_ended(experiment)
    body = {"experiment": {"script": "script.py", "objective": objectives}, "files": [{"path": "script.py", "text": script}]}
    assert daemon.task(experiment, 1)["metrics"] == ["loss"], "else this shows nothing"
    assert not any("has not reported" in text for text in daemon.post("/check", body)["warnings"])
