"""The checkpoint signal before the time limit and at a preemption, on a real Slurm, with the kinds of scripts that people
write: what is told of them, and that what was cut off is continued and never called finished."""

from conftest import wait_for
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


def test_what_was_cut_off_at_its_limit_is_continued_where_it_has_a_checkpoint(slurm, folder):
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
