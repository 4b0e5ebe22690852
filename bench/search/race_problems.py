"""The problems of the race (race.py). Held back like held.py: written down before the work that they judge began, never
to tune on. Other functions, other constants and other seeds than problems.py, held.py and many.py. A least that is not
known exactly is marked: regrets are then only good for comparing methods, which is what the race does."""
import itertools
import math
import random

from held import numbers, turned
from problems import Problem, real, whole

SEEDS = range(9100, 9120)


def griewank(p):
    x = [v - 21.3 * math.cos(2 * i + .4) for i, v in enumerate(numbers(p))]
    wave = math.prod(math.cos(v / math.sqrt(i + 1)) for i, v in enumerate(x))
    return 1 + sum(v * v for v in x) / 400 - wave


def michalewicz(p):
    return 4.687658 - sum(math.sin(v) * math.sin((i + 1) * v * v / math.pi) ** 20 for i, v in enumerate(numbers(p)))


SHEKEL = list(zip(([4] * 4, [1] * 4, [8] * 4, [6] * 4, [3, 7, 3, 7], [2, 9, 2, 9], [5, 5, 3, 3], [8, 1, 8, 1], [6, 2, 6, 2],
                   [7, 3.6, 7, 3.6]), (.1, .2, .2, .4, .4, .6, .3, .7, .5, .5)))


def shekel(p):
    return 10.536443 - sum(1 / (c + sum((v - a) ** 2 for v, a in zip(numbers(p), at))) for at, c in SHEKEL)


def goldstein(p):
    x, y = numbers(p)
    a = 1 + (x + y + 1) ** 2 * (19 - 14 * x + 3 * x * x - 14 * y + 6 * x * y + 3 * y * y)
    b = 30 + (2 * x - 3 * y) ** 2 * (18 - 32 * x + 12 * x * x + 48 * y - 36 * x * y + 27 * y * y)
    return math.log(a * b / 3)


def powell(p):
    x = [v + .8 * (-1) ** i for i, v in enumerate(numbers(p))]
    return sum((a + 10 * b) ** 2 + 5 * (c - d) ** 2 + (b - 2 * c) ** 4 + 10 * (a - d) ** 4
               for a, b, c, d in (x[i:i + 4] for i in range(0, len(x), 4)))


TURNED16 = turned(16, "race cigar16")


def cigar(p):
    """A long narrow valley that lies across the axes."""
    x = [v - 1.1 * math.sin(i + 2) for i, v in enumerate(numbers(p))]
    along = [sum(a * b for a, b in zip(row, x)) for row in TURNED16]
    return along[0] ** 2 / 50 + 20 * sum(v * v for v in along[1:]) + 3 * (1 - math.cos(along[1]))


HARTMANN3 = [([3, 10, 30], [.3689, .1170, .2673], 1.0), ([.1, 10, 35], [.4699, .4387, .7470], 1.2),
             ([3, 10, 30], [.1091, .8732, .5547], 3.0), ([.1, 10, 35], [.0381, .5743, .8828], 3.2)]


def hartmann3(p):
    """Sixty parameters, three of which matter, and a slope over the rest."""
    x = [p[f"x{i}"] for i in (7, 33, 52)]
    value = -sum(w * math.exp(-sum(a * (v - c) ** 2 for a, c, v in zip(scale, centre, x))) for scale, centre, w in HARTMANN3)
    return 3.862782 + value + .002 * sum(abs(p[f"x{i}"] - .4) for i in range(60) if i not in (7, 33, 52))


def clauses(count, sites, seed):
    chance = random.Random(seed)
    return [(chance.random() + .2, [(chance.randrange(sites), chance.random() < .5) for _ in range(3)]) for _ in range(count)]


CLAUSES = clauses(90, 22, "race sat")


def satisfied(p):
    """The weight of the clauses that do not hold."""
    on = [v == "on" for v in numbers(p)]
    return sum(w for w, wanted in CLAUSES if all(on[i] != yes for i, yes in wanted))


def assignment(p):
    """Ten machines, each given one of five jobs: what a job costs there, and what neighbours with the same job cost."""
    jobs = numbers(p)
    cost = sum(random.Random(f"race cost {i} {j}").random() for i, j in enumerate(jobs))
    return cost + sum(random.Random(f"race pair {i} {k}").random() * .7 for i, k in itertools.combinations(range(10), 2) if jobs[i] == jobs[k])


def spring(p):
    """A spring under tension (Arora 1989), its weight in hundredths. A design that does not hold fails."""
    d, coil, turns = p["wire"], p["coil"], p["turns"]
    if d >= coil or 1 - coil ** 3 * turns / (71785 * d ** 4) > 0 or (d + coil) / 1.5 > 1 or \
            1 - 140.45 * d / (coil ** 2 * turns) > 0 or \
            (4 * coil ** 2 - d * coil) / (12566 * (coil * d ** 3 - d ** 4)) + 1 / (5108 * d * d) - 1 > 0:
        return math.nan
    return 100 * (turns + 2) * coil * d * d


