"""A real Slurm for tests: `slurm-lab` brought up on ports, in a folder and in control groups of its own, so that several
may live side by side; and the counting of what its programs are asked."""

import collections
import os
import pathlib
import random
import re
import shutil
import socket
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
SCRIPT = HERE / "slurm-lab"
PORTS = 39  # what a lab may use from its base port on; the one after them is held by the process that started it
# What Slurm's programs say when the controller was too busy to answer within MessageTimeout. A question (or an order that
# may be given twice) is then repeated; a submission is not, as it may have worked.
LATE = ("Socket timed out", "Unable to contact slurm controller", "Zero Bytes were transmitted", "Connection refused")
REPEATABLE = ("squeue", "sacct", "sinfo", "scontrol", "scancel", "sacctmgr")
REPEATS = 10


class NoLab(Exception):
    """There is no Slurm to be had here; the text says why."""


def in_short(said):
    """Why slurm-lab gave up, in a line: its last words, then what the daemon's log ended with."""
    lines = [line for line in said.strip().splitlines() if "bringing down" not in line]
    before = " | ".join(line.strip() for line in lines[-3:-1])
    return lines[-1].removeprefix("slurm-lab: error: ") + (f" ({before})" if before else "") if lines else ""


def reserve_ports():
    """A base port whose range is not in use, and the socket that keeps it ours: labs may start at the same time."""
    bases = list(range(21000, 30000, PORTS + 1))
    random.shuffle(bases)
    for base in bases:
        held = socket.socket()
        try:
            held.bind(("127.0.0.1", base + PORTS))
            for port in range(base, base + PORTS):
                with socket.socket() as s:
                    s.bind(("127.0.0.1", port))
        except OSError:
            held.close()
            continue
        return base, held
    raise NoLab("no free ports")


class Lab:
    """A cluster: 2 nodes with 2 GPUs in gpu_volta, 1 node in cpu, unless the options say otherwise."""

    def __init__(self, *options):
        # Unix sockets live below it: the path must be short.
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="sluice-lab-", dir="/tmp"))
        self.root.chmod(0o755)  # munge, MariaDB and Slurm run as users of their own
        self.folder = self.root / "lab"
        self.env = {**os.environ, "SLURM_LAB": str(self.folder)}
        port, self.reservation = reserve_ports()
        command = ["up", "--no-rest", "--port", str(port), *options]
        if os.geteuid() == 0:
            command.append("--install")
        try:
            self.run(*command, timeout=1800)
        except BaseException as reason:  # an interrupt too must leave nothing behind
            self.down()
            if not isinstance(reason, (subprocess.SubprocessError, OSError)):
                raise
            said = getattr(reason, "stderr", "") or str(reason)
            raise NoLab(in_short(said) or "slurm-lab failed") from reason
        self.env["SLURM_CONF"] = str(self.folder / "etc/slurm.conf")
        self.jobs = self.folder / "jobs"
        self.version = tuple(map(int, self.slurm("squeue", "--version").split()[-1].split(".")[:2]))
        # How often squeue is called for one look at the queue.
        self.looks = 1 if self.version >= (22, 5) else 2
        self.cgroups = "TaskPlugin=task/cgroup" in (self.folder / "etc/slurm.conf").read_text()

    def run(self, *words, timeout=900):
        return subprocess.run([str(SCRIPT), *words], env=self.env, check=True, timeout=timeout, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def start(self, name):
        """Starts a daemon that was stopped. On a busy machine one may give up by itself (slurmctld when slurmdbd is late)."""
        for again in reversed(range(3)):
            try:
                self.run("start", name)
                return
            except subprocess.CalledProcessError as reason:
                if not again:
                    raise AssertionError(f"{name} does not start: {reason.stderr}") from reason

    def slurm(self, *words, check=True):
        """Runs one of Slurm's programs; returns what it printed. With `check` it must work, if need be a little later."""
        for again in reversed(range(REPEATS)):
            done = subprocess.run(words, env=self.env, cwd=self.jobs, text=True, timeout=300, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            if not check or done.returncode == 0:
                return done.stdout
            if not again or words[0] not in REPEATABLE or not any(text in done.stderr for text in LATE):
                raise AssertionError(f"{' '.join(words)}: {done.returncode}: {done.stdout}{done.stderr}")
            time.sleep(1)

    def daemon_pid(self, name):
        return int((self.folder / f"run/{name}.pid").read_text().split()[0])

    def down(self):
        subprocess.run([str(SCRIPT), "down", "--purge"], env=self.env, timeout=900, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.reservation.close()
        shutil.rmtree(self.root, ignore_errors=True)


class Calls:
    """Counts the calls of Slurm's programs made with `env`."""

    def __init__(self, folder, env):
        subprocess.run([str(HERE / "count-calls"), str(folder)], check=True, stdout=subprocess.DEVNULL)
        self.log = pathlib.Path(folder) / "calls"
        self.env = {**env, "PATH": f"{folder}/bin:{env['PATH']}"}
        self.cleared_names = set()

    def names(self):
        """The names of all jobs that were submitted, also before the log was cleared."""
        found = (re.search(r"--job-name=(\S+)", line[2]) for line in self.lines() if line[1] == "sbatch")
        return self.cleared_names | {match[1] for match in found if match}

    def lines(self):
        return [line.split("\t") for line in self.log.read_text().splitlines()]

    def count(self):
        return collections.Counter(line[1] for line in self.lines())

    def clear(self):
        self.cleared_names = self.names()
        self.log.write_text("")
