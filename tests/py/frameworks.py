"""Curves as frameworks record them beside curves as sluice has them."""

import math

from conftest import ROOT

SCRIPTS = ROOT / "tests/data/frameworks/scripts"
RECORDED = ROOT / "tests/data/frameworks/recorded"
# Counters and figures that sluice may show besides what the script's own record has.
ALSO = {"sb3_csv": {"time/iterations"}}


def curve(points):
    """The last value of every step: TensorBoard also keeps what was written before at the same step."""
    return sorted({step: float(value) for step, value in points}.items())


def differences(case, truth, metrics):
    """What sluice has otherwise than the framework, as texts."""
    found = {name: curve(zip(series["step"], (math.nan if v is None else float(v) for v in series["value"])))
             for name, series in metrics.items()}
    wanted = {name: curve(points) for name, points in truth.items()}
    lines = [f"{case}: '{name}' was not found; there is {sorted(found)}" for name in wanted if name not in found]
    lines += [f"{case}: '{name}' was invented: {found[name][:3]}" for name in found
              if name not in wanted and name not in ALSO.get(case, ())]
    lines += [f"{case}: '{name}' is {found[name][:12]}, not {wanted[name][:12]}" for name in wanted
              if name in found and repr(found[name]) != repr(wanted[name])]
    return lines
