"""Problems for comparing searches: functions that look like training runs, and surfaces of scikit-learn models measured
once (tables.csv, made by make_tables.py). Each has its parameters in sluice's own words, a function of a
dict of values (NaN: the run failed) and its least value. Where there is noise, what a search is told is the value and a
normal deviate of that size; what counts is the value itself, of the configuration that looked best."""
import csv
import math
import pathlib
from collections import namedtuple

Problem = namedtuple("Problem", "name parameters value least epochs noise", defaults=(None, 0))


def real(low, high, log=False):
    return {"min": float(low), "max": float(high), **({"scale": "log"} if log else {})}


def whole(low, high, log=False):
    return {"min": low, "max": high, "type": "int", **({"scale": "log"} if log else {})}


def branin(p):
    x, y = p["x"], p["y"]
    return (y - 5.1 / (4 * math.pi ** 2) * x * x + 5 / math.pi * x - 6) ** 2 + 10 * (1 - 1 / (8 * math.pi)) * math.cos(x) + 10


HARTMANN = [([10, 3, 17, 3.5, 1.7, 8], [.1312, .1696, .5569, .0124, .8283, .5886], 1.0),
            ([.05, 10, 17, .1, 8, 14], [.2329, .4135, .8307, .3736, .1004, .9991], 1.2),
            ([3, 3.5, 1.7, 10, 17, 8], [.2348, .1451, .3522, .2883, .3047, .6650], 3.0),
            ([17, 8, .05, 10, .1, 14], [.4047, .8828, .8732, .5743, .1091, .0381], 3.2)]


def hartmann(p):
    x = [p[f"x{i}"] for i in range(6)]
    return -sum(w * math.exp(-sum(a * (v - c) ** 2 for a, c, v in zip(scale, centre, x))) for scale, centre, w in HARTMANN)


def rosenbrock(p):
    x = [p[f"x{i}"] for i in range(5)]
    return sum(100 * (b - a * a) ** 2 + (1 - a) ** 2 for a, b in zip(x, x[1:]))


def rastrigin(p):
    return sum(v * v + 10 - 10 * math.cos(2 * math.pi * v) for v in p.values())


def ellipsoid(p):
    return sum(1e4 ** (i / 9) * (v - .3 - .04 * i) ** 2 for i, v in enumerate(p.values()))


def training(p):
    """A validation loss: the best learning rate depends on optimizer and batch size; too large a one diverges."""
    rate, sgd = math.log10(p["lr"]), p["optimizer"] == "sgd"
    best = (-1.5 if sgd else -3) + .3 * math.log2(p["batch"] / 64)
    if rate > best + 1.5:
        return math.nan
    loss = .25 * (rate - best) ** 2 + .02 * (math.log2(p["units"]) - 7) ** 2 + .5 * (p["dropout"] - .2) ** 2
    loss += .4 * (p["momentum"] - .9) ** 2 if sgd else {"adam": .02, "rmsprop": .05}[p["optimizer"]]
    return loss + {"relu": .01, "gelu": 0, "tanh": .1}[p["act"]]


def branches(p):
    """Three families of models with parameters of their own."""
    if p["model"] == "tree":
        return .1 + .02 * abs(p["depth"] - 7) + .1 * (math.log10(p["leaf"]) - 1) ** 2
    if p["model"] == "svm":
        return .05 + .05 * (math.log10(p["c"]) - 1) ** 2 + .05 * (math.log10(p["gamma"]) + 2.5) ** 2
    return .02 + .08 * (math.log10(p["lr"]) + 2.7) ** 2 + .03 * (p["layers"] - 3) ** 2 + .2 * (p["drop"] - .3) ** 2


def categories(p):
    wrong = [v != best for v, best in zip(p.values(), "cabdacbd")]
    return sum(wrong) + .5 * sum(a and b for a, b in zip(wrong, wrong[1:]))


def whole_numbers(p):
    return sum((v - t) ** 2 / 100 for v, t in zip(p.values(), (3, 17, 42, 77))) + .3 * ((p["a"] + p["b"]) % 3)


def many(p):
    """Twenty parameters of which four matter."""
    return ((p["x0"] - .2) ** 2 + 2 * (p["x1"] - .7) ** 2 + (p["x2"] - p["x0"]) ** 2 + .5 * (p["x3"] - .5) ** 2
            + .001 * sum(p[f"x{i}"] for i in range(4, 20)))


TABLES = {}
with (pathlib.Path(__file__).with_name("tables.csv")).open() as f:
    for row in csv.reader(f):
        TABLES.setdefault(row[0], []).append(row[1:])


def table(name, keys):
    return {tuple(row[:keys]): [float(v) for v in row[keys:]] for row in TABLES[name]}


SVC, KNN, FOREST, NETWORK = table("svc", 3), table("neighbours", 4), table("forest", 4), table("network", 4)
REGRESSION, BOOSTING = table("regression", 3), table("boosting", 5)


def near(value, low, high, count):
    return str(max(0, min(count - 1, round((math.log10(value) - low) / (high - low) * (count - 1)))))


def svc(p):
    return SVC[p["kernel"], near(p["c"], -3, 3, 12), near(p["gamma"], -5, 0, 12)][0]


def neighbours(p):
    return KNN[str(p["k"]), p["weights"], str(p["p"]), "0"][0]


def forest(p):
    return FOREST[str(p["trees"]), str(p["depth"]), str(p["leaf"]), str(p["features"])][0]


