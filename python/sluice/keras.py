"""A Keras callback that reports every epoch: model.fit(..., callbacks=[sluice.keras.Report()])."""

from typing import Any, Mapping, Optional

try:
    from keras.callbacks import Callback
except ImportError:
    from tensorflow.keras.callbacks import Callback

from ._script import report, should_stop


class Report(Callback):  # type: ignore[misc]
    """Reports the logs of every epoch, and ends the training after the epoch in which the task was asked to stop."""

    def on_train_begin(self, logs: Optional[Mapping[str, Any]] = None) -> None:
        """Begins to listen for the signal to stop."""
        should_stop()

    def on_epoch_end(self, epoch: int, logs: Optional[Mapping[str, Any]] = None) -> None:
        """Reports the epoch."""
        report(logs or {}, epoch=epoch)
        if should_stop():
            self.model.stop_training = True
