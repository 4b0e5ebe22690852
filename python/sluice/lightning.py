"""A Lightning callback that reports what the module logs: Trainer(callbacks=[sluice.lightning.Report()])."""

from typing import Any, Dict

try:
    from lightning.pytorch.callbacks import Callback
except ImportError:
    from pytorch_lightning.callbacks import Callback

from ._script import report


class Report(Callback):  # type: ignore[misc]
    """Reports the logged metrics after every validation and at the end of every epoch, from the first process."""

    def __init__(self) -> None:
        super().__init__()
        self._step = -1
        self._seen: Dict[str, str] = {}  # what was reported at this step: the end of an epoch often follows a validation

    def _report(self, trainer: Any) -> None:
        if not (trainer.is_global_zero and trainer.callback_metrics):
            return
        if trainer.global_step != self._step:
            self._step, self._seen = trainer.global_step, {}
        now = {name: repr(float(value)) for name, value in trainer.callback_metrics.items()}
        new = {name: value for name, value in trainer.callback_metrics.items() if self._seen.get(name) != now[name]}
        self._seen.update(now)
        if new:
            report(new, epoch=trainer.current_epoch, step=trainer.global_step)

    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
        """Reports, but not the check before the training."""
        if not trainer.sanity_checking:
            self._report(trainer)

    def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        """Reports the epoch."""
        self._report(trainer)
