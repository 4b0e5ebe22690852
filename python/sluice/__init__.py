"""A thin client of the sluice daemon, and what a training script may use. Standard library only."""

from ._client import Client, Problem
from ._script import checkpoint_dir, inside, params, report, resuming

__all__ = ["Client", "Problem", "checkpoint_dir", "inside", "params", "report", "resuming"]
__version__ = "0.1.0"
