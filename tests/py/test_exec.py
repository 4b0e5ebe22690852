"""`sluice exec` by itself: hand-written descriptors, real scripts, and what the journal says afterwards."""
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from attempt import Attempt, BIN, is_alive, stat_of
from conftest import DEADLINE_S, wait_for


def test_the_story_of_a_good_run(tmp_path):
    a = Attempt(tmp_path, 'echo "$@"; pwd; env; echo epoch,loss > results/$1/$2/$2.csv; echo 0,0.5 >> results/$1/$2/$2.csv',
                env={"SLUICE_PARAM_BATCH_SIZE": "64", "QUOTED": "a b\n\"'$x"}).run()
    assert a.status == 0, a.said
    # A machine that is busy for two seconds takes a sample of it.
    assert [r["kind"] for r in a.records() if r["kind"] != "sample"] == ["start", "metric", "end"]
    start, end = a.records("start")[0], a.end()
    assert start["beat_ms"] == 60000  # what the daemon may rely on
    assert start["host"] == os.uname().nodename and start["pid"] > 0 and start["pgid"] > 0 and not start["resume"]
    assert end["cause"] == "ok" and end["exit_code"] == 0 and end["wall_ms"] >= 0 and end["max_rss_bytes"] > 0
    assert a.rows() == [(0, {"loss": 0.5})]
    out = a.stdout()
    assert out.startswith(f"e1 7 64 0.001\n{a.work}\n")
    for name, value in {"SLUICE_EXPERIMENT": "e1", "SLUICE_TASK": "7", "SLUICE_ATTEMPT": "1", "SLUICE_TASK_DIR": a.task,
                        "SLUICE_CHECKPOINT_DIR": a.task / "checkpoint", "SLUICE_PARAMS": a.task / "params.json",
                        "SLUICE_PARAM_BATCH_SIZE": "64", "QUOTED": "a b\n\"'$x"}.items():
        assert f"\n{name}={value}\n" in out
    assert "SLUICE_RESUME" not in out
    assert json.loads((a.task / "params.json").read_text()) == {"batch_size": 64}
    assert not (a.work / "script.sh").exists()  # after a good end only what the script made is left
    assert json.loads((a.batch / "0.claim").read_text())["host"] == os.uname().nodename
    assert sorted(p.name for p in a.batch.iterdir()) == ["0.claim", "0.json"]


def test_rows_are_read_when_the_folder_is_away_as_the_script_ends(tmp_path):
    go, ended = tmp_path / "go", tmp_path / "ended"
    a = Attempt(tmp_path, f"touch here; until [ -e {go} ]; do sleep 0.1; done; "
                          f"echo epoch,loss > m.csv; echo 0,0.5 >> m.csv; touch {ended}")
    p = a.start()
    wait_for(lambda: (a.work / "here").exists(), "the script does not start")
    away = a.task.with_name("away")
    a.task.rename(away)  # as a mount that goes
    go.touch()
    wait_for(ended.exists, "the script does not end")
    time.sleep(1.5)
    assert p.poll() is None, "the runner did not wait"
    away.rename(a.task)
    assert p.wait(timeout=60) == 0
    assert a.rows() == [(0, {"loss": 0.5})]


# Says what the kernel counts for the whole tree: a child that is waited for while samples are taken, one that is not, and
# what comes after the last sample.
TRAFFIC = """
import os, subprocess, sys, time
def write(name, megabytes):
    with open(name, "wb") as out:
        out.write(os.urandom(megabytes << 20))
        out.flush()
        os.fsync(out.fileno())
write("a", 3)
if sys.argv[1] == "long":
    subprocess.run([sys.executable, "-c", "import time; open('b', 'wb').write(bytes(5 << 20)); time.sleep(4)"])
write("c", 7)
print(dict(line.split(": ") for line in open("/proc/self/io").read().splitlines())["write_bytes"])
"""


