"""Every way in which a task can end on a cluster, provoked on a real Slurm: what the user is told (the kind of cause, its
words, what to do), and that a retry is the next attempt of the same task."""

import concurrent.futures
import datetime
import json
import os
import pathlib
import shutil
import signal
import tempfile
import time

import pytest

import lab as slurm_lab
from conftest import SlurmDaemon, lab_up, sweep, wait_for

# The first attempt says it is there and lasts until it is ended (or told to go on); the next ones end well.
WAITING = """#!/bin/bash
echo "$SLUICE_ATTEMPT $(hostname) $SLURMD_NODENAME" >> "$MARKS/$SLUICE_TASK"
echo "epoch,loss
0,$SLUICE_ATTEMPT" > metrics.csv
[ "$SLUICE_ATTEMPT" = 1 ] || exit 0
echo $$ > "$MARKS/$SLUICE_TASK.pid"
until [ -e "$MARKS/go" ]; do sleep 0.1; done
"""


class Marks:
    """What the scripts of one experiment leave behind."""

    def __init__(self, folder, name="marks"):
        self.folder = folder / name
        self.folder.mkdir()
        self.vars = {"environment": {"vars": {"MARKS": str(self.folder)}}}

    def runs(self, number):
        """The attempts in which the script of this task was run."""
        path = self.folder / str(number)
        return [int(line.split()[0]) for line in path.read_text().splitlines()] if path.exists() else []

    def node(self, number):
        return (self.folder / str(number)).read_text().split()[2]

    def pid(self, number):
        """The script's process, once it is there."""
        path = self.folder / f"{number}.pid"
        wait_for(lambda: path.exists() and path.read_text().strip(), f"task {number} does not start")
        return int(path.read_text())

    def go(self):
        (self.folder / "go").touch()


@pytest.fixture
def marks(folder):
    return Marks(folder)


def parent(pid):
    return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])


def alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def start(slurm, marks, script=WAITING, tasks=1, **more):
    """An experiment of so many tasks, running."""
    experiment = slurm.submit(script, slurm.spec({"n": list(range(tasks))}, **marks.vars, **more), name="task.sh")
    for number in range(1, tasks + 1):
        marks.pid(number)
        slurm.wait_state(experiment, ["running"], number)
    return experiment


def cause_of_first(slurm, experiment, number=1):
    """Why the first attempt ended, as the task's page shows it."""
    return slurm.task(experiment, number)["attempts"][0]["cause"]


def assert_retried(slurm, marks, experiment, kind, number=1):
    """The first attempt ended for this reason; the second, of the same task, finished."""
    slurm.wait_state(experiment, ["finished", "error"], number)
    task = slurm.task(experiment, number)
    assert (task["state"], task["attempt"]) == ("finished", 2), json.dumps(task, indent=1)
    assert [attempt["state"] for attempt in task["attempts"]] == ["error", "finished"]
    cause = cause_of_first(slurm, experiment, number)
    assert cause["kind"] == kind and cause["text"] and cause["remedy"], cause
    assert marks.runs(number) == [1, 2]
    assert any(f"retry 1 of" in (step["reason"] or "") for step in task["timeline"]), task["timeline"]
    return cause


