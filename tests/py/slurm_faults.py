"""What the tests share that kill things on a real Slurm: who is there to be killed, and who repairs the cluster."""

import os
import subprocess
import threading

from conftest import wait_for

READY = ("idle", "mixed", "allocated", "completing")


def runners(state):
    """Pids of runners of this state folder. A child that has not become its script yet looks like its runner."""
    found = {}
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as command:
                words = command.read().split(b"\0")
            with open(f"/proc/{name}/stat") as stat:
                parent = int(stat.read().rsplit(")", 1)[1].split()[1])
        except (OSError, ValueError):
            continue
        if name.isdigit() and len(words) > 3 and words[1] == b"exec" and words[2].startswith(str(state).encode()):
            found[int(name)] = parent
    return [pid for pid, parent in found.items() if parent not in found]


class Administrator(threading.Thread):
    """A controller that crashed gives out job ids again. Nodes that remember those ids refuse the jobs ("Duplicate jobid") and
    are drained, and jobs are held: someone at the site restarts the nodes' daemons and lets everything go on. That takes a
    controller: it is not killed meanwhile."""

    def __init__(self, lab):
        super().__init__(daemon=True)
        self.lab, self.over, self.restarted = lab, threading.Event(), 0
        self.controller = threading.Lock()

    def run(self):
        while not self.over.wait(2):
            try:
                self.look()
            except (AssertionError, subprocess.SubprocessError) as reason:
                print(f"the administrator tries again: {reason}")

    def look(self):
        """Does what there is to do; True when all nodes work and nothing is held."""
        with self.controller:
            nodes = [row.split() for row in self.lab.slurm("sinfo", "-h", "-N", "-o", "%N %T").splitlines()]
            for node in {node for node, state in nodes if "drain" in state or "down" in state}:
                self.repair(node)
            rows = self.lab.slurm("squeue", "-h", "-t", "PD", "-o", "%A %r").splitlines()
            held = [row.split()[0] for row in rows if "held" in row.lower()]
            for job in held:
                self.lab.slurm("scontrol", "release", job, check=False)
        return not held and all(state in READY for _, state in nodes)

    def repair(self, node):
        self.lab.run("stop", node)
        self.lab.slurm("scontrol", "update", f"NodeName={node}", "State=RESUME", check=False)
        self.lab.start(node)
        self.restarted += 1

    def leave(self):
        """Other tests use this cluster too."""
        self.over.set()
        self.join()
        wait_for(self.look, "the cluster does not recover")
