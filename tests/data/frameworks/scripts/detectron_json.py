"""JSON lines as Detectron2 writes them, in metrics.json."""

import json

import truth

rows = [
    {"data_time": 0.01, "iteration": i, "loss_cls": 1 / i, "lr": 0.02, "total_loss": 2 / i, "bbox/AP": None}
    for i in range(19, 120, 20)
]
for row in rows:
    del row["bbox/AP"]
rows[-1]["bbox/AP"] = 38.5
with open("metrics.json", "w") as file:
    for row in rows:
        file.write(json.dumps(row, sort_keys=True) + "\n")
truth.write(
    {n: [(r["iteration"], r[n]) for r in rows if n in r] for n in ("loss_cls", "total_loss", "lr", "data_time", "bbox/AP")}
)
