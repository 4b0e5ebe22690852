"""A table as Stable-Baselines3 writes it: names with slashes, the step in time/total_timesteps, cells that are empty."""

import csv

import truth

rows = []
for i in range(1, 7):
    row = {"time/fps": 1000 - i, "time/total_timesteps": 2048 * i, "rollout/ep_rew_mean": 20.5 + i, "time/iterations": i}
    row["train/loss"] = 0.1 / i if i > 1 else ""
    rows.append(row)
with open("progress.csv", "w", newline="") as file:
    table = csv.DictWriter(file, list(rows[0]))
    table.writeheader()
    table.writerows(rows)
names = ("rollout/ep_rew_mean", "train/loss", "time/fps")
truth.write({n: [(r["time/total_timesteps"], r[n]) for r in rows if r[n] != ""] for n in names})
