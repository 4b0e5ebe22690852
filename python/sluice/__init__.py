"""A client of the sluice daemon, what a training script may use, and studies in the style of Optuna. Standard library only."""

from ._client import Client
from ._http import Paused, Problem
from ._script import checkpoint_dir, inside, params, report, resuming, seed, should_stop
from ._study import FrozenTrial, Pruned, Study, Trial, TrialPruned, create_study, load_study
from ._table import Experiment, Table

__all__ = ["Client", "Experiment", "FrozenTrial", "Paused", "Problem", "Pruned", "Study", "Table", "Trial", "TrialPruned", "checkpoint_dir",
           "create_study", "inside", "load_study", "params", "report", "resuming", "seed", "should_stop"]
__version__ = "0.1.0"