def network(p, epochs=27):
    at = {1: 0, 3: 1, 9: 2, 27: 3}[round(epochs)]
    return NETWORK[str(p["units"]), near(p["lr"], -4, -.5, 7), str(p["batch"]), str(round(math.log10(p["alpha"]) / 2.5 + 2))][at]


def between(measured, places, rest=()):
    """Linear between the measured points: places are numbers of the grid with a fraction."""
    if not places:
        return measured[tuple(str(i) for i in rest)][0]
    low = math.floor(places[0])
    part = places[0] - low
    value = between(measured, places[1:], (*rest, low)) * (1 - part)
    return value + part * between(measured, places[1:], (*rest, low + 1)) if part else value


def place(value, low, high, count):
    return max(0, min(count - 1, (math.log10(value) - low) / (high - low) * (count - 1)))


def regression(p):
    return between(REGRESSION, (place(p["c"], -1, 4, 16), place(p["gamma"], -5, 0, 16), place(p["epsilon"], -1, 2, 6)))


def boosting(p):
    at, penalty = place(p["rate"], -2, 0, 10), near(p["l2"], -2, 2, 5)
    low = math.floor(at)
    ends = [BOOSTING[str(min(i, 9)), str(p["leaves"]), str(p["least"]), penalty, str(p["share"])][0] for i in (low, low + 1)]
    return ends[0] + (at - low) * (ends[1] - ends[0])


UNIT6 = {f"x{i}": real(0, 1) for i in range(6)}
PROBLEMS = [
    Problem("branin", {"x": real(-5, 10), "y": real(0, 15)}, branin, 0.39788735),
    Problem("hartmann6", UNIT6, hartmann, -3.32236801),
    Problem("rosenbrock5", {f"x{i}": real(-2, 2) for i in range(5)}, rosenbrock, 0),
    Problem("rastrigin4", {f"x{i}": real(-5.12, 4.5) for i in range(4)}, rastrigin, 0),
    Problem("ellipsoid10", {f"x{i}": real(0, 1) for i in range(10)}, ellipsoid, 0),
    Problem("many20", {f"x{i}": real(0, 1) for i in range(20)}, many, 0),
    Problem("training7", {"lr": real(1e-6, 1, True), "batch": [8, 16, 32, 64, 128, 256],
                          "units": {"min": 16, "max": 512, "step": 16}, "optimizer": ["adam", "sgd", "rmsprop"],
                          "momentum": {**real(0, .99), "when": {"optimizer": "sgd"}}, "dropout": real(0, .6),
                          "act": ["relu", "gelu", "tanh"]}, training, 0),
    Problem("branches", {"model": ["tree", "svm", "net"],
                         "depth": {**whole(1, 20), "when": {"model": "tree"}}, "leaf": {**whole(1, 200, True), "when": {"model": "tree"}},
                         "c": {**real(1e-3, 1e3, True), "when": {"model": "svm"}},
                         "gamma": {**real(1e-6, 1, True), "when": {"model": "svm"}},
                         "lr": {**real(1e-6, 1, True), "when": {"model": "net"}},
                         "layers": {**whole(1, 8), "when": {"model": "net"}}, "drop": {**real(0, .8), "when": {"model": "net"}}},
            branches, .02),
    Problem("categories8", {k: list("abcd") for k in "abcdefgh"}, categories, 0),
    Problem("whole4", {k: whole(0, 99) for k in "abcd"}, whole_numbers, 0),
    Problem("svc digits", {"kernel": ["rbf", "poly", "sigmoid"], "c": real(1e-3, 1e3, True), "gamma": real(1e-5, 1, True)}, svc,
            min(v[0] for v in SVC.values())),
    Problem("knn digits", {"k": whole(1, 30), "weights": ["uniform", "distance"], "p": whole(1, 3)}, neighbours,
            min(v[0] for v in KNN.values())),
    Problem("forest digits", {"trees": [4, 8, 16, 32, 64], "depth": {"min": 2, "max": 14, "step": 2}, "leaf": [1, 2, 4, 8, 16],
                              "features": [1, 2, 4, 8, 16, 32]}, forest, min(v[0] for v in FOREST.values())),
    Problem("network digits", {"units": [8, 16, 32, 64], "lr": real(1e-4, 10 ** -.5, True), "batch": [16, 32, 64, 128],
                               "alpha": [1e-5, 10 ** -2.5, 1.0]}, network, min(v[3] for v in NETWORK.values()), 27),
    Problem("svr diabetes", {"c": real(.1, 1e4, True), "gamma": real(1e-5, 1, True), "epsilon": real(.1, 100, True)}, regression,
            min(v[0] for v in REGRESSION.values())),
    Problem("boosting cancer", {"rate": real(.01, 1, True), "leaves": [3, 5, 8, 16], "least": [2, 5, 10, 20, 40],
                                "l2": real(.01, 100, True), "share": [.3, 1.0]}, boosting, min(v[0] for v in BOOSTING.values())),
]

# About what another seed changes: of 899 digits at an error of 2 % it is 0.005.
NOISE = {"hartmann6": .1, "ellipsoid10": 1, "training7": .02, "branches": .01, "svc digits": .005, "svr diabetes": .01}
PROBLEMS += [p._replace(name=f"{p.name} noisy", noise=NOISE[p.name]) for p in PROBLEMS if p.name in NOISE]