@pytest.fixture(scope="module")
def timed(lab):
    """An experiment that reaches its time limit of a minute while the other tests go on."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="sl-"))
    folder.chmod(0o755)
    marks = Marks(folder)
    daemon = SlurmDaemon(folder / "state", lab)
    try:
        daemon.start()
        experiment = daemon.submit(WAITING, daemon.spec({"n": [1]}, **marks.vars, resources={"time": "1m"}, retry={"time": 1}),
                                   name="task.sh")
        yield daemon, marks, experiment
    finally:
        daemon.stop()
        daemon.clear_queue()
        sweep(folder)
        shutil.rmtree(folder, ignore_errors=True)


def watch_silence(daemon, marks, experiment, step):
    """What was so when the silence became known. Then slurmstepd goes on."""
    def reason(words):
        return lambda: words in (daemon.task(experiment, 1)["reason"] or "")

    def known():
        return daemon.task(experiment, 1)["state"], len(daemon.queue()), marks.runs(1)

    try:
        wait_for(reason("no sign of life from its runner for 2 minutes, but slurm says that its job runs"), "the silence is not told", 600)
        facts = [known()]
        if "SLUICE_SOAK" in os.environ:  # takes five minutes of silence
            wait_for(reason("its job is being cancelled"), "it is not given up", 600)
            # A slurmstepd that is stopped cannot be cancelled either: until that is confirmed nothing else runs.
            time.sleep(30)
            facts.append(known())
        return facts
    finally:
        os.kill(step, signal.SIGCONT)


@pytest.fixture(scope="module")
def silent(lab):
    """A task whose runner was killed while Slurm could not notice it (slurmstepd is stopped): the controller calls it
    running for ever. It becomes known while the other tests go on."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="sl-"))
    folder.chmod(0o755)
    marks = Marks(folder)
    daemon, watcher = SlurmDaemon(folder / "state", lab), concurrent.futures.ThreadPoolExecutor(1)
    try:
        daemon.start()
        experiment = start(daemon, marks)
        runner = parent(marks.pid(1))
        step = parent(runner)
        while "slurmstepd" not in pathlib.Path(f"/proc/{step}/comm").read_text():
            step = parent(step)
        os.kill(step, signal.SIGSTOP)
        os.kill(runner, signal.SIGKILL)
        # Not when the test's turn comes: after five minutes the job is cancelled, and its node takes no other until it ends.
        watched = watcher.submit(watch_silence, daemon, marks, experiment, step)
        yield daemon, marks, experiment, watched
    finally:
        watcher.shutdown()
        daemon.stop()
        daemon.clear_queue()
        sweep(folder)
        shutil.rmtree(folder, ignore_errors=True)


def test_failing_script_shows_its_exit_code_and_its_last_words(timed, silent, slurm):
    experiment = slurm.submit("#!/bin/bash\necho it went wrong here >&2\nexit 3\n", slurm.spec({"n": [1]}), name="task.sh")
    slurm.wait_state(experiment, ["error"])
    task = slurm.task(experiment, 1)
    assert (task["cause"]["kind"], task["cause"]["code"]) == ("exit", 3)
    assert "it went wrong here" in task["cause"]["tail"] and task["cause"]["remedy"]
    assert task["attempt"] == 1  # retry: {error: 0} unless asked for
    shown = slurm.cli("show", f"{experiment}/1").stdout
    assert "exit code 3" in shown and "it went wrong here" in shown


def test_killed_script_is_a_signal_and_retried_only_when_asked_for(slurm, marks, folder):
    experiment = start(slurm, marks)
    os.kill(marks.pid(1), signal.SIGKILL)
    slurm.wait_state(experiment, ["error"], 1)
    cause = slurm.task(experiment, 1)["cause"]
    assert (cause["kind"], cause["signal"]) == ("signal", 9) and cause["remedy"], cause

    other = Marks(folder, "again")
    experiment = start(slurm, other, retry={"error": 1})
    os.kill(other.pid(1), signal.SIGKILL)
    assert_retried(slurm, other, experiment, "signal")


def test_killed_runner_is_lost_and_retried(slurm, marks):
    experiment = start(slurm, marks)
    script = marks.pid(1)
    os.kill(parent(script), signal.SIGKILL)
    wait_for(lambda: not alive(script), "the script outlives its runner")
    assert_retried(slurm, marks, experiment, "lost")


HUNGRY = """#!/bin/bash
exec python3 -c 'b=bytearray(400 << 20)
for i in range(0, len(b), 4096): b[i] = 1'
"""


