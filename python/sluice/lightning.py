"""A Lightning callback that reports the logged metrics after every validation: Trainer(callbacks=[Report()])."""

try:
    from lightning.pytorch.callbacks import Callback
except ImportError:
    from pytorch_lightning.callbacks import Callback

from ._script import report


class Report(Callback):
    def on_train_epoch_end(self, trainer, module):
        if trainer.is_global_zero:
            report(**{**trainer.callback_metrics, "epoch": trainer.current_epoch})
