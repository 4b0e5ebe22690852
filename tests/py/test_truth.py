"""What is said of a result is what happened: values with their own epochs, failures, and why there is none."""

import json
import os
import shlex
import subprocess

import pytest

from conftest import DEADLINE_S, PROGRAM, wait_for

# The accuracy is best in epoch 4, the joules in epoch 1.
TWO = """
with open("log.csv", "w") as log:
    print("epoch,accuracy,joules", file=log)
    for epoch in (1, 2, 3, 4):
        print(f"{epoch},{0.9 + epoch / 320},{19.2 * epoch}", file=log)
"""
SPEC = {"objective": [{"metric": "accuracy", "goal": "max"}, {"metric": "joules", "goal": "min"}]}
SAID = "accuracy 0.9125 at epoch 4, joules 19.2 at epoch 1"


def test_every_objective_has_its_own_epoch(daemon):
    e = daemon.submit(TWO, SPEC)
    best = daemon.wait_ended(e)["best"]
    assert (best["values"], best["epochs"]) == ([0.9125, 19.2], [4, 1])
    assert f"{SAID} in {e}/1" in daemon.cli("show", e).stdout
    assert SAID in daemon.cli("ls").stdout
    # The table of the page shows what ranks the task, as the front does.
    task = daemon.get(f"/experiments/{e}/tasks?metrics=joules")["items"][0]
    assert task["values"]["joules"] == {"best": 19.2, "last": 76.8, "epoch": 1}
    head, row = (line.split(",") for line in daemon.cli("export", e, "--format", "csv").stdout.splitlines())
    row = dict(zip(head, row, strict=True))
    assert [row[k] for k in ("best_accuracy", "best_epoch", "best_joules", "best_epoch_joules")] == ["0.9125", "4", "19.2", "1"]


def test_the_value_that_is_taken_is_the_one_that_is_shown(daemon):
    last = [SPEC["objective"][0], {**SPEC["objective"][1], "take": "last"}]
    e = daemon.submit(TWO, {"objective": last})
    assert daemon.wait_ended(e)["best"]["values"] == [0.9125, 76.8]
    assert "accuracy 0.9125, joules 76.8 at epoch 4" in daemon.cli("show", e).stdout
    task = daemon.get(f"/experiments/{e}/tasks?metrics=joules")["items"][0]
    assert task["values"]["joules"] == {"best": 76.8, "last": 76.8, "epoch": 4}


def test_an_objective_that_was_never_reported_is_named(daemon, folder):
    (folder / "one.py").write_text("print('epoch 1 accuracy 0.9')\n")
    done = daemon.cli("run", "one.py", "--objective", "accuracy", "--objective", "latency", cwd=folder)
    assert "latency none" in done.stdout and "NaN" not in done.stdout, done.stdout
    assert "no value for the objective: in e1/1 found accuracy" in done.stderr, done.stderr
    assert "no task has a value for every objective: no value for the objective: in e1/1" in daemon.cli("best", "e1").stdout


def test_a_best_task_that_failed_is_called_so(daemon):
    script = "import os\nprint('epoch 1 loss 0.5', flush=True)\nos.kill(os.getpid(), 11)\n"
    e = daemon.submit(script, {"objective": "loss"})
    best = daemon.wait_ended(e)["best"]
    assert best["state"] == "error" and best["cause"]["kind"] == "signal"
    assert f"loss 0.5 at epoch 1 in {e}/1, which ended with signal 11" in daemon.cli("show", e).stdout
    assert f"({e}/1, which ended with signal 11" in daemon.cli("ls").stdout


def test_a_long_cause_is_cut_in_the_column_of_the_best(daemon):
    e = daemon.submit("print('epoch 1 loss 0.5', flush=True)\nraise ValueError('é' * 100)\n", {"objective": "loss"})
    cause = daemon.wait_ended(e)["best"]["cause"]["text"]
    assert "é" * 100 in cause
    listed = daemon.cli("ls").stdout
    cell = listed.partition(f"({e}/1, which ")[2].partition(")")[0]
    assert cell.endswith("...") and len(cell) < 60 and "é" * 10 in cell, listed
    assert cause in daemon.cli("show", e).stdout