def test_out_of_memory_is_told_apart_and_cured_by_asking_for_more(slurm, lab, marks):
    if not lab.cgroups:
        pytest.skip("no control groups here, so Slurm does not enforce memory")
    experiment = slurm.submit(HUNGRY, slurm.spec({"n": [1]}, retry={"memory": {"times": 1, "factor": 2}}), name="task.sh")
    slurm.wait_state(experiment, ["error"])
    task = slurm.task(experiment, 1)
    assert [attempt["asked"]["memory_bytes"] >> 20 for attempt in task["attempts"]] == [64, 128], task["attempts"]
    assert any("retry 1 of 1 with 128 MB of memory" in (step["reason"] or "") for step in task["timeline"]), task["timeline"]
    said = slurm.cli("change", experiment, "--memory", "600M").stdout
    assert f"1 failed: 'sluice restart {experiment} --failed' runs it again" in said, said
    slurm.cli("restart", experiment, "--failed")
    slurm.wait_state(experiment, ["finished"])
    assert slurm.task(experiment, 1)["attempts"][2]["asked"]["memory_bytes"] == 600 << 20
    cause = task["cause"]
    assert cause["kind"] == "memory" and "memory:" in cause["remedy"], cause
    # The runner read it in the job's control group; accounting would say it in other words.
    assert cause["text"] == "ended by the kernel: out of memory", cause


def machine_kills():
    """How often the kernel of this machine, which all nodes of the lab share, ended something for lack of memory."""
    return next(int(line.split()[1]) for line in pathlib.Path("/proc/vmstat").read_text().splitlines() if line.startswith("oom_kill "))


def test_a_kill_while_another_job_runs_out_of_memory_is_not_told_as_memory(slurm, lab, marks, folder):
    if not lab.cgroups:
        pytest.skip("no control groups here, so Slurm does not enforce memory")
    experiment = start(slurm, marks)
    before = machine_kills()
    other = folder / "hungry.sh"
    other.write_text(HUNGRY)
    job = lab.slurm("sbatch", "--parsable", "-p", "cpu", "--mem=64M", "-o", "/dev/null", str(other)).strip()
    wait_for(lambda: machine_kills() > before, "the other job does not run out of memory")
    wait_for(lambda: "OUT_OF_ME" in lab.slurm("sacct", "-n", "-X", "-j", job, "-o", "State"), "the other job has not ended")
    os.kill(marks.pid(1), signal.SIGKILL)
    cause = slurm.wait_state(experiment, ["error"], 1)["cause"]
    assert (cause["kind"], cause["signal"]) == ("signal", 9), cause
    assert cause["text"].startswith("signal 9 (Killed), and the kernel did not say why: perhaps the machine ran out of memory (the most that was measured is "), cause


def test_preempted_task_is_retried(slurm, lab, marks, folder):
    # All four GPUs are taken; a job with a better QOS needs one.
    experiment = start(slurm, marks, tasks=4, partition="gpu_volta",
                       resources={"gpus": 1, "account": "labacct", "qos": "low"})
    lab.slurm("sbatch", "-p", "gpu_volta", "--gres=gpu:1", "-A", "labacct", "-q", "high", "-o", "/dev/null", "--wrap", "sleep 2")
    ended = wait_for(lambda: [t["number"] for t in slurm.tasks(experiment) if t["attempt"] == 2 or t["state"] == "waiting"],
                     "nobody is preempted")
    assert len(ended) == 1
    assert_retried(slurm, marks, experiment, "preempted", ended[0])
    marks.go()
    assert slurm.wait_ended(experiment)["tasks"]["finished"] == 4


def test_node_failure_is_retried_elsewhere_and_the_old_processes_are_fenced(slurm, lab, marks):
    experiment = start(slurm, marks, partition="gpu_volta")
    node, script = marks.node(1), marks.pid(1)
    lab.run("stop", node, "KILL")
    try:
        assert alive(script), "Slurm lets the processes of a dead slurmd go on"
        assert_retried(slurm, marks, experiment, "node")
        assert marks.folder.joinpath("1").read_text().split()[-1] != node
        wait_for(lambda: not alive(script), "the old script is not ended by its fence")
        assert slurm.metrics(experiment, 1)["loss"]["value"] == [2.0]
    finally:
        lab.start(node)


def test_cancelled_by_hand_is_told_and_not_retried(slurm, lab, marks):
    experiment = start(slurm, marks)
    lab.slurm("scancel", slurm.task(experiment, 1)["job"])
    slurm.wait_state(experiment, ["error"], 1)
    cause = slurm.task(experiment, 1)["cause"]
    assert cause["kind"] == "cancelled" and "cancelled" in cause["text"] and cause["remedy"], cause
    assert marks.runs(1) == [1]


