"""Limits on metrics: a task beyond one is never the best, wherever results are compared."""

import json

from conftest import wait_for

# The larger the network, the better and the slower: only `small` and `middle` are quick enough.
SCRIPT = """
import os
net = os.environ["SLUICE_PARAM_NET"]
accuracy, latency = {"small": (0.7, 5), "middle": (0.8, 18), "large": (0.9, 40), "mute": (0.99, None)}[net]
with open("log.csv", "w") as log:
    print("epoch,accuracy,latency" if latency else "epoch,accuracy", file=log)
    for epoch in range(3):
        print(*([epoch, accuracy - 0.1 * (2 - epoch)] + ([latency - 2 * (2 - epoch)] if latency else [])), sep=",", file=log)
"""
SPEC = {"parameters": {"net": ["small", "large", "mute", "middle"]},
        "objective": [{"metric": "accuracy", "goal": "max"}, {"metric": "latency", "at_most": 20}]}


def by_net(daemon, experiment):
    return {task["parameters"]["net"]: task for task in daemon.tasks(experiment)}


def test_a_task_beyond_a_limit_is_never_the_best(daemon):
    experiment = daemon.submit(SCRIPT, SPEC)
    ended = daemon.wait_ended(experiment)
    assert ended["limits"] == [{"metric": "latency", "at_most": 20}]
    assert [o["metric"] for o in ended["objective"]] == ["accuracy"]
    assert (ended["best"]["parameters"], ended["best"]["value"]) == ({"net": "middle"}, 0.8)
    tasks = by_net(daemon, experiment)
    assert tasks["small"]["beyond"] is None and tasks["middle"]["beyond"] is None
    assert tasks["large"]["beyond"] == "latency is 40, and at most 20 is allowed"
    assert tasks["mute"]["beyond"] == "latency is not known"
    assert tasks["large"]["best"]["value"] == 0.9  # what it reached is still there
    assert [t["parameters"]["net"] for t in daemon.tasks(experiment, sort="best")][:2] == ["middle", "small"]
    # The same through a filter.
    assert [t["parameters"]["net"] for t in daemon.tasks(experiment, sort="best", filter="accuracy%3E0.1")][:2] == ["middle", "small"]
    assert {t["parameters"]["net"] for t in daemon.tasks(experiment, filter="beyond~latency")} == {"large", "mute"}
    assert {t["parameters"]["net"] for t in daemon.tasks(experiment, filter="beyond%20=%20none")} == {"small", "middle"}
    analysis = daemon.get(f"/experiments/{experiment}/analysis")
    assert [b["parameters"]["net"] for b in analysis["best"]] == ["middle", "small"]
    assert max(p["best"] for p in analysis["progress"]) == 0.8
    assert sorted(p["values"][0] for p in analysis["fronts"][0]["points"] if p.get("beyond")) == [0.9, 0.99]
    assert not any(p["front"] for p in analysis["fronts"][0]["points"] if p.get("beyond"))
    text = daemon.cli("best", experiment).stdout
    assert "middle" in text and "small" in text and "large" not in text and "mute" not in text
    assert "latency at most 20" in daemon.cli("show", experiment).stdout
    assert "at most 20 is allowed" in daemon.cli("show", f"{experiment}/{tasks['large']['number']}").stdout


def test_another_limit_ranks_the_same_results_again(daemon):
    experiment = daemon.submit(SCRIPT, SPEC)
    daemon.wait_ended(experiment)
    for bound, best in ((50, "large"), (6, "small")):
        daemon.post(f"/experiments/{experiment}/search",
                    {"objective": [{"metric": "accuracy", "goal": "max"}, {"metric": "latency", "at_most": bound}]})
        assert daemon.get(f"/experiments/{experiment}")["best"]["parameters"] == {"net": best}
    daemon.post(f"/experiments/{experiment}/search", {"objective": {"metric": "accuracy", "goal": "max"}})
    shown = daemon.get(f"/experiments/{experiment}")
    assert (shown["limits"], shown["best"]["parameters"]) == (None, {"net": "mute"})
    assert all(task["beyond"] is None for task in daemon.tasks(experiment))


def test_with_repeats_one_beyond_is_enough(daemon):
    script = SCRIPT.replace('net = os.environ["SLUICE_PARAM_NET"]',
                            'net = os.environ["SLUICE_PARAM_NET"]\ntask = int(os.environ["SLUICE_TASK"].split("/")[-1])') \
        .replace('"middle": (0.8, 18)', '"middle": (0.8, 18 if task % 2 else 22)')
    experiment = daemon.submit(script, {**SPEC, "parameters": {"net": ["small", "middle"]}, "repeats": 2})
    assert daemon.wait_ended(experiment)["best"]["parameters"] == {"net": "small"}


def test_a_search_learns_a_limit_and_goes_on_after_a_kill(daemon):
    """Of a search that is killed and started again, the tasks are those of one that was not."""
    script = """
import os
x, y = float(os.environ["SLUICE_PARAM_X"]), float(os.environ["SLUICE_PARAM_Y"])
print(f"loss={(x - 0.9) ** 2 + (y - 0.9) ** 2:.12g} size={x + y:.12g}")
"""
    spec = {"parameters": {"x": {"min": 0.0, "max": 1.0}, "y": {"min": 0.0, "max": 1.0}},
            "objective": [{"metric": "loss", "goal": "min"}, {"metric": "size", "at_most": 1.0}],
            "search": {"strategy": "gp", "tasks": 14, "parallel": 1, "seed": 5, "learn_from": "none"}}
    first = daemon.submit(script, spec)
    daemon.wait_ended(first)
    second = daemon.submit(script, spec)
    wait_for(lambda: daemon.get(f"/experiments/{second}")["tasks"]["finished"] >= 7, "seven tasks of the second")
    daemon.kill()
    daemon.start()
    ended = daemon.wait_ended(second)
    values = [[json.dumps(task["parameters"]) for task in daemon.tasks(e)] for e in (first, second)]
    assert values[0] == values[1]
    best = ended["best"]["parameters"]
    assert best["x"] + best["y"] <= 1 and ended["best"]["value"] < 0.36  # the least within is 0.32
