"""The checker of the chaos run: it believes only what the scripts wrote beside the state folder and the list of what was done,
and compares both with what the daemon says. A cause is true only where a fault that can have it hit that very attempt: its
process, its job, its node, or everything at that time."""

import collections
import datetime
import json

# Which faults can have which cause. `repair` is an administrator who restarts a node's daemon.
EXPLAINS = {
    "signal": {"script"},
    "cancelled": {"scancel"},
    "lost": {"runner", "slurmd", "slurmctld", "repair"},
    "node": {"slurmd", "slurmctld", "stop slurmctld", "repair"},
    # A runner that was killed before it took its task; a job that was cancelled as root before its runner began.
    "unstarted": {"runner", "scancel", "full disk", "away", "slurmd", "slurmctld", "repair"},
}
# What only one kind of fault can make an unstarted attempt say.
WORDS = {"folder is full": "full disk", "not visible": "away"}
# A controller that crashed finds out for a while what it has forgotten, and gives out ids again that nodes still have.
AFTERMATH_S = {"slurmctld": 45, "stop slurmctld": 30, "slurmd": 20, "repair": 20, "away": 5, "full disk": 10}
# The daemon's times are those of its looks.
SLACK_S = 2


class Side:
    """What the scripts of one task wrote."""

    def __init__(self, folder, number):
        path = folder / str(number)
        self.starts, self.ends, self.overlaps = {}, [], []
        for line in path.read_text().splitlines() if path.exists() else ():
            word, attempt, *rest = line.split()
            if word == "start":
                self.starts.setdefault(int(attempt), []).append((int(rest[0]), int(rest[1])))
            else:
                (self.ends if word == "end" else self.overlaps).append(int(attempt))


def seconds(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def hits(fault, attempt, runs):
    """Did this fault hit this attempt?"""
    late = AFTERMATH_S.get(fault.kind, 0)
    if fault.begin > seconds(attempt["finished"]) + SLACK_S or fault.end + late < seconds(attempt["submitted"]) - SLACK_S:
        return False
    if fault.pid and fault.kind in ("script", "runner") and runs:
        return any(fault.pid in run for run in runs)
    if fault.job:
        return fault.job == attempt["job"]
    return not fault.node or attempt["node"] in (None, fault.node)


def kinds_that_hit(attempt, runs, faults):
    return {fault.kind for fault in faults if hits(fault, attempt, runs)}


def false_cause(attempt, runs, faults):
    """Why this cause cannot be, or None."""
    kind, text = attempt["cause"]["kind"], attempt["cause"]["text"]
    hit = kinds_that_hit(attempt, runs, faults)
    if kind == "unstarted" and runs:
        return "its script began"
    if kind not in EXPLAINS:
        return "nothing of the kind was done"
    if not EXPLAINS[kind] & hit:
        return f"what hit it was {sorted(hit) or 'nothing'}"
    wanted = {fault for words, fault in WORDS.items() if words in text}
    return None if kind != "unstarted" or wanted <= hit else f"of {sorted(wanted)} nothing hit it"


def check_runs(side, attempts, faults):
    yield from (("repeated", f"attempt {n} ran beside another") for n in side.overlaps)
    yield from (("repeated", f"attempt {n} began {len(runs)} times") for n, runs in side.starts.items() if len(runs) > 1)
    # A runner that is killed after the script's last word makes it run again, as does a cluster that loses it then.
    for n in side.ends[:-1]:
        hit = kinds_that_hit(attempts[n - 1], side.starts[n], faults)
        if not hit & (EXPLAINS["lost"] | {"script"}):
            yield "repeated", f"attempt {n} ended well, was hit by {sorted(hit) or 'nothing'}, and it ran again"


def check_end(task, side, faults, rows):
    number, last = task["number"], task["attempt"]
    # A job that is cancelled before its script begins was meant not to run.
    if not side.starts and "scancel" not in kinds_that_hit(task["attempts"][-1], [], faults):
        yield "unrun", f"over without having run: {json.dumps(task['cause'])}"
    if task["state"] == "finished":
        if last not in side.ends:
            yield "lost", "finished without its script's end"
        curve = task["metrics_read"].get("loss", {"step": [], "value": []})
        if curve["step"] != list(range(rows)) or curve["value"] != [float(f"{number}.{last}{row}") for row in range(rows)]:
            yield "rows", f"wrong rows: {curve}"
    elif task["state"] != "error" or task["cause"]["kind"] != "cancelled":
        yield "lost", f"ended as {task['state']}: {json.dumps(task['cause'])}"


def check_task(task, side, faults, rows):
    """What is wrong with a task: (which kind, in words). `task` is the daemon's detail of it, with its curves."""
    yield from check_runs(side, task["attempts"], faults)
    for attempt in task["attempts"]:
        why = attempt["cause"] and false_cause(attempt, side.starts.get(attempt["number"], []), faults)
        if why:
            yield "cause", f"attempt {attempt['number']} ({attempt['job']} on {attempt['node']}, {attempt['submitted']} to " \
                f"{attempt['finished']}) is called {attempt['cause']['kind']} ({attempt['cause']['text']}), but {why}"
    yield from check_end(task, side, faults, rows)


class Report:
    """The sum over all tasks."""

    KINDS = ("lost", "repeated", "rows", "cause", "unrun")

    def __init__(self):
        self.count, self.wrong, self.causes, self.tasks, self.attempts = collections.Counter(), [], collections.Counter(), 0, 0

    def add(self, task, side, faults, rows):
        self.tasks += 1
        self.attempts += len(task["attempts"])
        self.causes.update(attempt["cause"]["kind"] for attempt in task["attempts"] if attempt["cause"])
        for kind, what in check_task(task, side, faults, rows):
            self.count[kind] += 1
            self.wrong.append(f"task {task['number']}: {what}")

    def line(self):
        lost, repeated, rows, cause, unrun = (self.count[kind] for kind in self.KINDS)
        return (f"{self.tasks} tasks, {self.attempts} attempts, causes {dict(self.causes)}: {lost} lost, {repeated} repeated, "
                f"{rows} with wrong rows, {cause} false causes, {unrun} over without having run")