def test_cancelled_by_hand_while_waiting_is_told_and_not_submitted_again(slurm, lab, marks):
    spec = slurm.spec({"n": [1, 2, 3]}, **marks.vars, search={"parallel": 1})
    experiment = slurm.submit(WAITING, spec, name="task.sh")
    marks.pid(1)
    job = slurm.wait_state(experiment, ["running"], 1)["job"].split("_")[0]
    # An element that is cancelled alone leaves no trace anywhere.
    lab.slurm("scancel", f"{job}_1")
    cause = slurm.wait_state(experiment, ["error"], 2)["cause"]
    assert cause["kind"] == "cancelled" and "queue" in cause["text"] and cause["remedy"], cause
    marks.go()
    assert slurm.wait_state(experiment, ["finished"])["tasks"]["finished"] == 2
    attempts = [slurm.task(experiment, n)["attempts"] for n in (1, 2, 3)]
    assert marks.runs(2) == [] and [len(each) for each in attempts] == [1, 1, 1], attempts


def test_a_restart_that_is_stopped_in_the_queue_keeps_the_result(slurm, lab, marks):
    marks.go()
    experiment = slurm.submit(WAITING, slurm.spec({"n": [1]}, **marks.vars), name="task.sh")
    was = slurm.wait_state(experiment, ["finished"], 1)
    lab.slurm("scontrol", "update", "nodename=cpu1", "state=drain", "reason=test")
    try:
        slurm.cli("restart", "--yes", f"{experiment}/1")
        wait_for(lambda: slurm.queue("-o", "%i"), "it is not in the queue")
        slurm.cli("stop", f"{experiment}/1")
        now = slurm.wait_state(experiment, ["finished", "stopped", "error"], 1)
    finally:
        lab.slurm("scontrol", "update", "nodename=cpu1", "state=resume")
    assert (now["state"], now["finished"], now["node"], now["job"]) == ("finished", was["finished"], was["node"], was["job"]), now
    assert [attempt["state"] for attempt in now["attempts"]] == ["finished", "stopped"]
    assert marks.runs(1) == [1]


def test_what_waits_in_the_queue_asks_for_the_changed_resources(slurm, lab, marks):
    spec = slurm.spec({"n": [1, 2, 3]}, **marks.vars, search={"parallel": 1})
    experiment = slurm.submit(WAITING, spec, name="task.sh")
    marks.pid(1)
    slurm.wait_state(experiment, ["running"], 1)
    said = slurm.cli("change", experiment, "--memory", "128M", "--time", "5m").stdout
    assert "2 in the queue are taken out and submitted again; 1 running keeps what it has" in said, said
    # Else the second could start with what it asked for first, before it is taken out.
    wait_for(lambda: all(slurm.task(experiment, n)["attempts"][0]["state"] == "stopped" for n in (2, 3)), "they are taken out")
    marks.go()
    slurm.wait_state(experiment, ["finished"])
    asked = [[attempt["asked"]["memory_bytes"] >> 20 for attempt in slurm.task(experiment, n)["attempts"]] for n in (1, 2, 3)]
    assert asked == [[64], [64, 128], [64, 128]], asked
    assert slurm.task(experiment, 2)["attempts"][0]["state"] == "stopped"
    job = slurm.task(experiment, 2)["job"]
    shown = lab.slurm("scontrol", "show", "job", job)
    assert "TimeLimit=00:05:00" in shown and "MinMemoryNode=128M" in shown, shown
    assert [len(marks.runs(n)) for n in (1, 2, 3)] == [1, 1, 1]


def test_refused_before_it_is_submitted(slurm):
    def refused(**resources):
        answer = slurm.request("POST", "/experiments", {
            "experiment": slurm.spec({"n": [1]}, command=["true"], resources=resources)})
        assert answer.status == 400, answer.body
        return answer.json["errors"][0]["message"]

    wait_for(lambda: slurm.get("/cluster")["backends"][-1].get("partitions"), "the cluster is not described")
    assert refused(partition="gpu_volta", gpus=4) == "asked for 4 GPUs; partition gpu_volta has 2 per node"
    assert refused(partition="nowhere").startswith("there is no partition nowhere; there are ")
    assert refused(cpus=100) == "asked for 100 CPUs; partition cpu has 8 per node"
    assert "asked for 1.0 TB of memory" in refused(memory="1T")


