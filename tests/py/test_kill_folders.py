"""A runner that is killed with -9 while it makes its folders, or writes down what ran: at any moment of a fresh start the
folders of the attempt before are there until the new script has begun, and every file is whole or not there."""

import hashlib
import random
import signal
import time

from attempt import Attempt

# What an attempt must not find of an earlier one, and what every attempt must find.
SCRIPT = """
touch "$MARKS/began.$SLUICE_ATTEMPT"
[ -e precious ] && touch "$MARKS/stale.$SLUICE_ATTEMPT"
[ "$(cat data.txt | wc -c)" = 200000 ] || touch "$MARKS/half.$SLUICE_ATTEMPT"
sleep ${SLEEP:-0}
echo 1 > precious
echo 1 > "$SLUICE_CHECKPOINT_DIR/precious"
"""
ROUNDS = 25


def attempt_of(root, number, fresh, sleep=0):
    a = Attempt(root, SCRIPT, attempt=number, fresh=fresh, env={"MARKS": str(root), "SLEEP": str(sleep)}, ran_dir=str(root / "ran"))
    (a.files / "data.txt").write_text("x" * 200000)
    return a


def assert_ran_files_are_whole(root):
    for path in (root / "ran").iterdir():
        if path.suffix == ".json":
            assert hashlib.sha256(path.read_bytes()).hexdigest().startswith(path.stem), path


def test_a_fresh_start_that_is_killed_at_any_moment_loses_nothing(tmp_path):
    chance = random.Random(7)
    unbegun = 0
    for i in range(ROUNDS):
        root = tmp_path / str(i)
        root.mkdir()
        first = attempt_of(root, 1, fresh=True).run()
        assert first.end()["cause"] == "ok"
        second = attempt_of(root, 2, fresh=True, sleep=3600)
        p = second.start()
        time.sleep(chance.random() * 0.03)
        p.send_signal(signal.SIGKILL)
        p.communicate()
        started, began = second.records("start"), second.records("ran")
        unbegun += not began
        if not began:
            for name in ("work", "checkpoint"):
                kept = [f for f in (name, f"{name}.old") if (second.task / f / "precious").exists()]
                assert len(kept) == 1, (i, name, kept)
        assert_ran_files_are_whole(root)
        # As the engine does: one that never began is followed by one that is as fresh.
        third = attempt_of(root, 3, fresh=not started).run()
        assert third.end()["cause"] == "ok", i
        assert not list(root.glob("stale.*")) and not list(root.glob("half.*")), i
        assert not list(third.task.glob("*.old")) and not list(third.task.glob("*.new")), i
        (digest,) = [r["digest"] for r in third.records("ran")]
        assert (root / "ran" / f"{digest}.json").exists()
        assert_ran_files_are_whole(root)
    assert unbegun >= ROUNDS // 8, "the kills came too late to mean anything"


def test_a_second_fresh_start_keeps_the_newest_work_until_it_has_begun(tmp_path):
    """The attempt before began, and was killed before it had removed the folders that it had put aside."""
    second = attempt_of(tmp_path, 2, fresh=True).run()
    assert second.end()["cause"] == "ok"
    for name in ("work", "checkpoint"):
        (second.task / f"{name}.old").mkdir(exist_ok=True)
        (second.task / name / "newest").touch()
    third = attempt_of(tmp_path, 3, fresh=True)
    (third.files / "script.sh").unlink()  # so that nothing begins
    third.run()
    assert third.end()["cause"] == "launch"
    for name in ("work", "checkpoint"):
        assert (third.task / f"{name}.old" / "newest").exists(), name
