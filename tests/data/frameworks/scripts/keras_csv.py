"""Keras with its CSVLogger."""

import keras
import keras_model
import truth

model, x, y = keras_model.make()
history = model.fit(x, y, epochs=4, validation_split=0.25, callbacks=[keras.callbacks.CSVLogger("log.csv")], verbose=0)
truth.write(truth.of_history(history.history))
