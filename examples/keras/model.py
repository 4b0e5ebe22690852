"""A Keras script as S-TFManager ran them, unchanged: the experiment's id, the task's id and the values come
as plain arguments, and CSVLogger writes results/<experiment>/<task>/<task>.csv.

    python3 model.py EXPERIMENT TASK BATCH_SIZE LEARNING_RATE EPOCHS EARLY_STOPPING
"""

import sys

import numpy as np
from tensorflow import keras

experiment_id = sys.argv[1]
task_id = sys.argv[2]
batch_size = int(sys.argv[3])
learning_rate = float(sys.argv[4])
epochs = int(sys.argv[5])
early_stopping = int(sys.argv[6])

keras.utils.set_random_seed(420)
chance = np.random.default_rng(420)
x = chance.normal(size=(400, 8)).astype("float32")
y = (x[:, 0] * x[:, 1] + x[:, 2] > 0).astype("float32")

model = keras.Sequential([
    keras.Input(shape=(8,)),
    keras.layers.Dense(16, activation="relu"),
    keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer=keras.optimizers.Adam(learning_rate=learning_rate), loss="binary_crossentropy",
              metrics=["accuracy"])

path = f"results/{experiment_id}/{task_id}/{task_id}.csv"
model.fit(x, y, validation_split=0.25, batch_size=batch_size, epochs=epochs, verbose=0, callbacks=[
    keras.callbacks.CSVLogger(path, separator=",", append=False),
    keras.callbacks.EarlyStopping(monitor="val_loss", patience=early_stopping),
])
