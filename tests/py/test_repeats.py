"""Configurations that are run several times: what counts is the mean, the spread is shown, and every repeat gets a seed of its
own. And what a result is said to be: which objective, at which step."""

import json
import statistics

import pytest
from conftest import wait_for

# a: lucky once; b: always good. The luckiest seed is a's.
LUCK = """
import os
values = {"a": [0.1, 0.9, 0.8], "b": [0.4, 0.5, 0.3]}[os.environ["SLUICE_PARAM_NET"]]
task = int(os.environ["SLUICE_TASK"].split("/")[-1])
value = values[(task - 1) % 3]
with open("log.csv", "w") as log:
    print("epoch,loss,size", file=log)
    print(f"0,{value + 1},{value}", file=log)
    print(f"1,{value},{2 * value}", file=log)
"""
SPEC = {"parameters": {"net": ["a", "b"]}, "repeats": 3, "objective": {"metric": "loss", "goal": "min"}, "search": {"seed": 3}}


def test_the_best_is_the_best_mean_and_not_the_luckiest_seed(daemon):
    experiment = daemon.submit(LUCK, SPEC)
    best = daemon.wait_ended(experiment)["best"]
    values = [0.4, 0.5, 0.3]
    assert best["parameters"] == {"net": "b"}
    assert (best["mean"], best["repeats"]) == (pytest.approx(statistics.mean(values)), 3)
    assert best["spread"] == pytest.approx(statistics.stdev(values))
    # The task that is named is one of them, with its own value: the one nearest to the mean.
    assert (best["value"], daemon.task(experiment, best["task"])["best"]["value"]) == (0.4, 0.4)

    assert [t["parameters"]["net"] for t in daemon.tasks(experiment, sort="best")] == ["b"] * 3 + ["a"] * 3
    assert [t["parameters"]["net"] for t in daemon.tasks(experiment, sort="-best")] == ["a"] * 3 + ["b"] * 3
    # The same order through a filter, in pages and with values of metrics.
    ordered = [t["number"] for t in daemon.tasks(experiment, sort="best")]
    for query in ("sort=best&filter=number%3E0", "sort=loss&limit=6", "sort=best&metrics=size"):
        page = daemon.get(f"/experiments/{experiment}/tasks?{query}")
        assert [t["number"] for t in page["items"]] == ordered, query
    first = daemon.get(f"/experiments/{experiment}/tasks?sort=-best&filter=number%3E0&limit=2")
    rest = daemon.get(f"/experiments/{experiment}/tasks?sort=-best&filter=number%3E0&cursor={first['next']}")
    assert [t["parameters"]["net"] for t in first["items"] + rest["items"]] == ["a"] * 3 + ["b"] * 3
    listed = daemon.get(f"/experiments/{experiment}/analysis")["best"]
    assert [(c["parameters"]["net"], round(c["mean"], 9), c["repeats"]) for c in listed] == [("b", 0.4, 3), ("a", 0.6, 3)]

    text = daemon.cli("best", experiment).stdout.splitlines()
    assert [line.split()[:3] for line in text[1:]] == [["0.4", "0.1", "3"], ["0.6", "0.436", "3"]]
    said = "loss 0.4 ± 0.1 (mean of 3)"
    assert said in daemon.cli("ls").stdout and said in daemon.cli("show", experiment).stdout


def test_a_configuration_whose_repeats_are_still_to_come_does_not_lead(daemon):
    """A search proposes repeats one by one. Until the last one is there, the first is no mean."""
    spec = {**SPEC, "name": "asked", "resources": {"backend": "external"}, "search": {"strategy": "grid"}}
    experiment = daemon.post("/experiments", {"experiment": spec})["id"]

    def ask_and_tell(values):
        for value in values:
            task = daemon.post(f"/experiments/{experiment}/ask", {})["number"]
            daemon.post(f"/experiments/{experiment}/tasks/{task}/tell", {"values": {"loss": value}})

    def best():
        best = daemon.get(f"/experiments/{experiment}")["best"]
        return best["parameters"]["net"], best["repeats"]

    ask_and_tell([0.5, 0.6, 0.7, 0.1])
    wait_for(lambda: best() == ("a", 3), "the mean of three runs leads")
    listed = daemon.get(f"/experiments/{experiment}/tasks?sort=best")["items"]
    assert [t["parameters"]["net"] for t in listed] == ["a"] * 3 + ["b"]
    assert listed[3]["configuration"]["open"] == 2
    ask_and_tell([0.1, 0.1])
    wait_for(lambda: best() == ("b", 3), "the better mean leads once it is complete")


