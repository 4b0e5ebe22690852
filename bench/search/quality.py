"""Runs of every method on every problem, kept in a file, and what they say: median regrets, ranks, a plot."""
import csv
import heapq
import math
import pathlib
import random
import statistics
import sys

from methods import FIDELITY_METHODS, METHODS, is_there, twin_of, version
from held import HELD
from problems import PROBLEMS

PEERS = pathlib.Path(__file__).with_name("peers.csv")
POINTS = 10  # of every run that are kept: after each tenth of its tasks
NOTHING = 1e-8  # a regret below is none: the least values are known to about this


def run(problem, method, tasks, parallel, seed):
    """The value of what looked best after every task (or task's worth of epochs)."""
    chance = random.Random(f"{problem.name} {seed}")
    search = {**METHODS, **FIDELITY_METHODS}[method](problem, tasks, parallel, seed)
    running, clock, best, spent, series, count = [], 0.0, (math.inf, math.inf), 0.0, [], 0
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
            told = value + chance.gauss(0, problem.noise) if problem.noise else value
            heapq.heappush(running, (clock + cost * (0.5 + chance.random()), count, key, told, value, epochs))
        if not running:
            break
        clock, _, key, told, value, epochs = heapq.heappop(running)
        search.tell(key, told)
        if (not epochs or round(epochs) == problem.epochs) and not math.isnan(told):
            best = min(best, (told, value))
        series.append(best[1])
    search.close()
    if method not in FIDELITY_METHODS:  # a finite space may be used up before
        series += [best[1]] * (tasks - len(series))
    return series


def regret(value, problem):
    over = value - problem.least
    return 0.0 if over < NOTHING else over


def digits(value):
    """The same for all, or equal regrets would differ by where they were kept."""
    return f"{value:.4g}"


def lines(*files):
    """[(problem, method, version, tasks, parallel, seed), regrets] of all; a later line replaces an earlier one."""
    rows = {}
    for path in files:
        if path.exists():
            with path.open() as f:
                for row in csv.reader(f):
                    rows[row[0], row[1], *row[3:6]] = row[:6], row[6:]
    return rows.values()


def read(args):
    """{(problem, method, seed): (version, regrets)} at the budget asked for."""
    rows = {}
    for (name, method, made_with, tasks, parallel, seed), series in lines(PEERS, args.results):
        if (int(tasks), int(parallel)) == (args.tasks, args.parallel) and int(seed) in args.seeds:
            rows[name, method, int(seed)] = made_with, [float(digits(float(v))) for v in series]
    return rows


