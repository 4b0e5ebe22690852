"""The whole program on a real Slurm: what users of S-TFManager did, a thousand tasks at once, stopping, restarting, limits,
energy, what the doctor says, and other people's jobs in the same queue."""

import json
import os
import re
import subprocess
import time

import pytest

from conftest import LOUD, ROOT, SlurmDaemon, lab_up, wait_for
from test_slurm_checkpoint import kill_a_runner

PYTHON = ROOT / "build/venv-ml/bin/python"

# The contract of S-TFManager, without TensorFlow: plain arguments, results/<experiment>/<task>/<task>.csv, an epoch at a
# time. The batch size 8 does not work. An epoch waits for the file that allows it, so that a test can look in between.
S_TFMANAGER = """
import os, sys, time
experiment, task, batch_size, learning_rate, epochs = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), int(sys.argv[5])
print("GPU", os.environ.get("CUDA_VISIBLE_DEVICES"), "on", os.environ["SLURMD_NODENAME"])
if batch_size == 8:
    raise MemoryError("a batch of 8 does not fit")
with open(f"results/{experiment}/{task}/{task}.csv", "w") as log:
    log.write("epoch,loss,val_loss\\n")
    for epoch in range(epochs):
        while not os.path.exists(f"{os.environ['GATES']}/{epoch}"):
            time.sleep(0.05)
        log.write(f"{epoch},{1 / (epoch + 1)},{batch_size / (epoch + 1)}\\n")
        log.flush()
"""


def states(daemon, experiment):
    tasks = daemon.get(f"/experiments/{experiment}")["tasks"]
    return {state: count for state, count in tasks.items() if count and state != "total"}


def wait_states(daemon, experiment, wanted, deadline_s=120):
    seen = {}

    def reached():
        seen.clear()
        seen.update(states(daemon, experiment))
        return seen == wanted
    wait_for(reached, lambda: f"{seen}, not {wanted}", deadline_s)


def test_a_finished_task_leaves_six_files(slurm):
    tasks = 12
    # The second one makes many small submissions, each with a folder of its own while it lasts.
    experiments = [slurm.submit(LOUD, slurm.spec({"n": list(range(tasks))}, search=search), name="task.sh")
                   for search in ({}, {"parallel": 3})]
    for experiment in experiments:
        assert slurm.wait_ended(experiment)["tasks"]["finished"] == tasks
        slurm.assert_few_files(experiment, tasks)
    assert " exec " in slurm.cli("show", experiments[0], "--batch-script").stdout


def test_s_tfmanager_example_on_four_gpus(slurm, folder):
    gates = folder / "gates"
    gates.mkdir()
    file = folder / "experiment.yaml"
    (folder / "model.py").write_text(S_TFMANAGER)
    file.write_text(f"""
name: five batch sizes
script: model.py
pass: positional
parameters:
  batch_size: [64, 32, 16, 8, 4]
  learning_rate: 0.001
  epochs: 3
search: {{strategy: grid}}
objective: {{metric: val_loss, goal: min}}
environment: {{vars: {{GATES: {gates}}}}}
resources: {{partition: gpu_volta, gpus: 1}}
""")
    # No backend is named: a cluster that answers is what `auto` means.
    created = json.loads(slurm.cli("run", "--detach", "--json", file).stdout)
    experiment = created["id"]
    assert created["backend"] == "slurm"
    # Four at once on two nodes of two GPUs; the one that fails makes room for the fifth.
    wait_states(slurm, experiment, {"running": 4, "error": 1})
    # What was submitted, with the command that did it.
    kept = (slurm.state / f"experiments/{experiment}/script").read_text()
    assert slurm.cli("show", experiment, "--batch-script").stdout == kept and "--gres=gpu:1" in kept
    tasks = {task["parameters"]["batch_size"]: task for task in slurm.tasks(experiment)}
    failed = tasks.pop(8)
    assert sorted((task["node"], task["gpus"]) for task in tasks.values()) == [
        ("volta1", "0"), ("volta1", "1"), ("volta2", "0"), ("volta2", "1")]
    assert "a batch of 8 does not fit" in slurm.cli("logs", failed["id"]).stdout
    assert failed["cause"]["kind"] == "exit" and "does not fit" in failed["cause"]["tail"]
    # Live: a row is there while its task runs.
    for epoch in range(2):
        (gates / str(epoch)).touch()
        for task in tasks.values():
            curve = wait_for(lambda: (slurm.metrics(experiment, task["number"]).get("val_loss") or {}).get("step") == list(range(epoch + 1)),
                             "the curve does not grow")
        assert states(slurm, experiment) == {"running": 4, "error": 1}
    (gates / "2").touch()
    summary = slurm.wait_ended(experiment)
    assert (summary["state"], summary["tasks"]["finished"]) == ("finished", 4)
    assert summary["best"]["parameters"]["batch_size"] == 4
    assert summary["cost"]["gpu_s"] > 0 and summary["cost"]["energy_source"] == "not measured"
    for size, task in tasks.items():
        assert slurm.metrics(experiment, task["number"])["val_loss"]["value"] == [size, size / 2, size / 3]
    assert "not measured" in slurm.cli("show", experiment).stdout


