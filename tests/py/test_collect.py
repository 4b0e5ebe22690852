"""Rows that a script wrote after its runner's last look, when the runner is killed with -9. The runner is stopped
(SIGSTOP) before the script writes them, so that it cannot have seen them."""

import json
import os
import signal
import subprocess

import pytest

from attempt import BIN, ENV, Attempt, is_alive
from conftest import DEADLINE_S, wait_for

# Epochs 0 to 2 at once, the others when told so; each in a file, printed, and reported.
SCRIPT = r"""
row() {
    echo "$1,0.$1" >> metrics.csv
    echo "epoch $1 train_loss 1.$1"
    "$SLUICE_BIN" report score=2.$1 epoch=$1
}
[ -e metrics.csv ] || echo "epoch,loss" > metrics.csv
for i in $EARLY; do row $i; done
touch "$MARKS/ready$SLUICE_ATTEMPT"
while [ ! -e "$MARKS/go$SLUICE_ATTEMPT" ]; do sleep 0.05; done
for i in $LATE; do row $i; done
printf '99,0.' >> metrics.csv
touch "$MARKS/written$SLUICE_ATTEMPT"
exec sleep 1000
"""
EPOCHS = list(range(9))
WANTED = {"csv:metrics.csv": [(i, {"loss": float(f"0.{i}")}) for i in EPOCHS],
          "printed:stdout": [(i, {"train_loss": float(f"1.{i}")}) for i in EPOCHS],
          "report:report.jsonl": [(i, {"score": float(f"2.{i}")}) for i in EPOCHS]}


def write_behind_its_back(runner, marks, attempt=1):
    """Lets the script write the rest while its runner is stopped, and kills the runner."""
    wait_for((marks / f"ready{attempt}").exists, "the script does not begin")
    os.kill(runner, signal.SIGSTOP)
    (marks / f"go{attempt}").touch()
    wait_for((marks / f"written{attempt}").exists, "the script does not write")
    os.kill(runner, signal.SIGKILL)


def killed(tmp_path, script=SCRIPT, early="0 1 2", late="3 4 5 6 7 8", number=1, **more):
    """An attempt whose runner was killed, with rows that it has not seen."""
    a = Attempt(tmp_path, script, attempt=number, env={"MARKS": str(tmp_path), "EARLY": early, "LATE": late}, **more)
    p = a.start()
    wait_for((tmp_path / f"ready{number}").exists, "the script does not begin")
    wait_for(lambda: {"csv", "printed", "report"} <= {r["source"].split(":")[0] for r in a.records("metric")}, "the runner sees no row")
    write_behind_its_back(p.pid, tmp_path, number)
    p.communicate()
    wait_for(lambda: not [c for c in a.records("start") if is_alive(c["pgid"])], "the script does not end")
    return a


def collect(a, status=0):
    done = subprocess.run([BIN, "exec", "--collect", str(a.batch), "0"], env=ENV, capture_output=True, text=True, timeout=DEADLINE_S)
    assert done.returncode == status, done.stderr
    return done.stderr


def by_source(a):
    found = {}
    for r in a.records("metric"):
        found.setdefault(r["source"], []).append((r["step"], r["values"]))
    return found


def test_every_row_is_there_once_after_a_kill_of_the_collector_at_any_line(tmp_path):
    a = killed(tmp_path)
    journal = a.dir / "journal"
    before = journal.read_bytes()
    assert by_source(a) != WANTED
    collect(a)
    whole = journal.read_bytes()
    assert by_source(a) == WANTED
    assert whole.startswith(before) and not a.records("end")
    assert not (a.dir / "report.jsonl").exists(), "all of it is in the journal"
    collect(a)
    assert journal.read_bytes() == whole, "there was nothing left to do"
    # As a kill leaves it: between two records, or within one.
    ends = [i + 1 for i in range(len(before), len(whole)) if whole[i : i + 1] == b"\n"]
    for end in [len(before), *ends[:-1]]:
        for torn in (0, 7):
            journal.write_bytes(whole[: end + torn])
            (a.dir / "report.jsonl").write_text("".join(f'{{"score": 2.{i}, "epoch": {i}}}\n' for i in EPOCHS))
            collect(a)
            lines = [line for line in journal.read_bytes().split(b"\n")[:-1] if len(line) > 7]
            journal.write_bytes(b"\n".join(lines) + b"\n")
            assert {source: sorted(rows, key=lambda row: row[0]) for source, rows in by_source(a).items()} == WANTED, end


def test_nothing_is_read_while_the_runner_lives_and_what_it_left_is_ended_first(tmp_path):
    a = Attempt(tmp_path, "setsid sleep 1000 & echo $! > other; echo 'epoch,loss' > m.csv; echo 1,1 >> m.csv; touch ready; exec sleep 1000")
    p = a.start()
    wait_for((a.work / "ready").exists, "the script does not begin")
    os.kill(p.pid, signal.SIGSTOP)
    before = (a.dir / "journal").read_bytes()
    assert "alive" in collect(a, 1)
    p.kill()
    p.communicate()
    other = int((a.work / "other").read_text())
    assert is_alive(other)
    assert (a.dir / "journal").read_bytes() == before
    collect(a)
    assert not is_alive(other)
    assert a.rows() == [(1, {"loss": 1})]


def test_an_attempt_that_told_its_end_is_left_alone(tmp_path):
    a = Attempt(tmp_path, "echo 'epoch,loss' > m.csv; echo 1,1 >> m.csv").run()
    before = (a.dir / "journal").read_bytes()
    with open(a.work / "m.csv", "a") as out:
        out.write("2,2\n")
    collect(a)
    assert (a.dir / "journal").read_bytes() == before


