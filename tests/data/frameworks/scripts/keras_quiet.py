"""Keras with one line an epoch (verbose=2)."""

import keras_model
import truth

model, x, y = keras_model.make()
history = model.fit(x, y, epochs=4, validation_split=0.25, verbose=2).history
shown = {name: [float(f"{v:.4f}" if abs(v) > 1e-3 else f"{v:.4e}") for v in values] for name, values in history.items()}
truth.write(truth.of_history(shown, start=1))
