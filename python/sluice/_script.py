"""What a training script may use. Outside sluice nothing here has an effect, so that scripts still run by themselves."""

import json
import math
import os
import random
import signal
import sys
import threading
from typing import Any, Dict, List, Mapping, Optional, Union

_asked_to_stop = threading.Event()
_listening = False
_complaints: List[str] = []


def inside() -> bool:
    """True when sluice runs this script."""
    return bool(os.environ.get("SLUICE_REPORT"))


def params(defaults: Optional[Mapping[str, Any]] = None) -> Dict[str, Any]:
    """The values of this task, laid over the defaults. Outside sluice: the defaults."""
    values = dict(defaults or {})
    folder = os.environ.get("SLUICE_TASK_DIR")
    path = os.environ.get("SLUICE_PARAMS") or (folder and os.path.join(folder, "params.json"))
    if path:
        with open(path, encoding="utf-8") as file:
            values.update(json.load(file))
    return values


def seed(default: int = 0, everything: bool = False) -> int:
    """The seed of this task; `default` outside sluice. Repeats of one configuration have different seeds.

    With everything=True, Python's random and, where the script has imported them, NumPy, PyTorch and TensorFlow are
    seeded with it."""
    value = int(os.environ.get("SLUICE_SEED") or default)
    if everything:
        random.seed(value)
        for module, attribute in (("numpy", "random.seed"), ("torch", "manual_seed"), ("tensorflow", "random.set_seed")):
            if module in sys.modules:
                function: Any = sys.modules[module]
                for part in attribute.split("."):
                    function = getattr(function, part)
                function(value % 2**32)
    return value


def checkpoint_dir(default: str = "checkpoint") -> str:
    """A folder that is kept across attempts of this task; `default` outside sluice. It exists."""
    path = os.environ.get("SLUICE_CHECKPOINT_DIR") or default
    os.makedirs(path, exist_ok=True)
    return path


def resuming() -> bool:
    """True in a second or later attempt, which may find checkpoints of an earlier one."""
    return os.environ.get("SLUICE_RESUME") == "1"


def should_stop() -> bool:
    """True once the task was asked to end: its time limit is near, it is preempted, or it was stopped. Save a
    checkpoint then, and end; exit status 85 asks for the task to be continued.

    The first call, which must be in the main thread, begins to listen: call it before the training loop too. From
    then on the script no longer dies of the signals (SIGTERM, and the signal of `checkpoint:`)."""
    global _listening
    if inside() and not _listening and threading.current_thread() is threading.main_thread():
        _listening = True
        name = os.environ.get("SLUICE_CHECKPOINT_SIGNAL") or "USR1"
        for number in {signal.SIGTERM, getattr(signal, "SIG" + name, signal.SIGUSR1)}:
            _listen(number)
    return _asked_to_stop.is_set()


def _listen(number: int) -> None:
    before = signal.getsignal(number)

    def handler(received: int, frame: Any) -> None:
        _asked_to_stop.set()
        if callable(before) and before is not signal.default_int_handler:
            before(received, frame)

    signal.signal(number, handler)


def _number(value: Any) -> Union[int, float, str]:
    value = float(value.item() if hasattr(value, "item") else value)
    if math.isfinite(value):
        return int(value) if value.is_integer() and abs(value) < 2**53 else value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _complain(text: str) -> None:
    """Once for each text: a training loop must not be flooded, and never ended, by its reports."""
    if text not in _complaints and len(_complaints) < 100:
        _complaints.append(text)
        print("sluice.report: " + text, file=sys.stderr)


def _row(metrics: Mapping[str, Any]) -> Dict[str, Union[int, float, str]]:
    row = {}
    for name, value in metrics.items():
        try:
            row[str(name)] = _number(value)
        except (TypeError, ValueError, OverflowError, RuntimeError):
            _complain(f"{name!s} is not a number ({type(value).__name__}) and is left out")
    return row


def report(*rows: Mapping[str, Any], **metrics: Any) -> bool:
    """Reports one row of metrics: report(epoch=4, val_loss=0.31), or report({"val/loss": 0.31}, epoch=4). A value is a
    number, or anything with item() that gives one. `epoch` or `step` says where the row belongs.

    It never raises: what is not a number is left out and named on stderr once, and so is a full disk. Any number of
    processes of a script may report; a row is one write of one line. Returns True when the row was written, False
    outside sluice."""
    path = os.environ.get("SLUICE_REPORT")
    if not path:
        return False
    together: Dict[str, Any] = {}
    for one in rows:
        if not hasattr(one, "items"):
            _complain(f"a row is a map of names and numbers, not {type(one).__name__}")
            continue
        together.update(one)
    together.update(metrics)
    row = _row(together)
    if not row:
        return False
    line = (json.dumps(row, allow_nan=False) + "\n").encode()
    try:
        return _append(path, line)
    except OSError as error:
        _complain(f"{path}: {error.strerror or error}; the row is lost")
        return False


def _append(path: str, line: bytes) -> bool:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0), 0o600)
    try:
        if os.write(file, line) != len(line):
            _complain(f"{path}: the disk is full; the row is lost")
            return False
    finally:
        os.close(file)
    return True
