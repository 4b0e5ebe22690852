#!/usr/bin/env python3
"""Runs the study of docs/studies/sharing.md: what sharing a GPU by NVIDIA MPS and starting warm save, until a search has
found 99.2 % on MNIST.

    python3 shared.py try|alone|on|off|fault --sluice=sluice --data=/data/mnist --out=results

`try` lets `share: auto` find out how many short tasks one GPU takes. `alone` runs each batch size once, alone and cold. `on`
runs four strategies with three seeds, 16 tasks on one GPU by MPS, started warm, four at a time of each
search. `off` runs the same searches one task at a time and cold, each until it has found 99.2 %. `fault` runs eight tasks on
one GPU, one of which makes the GPU fail, and says how each ended. Beside it runs `nvidia-smi`, whose power is integrated.
Writes tasks.csv, summary.txt and a line for each step. Several words are done in turn."""

import argparse
import csv
import datetime
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
TARGET = 99.2
ARMS = {
    "random": {"strategy": "random"},
    "auto": {"strategy": "auto"},
    "tpe": {"strategy": "tpe", "startup": 8},
    "de": {"strategy": "de", "population": 8},
}
PARAMETERS = {
    "learning_rate": {"min": 1e-4, "max": 1, "scale": "log"},
    "batch_size": [64, 128, 256, 512, 1024],
    "weight_decay": {"min": 1e-6, "max": 1e-2, "scale": "log"},
    "momentum": {"min": 0, "max": 0.99},
}
ALONE = {"learning_rate": 0.05, "weight_decay": 5e-4, "momentum": 0.9}


class Power(threading.Thread):
    """(seconds since 1970, watts) five times a second, by nvidia-smi."""

    def __init__(self):
        super().__init__(daemon=True)
        self.rows = []
        self.child = subprocess.Popen(["nvidia-smi", "--id=0", "--query-gpu=power.draw", "--format=csv,noheader,nounits",
                                       "-lms", "200"], stdout=subprocess.PIPE, text=True)

    def run(self):
        for line in self.child.stdout:
            try:
                self.rows.append((time.time(), float(line)))
            except ValueError:
                continue

    def joules(self, begin, end):
        total = 0.0
        for (t, watts), (t2, watts2) in zip(self.rows, self.rows[1:]):
            a, b = max(t, begin), min(t2, end)
            if b > a:
                total += (watts + watts2) / 2 * (b - a)
        return total


class Sluice:
    def __init__(self, args, state):
        self.args, self.env = args, {**os.environ, "SLUICE_STATE": state, "SLUICE_LISTEN": "127.0.0.1:0"}

    def __call__(self, *words):
        return subprocess.run([self.args.sluice, *words], env=self.env, stdout=subprocess.PIPE, text=True).stdout

    def submit(self, parameters, search, resources, epochs, warm, stop=None, script=HERE / "train.py"):
        file = self.args.out / "experiment.json"
        trains = epochs is not None
        file.write_text(json.dumps({
            "script": str(script), "parameters": {**parameters, **({"epochs": epochs} if trains else {})}, "search": search,
            "warm": warm, **({"stop": stop} if stop else {}),
            "objective": {"metric": "val_accuracy", "goal": "max", "take": "last"} if trains else {"metric": "loss", "goal": "min"},
            "environment": {"vars": {"MNIST": str(pathlib.Path(self.args.data).resolve())}},
            "resources": {"backend": "local", "cpus": 1, **resources}}))
        return json.loads(self("run", "--detach", "--json", str(file)))["id"]

    def export(self, id):
        self("watch", id)
        return json.loads(self("export", id, "--format", "json"))


