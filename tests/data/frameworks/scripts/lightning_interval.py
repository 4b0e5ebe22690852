"""Lightning with its CSVLogger: one epoch with several validations."""

import csv

import lightning_model
import truth
from lightning.pytorch.loggers import CSVLogger

lightning_model.fit(max_epochs=1, val_check_interval=4, logger=CSVLogger("logs"))
series = {}
with open("logs/lightning_logs/version_0/metrics.csv", newline="") as table:
    for row in csv.DictReader(table):
        for name in row.keys() - {"step", "epoch"}:
            if row[name]:
                series.setdefault(name, []).append((int(row["step"]), float(row[name])))
truth.write(series)