@pytest.mark.parametrize("how", ["short", "long"])
def test_bytes_are_those_of_the_whole_script_also_after_the_last_sample(tmp_path, how):
    (tmp_path / "traffic.py").write_text(TRAFFIC)
    a = Attempt(tmp_path, f"exec {sys.executable} {tmp_path}/traffic.py {how}").run()
    kernel = int(a.stdout())
    # The script writes its last line after it has looked; the runner makes no file of the script.
    assert kernel <= a.end()["write_bytes"] <= kernel + (1 << 16)
    assert a.end()["read_bytes"] >= 0


def test_the_most_memory_counts_shared_pages_once(tmp_path):
    """Four workers that were forked from a script with 200 MB, as those that load data."""
    (tmp_path / "workers.py").write_text("import os, time\ndata = bytearray(os.urandom(200 << 20))\n"
                                         "workers = [pid for pid in (os.fork() or time.sleep(5) or os._exit(0) for _ in range(4))]\n"
                                         "for pid in workers:\n    os.waitpid(pid, 0)\n")
    end = Attempt(tmp_path, f"exec {sys.executable} {tmp_path}/workers.py").run().end()
    assert 200 << 20 < end["max_rss_bytes"] < 500 << 20


def test_the_second_runner_for_an_item_does_nothing(tmp_path):
    a = Attempt(tmp_path, "echo ran >> $SLUICE_TASK_DIR/ran").run()
    before = (a.dir / "journal").read_bytes()
    a.run()
    assert a.status == 0 and a.said == ""
    assert (a.dir / "journal").read_bytes() == before
    assert (a.task / "ran").read_text() == "ran\n"


def test_a_runner_whose_attempt_is_over_runs_nothing(tmp_path):
    a = Attempt(tmp_path, "echo ran >> $SLUICE_TASK_DIR/ran")
    (a.batch / "0.json").unlink()  # what the daemon removes first
    a.run()
    assert a.status == 0 and "over" in a.said, a.said
    shutil.rmtree(a.batch)  # and with the last item of the batch
    a.run()
    assert a.status == 0 and "over" in a.said, a.said
    assert not a.task.exists()


def says(p, word):
    """Reads what a runner prints up to a line with this word."""
    for line in p.stdout:
        if word in line.decode():
            return line.decode()
    raise AssertionError(f"it ended without saying '{word}'")


@pytest.mark.parametrize("away", ["batch", "state"])
def test_a_folder_that_the_node_does_not_see_yet_is_waited_for(tmp_path, away):
    a = Attempt(tmp_path / "state", "echo ran >> $SLUICE_TASK_DIR/ran")
    folder = a.batch if away == "batch" else a.root
    folder.rename(tmp_path / "away")
    p = a.start()
    assert str(a.batch) in says(p, "waiting")
    (tmp_path / "away").rename(folder)
    p.communicate(timeout=DEADLINE_S)
    assert p.returncode == 0 and a.end()["cause"] == "ok"


def test_a_disk_that_is_full_before_the_claim_is_waited_for(tmp_path):
    """A limit on the size of the runner's files stands for the disk."""
    a = Attempt(tmp_path, "echo ran >> $SLUICE_TASK_DIR/ran")
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, old[1]))
    try:
        p = a.start()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
    says(p, "waiting")
    assert sorted(f.name for f in a.batch.iterdir()) == ["0.json"]
    resource.prlimit(p.pid, resource.RLIMIT_FSIZE, old)
    p.communicate(timeout=DEADLINE_S)
    assert p.returncode == 0 and (a.task / "ran").read_text() == "ran\n"


def test_a_task_folder_that_cannot_be_made_yet_is_waited_for(tmp_path):
    a = Attempt(tmp_path, "echo ran >> $SLUICE_TASK_DIR/ran")
    a.task.parent.write_text("not a folder")
    p = a.start()
    says(p, "waiting")
    assert (a.batch / "0.claim").exists()
    a.task.parent.unlink()
    p.communicate(timeout=DEADLINE_S)
    assert p.returncode == 0 and (a.task / "ran").read_text() == "ran\n"


