"""Bodies of requests: each member of each body, of the wrong type and misspelt, as the OpenAPI document describes it.
Such a request is refused with the place of the member, and changes nothing."""

import copy

import pytest

from contract import Contract
from workers import ask, external

WRONG = (None, True, 5, 1.5, 1e300, "7", [3], {}, {"a": 1})


class Bodies:
    """What an OpenAPI document says about the JSON bodies of its requests."""

    def __init__(self, document):
        self.contract = Contract(document["components"])
        self.routes = [(method, path, content["application/json"]["schema"])
                       for path, methods in document["paths"].items() for method, operation in methods.items()
                       if "application/json" in (content := operation.get("requestBody", {}).get("content", {}))]

    def sample(self, schema):
        """A value with every member that the schema names."""
        schema = self.contract.resolve(schema)
        if "oneOf" in schema:
            return self.sample(schema["oneOf"][0])
        if "enum" in schema:
            return schema["enum"][0]
        kind = schema.get("type")
        kind = kind[0] if isinstance(kind, list) else kind
        if kind == "object":
            other = schema.get("additionalProperties")
            more = {"other": self.sample(other)} if isinstance(other, dict) else {}
            return {name: self.sample(part) for name, part in schema.get("properties", {}).items()} | more
        return {"array": lambda: [self.sample(schema["items"])], "string": lambda: "x", "integer": lambda: 1,
                "number": lambda: 0.5, "boolean": lambda: True}[kind]()

    def places(self, schema, at=()):
        """(schema, keys) of the value and of everything in it."""
        schema = self.contract.resolve(schema)
        yield schema, at
        for name, part in schema.get("properties", {}).items():
            yield from self.places(part, (*at, name))
        if isinstance(schema.get("additionalProperties"), dict):
            yield from self.places(schema["additionalProperties"], (*at, "other"))
        if "items" in schema:
            yield from self.places(schema["items"], (*at, 0))

    def fits(self, schema, value):
        try:
            self.contract.check(schema, value)
        except AssertionError:
            return False
        return True

    def wrong(self, schema):
        """(keys, body): the bodies with one wrong member."""
        body = self.sample(schema)
        for part, at in self.places(schema):
            if at:
                kinds = {"type": part["type"]} if "type" in part and "enum" not in part else part
                for value in (value for value in WRONG if not self.fits({"properties": {}, **kinds}, value)):
                    yield at, changed(body, at, value)
            if "properties" in part or part.get("additionalProperties") is False:
                yield (*at, "valeus"), changed(body, (*at, "valeus"), 1)


def changed(body, at, value):
    body = copy.deepcopy(body)
    inner = body
    for key in at[:-1]:
        inner = inner[key]
    inner[at[-1]] = value
    return body


@pytest.fixture
def bodies(daemon):
    return Bodies(daemon.get("/openapi.json"))


def everything(daemon, experiment):
    """What a request could have changed; without the elapsed time of the task that runs."""
    tasks = [{key: task[key] for key in ("number", "state", "best", "last", "tags", "star")} for task in daemon.tasks(experiment)]
    return tasks, [daemon.get(path) for path in (f"/experiments/{experiment}", f"/experiments/{experiment}/tasks/1/metrics",
                                                 "/experiments", "/notify", "/tokens")]


def test_each_wrong_member_of_each_body_is_refused_with_its_place(daemon, bodies):
    experiment = external(daemon)
    assert ask(daemon, experiment)["number"] == 1
    assert {path for _, path, _ in bodies.routes} >= {"/experiments/{id}/tasks/{n}/tell", "/experiments", "/scan", "/notify"}
    taken, count, before = [], 0, everything(daemon, experiment)
    for method, path, schema in bodies.routes:
        for at, body in bodies.wrong(schema):
            answer = daemon.request(method.upper(), path.format(id=experiment, n=1), body)
            count += 1
            fields = [error["field"] for error in answer.json.get("errors", ())] if answer.status == 400 else []
            if "/" + "/".join(map(str, at)) not in fields:
                taken.append((path, "/".join(map(str, at)), body, answer.status, answer.body[:200]))
    assert not taken, f"{len(taken)} of {count}: " + "\n".join(map(str, taken[:40]))
    assert count > 300
    assert everything(daemon, experiment) == before


def test_what_is_told_with_a_wrong_type_does_not_end_the_task(daemon):
    experiment = external(daemon)
    path = f"/experiments/{experiment}/tasks/{ask(daemon, experiment)['number']}/tell"
    for body in ({"values": {"loss": "0.31"}, "step": 4}, {"values": {"loss": "nan"}}, {"values": {"loss": None}},
                 {"values": {"loss": 0.3}, "step": "7"}, {"values": {"loss": 0.3}, "step": 1.5}, {"values": {"loss": 0.3}, "step": True},
                 {"values": {"loss": 0.3}, "step": 1e300}, {"values": {"loss": 0.3}, "more": "true"}, {"values": {"loss": 0.3}, "moer": True}):
        answer = daemon.request("POST", path, body)
        assert (answer.status, daemon.task(experiment, 1)["state"], daemon.metrics(experiment, 1)) == (400, "running", {}), (body, answer.body)
    assert daemon.post(path, {"values": {"loss": "NaN"}, "step": 1, "more": True})["state"] == "running"
    assert daemon.post(path, {"values": {"loss": 0.3}, "step": 2})["state"] == "finished"


def test_notes_of_a_wrong_type_leave_the_notes_that_are_there(daemon):
    experiment = external(daemon)
    ask(daemon, experiment)
    for path in (f"/experiments/{experiment}", f"/experiments/{experiment}/tasks/1"):
        daemon.post(path + "/marks", {"notes": "mine"})
        for notes in (5, True, [], {"a": 1}):
            assert daemon.request("POST", path + "/marks", {"notes": notes}).status == 400, (path, notes)
            assert daemon.get(path)["notes"] == "mine", (path, notes)
        daemon.post(path + "/marks", {"notes": None})
        assert not daemon.get(path)["notes"]


def test_an_imported_result_without_the_objective_is_refused(daemon):
    experiment = external(daemon)
    for values in ({"los": 1}, {}):
        rows = [{"parameters": {"x": 0.5}, "values": {"loss": 1}}, {"parameters": {"x": 0.6}, "values": values}]
        answer = daemon.request("POST", f"/experiments/{experiment}/import", {"rows": rows})
        assert answer.status == 400, answer.body
        assert answer.json["errors"][0]["field"] == "/rows/1/values"
        assert "'loss'" in answer.json["errors"][0]["message"]
    assert daemon.tasks(experiment) == []


def test_a_script_without_a_name_is_not_read(daemon):
    for body in ({}, {"text": "x = 1"}):
        assert daemon.request("POST", "/scan", body).status == 400, body
    assert daemon.request("POST", "/scan", {"path": "a.py", "text": "x = 1"}).status == 200
