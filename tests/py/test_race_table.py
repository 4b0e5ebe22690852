"""What the tables of bench/search/race.py say is sure."""
import itertools
import pathlib
import random
import warnings

import pytest

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench/search"


@pytest.fixture
def table(monkeypatch):
    """race.py sets the threads of libraries and silences warnings: not for the tests that follow."""
    monkeypatch.syspath_prepend(str(BENCH))
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, "1")
    with warnings.catch_warnings():
        import race_table
        return race_table


def by_counting(a, b):
    """Every way to say which of all values are those of `a`."""
    everything = a + b
    rank = [sum(other < v for other in everything) + (everything.count(v) + 1) / 2 for v in everything]
    sums = [sum(taken) for taken in itertools.combinations(rank, len(a))]
    return sum(s <= sum(rank[:len(a)]) for s in sums) / len(sums)


def test_rank_test_is_exact(table):
    assert table.chance_of_less([1, 2, 3], [4, 5, 6]) == 1 / 20
    assert table.chance_of_less([4, 5, 6], [1, 2, 3]) == 1
    assert table.chance_of_less([7, 7], [7, 7, 7]) == 1
    chance = random.Random(4)
    for most in (2, 4, 1000):
        for _ in range(40):
            a, b = ([chance.randint(0, most) if chance.random() < .9 else float("inf") for _ in range(chance.randint(1, 6))] for _ in range(2))
            assert table.chance_of_less(a, b) == pytest.approx(by_counting(a, b), abs=1e-12), (a, b)


def field(table, kind, **values):
    return table.Field(kind, {"problem": {m.replace("_", " "): dict(enumerate(v)) for m, v in values.items()}})


def test_sure_is_only_what_holds_against_every_rival(table, capsys):
    low, high, mixed = [1, 2, 3, 4, 5], [6, 7, 8, 9, 10], [0, 2.5, 3.5, 4.5, 9]
    for kind, own, others, said in (
            ("single", low, (high, high), "ahead of all rivals on 1 of 1: problem."),
            ("single", low, (high, mixed), "Open on 1, with whom: problem (random)."),
            ("single", high, (high, low), "Behind one on 1: problem (random, 5 seeds)."),
            ("many", high, (low, low), "ahead of all rivals on 1 of 1: problem."),
            ("many", low, (low, high), "Behind one on 1: problem (random, 5 seeds).")):
        field(table, kind, sluice_auto=own, dehb=others[0], random=others[1]).certainty()
        assert said in capsys.readouterr().out


def test_behind_counts_how_many_rivals_there_are(table, capsys):
    """1 of 35 is below 5 %, but not where the best of three was looked for."""
    own, better = [4, 5, 6, 7], [1, 2, 3]
    field(table, "single", sluice_auto=own, random=better).certainty()
    assert "Behind one on 1" in capsys.readouterr().out
    field(table, "single", sluice_auto=own, random=better, dehb=own, pycma=own).certainty()
    assert "Behind one on 0" in capsys.readouterr().out


def test_one_rival_at_a_time(table, capsys):
    runs = {"near": {"sluice auto": {0: 1.0, 1: 2.0, 2: 3.0}, "random": {0: 4.0, 1: 5.0, 2: 6.0}},
            "far": {"sluice auto": {0: 2.0, 1: 2.0, 2: 2.0}, "random": {0: 1.0, 1: 1.5}, "dehb": {0: 2.0}}}
    table.Field("single", runs).each()
    out = capsys.readouterr().out
    assert "| random | 1 of 2 | 1 | 0 | 2 to 3 |" in out and "| dehb | 1 of 1 | 0 | 0 | 1 |" in out
