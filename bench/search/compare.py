"""How much searches find with the same number of tasks, and how long they take to answer, beside Optuna and DEHB.

    bench/search/run quality [--tasks 100] [--parallel 4] [--seeds 20] [--problem NAME] [--method NAME]
    bench/search/run ask [--most 100000] [--sqlite 10000]
    bench/search/run table

`quality` adds to build/search-quality.csv (runs that are there already are not repeated) and `table` prints what is
in it: the median regret of every method on every problem, mean ranks, and a plot, build/search-quality.png."""
import argparse
import csv
import heapq
import json
import math
import pathlib
import random
import statistics
import subprocess
import sys
import time
import warnings

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench/search"))
sys.path.insert(0, str(ROOT / "bench"))
from problems import PROBLEMS  # noqa: E402

warnings.simplefilter("ignore")
RESULTS = ROOT / "build/search-quality.csv"


class Sluice:
    """bench/search/asktell.c behind two methods."""

    def __init__(self, problem, strategy, tasks, parallel, seed, fidelity=False, options=None):
        parameters = dict(problem.parameters)
        if fidelity:
            parameters["epochs"] = problem.epochs
        search = {"strategy": strategy, "tasks": tasks, "parallel": parallel, "seed": seed, **(options or {})}
        args = [str(ROOT / "build/bench/bench/search-asktell"), json.dumps(parameters), json.dumps(search)]
        if fidelity:
            args.append(json.dumps({"parameter": "epochs", "min": 1, "max": problem.epochs}))
        self.child = subprocess.Popen(args, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.next, self.levels = 1, {}

    def say(self, line):
        self.child.stdin.write(line + "\n")
        self.child.stdin.flush()

    def ask(self):
        """(key, values, epochs, epochs to pay for), or None: wait or done."""
        self.say(f"ask {self.next}")
        answer = self.child.stdout.readline().strip()
        if not answer.startswith("{"):
            return None
        answer, key = json.loads(answer), self.next
        self.next += 1
        answer["values"].pop("epochs", None)
        epochs = answer["fidelity"]
        self.levels[key] = epochs
        paid = epochs - self.levels.get(answer["continues"], 0) if epochs and answer["continues"] >= 0 else epochs
        return key, answer["values"], epochs, paid

    def tell(self, key, value):
        self.say(f"tell {key} {value!r}")

    def time(self):
        self.say("time")
        return float(self.child.stdout.readline())

    def close(self):
        self.child.stdin.close()
        self.child.wait()


class Optuna:
    def __init__(self, problem, sampler, storage=None):
        import optuna
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.study = optuna.create_study(sampler=sampler, storage=storage)
        self.parameters = problem.parameters

    def ask(self):
        trial = self.study.ask()
        values = {}
        for name, p in self.parameters.items():
            if isinstance(p, list):
                values[name] = trial.suggest_categorical(name, p)
                continue
            if any(values.get(parent) != value for parent, value in p.get("when", {}).items()):
                continue
            log = p.get("scale") == "log"
            if isinstance(p["min"], int):
                values[name] = trial.suggest_int(name, p["min"], p["max"], step=p.get("step", 1), log=log)
            else:
                values[name] = trial.suggest_float(name, p["min"], p["max"], log=log)
        return trial, values, None, None

    def tell(self, trial, value):
        import optuna
        if math.isnan(value):
            self.study.tell(trial, state=optuna.trial.TrialState.FAIL)
        else:
            self.study.tell(trial, value)

    def close(self):
        pass


class Dehb:
    """DEHB knows no conditions: all parameters apply, the function looks at those that count."""

    def __init__(self, problem, seed, fidelity=False):
        import ConfigSpace as cs
        from dehb import DEHB
        from loguru import logger
        logger.remove()
        space = cs.ConfigurationSpace(seed=seed)
        for name, p in problem.parameters.items():
            if isinstance(p, list):
                space.add(cs.Categorical(name, [json.dumps(v) for v in p]))
            elif isinstance(p["min"], int):
                step = p.get("step", 1)
                count = (p["max"] - p["min"]) // step
                if p.get("scale") == "log":
                    space.add(cs.Integer(name, (p["min"], p["max"]), log=True))
                else:
                    space.add(cs.Integer(name, (0, count)))
            else:
                space.add(cs.Float(name, (p["min"], p["max"]), log=p.get("scale") == "log"))
        self.parameters, most = problem.parameters, problem.epochs if fidelity else 1
        folder = ROOT / "build/dehb"
        self.dehb = DEHB(cs=space, min_fidelity=1 if fidelity else 1, max_fidelity=most if fidelity else 1.0001, eta=3,
                         n_workers=1, seed=seed, output_path=str(folder), save_freq=None)
        self.fidelity = fidelity

    def ask(self):
        job = self.dehb.ask()
        values = {}
        for name, v in dict(job["config"]).items():
            p = self.parameters[name]
            if isinstance(p, list):
                v = json.loads(str(v))
            elif isinstance(p["min"], int) and p.get("scale") != "log":
                v = p["min"] + int(v) * p.get("step", 1)
            elif isinstance(p["min"], int):
                v = int(v)
            values[name] = v
        return job, values, job["fidelity"] if self.fidelity else None, job["fidelity"] if self.fidelity else None

    def tell(self, job, value):
        self.dehb.tell(job, {"fitness": 1e6 if math.isnan(value) else value, "cost": 1})

    def close(self):
        pass


def optuna_tpe(**options):
    def make(problem, tasks, parallel, seed):
        import optuna
        return Optuna(problem, optuna.samplers.TPESampler(seed=seed, **options))
    return make


def optuna_cma(problem, tasks, parallel, seed):
    import optuna
    return Optuna(problem, optuna.samplers.CmaEsSampler(seed=seed))


def sluice(strategy, **options):
    return lambda problem, tasks, parallel, seed: Sluice(problem, strategy, tasks, parallel, seed, options=options)


def numeric(problem):
    return all(not isinstance(p, list) and "when" not in p for p in problem.parameters.values())


METHODS = {
    "random": sluice("random"),
    "sluice auto": sluice("auto"),
    "sluice tpe": sluice("tpe"),
    "sluice gp": sluice("gp"),
    "sluice cmaes": sluice("cmaes"),
    "sluice lshade": sluice("lshade"),
    "optuna tpe": optuna_tpe(multivariate=False),
    "optuna tpe multivariate": optuna_tpe(multivariate=True, group=True, constant_liar=True),
    "optuna cmaes": optuna_cma,
    "dehb": lambda problem, tasks, parallel, seed: Dehb(problem, seed),
}
# At the same number of epochs in all; what was best at full length counts.
FIDELITY_METHODS = {
    "sluice asha": lambda p, tasks, parallel, seed: Sluice(p, "asha", 40 * tasks, parallel, seed, True),
    "sluice dehb": lambda p, tasks, parallel, seed: Sluice(p, "dehb", 40 * tasks, parallel, seed, True),
    "dehb fidelity": lambda p, tasks, parallel, seed: Dehb(p, seed, True),
}
NUMERIC_ONLY = {"sluice cmaes", "optuna cmaes", "sluice lshade"}


def run(problem, method, tasks, parallel, seed):
    """The best value after every task (or task's worth of epochs)."""
    chance = random.Random(f"{problem.name} {seed}")
    search = {**METHODS, **FIDELITY_METHODS}[method](problem, tasks, parallel, seed)
    running, clock, best, spent, series, count = [], 0.0, math.inf, 0.0, [], 0
    limit = tasks * (problem.epochs or 1) if method in FIDELITY_METHODS else tasks
    while True:
        while len(running) < parallel and spent < limit:
            asked = search.ask()
            if not asked:
                break
            key, values, epochs, paid = asked
            value = problem.value(values, epochs) if epochs else problem.value(values)
            cost = paid or 1
            spent += cost
            count += 1
            heapq.heappush(running, (clock + cost * (0.5 + chance.random()), count, key, value, epochs))
        if not running:
            break
        clock, _, key, value, epochs = heapq.heappop(running)
        search.tell(key, value)
        if not epochs or round(epochs) == problem.epochs:
            best = min(best, value if not math.isnan(value) else math.inf)
        series.append(best)
    search.close()
    return series


def quality(args):
    done = set()
    if RESULTS.exists():
        with RESULTS.open() as f:
            done = {tuple(row[:5]) for row in csv.reader(f)}
    for seed in range(args.seeds):
        for problem in PROBLEMS:
            methods = list(METHODS) + (list(FIDELITY_METHODS) if problem.epochs else [])
            for method in methods:
                key = (problem.name, method, str(args.tasks), str(args.parallel), str(seed))
                if key in done or (method in NUMERIC_ONLY and not numeric(problem)) or \
                        (args.problem and args.problem != problem.name) or (args.method and args.method != method):
                    continue
                series = run(problem, method, args.tasks, args.parallel, seed)
                with RESULTS.open("a", newline="") as f:
                    csv.writer(f).writerow([*key, *(f"{v - problem.least:.6g}" for v in series[9::10])])
        print(f"seed {seed}", file=sys.stderr, flush=True)


def table(args):
    from bench import table as show
    rows = {}
    with RESULTS.open() as f:
        for name, method, tasks, parallel, seed, *series in csv.reader(f):
            if (tasks, parallel) == (str(args.tasks), str(args.parallel)):
                rows.setdefault(method, {}).setdefault(name, {})[seed] = [float(v) for v in series]
    rows = {m: {n: list(runs.values()) for n, runs in r.items()} for m, r in rows.items()}
    names = [p.name for p in PROBLEMS if any(p.name in r for r in rows.values())]
    median = {m: {n: statistics.median(s[-1] for s in runs) for n, runs in r.items()} for m, r in rows.items()}
    everywhere = [m for m in rows if all(n in median[m] for n in names)]
    rank = {m: [] for m in rows}
    for name in names:
        for group in (everywhere, [m for m in rows if name in median[m] and m not in FIDELITY_METHODS]):
            values = sorted(median[m][name] for m in group)
            for m in group:
                if (m in everywhere) == (group is everywhere):
                    rank[m].append(values.index(median[m][name]) + (values.count(median[m][name]) + 1) / 2)
    seeds = min(len(runs) for r in rows.values() for runs in r.values())
    show(f"median regret after {args.tasks} tasks, {args.parallel} at once, at least {seeds} seeds",
         ["problem", *rows], [[n, *(f"{median[m][n]:.3g}" if n in median[m] else "" for m in rows)] for n in names]
         + [["mean rank", *(f"{statistics.mean(rank[m]):.2f}" if m in everywhere else "" for m in rows)]])
    plot(rows, names, args)


def plot(rows, names, args):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    figure, axes = plt.subplots((len(names) + 3) // 4, 4, figsize=(18, 3.6 * ((len(names) + 3) // 4)))
    for axis, name in zip(axes.flat, names):
        for method, problems in rows.items():
            runs = problems.get(name, [])
            length = min((len(r) for r in runs), default=0)
            if length and method not in FIDELITY_METHODS:
                axis.plot([10 * (i + 1) for i in range(length)],
                          [max(statistics.median(r[i] for r in runs), 1e-9) for i in range(length)], label=method)
        axis.set_yscale("log")
        axis.set_title(name)
    axes.flat[0].legend(fontsize=7)
    figure.supxlabel("tasks")
    figure.supylabel("median regret")
    figure.tight_layout()
    figure.savefig(ROOT / "build/search-quality.png", dpi=110)


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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["quality", "ask", "table"])
    parser.add_argument("--tasks", type=int, default=100)
    parser.add_argument("--parallel", type=int, default=4)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--problem")
    parser.add_argument("--method")
    parser.add_argument("--most", type=int, default=100000, help="ask: finished tasks")
    parser.add_argument("--sqlite", type=int, default=10000, help="ask: finished tasks that are put into SQLite (slow)")
    args = parser.parse_args()
    {"quality": quality, "ask": ask, "table": table}[args.what](args)
    if args.what == "quality":
        table(args)


main()