def test_gpu_time_counts_the_gpus_of_all_nodes_and_ends_at_its_budget(slurm):
    # 3 s of four GPUs are 12 s of GPU time: over the budget. Two GPUs would be below it.
    spec = slurm.spec({"n": [1, 2]}, "gpu_volta", resources={"nodes": 2, "gpus": 2}, search={"parallel": 1},
                      stop={"gpu_hours": 9 / 3600})
    experiment = slurm.submit("#!/bin/bash\nsleep 3\n", spec, name="task.sh")
    summary = slurm.wait_ended(experiment)
    assert (summary["tasks"]["finished"], summary["tasks"]["stopped"]) == (1, 1), summary
    cost = slurm.task(experiment, 1)["cost"]
    assert cost["gpu_s"] == pytest.approx(4 * cost["wall_s"], rel=0.01) and cost["wall_s"] < 4.5, cost


def test_fifth_task_waits_for_a_gpu_and_says_why(slurm, lab, folder):
    gates = folder / "gates"
    gates.mkdir()
    spec = slurm.spec({"batch_size": [64, 32, 16, 12, 4], "learning_rate": 0.1, "epochs": 1}, "gpu_volta", resources={"gpus": 1},
                      environment={"vars": {"GATES": str(gates)}})
    spec["pass"] = "positional"
    spec["resources"]["time"] = "5m"
    spec["name"] = "fünf \"batch\" sizes"
    experiment = slurm.submit(S_TFMANAGER, spec)
    wait_states(slurm, experiment, {"running": 4, "submitted": 1})
    # Who looks at the queue sees whose jobs they are.
    assert f"sluice {experiment} f-nf -batch- sizes, 5 tasks" in lab.slurm("squeue", "-h", "-o", "%k").splitlines()
    last = next(task["number"] for task in slurm.tasks(experiment) if task["state"] == "submitted")
    # Slurm's reason in words, and when it thinks it can start. Which of the two reasons it is changes with every look.
    reasons = ("waiting for free resources", "jobs with a higher priority are ahead of it")

    def told():
        task = slurm.task(experiment, last)
        return task["reason"] in reasons and task["expected_start"]

    def shown():
        text = slurm.cli("show", f"{experiment}/{last}").stdout
        return any(reason in text for reason in reasons) and "expected" in text
    wait_for(told, lambda: f"no reason or expected start: {slurm.task(experiment, last)}")
    wait_for(shown, lambda: slurm.cli("show", f"{experiment}/{last}").stdout)

    def used():
        use = slurm.get("/cluster/use")
        queued = [row for row in use["queued"] if row["reason"] in reasons and row["expected_start"]]
        return use["nodes"][0]["time"] and queued and len(use["running"]) == 4 and all(t["node"] for t in use["running"]) and use
    use = wait_for(used, lambda: slurm.get("/cluster/use"))
    assert {task["task"] for task in use["running"]} == {f"{experiment}/{n}" for n in range(1, 6)} - {f"{experiment}/{last}"}
    assert [(row["experiment"], row["tasks"], row["first"]) for row in use["queued"]] == [(experiment, 1, last)]
    # A node with tasks of ours is a row of its own, with what is used there.
    nodes = {group["names"]: group for group in use["nodes"][0]["groups"]}
    taken = {task["node"] for task in use["running"]}
    assert len(taken) == 2 and all(nodes[name]["gpus"] == 2 and nodes[name]["gpu_type"] == "volta" for name in taken), nodes
    assert use["nodes"][0]["nodes"] == 3 and sum(group["nodes"] for group in nodes.values()) == 3
    # However often pages ask, Slurm is asked for its nodes every 30 s at most.
    slurm.calls.clear()
    since = time.monotonic()
    for _ in range(5):
        slurm.get("/cluster/use")
    asked = [line for line in slurm.calls.lines() if line[1] == "scontrol" and "node" in line[2]]
    assert len(asked) <= 1 + (time.monotonic() - since) // 30, asked
    (gates / "0").touch()
    assert slurm.wait_ended(experiment)["tasks"]["finished"] == 5


