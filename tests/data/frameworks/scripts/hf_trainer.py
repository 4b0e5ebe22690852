"""Hugging Face's Trainer, with what it prints and its trainer_state.json."""

import json

import torch
import truth
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed

set_seed(5)


def examples(count):
    for _ in range(count):
        ids = torch.randint(5, 40, (12,))
        yield {"input_ids": ids, "attention_mask": torch.ones(12), "labels": int(ids.sum() > 260)}


config = BertConfig(vocab_size=40, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32)
trainer = Trainer(
    model=BertForSequenceClassification(config),
    args=TrainingArguments(
        "out", num_train_epochs=3, per_device_train_batch_size=8, logging_steps=3, eval_strategy="epoch",
        save_strategy="epoch", report_to=[], use_cpu=True, learning_rate=1e-3,
    ),
    train_dataset=list(examples(64)),
    eval_dataset=list(examples(32)),
)
trainer.train()
trainer.save_state()
series = {}
for entry in json.load(open("out/trainer_state.json"))["log_history"]:
    for name in entry.keys() - {"step", "epoch"}:
        series.setdefault(name, []).append((entry["step"], entry[name]))
truth.write(series)