def keep(args):
    """The peers' runs go where the next one who measures finds them: they take hours, and do not change."""
    rows = [(key, series) for key, series in lines(PEERS, args.results) if not key[1].startswith("sluice")]
    with PEERS.open("w", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        for key, series in sorted(rows, key=lambda row: (*row[0][:2], *map(int, row[0][3:]))):
            out.writerow([*key, *(digits(float(v)) for v in series)])


def problems(args):
    """Those held back; else those named; otherwise all without noise, or all with it."""
    if args.held:
        return HELD
    return [p for p in PROBLEMS if (p.name in args.problem if args.problem else bool(p.noise) == args.noisy)]


def is_wanted(args, problem, method):
    return problem in problems(args) and \
        (not args.method or any(method.startswith(m) for m in args.method)) and \
        (method not in FIDELITY_METHODS or problem.epochs)


def write(args, problem, method, seed, regrets):
    with args.results.open("a", newline="") as f:
        csv.writer(f, lineterminator="\n").writerow(
            [problem.name, method, version(method), args.tasks, args.parallel, seed, *map(digits, regrets)])


def measure(args):
    rows = read(args)
    methods = [m for m in (*METHODS, *FIDELITY_METHODS) if is_there(m)]
    for seed in args.seeds:
        for problem in problems(args):
            for method in methods:
                if not is_wanted(args, problem, method) or \
                        rows.get((problem.name, method, seed), [None])[0] == version(method):
                    continue
                twin = rows.get((problem.name, twin_of(method, problem, args.tasks, args.parallel), seed))
                if twin and twin[0] == version(method):
                    write(args, problem, method, seed, twin[1])
                    continue
                series = run(problem, method, args.tasks, args.parallel, seed)
                kept = [series[math.ceil(len(series) * (i + 1) / POINTS) - 1] for i in range(POINTS)]
                rows[problem.name, method, seed] = version(method), [regret(v, problem) for v in kept]
                write(args, problem, method, seed, rows[problem.name, method, seed][1])
        print(f"seed {seed}", file=sys.stderr, flush=True)


class Results:
    """Medians over the seeds, and ranks among methods on the problems that all of them have."""

    def __init__(self, args):
        self.runs = {}
        for (name, method, _), (_, series) in sorted(read(args).items(), key=lambda item: item[0][2]):
            self.runs.setdefault(method, {}).setdefault(name, []).append(series)
        self.names = [p.name for p in problems(args)]
        self.methods = [m for m in METHODS if all(self.seeds(m, n) for n in self.names) and
                        (not args.method or any(m.startswith(p) for p in args.method))]

    def seeds(self, method, name):
        return len(self.runs.get(method, {}).get(name, []))

    def median(self, method, name, point=-1):
        return statistics.median(series[point] for series in self.runs[method][name])

    def rank(self, method, name, among):
        """1: the best. Equal ones share the mean of their places."""
        values, own = [self.median(m, name) for m in among], self.median(method, name)
        return sum(v < own for v in values) + (values.count(own) + 1) / 2

    def mean_rank(self, method, among):
        return statistics.mean(self.rank(method, n, among) for n in self.names)

    def differs(self, a, b, name):
        """-1 where a is lower than b beyond chance (Mann and Whitney, two sides, 5 %), 1 where higher."""
        from scipy.stats import mannwhitneyu
        x, y = ([series[-1] for series in self.runs[m][name]] for m in (a, b))
        if sorted(x) == sorted(y) or mannwhitneyu(x, y).pvalue > 0.05:
            return 0
        return -1 if mannwhitneyu(x, y).statistic < len(x) * len(y) / 2 else 1


def show(title, head, rows):
    print(f"\n{title}\n")
    widths = [max(len(str(row[i])) for row in [head, *rows]) for i in range(len(head))]
    for row in [head, ["-" * width for width in widths], *rows]:
        print("| " + " | ".join(str(cell).ljust(width) for cell, width in zip(row, widths)) + " |")


def number(value):
    return "0" if value == 0 else f"{value:.3g}" if value >= 1e-3 else f"{value:.1e}"


def report(args):
    r = Results(args)
    if not r.methods:
        print("no method has results for all problems yet")
        return
    least = min(r.seeds(m, n) for m in r.methods for n in r.names)
    most = max(r.seeds(m, n) for m in r.methods for n in r.names)
    show(f"Median regret after {args.tasks} tasks, {args.parallel} at once, "
         f"{least if least == most else f'{least} to {most}'} seeds",
         ["problem", *r.methods],
         [[n, *(f"**{number(v)}**" if v == min(r.median(o, n) for o in r.methods) else number(v)
                for v in (r.median(m, n) for m in r.methods))] for n in r.names]
         + [["mean rank", *(f"{r.mean_rank(m, r.methods):.2f}" for m in r.methods)]])
    optuna = [m for m in r.methods if m.startswith("optuna")]
    if "sluice auto" in r.methods and optuna:
        report_auto(r, optuna)
    if "sluice de" in r.methods:
        report_evolution(r)
    report_fidelity(r)
    if args.plot:
        plot(r, args)


def report_fidelity(r):
    """Short runs first, at the same number of epochs in all, beside those that train everything to the end."""
    for name in (p.name for p in PROBLEMS if p.epochs and p.name in r.names):
        short = [m for m in FIDELITY_METHODS if r.seeds(m, name)]
        if short and "sluice auto" in r.methods:
            show(f"Short runs first: {name}, at the same number of epochs", ["", *short, "sluice auto"],
                 [["median regret", *(number(r.median(m, name)) for m in (*short, "sluice auto"))],
                  ["after half of them", *(number(r.median(m, name, POINTS // 2 - 1)) for m in (*short, "sluice auto"))],
                  ["mean", *(number(statistics.mean(s[-1] for s in r.runs[m][name])) for m in (*short, "sluice auto"))]])


def report_evolution(r):
    """The adaptive ones beside plain differential evolution only."""
    family = [m for m in ("sluice de", "sluice jde", "sluice shade", "sluice lshade", "sluice jso", "sluice dish") if m in r.methods]
    rows = []
    for m in family:
        pairs = [(r.median(m, n), r.median("sluice de", n)) for n in r.names]
        beyond = [r.differs(m, "sluice de", n) for n in r.names]
        rows.append([m.removeprefix("sluice "), f"{r.mean_rank(m, family):.2f}", sum(a < b for a, b in pairs),
                     sum(a == b for a, b in pairs), sum(a > b for a, b in pairs), beyond.count(-1), beyond.count(1)])
    show(f"Differential evolution on {len(r.names)} problems: places among these, and medians against plain `de`",
         ["", "mean rank", "lower", "same", "higher", "lower beyond chance", "higher beyond chance"],
         [row if row[0] != "de" else row[:2] + [""] * 5 for row in rows])


def report_auto(r, optuna):
    """auto beside the others only: our other strategies take no places."""
    among = ["sluice auto", *(m for m in r.methods if not m.startswith("sluice")), "sluice random"]
    among = [m for m in among if m in r.methods]
    show("`auto` among the peers", ["", *among], [["mean rank", *(f"{r.mean_rank(m, among):.2f}" for m in among)],
         ["last", *(sum(r.rank(m, n, among) >= len(among) for n in r.names) for m in among)]])
    single = min(optuna, key=lambda m: r.mean_rank(m, among))
    rows = []
    for n in r.names:
        own, other = r.median("sluice auto", n), r.median(single, n)
        best = min(optuna, key=lambda m: r.median(m, n))
        rows.append([n, number(own), number(other), "win" if own < other else "tie" if own == other else "**loss**",
                     {-1: "lower", 0: "", 1: "higher"}[r.differs("sluice auto", single, n)],
                     f"{number(r.median(best, n))} ({best.removeprefix('optuna ')})",
                     "win" if own < r.median(best, n) else "tie" if own == r.median(best, n) else "**loss**",
                     f"{r.rank('sluice auto', n, among):g} of {len(among)}"])
    count = len(rows)
    rows.append(["at or below", "", "", f"{sum('loss' not in row[3] for row in rows)} of {count}", "", "",
                 f"{sum('loss' not in row[6] for row in rows)} of {count}", ""])
    show(f"`auto` against the best single sampler of Optuna ({single}) and the best for each problem",
         ["problem", "auto", single, "", "beyond chance", "best of Optuna's", "", "place"], rows)


STYLES = {"sluice auto": ("#d62728", 2.2), "optuna default": ("#1f77b4", 1.4), "optuna tpe univariate": ("#17becf", 1.1),
          "optuna cmaes": ("#9467bd", 1.1), "optuna gp": ("#2ca02c", 1.4), "dehb": ("#ff7f0e", 1.1), "sluice random": ("#999999", 1.1)}


def plot(r, args):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    plt.rcParams.update({"svg.hashsalt": "sluice", "svg.fonttype": "none", "font.size": 8, "axes.spines.top": False,
                         "axes.spines.right": False})
    shown = [m for m in STYLES if m in r.methods]
    rows = (len(r.names) + 3) // 4
    figure, axes = plt.subplots(rows, 4, figsize=(11, 2.3 * rows), sharex=True)
    at = [args.tasks * (i + 1) // POINTS for i in range(POINTS)]
    for axis, name in zip(axes.flat, r.names):
        medians = {m: [r.median(m, name, i) for i in range(POINTS)] for m in shown}
        positive = [v for values in medians.values() for v in values if v > 0]
        floor = min(positive, default=1) / 3  # where none is left
        for m in reversed(shown):
            axis.plot(at, [max(v, floor) for v in medians[m]], color=STYLES[m][0], linewidth=STYLES[m][1],
                      label=m.removeprefix("sluice ") if m == "sluice random" else m)
        axis.set_yscale("log")
        axis.minorticks_off()
        axis.set_title(name, fontsize=9)
    for axis in list(axes.flat)[len(r.names):]:
        axis.axis("off")
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(handles[::-1], labels[::-1], loc="upper center", ncol=len(shown), frameon=False, fontsize=9)
    figure.supxlabel("tasks", fontsize=9)
    figure.supylabel("median regret", fontsize=9)
    figure.tight_layout(rect=(0, 0, 1, 0.97))
    args.plot.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(args.plot, metadata={"Date": None})
