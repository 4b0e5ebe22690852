"""A Hugging Face callback that reports every log: Trainer(..., callbacks=[sluice.huggingface.Report()])."""

from typing import Any, Mapping, Optional

from transformers import TrainerCallback

from ._script import report, should_stop


class Report(TrainerCallback):  # type: ignore[misc]
    """Reports what the trainer logs, and saves and ends when the task was asked to stop."""

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Begins to listen for the signal to stop."""
        should_stop()

    def on_log(self, args: Any, state: Any, control: Any, logs: Optional[Mapping[str, Any]] = None, **_: Any) -> None:
        """Reports one log."""
        if state.is_world_process_zero:
            numbers = {name: value for name, value in (logs or {}).items() if isinstance(value, (int, float))}
            report(numbers, step=state.global_step)

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> Any:
        """Saves and ends when the task was asked to stop."""
        if should_stop():
            control.should_save = True
            control.should_training_stop = True
        return control
