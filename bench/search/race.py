"""The race: sluice beside all peers on the problems of race_problems.py, many runs at a time, also on a machine without
network where nothing can be installed.

    race.py run --out FILE [--jobs 16] [--seconds 540] [--wheels FOLDER] [--asktell PROGRAM] [--only KIND] [--method NAME...]
                [--tasks N...] [--parallel N...] [--problem NAME...] [--seed N...]
    race.py table FILE...

`run` makes the runs in the order of `tiers` and adds one line a run to FILE. It can be stopped and goes on where it was:
what FILE holds with the present version is not run again. After --seconds it ends, and what was under way is dropped.
A method whose package is missing is skipped with a line that says so. --wheels: wheels to unpack into a temporary folder and
to use where the machine has no such package itself. `table` shows what the files hold, in Markdown."""
import argparse
import atexit
import csv
import importlib.metadata
import importlib.util
import json
import heapq
import math
import multiprocessing
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
import zipfile

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
warnings.simplefilter("ignore")
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import methods  # noqa: E402
import peers  # noqa: E402
from many import hypervolume  # noqa: E402
from race_problems import RACE, RACE_CURVES, RACE_MANY, SEEDS  # noqa: E402

COLUMNS = ["kind", "problem", "method", "version", "tasks", "parallel", "seed", "cpu_ms", "values"]
MARKS = (20, 30, 100, 300)
CURVE_MARKS = (4, 8, 16, 32)  # whole trainings
JOB_SECONDS = 1500  # for a loaded machine, too
PROBLEMS = {("single", p.name): p for p in RACE} | {("many", p[0]): p for p in RACE_MANY} | {("curve", p.name): p for p in RACE_CURVES}


