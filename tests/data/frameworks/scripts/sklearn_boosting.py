"""scikit-learn's gradient boosting, with its table."""

import numpy as np
import truth
from sklearn.ensemble import GradientBoostingRegressor

rng = np.random.default_rng(2)
x = rng.random((300, 5))
y = x @ [1, 2, 3, 4, 5]
model = GradientBoostingRegressor(n_estimators=8, subsample=0.8, verbose=2, random_state=1).fit(x, y)
truth.write(
    {
        "Train Loss": [(i + 1, float(f"{v:.4f}")) for i, v in enumerate(model.train_score_)],
        "OOB Improve": [(i + 1, float(f"{v:.4f}")) for i, v in enumerate(model.oob_improvement_)],
    }
)
