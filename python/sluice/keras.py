"""A Keras callback that reports every epoch: model.fit(..., callbacks=[sluice.keras.Report()])."""

try:
    from keras.callbacks import Callback
except ImportError:
    from tensorflow.keras.callbacks import Callback

from ._script import report


class Report(Callback):
    def on_epoch_end(self, epoch, logs=None):
        report(**{**(logs or {}), "epoch": epoch})
