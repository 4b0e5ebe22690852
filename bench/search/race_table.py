"""What the lines of a race say, in Markdown: medians, places, and where `auto` wins and loses."""
import bisect
import collections
import csv
import math
import statistics

from race import CURVE_MARKS, MARKS, METHODS

OWN = "sluice auto"
SURE = .05


def number(value):
    return f"{value:.3g}" if value == 0 or abs(value) >= 1e-3 else f"{value:.1e}"


def number_range(counts):
    return " to ".join(map(str, sorted({min(counts), max(counts)})))


def read(files):
    """{(kind, parallel, mark): {problem: {method: {seed: value}}}}, and {(kind, method): [CPU of an ask at each budget]}.
    Where a method does not look at the budget, a longer run is read at the shorter mark."""
    runs, cpu = collections.defaultdict(lambda: collections.defaultdict(lambda: collections.defaultdict(dict))), collections.defaultdict(dict)
    for path in files:
        with path.open() as f:
            for row in csv.DictReader(f):
                kind, method, tasks = row["kind"], row["method"], int(row["tasks"])
                cpu[kind, method].setdefault(tasks, []).append(float(row["cpu_ms"]))
                by_budget = METHODS[kind].get(method, (None, [], True))[2]
                for mark, _, value in (pair.partition(":") for pair in row["values"].split()):
                    if kind != "curve" and by_budget and int(mark) != tasks:
                        continue
                    runs[kind, int(row["parallel"]), mark][row["problem"]][method].setdefault(int(row["seed"]), float(value))
    return runs, cpu


def chance_of_less(a, b):
    """Mann and Whitney, one side, exact and with ties: how likely ranks as low as those of `a` are where all of `a` and `b`
    come from one source. The sums that as many of all ranks can have are counted in one number, a digit for each sum."""
    order = sorted([*a, *b])
    splits = math.comb(len(order), len(a))
    width = splits.bit_length() + 1

    def rank(value):
        return bisect.bisect_left(order, value) + bisect.bisect_right(order, value) + 1  # twice the mean of those that tie

    ways = [1] + [0] * len(a)
    for value in order:
        for size in range(len(a), 0, -1):
            ways[size] += ways[size - 1] << rank(value) * width
    low = ways[-1] & ((1 << (sum(map(rank, a)) + 1) * width) - 1)
    return low % ((1 << width) - 1) / splits  # the sum of the digits


