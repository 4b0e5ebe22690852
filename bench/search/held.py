"""Problems that are held back: nothing was tuned on them, and nothing may be. They were written down before the work that
they judge began. Run them once, when that work is done, with the seeds below, and publish what they say. Who wants to
tune takes problems.py or bench/search-compare. Each is like a problem of problems.py; the least is known, or the least
that anything has found (marked)."""
import math
import random

from problems import Problem, real, whole

SEEDS = range(7000, 7010)


def numbers(p):
    return list(p.values())


def levy(p):
    w = [1 + (v - 1.7) / 4 for v in numbers(p)]
    inner = sum((a - 1) ** 2 * (1 + 10 * math.sin(math.pi * a + 1) ** 2) for a in w[:-1])
    return math.sin(math.pi * w[0]) ** 2 + inner + (w[-1] - 1) ** 2 * (1 + math.sin(2 * math.pi * w[-1]) ** 2)


def schwefel(p):
    return 418.982887272434 * len(p) - sum(v * math.sin(math.sqrt(abs(v))) for v in numbers(p))


def styblinski(p):
    return sum(v ** 4 - 16 * v ** 2 + 5 * v for v in numbers(p)) / 2 + 39.16616570377142 * len(p)


def shifted_ackley(p):
    x = [v - .37 * math.sin(3 * i + 1) * 8 for i, v in enumerate(numbers(p))]
    return (20 - 20 * math.exp(-.2 * math.sqrt(sum(v * v for v in x) / len(x))) + math.e
            - math.exp(sum(math.cos(2 * math.pi * v) for v in x) / len(x)))


def zakharov(p):
    x = [v - 2 + .4 * i for i, v in enumerate(numbers(p))]
    along = sum(.5 * (i + 1) * v for i, v in enumerate(x))
    return sum(v * v for v in x) + along ** 2 + along ** 4


def dixon_price(p):
    x = numbers(p)
    return (x[0] - 1) ** 2 + sum((i + 1) * (2 * x[i] ** 2 - x[i - 1]) ** 2 for i in range(1, len(x)))


def turned(dims, seed):
    """An orthogonal matrix: Gram and Schmidt on normal deviates."""
    chance, rows = random.Random(seed), []
    for _ in range(dims):
        row = [chance.gauss(0, 1) for _ in range(dims)]
        for other in rows:
            along = sum(a * b for a, b in zip(row, other))
            row = [a - along * b for a, b in zip(row, other)]
        length = math.sqrt(sum(a * a for a in row))
        rows.append([a / length for a in row])
    return rows


TURNED30 = turned(30, "held turned30")


def turned_ellipsoid(p):
    x = [v - .6 * math.cos(i) for i, v in enumerate(numbers(p))]
    return sum(1000 ** (i / 29) * sum(a * b for a, b in zip(row, x)) ** 2 for i, row in enumerate(TURNED30))


def hidden(p):
    """Forty-five parameters, a curved valley in four of them."""
    a, b, c, d = (p[f"x{i}"] for i in (3, 17, 28, 41))
    return (10 * (b - 2 * (a - .4) ** 2 - .3) ** 2 + (a - .7) ** 2 + 3 * (c - d) ** 2 + 2 * (c + d - .5) ** 2
            + .3 * (1 - math.cos(9 * (d - .25))))


def landscape(sites, choices, near, seed):
    """An NK landscape: what a site is worth depends on it and on `near` others."""
    def worth(p):
        genes, total = numbers(p), 0
        for i in range(sites):
            key = [genes[i]] + [genes[(i + 1 + 3 * k) % sites] for k in range(near)]
            total += random.Random(f"{seed} {i} {key}").random()
        return 1 - total / sites
    return worth


def cells(p):
    """A network of 24 places with one of three operations each: right ones, and pairs that only work together."""
    wanted = "abcacbbcaabccabacbbacabc"
    genes = numbers(p)
    wrong = [g != w for g, w in zip(genes, wanted)]
    together = sum(3 * (wrong[i] != wrong[i + 12]) for i in range(0, 12, 2))
    return (sum(wrong) * (1 + .02 * sum(wrong)) + together) / 10