def test_a_work_folder_that_cannot_be_made_yet_is_waited_for(tmp_path):
    a = Attempt(tmp_path, "echo ran >> $SLUICE_TASK_DIR/ran", fresh=False)
    a.files.rename(tmp_path / "away")
    p = a.start()
    says(p, "waiting")
    (tmp_path / "away").rename(a.files)
    p.communicate(timeout=DEADLINE_S)
    assert p.returncode == 0 and a.end()["cause"] == "ok"


def test_a_runner_that_is_stopped_while_it_waits_leaves_no_claim(tmp_path):
    a = Attempt(tmp_path, "echo ran >> $SLUICE_TASK_DIR/ran")
    a.task.parent.write_text("not a folder")
    p = a.start()
    says(p, "waiting")
    p.send_signal(signal.SIGTERM)
    p.communicate(timeout=DEADLINE_S)
    assert p.returncode == 128 + signal.SIGTERM
    assert sorted(f.name for f in a.batch.iterdir()) == ["0.json"]
    a.task.parent.unlink()
    assert a.run().status == 0 and a.end()["cause"] == "ok"  # the next runner may have it


def test_a_stop_while_it_waits_with_its_journal_open_is_an_end(tmp_path):
    a = Attempt(tmp_path, "echo ran >> $SLUICE_TASK_DIR/ran")
    a.files.rename(tmp_path / "away")
    p = a.start()
    says(p, "waiting")
    (a.dir / "stop").touch()
    p.communicate(timeout=DEADLINE_S)
    assert a.end()["cause"] == "stopped" and not a.records("start")


def test_of_two_racing_runners_one_runs_the_script(tmp_path):
    for i in range(200):
        a = Attempt(tmp_path / str(i), "echo ran >> $SLUICE_TASK_DIR/ran")
        for p in [a.start(), a.start()]:
            p.communicate(timeout=DEADLINE_S)
            assert p.returncode == 0
        assert (a.task / "ran").read_text() == "ran\n"
        assert len(a.records("start")) == 1 and len(a.records("end")) == 1


def test_rows_appear_while_the_script_runs(tmp_path):
    a = Attempt(tmp_path, "f=results/e1/7/7.csv; echo epoch,loss > $f; echo 0,0.5 >> $f; while [ ! -e go ]; do sleep 0.05; done; printf '1,0.25' >> $f")
    p = a.start()
    wait_for(lambda: a.rows() == [(0, {"loss": 0.5})], "the first row")
    (a.work / "go").touch()
    p.communicate(timeout=DEADLINE_S)
    assert a.rows() == [(0, {"loss": 0.5}), (1, {"loss": 0.25})]


def test_a_table_written_anew_after_every_epoch_gives_every_row_once(tmp_path):
    script = """for n in 1 2 3 4 5; do
        { echo epoch,loss; for i in $(seq 1 $n); do echo $i,0.$i; done; } > results/e1/7/tmp
        if [ $((n % 2)) = 0 ]; then mv results/e1/7/tmp results/e1/7/7.csv; else cat results/e1/7/tmp > results/e1/7/7.csv; fi
        sleep 0.3; done"""
    a = Attempt(tmp_path, script).run()
    assert a.rows() == [(i, {"loss": float(f"0.{i}")}) for i in range(1, 6)]


def test_a_truncated_file_that_begins_anew_is_read_again(tmp_path):
    a = Attempt(tmp_path, "f=results/e1/7/7.csv; printf 'epoch,loss\\n0,1\\n1,2\\n' > $f; while [ ! -e go ]; do sleep 0.05; done; "
                "printf 'epoch,acc\\n0,9\\n' > $f")
    p = a.start()
    wait_for(lambda: len(a.rows()) == 2, "the first rows")
    (a.work / "go").touch()
    p.communicate(timeout=DEADLINE_S)
    assert a.rows() == [(0, {"loss": 1}), (1, {"loss": 2}), (0, {"acc": 9})]


