"""A small network and data for it, for the Lightning scripts."""

import logging
import warnings

import lightning
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.WARNING)


class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))

    def loss(self, batch):
        return nn.functional.cross_entropy(self.layer(batch[0]), batch[1])

    def training_step(self, batch, _):
        loss = self.loss(batch)
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch, _):
        self.log("val_loss", self.loss(batch), prog_bar=True)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.5)


def fit(**options):
    lightning.seed_everything(3)
    x = torch.rand(320, 8)
    y = (x.sum(dim=1) > 4).long()
    train = DataLoader(TensorDataset(x[:256], y[:256]), batch_size=16)
    val = DataLoader(TensorDataset(x[256:], y[256:]), batch_size=16)
    options.setdefault("enable_progress_bar", False)
    trainer = lightning.Trainer(
        accelerator="cpu", enable_model_summary=False, enable_checkpointing=False, log_every_n_steps=4, **options
    )
    trainer.fit(Model(), train, val)
    return trainer