def has_tensorflow():
    return PYTHON.exists() and subprocess.run([PYTHON, "-c", "import tensorflow"], capture_output=True).returncode == 0


@pytest.mark.skipif(not has_tensorflow(), reason="TensorFlow is not installed (scripts/setup ml)")
def test_keras_script_of_s_tfmanager_runs_unchanged_on_slurm(lab, folder):
    folder.chmod(0o755)
    (folder / "model.py").write_text((ROOT / "examples/keras/model.py").read_text())
    text = (ROOT / "examples/keras/experiment.yaml").read_text()
    (folder / "experiment.yaml").write_text(text + "resources: {partition: gpu_volta, gpus: 1, memory: 2G}\n")
    daemon = SlurmDaemon(folder / "state", lab, env={"PATH": f"{PYTHON.parent}:{os.environ['PATH']}"})
    try:
        daemon.start()
        experiment = json.loads(daemon.cli("run", "--detach", "--json", folder / "experiment.yaml").stdout)["id"]
        summary = daemon.wait_ended(experiment, deadline_s=600)
        assert summary["tasks"]["finished"] == 5, [task["cause"] for task in daemon.tasks(experiment)]
        assert set(summary["metrics"]) >= {"accuracy", "loss", "val_accuracy", "val_loss"}
        for number in range(1, 6):
            assert daemon.metrics(experiment, number)["val_loss"]["step"] == [0, 1, 2, 3, 4]
    finally:
        daemon.stop()
        daemon.clear_queue()


SHORT = """#!/bin/bash
echo "epoch,loss
0,$SLUICE_TASK" > metrics.csv
"""


WINDOW_S = 30


def described(slurm):
    wait_for(lambda: slurm.get("/cluster")["backends"][-1].get("partitions"), "the cluster is not described")


def calls_while_it_works(slurm, tasks):
    """Calls while so many tasks of a few seconds wait, run and end: (a minute, a look at the queue)."""
    experiment = slurm.submit(f"{SHORT}sleep 4\n", slurm.spec({"n": list(range(tasks))}), name="task.sh")
    wait_for(lambda: states(slurm, experiment).get("finished"), "nothing ends")
    slurm.calls.clear()
    time.sleep(WINDOW_S)
    calls = slurm.calls.count()
    assert states(slurm, experiment).get("submitted"), "the work was over too soon"
    slurm.delete(f"/experiments/{experiment}?stop=1")
    wait_for(lambda: slurm.request("GET", f"/experiments/{experiment}").status == 404, "it is not removed")
    print(f"{tasks} tasks: {sum(calls.values()) * 60 / WINDOW_S:.0f} calls a minute ({dict(calls)} in {WINDOW_S} s)")
    return sum(calls.values()) * 60 / WINDOW_S, sum(calls.values()) / (calls["squeue"] / slurm.lab.looks)


def most_looking(slurm, spent_s):
    """A look every 2 to 10 s, each a squeue (or two) and mostly a sacct, whatever there is to see."""
    return 33 * (slurm.lab.looks + 1) * spent_s / 60


