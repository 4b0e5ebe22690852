"""What a scikit-learn estimator or search recorded, reported after fit(): sluice.sklearn.report_fit(model, accuracy=0.93)."""

from typing import Any, Iterator, Tuple

from ._script import report

_CURVES = (("loss", "loss_curve_"), ("validation_score", "validation_scores_"), ("train_score", "train_score_"),
           ("validation_score", "validation_score_"), ("oob_improvement", "oob_improvement_"), ("lower_bound", "lower_bounds_"))


def _curves(model: Any) -> Iterator[Tuple[str, Any]]:
    for name, attribute in _CURVES:
        values = getattr(model, attribute, None)
        if values is not None and hasattr(values, "__len__") and len(values):
            yield name, values


def report_fit(model: Any, **scores: Any) -> bool:
    """Reports the curves that the fitted model kept (loss_curve_, validation_scores_, train_score_, ...), one row an
    iteration, from 1 as scikit-learn prints them; of a search (GridSearchCV and so on) best_score_; and the scores that are given. Returns True when something
    was reported."""
    curves = list(_curves(model))
    length = max((len(values) for _, values in curves), default=0)
    reported = False
    for i in range(length):
        reported |= report({name: values[i] for name, values in curves if i < len(values)}, iteration=i + 1)
    last = dict(scores)
    if hasattr(model, "best_score_"):
        last.setdefault("best_score", model.best_score_)
    if last:
        reported |= report(last, **({"iteration": length} if length else {}))
    return reported
