"""Hugging Face's Trainer with sluice.huggingface.Report, beside the dictionaries that it prints."""

import hf_trainer_model
import sluice.huggingface
import truth

trainer = hf_trainer_model.make(save_strategy="no")
trainer.add_callback(sluice.huggingface.Report())
trainer.train()
series = {}
for entry in trainer.state.log_history:
    for name in entry.keys() - {"step", "epoch"}:
        series.setdefault(name, []).append((entry["step"], entry[name]))
truth.write(series)
