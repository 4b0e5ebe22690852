"""What the lines of a race say, in Markdown: medians, places, and where `auto` wins and loses."""
import collections
import csv
import statistics

from race import CURVE_MARKS, MARKS, METHODS

OWN = "sluice auto"


def number(value):
    return f"{value:.3g}" if value == 0 or abs(value) >= 1e-3 else f"{value:.1e}"


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


class Field:
    """All methods at one budget and parallelism."""

    def __init__(self, kind, problems):
        self.sign = -1 if kind == "many" else 1  # hypervolume: more is better
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

    def verdict(self):
        rivals = [m for m in self.methods if not m.startswith("sluice")]
        wins, losses, last = 0, [], []
        for name in self.names:
            if OWN not in self.medians[name] or not any(m in self.medians[name] for m in rivals):
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
                    field.verdict()
    curves(runs)
    print("\n### CPU of one ask and tell in ms (median of the runs)\n\n| kind | method | by tasks |\n| --- | --- | --- |")
    for (kind, method), budgets in sorted(cpu.items()):
        print(f"| {kind} | {method} | " + ", ".join(f"{t}: {number(statistics.median(v))}" for t, v in sorted(budgets.items())) + " |")