def test_files_are_found_by_themselves_and_data_is_left_alone(tmp_path):
    a = Attempt(tmp_path, """mkdir -p logs/v0; printf 'epoch,step,val_loss\\n0,10,0.5\\n' > logs/v0/metrics.csv
        printf 'y_true,y_pred\\n1,2\\n3,4\\n' > predictions.csv; printf '{"step": 3, "reward": NaN}\\n' > log.jsonl
        printf 'x,epoch,loss\\n1,1,1\\n' > data.csv.tmp""")
    (a.files / "labels.csv").write_text("epoch,loss\n1,1\n")
    a.run()
    assert sorted(a.rows(), key=str) == [(10, {"val_loss": 0.5}), (3, {"reward": "NaN"})]


def test_a_pattern_names_the_files(tmp_path):
    a = Attempt(tmp_path, "printf 'a\\n1\\n' > results/e1/x.csv; printf 'epoch,loss\\n1,1\\n' > other.csv; printf 'b\\n2\\n' > results/e1/y.txt",
                metrics={"csv": ["results/*/*.csv", "results/*/*.txt"]}).run()
    assert sorted(a.rows(), key=str) == [(1, {"a": 1}), (1, {"b": 2})]


def test_a_resumed_attempt_keeps_its_checkpoint_and_its_steps(tmp_path):
    first = Attempt(tmp_path, "echo 5 > $SLUICE_CHECKPOINT_DIR/c; printf 'epoch,loss\\n0,1\\n1,2\\n2,3\\n' > results/e1/7/7.csv; exit 1").run()
    assert len(first.rows()) == 3
    again = Attempt(tmp_path, "echo resume=$SLUICE_RESUME; cat $SLUICE_CHECKPOINT_DIR/c; printf '2,30\\n3,40\\n' >> results/e1/7/7.csv", attempt=2).run()
    assert again.stdout() == "resume=1\n5\n"
    assert again.records("start")[0]["resume"] is True and again.records("start")[0]["checkpoint"] is True
    assert again.rows()[-2:] == [(2, {"loss": 30}), (3, {"loss": 40})]
    fresh = Attempt(tmp_path, "echo resume=$SLUICE_RESUME; ls $SLUICE_CHECKPOINT_DIR results/e1/7", attempt=3, fresh=True).run()
    assert "checkpoint" not in fresh.records("start")[0]
    empty = Attempt(tmp_path, "true", attempt=4).run().records("start")[0]
    assert empty["resume"] is True and "checkpoint" not in empty  # nothing was left in its folder
    assert fresh.stdout().splitlines()[0] == "resume=" and "7.csv" not in fresh.stdout() and "\nc\n" not in fresh.stdout()


def test_an_attempt_that_goes_back_once_more_repeats_its_own_steps(tmp_path):
    """Each attempt appends to one file and goes back to its checkpoint: of a step the last row counts."""
    f = "results/e1/7/7.csv"
    Attempt(tmp_path, f"printf 'epoch,loss\\n0,1\\n1,2\\n2,3\\n' > {f}; exit 1").run()
    Attempt(tmp_path, f"printf '1,20\\n2,30\\n3,40\\n' >> {f}; exit 1", attempt=2).run()
    third = Attempt(tmp_path, f"printf '2,300\\n3,400\\n4,500\\n' >> {f}; exit 1", attempt=3).run()
    assert {step: row["loss"] for step, row in third.rows()} == {0: 1, 1: 20, 2: 300, 3: 400, 4: 500}
    # Two trainings one after the other within one attempt stay two, whatever the sizes were before.
    fourth = Attempt(tmp_path, f"printf 'epoch,loss\\n0,11\\n1,12\\n2,13\\n3,14\\n4,15\\n0,21\\n1,22\\n' > {f}; exit 1", attempt=4).run()
    assert [row["loss"] for _, row in sorted(fourth.rows(), key=lambda row: row[0])][-7:] == [11, 12, 13, 14, 15, 21, 22]
    fifth = Attempt(tmp_path, f"printf '7,31\\n' >> {f}", attempt=5).run()
    assert [step for step, _ in fifth.rows()] == list(range(8)), fifth.rows()
    # From scratch, nothing of all that counts.
    Attempt(tmp_path, f"printf 'epoch,loss\\n0,1\\n1,2\\n' > {f}; exit 1", attempt=6, fresh=True).run()
    last = Attempt(tmp_path, f"printf '1,20\\n2,30\\n' >> {f}", attempt=7).run()
    assert {step: row["loss"] for step, row in last.rows()} == {0: 1, 1: 20, 2: 30}


