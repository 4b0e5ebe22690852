"""The clusters that the other tests run on: several at once on one machine, each with ports, a folder and control groups of
its own."""

import concurrent.futures
import multiprocessing
import pathlib
import random

import pytest

import lab as slurm_lab
from conftest import lab_up, wait_for


def reserve(barrier, answers, done):
    random.shuffle = lambda bases: None  # all of them try the same ports first
    barrier.wait()
    base, held = slurm_lab.reserve_ports()
    answers.put(base)
    done.wait()
    held.close()


def test_labs_that_start_at_once_choose_different_ports():
    count = 4
    context = multiprocessing.get_context("fork")
    barrier, answers, done = context.Barrier(count), context.Queue(), context.Event()
    children = [context.Process(target=reserve, args=(barrier, answers, done)) for _ in range(count)]
    for child in children:
        child.start()
    try:
        bases = sorted(answers.get(timeout=60) for _ in range(count))
    finally:
        done.set()
        for child in children:
            child.join()
    assert all(after - before > slurm_lab.PORTS for before, after in zip(bases, bases[1:])), bases


@pytest.fixture
def two_labs():
    with concurrent.futures.ThreadPoolExecutor() as pool:
        started = [pool.submit(lab_up, "--no-acct") for _ in range(2)]
    labs = [each.result() for each in started if not each.exception()]
    try:
        yield [each.result() for each in started]
    finally:
        for lab in labs:
            lab.down()


def groups_of(lab):
    """The control groups in which the lab's nodes keep their jobs."""
    return [path.resolve() for path in (lab.folder / "cgroup").glob("*")]


def test_two_labs_side_by_side_do_not_touch_each_other(two_labs):
    first, second = two_labs
    for lab in two_labs:
        job = lab.slurm("sbatch", "--parsable", "-p", "cpu", "-o", "out", "--wrap", "until [ -e go ]; do sleep 0.1; done; echo done").strip()
        assert job == "1"  # it is alone on its cluster
        wait_for(lambda: lab.slurm("squeue", "-h", "-j", "1", "-o", "%T").strip() == "RUNNING", "the job does not start")
    assert not set(groups_of(first)) & set(groups_of(second))
    groups = groups_of(first)
    first.down()
    assert not first.root.exists() and not any(group.exists() for group in groups)
    assert second.slurm("squeue", "-h", "-j", "1", "-o", "%T").strip() == "RUNNING"
    (second.jobs / "go").touch()
    out = pathlib.Path(second.jobs / "out")
    wait_for(lambda: out.exists() and out.read_text() == "done\n", "the job of the other lab was ended")


def test_an_interrupted_start_leaves_nothing_behind(monkeypatch):
    made = []
    run = slurm_lab.Lab.run

    def interrupted(lab, *words, timeout=900):
        made.append(lab)
        run(lab, *words, timeout=timeout)
        raise KeyboardInterrupt

    monkeypatch.setattr(slurm_lab.Lab, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        lab_up("--no-acct")
    assert len(made) == 1 and not made[0].root.exists()