def test_what_is_over_is_not_asked_to_stop_and_has_no_further_attempts(daemon):
    e = daemon.submit("print('loss 1')", {"objective": "loss"})
    daemon.wait_ended(e)
    assert daemon.cli("stop", f"{e}/1").stdout == f"{e}/1 had ended already: finished\n"
    assert f"{e}/1 has no attempt 9; the last one is 1" in daemon.cli("logs", f"{e}/1", "--attempt", "9", status=1).stderr


def test_steps_that_leave_some_out_are_not_counted(daemon):
    script = "print('step,loss', *(f'{s},{100 - s}' for s in STEPS), sep='\\n', file=open('log.csv', 'w'))"
    for steps, said in (("range(0, 100, 10)", 90), ("range(6)", 6), ("(0, 1, 3, 5)", 5)):
        e = daemon.submit(script.replace("STEPS", steps), {"objective": "loss"})
        daemon.wait_ended(e)
        assert daemon.task(e, 1)["epoch"] == said, steps


def test_energy_that_was_not_measured_is_said_once(daemon, folder):
    (folder / "one.py").write_text("print('epoch 1 accuracy 0.9')\n")
    done = daemon.cli("run", "one.py", "--objective", "accuracy", "--objective", "energy", cwd=folder)
    if daemon.get("/experiments/e1")["cost"]["energy_j"] is None:
        assert done.stderr.count("the energy of task") == 1 and "the energy of task 1 was not measured" in done.stderr
        assert daemon.cli("show", "e1").stdout.count("the energy of task") == 1


def test_a_task_and_the_table_show_every_objective(daemon):
    e = daemon.submit(TWO, SPEC)
    daemon.wait_ended(e)
    shown = daemon.cli("show", f"{e}/1").stdout
    assert f"best           {SAID}\n" in shown and "last           accuracy 0.9125 at epoch 4, joules 76.8\n" in shown, shown
    head, row = daemon.cli("show", e).stdout.splitlines()[-2:]
    assert "joules" in head.split() and row.split()[row.split().index("0.9125") :][:3] == ["0.9125", "4", "19.2"], row
    assert "they may be of different epochs" in daemon.cli("best", e).stdout


def test_a_change_after_the_end_moves_no_time(daemon):
    e = daemon.submit(TWO, {"objective": "accuracy"})
    before = daemon.wait_ended(e)["finished"]
    said = daemon.cli("change", e, "--objective", "joules").stdout
    assert said == f"{e} is changed; nothing is left to run: 1 tasks in all, 1 finished\n"
    assert daemon.wait_ended(e)["finished"] == before


def test_a_python_that_is_not_here_is_refused(daemon, folder):
    (folder / "one.py").write_text("print('epoch 1 accuracy 0.9')\n")
    for verb in ("check", "run"):
        wrong = daemon.cli(verb, "one.py", "--python", "/nowhere/python9", cwd=folder, status=2)
        assert "environment.python: /nowhere/python9: there is no such program on this machine" in wrong.stderr
    assert "e1" not in daemon.cli("ls").stdout


def test_lines_without_a_terminal_say_why_nothing_starts(daemon, folder):
    e = daemon.submit("import time\ntime.sleep(600)", {"resources": {"cpus": os.cpu_count()}})
    wait_for(lambda: daemon.get(f"/experiments/{e}")["state"] == "running", "it runs")
    (folder / "one.py").write_text("print('epoch 1 accuracy 0.9')\n")
    follow = subprocess.Popen([PROGRAM, "run", "one.py"], env=daemon.env, cwd=folder, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True)
    lines = []
    while not any("waits for" in line for line in lines):
        line = follow.stdout.readline()
        assert line, lines
        lines.append(line)
    assert lines[-1].startswith("e2: waits for 1 CPU: e1 has "), lines
    daemon.cli("stop", e)
    assert "e2 finished" in follow.communicate(timeout=DEADLINE_S)[0]


