"""What a task leaves on disk: few files, and the folders of the version before are still read."""

import pathlib

from conftest import LOUD, wait_for

TASKS = 30


def test_a_finished_task_leaves_six_files(daemon):
    experiment = daemon.submit(LOUD, {"parameters": {"n": list(range(TASKS))}, "search": {"strategy": "grid"}}, name="task.sh")
    assert daemon.wait_ended(experiment)["tasks"]["finished"] == TASKS
    daemon.assert_few_files(experiment, TASKS)
    assert daemon.metrics(experiment, 1)["loss"]["value"] == [1.0]


def test_a_task_that_writes_nothing_leaves_four_files_and_empty_logs(daemon):
    experiment = daemon.submit("#!/bin/sh\n", {}, name="task.sh")
    daemon.wait_ended(experiment)
    wait_for(lambda: daemon.files_left(experiment) == ["tasks/1", "tasks/1/journal", "tasks/1/params.json", "tasks/1/work"],
             lambda: daemon.files_left(experiment))
    for stream in ("stdout", "stderr"):
        log = daemon.get(f"/experiments/{experiment}/tasks/1/log?stream={stream}")
        assert (log["text"], log["size"]) == ("", 0)


def test_only_scripts_with_positional_arguments_find_a_folder_for_results(daemon):
    script = '#!/bin/sh\nls -d results/*/* 2>/dev/null || echo none\n'
    for how, expect in (("positional", "results/{}/1\n"), ("flags", "none\n")):
        experiment = daemon.submit(script, {"pass": how}, name="task.sh")
        daemon.wait_ended(experiment)
        assert daemon.get(f"/experiments/{experiment}/tasks/1/log")["text"] == expect.format(experiment)
        wait_for(lambda: not (daemon.state / "experiments" / experiment / "tasks/1/work/results").exists(), "an empty folder stays")


def test_attempts_of_the_version_before_are_read(daemon):
    """It kept the first attempt in attempts/1."""
    script = '#!/bin/sh\necho "attempt $SLUICE_ATTEMPT"\necho kept > "$SLUICE_CHECKPOINT_DIR/c"\n'
    experiment = daemon.submit(script, {}, name="task.sh")
    daemon.wait_ended(experiment)
    daemon.stop()
    task = pathlib.Path(daemon.state / "experiments" / experiment / "tasks/1")
    (task / "attempts/1").mkdir(parents=True)
    for name in ("journal", "stdout"):
        (task / name).rename(task / "attempts/1" / name)
    daemon.start()
    assert daemon.cli("logs", f"{experiment}/1").stdout.endswith("attempt 1\n")
    daemon.cli("restart", "--yes", f"{experiment}/1")
    wait_for(lambda: daemon.task(experiment, 1)["attempt"] == 2, "it does not run again")
    daemon.wait_ended(experiment)
    assert daemon.cli("logs", f"{experiment}/1").stdout.endswith("attempt 2\n")
    assert (task / "attempts/2/journal").exists() and not (task / "journal").exists()
    assert daemon.get(f"/experiments/{experiment}/tasks/1/log?attempt=1")["text"] == "attempt 1\n"