def test_refused_by_slurm_is_a_cause_of_its_own(slurm):
    # What no table of ours can know beforehand.
    experiment = slurm.submit("#!/bin/bash\n", slurm.spec({"n": [1, 2]}, resources={"options": ["--reservation=none"]}),
                              name="task.sh")
    summary = slurm.wait_state(experiment, ["error"])
    assert summary["tasks"]["error"] == 2
    cause = slurm.task(experiment, 1)["cause"]
    assert cause["kind"] == "refused" and "reservation" in cause["text"].lower() and cause["remedy"], cause


def test_stopped_controller_concludes_nothing(slurm, lab, marks, folder):
    experiment = start(slurm, marks, tasks=2)
    asked = Marks(folder, "asked")
    ended = start(slurm, asked)
    waiting = slurm.submit("#!/bin/bash\ntrue\n", slurm.spec({"n": [1, 2, 3]}), name="task.sh")
    pid = lab.daemon_pid("slurmctld")
    os.kill(pid, signal.SIGSTOP)
    try:
        late = slurm.submit("#!/bin/bash\ntrue\n", slurm.spec({"n": [1, 2]}), name="task.sh")
        # What Slurm does at a time limit, when a node fails or at somebody's scancel: which one it was only the controller
        # knows. That an hour of silence changes nothing is shown by tests/unit/engine/test_ends.c; here the commands of
        # Slurm run into their own timeout of 10 s.
        os.kill(parent(asked.pid(1)), signal.SIGTERM)
        until = time.monotonic() + 15
        while time.monotonic() < until:
            states = {task["state"] for each in (experiment, ended) for task in slurm.tasks(each)}
            assert states == {"running"}, states
            time.sleep(1)
        # News comes through the journal, whatever the controller does.
        marks.go()
        assert slurm.wait_ended(experiment)["tasks"]["finished"] == 2
    finally:
        os.kill(pid, signal.SIGCONT)
    for each, count in ((waiting, 3), (late, 2)):
        assert slurm.wait_ended(each)["tasks"]["finished"] == count
        assert all(task["attempt"] == 1 for task in slurm.tasks(each))
    assert marks.runs(1) == marks.runs(2) == [1]
    assert slurm.wait_state(ended, ["error"], 1)["cause"]["text"] == "ended from outside by a signal"


def write_jobs_down(lab):
    """The controller has written down all jobs there were until now. It writes within 5 s of a change, but does not see a
    change in the second in which it wrote last: another change is made until it writes."""
    begin, state = time.time(), lab.folder / "state/job_state"

    def written():
        lab.slurm("scancel", lab.slurm("sbatch", "--parsable", "--hold", "-o", "/dev/null", "--wrap", "true").strip())
        time.sleep(1)
        return state.exists() and state.stat().st_mtime > begin

    wait_for(written, "the controller writes nothing down")