@pytest.mark.parametrize("layout", ["new", "old"])
def test_rows_that_a_killed_runner_did_not_tell_are_told_by_the_next(tmp_path, layout):
    where = {"attempt_dir": str(tmp_path / "tasks/7/attempts/1")} if layout == "old" else {}
    first = Attempt(tmp_path, **where, script="f=results/e1/7/old.csv; printf 'epoch,loss\\n0,1\\n' > $f; touch ready; while [ ! -e go ]; do sleep 0.02; done; printf '1,2\\n' >> $f; touch written; sleep 1000")
    p = first.start()
    wait_for((first.work / "ready").exists, "the script")
    os.kill(p.pid, signal.SIGSTOP)
    wait_for(lambda: stat_of(p.pid)[0] == "T", "the runner stands")  # from here on it cannot read what the script writes
    (first.work / "go").touch()
    wait_for((first.work / "written").exists, "the last row")
    p.kill()
    p.communicate()
    assert (1, {"loss": 2}) not in first.rows()
    again = Attempt(tmp_path, "true", attempt=2).run()
    assert again.rows() == [(0, {"loss": 1}), (1, {"loss": 2})]
    third = Attempt(tmp_path, "true", attempt=3).run()
    assert third.rows() == []


def test_a_claim_is_not_ours_because_a_killed_runner_had_our_pid(tmp_path):
    """In containers pids are the same again and again: here it is 1."""
    a = Attempt(tmp_path, "touch ran")
    (a.batch / "0.claim").write_text("{}\n")
    os.link(a.batch / "0.claim", a.batch / f"0.claim.{os.uname().nodename}.1")
    done = subprocess.run(["unshare", "--pid", "--fork", "--", BIN, "exec", str(a.batch), "0"], capture_output=True, text=True)
    if "unshare" in done.stderr:
        pytest.skip("no name space for pids here")
    assert done.returncode == 0 and not a.records() and not (a.work / "ran").exists()
    assert sorted(p.name for p in a.batch.iterdir()) == ["0.claim", "0.json"]


def test_rows_are_told_also_after_attempts_that_never_began(tmp_path):
    first = Attempt(tmp_path, "f=results/e1/7/old.csv; printf 'epoch,loss\\n0,1\\n' > $f; touch ready; sleep 20")
    p = first.start()
    wait_for((first.work / "ready").exists, "the script")
    p.kill()
    p.communicate()
    # The second runner was killed before it had a journal; the third was told to stop before it started.
    third = Attempt(tmp_path, "true", attempt=3)
    third.dir.mkdir(parents=True)
    (third.dir / "stop").touch()
    third.run()
    assert third.end()["cause"] == "stopped" and not third.records("start")
    assert Attempt(tmp_path, "true", attempt=4).run().rows() == [(0, {"loss": 1})]