def test_calls_to_the_controller_do_not_grow_with_the_tasks(slurm):
    described(slurm)
    (few, few_a_look), (many, many_a_look) = calls_while_it_works(slurm, 100), calls_while_it_works(slurm, 1000)
    assert max(few, many) <= most_looking(slurm, 60)
    # How often it looks depends on how quickly squeue answers; what a look takes must not depend on the tasks.
    assert many_a_look <= few_a_look * 1.5 + 0.5


def test_a_thousand_tasks_take_a_handful_of_calls_to_submit(slurm, lab):
    described(slurm)
    slurm.calls.clear()
    begin = time.monotonic()
    # Nothing may end before all have been seen in the queue.
    lab.slurm("scontrol", "update", "PartitionName=cpu", "State=DOWN")
    try:
        experiment = slurm.submit(SHORT, slurm.spec({"n": list(range(1000))}, objective={"metric": "loss"}), name="task.sh")
        wait_for(lambda: len(slurm.queue()) == 1000, "not all are in the queue")
        submitting, waited = slurm.calls.count(), time.monotonic() - begin
    finally:
        lab.slurm("scontrol", "update", "PartitionName=cpu", "State=UP")
    summary = slurm.wait_ended(experiment, deadline_s=900)
    spent, calls = time.monotonic() - begin, slurm.calls.count()
    print(f"1,000 tasks: {sum(submitting.values())} calls to submit; {sum(calls.values())} in all over {spent:.0f} s: {dict(calls)}")
    assert summary["tasks"]["finished"] == 1000, summary["tasks"]
    # It looks while it waits for sbatch too, which may take a while.
    assert calls["sbatch"] == 1 and sum(submitting.values()) <= 6 + most_looking(slurm, waited)
    assert sum(calls.values()) <= 6 + most_looking(slurm, spent)
    curves = slurm.get(f"/experiments/{experiment}/metrics?name=loss")["tasks"]
    assert sorted(curve["value"] for curve in curves) == [[float(n)] for n in range(1, 1001)]


def test_a_waiting_array_of_a_thousand_is_stopped_with_one_call(slurm, lab):
    lab.slurm("scontrol", "update", "PartitionName=cpu", "State=DOWN")
    try:
        experiment = slurm.submit(SHORT, slurm.spec({"n": list(range(1000))}), name="task.sh")
        wait_for(lambda: len(slurm.queue()) == 1000, "not all are in the queue")
        slurm.calls.clear()
        assert slurm.post(f"/experiments/{experiment}/stop")["tasks"] == 1000
        wait_for(lambda: not slurm.queue("-t", "PD,R"), "they stay in the queue")
        summary = slurm.wait_state(experiment, ["stopped"])
        assert summary["tasks"]["stopped"] == 1000
        assert slurm.calls.count()["scancel"] == 1, slurm.calls.lines()
        print(f"stopping 1,000 waiting tasks: {dict(slurm.calls.count())}")
        # And they can be had back.
        assert slurm.post(f"/experiments/{experiment}/tasks/restart", {"tasks": [1, 2, 3]})["tasks"] == 3
    finally:
        lab.slurm("scontrol", "update", "PartitionName=cpu", "State=UP")
    wait_states(slurm, experiment, {"finished": 3, "stopped": 997})
    assert slurm.task(experiment, 1)["attempt"] == 2


GATED = """#!/bin/bash
echo "$SLUICE_ATTEMPT" >> "$GATES/$SLUICE_TASK.runs"
until [ -e "$GATES/go" ]; do sleep 0.1; done
"""


