#!/usr/bin/env python3
"""Runs the study of docs/studies/mnist-resnet18.md: the same search by several strategies, one after the other, each
for the same time on the same GPU.

    python3 study.py --sluice=sluice --data=/data/mnist --out=results --seeds 1 2

Writes results/ARM-SEED.json (what `sluice export` says) and results/tasks.csv. The daemon is one of its own.
"""

import argparse
import csv
import datetime
import json
import os
import pathlib
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
BOTH = [{"metric": "val_accuracy", "goal": "max", "take": "last"}, {"metric": "seconds", "goal": "min", "take": "last"}]
ACCURACY = BOTH[:1]
ARMS = {  # every one but auto, which is taken as it comes, begins with eight random draws
    "random": ({"strategy": "random"}, BOTH),
    "tpe": ({"strategy": "tpe", "startup": 8}, BOTH),
    "gde3": ({"strategy": "gde3", "population": 8}, BOTH),
    "tpe-accuracy": ({"strategy": "tpe", "startup": 8}, ACCURACY),
    "de-accuracy": ({"strategy": "de", "population": 8}, ACCURACY),
    "auto-accuracy": ({"strategy": "auto"}, ACCURACY),
}
PARAMETERS = {
    "learning_rate": {"min": 1e-4, "max": 1, "scale": "log"},
    "batch_size": [64, 128, 256, 512, 1024],
    "weight_decay": {"min": 1e-6, "max": 1e-2, "scale": "log"},
    "momentum": {"min": 0, "max": 0.99},
}
SEARCHED = list(PARAMETERS)
METRICS = ["val_accuracy", "test_accuracy", "seconds"]


def experiment(args, arm, seed):
    search, objective = ARMS[arm]
    return {
        "name": f"MNIST, ResNet-18: {arm}, seed {seed}",
        "script": str(HERE / "train.py"),
        "parameters": {**PARAMETERS, "epochs": args.epochs, "limit": args.limit},
        "search": {**search, "tasks": 200, "parallel": args.parallel, "seed": seed},
        "objective": objective,
        "stop": {"wall": f"{args.wall}s"},
        # A task that asks for no GPU is shown none, so that GPUs have one task each. Here all share the first one.
        "environment": {"vars": {"MNIST": str(pathlib.Path(args.data).resolve()), "CUDA_VISIBLE_DEVICES": "0"}},
        "resources": {"backend": "local", "gpus": 0},
    }


def when(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def rows(arm, seed, export):
    """A row for every task that finished: its values, what it reached, and when since the experiment began."""
    begun = when(export["started"])
    for task in export["tasks"]:
        if task["state"] != "finished":
            continue
        last = {name: task["metrics"][name]["value"][-1] for name in METRICS}
        yield {"arm": arm, "seed": seed, "task": task["number"], **{p: task["parameters"][p] for p in SEARCHED}, **last,
               "begun": round(when(task["started"]) - begun, 3), "ended": round(when(task["finished"]) - begun, 3)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sluice", default="sluice")
    parser.add_argument("--data", required=True)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--wall", type=int, default=110, help="seconds of the GPU for each search")
    parser.add_argument("--parallel", type=int, default=8, help="tasks that share the GPU")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--limit", type=int, default=0, help="images of each part, to try it out; 0: all")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--arms", nargs="+", default=list(ARMS))
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)

    table = []
    with tempfile.TemporaryDirectory() as state:
        env = {**os.environ, "SLUICE_STATE": state, "SLUICE_LISTEN": "127.0.0.1:0"}

        def sluice(*words):
            return subprocess.run([args.sluice, *words], env=env, stdout=subprocess.PIPE, text=True)

        print(sluice("doctor").stdout, flush=True)
        try:
            for seed in args.seeds:
                for arm in args.arms:
                    file = args.out / "experiment.json"
                    file.write_text(json.dumps(experiment(args, arm, seed)))
                    created = sluice("run", "--detach", "--json", str(file)).stdout
                    id = json.loads(created)["id"]
                    sluice("watch", id)  # ends with 1: the time was up
                    export = json.loads(sluice("export", id, "--format", "json").stdout)
                    (args.out / f"{arm}-{seed}.json").write_text(json.dumps(export))
                    table += rows(arm, seed, export)
                    done = [row for row in table if row["arm"] == arm and row["seed"] == seed]
                    best = max((row["val_accuracy"] for row in done), default=0)
                    print(f"{arm}, seed {seed}: {len(done)} tasks, best {best} %", flush=True)
                    with open(args.out / "tasks.csv", "w", newline="") as out:
                        writer = csv.DictWriter(out, list(table[0]) if table else ["arm"])
                        writer.writeheader()
                        writer.writerows(table)
        finally:
            sluice("daemon", "stop")


if __name__ == "__main__":
    main()
