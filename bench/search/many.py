"""Several objectives: how much hypervolume searches find with the same number of tasks, beside Optuna's MOTPE.

    bench/search/run many [--tasks 100] [--parallel 4] [--seeds 0:5] [--held] [--method NAME...]

Prints the median hypervolume of each method on each problem; more is better. --held: held.py, never to tune on."""
import heapq
import json
import math
import random
import statistics
import subprocess

from held import HELD_MANY
from methods import Optuna, Sluice
from problems import real


def unit(count):
    return {f"x{i}": real(0, 1) for i in range(count)}


def away(values):
    """From 0 for the best to 1: the front lies inside, not on a bound."""
    return [abs(v - .3) / .7 for v in values]


def zdt1(p):
    x, *rest = p.values()
    g = 1 + 9 * statistics.mean(away(rest))
    return [x, g * (1 - math.sqrt(x / g))]


def zdt2(p):
    x, *rest = p.values()
    g = 1 + 9 * statistics.mean(away(rest))
    return [x, g * (1 - (x / g) ** 2)]


def zdt4(p):
    x, *rest = p.values()
    rest = [10 * v - 3 for v in rest]
    g = 1 + 10 * len(rest) + sum(v * v - 10 * math.cos(4 * math.pi * v) for v in rest)
    return [x, g * (1 - math.sqrt(x / g))]


def dtlz2(p):
    a, b, *rest = p.values()
    g = 1 + sum((v - .3) ** 2 for v in rest)
    return [g * math.cos(a * math.pi / 2) * math.cos(b * math.pi / 2), g * math.cos(a * math.pi / 2) * math.sin(b * math.pi / 2),
            g * math.sin(a * math.pi / 2)]


MANY = [("zdt1 d12", unit(12), zdt1, [1.1, 6]), ("zdt2 d12", unit(12), zdt2, [1.1, 7]), ("zdt4 d6", unit(6), zdt4, [1.1, 80]),
        ("dtlz2 d8 m3", unit(8), dtlz2, [2, 2, 2])]


def hypervolume(points, corner):
    """What the points dominate below the corner: slices along the last objective."""
    points = sorted((p for p in points if all(v < c for v, c in zip(p, corner))), key=lambda p: p[-1])
    if len(corner) == 1:
        return corner[0] - points[0][0] if points else 0
    total = 0
    for i, p in enumerate(points):
        top = points[i + 1][-1] if i + 1 < len(points) else corner[-1]
        if top > p[-1]:
            total += (top - p[-1]) * hypervolume([q[:-1] for q in points[:i + 1]], corner[:-1])
    return total


class SluiceMany(Sluice):
    def __init__(self, parameters, strategy, tasks, parallel, seed, objectives):
        args = [self.program(), json.dumps(parameters),
                json.dumps({"strategy": strategy, "tasks": tasks, "parallel": parallel, "seed": seed}), "~", str(objectives)]
        self.child = subprocess.Popen(args, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.next, self.levels = 1, {}

    def tell(self, key, values):
        self.say(f"tell {key} " + " ".join(repr(float(v)) for v in values))


class OptunaMany(Optuna):
    def __init__(self, parameters, seed, objectives):
        import optuna
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed, multivariate=False),
                                         directions=["minimize"] * objectives)
        self.parameters = parameters

    def tell(self, trial, values):
        import optuna
        if any(math.isnan(v) for v in values):
            self.study.tell(trial, state=optuna.trial.TrialState.FAIL)
        else:
            self.study.tell(trial, values)


def run(problem, method, tasks, parallel, seed):
    name, parameters, function, corner = problem
    search = OptunaMany(parameters, seed, len(corner)) if method == "optuna motpe" else \
        SluiceMany(parameters, method.removeprefix("sluice "), tasks, parallel, seed, len(corner))
    chance, running, clock, found = random.Random(f"{name} {seed}"), [], 0.0, []
    for count in range(tasks + parallel):
        if count >= parallel and running:
            clock, _, key, values = heapq.heappop(running)
            search.tell(key, values)
            found.append(values)
        asked = search.ask() if count < tasks else None
        if asked:
            heapq.heappush(running, (clock + .5 + chance.random(), count, asked[0], function(asked[1])))
    while running:
        _, _, key, values = heapq.heappop(running)
        search.tell(key, values)
        found.append(values)
    search.close()
    return hypervolume([v for v in found if not any(math.isnan(x) for x in v)], corner)


def report(args):
    methods = args.method or ["sluice auto", "sluice gp", "sluice tpe", "sluice nsga2", "sluice gde3", "optuna motpe"]
    print(f"Median hypervolume after {args.tasks} tasks, {args.parallel} at once, {len(args.seeds)} seeds\n")
    print("| problem | " + " | ".join(methods) + " |\n|" + " --- |" * (len(methods) + 1))
    for problem in HELD_MANY if args.held else MANY:
        medians = [statistics.median(run(problem, m, args.tasks, args.parallel, seed) for seed in args.seeds) for m in methods]
        print(f"| {problem[0]} | " + " | ".join(f"**{v:.4g}**" if v == max(medians) else f"{v:.4g}" for v in medians) + " |", flush=True)
