"""A small network and data for it, for the Keras scripts."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np


def make():
    keras.utils.set_random_seed(7)
    x = np.random.rand(256, 8).astype("float32")
    y = (x.sum(axis=1) > 4).astype("float32")
    model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1, activation="sigmoid")])
    model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
    return model, x, y
