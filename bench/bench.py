"""What the benchmarks share: a daemon of their own, memory and CPU of a process with its children, tables."""

import os
import pathlib
import shutil
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/py"))
os.environ["SLUICE_BIN"] = os.environ.get("SLUICE_BIN", str(ROOT / "build/sluice"))

TICKS = os.sysconf("SC_CLK_TCK")


def family(pid):
    """The process and everything below it."""
    found = [pid]
    for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        found += family(int(child))
    return found


def cpu_s(pid):
    """CPU seconds that the family has used."""
    total = 0
    for member in family(pid):
        fields = pathlib.Path(f"/proc/{member}/stat").read_text().rsplit(")", 1)[1].split()
        total += int(fields[11]) + int(fields[12])
    return total / TICKS


def memory_kb(pid):
    """Proportional memory of the family: pages shared between workers count once."""
    total = 0
    for member in family(pid):
        for line in pathlib.Path(f"/proc/{member}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                total += int(line.split()[1])
    return total


class Folder:
    """A folder for the length of a `with`, ended together with what runs in it."""

    def __enter__(self):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="sl-"))
        return self.path

    def __exit__(self, *_):
        from conftest import sweep
        sweep(self.path)
        shutil.rmtree(self.path, ignore_errors=True)


def table(title, head, rows):
    widths = [max(len(str(row[i])) for row in [head, *rows]) for i in range(len(head))]
    print(f"\n{title}")
    for row in [head, ["-" * width for width in widths], *rows]:
        print("  " + "  ".join(str(cell).ljust(width) if i == 0 else str(cell).rjust(width)
                               for i, (cell, width) in enumerate(zip(row, widths))))
    sys.stdout.flush()


def until(condition, deadline_s=60, pause_s=0.001):
    """Seconds until condition() is true."""
    begin = time.monotonic()
    while not condition():
        if time.monotonic() - begin > deadline_s:
            raise SystemExit("waited in vain")
        time.sleep(pause_s)
    return time.monotonic() - begin
