"""scikit-learn: one printed score and nothing else."""

import numpy as np
import truth
from sklearn.linear_model import LogisticRegression

rng = np.random.default_rng(2)
x = rng.random((300, 5))
y = (x @ [1, 2, 3, 4, 5] > 7).astype(int)
score = LogisticRegression().fit(x[:200], y[:200]).score(x[200:], y[200:])
print("Test accuracy:", score)
truth.write({"Test accuracy": [(1, score)]})
