"""Keras with its TensorBoard callback: two runs, train and validation, with scalars for every epoch and batch."""

import keras
import keras_model
import truth

model, x, y = keras_model.make()
model.fit(
    x, y, epochs=4, validation_split=0.25, callbacks=[keras.callbacks.TensorBoard("logs", update_freq=2)], verbose=0
)
truth.write(truth.of_events("logs"))