def test_a_full_disk_delays_the_journal_and_loses_nothing(tmp_path):
    """A limit on the size of the runner's files stands for the disk; the script has no such limit."""
    a = Attempt(tmp_path, "f=results/e1/7/7.csv; touch ready; while [ ! -e go ]; do sleep 0.02; done; printf 'epoch,loss\\n0,1\\n1,2\\n2,3\\n' > $f")
    p = a.start()
    wait_for((a.work / "ready").exists, "the script")
    old = resource.prlimit(p.pid, resource.RLIMIT_FSIZE)

    def journal_size():
        return (a.dir / "journal").stat().st_size

    def limited():  # a sample may be written between the look and the limit
        found = journal_size()
        resource.prlimit(p.pid, resource.RLIMIT_FSIZE, (found + 30, old[1]))
        return found == journal_size() and found

    size = wait_for(limited, "a journal that stands still")
    (a.work / "go").touch()
    wait_for(lambda: journal_size() == size + 30, "the torn line")
    wait_for(lambda: not is_alive(a.records("start")[0]["pgid"]), "the script's end")
    assert p.poll() is None
    resource.prlimit(p.pid, resource.RLIMIT_FSIZE, old)
    p.communicate(timeout=DEADLINE_S)
    assert a.rows() == [(0, {"loss": 1}), (1, {"loss": 2}), (2, {"loss": 3})]
    assert a.end()["cause"] == "ok"
    # A script that does not look whether its output was written has met the same.
    assert [r for r in a.records("note") if "nothing could be written to its folder (File too large)" in r["text"]]


def sleeps(pid):
    """Is it in nanosleep or clock_nanosleep (x86-64, aarch64)?"""
    return Path(f"/proc/{pid}/syscall").read_text().split()[0] in ("35", "230", "101", "115")


@pytest.fixture
def small(tmp_path):
    """A disk of 256 KB."""
    folder = tmp_path / "small"
    folder.mkdir()
    if os.geteuid() or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k,mode=700", "none", folder], capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


def test_a_script_whose_output_found_no_room_is_told_so(small):
    """What it says of it finds no room either."""
    a = Attempt(small, f"cat /dev/zero > filler 2> /dev/null\n{sys.executable} -c 'print(1)'")
    p = a.start()
    wait_for(lambda: (a.work / "filler").exists() and not is_alive(a.records("start")[0]["pgid"]), "the script's end")
    wait_for(lambda: p.poll() is not None or sleeps(p.pid), "the runner neither ends nor waits for room", 30)
    (a.work / "filler").unlink()
    p.communicate(timeout=DEADLINE_S)
    end = a.end()
    assert end["cause"] == "exit"
    assert end["message"].endswith("it printed nothing; nothing can be written to its folder: No space left on device"), end


def test_report_appends_rows(tmp_path):
    a = Attempt(tmp_path, 'set -e; "$SLUICE_BIN" report val_loss=0.31 epoch=4; "$SLUICE_BIN" report val_loss=nan acc=1e-3 epoch=5').run()
    assert a.end()["cause"] == "ok", a.end()
    assert a.rows() == [(4, {"val_loss": 0.31}), (5, {"val_loss": "NaN", "acc": 0.001})]


def left(a):
    return sorted(str(path.relative_to(a.task)) for path in a.task.rglob("*"))


def test_what_is_empty_is_removed_at_the_end(tmp_path):
    a = Attempt(tmp_path, 'test -d "$SLUICE_CHECKPOINT_DIR" && test -d results/e1/7 && "$SLUICE_BIN" report loss=1').run()
    assert a.end()["cause"] == "ok" and a.rows() == [(1, {"loss": 1})]
    assert left(a) == ["journal", "params.json", "work"]


def test_what_holds_something_stays(tmp_path):
    a = Attempt(tmp_path, 'echo out; echo err >&2; touch "$SLUICE_CHECKPOINT_DIR/c" results/e1/seen; echo "not JSON" > "$SLUICE_REPORT"').run()
    assert left(a) == ["checkpoint", "checkpoint/c", "journal", "params.json", "report.jsonl", "stderr", "stdout", "work",
                       "work/results", "work/results/e1", "work/results/e1/seen"]


