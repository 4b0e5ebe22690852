"""Lightning with sluice.lightning.Report, beside a callback that keeps what there was at the same moments."""

import lightning_model
import sluice.lightning
import truth
from lightning.pytorch.callbacks import Callback

series = {}


class Keep(Callback):
    def on_validation_end(self, trainer, module):
        if not trainer.sanity_checking:
            self.on_train_epoch_end(trainer, module)

    def on_train_epoch_end(self, trainer, module):
        for name, value in trainer.callback_metrics.items():
            series.setdefault(name, []).append((trainer.global_step, value.item()))


lightning_model.fit(max_epochs=2, logger=False, val_check_interval=8, callbacks=[sluice.lightning.Report(), Keep()])
assert len(series["val_loss"]) == 6, series
truth.write(series)
