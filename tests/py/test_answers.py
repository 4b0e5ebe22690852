"""What is answered and shown is so: values that no script reads, parameters that vary, what a change or a restart does,
and which tasks count."""

import json
import re

import pytest

from conftest import wait_for

CONSTANTS = "LR = 0.2\nfor epoch in range(2):\n    print('epoch', epoch, 'loss', LR)\n"
READS = "import os\nprint('epoch 1 loss', os.environ['SLUICE_PARAM_LR'])\n"
WAITS = ("import os, time\nprint('epoch 1 loss', os.environ['SLUICE_PARAM_LR'], flush=True)\n"
         "while not os.path.exists(os.environ['GATE']): time.sleep(0.05)\n")


def warnings(daemon, experiment):
    return daemon.get(f"/experiments/{experiment}")["warnings"]


@pytest.mark.parametrize("text, words", [
    (CONSTANTS, "reads no arguments, nor SLUICE_PARAM_...: every task would compute the same"),
    ("import os\nprint('epoch 1 loss', os.environ['LR'])\n", "reads LR from the environment (line 2), but no arguments")])
def test_values_that_the_script_does_not_read_are_said_before_and_after(daemon, tmp_path, text, words):
    (tmp_path / "train.py").write_text(text)
    call = ["train.py", "LR=0.2,0.3,0.4", "--pass", "env", "--env", "LR=0.2", "--objective", "loss"]
    assert f"train.py {words}" in daemon.cli("check", *call, cwd=tmp_path).stdout
    done = daemon.cli("run", "--detach", "--json", *call, cwd=tmp_path)
    experiment = json.loads(done.stdout)["id"]
    daemon.wait_ended(experiment)
    said = wait_for(lambda: [w for w in warnings(daemon, experiment) if "exactly the same" in w], "nothing is said")
    assert said == ["all 3 tasks gave exactly the same loss although their parameters differ: does the script use them?"]
    assert any(words in w for w in warnings(daemon, experiment))


def test_a_script_that_reads_its_values_is_not_warned_of(daemon, tmp_path):
    (tmp_path / "train.py").write_text(READS)
    done = daemon.cli("run", "--detach", "--json", "train.py", "LR=0.2,0.3,0.4", "--objective", "loss", cwd=tmp_path)
    experiment = json.loads(done.stdout)["id"]
    daemon.wait_ended(experiment)
    assert warnings(daemon, experiment) == []


def test_a_change_keeps_the_columns_of_the_tasks_and_says_what_is_left(daemon):
    experiment = daemon.submit(READS, {"parameters": {"LR": [0.1, 0.2], "k": 1}, "pass": "env", "objective": "loss"})
    daemon.wait_ended(experiment)
    said = daemon.cli("change", experiment, "LR=0.3,0.4").stdout
    assert "goes on with grid" in said and "4 tasks in all, 2 finished" in said, said
    assert daemon.wait_ended(experiment)["tasks"]["finished"] == 4
    assert "nothing is left to run: 4 tasks in all, 4 finished" in daemon.cli("change", experiment, "LR=0.3,0.4").stdout
    daemon.wait_ended(experiment)
    daemon.cli("change", experiment, "LR=0.1")
    done = daemon.wait_ended(experiment)
    assert done["varying"] == ["LR"] and [p["kind"] for p in done["parameters"]] == ["constant", "constant"]
    assert "LR" in daemon.cli("show", experiment).stdout


def test_a_task_that_runs_is_not_restarted_and_its_user_is_told(daemon, tmp_path):
    gate = tmp_path / "gate"
    experiment = daemon.submit(WAITS, {"parameters": {"LR": [0.1, 0.2]}, "pass": "env", "objective": "loss",
                                       "search": {"parallel": 1}, "environment": {"vars": {"GATE": str(gate)}}})
    daemon.wait_state(experiment, ("running",), 1)
    words = f"{experiment}/1 runs: `sluice stop {experiment}/1` first, and restart it when it has ended"
    assert words in daemon.cli("restart", f"{experiment}/1", status=1).stderr
    for path, body in (("tasks/1/restart", {}), ("tasks/restart", {"tasks": [1]})):
        answer = daemon.request("POST", f"/experiments/{experiment}/{path}", body)
        assert answer.status == 409 and words in answer.json["detail"], answer.body
    # A stopped task with a value counts in the best and in the best so far alike.
    wait_for(lambda: daemon.metrics(experiment, 1).get("loss"), "no metric arrives")
    daemon.cli("stop", f"{experiment}/1")
    daemon.wait_state(experiment, ("stopped",), 1)
    gate.touch()
    daemon.wait_ended(experiment)
    assert daemon.get(f"/experiments/{experiment}")["best"]["value"] == 0.1
    progress = daemon.get(f"/experiments/{experiment}/analysis")["progress"]
    assert [p["best"] for p in progress] == [0.1, 0.1], progress


def test_no_more_memory_is_advised_than_there_is(daemon):
    experiment = daemon.submit("raise MemoryError\n", {"parameters": {"x": [1]}})
    remedy = daemon.wait_state(experiment, ("error",), 1)["cause"]["remedy"]
    memory = re.search(r"--memory (\w+)`", remedy).group(1)
    answer = daemon.request("POST", f"/experiments/{experiment}/search", {"resources": {"memory": memory}})
    assert answer.status == 200, (remedy, answer.body)
    # It has all that there is now.
    daemon.cli("restart", f"{experiment}/1")
    wait_for(lambda: daemon.task(experiment, 1)["attempt"] == 2, "no second attempt")
    remedy = daemon.wait_state(experiment, ("error",), 1)["cause"]["remedy"]
    assert memory == "32G" or "no more memory than it had can be asked for here" in remedy, remedy
