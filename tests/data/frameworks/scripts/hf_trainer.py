"""Hugging Face's Trainer, with what it prints and its trainer_state.json."""

import json

import hf_trainer_model
import truth

trainer = hf_trainer_model.make(save_strategy="epoch")
trainer.train()
trainer.save_state()
series = {}
for entry in json.load(open("out/trainer_state.json"))["log_history"]:
    for name in entry.keys() - {"step", "epoch"}:
        series.setdefault(name, []).append((entry["step"], entry[name]))
truth.write(series)
