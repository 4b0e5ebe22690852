"""Lightning with its CSVLogger: several rows an epoch, and columns that are not in every row."""

import csv

import lightning_model
import truth
from lightning.pytorch.loggers import CSVLogger

lightning_model.fit(max_epochs=3, logger=CSVLogger("logs"))
series = {}
with open("logs/lightning_logs/version_0/metrics.csv", newline="") as table:
    for row in csv.DictReader(table):
        for name in row.keys() - {"step", "epoch"}:
            if row[name]:
                series.setdefault(name, []).append((int(row["step"]), float(row[name])))
truth.write(series)