def gears(p):
    """Four wheels for a ratio of 1/6.931 (Sandgren 1990), and few teeth."""
    return abs(math.log(p["a"] * p["b"] / (p["c"] * p["d"]) * 6.931)) + .002 * (sum(p.values()) - 48) / 4


def nested(p):
    """Three kinds of model, each with parameters of its own, some of which have their own."""
    augment = {"none": .05, "flip": .02, "mix": 0}[p["augment"]]
    if p["kind"] == "convolution":
        rate = math.log10(p["conv_lr"]) + (1.4 if p["conv_norm"] == "batch" else 2.5)
        return .11 + augment + .04 * rate ** 2 + .012 * (p["blocks"] - 6) ** 2 / 4 + (0 if p["conv_norm"] == "batch" else .03)
    if p["kind"] == "attention":
        loss = .1 + 2 * augment + .006 * (p["heads"] - 6) ** 2 + .03 * (math.log10(p["att_lr"]) + 3.4) ** 2
        warm = .02 * (math.log10(p["warm"]) - 2.8) ** 2 if p["schedule"] == "warm" else .06
        return loss + warm + .3 * (p["att_drop"] - .12) ** 2
    return .16 + augment / 2 + .01 * (math.log2(p["hidden"]) - 9) ** 2 + .02 * (math.log10(p["mlp_lr"]) + 2.8) ** 2


def piston(p):
    """The time of a piston's cycle (Kenett and Zacks 1998), to be half a second, with little gas."""
    a = p["p0"] * p["s"] + 19.62 * p["m"] - p["k"] * p["v0"] / p["s"]
    v = p["s"] / (2 * p["k"]) * (math.sqrt(a * a + 4 * p["k"] * p["p0"] * p["v0"] / p["t0"] * p["ta"]) - a)
    cycle = 2 * math.pi * math.sqrt(p["m"] / (p["k"] + p["s"] ** 2 * p["p0"] * p["v0"] / p["t0"] * p["ta"] / v ** 2))
    return abs(cycle - .5) + .8 * p["v0"] + .004 * (p["m"] - 30)


def wing(p):
    """The weight of a light aircraft's wing (Forrester 2008), in hundred pounds."""
    sweep = math.cos(math.radians(p["sweep"]))
    return .00036 * p["area"] ** .758 * p["fuel"] ** .0035 * (p["aspect"] / sweep ** 2) ** .6 * p["q"] ** .006 * p["taper"] ** .04 \
        * (100 * p["thick"] / sweep) ** -.3 * (p["load"] * p["gross"]) ** .49 + p["area"] * p["paint"] / 100 \
        + .35 * max(0, 9 - p["aspect"]) + 4 * (p["taper"] - .7) ** 2


def schedule(p):
    """A language model's loss: rate, batch and warm-up hang together; it diverges where the rate is high and the warm-up short."""
    rate, batch, warm = math.log10(p["lr"]), math.log2(p["batch"]), math.log10(p["warmup"])
    edge = -1.9 + .25 * (warm - 2) - .2 * math.log2(p["width"] / 256)
    if rate > edge:
        return math.nan
    best = -3.1 - .25 * math.log2(p["width"] / 256) + .15 * (batch - 5)
    loss = 2.8 + .25 * 2 ** (-(math.log2(p["width"]) - 7) / 2) + .18 * (rate - best) ** 2 + .05 * (warm - 2.6) ** 2
    return loss + .03 * (batch - 6.2) ** 2 + {"cosine": 0, "linear": .015, "constant": .09}[p["decay"]] \
        + .08 * (math.log10(1 - p["beta2"]) + 1.6) ** 2 + .02 * (math.log10(p["weight_decay"]) + 1.2) ** 2


def line(count, low, high):
    return {f"x{i}": real(low, high) for i in range(count)}


WING = {"area": real(150, 200), "fuel": real(220, 300), "aspect": real(6, 10), "sweep": real(-10, 10), "q": real(16, 45),
        "taper": real(.5, 1), "thick": real(.08, .18), "load": real(2.5, 6), "gross": real(1700, 2500), "paint": real(.025, .08)}
SCHEDULE = {"lr": real(1e-6, 1e-1, True), "batch": {"values": [8, 16, 32, 64, 128, 256]}, "warmup": whole(1, 10000, True),
            "width": {"min": 128, "max": 1024, "step": 64}, "decay": ["cosine", "linear", "constant"], "beta2": real(.9, .9999),
            "weight_decay": real(1e-4, 1, True)}
