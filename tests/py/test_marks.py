"""Tags, notes, stars and the archive of experiments and tasks, and search over everything."""
import json
import urllib.parse

import pytest

from contract import Contract

SPEC = {"name": "résnet sweep", "resources": {"backend": "external"}, "objective": {"metric": "loss", "goal": "min"},
        "parameters": {"lr": [0.1, 0.001], "optimizer": ["adam", "sgd"]}, "search": {"strategy": "grid"}}
HOSTILE = "<script>alert(1)</script> \u202eevil \x1b[31m é"


def made(daemon, **more):
    experiment = daemon.post("/experiments", {"experiment": {**SPEC, **more}})["id"]
    rows = [{"parameters": {"lr": lr, "optimizer": o}, "values": {"loss": lr}} for lr in (0.1, 0.001) for o in ("adam", "sgd")]
    daemon.post(f"/experiments/{experiment}/import", {"rows": rows})
    return experiment


def find(daemon, words, **more):
    answer = daemon.get("/find?" + urllib.parse.urlencode({"q": words, **more}))
    Contract(daemon.get("/openapi.json")["components"]).check("Hits", answer)
    return answer


def found(daemon, words):
    return {(hit["experiment"], hit["task"], hit["in"]) for hit in find(daemon, words)["items"]}


def test_marks_are_kept_over_a_restart_and_what_is_not_named_stays(daemon):
    experiment = made(daemon)
    path = f"/experiments/{experiment}"
    assert [daemon.get(path)[k] for k in ("tags", "star", "archived", "notes")] == [[], False, False, None]
    daemon.post(f"{path}/marks", {"tags": ["paper", " two words "], "notes": HOSTILE})
    daemon.post(f"{path}/marks", {"star": True})
    daemon.post(f"{path}/marks", {"add_tags": ["third", "paper"], "remove_tags": ["two words"]})
    daemon.post(f"{path}/tasks/2/marks", {"tags": ["odd"], "notes": "# task", "star": True})
    daemon.restart()
    answer = daemon.get(path)
    assert answer["tags"] == ["paper", "third"] and answer["star"] and answer["notes"] == HOSTILE
    task = daemon.get(f"{path}/tasks/2")
    assert task["tags"] == ["odd"] and task["star"] and task["notes"] == "# task"
    assert daemon.get(f"{path}/tasks/1")["tags"] == []
    assert daemon.post(f"{path}/marks", {"notes": None, "tags": []})["notes"] is None


def test_many_tasks_are_marked_at_once_and_filters_know_the_marks(daemon):
    experiment = made(daemon)
    tasks = f"/experiments/{experiment}/tasks"
    assert daemon.post(f"{tasks}/marks", {"tasks": [1, 3], "add_tags": ["good"], "star": True}) == {"tasks": 2}
    daemon.post(f"{tasks}/marks", {"tasks": [3, 4], "add_tags": ["better"], "notes": "needle"})

    def numbers(text):
        page = daemon.get(f"{tasks}?" + urllib.parse.urlencode({"filter": text}))
        return [task["number"] for task in page["items"]]
    everything = [task["number"] for task in daemon.get(tasks)["items"]]
    assert numbers("tags = good") == [1, 3]
    assert numbers("tags = better and star = yes") == [3]
    assert numbers("tags != good") == [n for n in everything if n not in (1, 3)]
    assert numbers("needle") == [3, 4]
    assert numbers("tags = none") == [n for n in everything if n not in (1, 3, 4)]


@pytest.mark.parametrize("body", [
    {"tags": ["a,b"]}, {"tags": [""]}, {"tags": ["  "]}, {"tags": ["x" * 61]}, {"tags": ["a\nb"]},
    {"tags": [str(i) for i in range(21)]}, {"notes": "x" * 70000}, {"tags": "word"}, {"star": 1}, {"colour": "red"},
    {"tags": [5]}])
def test_what_is_no_mark_is_refused_and_nothing_changes(daemon, body):
    experiment = made(daemon)
    daemon.post(f"/experiments/{experiment}/marks", {"tags": ["keep"], "notes": "keep"})
    answer = daemon.request("POST", f"/experiments/{experiment}/marks", body)
    assert answer.status in (400, 422), answer.body
    now = daemon.get(f"/experiments/{experiment}")
    assert now["tags"] == ["keep"] and now["notes"] == "keep" and now["star"] is False
    assert daemon.request("POST", f"/experiments/{experiment}/tasks/1/marks", {"archived": True}).status == 400
    assert daemon.request("POST", f"/experiments/{experiment}/tasks/99/marks", {"star": True}).status == 404
    assert daemon.request("POST", f"/experiments/{experiment}/tasks/marks", {"tasks": [1, 99], "star": True}).status == 404
    assert daemon.get(f"/experiments/{experiment}/tasks/1")["star"] is False
    assert daemon.request("POST", "/experiments/e999/marks", {"star": True}).status == 404


def test_a_long_note_is_not_written_on_thousands_of_tasks(daemon):
    spec = {**SPEC, "parameters": {"n": {"min": 1, "max": 200}}}
    experiment = daemon.post("/experiments", {"experiment": spec})["id"]
    daemon.post(f"/experiments/{experiment}/import", {"rows": [{"parameters": {"n": n}, "values": {"loss": n}} for n in range(1, 101)]})
    tasks = f"/experiments/{experiment}/tasks"
    answer = daemon.request("POST", f"{tasks}/marks", {"tasks": list(range(1, 101)), "notes": "x" * 60000, "star": True})
    assert answer.status == 400, answer.body
    assert b"notes of 60000 bytes on 100 tasks are more than 4 MB in one request: mark at most 69 tasks" in answer.body
    assert daemon.get(f"{tasks}/1")["notes"] is None and daemon.get(f"{tasks}/1")["star"] is False
    assert daemon.post(f"{tasks}/marks", {"tasks": list(range(1, 70)), "notes": "x" * 60000}) == {"tasks": 69}
    assert daemon.post(f"{tasks}/marks", {"tasks": list(range(1, 101)), "notes": "x" * 400, "add_tags": ["all"]}) == {"tasks": 100}