def test_a_configuration_is_ranked_by_the_runs_that_are_left(daemon):
    """Once all was proposed nothing is to come in the place of a run that was removed, nor beside one that was suggested."""
    experiment = daemon.submit(LUCK, SPEC)
    daemon.wait_ended(experiment)
    daemon.post(f"/experiments/{experiment}/tasks/remove", {"tasks": [5]})
    wait_for(lambda: len(daemon.tasks(experiment)) == 5, "the run is gone")
    best = daemon.get(f"/experiments/{experiment}")["best"]
    assert (best["parameters"]["net"], best["mean"], best["repeats"]) == ("b", pytest.approx(0.35), 2)
    listed = daemon.get(f"/experiments/{experiment}/tasks?sort=best")["items"]
    assert [(t["parameters"]["net"], t["configuration"]["open"]) for t in listed] == [("b", 0)] * 2 + [("a", 0)] * 3
    analysis = daemon.get(f"/experiments/{experiment}/analysis")
    assert [round(p["best"], 9) for p in analysis["progress"]] == [0.6, 0.35]
    assert [c["parameters"]["net"] for c in analysis["best"]] == ["b", "a"]

    daemon.post(f"/experiments/{experiment}/tasks/remove", {"tasks": [4, 6]})
    wait_for(lambda: len(daemon.tasks(experiment)) == 3, "the configuration is gone")
    daemon.post(f"/experiments/{experiment}/suggest", {"parameters": {"net": "b"}})
    wait_for(lambda: daemon.get(f"/experiments/{experiment}")["best"]["parameters"] == {"net": "b"}, "the suggested run leads")


def test_a_configuration_that_diverged_is_not_the_best_by_its_survivor(daemon):
    """Its one good repeat is better than every other: it comes last, and how many of how many is said."""
    script = LUCK.replace('[0.1, 0.9, 0.8]', '[0.1, float("nan"), float("nan")]').replace("value + 1", "value")
    experiment = daemon.submit(script, SPEC)
    best = daemon.wait_ended(experiment)["best"]
    assert (best["parameters"], best["repeats"]) == ({"net": "b"}, 3)
    assert [t["parameters"]["net"] for t in daemon.tasks(experiment, sort="best")] == ["b"] * 3 + ["a"] * 3
    assert [c["parameters"]["net"] for c in daemon.get(f"/experiments/{experiment}/analysis")["best"]] == ["b", "a"]
    text = daemon.cli("best", experiment).stdout.splitlines()
    assert text[1].split()[:3] == ["0.4", "0.1", "3"] and text[2].split()[:4] == ["0.1", "1", "of", "3"]


@pytest.mark.parametrize("strategy", ["tpe", "gp", "cmaes", "de", "random"])
def test_repeats_on_a_log_range_are_one_configuration(daemon, strategy):
    """All repeats of a proposal have exactly its values, so that they are counted together."""
    script = "import os\nprint('loss:', float(os.environ['SLUICE_PARAM_LR']) + int(os.environ['SLUICE_TASK'].split('/')[-1]) % 3)\n"
    experiment = daemon.submit(script, {
        "parameters": {"lr": {"min": 1e-3, "max": 0.3, "scale": "log"}, "epochs": 5}, "repeats": 3,
        "objective": {"metric": "loss", "goal": "min"}, "search": {"strategy": strategy, "tasks": 5, "seed": 1}})
    best = daemon.wait_ended(experiment)["best"]
    values = [task["parameters"]["lr"] for task in daemon.tasks(experiment)]
    assert len(values) == 15 and len(set(values)) == 5
    assert best["repeats"] == 3 and best["mean"] == pytest.approx(min(values) + 1)
    assert [c["repeats"] for c in daemon.get(f"/experiments/{experiment}/analysis")["best"]] == [3] * 5


