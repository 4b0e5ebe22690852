"""The checkpoint signal before the time limit and at a preemption, on a real Slurm, with the kinds of scripts that people
write: what is told of them, and that what was cut off is continued and never called finished.

A task that is cut off five times by its time limit goes on beside all tests of this file, and is looked at by the last. It ends
like one that was never cut: the same epochs, one curve, the values of the attempt that computed them last. It is cut by the
signal before the limit; with SLUICE_SOAK two of the attempts pay no heed to that, and Slurm ends them at the limit itself."""

import json
import os
import pathlib
import shutil
import tempfile

import pytest

import test_collect
import test_leftovers
from conftest import SlurmDaemon, sweep, wait_for
from test_slurm_causes import Marks

# The first attempt of each kind is cut off; the next one ends well at once.
SCRIPT = """#!/bin/bash
row() { echo "epoch,loss
$1,$2" > metrics.csv; }
save() { echo "$1" > "$SLUICE_CHECKPOINT_DIR/saved"; }
if [ "$SLUICE_ATTEMPT" != 1 ]; then
	cat "$SLUICE_CHECKPOINT_DIR/saved" > "$MARKS/$SLUICE_TASK.saved"
	row 1 0.5
	exit 0
fi
row 0 0.1
case $SLUICE_PARAM_KIND in
	goes_on) trap 'save USR1' USR1 ;;
	exits_0) trap 'save USR1; exit 0' USR1 ;;
	exits_1) trap 'save USR1; exit 1' USR1 ;;
	no_handler) save before ;;
	no_checkpoint) ;;
	asks) save before; exit 85 ;;
esac
echo $$ > "$MARKS/$SLUICE_TASK.pid"
while :; do sleep 0.1; done
"""

# Kind, what its first attempt is told with, what the next attempt found; None: there is none.
KINDS = [
    ("goes_on", "reached its time limit", "USR1"),
    ("exits_0", "told to save, it ended with exit code 0; to be continued", "USR1"),
    ("exits_1", "told to save, it ended with exit code 1; to be continued", "USR1"),
    ("no_handler", "told to save, it ended by signal 10", "before"),
    ("no_checkpoint", "told to save, it ended by signal 10", None),
    ("asks", "asked to be continued (exit code 85)", "before"),
]

CUTS = 5
EACH = 6  # epochs between two cuts
EPOCHS = EACH * (CUTS + 1)

# Trains from its checkpoint on, which is an epoch or two behind when it is cut. An attempt that is to be cut trains for a while
# and then waits for that.
TRAINING = f"""#!/bin/bash
saved="$SLUICE_CHECKPOINT_DIR/epoch"
next=0
[ -e "$saved" ] && next=$(cat "$saved")
[ -e metrics.csv ] || echo "epoch,loss,by" > metrics.csv
case " $SLUICE_PARAM_DEAF " in *" $SLUICE_ATTEMPT "*) trap '' USR1 TERM ;; *) trap 'exit 0' USR1 ;; esac
last={EPOCHS}
[ "$SLUICE_ATTEMPT" -le "$SLUICE_PARAM_CUTS" ] && last=$(({EACH} * SLUICE_ATTEMPT))
for ((epoch = next; epoch < last; epoch++)); do
    sleep 0.1
    echo "$epoch,$((1000 - epoch * epoch)),$SLUICE_ATTEMPT" >> metrics.csv
    echo "$epoch $SLUICE_ATTEMPT" >> "$SIDE/$SLUICE_TASK"
    [ $((epoch % 4)) = 3 ] && echo $((epoch + 1)) > "$saved.new" && mv "$saved.new" "$saved"
done
while [ $last -lt {EPOCHS} ]; do sleep 0.1; done
"""


def training(daemon, side, parameters, partition="cpu", **more):
    """Tasks that train; `cuts` attempts of them wait to be cut off, `deaf` ones pay no heed to signals."""
    spec = daemon.spec({"deaf": ["none"], **parameters}, partition, environment={"vars": {"SIDE": str(side)}},
                       objective={"metric": "loss", "goal": "min"}, **more)
    return daemon.submit(TRAINING, spec, name="task.sh")