def beam(p):
    """A welded beam (Deb 1991). A design that does not hold fails: two thirds of the space."""
    h, length, t, b = p["h"], p["l"], p["t"], p["b"]
    force, arm = 6000, 14
    shear = force / (math.sqrt(2) * h * length)
    bend = force * (arm + length / 2)
    radius = math.sqrt(length ** 2 / 4 + ((h + t) / 2) ** 2)
    inertia = 2 * math.sqrt(2) * h * length * (length ** 2 / 12 + ((h + t) / 2) ** 2)
    twist = bend * radius / inertia
    stress = math.sqrt(shear ** 2 + shear * twist * length / radius + twist ** 2)
    buckling = 4.013 * 30e6 * math.sqrt(t ** 2 * b ** 6 / 36) / arm ** 2 * (1 - t / (2 * arm) * math.sqrt(30e6 / 48e6))
    if stress > 13600 or 504000 / (b * t * t) > 30000 or h > b or 65856000 / (30e6 * b * t ** 3) > .25 or force > buckling:
        return math.nan
    return 1.10471 * h * h * length + .04811 * t * b * (14 + length)


def memory(p):
    """A network that does not fit into memory where width, depth and batch are large, and diverges where the rate is."""
    width, depth, batch, rate = math.log2(p["width"]), p["depth"], math.log2(p["batch"]), math.log10(p["lr"])
    if width + math.log2(depth) + batch > 18.5 or rate > -1.2 - .12 * depth + .1 * batch + (.5 if p["norm"] == "layer" else 0):
        return math.nan
    loss = .3 + .35 * math.exp(-.25 * (width - 4)) + .3 * math.exp(-.4 * depth) + .02 * max(0, depth - 9)
    best = -2.2 - .12 * depth + .1 * batch + (.3 if p["norm"] == "layer" else 0)
    loss += .12 * (rate - best) ** 2 + .15 * (p["dropout"] - .15) ** 2 + .004 * (batch - 7) ** 2
    loss += .03 * (math.log10(p["decay"]) + 3.5) ** 2 + {"layer": 0, "batch": .01, "none": .08}[p["norm"]]
    return loss


def pipeline(p):
    """A choice of model, of what comes before it, and of the optimiser of one of them."""
    scaled = {"none": .06, "standard": 0, "rank": .015}[p["scaler"]]
    if p["model"] == "linear":
        return .21 + scaled / 3 + .01 * (math.log10(p["penalty"]) + 1) ** 2
    if p["model"] == "boosting":
        rate, rounds = math.log10(p["rate"]), math.log10(p["rounds"])
        return .085 + .05 * (rate + rounds - 1.2) ** 2 + .01 * (rate + 1.5) ** 2 + .004 * (p["leaves"] - 12) ** 2 / 10
    rate = math.log10(p["step"]) - (-2 if p["optimiser"] == "sgd" else -3.3)
    loss = .08 + scaled + .03 * rate ** 2 + .01 * (math.log2(p["units"]) - 7) ** 2
    return loss + (.05 * (p["momentum"] - .85) ** 2 if p["optimiser"] == "sgd" else .012)


def borehole(p):
    """Flow through a borehole (Harper and Gupta 1983), to be as small as it can be."""
    ratio = math.log(p["r"] / p["rw"])
    return 2 * math.pi * p["tu"] * (p["hu"] - p["hl"]) / (
        ratio * (1 + 2 * p["l"] * p["tu"] / (ratio * p["rw"] ** 2 * p["kw"]) + p["tu"] / p["tl"]))


def target_flow(p):
    """A borehole with a flow of 60, at little cost."""
    return (math.log(borehole(p) / 60)) ** 2 + .05 * p["rw"] / .15 + .02 * (p["l"] - 1120) / 560


def smooth_noisy(p):
    """Friedman's first function, bent into a valley."""
    a, b, c, d, e, *_ = numbers(p)
    return abs(10 * math.sin(math.pi * a * b) + 20 * (c - .5) ** 2 + 10 * d + 5 * e - 9) + 4 * (c - .8) ** 2 + 3 * (a - .2) ** 2


def line(count, low, high):
    return {f"x{i}": real(low, high) for i in range(count)}


