"""The contract of REST and events (src/http/schemas.json) against the daemon: every event of an experiment's life, and
the answers to requests that change something. test_rest.py has the answers to all GETs."""

import pytest

from contract import Contract
from test_rest import Stream

# By its number: one ends well, one fails, one writes what is no number, one runs until it is stopped.
SCRIPT = """
    import sys, time
    n = int(sys.argv[1].split("=")[1])
    with open("metrics.csv", "w") as out:
        out.write("epoch,loss,acc\\n0,1.5,0.1\\n")
        out.write("1,nan,inf\\n" if n == 3 else "1,0.5,0.2\\n")
        out.flush()
        if n == 4:
            time.sleep(600)
    if n == 2:
        raise ValueError("no")
"""
SPEC = {
    "parameters": {"n": [1, 2, 3, 4]},
    "search": {"strategy": "grid", "parallel": 4},
    "resources": {"cpus": 1},
    "objective": {"metric": "loss", "goal": "min"},
}


@pytest.fixture(name="contract")
def the_contract():
    return Contract()


class Listener:
    """An event stream that checks what comes and counts the names."""

    def __init__(self, daemon, contract, last=None):
        self.stream, self.contract, self.seen = Stream(daemon, last), contract, []

    def until(self, condition):
        events = self.contract.schemas["Events"]["properties"]
        while True:
            name, data = self.stream.next()
            assert name in events, f"the schemas have no event {name}"
            self.contract.check(events[name], data, f"event {name}")
            self.seen.append(name)
            if condition(name, data):
                return data


def test_each_event_of_an_experiments_life_fits_its_schema(daemon, contract):
    listener = Listener(daemon, contract)
    experiment = daemon.submit(SCRIPT, SPEC)
    listener.until(lambda name, data: name == "metrics" and data["task"] == 4)
    running = daemon.task(experiment, 4)
    contract.check("Task", running, "a running task")
    contract.check("Task", daemon.post(f"/experiments/{experiment}/tasks/4/stop"), "a stopped task")
    ended = listener.until(lambda name, data: name == "experiment" and data["tasks"]["total"] == sum(
        data["tasks"][state] for state in ("finished", "error", "stopped")))
    assert ended["tasks"]["finished"] == 2 and ended["tasks"]["error"] == 1 and ended["tasks"]["stopped"] == 1
    assert set(listener.seen) == {"experiment", "task", "metrics"}
    contract.check("TaskList", daemon.get(f"/experiments/{experiment}/tasks"), "tasks of all kinds")
    contract.check("Analysis", daemon.get(f"/experiments/{experiment}/analysis"), "analysis")
    contract.check("Columns", daemon.get(f"/experiments/{experiment}/columns?of=best,state,node,time"), "columns")
    last = listener.stream.last
    listener.stream.close()

    daemon.delete(f"/experiments/{experiment}")
    again = Listener(daemon, contract, last)
    again.until(lambda name, data: name == "removed" and data["experiment"] == experiment)
    again.stream.close()
    lost = Listener(daemon, contract, "nonsense")
    lost.until(lambda name, data: name == "reset")
    lost.stream.close()


def test_answers_of_requests_that_change_something_fit_their_schemas(daemon, contract):
    body = {"experiment": {"command": ["sleep", "600"], "parameters": {"x": {"min": 0.5, "max": 1.5}, "k": ["a", "b"]},
                           "search": {"strategy": "random", "tasks": 3, "parallel": 1},
                           "objective": {"metric": "loss", "goal": "min"}}}
    contract.check("ExperimentRequest", body)
    contract.check("Check", daemon.post("/check", body), "check")
    made = daemon.post("/experiments", body)
    contract.check("Experiment", made, "created")
    path = f"/experiments/{made['id']}"
    contract.check("Experiment", daemon.post(f"{path}/parallel", {"parallel": 2}), "parallel")
    contract.check("Task", daemon.post(f"{path}/suggest", {"parameters": {"x": 0.75, "k": "a"}}), "suggested")
    contract.check("Experiment", daemon.post(f"{path}/search", {"search": {"tasks": 5}}), "changed")
    rows = [{"parameters": {"x": 1.25, "k": "b"}, "values": {"loss": 0.3}}]
    contract.check("Imported", daemon.post(f"{path}/import", {"rows": rows}), "imported")
    contract.check("Stopped", daemon.post(f"{path}/stop"), "stopped")
    refused = daemon.request("POST", "/check", {"experiment": {"command": ["true"], "parameters": {"u": {"min": 2, "max": 1}}}})
    assert refused.status == 400
    contract.check("Problem", refused.json, "problem")
    contract.check("NewToken", daemon.post("/tokens", {"name": "a"}), "token")
    contract.check("LoginLink", daemon.post("/login-links"), "link")
    contract.check("Cluster", daemon.post("/cluster/examine"), "examine")


def test_the_cost_of_a_task_has_every_figure_that_info_lists(daemon, contract):
    figures = daemon.get("/info")["figures"]
    keys = [figure["key"] for figure in figures]
    # Scripts of users read these.
    assert {"wall_s", "cpu_s", "gpu_s", "max_rss_bytes", "energy_j"} <= set(keys) and len(keys) == len(set(keys))
    experiment = daemon.submit("""
        import sys, time
        block = b"x" * (64 << 20)
        time.sleep(0.2)
    """, {"parameters": {"n": [1, 2]}, "resources": {"cpus": 1}, "search": {"strategy": "grid", "parallel": 1}})
    daemon.wait_ended(experiment)
    task = daemon.task(experiment, 1)
    for cost in (task["cost"], task["attempts"][0]["cost"], daemon.tasks(experiment)[1]["cost"]):
        contract.check("Cost", cost, "cost")
        assert set(cost) == set(keys) | {"energy_source"}
        assert cost["wall_s"] >= 0.2 and cost["gpu_s"] == 0 and cost["cpu_s"] >= 0
        assert isinstance(cost["max_rss_bytes"], int) and cost["max_rss_bytes"] > 64 << 20
        assert cost["energy_j"] is None and cost["energy_source"] == "not measured"
    total = daemon.get(f"/experiments/{experiment}")["cost"]
    assert total["wall_s"] == pytest.approx(sum(task["cost"]["wall_s"] for task in daemon.tasks(experiment)))
    shown = daemon.cli("show", f"{experiment}/1").stdout
    assert "time used" in shown and "CPU time" in shown and "most memory" in shown and "not measured" in shown
    assert "GPU time" not in shown  # it asked for none