@pytest.fixture(scope="module")
def cut(lab):
    """Cut off five times, which takes half a minute each: Slurm looks at limits that often."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="sl-"))
    folder.chmod(0o755)
    side = folder / "side"
    side.mkdir()
    daemon = SlurmDaemon(folder / "state", lab)
    try:
        daemon.start()
        experiment = training(daemon, side, {"cuts": [CUTS], "deaf": ["2 4" if os.environ.get("SLUICE_SOAK") else "none"]},
                              resources={"time": "1m"}, checkpoint={"signal": "USR1", "before_limit": "55s"})
        yield daemon, side, experiment
    finally:
        daemon.stop()
        daemon.clear_queue()
        sweep(folder)
        shutil.rmtree(folder, ignore_errors=True)


def trained(side, number):
    """Which attempt trained which epoch, as the script wrote it down, in this order."""
    path = side / str(number)
    return [tuple(map(int, line.split())) for line in path.read_text().splitlines()] if path.exists() else []


def assert_like_uncut(slurm, side, experiment, number, cause, cuts):
    task = slurm.task(experiment, number)
    assert (task["state"], task["attempt"]) == ("finished", cuts + 1), task
    assert [(attempt["cause"] or {}).get("kind") for attempt in task["attempts"][:-1]] == [cause] * cuts, task["attempts"]
    rows = trained(side, number)
    epochs = [epoch for epoch, _ in rows]
    repeated = {epoch for epoch in epochs if epochs.count(epoch) > 1}
    assert repeated, "no epoch was repeated, so this shows nothing"
    curves = slurm.metrics(experiment, number)
    # What a run that is never cut has.
    assert curves["loss"] == {"step_name": "epoch", "step": list(range(EPOCHS)), "value": [1000 - epoch * epoch for epoch in range(EPOCHS)]}, curves
    # Of a repeated epoch the row of the later attempt counts.
    assert curves["by"] == {"step_name": "epoch", "step": list(range(EPOCHS)), "value": [dict(rows)[epoch] for epoch in range(EPOCHS)]}, curves
    assert task["best"] == {"value": 1000 - (EPOCHS - 1) ** 2, "epoch": EPOCHS - 1}
    told = [step["reason"] for step in task["timeline"]]
    assert told.count("continues from its checkpoint") == cuts, told


def test_what_was_cut_off_at_its_limit_is_continued_where_it_has_a_checkpoint(cut, slurm, folder):
    marks = Marks(folder)
    # Slurm may send the signal up to half a minute earlier than asked for.
    spec = slurm.spec({"kind": [kind for kind, _, _ in KINDS]}, **marks.vars, resources={"time": "1m"},
                      checkpoint={"signal": "USR1", "before_limit": "15s"}, objective={"metric": "loss", "take": "last"})
    experiment = slurm.submit(SCRIPT, spec, name="task.sh")
    slurm.wait_ended(experiment, deadline_s=240)
    for number, (kind, words, saved) in enumerate(KINDS, 1):
        task = slurm.task(experiment, number)
        first = task["attempts"][0]
        assert (first["state"], first["cause"]["kind"]) == ("error", "time"), (kind, task)
        assert words in first["cause"]["text"], (kind, first)
        told = [step["reason"] for step in task["timeline"] if step["reason"]]
        if saved:
            assert (task["state"], task["attempt"]) == ("finished", 2), (kind, task)
            assert (marks.folder / f"{number}.saved").read_text().strip() == saved, kind
            assert any("; retry 1 of 100" in reason for reason in told) and "continues from its checkpoint" in told, (kind, told)
            # What the first attempt came to is no result.
            assert [step["state"] for step in task["timeline"]].count("finished") == 1 and task["best"]["value"] == 0.5, (kind, task)
        else:
            assert (task["state"], task["attempt"]) == ("error", 1) and "SLUICE_CHECKPOINT_DIR" in task["cause"]["remedy"], task


def test_preempted_script_is_told_to_save_first(slurm, lab, folder):
    marks = Marks(folder)
    # All four GPUs are taken; a job with a better QOS needs one.
    spec = slurm.spec({"kind": ["exits_0"], "n": [1, 2, 3, 4]}, "gpu_volta", **marks.vars,
                      resources={"gpus": 1, "account": "labacct", "qos": "low", "time": "30m"},
                      checkpoint={"signal": "USR1", "before_limit": "30s"})
    experiment = slurm.submit(SCRIPT, spec, name="task.sh")
    for number in range(1, 5):
        marks.pid(number)
    lab.slurm("sbatch", "-p", "gpu_volta", "--gres=gpu:1", "-A", "labacct", "-q", "high", "-o", "/dev/null", "--wrap", "sleep 1")
    number = wait_for(lambda: [t["number"] for t in slurm.tasks(experiment) if t["state"] == "finished"], "nobody is preempted")[0]
    task = slurm.task(experiment, number)
    assert task["attempts"][0]["cause"]["kind"] == "preempted", task
    assert (marks.folder / f"{number}.saved").read_text().strip() == "USR1"
    assert "continues from its checkpoint" in [step["reason"] for step in task["timeline"]]


def test_stop_with_checkpoint_lets_the_script_save_and_restart_goes_on(slurm, folder):
    marks = Marks(folder)
    # Longer than Slurm's own KillWait and our grace period: only the runner's own clock can leave it that much.
    script = SCRIPT.replace("exits_0) trap 'save USR1; exit 0' USR1", "exits_0) trap 'sleep 15; save USR1; exit 0' USR1")
    spec = slurm.spec({"kind": ["exits_0", "goes_on"]}, **marks.vars, resources={"time": "30m"},
                      checkpoint={"signal": "USR1", "before_limit": "25s"})
    experiment = slurm.submit(script, spec, name="task.sh")
    for number in (1, 2):
        marks.pid(number)
        slurm.wait_state(experiment, ("running",), number)  # one that the daemon has not seen yet has nothing to save
    slurm.cli("stop", experiment, "--checkpoint")
    assert slurm.wait_ended(experiment)["state"] == "stopped"
    for number in (1, 2):
        task = slurm.task(experiment, number)
        assert [attempt["state"] for attempt in task["attempts"]] == ["stopped"], task
        saved = slurm.state / f"experiments/{experiment}/tasks/{number}/checkpoint/saved"
        assert saved.read_text().strip() == "USR1", number
    wait_for(lambda: not slurm.queue(), "its jobs are still there")
    slurm.cli("restart", experiment, "--resume")
    assert slurm.wait_ended(experiment)["state"] == "finished"
    for number in (1, 2):
        task = slurm.task(experiment, number)
        assert (task["state"], task["attempt"]) == ("finished", 2), task
        assert (marks.folder / f"{number}.saved").read_text().strip() == "USR1"
        assert "continues from its checkpoint" in [step["reason"] for step in task["timeline"]]
        assert slurm.metrics(experiment, number)["loss"]["step"] == [0, 1], "one curve, over both attempts"


def kill_a_runner(slurm, folder):
    """Rows that the runner could not see, and processes that left the script. There is one node in `cpu`."""
    marks = folder / "marks"
    marks.mkdir()
    variables = {"MARKS": str(marks), "EARLY": "0 1 2", "LATE": "3 4 5 6 7 8"}
    script = f'if [ "$SLUICE_ATTEMPT" = 2 ]; then {test_leftovers.SEES} exit 1; fi\n' + test_leftovers.START + test_collect.SCRIPT
    spec = slurm.spec({"n": [1]}, environment={"vars": variables}, retry={"lost": 1, "error": 0})
    experiment = slurm.submit(script, spec, name="task.sh")
    found = test_leftovers.pids(marks)
    (claim,) = wait_for(lambda: list(slurm.state.glob(f"experiments/{experiment}/batches/*/0.claim")), "nothing was claimed")
    test_collect.write_behind_its_back(json.loads(claim.read_text())["pid"], marks)
    slurm.wait_ended(experiment)
    task = slurm.task(experiment, 1)
    assert [attempt["cause"]["kind"] for attempt in task["attempts"]] == ["lost", "exit"], task
    assert (marks / "seen").read_text() == "" and not test_leftovers.living(found)
    for name in ("loss", "train_loss", "score"):
        assert slurm.metrics(experiment, 1)[name]["step"] == test_collect.EPOCHS, name


def test_a_killed_runner_leaves_no_row_unread_and_no_process_beside_the_next_attempt(slurm, folder):
    kill_a_runner(slurm, folder)


def test_a_preempted_task_ends_like_one_that_was_not(slurm, lab, folder):
    side = folder / "side"
    side.mkdir()
    # All four GPUs are taken by tasks that wait to be cut; a job with a better QOS needs one.
    experiment = training(slurm, side, {"cuts": [1], "n": [1, 2, 3, 4]}, "gpu_volta",
                          resources={"gpus": 1, "account": "labacct", "qos": "low", "time": "30m"},
                          checkpoint={"signal": "USR1", "before_limit": "30s"})
    wait_for(lambda: all(len(trained(side, number)) == EACH for number in range(1, 5)), "not all of them train")
    lab.slurm("sbatch", "-p", "gpu_volta", "--gres=gpu:1", "-A", "labacct", "-q", "high", "-o", "/dev/null", "--wrap", "sleep 1")
    ended = wait_for(lambda: [t["number"] for t in slurm.tasks(experiment) if t["state"] == "finished"], "nobody is preempted")
    assert len(ended) == 1, ended
    assert_like_uncut(slurm, side, experiment, ended[0], "preempted", 1)


def test_a_task_that_was_stopped_with_a_checkpoint_ends_like_one_that_was_not(slurm, folder):
    side = folder / "side"
    side.mkdir()
    experiment = training(slurm, side, {"cuts": [1]}, resources={"time": "30m"}, checkpoint={"signal": "USR1", "before_limit": "30s"})
    wait_for(lambda: len(trained(side, 1)) == EACH, "it does not train")
    slurm.wait_state(experiment, ("running",), 1)
    slurm.cli("stop", experiment, "--checkpoint")
    assert slurm.wait_ended(experiment)["state"] == "stopped"
    slurm.cli("restart", experiment, "--resume")
    assert slurm.wait_ended(experiment)["state"] == "finished"
    assert_like_uncut(slurm, side, experiment, 1, None, 1)


def test_five_cuts_at_the_time_limit_end_like_none(cut):
    daemon, side, experiment = cut
    daemon.wait_ended(experiment, deadline_s=900)
    assert_like_uncut(daemon, side, experiment, 1, "time", CUTS)