def test_stop_restart_and_remove_of_tasks_and_experiments(slurm, folder):
    gates = folder / "gates"
    gates.mkdir()
    spec = slurm.spec({"n": list(range(10))}, environment={"vars": {"GATES": str(gates)}})
    experiment = slurm.submit(GATED, spec, name="task.sh")
    wait_states(slurm, experiment, {"running": 8, "submitted": 2})  # the node has 8 CPUs
    slurm.cli("stop", f"{experiment}/1")
    slurm.wait_state(experiment, ["stopped"], 1)
    slurm.post(f"/experiments/{experiment}/tasks/stop", {"tasks": [2, 3, 10]})
    wait_for(lambda: {t["number"] for t in slurm.tasks(experiment, state="stopped")} == {1, 2, 3, 10}, "not those four")
    slurm.cli("restart", f"{experiment}/2")
    wait_for(lambda: (gates / "2.runs").exists() and (gates / "2.runs").read_text() == "1\n2\n", "task 2 does not run again")
    assert slurm.request("DELETE", f"/experiments/{experiment}").status == 409
    slurm.cli("stop", experiment)
    summary = slurm.wait_state(experiment, ["stopped"])
    assert summary["tasks"]["stopped"] == 10
    wait_for(lambda: not slurm.queue("-t", "PD,R"), "something is left in the queue")
    (gates / "go").touch()
    slurm.cli("restart", experiment)
    assert slurm.wait_state(experiment, ["finished"])["tasks"]["finished"] == 10
    assert (gates / "10.runs").read_text() == "2\n"
    assert (gates / "2.runs").read_text() == "1\n2\n3\n"
    slurm.cli("rm", "--yes", experiment)
    wait_for(lambda: slurm.request("GET", f"/experiments/{experiment}").status == 404, "it is not removed")
    # A running one goes when it is told to stop, and leaves nothing behind.
    (gates / "go").unlink()
    experiment = slurm.submit(GATED, spec, name="task.sh")
    wait_states(slurm, experiment, {"running": 8, "submitted": 2})
    slurm.delete(f"/experiments/{experiment}?stop=1")
    wait_for(lambda: slurm.request("GET", f"/experiments/{experiment}").status == 404, "it is not removed")
    wait_for(lambda: not slurm.queue("-t", "PD,R"), "something is left in the queue")


def test_stop_reaches_a_running_task_while_the_controller_does_not_answer(slurm, lab, folder):
    gates = folder / "gates"
    gates.mkdir()
    experiment = slurm.submit(GATED, slurm.spec({"n": [1, 2]}, environment={"vars": {"GATES": str(gates)}}), name="task.sh")
    wait_states(slurm, experiment, {"running": 2})
    pid = lab.daemon_pid("slurmctld")
    os.kill(pid, 19)
    try:
        slurm.post(f"/experiments/{experiment}/stop")
        assert slurm.wait_state(experiment, ["stopped"])["tasks"]["stopped"] == 2
    finally:
        os.kill(pid, 18)


STARTS = """#!/bin/sh
echo "$SLUICE_TASK" >> "$STARTS"
sleep 4
"""


@pytest.mark.parametrize("controller", ["up", "frozen"])
def test_nothing_starts_after_stop_and_daemon_stop(slurm, lab, folder, controller):
    starts = folder / "starts"
    spec = slurm.spec({"n": list(range(20))}, environment={"vars": {"STARTS": str(starts)}}, search={"parallel": 2})
    experiment = slurm.submit(STARTS, spec, name="task.sh")
    wait_for(starts.exists, "nothing starts")
    if controller == "frozen":
        pid = lab.daemon_pid("slurmctld")
        os.kill(pid, 19)
        try:
            slurm.cli("stop", experiment)
            refused = slurm.cli("daemon", "stop", status=1).stderr
            assert f"{experiment}: " in refused and "slurm has not confirmed it" in refused and "--force" in refused
            assert "slurm has not confirmed it" in slurm.cli("ls").stdout
            assert "slurm has not confirmed it" in slurm.cli("show", experiment).stdout
        finally:
            os.kill(pid, 18)
    else:
        slurm.cli("stop", experiment)
    slurm.cli("daemon", "stop")
    begun = starts.read_text()
    wait_for(lambda: not slurm.queue("-t", "PENDING,RUNNING"), "the queue still has it")
    time.sleep(6)
    assert starts.read_text() == begun
    slurm.start()
    assert slurm.wait_ended(experiment)["tasks"]["stopped"] >= 18