class Field:
    """All methods at one budget and parallelism."""

    def __init__(self, kind, problems):
        self.sign = -1 if kind == "many" else 1  # hypervolume: more is better
        self.values = {name: {m: [self.sign * v for v in seeds.values()] for m, seeds in methods.items()} for name, methods in problems.items()}
        self.medians = {name: {m: statistics.median(seeds.values()) for m, seeds in methods.items()} for name, methods in problems.items()}
        self.counts = [len(seeds) for methods in problems.values() for m, seeds in methods.items()]
        self.names = sorted(self.medians)
        order = list(METHODS[kind])
        self.methods = sorted({m for row in self.medians.values() for m in row}, key=lambda m: order.index(m) if m in order else 99)
        self.everywhere = [m for m in self.methods if all(m in self.medians[n] for n in self.names)]

    def best(self, name, among):
        return min((m for m in among if m in self.medians[name]), key=lambda m: self.sign * self.medians[name][m])

    def rank(self, name, method):
        values = [self.sign * self.medians[name][m] for m in self.everywhere]
        own = self.sign * self.medians[name][method]
        return sum(v < own for v in values) + (values.count(own) + 1) / 2

    def table(self):
        print("| problem | " + " | ".join(self.methods) + " |\n|" + " --- |" * (len(self.methods) + 1))
        for name in self.names:
            row, first = self.medians[name], self.best(name, self.methods)
            print(f"| {name} | " + " | ".join(
                "-" if m not in row else f"**{number(row[m])}**" if row[m] == row[first] else number(row[m]) for m in self.methods) + " |")
        print("| mean rank | " + " | ".join(f"{statistics.mean(self.rank(n, m) for n in self.names):.2f}" if m in self.everywhere else "-"
                                            for m in self.methods) + " |")
        counts = {m: [len(row[m]) for row in self.values.values() if m in row] for m in self.methods}
        print("| seeds | " + " | ".join(number_range(counts[m]) for m in self.methods) + " |")

    def rivals(self, name):
        """Of a problem that both `auto` and others were run on."""
        return [m for m in self.methods if not m.startswith("sluice") and m in self.medians[name] and OWN in self.medians[name]]

    def certainty(self):
        """What more seeds would hardly change. Ahead: of every rival, each at the level SURE; that needs no correction, since
        all must hold. Behind: one of the rivals, any of which could be it by luck, so that the level is divided among them."""
        said = collections.defaultdict(list)
        for name in self.names:
            own, rivals = self.values[name].get(OWN), self.rivals(name)
            if not rivals:
                continue
            ahead = {m: chance_of_less(own, self.values[name][m]) for m in rivals}
            behind = {m: chance_of_less(self.values[name][m], own) for m in rivals}
            worst, best = max(ahead, key=ahead.get), min(behind, key=behind.get)
            if ahead[worst] <= SURE:
                said["ahead"].append(name)
            elif behind[best] <= SURE / len(rivals):
                said["behind"].append(f"{name} ({best}, {len(self.values[name][best])} seeds)")
            else:
                said["open"].append(f"{name} ({', '.join(m for m in rivals if ahead[m] > SURE)})")
        count = sum(map(len, said.values()))
        print(f"\nSure of `auto` (Mann-Whitney, 5 %): ahead of all rivals on {len(said['ahead'])} of {count}: {', '.join(said['ahead']) or 'none'}. "
              f"Behind one on {len(said['behind'])}: {', '.join(said['behind']) or 'none'}. Open on {len(said['open'])}, with whom: "
              f"{', '.join(said['open']) or 'none'}.")

    def each(self):
        """`auto` beside one rival at a time."""
        print("\n| rival | `auto` at it or ahead | surely ahead | surely behind | seeds |\n| --- | --- | --- | --- | --- |")
        for rival in self.methods:
            names = [n for n in self.names if rival in self.rivals(n)]
            if not names:
                continue
            level = sum(self.sign * self.medians[n][OWN] <= self.sign * self.medians[n][rival] for n in names)
            pairs = [(self.values[n][OWN], self.values[n][rival]) for n in names]
            ahead, behind = (sum(chance_of_less(*pair) <= SURE for pair in side) for side in (pairs, [(b, a) for a, b in pairs]))
            seeds = [len(b) for _, b in pairs]
            print(f"| {rival} | {level} of {len(names)} | {ahead} | {behind} | {number_range(seeds)} |")

    def verdict(self):
        wins, losses, last = 0, [], []
        for name in self.names:
            rivals = self.rivals(name)
            if not rivals:
                continue
            rival = self.best(name, rivals)
            own, other = self.sign * self.medians[name][OWN], self.sign * self.medians[name][rival]
            if own <= other:
                wins += 1
            else:
                losses.append(f"{name} ({rival})")
            if OWN in self.everywhere and self.rank(name, OWN) >= len(self.everywhere):
                last.append(name)
        print(f"\n`auto` at or better than the best rival of each problem: {wins} of {wins + len(losses)}. "
              f"Behind: {', '.join(losses) or 'nowhere'}. Last: {', '.join(last) or 'nowhere'}.")


def curves(runs):
    """The mean over the problems of the median regret: from the least that any method has found there."""
    for parallel in sorted({key[1] for key in runs if key[0] == "curve"}):
        for prefix, title in (("", "what looked best, trained to the end"), ("full", "best of those trained to the end")):
            fields = [Field("curve", runs["curve", parallel, f"{prefix}{mark}"]) for mark in CURVE_MARKS if ("curve", parallel, f"{prefix}{mark}") in runs]
            if not fields:
                continue
            least = {}
            for key, problems in runs.items():
                for name, methods in problems.items() if key[0] == "curve" else ():
                    least[name] = min([least.get(name, 9.0), *(v for seeds in methods.values() for v in seeds.values())])
            print(f"\n### Learning curves, {parallel} at once: {title}; {min(fields[0].counts)} to {max(fields[0].counts)} seeds\n")
            print("| method | " + " | ".join(f"{m} whole trainings" for m in CURVE_MARKS) + " |\n|" + " --- |" * (len(CURVE_MARKS) + 1))
            for method in fields[0].everywhere:
                means = [statistics.mean(field.medians[n][method] - least[n] for n in field.names) for field in fields]
                print(f"| {method} | " + " | ".join(f"{v:.4f}" for v in means) + " |")


def report(files):
    runs, cpu = read(files)
    for kind, title in (("single", "One objective: median regret"), ("many", "Several objectives: median hypervolume")):
        for parallel in (4, 1, 16):
            for mark in map(str, MARKS):
                if (kind, parallel, mark) in runs:
                    field = Field(kind, runs[kind, parallel, mark])
                    print(f"\n### {title} after {mark} tasks, {parallel} at once; {min(field.counts)} to {max(field.counts)} seeds\n")
                    field.table()
                    if any(map(field.rivals, field.names)):
                        field.verdict()
                        field.certainty()
                        field.each()
    curves(runs)
    print("\n### CPU of one ask and tell in ms (median of the runs)\n\n| kind | method | by tasks |\n| --- | --- | --- |")
    for (kind, method), budgets in sorted(cpu.items()):
        print(f"| {kind} | {method} | " + ", ".join(f"{t}: {number(statistics.median(v))}" for t, v in sorted(budgets.items())) + " |")