def test_an_archived_experiment_is_left_out_of_lists_only(daemon):
    first, second = made(daemon), made(daemon, name="second")
    daemon.post(f"/experiments/{first}/marks", {"archived": True, "tags": ["old"]})

    def ids(query=""):
        page = daemon.get("/experiments" + query)
        assert page["total"] == len(page["items"])
        return {e["id"] for e in page["items"]}
    assert ids() == {second}
    assert ids("?archived=yes") == {first}
    assert ids("?archived=all") == {first, second}
    assert ids("?archived=all&tag=old") == {first} and ids("?tag=old") == set()
    assert daemon.get(f"/experiments/{first}")["archived"] is True
    daemon.post(f"/experiments/{first}/marks", {"archived": False})
    assert ids() == {first, second}


def test_search_finds_every_kind_of_text(daemon):
    experiment = made(daemon, description="for the appendix")
    other = daemon.submit(f"raise SystemError('kaputt-7: no such cor{experiment}x')", {"name": "broken"})
    daemon.wait_ended(other)
    daemon.post(f"/experiments/{experiment}/marks", {"notes": "Compare with *Smith*.", "tags": ["paper"]})
    daemon.post(f"/experiments/{experiment}/tasks/3/marks", {"notes": "outlier"})
    assert found(daemon, "résnet") == {(experiment, None, "name")}
    assert found(daemon, "SWEEP Appendix") == {(experiment, None, "name")}
    assert found(daemon, "smith") == {(experiment, None, "note")}
    assert found(daemon, "paper") == {(experiment, None, "tag")}
    assert found(daemon, "outlier") == {(experiment, 3, "note")}
    assert found(daemon, experiment) == {(experiment, None, "id")}
    assert found(daemon, f"{experiment}/3") == {(experiment, 3, "id")}
    assert found(daemon, "kaputt-7") == {(other, 1, "cause")}
    assert (experiment, None, "parameter") in found(daemon, "optimizer")
    with_value = {t["number"] for t in daemon.tasks(experiment) if t["parameters"]["lr"] == 0.001}
    assert {task for e, task, _ in found(daemon, "lr=0.001") if e == experiment} == with_value and with_value
    assert found(daemon, "kaputt-7 outlier") == set()
    # What all tasks of an experiment share finds a task beside another word, and none alone.
    assert found(daemon, "lr 0.001") == found(daemon, "lr=0.001")
    assert found(daemon, "broken kaputt-7") == {(other, 1, "cause")}
    assert not {task for _, task, _ in found(daemon, "broken") if task}
    few = find(daemon, "adam", limit=1)
    assert len(few["items"]) == 1 and few["more"] is True
    assert daemon.request("GET", "/find?q=%20").status == 400


def test_search_says_the_words_around_a_hit(daemon):
    experiment = made(daemon)
    daemon.post(f"/experiments/{experiment}/marks", {"notes": "é" * 300 + " Nadel " + "ü" * 300})
    hit = find(daemon, "nadel")["items"][0]
    assert "Nadel" in hit["text"] and hit["text"].startswith("…") and hit["text"].endswith("…") and len(hit["text"]) < 200
    assert "\ufffd" not in hit["text"]


def test_search_shows_a_cause_without_the_marks_of_its_traceback(daemon):
    experiment = daemon.submit("import sys\nprint('  f(x)\\n    ^^^^^^^^^^^^\\n\\nSystemError: no-such-thing', file=sys.stderr)\nsys.exit(3)")
    daemon.wait_ended(experiment)
    text = find(daemon, "no-such-thing")["items"][0]["text"]
    assert "f(x) SystemError: no-such-thing" in text and "^" not in text


def test_command_line_marks_and_finds(daemon):
    experiment = made(daemon)
    assert daemon.cli("mark", experiment, "--tag", "a,b", "--star").stdout == f"{experiment}: tags a, b; star\n"
    assert daemon.cli("mark", f"{experiment}/2", "--note", "look here").stdout == f"{experiment}/2: notes\n"
    assert f"{experiment}/2" in daemon.cli("find", "look", "here").stdout
    assert experiment in daemon.cli("ls", "--tag", "a").stdout
    assert json.loads(daemon.cli("mark", experiment, "--untag", "a", "--archive", "--json").stdout)["archived"] is True
    assert experiment not in daemon.cli("ls").stdout and experiment in daemon.cli("ls", "--archived").stdout
    assert "say what to mark" in daemon.cli("mark", experiment, status=2).stderr
    assert "not both" in daemon.cli("mark", experiment, "--star", "--unstar", status=2).stderr


def test_more_tasks_than_one_request_may_mark_are_refused_whole(daemon):
    experiment = made(daemon)
    answer = daemon.request("POST", f"/experiments/{experiment}/tasks/marks", {"tasks": list(range(1, 1002)), "star": True})
    assert answer.status == 400 and "at most 1000 tasks" in answer.json["detail"]
    assert not any(task["star"] for task in daemon.tasks(experiment))
