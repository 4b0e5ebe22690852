"""The environment in which tasks run: the one of this process, as the command line sends the one of its shell."""

import fnmatch
import os
import re
import socket
import subprocess
import sys
from typing import Any, Dict, Mapping, Optional


def python_prefix() -> Optional[str]:
    """The folder of this process's virtual or conda environment, else of the active one."""
    if sys.prefix != getattr(sys, "base_prefix", sys.prefix) or os.path.isdir(os.path.join(sys.prefix, "conda-meta")):
        return sys.prefix
    return os.environ.get("VIRTUAL_ENV") or os.environ.get("CONDA_PREFIX") or None


def describe(experiment: Optional[Mapping[str, Any]], folder: str) -> Dict[str, Any]:
    """The `caller` of a request. An experiment that is not known here (a file in YAML) keeps no variables by name."""
    environment = (experiment or {}).get("environment")
    keep = environment.get("keep") if isinstance(environment, Mapping) else None
    patterns = ["PYTHONPATH", *(keep if isinstance(keep, (list, tuple)) else [])]
    variables = {name: value for name, value in os.environ.items()
                 if not name.startswith("SLUICE_") and any(fnmatch.fnmatchcase(name, str(one)) for one in patterns)}
    caller: Dict[str, Any] = {"modules": [one for one in os.environ.get("LOADEDMODULES", "").split(":") if re.fullmatch(r"[\w/.+@=,][\w/.+@=,-]*", one)],
                              "variables": variables, "host": socket.gethostname(), "folder": folder}
    prefix = python_prefix()
    if prefix:
        caller["python"] = prefix
    commit = _git(folder, "rev-parse", "--verify", "HEAD")
    if commit:
        caller["git"] = {"commit": commit, "dirty": bool(_git(folder, "status", "--porcelain", "--untracked-files=no"))}
    return caller


def _git(folder: str, *arguments: str) -> str:
    try:
        return subprocess.run(["git", "-C", folder, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              timeout=5, check=True).stdout.decode(errors="replace").strip()
    except (OSError, subprocess.SubprocessError):
        return ""
