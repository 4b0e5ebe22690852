"""PyTorch Ignite with sluice.ignite.attach."""

import sluice.ignite
import torch
import truth
from ignite.engine import Events, create_supervised_evaluator, create_supervised_trainer
from ignite.metrics import Accuracy, Loss
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
x = torch.rand(128, 8)
y = (x.sum(dim=1) > 4).long()
data = DataLoader(TensorDataset(x, y), batch_size=16)
model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))
trainer = create_supervised_trainer(model, torch.optim.SGD(model.parameters(), 0.5), nn.CrossEntropyLoss())
evaluator = create_supervised_evaluator(model, {"accuracy": Accuracy(), "loss": Loss(nn.CrossEntropyLoss())})
sluice.ignite.attach(evaluator, trainer, prefix="val_")
series = {}


@trainer.on(Events.EPOCH_COMPLETED)
def evaluate(_):
    evaluator.run(data)
    for name, value in evaluator.state.metrics.items():
        series.setdefault("val_" + name, []).append((trainer.state.iteration, value))


trainer.run(data, max_epochs=3)
truth.write(series)
