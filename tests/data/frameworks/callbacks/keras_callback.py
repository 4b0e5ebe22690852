"""Keras with sluice.keras.Report."""

import keras_model
import sluice.keras
import truth

model, x, y = keras_model.make()
history = model.fit(x, y, epochs=4, validation_split=0.25, callbacks=[sluice.keras.Report()], verbose=2)
truth.write(truth.of_history(history.history))