def when(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def rows(arm, seed, export):
    for task in export["tasks"]:
        if task["state"] != "finished":
            continue
        cost = task["cost"]
        yield {"arm": arm, "seed": seed, "task": task["number"],
               **{p: task["parameters"][p] for p in PARAMETERS}, "val_accuracy": task["metrics"]["val_accuracy"]["value"][-1],
               "begun": when(task["started"]), "ended": when(task["finished"]), "energy_j": cost["energy_j"],
               "gpu_s": cost["gpu_s"], "memory_gb": (cost["gpu_max_memory_bytes"] or 0) / 2**30,
               "warm": task["attempts"][-1]["warm"]}


def until(done):
    """GPU seconds and joules that the search had used when its first task with TARGET had ended; None: never."""
    hits = [row["ended"] for row in done if row["val_accuracy"] >= TARGET]
    if not hits:
        return None
    at, gpu, joules, tasks = min(hits), 0.0, 0.0, 0
    for row in done:
        part = max(0.0, min(row["ended"], at) - row["begun"]) / max(row["ended"] - row["begun"], 1e-9)
        gpu += part * (row["gpu_s"] or 0)
        joules += part * (row["energy_j"] or 0)
        tasks += row["ended"] <= at
    return {"tasks": tasks, "gpu_s": gpu, "energy_j": joules}


def trial(sluice, power, say, table, args):
    begun = time.time()
    id = sluice.submit({**PARAMETERS, "batch_size": 256}, {"strategy": "random", "tasks": 60, "seed": 1}, {"share": "auto"}, 1,
                       "auto")
    seen = None
    while True:
        e = json.loads(sluice("show", id, "--json"))
        if e["sharing"] and e["sharing"] != seen:
            seen = e["sharing"]
            say(f"{time.time() - begun:.1f} s: {seen}")
        if e["state"] not in ("running", "waiting", "submitted"):
            break
        time.sleep(0.3)
    say(f"{e['state']}, {e['tasks']} in {time.time() - begun:.1f} s, {power.joules(begun, time.time()):.0f} J")
    for n in (1, 2, 8, 30, 60):
        task = json.loads(sluice("show", f"{id}/{n}", "--json"))
        say(f"{task['id']} {task['state']} {task['cost']['wall_s']} s {task['cost'].get('gpu_max_memory_bytes')} B "
            f"{task['cost']['energy_j']} J asked {task['attempts'][-1]['asked']['gpus']}: "
            f"{[line['reason'] for line in task['timeline'] if line['reason']]}")


def alone(sluice, power, say, table, args):
    for batch in PARAMETERS["batch_size"]:
        begun = time.time()
        export = sluice.export(sluice.submit({**ALONE, "batch_size": batch}, {}, {"gpus": 1}, 3, "off"))
        (row,) = [dict(row) for row in rows("alone", 0, export)]
        table.append(row)
        say(f"alone, batch {batch}: {row['gpu_s']:.1f} GPU s, {row['energy_j']:.0f} J (nvidia-smi "
            f"{power.joules(row['begun'], row['ended']):.0f} J), {row['val_accuracy']} %, {time.time() - begun:.1f} s in all")


def searches(args):
    for seed in args.seeds:
        for arm in args.arms:
            yield arm, seed, {**ARMS[arm], "tasks": args.tasks, "seed": seed, "learn_from": "none"}


def on(sluice, power, say, table, args):
    begun = time.time()
    ids = {(arm, seed): sluice.submit(PARAMETERS, {**search, "parallel": 4}, {"gpus": 0.0625}, 3, "on")
           for arm, seed, search in searches(args)}
    done = {key: list(rows(*key, sluice.export(id))) for key, id in ids.items()}
    took, count = time.time() - begun, sum(len(all) for all in done.values())
    witness, split = power.joules(begun, time.time()), sum(row["energy_j"] or 0 for all in done.values() for row in all)
    say(f"on: {count} tasks in {took:.1f} s, {count / took * 3600:.0f} an hour; {witness:.0f} J by nvidia-smi, "
        f"{split:.0f} J split among the tasks; {witness / max(count, 1):.0f} J a task")
    for (arm, seed), all in done.items():
        table += all
        got = until(all)
        if got and split:
            got["card_j"] = got["energy_j"] * witness / split
        say(f"  {arm}, seed {seed}: {len(all)} tasks, best {max((row['val_accuracy'] for row in all), default=0)} %, "
            f"until {TARGET} %: {got}")


def off(sluice, power, say, table, args):
    for arm, seed, search in searches(args):
        begun = time.time()
        id = sluice.submit(PARAMETERS, {**search, "parallel": 1}, {"gpus": 1}, 3, "off",
                           {"when": f"val_accuracy >= {TARGET}"})
        all = list(rows(f"{arm}, off", seed, sluice.export(id)))
        table += all
        say(f"off, {arm}, seed {seed}: {len(all)} tasks in {time.time() - begun:.1f} s, "
            f"{power.joules(begun, time.time()):.0f} J by nvidia-smi, until {TARGET} %: {until(all)}")


FAULT = '''
import sys, time, torch
n = int(sys.argv[1].split("=")[1])
x = torch.zeros(1024, device="cuda")
with open("metrics.csv", "w") as out:
    print("epoch,loss", file=out, flush=True)
    for epoch in range(20):
        x = x + torch.ones_like(x)
        if n == 3 and epoch == 8:
            x[torch.tensor([1 << 20], device="cuda")] = 1  # beyond its end: an assertion on the device
        torch.cuda.synchronize()
        print(f"{epoch},{x.sum().item()}", file=out, flush=True)
        time.sleep(0.5)
'''


def fault(sluice, power, say, table, args):
    script = args.out / "fault.py"
    script.write_text(FAULT)
    id = sluice.submit({"n": list(range(8))}, {"strategy": "grid", "parallel": 8}, {"gpus": 0.125}, None, "on", script=script)
    for task in sluice.export(id)["tasks"]:
        say(f"fault, n = {task['parameters']['n']}: {task['state']}, {task['cause']}, {len(task['attempts'])} attempts, "
            f"{[attempt['cause'] for attempt in task['attempts']]}, {len(task['metrics']['loss']['value'])} rows")


STEPS = {"try": trial, "alone": alone, "on": on, "off": off, "fault": fault}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", nargs="+", choices=list(STEPS))
    parser.add_argument("--sluice", default="sluice")
    parser.add_argument("--data", required=True)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--tasks", type=int, default=32)
    parser.add_argument("--arms", nargs="+", choices=list(ARMS), default=list(ARMS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    summary = open(args.out / "summary.txt", "a")

    def say(text):
        print(text, flush=True)
        print(text, file=summary, flush=True)

    signal.signal(signal.SIGTERM, lambda *_: sys.exit("asked to end"))  # what was measured is written all the same
    table, power = [], Power()
    power.start()
    with tempfile.TemporaryDirectory() as state:
        sluice = Sluice(args, state)
        try:
            for what in args.what:
                STEPS[what](sluice, power, say, table, args)
        finally:
            sluice("daemon", "stop")
            power.child.terminate()
            if table:
                with open(args.out / "tasks.csv", "w", newline="") as out:
                    writer = csv.DictWriter(out, list(table[0]))
                    writer.writeheader()
                    writer.writerows(table)


if __name__ == "__main__":
    main()