def test_jobs_that_a_killed_controller_forgot_are_submitted_again_under_the_same_token(slurm, lab, marks):
    # sbatch with a controller that dies right after it has acknowledged. When it writes down what it knows is its own
    # affair (at once, or within 5 s): what it may have written in between is put back to what it was.
    write_jobs_down(lab)
    sbatch, armed = slurm.calls.log.parent / "bin/sbatch", marks.folder / "armed"
    sbatch.rename(sbatch.with_name("sbatch.counted"))
    sbatch.write_text(f'''#!/bin/bash
if rm "{armed}" 2>/dev/null; then
	until cp -p "{lab.folder}/state/job_state" "{armed}.state"; do sleep 0.1; done
	answer=$("$0.counted" "$@")
	status=$?
	SLURM_LAB={lab.folder} {slurm_lab.SCRIPT} stop slurmctld KILL
	cp -p "{armed}.state" "{lab.folder}/state/job_state"
	echo "$answer"
	exit $status
fi
exec "$0.counted" "$@"
''')
    sbatch.chmod(0o755)
    armed.touch()
    script = '#!/bin/bash\necho "$SLUICE_ATTEMPT" >> "$MARKS/$SLUICE_TASK"\n'
    # Nothing can start before the controller has gone.
    lab.slurm("scontrol", "update", "PartitionName=cpu", "State=DOWN")
    try:
        experiment = slurm.submit(script, slurm.spec({"n": list(range(5))}, **marks.vars), name="task.sh")
        job = wait_for(lambda: slurm.task(experiment, 1)["job"], "it is not submitted").split("_")[0]
    finally:
        lab.start("slurmctld")
    # One of the next jobs gets the id of the one that was forgotten.
    others = [0]
    while others[-1] < int(job):
        others.append(int(lab.slurm("sbatch", "--parsable", "-p", "gpu_volta", "-o", "/dev/null", "--wrap", "sleep 600")))
    other = str(others[-1])
    lab.slurm("scontrol", "update", "PartitionName=cpu", "State=UP")
    summary = slurm.wait_ended(experiment)
    print(f"forgotten job {job}; the next one of somebody else was {other}")
    assert other == job, "the controller had not forgotten it: this test shows nothing"
    assert summary["tasks"]["finished"] == 5
    assert all(marks.runs(number) == [1] for number in range(1, 6))
    assert lab.slurm("squeue", "-h", "-j", other, "-o", "%T").strip() == "RUNNING"
    lab.slurm("scancel", *map(str, others[1:]))
    tokens = {line[2].split("--job-name=")[1].split()[0] for line in slurm.calls.lines() if line[1] == "sbatch"}
    assert len(tokens) == 1 and slurm.calls.count()["sbatch"] == 2, slurm.calls.count()


def test_a_second_job_under_the_same_token_runs_nothing(slurm, lab, marks):
    # What a submission looks like whose answer was lost, and that was made again too early.
    script = '#!/bin/bash\necho "$SLUICE_ATTEMPT" >> "$MARKS/$SLUICE_TASK"\nsleep 1\n'
    lab.slurm("scontrol", "update", "PartitionName=cpu", "State=DOWN")
    try:
        experiment = slurm.submit(script, slurm.spec({"n": list(range(6))}, **marks.vars), name="task.sh")
        wait_for(lambda: len(slurm.queue()) == 6, "not all are in the queue")
        batch = next(slurm.state.glob("experiments/*/batches/*"))
        again = lab.slurm("sbatch", "--parsable", "-p", "cpu", "--mem=64M", "-o", "/dev/null", "--array=0-5", f"--job-name={experiment}-sluice-{batch.name}",
                          str(batch.parent.parent / "script")).strip()
    finally:
        lab.slurm("scontrol", "update", "PartitionName=cpu", "State=UP")
    assert slurm.wait_ended(experiment)["tasks"]["finished"] == 6
    wait_for(lambda: not slurm.queue("-t", "PD,R,CG"), "the second array does not end")
    assert all(marks.runs(number) == [1] for number in range(1, 7))
    assert all(task["attempt"] == 1 for task in slurm.tasks(experiment))
    states = lab.slurm("squeue", "-h", "-r", "-t", "all", "-j", again, "-o", "%T").split()
    assert states == ["COMPLETED"] * 6  # whoever loses the claim ends well


