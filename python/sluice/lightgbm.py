"""A LightGBM callback that reports every round: lightgbm.train(..., callbacks=[sluice.lightgbm.Report()])."""

from typing import Any

from lightgbm.callback import EarlyStopException

from ._script import report, should_stop


class Report:
    """Reports every metric of every evaluation set as `set-metric`, at the rounds as LightGBM prints them (from 1); ends when
    the task was asked to stop."""

    order = 25  # after LightGBM's own recorders, before its early stopping

    def __init__(self) -> None:
        should_stop()

    def __call__(self, env: Any) -> None:
        results = env.evaluation_result_list or []
        report({f"{one[0]}-{one[1]}": one[2] for one in results}, iteration=env.iteration + 1)
        if should_stop():
            raise EarlyStopException(env.iteration, results)
