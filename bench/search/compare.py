"""How much searches find with the same number of tasks, and how long they take to answer, beside Optuna and DEHB.

    bench/search/run quality [--tasks 100] [--parallel 4] [--seeds 0:20] [--problem NAME...] [--method NAME...]
    bench/search/run table [--tasks 100] [--plot FILE]
    bench/search/run keep
    bench/search/run ask [--most 100000] [--sqlite 10000]

`quality` adds to build/search-quality.csv, one line a run: it can be stopped and goes on where it was, and runs
only what is not there with the present version of the library or of our code. `keep` puts the runs of the other
libraries into bench/search/peers.csv, so that they are not run again where only ours changed. `table` shows what is in it, in
Markdown: the median regret of every method on every problem, mean ranks, where `auto` wins and loses, and a plot."""
import argparse
import math
import pathlib
import random
import sys
import time
import warnings

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench/search"))
sys.path.insert(0, str(ROOT / "bench"))
from methods import Sluice  # noqa: E402

warnings.simplefilter("ignore")


def mixed(count):
    kinds = [{"min": 0.0, "max": 1.0}, {"min": 0.0, "max": 1.0}, {"min": 1e-5, "max": 0.1, "scale": "log"},
             {"min": 1, "max": 64}, ["a", "b", "c", "d"]]
    return {f"p{i}": kinds[i % 5] for i in range(count)}


def score(values):
    return sum((ord(v) - 97 if isinstance(v, str) else v) ** 2 for v in values.values())


def ask_sluice(problem, finished, strategy):
    rounds = 10
    # A history of random runs: cheap to make, as hard to fit as any.
    search = Sluice(problem, strategy, finished, 1, 1, options={"startup": finished - rounds})
    for _ in range(finished - rounds):
        key, values, _, _ = search.ask()
        search.tell(key, score(values))
    search.time()
    for _ in range(rounds):
        key, values, _, _ = search.ask()
        search.tell(key, score(values))
    took = search.time() / rounds
    search.close()
    return took


def ask_optuna(problem, finished, storage):
    import optuna
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=1, multivariate=True), storage=storage)
    kinds = {n: CategoricalDistribution(p) if isinstance(p, list) else
             IntDistribution(p["min"], p["max"]) if isinstance(p["min"], int) else
             FloatDistribution(p["min"], p["max"], log="scale" in p) for n, p in problem.parameters.items()}
    chance = random.Random(1)
    trials = []
    for _ in range(finished):
        values = {n: chance.choice(p) if isinstance(p, list) else chance.randint(p["min"], p["max"])
                  if isinstance(p["min"], int) else chance.uniform(p["min"], p["max"])
                  for n, p in problem.parameters.items()}
        trials.append(optuna.trial.create_trial(params=values, distributions=kinds, value=score(values)))
    study.add_trials(trials)
    rounds = 5
    for i in range(rounds + 1):
        if i == 1:
            begin = time.process_time()
        trial = study.ask(kinds)
        study.tell(trial, score(trial.params))
    return (time.process_time() - begin) / rounds


def ask(args):
    import tempfile
    from collections import namedtuple
    from bench import table as show
    rows = []
    for dims in (5, 20):
        problem = namedtuple("P", "parameters epochs")(mixed(dims), None)
        for finished in (100, 1000, 10000, 100000):
            if finished > args.most:
                continue
            row = [f"{finished} finished, {dims} parameters", ask_sluice(problem, finished, "tpe")]
            row.append(ask_optuna(problem, finished, None))
            with tempfile.TemporaryDirectory() as folder:
                row.append(ask_optuna(problem, finished, f"sqlite:///{folder}/o.db") if finished <= args.sqlite else math.nan)
            rows.append([row[0], *(f"{1e3 * v:.2f}" for v in row[1:]), *(f"{v / row[1]:.0f}x" if v == v else "" for v in row[2:])])
            print(rows[-1], file=sys.stderr, flush=True)
    show("CPU milliseconds of one ask and one tell of TPE",
         ["", "sluice", "optuna memory", "optuna sqlite", "memory/sluice", "sqlite/sluice"], rows)


def span(text):
    first, _, last = text.rpartition(":")
    return range(int(first or 0), int(last))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["quality", "table", "keep", "ask"])
    parser.add_argument("--tasks", type=int, default=100)
    parser.add_argument("--parallel", type=int, default=4)
    parser.add_argument("--seeds", type=span, default=range(20), help="20, or 100:110")
    parser.add_argument("--problem", action="append", help="may be given more than once, like --method")
    parser.add_argument("--method", action="append", help="a name, or the beginning of names")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "build/search-quality.csv")
    parser.add_argument("--plot", type=pathlib.Path, help="table: an SVG file")
    parser.add_argument("--most", type=int, default=100000, help="ask: finished tasks")
    parser.add_argument("--sqlite", type=int, default=10000, help="ask: finished tasks that are put into SQLite (slow)")
    args = parser.parse_args()
    if args.what == "ask":
        ask(args)
        return
    import quality
    if args.what == "keep":
        quality.keep(args)
        return
    if args.what == "quality":
        quality.measure(args)
    quality.report(args)


main()
