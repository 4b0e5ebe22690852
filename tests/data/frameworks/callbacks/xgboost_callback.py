"""XGBoost with sluice.xgboost.Report, beside the lines that it prints."""

import numpy as np
import sluice.xgboost
import truth
import xgboost

rng = np.random.default_rng(2)
x = rng.random((300, 5))
y = x @ [1, 2, 3, 4, 5] + rng.normal(0, 0.1, 300)
train, valid = xgboost.DMatrix(x[:200], y[:200]), xgboost.DMatrix(x[200:], y[200:])
record = {}
xgboost.train(
    {"eval_metric": ["rmse", "mae"], "nthread": 1}, train, 10, [(train, "train"), (valid, "valid")],
    evals_result=record, verbose_eval=True, callbacks=[sluice.xgboost.Report()],
)
truth.write(truth.of_history({f"{data}-{name}": values for data in record for name, values in record[data].items()}))
