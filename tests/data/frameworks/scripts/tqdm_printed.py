"""A loop with a tqdm bar for every epoch. The last state of a bar counts."""

import truth
from tqdm import tqdm

series = []
for epoch in range(3):
    with tqdm(range(200), desc=f"Epoch {epoch}") as bar:
        for batch in bar:
            loss = 1 / (1 + epoch * 200 + batch)
            bar.set_postfix(loss=f"{loss:.5f}")
    series.append((epoch, float(f"{loss:.5f}")))
truth.write({"loss": series})
