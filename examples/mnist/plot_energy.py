#!/usr/bin/env python3
"""The picture of docs/studies/energy.md from the energy.csv that bench/node/gpu wrote. Needs matplotlib.

    python3 plot_energy.py docs/studies/energy.csv docs/studies/energy.svg
"""

import csv
import sys

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot as plt  # noqa: E402


def main():
    with open(sys.argv[1], newline="") as file:
        rows = [{key: float(row[key]) for key in ("batch_size", "wall_s", "nvml_j", "nvidia_smi_j", "idle_j")} for row in csv.DictReader(file)]
    names = [f"{row['batch_size']:.0f}" for row in rows]
    idle, active = [row["idle_j"] / 1e3 for row in rows], [(row["nvml_j"] - row["idle_j"]) / 1e3 for row in rows]
    plt.rcParams.update({"svg.hashsalt": "sluice", "font.size": 9})
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4))
    left.bar(names, idle, color="#c7c7c7", label="idle share")
    left.bar(names, active, bottom=idle, color="#1f77b4", label="active share")
    left.plot(names, [row["nvidia_smi_j"] / 1e3 for row in rows], "k_", markersize=22, label="nvidia-smi, integrated")
    left.set(xlabel="batch size", ylabel="energy of a task, kJ", title="NVML's counter and a witness")
    left.legend(frameon=False)
    right.plot(names, [row["wall_s"] for row in rows], "o-", color="#d95f02")
    right.set(xlabel="batch size", ylabel="time of a task, s", ylim=(0, None), title="three epochs, with the start of Python")
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(sys.argv[2], metadata={"Date": None})


if __name__ == "__main__":
    main()
