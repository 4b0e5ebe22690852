"""A Lightning callback that reports what the module logs: Trainer(callbacks=[sluice.lightning.Report()])."""

from typing import Any

try:
    from lightning.pytorch.callbacks import Callback
except ImportError:
    from pytorch_lightning.callbacks import Callback

from ._script import report


class Report(Callback):  # type: ignore[misc]
    """Reports the logged metrics after every validation and at the end of every epoch, from the first process."""

    def _report(self, trainer: Any) -> None:
        if trainer.is_global_zero and trainer.callback_metrics:
            report(trainer.callback_metrics, epoch=trainer.current_epoch, step=trainer.global_step)

    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
        """Reports, but not the check before the training."""
        if not trainer.sanity_checking:
            self._report(trainer)

    def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        """Reports the epoch."""
        self._report(trainer)
