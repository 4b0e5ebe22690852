"""The seed of a search that was given none: a second random search does not repeat the first, and says so."""

SCRIPT = "import os\nprint('epoch 1 loss', os.environ['SLUICE_PARAM_X'])\n"
SPEC = {"parameters": {"x": {"min": 0.0, "max": 1.0}}, "objective": "loss", "search": {"strategy": "random", "tasks": 4}}


def values(daemon, experiment):
    daemon.wait_ended(experiment)
    return [task["parameters"]["x"] for task in daemon.tasks(experiment)]


def test_a_second_random_search_does_not_repeat_the_first(daemon):
    first = daemon.submit(SCRIPT, SPEC)
    before = values(daemon, first)
    second = daemon.submit(SCRIPT, SPEC)
    assert not set(before) & set(values(daemon, second))
    assert daemon.get(f"/experiments/{second}")["search"]["seed"] == 1
    assert f"seed 1, because {first} has searched the same with seed 0" in daemon.cli("show", second).stdout
    # One that is named counts, and repeats.
    named = daemon.submit(SCRIPT, {**SPEC, "search": {**SPEC["search"], "seed": 1}})
    assert values(daemon, named) == values(daemon, second)
    # Other parameters are another search; a grid tries every configuration anyway.
    other = daemon.submit(SCRIPT, {**SPEC, "parameters": {"x": {"min": 0.0, "max": 2.0}}})
    assert daemon.get(f"/experiments/{other}")["search"]["seed"] == 0


def test_the_seed_that_was_chosen_is_kept(daemon):
    """After a restart of the daemon, and when more tasks are asked for."""
    daemon.wait_ended(daemon.submit(SCRIPT, SPEC))
    second = daemon.submit(SCRIPT, SPEC)
    before = values(daemon, second)
    daemon.restart()
    daemon.cli("change", second, "--tasks", 8)
    after = values(daemon, second)
    assert len(set(after)) == 8 and after[:4] == before
    assert daemon.get(f"/experiments/{second}")["search"]["seed"] == 1
    named = daemon.submit(SCRIPT, {**SPEC, "search": {"strategy": "random", "tasks": 8, "seed": 1}})
    assert values(daemon, named)[:4] == before
