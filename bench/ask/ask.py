"""How long an ask and a tell take after so many finished tasks, in memory and through the store, beside Optuna in the
same run; every strategy; and how long it takes to take a stored search up again.

    bench/ask/run [--part optuna|strategies|replay] [--most 100000] [--optuna 10000] [--rounds 50]

Everything is a median. In memory it is CPU time; through the store and SQLite it is real time, once with the files in
/dev/shm, where nothing waits for a disk, and once on the disk. Optuna's storage is filled with its own add_trials, without waiting
for the disk; the asks that are timed do wait."""
import argparse
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench"))
from bench import table  # noqa: E402

warnings.simplefilter("ignore")
SIZES = (100, 1000, 10000, 100000)
PARAMETERS = (5, 20)
IN_MEMORY = "/dev/shm"  # a file system that is on every Linux


def ours(*words, folder=None):
    """The numbers that bench/ask/ask.c prints. folder: where its store is."""
    env = {**os.environ, "TMPDIR": folder} if folder else None
    out = subprocess.run([ROOT / "build/bench/bench/ask", *map(str, words)], check=True, capture_output=True, text=True,
                         env=env)
    if out.stderr:
        print(out.stderr, file=sys.stderr, flush=True)
    return [float(word) for word in out.stdout.split()]


def distributions(count):
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
    kinds = (FloatDistribution(0, 1), FloatDistribution(0, 1), FloatDistribution(1e-5, 0.1, log=True), IntDistribution(1, 64),
             CategoricalDistribution(("a", "b", "c", "d")))
    return {f"p{i}": kinds[i % len(kinds)] for i in range(count)}


def score(values):
    return sum((ord(v) - 97 if isinstance(v, str) else v) ** 2 for v in values.values())


def history(kinds, count):
    import optuna
    chance, trials = random.Random(1), []
    for _ in range(count):
        values = {name: chance.choice(kind.choices) if hasattr(kind, "choices") else
                  chance.randint(kind.low, kind.high) if isinstance(kind.low, int) else chance.uniform(kind.low, kind.high)
                  for name, kind in kinds.items()}
        trials.append(optuna.trial.create_trial(params=values, distributions=kinds, value=score(values)))
    return trials


def timed_asks(study, kinds, rounds=7):
    """Milliseconds, and milliseconds of CPU."""
    took = []
    for _ in range(rounds + 1):
        begin = time.perf_counter(), time.process_time()
        trial = study.ask(kinds)
        study.tell(trial, score(trial.params))
        took.append((1e3 * (time.perf_counter() - begin[0]), 1e3 * (time.process_time() - begin[1])))
    return [statistics.median(column) for column in zip(*took[1:])]  # the first one fills caches


def sampler():
    import optuna
    return optuna.samplers.TPESampler(seed=1, multivariate=True)


def optuna_memory(count, finished):
    import optuna
    kinds = distributions(count)
    study = optuna.create_study(sampler=sampler())
    study.add_trials(history(kinds, finished))
    return timed_asks(study, kinds)[1]


def optuna_sqlite(count, finished):
    """Milliseconds in memory and on the disk."""
    import optuna
    import sqlalchemy
    kinds = distributions(count)
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as memory, tempfile.TemporaryDirectory() as disk:
        storage = optuna.storages.RDBStorage(f"sqlite:///{memory}/optuna.db")

        @sqlalchemy.event.listens_for(storage.engine, "connect")
        def hurry(connection, _):
            connection.execute("PRAGMA synchronous=OFF")
        storage.engine.dispose()
        optuna.create_study(study_name="ask", storage=storage).add_trials(history(kinds, finished))
        storage.engine.dispose()
        shutil.copy(f"{memory}/optuna.db", disk)
        took = []
        for folder in (memory, disk):
            study = optuna.load_study(study_name="ask", storage=f"sqlite:///{folder}/optuna.db", sampler=sampler())
            took.append(timed_asks(study, kinds)[0])
        return took


def times(ours_ms, theirs_ms):
    return f"{theirs_ms / ours_ms:.0f}x"


def beside_optuna(args):
    import optuna
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    rows = []
    for count in PARAMETERS:
        for finished in SIZES:
            if finished > args.most:
                continue
            memory = ours("memory", "tpe", count, finished, args.rounds)[0]
            own = ours("own", "tpe", count, finished, args.rounds)[0] if finished <= 10000 else None
            store = [ours("store", "tpe", count, finished, args.rounds, folder=folder)[0] for folder in (IN_MEMORY, None)]
            row = [f"{finished}, {count} parameters", f"{memory:.2f}", f"{own:.2f}" if own else "", "", "", "",
                   f"{store[0]:.2f}", "", "", f"{store[1]:.1f}", "", ""]
            if finished <= args.optuna:
                theirs, sqlite = optuna_memory(count, finished), optuna_sqlite(count, finished)
                row[3:6] = f"{theirs:.1f}", times(memory, theirs), times(own, theirs)
                row[7:9] = f"{sqlite[0]:.0f}", times(store[0], sqlite[0])
                row[10:] = f"{sqlite[1]:.0f}", times(store[1], sqlite[1])
            rows.append(row)
            print(*row, sep="  ", file=sys.stderr, flush=True)
    table(f"ask plus tell of TPE, ms; Optuna {optuna.__version__}",
          ["finished", "memory", "own history", "optuna", "by", "by, own", "store, /dev/shm", "optuna SQLite", "by", "store, disk",
           "optuna SQLite", "by"],
          rows)


def strategies(args):
    names, rows = subprocess.check_output([ROOT / "build/bench/bench/ask", "list"], text=True).split(), []
    sizes = [size for size in SIZES if size <= args.most]
    for name in names:
        rounds = 5 if name == "gp" else args.rounds
        cells = [ours("memory", name, count, size, rounds) for count in PARAMETERS for size in sizes]
        store = ours("store", name, 20, 10000, rounds, folder=IN_MEMORY) if name != "grid" else None
        rows.append([name, *(f"{cell[0]:.3f}" for cell in cells), f"{max(cell[1] for cell in cells):.2f}",
                     f"{store[0]:.2f}" if store else ""])
        print(*rows[-1], sep="  ", file=sys.stderr, flush=True)
    table("ask plus tell in memory, ms (parameters x finished tasks); the worst of all; through the store in /dev/shm at 20 x 10000",
          ["strategy", *(f"{count} x {size}" for count in PARAMETERS for size in sizes), "worst", "store"], rows)


def replay(args):
    names, rows = subprocess.check_output([ROOT / "build/bench/bench/ask", "list"], text=True).split(), []
    for name in names:
        rows.append([name, *(f"{seconds:.2f}" for count in PARAMETERS for seconds in ours("replay", name, count, 10000))])
        print(*rows[-1], sep="  ", file=sys.stderr, flush=True)
    table("seconds until the engine has taken up a search of 10,000 events again",
          ["strategy", "5 parameters", "CPU", "20 parameters", "CPU"], rows)


PARTS = {"optuna": beside_optuna, "strategies": strategies, "replay": replay}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=PARTS, help="only this one")
    parser.add_argument("--most", type=int, default=100000, help="finished tasks")
    parser.add_argument("--optuna", type=int, default=10000, help="finished tasks of Optuna (100000 take an hour)")
    parser.add_argument("--rounds", type=int, default=50, help="asks that are timed")
    args = parser.parse_args()
    for name, part in PARTS.items():
        if not args.part or args.part == name:
            part(args)


main()