NESTED = {"augment": ["none", "flip", "mix"], "kind": ["convolution", "attention", "perceptron"],
          "conv_lr": {**real(1e-5, 1, True), "when": {"kind": "convolution"}},
          "conv_norm": {"values": ["batch", "none"], "when": {"kind": "convolution"}},
          "blocks": {**whole(1, 16), "when": {"kind": "convolution"}},
          "att_lr": {**real(1e-6, 1e-1, True), "when": {"kind": "attention"}},
          "heads": {**whole(1, 12), "when": {"kind": "attention"}},
          "att_drop": {**real(0, .5), "when": {"kind": "attention"}},
          "schedule": {"values": ["plain", "warm"], "when": {"kind": "attention"}},
          "warm": {**whole(10, 10000, True), "when": {"schedule": "warm"}},
          "hidden": {**whole(16, 4096, True), "when": {"kind": "perceptron"}},
          "mlp_lr": {**real(1e-6, 1, True), "when": {"kind": "perceptron"}}}

RACE = [
    Problem("griewank7", line(7, -60, 40), griewank, 0),
    Problem("michalewicz5", line(5, 0, math.pi), michalewicz, 0),
    Problem("shekel4", line(4, 0, 10), shekel, 0),
    Problem("goldstein2", line(2, -2, 2), goldstein, 0),
    Problem("powell8", line(8, -4, 5), powell, 0),
    Problem("cigar16", line(16, -3, 3), cigar, 0),
    Problem("hartmann3 in 60", line(60, 0, 1), hartmann3, 0),
    Problem("clauses22", {f"v{i}": ["off", "on"] for i in range(22)}, satisfied, 0),  # not known; 0 would be all
    Problem("jobs10", {f"m{i}": list("abcde") for i in range(10)}, assignment, 0),  # not known
    Problem("spring failing", {"wire": real(.05, .2), "coil": real(.25, 1.3), "turns": real(2, 15)}, spring, 0),  # about 1.27
    Problem("gears4", {k: whole(12, 60) for k in "abcd"}, gears, 0),  # not known
    Problem("nested", NESTED, nested, 0),  # about 0.1
    Problem("piston7", {"m": real(30, 60), "s": real(.005, .02), "v0": real(.002, .01), "k": real(1000, 5000),
                        "p0": real(90000, 110000), "ta": real(290, 296), "t0": real(340, 360)}, piston, 0),  # not known
    Problem("wing10", WING, wing, 0),  # about 1.2
    Problem("schedule failing", SCHEDULE, schedule, 0),  # about 2.9
    Problem("wing10 noisy", WING, wing, 0, noise=.1),
    Problem("schedule noisy", SCHEDULE, schedule, 0, noise=.05),
    Problem("michalewicz5 noisy", line(5, 0, math.pi), michalewicz, 0, noise=.1),
]


def zdt6(p):
    x, *rest = numbers(p)
    first = 1 - math.exp(-4 * x) * math.sin(6 * math.pi * x) ** 6
    g = 1 + 9 * (sum(abs(v - .62) / .62 for v in rest) / len(rest)) ** .25
    return [first, g * (1 - (first / g) ** 2)]


def dtlz7(p):
    *front, a, b, c = numbers(p)
    g = 1 + 3 * sum(abs(v - .35) / .65 for v in (a, b, c))
    return [*front, (1 + g) * (3 - sum(f / (1 + g) * (1 + math.sin(3 * math.pi * f)) for f in front)) / 2]


def viennet(p):
    x, y = numbers(p)
    r = x * x + y * y
    return [.5 * r + math.sin(r), (3 * x - 2 * y + 4) ** 2 / 8 + (x - y + 1) ** 2 / 27 + 15, 1 / (r + 1) - 1.1 * math.exp(-r)]


def truss(p):
    """Volume and displacement of a truss of four bars (Stadler and Dauer 1992)."""
    a, b, c, d = numbers(p)
    return [200 * (2 * a + math.sqrt(2) * b + math.sqrt(c) + d) / 1000,
            (2 / a + 2 * math.sqrt(2) / b - 2 * math.sqrt(2) / c + 2 / d)]


def crash(p):
    """Weight, acceleration and intrusion of a car in a crash (Liao 2008)."""
    a, b, c, d, e = numbers(p)
    return [(1640.2823 + 2.3573285 * a + 2.3220035 * b + 4.5688768 * c + 7.7213633 * d + 4.4559504 * e) / 1000,
            6.5856 + 1.15 * a - 1.0427 * b + .9738 * c + .8364 * d - .3695 * a * d + .0861 * a * e + .3628 * b * d - .1106 * a * a
            - .3437 * c * c + .1764 * d * d,
            -.0551 + .0181 * a + .1024 * b + .0421 * c - .0073 * a * b + .024 * b * c - .0118 * b * d - .0204 * c * d - .008 * c * e
            - .0241 * b * b + .0109 * d * d]