def test_pages_by_mean_hold_every_task_once(daemon):
    experiment = daemon.submit(LUCK, SPEC)
    daemon.wait_ended(experiment)
    seen, cursor = [], ""
    while cursor is not None:
        page = daemon.get(f"/experiments/{experiment}/tasks?sort=best&limit=2{cursor and '&cursor=' + cursor}")
        seen += [t["number"] for t in page["items"]]
        cursor = page["next"]
    assert seen == [4, 5, 6, 1, 2, 3]


def test_a_front_has_means_of_repeats(daemon):
    experiment = daemon.submit(LUCK, {**SPEC, "objective": [{"metric": "loss", "goal": "min"}, {"metric": "size", "goal": "max"}]})
    best = daemon.wait_ended(experiment)["best"]
    front = daemon.get(f"/experiments/{experiment}/analysis")["fronts"][0]
    assert [p["values"] for p in front["points"]] == [pytest.approx([0.6, 1.2]), pytest.approx([0.4, 0.8])]
    assert best["values"] == [0.4, 0.8]


SEEDED = """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.1)
parser.add_argument("--random-seed", type=int, default=7)
args = parser.parse_args()
print("seed", args.random_seed)
print("loss:", args.random_seed)
"""


def seeds(daemon, experiment):
    daemon.wait_ended(experiment)
    return [daemon.metrics(experiment, t["number"])["loss"]["value"][0] for t in daemon.tasks(experiment)]


def test_repeats_get_seeds_of_their_own_where_the_script_takes_one(daemon):
    experiment = daemon.submit(SEEDED, {"parameters": {"lr": 0.1}, "repeats": 3})
    found = seeds(daemon, experiment)
    assert found == [t["seed"] for t in daemon.tasks(experiment)] and len(set(found)) == 3
    assert daemon.task(experiment, 1)["argv"][-1] == f"--random-seed={int(found[0])}"
    assert seeds(daemon, daemon.submit(SEEDED, {"parameters": {"lr": [0.1, 0.2]}})) == [7, 7]  # without repeats: as it is
    assert seeds(daemon, daemon.submit(SEEDED, {"parameters": {"lr": 0.1, "random_seed": 5}, "repeats": 2})) == [5, 5]


def test_check_shows_the_seed_and_warns_where_none_is_read(daemon, folder):
    (folder / "seeded.py").write_text(SEEDED)
    (folder / "blind.py").write_text(SEEDED.replace("--random-seed", "--size").replace("random_seed", "size"))
    shown = daemon.cli("check", "seeded.py", "lr=0.1", "--repeats", "2", cwd=folder).stdout
    assert "--random-seed=" in shown and "--random-seed gets the seed of the task" in shown and "1 × 2 repeats" in shown
    shown = daemon.cli("check", "blind.py", "lr=0.1", "--repeats", "2", cwd=folder).stdout
    assert "its repeats may be equal" in shown


def test_the_seed_has_a_place_in_a_command(daemon):
    experiment = daemon.post("/experiments", {"experiment": {
        "command": ["sh", "-c", "echo loss: $0", "{seed}"], "parameters": {"x": [1, 2]}, "arguments": {"x": "env"}}})["id"]
    assert seeds(daemon, experiment) == [t["seed"] for t in daemon.tasks(experiment)]


def test_values_by_their_places_without_the_ids(daemon, folder):
    (folder / "places.py").write_text("import sys\nprint('loss:', float(sys.argv[1]) + 10 * int(sys.argv[2]), len(sys.argv))\n")
    created = daemon.cli("run", "--detach", "--json", "places.py", "a=0.5", "b=3", "--pass", "values", cwd=folder)
    experiment = json.loads(created.stdout)["id"]
    assert seeds(daemon, experiment) == [30.5]


# Which number it is.

ROWS = """
import os
half = os.environ["SLUICE_PARAM_HALF"] == "true"
with open("log.csv", "w") as log:
    print("epoch,loss", file=log)
    for i in range(4):
        print(f"{i / 2 if half else i},{3 - i}", file=log)
"""


