"""A small model and data for it, for the Hugging Face scripts."""

import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed


def examples(count):
    for _ in range(count):
        ids = torch.randint(5, 40, (12,))
        yield {"input_ids": ids, "attention_mask": torch.ones(12), "labels": int(ids.sum() > 260)}


def make(**options):
    set_seed(5)
    config = BertConfig(vocab_size=40, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32)
    return Trainer(
        model=BertForSequenceClassification(config),
        args=TrainingArguments(
            "out", num_train_epochs=3, per_device_train_batch_size=8, logging_steps=3, eval_strategy="epoch",
            report_to=[], use_cpu=True, learning_rate=1e-3, **options,
        ),
        train_dataset=list(examples(64)),
        eval_dataset=list(examples(32)),
    )