def test_a_later_attempt_keeps_what_it_repeats(tmp_path):
    """The second attempt goes back to epoch 5, in the file of the first: its rows replace those of the first."""
    first = killed(tmp_path)
    collect(first)
    lines = (first.work / "metrics.csv").read_text().rsplit("\n", 1)
    (first.work / "metrics.csv").write_text(lines[0] + "\n")  # as a script does that looks where it was
    script = SCRIPT.replace("0.$1", "5.$1")
    second = killed(tmp_path, script, early="5", late="6 7 8 9", number=2)
    collect(second)
    newest = {}
    for r in second.records("metric"):
        if r["source"] == "csv:metrics.csv":
            newest[r["step"]] = r["values"]["loss"]
    assert newest == {**{i: float(f"0.{i}") for i in range(5)}, **{i: float(f"5.{i}") for i in range(5, 10)}}
    assert [r["path"] for r in second.records("before")] == ["metrics.csv", ""]


def notes(a):
    return [r["text"] for r in a.records("note")]


def test_a_name_that_the_journal_cannot_take_makes_no_row_of_an_earlier_attempt_a_new_one(tmp_path):
    script = SCRIPT.replace("metrics.csv", "$'m\\xff.csv'")
    collect(killed(tmp_path, script))
    second = killed(tmp_path, script, early="5", late="6 7", number=2)
    before = by_source(second)
    collect(second)
    assert by_source(second) == before and "is only in its own files" in notes(second)[-1], notes(second)


def test_where_the_files_of_earlier_attempts_are_not_all_named_nothing_is_read_and_that_is_said(tmp_path):
    """As after a kill before the script began, or with a runner that named none: old rows must not become new ones."""
    collect(killed(tmp_path))
    second = killed(tmp_path, SCRIPT, early="5", late="6 7", number=2)
    journal = second.dir / "journal"
    kept = [line for line in journal.read_bytes().splitlines(True) if b'"kind":"before"' not in line]
    journal.write_bytes(b"".join(kept))
    collect(second)
    said = journal.read_bytes()
    assert said.startswith(b"".join(kept)) and len(said[len(b"".join(kept)):].splitlines()) == 1
    assert "is only in its own files" in notes(second)[-1], notes(second)
    collect(second)
    assert journal.read_bytes() == said, "once is enough"


def test_a_table_that_the_runner_read_is_no_data_later(tmp_path):
    """At its first look a table of thousands of rows without a step is data; this one had three then."""
    script = SCRIPT.replace('echo "$1,0.$1" >> metrics.csv', "").replace('"epoch,loss" > metrics.csv', "loss > m.csv; for i in 1 2 3; do echo $i >> m.csv; done")
    script = script.replace("for i in $LATE; do row $i; done", "seq 4 3000 >> m.csv")
    a = killed(tmp_path, script)
    collect(a)
    rows = by_source(a)["csv:m.csv"]
    assert [values["loss"] for _, values in rows] == list(range(1, 3001))


@pytest.mark.parametrize("with_daemon", [False, True], ids=["runner killed", "runner and daemon killed"])
def test_a_task_that_is_lost_for_good_has_every_row(daemon, folder, with_daemon):
    marks = folder / "marks"
    marks.mkdir()
    spec = {"retry": {"lost": 0}, "environment": {"vars": {"MARKS": str(marks), "EARLY": "0 1 2", "LATE": "3 4 5 6 7 8"}}}
    experiment = daemon.submit(SCRIPT, spec, name="run.sh")
    wait_for((marks / "ready1").exists, "the script does not begin")
    (claim,) = daemon.state.glob(f"experiments/{experiment}/batches/*/0.claim")
    runner = json.loads(claim.read_text())["pid"]
    if with_daemon:
        daemon.kill()
    write_behind_its_back(runner, marks)
    if with_daemon:
        daemon.start()
    daemon.wait_ended(experiment)
    task = daemon.task(experiment, 1)
    assert (task["state"], task["cause"]["kind"], len(task["attempts"])) == ("error", "lost", 1), task
    curves = {name: list(zip(curve["step"], curve["value"])) for name, curve in daemon.metrics(experiment, 1).items()}
    for name, begin in (("loss", 0), ("train_loss", 1), ("score", 2)):
        assert curves[name] == [(i, float(f"{begin}.{i}")) for i in EPOCHS], name
    told = [step["reason"] for step in task["timeline"] if step["reason"]]
    assert len([text for text in told if "read from what the script had written" in text]) == 1, told


def test_the_first_attempt_of_a_task_that_is_run_again_has_every_row(daemon, folder):
    """What was printed and reported is in files of the attempt, which the next one does not read."""
    marks = folder / "marks"
    marks.mkdir()
    spec = {"retry": {"lost": 1}, "environment": {"vars": {"MARKS": str(marks), "EARLY": "0 1 2", "LATE": "3 4 5 6 7 8"}}}
    again = '[ "$SLUICE_ATTEMPT" = 2 ] && exit 0\n'
    experiment = daemon.submit(again + SCRIPT, spec, name="run.sh")
    wait_for((marks / "ready1").exists, "the script does not begin")
    (claim,) = daemon.state.glob(f"experiments/{experiment}/batches/*/0.claim")
    write_behind_its_back(json.loads(claim.read_text())["pid"], marks)
    assert daemon.wait_ended(experiment)["state"] == "finished"
    curves = daemon.metrics(experiment, 1)
    for name in ("loss", "train_loss", "score"):
        assert curves[name]["step"] == EPOCHS, (name, curves[name])
    assert len(daemon.task(experiment, 1)["attempts"]) == 2