class SluiceMany(methods.Sluice):
    def __init__(self, problem, strategy, tasks, parallel, seed, options):
        search = {"strategy": strategy, "tasks": tasks, "parallel": parallel, "seed": seed, **options}
        self.child = subprocess.Popen([self.program(), json.dumps(problem[1]), json.dumps(search), "~", str(len(problem[3]))],
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.next, self.levels = 1, {}

    def tell(self, key, values):
        self.say(f"tell {key} " + " ".join(repr(float(v)) for v in values))


class OptunaCurve(methods.Optuna):
    """A trial reports every epoch, and the pruner may end it."""

    def __init__(self, problem, tasks, parallel, seed, pruner):
        import optuna
        super().__init__(problem, optuna.samplers.TPESampler(seed=seed))
        self.study.pruner = {"asha": lambda: optuna.pruners.SuccessiveHalvingPruner(min_resource=1, reduction_factor=3),
                             "hyperband": lambda: optuna.pruners.HyperbandPruner(1, problem.epochs, 3),
                             "none": optuna.pruners.NopPruner}[pruner]()


def ours(strategy, **options):
    return lambda problem, tasks, parallel, seed: methods.Sluice(problem, strategy, tasks, parallel, seed, options=options)


def ours_many(strategy, **options):
    return lambda problem, tasks, parallel, seed: SluiceMany(problem, strategy, tasks, parallel, seed, options)


def ours_curve(strategy, **options):
    """`tasks` are whole trainings; many short runs fit into one."""
    return lambda problem, tasks, parallel, seed: methods.Sluice(problem, strategy, 40 * tasks, parallel, seed, True, options)


def optuna_curve(pruner):
    return lambda problem, tasks, parallel, seed: OptunaCurve(problem, tasks, parallel, seed, pruner)


# kind: {method: (how it is made, packages, depends on the budget, slow)}
METHODS = {
    "single": {"sluice auto": (ours("auto"), [], True, False), **peers.SINGLE},
    "many": {"sluice auto": (ours_many("auto"), [], True, False), **peers.MANY},
    "curve": {"sluice auto": (ours_curve("auto"), [], True, False), "sluice asha tpe": (ours_curve("asha", sampler="tpe"), [], True, False),
              "sluice gp": (ours("gp"), [], True, False),
              "optuna asha": (optuna_curve("asha"), ["optuna"], False, False),
              "optuna hyperband": (optuna_curve("hyperband"), ["optuna"], False, False),
              "optuna none": (optuna_curve("none"), ["optuna"], False, False),
              "dehb": (lambda p, tasks, parallel, seed: methods.Dehb(p, seed, True), ["dehb"], False, False)},
}


class Watch:
    """CPU seconds spent in asks and tells: the library's own, or what our driver counts."""

    def __init__(self, search):
        self.search, self.spent, self.asks = search, 0.0, 0

    def ask(self):
        begin = time.process_time()
        asked = self.search.ask()
        self.spent += time.process_time() - begin
        self.asks += asked is not None
        return asked

    def tell(self, key, value):
        begin = time.process_time()
        self.search.tell(key, value)
        self.spent += time.process_time() - begin

    def end(self):
        if isinstance(self.search, methods.Sluice):
            self.spent = self.search.time()
        self.search.close()
        return 1000 * self.spent / max(self.asks, 1)


def run_single(problem, watch, tasks, parallel, seed):
    chance = random.Random(f"{problem.name} {seed}")
    running, clock, best, series = [], 0.0, (math.inf, math.inf), []
    for count in range(tasks + parallel):
        if running and (count >= parallel or count >= tasks):
            clock, _, key, told, value = heapq.heappop(running)
            watch.tell(key, told)
            if not math.isnan(told):
                best = min(best, (told, value))
            series.append(best[1])
        asked = watch.ask() if count < tasks else None
        if asked:
            value = problem.value(asked[1])
            told = value + chance.gauss(0, problem.noise) if problem.noise else value
            heapq.heappush(running, (clock + .5 + chance.random(), count, asked[0], told, value))
    while running:
        _, _, key, told, value = heapq.heappop(running)
        best = min(best, (told, value)) if not math.isnan(told) else best
        series.append(best[1])
    series += [best[1]] * (tasks - len(series))  # a finite space may be used up before
    return {mark: series[mark - 1] - problem.least for mark in MARKS if mark <= tasks}


def run_many(problem, watch, tasks, parallel, seed):
    name, _, function, corner = problem
    chance, running, clock, found = random.Random(f"{name} {seed}"), [], 0.0, []
    for count in range(tasks + parallel):
        if running and (count >= parallel or count >= tasks):
            clock, _, key, values = heapq.heappop(running)
            watch.tell(key, values)
            found.append(values)
        asked = watch.ask() if count < tasks else None
        if asked:
            heapq.heappush(running, (clock + .5 + chance.random(), count, asked[0], [float(v) for v in function(asked[1])]))
    found += [run[3] for run in sorted(running)]
    return {mark: hypervolume([v for v in found[:mark] if not any(map(math.isnan, v))], corner) for mark in MARKS if mark <= tasks}


class Trainings:
    """What a search with fidelities has seen: by epochs spent, the value at full length of what looked best, and the best of
    those that were trained to the end."""

    def __init__(self, problem, tasks):
        self.problem, self.marks = problem, [m for m in CURVE_MARKS if m <= tasks]
        self.spent, self.seen, self.full, self.out = 0.0, (math.inf, None), math.inf, {}

    def pay(self, epochs):
        self.spent += epochs
        while self.marks and self.spent > self.marks[0] * self.problem.epochs + 1e-9:
            self.mark()

    def mark(self):
        mark, looked = self.marks.pop(0), self.problem.value(self.seen[1]) if self.seen[1] else 2.5
        self.out[mark] = looked
        self.out[f"full{mark}"] = self.full if self.full < math.inf else 2.5

    def note(self, values, value, epochs):
        if value < self.seen[0]:
            self.seen = value, values
        if round(epochs) >= self.problem.epochs:
            self.full = min(self.full, value)

    def end(self):
        while self.marks:
            self.mark()
        return self.out


def run_curve(problem, watch, tasks, parallel, seed):
    """Epochs count, not tasks. A step of Optuna is an epoch, since its trials report each; of the others what was asked."""
    chance, state, running, clock, count = random.Random(f"{problem.name} {seed}"), Trainings(problem, tasks), [], 0.0, 0
    limit, stepwise = tasks * problem.epochs, isinstance(watch.search, OptunaCurve)
    while True:
        while len(running) < parallel and state.spent < limit:
            asked = watch.ask()
            if not asked:
                break
            key, values, epochs, paid = asked
            epochs, paid = (1, 1) if stepwise else (epochs or problem.epochs, paid or problem.epochs)
            state.pay(paid)
            count += 1
            heapq.heappush(running, (clock + paid * (.5 + chance.random()), count, key, values, epochs))
        if not running:
            return state.end()
        clock, _, key, values, epochs = heapq.heappop(running)
        value = problem.value(values, epochs)
        state.note(values, value, epochs)
        if stepwise:
            key.report(value, epochs)
            if epochs < problem.epochs and not key.should_prune() and state.spent < limit:
                state.pay(1)
                count += 1
                heapq.heappush(running, (clock + .5 + chance.random(), count, key, values, epochs + 1))
                continue
        watch.tell(key, value)


RUNS = {"single": run_single, "many": run_many, "curve": run_curve}


def version(method):
    if method.startswith("sluice"):
        return methods.version(method)
    package = {"optuna": "optuna", "dehb": "DEHB", "pycma": "cma", "random": None}.get(method.split()[0], method.split()[0])
    return importlib.metadata.version(package) if package else "-"


def work(job):
    kind, name, method, tasks, parallel, seed = job

    def late(*_):
        raise TimeoutError(f"no end within {JOB_SECONDS} s")
    signal.signal(signal.SIGALRM, late)
    signal.alarm(JOB_SECONDS)
    try:
        with open(os.devnull, "w") as nothing:
            sys.stdout, kept = nothing, sys.stdout
            try:
                problem = PROBLEMS[kind, name]
                watch = Watch(METHODS[kind][method][0](problem, tasks, parallel, seed))
                values = RUNS[kind](problem, watch, tasks, parallel, seed)
                cpu = watch.end()
            finally:
                sys.stdout = kept
        return job, version(method), cpu, values, None
    except Exception as problem:  # a peer that fails on a problem must not end the race
        return job, None, None, None, f"{type(problem).__name__}: {problem}"[:200]
    finally:
        signal.alarm(0)


def tiers():
    """What is run, in this order: (kind, slow methods too? or which, budgets, parallel, seeds). Later tiers repeat earlier
    ones where only seeds are added: what is there is not run again."""
    one, few, three, five, ten = SEEDS[:1], SEEDS[:2], SEEDS[:3], SEEDS[:5], SEEDS[:10]
    yield from [("single", False, (20, 30, 100), 4, five), ("many", False, (100,), 4, five), ("curve", False, (32,), 4, three)]
    yield from [("single", ("optuna gp", "smac"), (30,), 4, few), ("many", False, (300,), 4, few), ("single", False, (300,), 4, three)]
    yield from [("single", False, (30, 100), 1, three), ("single", False, (30, 100), 16, three)]
    yield from [("single", ("optuna gp", "smac"), (100,), 4, one), ("many", True, (100,), 4, one), ("single", True, (30,), 4, one)]
    yield from [("curve", False, (32,), 16, few), ("curve", False, (32,), 1, few), ("single", False, (20, 30, 100), 4, ten)]
    yield from [("many", False, (100, 300), 4, five), ("curve", False, (32,), 4, ten), ("single", False, (300,), 4, five)]
    yield from [("single", True, (30,), 4, five), ("single", True, (100,), 4, few), ("single", False, (20, 30, 100), 4, SEEDS)]
    yield from [("many", False, (100, 300), 4, ten), ("curve", False, (32,), 4, SEEDS), ("single", False, (300,), 4, SEEDS)]
    yield from [("single", False, (300,), 1, three), ("single", False, (300,), 16, three)]
    yield from [("single", ("optuna gp",), (30,), 4, SEEDS), ("single", False, (30, 100), 1, ten), ("single", False, (30, 100), 16, ten)]
    yield from [("single", True, (30,), 4, SEEDS), ("single", ("optuna gp", "smac", "scikit-optimize"), (100,), 4, SEEDS)]


def missing(packages):
    return [name for name in packages if importlib.util.find_spec(name) is None]


def fits(kind, method, problem):
    """pycma knows numbers only."""
    return method != "pycma" or not any(peers.choices_of(p) for p in problem.parameters.values())


def plan(args):
    said, listed = set(), set()
    for kind, slow, budgets, parallel, seeds in tiers():
        for seed in seeds:
            for (_, name), problem in ((key, p) for key, p in PROBLEMS.items() if key[0] == kind):
                if args.problem and name not in args.problem:
                    continue
                for method, (_, packages, by_budget, is_slow) in METHODS[kind].items():
                    lacks = missing(packages)
                    if lacks and method not in said:
                        print(f"race: {method} is skipped: no {', '.join(lacks)} here", file=sys.stderr)
                        said.add(method)
                    if lacks or is_slow != bool(slow) or (isinstance(slow, tuple) and method not in slow) or (args.only and kind not in args.only) or \
                            (args.method and method not in args.method) or not fits(kind, method, problem):
                        continue
                    for tasks in budgets if by_budget else budgets[-1:]:
                        job = kind, name, method, tasks, parallel, seed
                        wanted = (not args.tasks or tasks in args.tasks) and (not args.parallel or parallel in args.parallel) and \
                            (not args.seed or seed in args.seed)
                        if wanted and job not in listed:
                            listed.add(job)
                            yield job


def done(path):
    if not path.exists():
        return set()
    with path.open() as f:
        return {(row["kind"], row["problem"], row["method"], int(row["tasks"]), int(row["parallel"]), int(row["seed"]))
                for row in csv.DictReader(f) if row["version"] == known_version(row["method"])}


def known_version(method):
    try:
        return version(method)
    except importlib.metadata.PackageNotFoundError:
        return None


def unpack(folder):
    """Wheels of this machine's Python, behind everything that it has itself."""
    site = tempfile.mkdtemp(prefix="race-")
    owner = os.getpid()
    atexit.register(lambda: os.getpid() == owner and shutil.rmtree(site, ignore_errors=True))
    for wheel in sorted(pathlib.Path(folder).glob("*.whl")):
        with zipfile.ZipFile(wheel) as z:
            z.extractall(site)
    sys.path.append(site)


def run(args):
    deadline = time.monotonic() + args.seconds
    if args.asktell:
        os.environ["SEARCH_ASKTELL"] = str(args.asktell.resolve())
    if args.wheels:
        unpack(args.wheels)
    there = done(args.out)
    jobs = [job for job in plan(args) if job not in there]
    print(f"race: {len(there)} runs are there, {len(jobs)} to make with {args.jobs} processes", file=sys.stderr, flush=True)
    fresh, made, failed = not args.out.exists(), 0, {}
    with args.out.open("a", newline="") as f, multiprocessing.Pool(args.jobs) as pool:
        out = csv.writer(f, lineterminator="\n")
        if fresh:
            out.writerow(COLUMNS)
        results = pool.imap_unordered(work, jobs)
        for _ in jobs:
            try:
                job, made_with, cpu, values, problem = results.next(timeout=max(.1, deadline - time.monotonic()))
            except multiprocessing.TimeoutError:
                break
            if problem:
                if failed.setdefault((job[2], problem), 0) == 0:
                    print(f"race: {job}: {problem}", file=sys.stderr, flush=True)
                failed[job[2], problem] += 1
                continue
            out.writerow([*job[:3], made_with, *job[3:], f"{cpu:.4g}", " ".join(f"{k}:{v:.6g}" for k, v in values.items())])
            f.flush()
            made += 1
        pool.terminate()
    print(f"race: {made} runs made, {sum(failed.values())} failed, {len(jobs) - made - sum(failed.values())} not made", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    runs = verbs.add_parser("run")
    runs.add_argument("--out", type=pathlib.Path, required=True)
    runs.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 2) - 1))
    runs.add_argument("--seconds", type=float, default=540)
    runs.add_argument("--wheels", type=pathlib.Path)
    runs.add_argument("--asktell", type=pathlib.Path)
    runs.add_argument("--only", action="append", choices=list(METHODS))
    runs.add_argument("--method", action="append")
    runs.add_argument("--problem", action="append")
    runs.add_argument("--tasks", type=int, action="append")
    runs.add_argument("--parallel", type=int, action="append")
    runs.add_argument("--seed", type=int, action="append")
    tables = verbs.add_parser("table")
    tables.add_argument("files", type=pathlib.Path, nargs="+")
    args = parser.parse_args()
    if args.verb == "run":
        run(args)
    else:
        import race_table
        race_table.report(args.files)


if __name__ == "__main__":
    main()