def test_a_row_number_is_not_called_an_epoch(daemon):
    experiment = daemon.submit(ROWS, {"parameters": {"half": [False, True]}, "objective": "loss"})
    daemon.wait_ended(experiment)
    assert [t["step_name"] for t in daemon.tasks(experiment)] == ["epoch", "row"]
    assert "at epoch 3" in daemon.cli("show", f"{experiment}/1").stdout
    assert "at row 3" in daemon.cli("show", f"{experiment}/2").stdout
    table = daemon.cli("show", experiment).stdout
    assert "epoch 3" in table and "row 3" in table
    assert [daemon.get(f"/experiments/{experiment}/tasks/{n}/metrics")["step_name"] for n in (1, 2)] == ["epoch", "row"]


COUNTED = """
import os, time
two = os.environ["SLUICE_PARAM_TASK"] == "2"
with open("epochs.csv", "w") as log:
    print("epoch,accuracy" if two else "epoch,loss", file=log)
    print("1,0.5\\n2,0.5", file=log)
while two and not os.path.exists(os.environ["SLUICE_PARAM_GO"]):
    time.sleep(0.05)
if two:
    with open("steps.csv", "w") as log:
        print("step,rate\\n100,0.5\\n200,0.5", file=log)
"""


def test_what_the_steps_count_is_known_after_a_restart(daemon, tmp_path):
    spec = {"parameters": {"task": [1, 2], "go": str(tmp_path / "go")}, "objective": "loss", "search": {"parallel": 2}}
    experiment = daemon.submit(COUNTED, spec)
    named = lambda: [daemon.get(f"/experiments/{experiment}")["step_name"], *(t["step_name"] for t in daemon.tasks(experiment))]
    wait_for(lambda: named() == ["epoch"] * 3, named)
    daemon.restart()
    (tmp_path / "go").touch()
    daemon.wait_ended(experiment)
    assert "rate" in daemon.metrics(experiment, 2)
    assert named() == ["epoch"] * 3


def test_every_objective_is_named_with_its_value(daemon, folder):
    (folder / "two.py").write_text("print('epoch 1 loss 0.5 accuracy 0.9')\n")
    shown = daemon.cli("run", "two.py", "--objective", "loss", "--objective", "accuracy", cwd=folder)
    assert "finished: best loss 0.5\n" in shown.stdout
    assert "loss 0.5, accuracy 0.9 at epoch 1" in shown.stdout and "prints the front" in shown.stdout
    assert "loss 0.5, accuracy 0.9 (e1/1" in daemon.cli("ls").stdout


@pytest.mark.parametrize("metric, goal", [
    ("val_loss", "min"), ("val_acc", "max"), ("psnr", "max"), ("mAP", "max"), ("val/mAP50", "max"), ("mape", "min"),
    ("neg_mean_squared_error", "max"), ("test_error", "min"), ("accuracy_loss", "min"), ("F1", "max"),
    ("rollout/ep_rew_mean", "max"), ("val_top1", "max"), ("hit_rate", "max"), ("WER", "min"), ("topology_loss", "min")])
def test_check_says_which_goal_it_guessed(daemon, folder, metric, goal):
    (folder / "one.py").write_text("print('x: 1')\n")
    shown = daemon.cli("check", "one.py", "--objective", metric, cwd=folder).stdout
    assert f"{metric}: {'more' if goal == 'max' else 'less'} is better (goal: {goal}, by its name" in shown
    assert "by its name" not in daemon.cli("check", "one.py", "--objective", metric, "--goal", "min", cwd=folder).stdout


@pytest.mark.parametrize("metric", ["cap_rate", "q", "stopping"])
def test_check_says_that_a_name_tells_no_goal(daemon, folder, metric):
    (folder / "one.py").write_text("print('x: 1')\n")
    shown = daemon.cli("check", "one.py", "--objective", metric, cwd=folder).stdout
    assert f"{metric}: less is better (goal: min, the default, because its name does not say; write the goal: min or max)" in shown
