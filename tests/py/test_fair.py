"""Experiments that wait for the same machine get its slots in turn."""

import os

from conftest import wait_for

CPUS = len(os.sched_getaffinity(0))
# Says that it runs, and ends when the test says so.
SCRIPT = """\
import os, pathlib, time
name = os.environ["SLUICE_EXPERIMENT"] + "." + os.environ["SLUICE_TASK"]
here = pathlib.Path(os.environ["HERE"])
with open(here / "order", "a") as order:
    print(name, file=order, flush=True)
while not (here / name).exists() and not (here / "all").exists():
    time.sleep(0.01)
"""


def submit(daemon, folder, tasks, cpus, **search):
    return daemon.submit(SCRIPT, {"parameters": {"x": list(range(tasks))}, "pass": "env", "resources": {"cpus": cpus}, "search": search,
                                  "environment": {"vars": {"HERE": str(folder)}}})


def order(folder):
    path = folder / "order"
    return path.read_text().split() if path.exists() else []


def began(folder, count):
    wait_for(lambda: len(order(folder)) >= count, lambda: order(folder))
    return order(folder)


def is_queued(daemon, experiment):
    return lambda: daemon.get(f"/experiments/{experiment}")["tasks"]["waiting"] > 0


def test_one_slot_goes_to_each_in_turn(daemon, folder):
    large = submit(daemon, folder, 6, CPUS)
    began(folder, 1)
    small, third = submit(daemon, folder, 2, CPUS), submit(daemon, folder, 1, CPUS)
    wait_for(is_queued(daemon, small), "no task")
    wait_for(is_queued(daemon, third), "no task")
    (folder / "all").touch()
    for experiment in (large, small, third):
        assert daemon.wait_ended(experiment)["state"] == "finished"
    assert order(folder) == ["e1.1", "e2.1", "e3.1", "e1.2", "e2.2", "e1.3", "e1.4", "e1.5", "e1.6"]


def test_the_one_with_fewer_running_tasks_is_first(daemon, folder):
    """Half of the slots become those of the later one, and no more."""
    slots = CPUS - CPUS % 2
    large = submit(daemon, folder, 3 * slots, 1, parallel=slots)
    began(folder, slots)
    small = submit(daemon, folder, slots, 1)
    wait_for(is_queued(daemon, small), "no task")
    more = 0 if slots == CPUS else 1  # a slot that the first one may not have
    began(folder, slots + more)
    for n in range(1, slots + 1):
        (folder / f"{large}.{n}").touch()
        began(folder, slots + more + n)
    running = order(folder)[slots:]
    assert abs(sum(name.startswith(f"{small}.") for name in running) - slots // 2) <= 1, running
    assert running[0] == f"{small}.1", running
    (folder / "all").touch()
    for experiment in (large, small):
        assert daemon.wait_ended(experiment)["state"] == "finished"


def test_slots_that_are_free_at_once_are_divided(daemon, folder):
    if CPUS < 2:
        return
    first = submit(daemon, folder, 1, CPUS)
    began(folder, 1)
    others = [submit(daemon, folder, CPUS, 1) for _ in range(2)]
    for other in others:
        wait_for(is_queued(daemon, other), "no task")
    (folder / f"{first}.1").touch()
    names = began(folder, 1 + CPUS)[1:]
    assert {name.split(".")[0] for name in names} == set(others), names
    (folder / "all").touch()
    for other in others:
        assert daemon.wait_ended(other)["state"] == "finished"
