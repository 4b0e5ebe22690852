"""A training loop that prints what PyTorch's own examples print (examples/mnist)."""

import torch
import truth
from torch import nn

torch.manual_seed(1)
x = torch.rand(320, 8)
y = (x.sum(dim=1) > 4).long()
model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
series = {}


def shown(name, epoch, text):
    series.setdefault(name, []).append((epoch, float(text)))


for epoch in range(1, 4):
    for batch, (data, target) in enumerate(zip(x[:256].split(32), y[:256].split(32))):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(data), target)
        loss.backward()
        optimizer.step()
        if batch % 4 == 0:
            print(
                "Train Epoch: {} [{}/{} ({:.0f}%)]\tLoss: {:.6f}".format(
                    epoch, batch * 32, 256, 100.0 * batch / 8, loss.item()
                )
            )
            shown("Train Loss", (epoch - 1) * 256 + batch * 32, f"{loss.item():.6f}")
    with torch.no_grad():
        out = model(x[256:])
        test = nn.functional.cross_entropy(out, y[256:]).item()
        right = (out.argmax(dim=1) == y[256:]).sum().item()
    print(
        "\nTest set: Average loss: {:.4f}, Accuracy: {}/{} ({:.0f}%)\n".format(test, right, 64, 100.0 * right / 64),
        flush=True,
    )
    shown("Test set Average loss", epoch, f"{test:.4f}")
    shown("Test set Accuracy", epoch, right / 64)
truth.write(series)
