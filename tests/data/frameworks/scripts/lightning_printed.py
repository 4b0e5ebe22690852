"""Lightning with its progress bar and nothing else. The bar shows three digits: so does the record."""

import lightning_model
import truth
from lightning.pytorch.callbacks import Callback, TQDMProgressBar
from tqdm import tqdm


class Record(Callback):
    series = {}

    def on_train_epoch_end(self, trainer, module):
        for name, value in trainer.progress_bar_metrics.items():
            self.series.setdefault(name, []).append((trainer.current_epoch, float(tqdm.format_num(value))))


lightning_model.fit(max_epochs=3, logger=False, enable_progress_bar=True, callbacks=[Record(), TQDMProgressBar()])
truth.write(Record.series)