# Four ways to take arguments. click and hydra are stand-ins beside the script: what is compared is what it was called with.
SHOW = "import json, sys\nprint(json.dumps(sys.argv))\n"
WAYS = {
    "argparse": SHOW + """
import argparse
p = argparse.ArgumentParser()
p.add_argument("--learning_rate", type=float, default=0.1)
p.add_argument("--note", default="two words, 'quoted' $HOME")
p.add_argument("--fast", action="store_true")
p.parse_args()
""",
    "click": SHOW + """
import click
@click.command()
@click.option("--learning-rate", type=float, default=0.1)
@click.option("--note", default="x")
def main(**values):
    pass
main()
""",
    "hydra": SHOW + """
import hydra
@hydra.main(version_base=None, config_path=None)
def main(cfg=None):
    pass
main()
""",
    "sys.argv": SHOW + """
learning_rate = float(sys.argv[3])
note = sys.argv[4]
""",
}
STAND_IN = "def __getattr__(name):\n    return lambda *args, **more: lambda function: function\n"


def test_the_command_that_a_check_shows_is_the_one_that_runs(daemon):
    wrong = []
    for way, script in WAYS.items():
        spec = {"script": "train.py", "parameters": {"learning_rate": [0.25, 0.5], "note": "two words, 'quoted' $HOME"}}
        if way == "sys.argv":
            spec["pass"] = "positional"
        if way == "argparse":
            spec["parameters"]["fast"] = True
        files = [{"path": "train.py", "text": script}]
        files += [{"path": f"{way}.py", "text": STAND_IN}] if way in ("click", "hydra") else []
        shown = daemon.post("/check", {"experiment": spec, "files": files})["call"]
        e = daemon.post("/experiments", {"experiment": spec, "files": files})["id"]
        ended = daemon.wait_ended(e)
        task = daemon.task(e, 1)
        saw = daemon.get(f"/experiments/{e}/tasks/1/log")["text"].splitlines()
        words = shlex.split(shown)
        if ended["tasks"]["finished"] != 2 or not saw:
            wrong.append(f"{way}: {ended['tasks']} {task.get('cause')}")
        elif words[2:] != json.loads(saw[0])[1:] or words[2:] != task["argv"][-len(words[2:]):]:
            wrong.append(f"{way}: shown {shown}, recorded {task['argv']}, the script saw {saw[0]}")
    assert not wrong, "\n".join(wrong)


def test_a_name_that_a_second_file_took_away_is_no_metric(daemon, folder):
    # The first rows are called loss; once a second file has a column of that name, nothing is called so any more.
    gate = folder / "gate"
    (folder / "two.py").write_text(f"""import os, time
open('train.csv', 'w').write('epoch,loss\\n1,5\\n')
while not os.path.exists({str(gate)!r}): time.sleep(0.05)
open('val.csv', 'w').write('epoch,loss\\n1,7\\n')
""")
    experiment = json.loads(daemon.cli("run", "--json", "--detach", "two.py", cwd=folder).stdout)["id"]
    wait_for(lambda: daemon.get(f"/experiments/{experiment}")["metrics"] == ["loss"], "the first file is not read")
    gate.touch()
    daemon.wait_ended(experiment)
    assert set(daemon.metrics(experiment, 1)) == {"train/loss", "val/loss"}
    assert sorted(daemon.get(f"/experiments/{experiment}")["metrics"]) == ["train/loss", "val/loss"]
    head = daemon.cli("export", experiment, "--format", "csv").stdout.splitlines()[0]
    assert "last_val/loss" in head and "last_loss" not in head, head


