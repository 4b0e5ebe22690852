"""Lightning with its TensorBoardLogger."""

import lightning_model
import truth
from lightning.pytorch.loggers import TensorBoardLogger

lightning_model.fit(max_epochs=3, logger=TensorBoardLogger("logs"))
truth.write(truth.of_events("logs/lightning_logs/version_0"))
