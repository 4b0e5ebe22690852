"""LightGBM with log_evaluation. Its record has six digits after %g: so has what it prints."""

import lightgbm
import numpy as np
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
    callbacks=[lightgbm.log_evaluation(2), lightgbm.record_evaluation(record)],
)
truth.write(
    {
        f"{data}-{name}": [(i + 1, float(f"{v:g}")) for i, v in enumerate(values) if i % 2]
        for data in record
        for name, values in record[data].items()
    }
)