def test_parallel_limit_is_kept_raised_and_lowered_while_it_runs(slurm, lab, folder):
    gates = folder / "gates"
    gates.mkdir()
    spec = slurm.spec({"n": list(range(10))}, environment={"vars": {"GATES": str(gates)}}, search={"parallel": 2})
    experiment = slurm.submit(GATED.replace("$GATES/go", "$GATES/$SLUICE_TASK"), spec, name="task.sh")
    wait_states(slurm, experiment, {"running": 2, "submitted": 8})
    # A controller that does not answer hears of it later.
    pid = lab.daemon_pid("slurmctld")
    os.kill(pid, 19)
    try:
        slurm.cli("parallel", experiment, "4")
        wait_for(lambda: "changing how many run at once" in slurm.log_tail(), "the change does not fail")
    finally:
        os.kill(pid, 18)
    wait_states(slurm, experiment, {"running": 4, "submitted": 6})
    slurm.cli("parallel", experiment, "1")
    wait_for(lambda: "ArrayTaskThrottle=1" in lab_job(slurm, experiment), "Slurm is not told")
    for number in (1, 2, 3):
        (gates / str(number)).touch()
    wait_states(slurm, experiment, {"running": 1, "submitted": 6, "finished": 3})
    slurm.post(f"/experiments/{experiment}/parallel", {"parallel": 0})  # no limit
    wait_states(slurm, experiment, {"running": 7, "finished": 3})
    for number in range(4, 11):
        (gates / str(number)).touch()
    assert slurm.wait_ended(experiment)["tasks"]["finished"] == 10


def lab_job(slurm, experiment):
    job = next(task["job"] for task in slurm.tasks(experiment) if task["job"]).split("_")[0]
    return slurm.lab.slurm("scontrol", "show", "job", job)