def test_an_attempt_that_was_given_up_takes_no_folder_from_the_next(tmp_path):
    a = Attempt(tmp_path, "touch ready; while [ ! -e go ]; do sleep 0.02; done")
    p = a.start()
    wait_for((a.work / "ready").exists, "the script")
    (a.dir / "stop").touch()
    (a.work / "go").touch()
    p.communicate(timeout=DEADLINE_S)
    assert (a.task / "checkpoint").is_dir() and (a.work / "results/e1/7").is_dir()


@pytest.mark.parametrize("args, status, says", [
    (["loss=1"], 1, "SLUICE_REPORT"), ([], 2, "usage"), (["loss"], 2, "NAME=VALUE"), (["loss=abc"], 2, "not a number")])
def test_report_says_what_is_wrong(args, status, says, tmp_path):
    env = dict(os.environ)
    env.pop("SLUICE_REPORT", None)
    if status == 2:
        env["SLUICE_REPORT"] = str(tmp_path / "r.jsonl")
    done = subprocess.run([BIN, "report", *args], env=env, stderr=subprocess.PIPE)
    assert done.returncode == status and says in done.stderr.decode()


def test_samples_count_what_the_script_started(tmp_path):
    a = Attempt(tmp_path, "python3 -c 'import time; x = bytearray(b\"x\" * (100 << 20)); time.sleep(1000)' & echo $! > child; wait")
    p = a.start()
    # The first one may come before Python has begun.
    sample = wait_for(lambda: next((s for s in a.records("sample") if s["max_rss_bytes"] > 100 << 20), None), "a sample of 100 MB")
    p.send_signal(signal.SIGTERM)
    p.communicate(timeout=DEADLINE_S)
    assert sample["cpu_ms"] > 0 and sample["wall_ms"] >= 2000
    assert a.end()["max_rss_bytes"] >= sample["max_rss_bytes"] and a.end()["cpu_ms"] >= sample["cpu_ms"]


def test_a_broken_descriptor_is_reported(tmp_path):
    a = Attempt(tmp_path, "")
    (a.batch / "0.json").write_text('{"argv": "x"')
    a.run()
    assert a.status == 1 and "0.json" in a.said


def test_broken_rows_are_noted(tmp_path):
    a = Attempt(tmp_path, "printf 'epoch,loss\\n0,1\\n1\\n2,3\\n' > results/e1/7/7.csv").run()
    assert a.rows() == [(0, {"loss": 1}), (2, {"loss": 3})]
    assert [r["text"] for r in a.records("note")] == ["results/e1/7/7.csv: line 3 has 1 fields, the header 2"]


# The submitted files.


def test_a_later_attempt_finds_the_files_as_the_script_left_them(tmp_path):
    script = """
        if [ $SLUICE_ATTEMPT = 1 ]; then echo changed > config.json; rm gone.txt; exit 3; fi
        cat config.json; ls gone.txt new.txt 2>&1; cat again.txt"""
    files = tmp_path / "files"
    files.mkdir()
    for name in ("config.json", "gone.txt", "again.txt"):
        (files / name).write_text("submitted")
    Attempt(tmp_path, script).run()
    (files / "again.txt").write_text("submitted again")  # by a restart with another file
    (tmp_path / "tasks/7/work.new").mkdir()  # of a runner that was killed while it copied
    (tmp_path / "tasks/7/work.new/config.json").write_text("half")
    a = Attempt(tmp_path, None, attempt=2).run()
    assert a.stdout().startswith("changed\nls: cannot access 'gone.txt'") and a.stdout().endswith("submitted again")


def test_a_runner_that_was_killed_while_it_copied_leaves_whole_files_to_the_next(tmp_path):
    a = Attempt(tmp_path, "cmp data.bin ../../../files/data.bin && echo whole")
    (a.files / "data.bin").write_bytes(os.urandom(32 << 20))
    p = a.start()
    # At whatever point of the copy this comes: the next attempt must have all of it.
    wait_for(lambda: (a.task / "work.new").exists() or a.work.exists(), "the copy has begun")
    p.kill()
    p.wait()
    b = Attempt(tmp_path, None, attempt=2).run()
    assert b.stdout() == "whole\n" and not (a.task / "work.new").exists()


