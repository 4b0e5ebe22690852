"""The same tasks for optuna-dashboard (a SQLite file) and TensorBoard (event files with HParams):
data.py optuna|tensorboard FOLDER TASKS POINTS [add]. The curve of task n is the one that curve.sh prints. `add` appends
one more task to what is there, for the time of a live update."""

import math
import pathlib
import sqlite3
import sys


def curve(n, points):
    level = 0.2 + (n * 7919 % 1000) / 2000
    return [round(level + math.exp(-i / 40) + 0.01 * math.sin(i * 12.9898 + n), 6) for i in range(points)]


def spread(n, by):
    """In 0 to 1, another for every n: equal tasks would be imported once."""
    return (n * by % 100003) / 100003


def parameters(n):
    return {"lr": 10 ** (-5 + 4 * spread(n, 37199)), "layers": n % 4 + 1}


def result(n, points):
    return min(curve(n, points)) if points else 0.2 + spread(n, 7919) / 2


def added(db, first):
    return max(0, (db.execute("SELECT max(trial_id) FROM trials").fetchone()[0] or 0) - first + 1)


def make_optuna(folder, first, last, points):
    """Optuna makes the file; the rows are written beside it, because Study.add_trials takes a second for each trial of
    300 values."""
    import optuna
    from optuna.distributions import FloatDistribution, IntDistribution, distribution_to_json

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    optuna.create_study(study_name="page", storage=f"sqlite:///{folder}/optuna.db", load_if_exists=True)
    space = {"lr": FloatDistribution(1e-5, 0.1, log=True), "layers": IntDistribution(1, 4)}
    kinds = {name: distribution_to_json(kind) for name, kind in space.items()}
    now = "2026-01-01 00:00:00.000000"
    with sqlite3.connect(folder / "optuna.db") as db:
        # A folder that is kept may have the task that an earlier run added.
        for n in [n + added(db, first) for n in range(first, last + 1)]:
            db.execute("INSERT INTO trials VALUES (?, ?, 1, 'COMPLETE', ?, ?)", (n, n - 1, now, now))
            for name, value in parameters(n).items():
                db.execute("INSERT INTO trial_params VALUES (NULL, ?, ?, ?, ?)", (n, name, value, kinds[name]))
            db.execute("INSERT INTO trial_values VALUES (NULL, ?, 0, ?, 'FINITE')", (n, result(n, points)))
            db.executemany(
                "INSERT INTO trial_intermediate_values VALUES (NULL, ?, ?, ?, 'FINITE')",
                [(n, step, value) for step, value in enumerate(curve(n, points))],
            )


def make_tensorboard(folder, first, last, points):
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.plugins.hparams import summary_v2
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    for n in range(first, last + 1):
        writer = EventFileWriter(str(folder / "tb" / f"task{n:05d}"))
        writer.add_event(Event(summary=summary_v2.hparams_pb(parameters(n), trial_id=str(n))))
        values = curve(n, points) or [result(n, 0)]
        for step, value in enumerate(values):
            scalar = Summary(value=[Summary.Value(tag="val_loss", simple_value=value)])
            writer.add_event(Event(step=step, wall_time=1.7e9 + n + step, summary=scalar))
        writer.close()


if __name__ == "__main__":
    kind, folder, tasks, points = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    first = tasks + 1 if "add" in sys.argv[5:] else 1
    last = tasks + 1 if "add" in sys.argv[5:] else tasks
    {"optuna": make_optuna, "tensorboard": make_tensorboard}[kind](folder, first, last, points)
