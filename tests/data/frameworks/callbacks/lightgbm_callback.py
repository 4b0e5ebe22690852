"""LightGBM with sluice.lightgbm.Report, beside the lines that it prints: under the same names, at the same steps."""

import lightgbm
import numpy as np
import sluice.lightgbm
import truth

rng = np.random.default_rng(2)
x = rng.random((300, 5))
y = (x @ [1, 2, 3, 4, 5] > 7).astype(int)
train = lightgbm.Dataset(x[:200], y[:200])
valid = lightgbm.Dataset(x[200:], y[200:])
record = {}
lightgbm.train(
    {"objective": "binary", "metric": ["auc", "binary_logloss"], "num_threads": 1},
    train, 10, [train, valid], ["training", "valid_0"],
    callbacks=[lightgbm.log_evaluation(2), lightgbm.record_evaluation(record), sluice.lightgbm.Report()],
)
truth.write(truth.of_history({f"{data}-{name}": values for data in record for name, values in record[data].items()}, 1))