HELD = [
    Problem("levy4", line(4, -10, 10), levy, 0),
    Problem("schwefel3", line(3, -500, 500), schwefel, 0),
    Problem("styblinski6", line(6, -5, 5), styblinski, 0),
    Problem("ackley12", line(12, -10, 8), shifted_ackley, 0),
    Problem("zakharov8", line(8, -5, 10), zakharov, 0),
    Problem("dixon-price15", line(15, -3, 3), dixon_price, 0),
    Problem("turned30", line(30, -2, 2), turned_ellipsoid, 0),
    Problem("hidden45", line(45, 0, 1), hidden, 0),
    Problem("landscape12", {f"g{i}": list("pqrs") for i in range(12)}, landscape(12, 4, 2, "held nk"), 0),  # below: not known
    Problem("cells24", {f"c{i}": list("abc") for i in range(24)}, cells, 0),
    Problem("beam failing", {"h": real(.125, 5), "l": real(.1, 10), "t": real(.1, 10), "b": real(.1, 5)}, beam, 0),  # about 2.4
    Problem("memory failing", {"width": whole(16, 4096, True), "depth": whole(1, 16), "batch": [16, 32, 64, 128, 256, 512, 1024],
                               "lr": real(1e-6, 1, True), "dropout": real(0, .7), "decay": real(1e-6, .1, True),
                               "norm": ["none", "batch", "layer"]}, memory, 0),  # about 0.35
    Problem("pipeline", {"scaler": ["none", "standard", "rank"], "model": ["linear", "boosting", "network"],
                         "penalty": {**real(1e-4, 1e3, True), "when": {"model": "linear"}},
                         "rate": {**real(1e-3, 1, True), "when": {"model": "boosting"}},
                         "rounds": {**whole(10, 2000, True), "when": {"model": "boosting"}},
                         "leaves": {**whole(2, 64), "when": {"model": "boosting"}},
                         "units": {**whole(8, 1024, True), "when": {"model": "network"}},
                         "step": {**real(1e-6, 1, True), "when": {"model": "network"}},
                         "optimiser": {"values": ["adam", "sgd"], "when": {"model": "network"}},
                         "momentum": {**real(0, .99), "when": {"optimiser": "sgd"}}}, pipeline, .08),
    Problem("target flow", {"rw": real(.05, .15), "r": real(100, 50000, True), "tu": real(63070, 115600), "hu": real(990, 1110),
                            "tl": real(63.1, 116), "hl": real(700, 820), "l": real(1120, 1680), "kw": real(1500, 15000)},
            target_flow, 0),  # about 0.03
    Problem("friedman10 noisy", line(10, 0, 1), smooth_noisy, 0, noise=.5),  # nearly 0
    Problem("memory noisy", {"width": whole(16, 1024, True), "depth": whole(1, 12), "batch": [16, 32, 64, 128],
                             "lr": real(1e-6, 1, True), "dropout": real(0, .7), "decay": real(1e-6, .1, True),
                             "norm": ["none", "batch", "layer"]}, memory, 0, noise=.01),
]


def fonseca(p):
    x = numbers(p)
    return [1 - math.exp(-sum((v - side / math.sqrt(len(x))) ** 2 for v in x)) for side in (1, -1)]


def kursawe(p):
    x = numbers(p)
    return [sum(-10 * math.exp(-.2 * math.hypot(a, b)) for a, b in zip(x, x[1:])),
            sum(abs(v) ** .8 + 5 * math.sin(v ** 3) for v in x)]


def poloni(p):
    x, y = p["x"], p["y"]
    a = .5 * math.sin(1) - 2 * math.cos(1) + math.sin(2) - 1.5 * math.cos(2)
    b = 1.5 * math.sin(1) - math.cos(1) + 2 * math.sin(2) - .5 * math.cos(2)
    c = .5 * math.sin(x) - 2 * math.cos(x) + math.sin(y) - 1.5 * math.cos(y)
    d = 1.5 * math.sin(x) - math.cos(x) + 2 * math.sin(y) - .5 * math.cos(y)
    return [1 + (a - c) ** 2 + (b - d) ** 2, (x + 3) ** 2 + (y + 1) ** 2]


def three_bowls(p):
    x = numbers(p)
    return [sum((v - at * (1 if i % 2 else .7)) ** 2 for i, v in enumerate(x)) for at in (.2, .5, .8)]


def loss_and_time(p):
    """What `memory` says, and how long a step takes."""
    loss = memory(p)
    return [loss, p["depth"] * (.2 + p["width"] / 256) * (1 + 64 / p["batch"])]


# (name, parameters, function, the corner that the hypervolume is measured from)
HELD_MANY = [
    ("fonseca8", line(8, -4, 4), fonseca, [1.1, 1.1]),
    ("kursawe5", line(5, -5, 5), kursawe, [-15, 25]),
    ("poloni2", {"x": real(-math.pi, math.pi), "y": real(-math.pi, math.pi)}, poloni, [60, 40]),
    ("three bowls6", line(6, 0, 1), three_bowls, [1.5, 1.5, 1.5]),
    ("loss and time", {"width": whole(16, 1024, True), "depth": whole(1, 12), "batch": [16, 32, 64, 128],
                       "lr": real(1e-6, 1, True), "dropout": real(0, .7), "decay": real(1e-6, .1, True),
                       "norm": ["none", "batch", "layer"]}, loss_and_time, [1.0, 60.0]),
]
