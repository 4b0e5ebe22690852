"""The line that wait() shows while it waits."""

import sys
from typing import Any, Mapping, Optional, TextIO


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    return bool(shell and "IPKernelApp" in getattr(shell.get_ipython(), "config", {}))


def _summary(shown: Mapping[str, Any]) -> str:
    counts = shown.get("tasks")
    if not isinstance(counts, dict):  # a task
        epoch, epochs = shown.get("epoch"), shown.get("epochs")
        at = f", epoch {epoch}{f' of {epochs}' if epochs else ''}" if epoch is not None else ""
        return f"{shown['id']} {shown['state']}{at}"
    parts = [f"{counts['finished']} of {counts['total']} tasks finished"]
    parts += [f"{counts[state]} {word}" for state, word in (("running", "running"), ("error", "failed"), ("pruned", "pruned"))
              if counts.get(state)]
    if shown.get("best"):
        parts.append(f"best {shown['best']['value']:.6g} (task {shown['best']['task']})")
    if shown.get("note"):
        parts.append(str(shown["note"]))
    return f"{shown['id']} {shown['state']}: " + ", ".join(parts)


class Progress:
    """One line that is written over itself; nothing where the output is a file or a pipe."""

    def __init__(self, stream: TextIO, wanted: Optional[bool]) -> None:
        self._stream = stream
        self._shown = (stream.isatty() or _in_notebook()) if wanted is None else wanted
        self._last = ""

    def update(self, shown: Mapping[str, Any]) -> None:
        """Shows the state, where it has changed."""
        text = _summary(shown) if self._shown else ""
        if text != self._last:
            self._stream.write("\r" + text + " " * max(0, len(self._last) - len(text)))
            self._stream.flush()
            self._last = text

    def end(self) -> None:
        """Ends the line."""
        if self._last:
            self._stream.write("\n")
            self._stream.flush()