def test_a_score_at_the_end_does_not_take_a_printed_curve_away(daemon):
    script = ("import json\nfor i in range(1, 6): print(f'epoch {i} accuracy {0.5 + i / 20}', flush=True)\n"
              "json.dump({'accuracy': 0.7125}, open('final.json', 'w'))\n")
    e = daemon.submit(script, {"objective": {"metric": "accuracy", "goal": "max"}})
    assert daemon.wait_ended(e)["best"]["value"] == 0.7125
    task = json.loads(daemon.cli("export", e, "--format", "json").stdout)["tasks"][0]
    assert task["metrics"]["stdout/accuracy"] == {
        "step_name": "epoch", "step": [1, 2, 3, 4, 5], "value": [0.55, 0.6, 0.65, 0.7, 0.75]}
    assert task["metrics"]["accuracy"]["value"] == [0.7125]
    assert "both have accuracy: shown as" in daemon.cli("show", f"{e}/1").stdout


def test_values_beside_the_best_are_of_the_same_epoch(daemon):
    # Each metric comes in lines of its own, as Hugging Face prints them, and a score at the end stands alone.
    script = """import json
for i in range(1, 11):
    print({'loss': i / 100, 'epoch': i / 10})
    if i % 2 == 0: print({'eval_loss': (i - 6) ** 2, 'epoch': i / 10})
json.dump({'test_accuracy': 0.9}, open('final.json', 'w'))
"""
    e = daemon.submit(script, {"objective": {"metric": "eval_loss", "goal": "min"}})
    daemon.wait_ended(e)
    head, row = (line.split(",") for line in daemon.cli("export", e, "--format", "csv").stdout.splitlines())
    row = dict(zip(head, row, strict=True))
    assert [row[k] for k in ("best_eval_loss", "at_best_eval_loss", "at_best_loss", "last_loss")] == ["0", "0", "0.06", "0.1"]
    assert (row["at_best_test_accuracy"], row["last_test_accuracy"]) == ("", "0.9")
    # One file, with epochs or without: the values of its row.
    for first in ("epoch", "x"):
        script = f"print('{first},acc,loss', file=(f := open('m.csv', 'w')))\nfor i in range(5): print(f'{{i}},{{(4, 5, 9, 6, 7)[i]}},{{i / 10}}', file=f)\n"
        e = daemon.submit(script, {"objective": {"metric": "acc", "goal": "max"}})
        daemon.wait_ended(e)
        head, row = (line.split(",") for line in daemon.cli("export", e, "--format", "csv").stdout.splitlines())
        row = dict(zip(head, row, strict=True))
        assert (row["best_acc"], row["at_best_loss"]) == ("9", "0.2"), (first, row)


@pytest.mark.parametrize("best", [1, 3])
def test_values_beside_the_best_are_those_at_the_end_of_its_epoch(daemon, best):
    # A row an iteration in one file, a row an epoch in the other: step 3 of one is no step 3 of the other.
    script = f"""train, val = open('train_log.csv', 'w'), open('val_log.csv', 'w')
print('epoch,iter,loss', file=train)
print('epoch,val_loss', file=val)
for epoch in range(1, 6):
    for i in range(1, 21):
        it = (epoch - 1) * 20 + i
        print(f'{{epoch}},{{it}},{{it / 1000}}', file=train)
    print(f'{{epoch}},{{1 + abs(epoch - {best})}}', file=val)
"""
    e = daemon.submit(script, {"objective": {"metric": "val_loss", "goal": "min"}})
    assert daemon.wait_ended(e)["best"]["epoch"] == best
    head, row = (line.split(",") for line in daemon.cli("export", e, "--format", "csv").stdout.splitlines())
    row = dict(zip(head, row, strict=True))
    assert (row["best_epoch"], row["at_best_loss"], row["last_loss"]) == (str(best), str(best * 20 / 1000), "0.1")
    # Lists, filters and the page that compares have the same value.
    values = daemon.get(f"/experiments/{e}/tasks?metrics=loss&filter=loss+%3D+{best * 20 / 1000}")["items"][0]["values"]
    assert values == {"loss": {"best": best * 20 / 1000, "last": 0.1, "epoch": best}}
