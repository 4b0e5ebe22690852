"""The process that runs trials, so that a daemon on the same machine notices its end."""

import os
from typing import Any, Dict, Optional


def describe() -> Optional[Dict[str, Any]]:
    """The `worker` of a request: pid, start time, and where both mean the same. None where the system does not say."""
    try:
        with open("/proc/self/stat", "rb") as file:
            stat = file.read()
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            boot = file.read().strip()
        if int(stat.split(b" ", 1)[0]) != os.getpid():  # /proc is that of other pids
            return None
        start = int(stat.rpartition(b")")[2].split()[19])
        return {"pid": os.getpid(), "start": start, "place": " ".join([boot, os.readlink("/proc/self/ns/pid"), _time_space()])}
    except (OSError, ValueError, IndexError):
        return None


def _time_space() -> str:
    try:
        return os.readlink("/proc/self/ns/time")
    except OSError:  # a system without them has one time
        return ""
