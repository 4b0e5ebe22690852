"""What charts of many tasks are drawn from: the columns of all tasks, and the importance for each objective."""
import collections

import pytest
from conftest import Refused

EXPERIMENT = {"resources": {"backend": "external"}, "search": {"strategy": "random", "tasks": 1},
              "objective": [{"metric": "loss", "goal": "min"}, {"metric": "time_ms", "goal": "min"}],
              "parameters": {"lr": {"min": 0.001, "max": 0.1, "scale": "log"}, "warm": [True, False], "kind": ["a", "b"]}}


def imported(daemon, count):
    experiment = daemon.post("/experiments", {"experiment": EXPERIMENT})["id"]
    rows = [{"parameters": {"lr": 0.001 + i / 40000, "warm": i % 3 == 0, "kind": "ab"[i % 2]},
             "values": {"loss": i / 7, "time_ms": 5 - i}} for i in range(count)]
    for at in range(0, count, 1000):
        daemon.post(f"/experiments/{experiment}/import", {"rows": rows[at:at + 1000]})
    return experiment, rows


def test_columns_are_those_of_the_tasks_in_their_own_types(daemon):
    experiment, rows = imported(daemon, 30)
    path = f"/experiments/{experiment}/columns"
    answer = daemon.get(f"{path}?of=best,p.lr,p.warm,kind,m.time_ms,last.loss,state,energy")
    assert (answer["total"], answer["one_of"]) == (30, 1)
    assert answer["columns"] == ["best", "p.lr", "p.warm", "kind", "m.time_ms", "last.loss", "state", "energy"]
    expected = [[i + 1, row["values"]["loss"], row["parameters"]["lr"], row["parameters"]["warm"],
                 row["parameters"]["kind"], row["values"]["time_ms"], row["values"]["loss"], "finished", None]
                for i, row in enumerate(rows)]
    assert answer["rows"] == expected
    some = daemon.get(f"{path}?of=best&filter=kind%20%3D%20a%20and%20best%20%3C%201&state=finished")
    assert [row[0] for row in some["rows"]] == [1, 3, 5, 7] and some["total"] == 4
    assert daemon.get(f"{path}?of=best&state=error") | {"experiment": ""} == {
        "experiment": "", "columns": ["best"], "one_of": 1, "rows": [], "total": 0}


def test_a_column_that_is_not_there_is_named_with_the_nearest(daemon):
    experiment, _rows = imported(daemon, 2)
    with pytest.raises(Refused) as refused:
        daemon.get(f"/experiments/{experiment}/columns?of=best,lrate")
    assert refused.value.answer.status == 400 and "lr" in str(refused.value)
    with pytest.raises(Refused) as missing:
        daemon.get("/experiments/e999/columns?of=best")
    assert missing.value.answer.status == 404


def test_a_sample_of_many_tasks_is_fair(daemon):
    experiment, _rows = imported(daemon, 3000)
    answer = daemon.get(f"/experiments/{experiment}/columns?of=kind,warm&most=1000")
    assert answer["total"] == 3000 and answer["one_of"] == 4
    assert 650 < len(answer["rows"]) < 850
    # Every third task would show one value of `warm` only.
    kinds = collections.Counter(row[1] for row in answer["rows"])
    assert min(kinds.values()) > len(answer["rows"]) / 3
    warm = sum(row[2] for row in answer["rows"]) / len(answer["rows"])
    assert 0.25 < warm < 0.42
    numbers = [row[0] for row in answer["rows"]]
    assert numbers == sorted(numbers)
    # The best is among them, whatever its hash.
    assert numbers[0] == 1
    # How many there are is counted after the filter.
    of_a = daemon.get(f"/experiments/{experiment}/columns?of=kind,warm&most=1000&filter=kind%20%3D%20a")
    assert (of_a["total"], of_a["one_of"]) == (1500, 2)
    assert {row[0] for row in answer["rows"] if row[1] == "a"} <= {row[0] for row in of_a["rows"]}
    some = daemon.get(f"/experiments/{experiment}/columns?of=kind&most=100&filter=number%20%3E%202950")
    assert (some["total"], some["one_of"]) == (50, 1)
    assert [row[0] for row in some["rows"]] == list(range(2951, 3001))


def test_names_of_columns_are_whole_and_a_parameter_does_not_replace_a_built_in_one(daemon):
    spec = {**EXPERIMENT, "objective": [{"metric": "loss", "goal": "min"}, {"metric": "f1", "goal": "max"},
                                        {"metric": "time", "goal": "min"}],
            "parameters": {"best": {"min": 0.0, "max": 9.0}, "state": ["on", "off"], "width": [1, 2]}}
    experiment = daemon.post("/experiments", {"experiment": spec})["id"]
    daemon.post(f"/experiments/{experiment}/import", {"rows": [
        {"parameters": {"best": 7.5, "state": "on", "width": 2}, "values": {"loss": 0.25}}]})
    path = f"/experiments/{experiment}/columns?of="
    assert daemon.get(f"{path}best,state,p.best,p.state,width")["rows"] == [[1, 0.25, "finished", 7.5, "on", 2]]
    # No task has reported the other objectives yet.
    assert daemon.get(f"{path}m.f1,last.f1,m.time,m.loss")["rows"] == [[1, None, None, None, 0.25]]
    for name in ("wid", "p.wid", "stat"):
        with pytest.raises(Refused) as refused:
            daemon.get(f"{path}{name}")
        assert refused.value.answer.status == 400 and name in str(refused.value)


def test_importance_is_said_for_each_objective_alone(daemon):
    spec = {**EXPERIMENT, "parameters": {name: {"min": 0.0, "max": 1.0} for name in ("x", "y")}}
    experiment = daemon.post("/experiments", {"experiment": spec})["id"]
    rows = [{"parameters": {"x": i % 10 / 10 + 0.001, "y": i // 10 / 10 + 0.001},
             "values": {"loss": i % 10, "time_ms": i // 10}} for i in range(100)]
    daemon.post(f"/experiments/{experiment}/import", {"rows": rows})
    analysis = daemon.get(f"/experiments/{experiment}/analysis")
    alone = analysis["importance_of"]
    assert set(alone) == {"loss", "time_ms"}
    assert [shares[0]["parameter"] for shares in (alone["loss"], alone["time_ms"])] == ["x", "y"]
    assert min(alone["loss"][0]["importance"], alone["time_ms"][0]["importance"]) > 0.9
    # Both together: neither is everything.
    assert max(share["importance"] for share in analysis["importance"]) < 0.9
    one = {**spec, "objective": {"metric": "loss", "goal": "min"}}
    other = daemon.post("/experiments", {"experiment": one})["id"]
    assert "importance_of" not in daemon.get(f"/experiments/{other}/analysis")