def test_hostile_jobs_of_another_user_change_nothing(slurm, lab, folder):
    if os.geteuid() != 0:
        pytest.skip("jobs of a second user need root")
    gates = folder / "gates"
    gates.mkdir()
    experiment = slurm.submit(GATED, slurm.spec({"n": [1, 2, 3]}, environment={"vars": {"GATES": str(gates)}}), name="task.sh")
    wait_states(slurm, experiment, {"running": 3})
    job = lab_job(slurm, experiment)
    token = re.search(rf"JobName={experiment}-sluice-([0-9a-f]{{32}})", job).group(1)
    array = re.search(r"ArrayJobId=(\d+)", job).group(1)
    own = str(os.getuid())
    names = [token, f"{experiment}-sluice-{token}", f"{token}\n#SBATCH --uid={own}", f"x\n{array}\x1f{array}\x1f0\x1fFAILED\x1fNonZeroExitCode\x1fcpu1\x1f\x1f\x1f{token}",
             f"\x1f{token}", f"{token}\x1f{token}", "a|b\x1fc\x1fd\x1fe\x1ff\x1f" + token, "%A_%a", "\x1b[31m" + token, "é" * 50]
    as_other = ["runuser", "-u", "labuser1", "--", "env", f"SLURM_CONF={lab.env['SLURM_CONF']}"]

    def submit(name, *more):
        done = subprocess.run([*as_other, "sbatch", "-p", "gpu_volta", "-o", "/dev/null", "--mem=10M", f"--job-name={name}", *more,
                               "--wrap", "exit 1"], cwd=lab.jobs, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    for name in names:
        submit(name, "--array=0-2")
        submit(name, "--hold")
    # The same from our own account: a user may well name a job so by hand.
    for name in names[2:]:
        lab.slurm("sbatch", "-p", "gpu_volta", "-o", "/dev/null", "--mem=10M", "--array=0-2", f"--job-name={name}", "--wrap", "exit 1")
    wait_for(lambda: "PENDING" not in lab.slurm("squeue", "-h", "-u", own, "-t", "all", "-o", "%T"), "they do not start")
    before = len(slurm.calls.lines())
    wait_for(lambda: sum(line[1] == "squeue" for line in slurm.calls.lines()[before:]) >= 2, "nobody looks at the queue")
    assert states(slurm, experiment) == {"running": 3}
    # Stopping ours ends ours and nobody else's.
    slurm.cli("stop", f"{experiment}/1")
    slurm.wait_state(experiment, ["stopped"], 1)
    held = lab.slurm("squeue", "-h", "-u", "labuser1", "-t", "PD", "-o", "%i").split()
    assert len(held) == len(names)
    (gates / "go").touch()
    wait_states(slurm, experiment, {"finished": 2, "stopped": 1})
    assert all(task["attempt"] == 1 for task in slurm.tasks(experiment))
    # That user asks for ours to end: not allowed, and nothing of theirs reads our folder.
    refused = subprocess.run([*as_other, "scancel", array], capture_output=True, text=True)
    assert refused.returncode != 0 or "denied" in refused.stderr.lower() or "Invalid" in refused.stderr
    listed = subprocess.run([*as_other, "ls", str(slurm.state)], capture_output=True, text=True)
    assert listed.returncode != 0
    lab.slurm("scancel", "-u", "labuser1")


def test_doctor_right_after_the_start(slurm):
    done = slurm.cli("doctor", status=None)
    print(done.stdout)
    assert done.returncode == 0, done.stdout
    assert re.search(r"Slurm \d+\.\d+\.\d+, cluster lab", done.stdout)
    assert "unknown" not in done.stdout
    assert re.search(r"a test job ran on \S+, which sees the state folder", done.stdout)
    assert "no energy figures" in done.stdout


def test_energy_of_the_cluster_is_shown_with_its_source(folder):
    if os.geteuid() != 0:
        pytest.skip("the lab's energy counter needs root")
    lab = lab_up("--energy", "--no-cgroup")
    folder.chmod(0o755)
    daemon = SlurmDaemon(folder / "state", lab)
    try:
        daemon.start()
        experiment = daemon.submit("#!/bin/bash\nsleep 4\n", daemon.spec({"n": [1, 2]}), name="task.sh")
        daemon.wait_ended(experiment)
        # The task is over at once; the accounting comes a little later.
        wait_for(lambda: all(task["cost"]["energy_j"] for task in daemon.tasks(experiment)),
                 lambda: f"no energy: {[task['cost'] for task in daemon.tasks(experiment)]}")
        cost = daemon.task(experiment, 1)["cost"]
        print(cost)
        assert 1 <= cost["energy_j"] <= 60 and "Slurm accounting" in cost["energy_source"] and "pm_counters" in cost["energy_source"]
        summary = daemon.get(f"/experiments/{experiment}")["cost"]
        assert summary["energy_j"] == sum(task["cost"]["energy_j"] for task in daemon.tasks(experiment))
        shown = daemon.cli("show", f"{experiment}/1").stdout
        assert re.search(r"energy +[0-9.]+ J", shown) and "Slurm accounting" in shown, shown
        # What was not heard before a crash is asked for afterwards.
        second = daemon.submit("#!/bin/bash\nsleep 4\n", daemon.spec({"n": [1]}), name="task.sh")
        daemon.wait_ended(second)
        daemon.kill()
        daemon.start()
        wait_for(lambda: daemon.task(second, 1)["cost"]["energy_j"], "the energy was forgotten")
        # Without control groups Slurm does not find what left a script whose runner was killed: sluice does.
        kill_a_runner(daemon, folder)
    finally:
        daemon.stop()
        lab.down()


def test_pruned_task_gives_its_node_to_the_next(slurm, folder):
    """One at a time. The poor one would never end: only its pruning lets the next one begin, in the same array."""
    seen = folder / "seen"
    seen.mkdir(mode=0o777)
    seen.chmod(0o777)
    script = """
    import os, time
    x = os.environ["SLUICE_PARAM_X"]
    with open("metrics.csv", "w") as rows:
        rows.write("epoch,loss\\n")
        for epoch in range(3):
            rows.write("%d,%s\\n" % (epoch, x))
    open(os.path.join(os.environ["SEEN"], x), "w").close()
    if x == "90":
        time.sleep(100000)
    """
    experiment = slurm.submit(script, slurm.spec({"x": [1, 2, 90, 3]}, search={"parallel": 1},
                                                 objective={"metric": "loss", "goal": "min"},
                                                 prune={"rule": "median", "warmup": 1, "min_tasks": 2},
                                                 environment={"vars": {"SEEN": str(seen)}}))
    wait_states(slurm, experiment, {"finished": 3, "pruned": 1}, 300)
    tasks = {task["parameters"]["x"]: task for task in slurm.tasks(experiment)}
    assert tasks[90]["state"] == "pruned" and tasks[90]["best"]["value"] == 90
    assert tasks[3]["started"] > tasks[90]["started"]
