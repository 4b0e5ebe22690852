#!/usr/bin/env python3
"""The tables and the picture of docs/studies/mnist-resnet18.md from the tasks.csv that study.py wrote. Needs matplotlib.

    python3 plot.py docs/studies/mnist-resnet18.csv docs/studies/mnist-resnet18.svg
"""

import csv
import statistics
import sys

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot as plt  # noqa: E402

WALL = 110
COMMON = 15  # tasks of a seed that were asked for before eight results were there
LEVELS = [98.5, 99.0, 99.2, 99.3]
TITLES = {
    "random": ("random", "#7f7f7f"),
    "tpe": ("TPE, accuracy and time", "#1f77b4"),
    "gde3": ("DE (GDE3), accuracy and time", "#d95f02"),
    "tpe-accuracy": ("TPE, accuracy alone", "#6baed6"),
    "de-accuracy": ("DE, accuracy alone", "#fdae6b"),
    "auto-accuracy": ("auto (Gaussian process), accuracy alone", "#2ca02c"),
}
WORST = (90.0, 30.0)  # of the dominated area: accuracy and seconds that are no longer of interest


def read(path):
    """{arm: {seed: [task, in the order they ended]}}, numbers as numbers."""
    runs = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            task = {key: value if key == "arm" else float(value) for key, value in row.items()}
            runs.setdefault(row["arm"], {}).setdefault(int(row["seed"]), []).append(task)
    for seeds in runs.values():
        for tasks in seeds.values():
            tasks.sort(key=lambda task: task["ended"])
    return runs


def reached(tasks, level):
    """When the first task with this accuracy ended; None."""
    return next((task["ended"] for task in tasks if task["val_accuracy"] >= level), None)


def front(tasks):
    """The tasks that no other one beats in accuracy and in time, the quickest first."""
    kept = []
    for task in sorted(tasks, key=lambda task: (task["seconds"], -task["val_accuracy"])):
        if not kept or task["val_accuracy"] > kept[-1]["val_accuracy"]:
            kept.append(task)
    return kept


def area(tasks):
    """What the front dominates, as a part of all there is between WORST and (100 %, 0 s)."""
    total, floor = 0.0, WORST[0]
    for task in front(tasks):
        if task["val_accuracy"] > floor and task["seconds"] < WORST[1]:
            total += (task["val_accuracy"] - floor) * (WORST[1] - task["seconds"])
            floor = task["val_accuracy"]
    return total / ((100 - WORST[0]) * WORST[1])


def table(runs):
    print("| search | tasks | best validation, % | its test, % | " + " | ".join(f"≥ {level} %" for level in LEVELS) +
          " | area of the front |")
    print("| --- " * (5 + len(LEVELS)) + "|")
    for arm, seeds in runs.items():
        best = [max(tasks, key=lambda task: task["val_accuracy"]) for tasks in seeds.values()]
        cells = [", ".join(str(len(tasks)) for tasks in seeds.values()),
                 ", ".join(f"{task['val_accuracy']:.2f}" for task in best),
                 ", ".join(f"{task['test_accuracy']:.2f}" for task in best)]
        for level in LEVELS:
            times = [reached(tasks, level) for tasks in seeds.values()]
            cells.append(", ".join("–" if time is None else f"{time:.0f}" for time in times))
        areas = [area(tasks) for tasks in seeds.values()]
        cells.append(", ".join(f"{a:.3f}" for a in areas) + f" (mean {statistics.mean(areas):.3f})")
        print(f"| {TITLES[arm][0]} | " + " | ".join(cells) + " |")


def front_table(runs):
    everything = [task for seeds in runs.values() for tasks in seeds.values() for task in tasks]
    print("\n| training, s | validation, % | test, % | batch | learning rate | momentum | weight decay | found by |")
    print("| --- " * 8 + "|")
    for task in front(everything):
        print(f"| {task['seconds']:.1f} | {task['val_accuracy']:.2f} | {task['test_accuracy']:.2f} | {task['batch_size']:.0f} | "
              f"{task['learning_rate']:.2g} | {task['momentum']:.2f} | {task['weight_decay']:.1e} | "
              f"{TITLES[task['arm']][0]}, seed {task['seed']:.0f} |")


def late_table(runs):
    print("\n| search | tasks after the common start | of them ≥ 99 % | median validation, % | median training, s |")
    print("| --- " * 5 + "|")
    for arm, seeds in runs.items():
        late = [task for tasks in seeds.values() for task in tasks if task["task"] > COMMON]
        good = sum(task["val_accuracy"] >= 99 for task in late) / len(late)
        print(f"| {TITLES[arm][0]} | {len(late)} | {100 * good:.0f} % | "
              f"{statistics.median(task['val_accuracy'] for task in late):.2f} | "
              f"{statistics.median(task['seconds'] for task in late):.1f} |")


def draw_search(ax, runs):
    grid = [i / 2 for i in range(2 * WALL + 1)]
    for arm, seeds in runs.items():
        title, colour = TITLES[arm]
        curves = []
        for tasks in seeds.values():
            curve = [max((t["val_accuracy"] for t in tasks if t["ended"] <= at), default=float("nan")) for at in grid]
            ax.step(grid, curve, where="post", color=colour, linewidth=0.7, alpha=0.45)
            curves.append(curve)
        mean = [statistics.mean(points) for points in zip(*curves)]
        ax.step(grid, mean, where="post", color=colour, linewidth=2, label=f"{title} ({len(seeds)} seeds)")
    ax.set(xlabel="seconds of the GPU since the search began", ylabel="best validation accuracy so far, %",
           xlim=(15, WALL), ylim=(98, 99.45))
    ax.legend(fontsize=8, loc="lower right")


def draw_front(ax, runs):
    for arm, seeds in runs.items():
        title, colour = TITLES[arm]
        pooled = [task for tasks in seeds.values() for task in tasks]
        ax.scatter([t["seconds"] for t in pooled], [t["val_accuracy"] for t in pooled], s=7, color=colour, alpha=0.35)
        best = front(pooled)
        ax.step([t["seconds"] for t in best] + [30], [t["val_accuracy"] for t in best] + [best[-1]["val_accuracy"]],
                where="post", color=colour, linewidth=1.6)
    ax.set(xlabel="training time of a task, s (eight share the GPU)", ylabel="validation accuracy, %", xscale="log",
           xlim=(1.4, 30), ylim=(97, 99.45), xticks=[2, 5, 10, 20], xticklabels=["2", "5", "10", "20"])
    ax.minorticks_off()


def main():
    source, picture = sys.argv[1:]
    found = read(source)
    runs = {arm: found[arm] for arm in TITLES if arm in found}
    table(runs)
    late_table(runs)
    front_table(runs)
    plt.rcParams.update({"svg.hashsalt": "sluice", "svg.fonttype": "none", "font.family": "sans-serif"})
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
    draw_search(axes[0], runs)
    draw_front(axes[1], runs)
    for ax in axes:
        ax.grid(alpha=0.25)
        ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(picture, metadata={"Date": None})


if __name__ == "__main__":
    main()