def turned_pair(p):
    """Two bent bowls that lie across the axes, with waves."""
    x = [v - .5 for v in numbers(p)]
    y = [sum(a * b for a, b in zip(row, x)) for row in TURNED9]
    near = [sum((v - s * .25 * math.cos(i)) ** 2 for i, v in enumerate(y)) for s in (1, -1)]
    return [n ** .7 + .03 * (1 - math.cos(11 * y[k])) for k, n in enumerate(near)]


TURNED9 = turned(9, "race pair9")


def loss_and_energy(p):
    """What `schedule` says, and the energy of the training in MJ."""
    loss = schedule(p)
    return [loss, (p["width"] / 256) ** 1.7 * (1.2 + 24 / p["batch"]) * {"cosine": 1.02, "linear": 1.01, "constant": 1}[p["decay"]]]


def error_and_size(p):
    """What `nested` says, and the megabytes of the model."""
    size = {"convolution": lambda: .6 * p["blocks"] ** 1.5, "attention": lambda: 1.5 * p["heads"] ** 1.3,
            "perceptron": lambda: p["hidden"] / 60}[p["kind"]]()
    return [nested(p), math.log(1 + size)]


# (name, parameters, function, the corner that the hypervolume is measured from)
RACE_MANY = [
    ("zdt6 d8", line(8, 0, 1), zdt6, [1.05, 9]),
    ("dtlz7 d5 m3", line(5, 0, 1), dtlz7, [1.1, 1.1, 10]),
    ("viennet2 m3", line(2, -3, 3), viennet, [9.5, 60, .15]),
    ("truss4", {"a": real(1, 3), "b": real(math.sqrt(2), 3), "c": real(math.sqrt(2), 3), "d": real(1, 3)}, truss, [3.2, 4.2]),
    ("crash5 m3", line(5, 1, 3), crash, [1.7, 11.5, .27]),
    ("turned pair9", line(9, 0, 1), turned_pair, [1.6, 1.6]),
    ("loss and energy", SCHEDULE, loss_and_energy, [5.0, 40.0]),
    ("error and size", NESTED, error_and_size, [.6, 5.0]),
]


def curve(seed, epochs, slow):
    """The validation loss of a network by epoch, one of a family. High rates are quick at first and end higher, small ones
    are slow, wide networks without decay turn up again: so curves cross, and short runs mislead more where `slow` is large."""
    chance = random.Random(seed)
    best_lr, best_width, best_decay, best_drop = chance.uniform(-3.6, -2), chance.uniform(6, 9), chance.uniform(-4, -2.5), chance.uniform(.05, .35)
    kinds = {k: chance.uniform(0, .08) for k in ("relu", "gelu", "tanh")}

    def loss(p, at=epochs):
        lr, width, batch = math.log10(p["lr"]), math.log2(p["width"]), math.log2(p["batch"])
        off = lr - best_lr - .2 * (batch - 6)
        if off > 1.6:
            return 2.3 + .2 * off
        end = .25 + .06 * (off + .4 * slow) ** 2 + .015 * (width - best_width) ** 2 + .5 * (p["drop"] - best_drop) ** 2 \
            + .012 * (math.log10(p["decay"]) - best_decay) ** 2 + kinds[p["act"]] + .008 * (batch - 5.5) ** 2
        speed = math.exp(1.5 * min(off + .4 * slow, 1.5) - slow * .2 * (width - best_width) - slow * (p["drop"] - best_drop))
        gone = 1 - math.exp(-3.5 * (at * speed / epochs) ** (.8 if slow > 1 else .5))
        turn = .04 * max(0, width - best_width) * max(0, best_decay + 1.2 - math.log10(p["decay"]) + .5) * max(0, at / epochs - .45) ** 1.5
        jitter = random.Random(f"{seed} {lr:.6f} {width:.3f} {p['drop']:.6f} {round(at)}").gauss(0, .004)
        return 2.3 - (2.3 - min(end, 2.2)) * gone + turn + jitter
    return loss


CURVE = {"lr": real(1e-5, 1, True), "width": whole(16, 1024, True), "batch": {"values": [16, 32, 64, 128, 256]}, "drop": real(0, .6),
         "decay": real(1e-6, 1e-1, True), "act": ["relu", "gelu", "tanh"]}
RACE_CURVES = [Problem(f"curve {name}", CURVE, curve(f"race {name}", epochs, slow), 0, epochs)
               for name, epochs, slow in (("quick27", 27, .3), ("quick81", 81, .3), ("even27", 27, 1.0), ("even81", 81, 1.0),
                                          ("slow54", 54, 2.0), ("slow81", 81, 2.0))]