def test_after_a_good_end_what_the_script_did_not_change_is_removed_and_comes_back(tmp_path):
    a = Attempt(tmp_path, """
        if [ $SLUICE_ATTEMPT = 1 ]; then echo x >> kept.txt; mkdir __pycache__; touch __pycache__/a.pyc data/own; fi; cat data/in""")
    (a.files / "data").mkdir()
    for name in ("kept.txt", "data/in", "unused"):
        (a.files / name).write_text("in\n")
    a.run()
    assert a.stdout() == "in\n"
    assert sorted(str(f.relative_to(a.work)) for f in a.work.rglob("*")) == ["data", "data/own", "kept.txt"]
    b = Attempt(tmp_path, None, attempt=2).run()
    assert b.stdout() == "in\n" and (a.work / "kept.txt").read_text() == "in\nx\n"


def test_a_large_file_is_a_link_and_the_journal_says_so(tmp_path):
    a = Attempt(tmp_path, "readlink big.bin; test -L script.sh || echo own", copy_limit_bytes=1000)
    (a.files / "big.bin").write_bytes(b"x" * 1001)
    a.run()
    assert a.stdout() == f"{a.files}/big.bin\nown\n"
    assert [r["text"] for r in a.records("note")] == [
        "big.bin (1001 B) is a read-only link to the submitted file, because it is larger than copy_limit (1000 B)"]


def test_submitted_tables_are_no_metrics_until_the_script_adds_to_them(tmp_path):
    script = "if [ $SLUICE_ATTEMPT = 1 ]; then kill -9 $PPID; sleep 9; fi; echo 2,5 >> log.csv"
    a = Attempt(tmp_path, script)
    for name in ("train.csv", "log.csv"):
        (a.files / name).write_text("epoch,loss\n1,9\n")
    a.run()
    b = Attempt(tmp_path, None, attempt=2).run()
    assert a.rows() == [] and (2, {"loss": 5}) in b.rows() and len(b.rows()) <= 2


def test_what_ran_is_found_out_again_only_where_something_changed(tmp_path):
    packages = tmp_path / "venv/lib/python3.11/site-packages"
    for folder in (packages / "one-1.0.dist-info", tmp_path / "venv/bin"):
        folder.mkdir(parents=True)
    (tmp_path / "venv/pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.11.2\n")
    (tmp_path / "venv/bin/python3").write_text("#!/bin/sh\n")
    (tmp_path / "venv/bin/python3").chmod(0o755)
    ran, attempts = tmp_path / "ran", iter(range(1, 100))
    (tmp_path / "files").mkdir()
    (tmp_path / "files/script.sh").write_text("true")

    def record(**env):
        path = f"{tmp_path}/venv/bin:{os.environ['PATH']}"
        a = Attempt(tmp_path, None, attempt=next(attempts), ran_dir=str(ran), env={"PATH": path, **env})
        (a.batch / "0.json").write_text(json.dumps({**a.descriptor, "script": "script.sh"}))
        a.run()
        (digest,) = [r["digest"] for r in a.records("ran")]
        return digest, json.loads((ran / f"{digest}.json").read_text())

    first, text = record()
    assert text["packages"] == {"one": "1.0"}
    (last,) = ran.glob("*.last")
    known = "0" * 32
    last.write_text(last.read_text().replace(first, known))
    (ran / f"{known}.json").write_text("{}")
    assert record() == (known, {})
    assert record(NEW="1")[1]["environment"]["NEW"] == "1"
    (packages / "two-2.0.dist-info").mkdir()
    digest, text = record()
    assert text["packages"] == {"one": "1.0", "two": "2.0"}
    (ran / f"{digest}.json").unlink()
    assert record() == (digest, text)
    (tmp_path / "files/script.sh").write_text("true; true")
    assert record()[1]["script"] != text["script"]
    last.write_text("x" * 100)
    record()
