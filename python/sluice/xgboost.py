"""An XGBoost callback that reports every round: xgboost.train(..., callbacks=[sluice.xgboost.Report()])."""

from typing import Any, Dict

from xgboost.callback import TrainingCallback

from ._script import report, should_stop


class Report(TrainingCallback):  # type: ignore[misc]
    """Reports every metric of every evaluation set as `set-metric`, as XGBoost prints it."""

    def before_training(self, model: Any) -> Any:
        """Begins to listen for the signal to stop."""
        should_stop()
        return model

    def after_iteration(self, model: Any, epoch: int, evals_log: Dict[str, Dict[str, Any]]) -> bool:
        """Reports the round; ends the training when the task was asked to stop."""
        row = {}
        for data, metrics in evals_log.items():
            for name, values in metrics.items():
                last = values[-1]
                row[f"{data}-{name}"] = last[0] if isinstance(last, tuple) else last  # with cv: mean and deviation
        report(row, iteration=epoch)
        return should_stop()
