"""scikit-learn: a network's verbose lines, then one score."""

import numpy as np
import truth
from sklearn.neural_network import MLPClassifier

rng = np.random.default_rng(2)
x = rng.random((300, 5))
y = (x @ [1, 2, 3, 4, 5] > 7).astype(int)
model = MLPClassifier((8,), max_iter=12, verbose=True, random_state=1, n_iter_no_change=50).fit(x[:200], y[:200])
score = model.score(x[200:], y[200:])
print("accuracy", score)
series = {"loss": [(i + 1, float(f"{v:.8f}")) for i, v in enumerate(model.loss_curve_)]}
series["accuracy"] = [(12, score)]
truth.write(series)
