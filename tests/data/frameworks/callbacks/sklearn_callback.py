"""scikit-learn with sluice.sklearn.report_fit, beside the verbose lines: at the same steps."""

import numpy as np
import sluice.sklearn
import truth
from sklearn.neural_network import MLPClassifier

rng = np.random.default_rng(2)
x = rng.random((300, 5))
y = (x @ [1, 2, 3, 4, 5] > 7).astype(int)
model = MLPClassifier((8,), max_iter=12, verbose=True, random_state=1, n_iter_no_change=50).fit(x[:200], y[:200])
score = model.score(x[200:], y[200:])
sluice.sklearn.report_fit(model, accuracy=score)
truth.write({**truth.of_history({"loss": model.loss_curve_}, 1), "accuracy": [(12, score)]})
