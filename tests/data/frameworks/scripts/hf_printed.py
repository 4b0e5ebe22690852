"""Hugging Face's Trainer with what it prints and nothing else: four digits, and epochs in place of steps."""

import hf_trainer_model
import truth

trainer = hf_trainer_model.make(save_strategy="no")
trainer.train()
series = {}
for entry in trainer.state.log_history:
    for name in entry.keys() - {"step", "epoch", "total_flos"}:
        points = series.setdefault(name, [])
        counted = entry["epoch"] if "loss" not in entry else len(points) + 1  # fractions of an epoch: rows are counted
        points.append((int(counted), float(f"{entry[name]:.4g}")))
truth.write(series)