def test_times_are_those_of_the_end_and_not_of_the_look(slurm, lab, marks):
    """The daemon is dead while a task ends, one is killed, and the runner of another; it looks much later."""
    experiment = start(slurm, marks, tasks=3, retry={"lost": 0, "error": 0})
    jobs = [slurm.task(experiment, number)["job"] for number in (1, 2, 3)]
    slurm.kill()
    os.kill(marks.pid(2), signal.SIGKILL)
    os.kill(parent(marks.pid(3)), signal.SIGKILL)
    marks.go()

    def ended():
        """Start, end and elapsed seconds of each job, when Slurm has them all, and the last is long over."""
        words = ("sacct", "-nXP", "-j", ",".join(jobs), "-o", "JobID,Start,End,ElapsedRaw,State")
        rows = {row.split("|")[0]: row.split("|")[1:] for row in lab.slurm("env", "SLURM_TIME_FORMAT=%s", *words).splitlines()}
        if any(job not in rows or not rows[job][1].isdigit() for job in jobs):
            return None
        times = [[int(value) for value in rows[job][:3]] for job in jobs]
        return times if time.time() - max(end for _, end, _ in times) > 30 else None

    told = wait_for(ended, "Slurm does not end them")
    slurm.start()
    slurm.wait_ended(experiment)
    assert [slurm.task(experiment, number)["state"] for number in (1, 2, 3)] == ["finished", "error", "error"]
    for number, (_, end, elapsed) in enumerate(told, 1):
        task = slurm.task(experiment, number)
        finished = datetime.datetime.fromisoformat(task["finished"]).timestamp()
        assert abs(finished - end) < 5, (number, finished, end)
        assert abs(task["elapsed_s"] - elapsed) < 5 and abs(task["cost"]["wall_s"] - elapsed) < 5, (number, task, elapsed)


def test_accounting_daemon_down_delays_nothing_but_figures(slurm, lab, marks):
    lab.run("stop", "slurmdbd", "KILL")
    try:
        experiment = start(slurm, marks, tasks=2)
        os.kill(marks.pid(2), signal.SIGKILL)
        marks.go()
        summary = slurm.wait_ended(experiment)
        assert summary["tasks"]["finished"] == 1 and summary["tasks"]["error"] == 1
        assert slurm.task(experiment, 2)["cause"]["kind"] == "signal"
    finally:
        lab.start("slurmdbd")


def test_time_limit_is_told_and_retried_when_asked_for(timed):
    daemon, marks, experiment = timed
    daemon.wait_state(experiment, ["finished", "error"], 1, deadline_s=180)
    cause = assert_retried(daemon, marks, experiment, "time")
    assert "time limit" in cause["text"] and "time:" in cause["remedy"]


def test_killed_runner_is_known_although_the_controller_calls_it_running(silent):
    daemon, marks, experiment, watched = silent
    assert all(facts == ("running", 1, [1]) for facts in watched.result()), watched.result()
    assert_retried(daemon, marks, experiment, "lost")


@pytest.mark.skipif("SLUICE_SOAK" not in os.environ, reason="takes more than two minutes: part of make soak")
def test_killed_runner_is_known_while_the_controller_is_stopped(slurm, lab, marks):
    experiment = start(slurm, marks)
    controller = lab.daemon_pid("slurmctld")
    os.kill(controller, signal.SIGSTOP)
    try:
        os.kill(parent(marks.pid(1)), signal.SIGKILL)
        began = time.monotonic()
        wait_for(lambda: "no sign of life from its runner for 2 minutes; slurm does not answer" in (slurm.task(experiment, 1)["reason"] or ""),
                 "the silence is not told")
        print(f"known after {time.monotonic() - began:.0f} s")
        assert slurm.task(experiment, 1)["state"] == "running"
    finally:
        os.kill(controller, signal.SIGCONT)
    assert_retried(slurm, marks, experiment, "lost")


def test_cluster_without_accounting(folder):
    lab = lab_up("--no-acct")
    folder.chmod(0o755)
    daemon = SlurmDaemon(folder / "state", lab)
    try:
        daemon.start()
        good, bad, lost = (Marks(folder, name) for name in ("good", "bad", "lost"))
        good.go()
        done = daemon.submit(WAITING, daemon.spec({"n": [1, 2, 3]}, **good.vars), name="task.sh")
        failed = start(daemon, bad)
        os.kill(bad.pid(1), signal.SIGKILL)
        again = start(daemon, lost)
        os.kill(parent(lost.pid(1)), signal.SIGKILL)
        assert daemon.wait_ended(done)["tasks"]["finished"] == 3
        daemon.wait_state(failed, ["error"], 1)
        assert daemon.task(failed, 1)["cause"]["kind"] == "signal"
        assert_retried(daemon, lost, again, "lost")
        assert daemon.get("/cluster")["backends"][-1]["accounting"] is False
        assert daemon.calls.count()["sacct"] == 0
    finally:
        daemon.stop()
        lab.down()
