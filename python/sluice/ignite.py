"""PyTorch Ignite: sluice.ignite.attach(evaluator, trainer) reports the evaluator's metrics whenever it has run."""

from typing import Any, Optional

from ignite.engine import Events

from ._script import report, should_stop


def attach(engine: Any, trainer: Optional[Any] = None, prefix: str = "") -> None:
    """Reports the metrics of `engine` at the end of its runs, at the epoch and iteration of `trainer` (default: itself, at
    the end of each of its epochs). `prefix` goes before their names, for several evaluators: "val_". The trainer ends when
    the task was asked to stop."""
    clock = trainer or engine
    should_stop()

    def send(_: Any) -> None:
        report({prefix + str(name): value for name, value in engine.state.metrics.items()}, epoch=clock.state.epoch,
               iteration=clock.state.iteration)
        if should_stop():
            clock.terminate()

    engine.add_event_handler(Events.COMPLETED if trainer else Events.EPOCH_COMPLETED, send)
