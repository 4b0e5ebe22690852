"""The Slurm backend by itself against a real Slurm, driven through a small harness: what it submits, sees, cancels and
says, with a stand-in for the runner. Needs Slurm's packages (installed when run as root) and the unit tests' build."""

import os
import pathlib
import signal
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/lab"))
import lab as slurm_lab  # noqa: E402
from harness import Batch, HARNESS, Harness, RUNNER, UNTIL_GO, wait_for  # noqa: E402

pytestmark = pytest.mark.skipif(not HARNESS, reason="backend_harness is not built (meson -Dtests=true)")


@pytest.fixture(scope="module")
def cluster():
    try:
        up = slurm_lab.Lab("--set", "KillWait=10")  # time to see that something ended when it was asked to
    except slurm_lab.NoLab as reason:
        pytest.skip(f"no Slurm here: {reason}")
    (up.jobs / "runner").write_text(RUNNER)
    (up.jobs / "runner").chmod(0o755)
    yield up
    up.down()


@pytest.fixture
def harness(cluster):
    h = Harness(cluster.env, cluster.jobs, cluster.jobs / "runner")
    assert h.opened["rc"] == 0, h.opened
    h.settle()
    yield h
    assert h.close() == 0
    cluster.slurm("scancel", "-u", str(os.getuid()))
    wait_for(lambda: not cluster.slurm("squeue", "-h"), "an empty queue")


def forgetful(cluster):
    """A backend whose view of the queue has nothing left in it, as after MinJobAge."""
    shim = cluster.jobs / "shim"
    shim.mkdir(exist_ok=True)
    (shim / "squeue").write_text("#!/bin/sh\nexit 0\n")
    (shim / "squeue").chmod(0o755)
    return Harness({**cluster.env, "PATH": f"{shim}:{cluster.env['PATH']}"}, cluster.jobs, cluster.jobs / "runner")


def test_without_slurm_there_is_no_backend(tmp_path):
    env = {**os.environ, "PATH": str(tmp_path)}
    h = Harness(env, tmp_path, "/bin/true")
    assert h.opened["rc"] == -2 and "PATH" in h.opened["why"]
    h.process.wait()


def test_without_a_configuration_there_is_no_backend(cluster, tmp_path):
    env = {**cluster.env, "SLURM_CONF": str(tmp_path / "none")}
    since = time.monotonic()
    h = Harness(env, tmp_path, "/bin/true")
    # Slurm's own programs would look for a minute.
    assert h.opened["rc"] == -2 and time.monotonic() - since < 30
    h.process.wait()


def test_tasks_run_end_and_are_accounted_for(cluster, harness):
    batch = Batch(cluster, f'echo "$CUDA_VISIBLE_DEVICES" >$index.gpus; {UNTIL_GO}; sleep 2')
    answer = batch.submit(harness, 5, 0, partition="gpu_volta", gpus=1, gpu_type="volta", cpus=2, memory=100 << 20,
                          time_ms=61000)
    limits = cluster.slurm("squeue", "-h", "-j", answer["job"], "-o", "%l %m %C %b").splitlines()
    # What stands before the GPUs differs: nothing in 20.11, "gres:" in 22.05, "gres/" in 24.11.
    assert limits[0].replace("gres:", "").replace("gres/", "").split() == ["2:00", "100M", "2", "gpu:volta:1"]
    seen = wait_for(lambda: (s := harness.poll(batch.all())[0]) and
                    sum(x["state"] == "running" for x in s.values()) == 4 and s, "four GPUs in use")
    assert [s["state"] for s in seen.values()].count("queued") == 1
    assert all(s["node"] in ("volta1", "volta2") for s in seen.values() if s["state"] == "running")
    batch.go()
    seen = batch.wait(harness)
    for index, sight in seen.items():
        assert sight["cause"] == "ok" and sight["job"] == f"{answer['job']}_{index}"
        cost = sight["cost"]
        assert cost["wall_ms"] >= 1000 and cost["gpu_ms"] == cost["wall_ms"] and cost["max_rss_bytes"] > 0
        # A cluster without an energy plugin has no figure, and none is made up.
        assert "energy_j" not in cost and "energy_source" not in cost
        assert (batch.folder / f"{index}.gpus").read_text().strip() in ("0", "1")
        assert (batch.folder / f"{index}.out").exists()


def test_the_kept_script_is_what_was_submitted(cluster, harness):
    batch = Batch(cluster, "sleep 300")
    answer = batch.submit(harness, 1, 0, partition="cpu")
    kept = (batch.folder / "script").read_text()
    given = cluster.slurm("scontrol", "write", "batch_script", answer["job"], "-")
    lines = [line for line in kept.splitlines() if not line.startswith("# Submitted") and not line.startswith("#   ")]
    assert lines == given.rstrip().splitlines()
    assert batch.token in kept and "SBATCH" not in kept


@pytest.mark.parametrize("do,cause,code,signal_number", [
    ("exit 3", "exit", 3, 0),
    ("kill -SEGV $$", "signal", -1, signal.SIGSEGV),
    ("exit 127", "launch", 127, 0),
])
def test_ends_have_causes(cluster, harness, do, cause, code, signal_number):
    batch = Batch(cluster, do)
    batch.submit(harness, 1, 0, partition="cpu")
    sight = batch.wait(harness)[0]
    assert (sight["cause"], sight["exit_code"], sight["signal"]) == (cause, code, signal_number), sight


def test_too_much_memory_is_its_own_cause(cluster, harness):
    if not cluster.cgroups:
        pytest.skip("needs root and control groups of version 1")
    batch = Batch(cluster, 'exec python3 -c "x = bytearray(900 << 20)"')
    batch.submit(harness, 1, 0, partition="cpu", memory=100 << 20)
    sight = batch.wait(harness)[0]
    assert sight["cause"] == "memory" and "memory:" in sight["remedy"]


def test_the_time_limit_with_its_signal_and_a_lost_node_are_their_own_causes(cluster, harness):
    # Both take a minute or more, in different partitions: they pass at the same time.
    limited = Batch(cluster, "trap 'date +%s >$index.usr1' USR1; for i in $(seq 1000); do sleep 0.2; done")
    # Slurm sends the signal up to 30 s early: not so early that the trap may not be there yet.
    limited.submit(harness, 3, 0, partition="cpu", time_ms=60000, signal_ms=10000)
    batch = Batch(cluster, "sleep 300")
    batch.submit(harness, 2, 0, partition="gpu_volta", options=["--nodelist=volta2"])
    batch.wait(harness, "running")
    cluster.run("stop", "volta2", "KILL")
    try:
        seen = batch.wait(harness)
        assert all(s["cause"] == "node" and "volta2" in s["message"] for s in seen.values()), seen
    finally:
        cluster.start("volta2")
    seen = limited.wait(harness)
    assert [s["cause"] for s in seen.values()] == ["time"] * 3, seen
    # It reached the runner itself, which the batch shell became. Slurm sends it once: on a busy machine one may be lost.
    assert list(limited.folder.glob("*.usr1"))


def test_preemption_is_its_own_cause(cluster, harness):
    low = Batch(cluster, "sleep 300")
    low.submit(harness, 1, 0, partition="cpu", account="labacct", qos="low", cpus=8)
    low.wait(harness, "running")
    high = Batch(cluster, "sleep 1")
    high.submit(harness, 1, 0, partition="cpu", account="labacct", qos="high", cpus=8)
    assert low.wait(harness)[0]["cause"] == "preempted"
    assert high.wait(harness)[0]["cause"] == "ok"


@pytest.mark.parametrize("resources,words", [
    ({"partition": "gpu_volta", "gpus": 4}, "asked for 4 GPUs; partition gpu_volta has 2 per node"),
    ({"partition": "cpu", "gpus": 1}, "partition cpu has none"),
    ({"partition": "nope"}, "there are gpu_volta, cpu"),
    ({"partition": "gpu_volta", "gpus": 1, "gpu_type": "a100"}, "partition gpu_volta has volta"),
    ({"partition": "cpu", "memory": 1 << 42}, "a node of partition cpu has"),
    ({"qos": "nope"}, "QOS"),
    ({"account": "nope"}, "nope"),
    ({"constraint": "nope"}, "constraint"),
    ({"options": ["--bogus"]}, "take the option out"),
    ({"options": ["--array=1-5"]}, "sluice makes the array itself"),
    ({"template": "#!/bin/bash {nothing}"}, "{run}"),
])
def test_refusals_say_what_is_wrong_and_leave_nothing_behind(cluster, harness, resources, words):
    batch = Batch(cluster, "true")
    answer = batch.submit(harness, 2, 0, "refused", **resources)
    assert words in answer["why"], answer
    assert answer["job"] is None
    # Slurm may keep a record that it failed; nothing waits or runs.
    assert batch.token not in cluster.slurm("squeue", "-h", "-o", "%j")


def test_impossible_requests_are_found_before_they_are_submitted(cluster, harness):
    # This Slurm takes all of these and lets them wait for ever (EnforcePartLimits=NO).
    for pair, words in (("cpus=900", "has 8 per node"), ("nodes=50", "partition cpu has 1"),
                        (f"time_ms={99 * 86400000}", "partition cpu allows"),
                        ("qos=nope", "there is no QOS nope; you may use ")):
        errors = harness.ask("check", pair)[-1]["errors"]
        assert len(errors) == 1 and words in errors[0]["message"] and errors[0]["remedy"], errors
    # The partition that has GPUs is named.
    errors = harness.ask("check", "gpus=1")[-1]["errors"]
    assert errors[0]["remedy"] == "choose a partition with such GPUs: gpu_volta", errors
    assert harness.ask("check", "cpus=8", "partition=cpu", "qos=low")[-1]["errors"] == []


def test_waiting_has_a_reason_and_a_time(cluster, harness):
    batch = Batch(cluster, "sleep 300")
    batch.submit(harness, 3, 0, partition="cpu", cpus=8, time_ms=300000)
    seen = wait_for(lambda: (s := harness.poll(batch.all())[0]) and s[0]["state"] == "running" and
                    s[1]["expected_start_ms"] and s[1]["reason"] and s, "a reason and an expected start")
    assert seen[1]["state"] == "queued"
    assert 0 < seen[1]["expected_start_ms"] - time.time() * 1000 < 600000


def test_elements_are_cancelled_in_one_call_and_the_others_go_on(cluster, tmp_path):
    calls = slurm_lab.Calls(tmp_path / "count", cluster.env)
    h = Harness(calls.env, cluster.jobs, cluster.jobs / "runner")
    h.settle()
    batch = Batch(cluster, f"trap 'echo >$index.term; exit 0' TERM; echo >$index.ready; {UNTIL_GO}")
    answer = batch.submit(h, 30, 2, partition="cpu")
    wait_for(lambda: h.poll(batch.all())[0][1]["state"] == "running", "two running")
    wait_for(lambda: (batch.folder / "0.ready").exists(), "the first at work")
    calls.clear()
    done = h.ask("cancel", f"{batch.token}:0-0", f"{batch.token}:5-20", f"{batch.token}:25-25")[-1]
    assert done["rc"] == 0, done
    assert calls.count() == {"squeue": cluster.looks, "scancel": 1}
    assert calls.lines()[-1][2] == f"{answer['job']}_[0,5-20,25]"
    seen = wait_for(lambda: (s := h.poll(batch.all(answer["job"]))[0]) and s[0]["state"] == "ended" and s, "one ended")
    assert seen[0]["cause"] == "cancelled"
    # It was asked to end before it was made to.
    assert (batch.folder / "0.term").exists()
    assert seen[1]["state"] == "running" and seen[22]["state"] == "queued"
    # A waiting element that is cancelled alone leaves no trace anywhere. Who cancelled it knows; everyone else sees that the
    # rest of its array still waits.
    assert all(seen[i]["state"] == "ended" and seen[i]["cause"] == "cancelled" for i in range(5, 21)), seen
    other = Harness(cluster.env, cluster.jobs, cluster.jobs / "runner")
    other.settle()
    seen = other.poll(batch.all(answer["job"]))[0]
    assert all(seen[i]["state"] == "ended" and "not by sluice" in seen[i]["message"] for i in (5, 20)), seen
    assert other.close() == 0
    calls.clear()
    assert h.ask("cancel", batch.all())[-1]["rc"] == 0
    assert calls.lines()[-1][2] == answer["job"]
    # Over and done: a second time is harmless and asks nothing of scancel.
    wait_for(lambda: not batch.token in cluster.slurm("squeue", "-h", "-o", "%j"), "an empty queue")
    calls.clear()
    assert h.ask("cancel", batch.all())[-1]["rc"] == 0
    assert calls.count() == {"squeue": cluster.looks}
    assert h.close() == 0


def test_an_array_cancelled_by_someone_else_before_it_started_is_over(cluster, harness):
    blocker = Batch(cluster, "sleep 300")
    blocker.submit(harness, 1, 0, partition="cpu", cpus=8)
    blocker.wait(harness, "running")
    single, several = Batch(cluster, "true"), Batch(cluster, "true")
    jobs = [b.submit(harness, n, 0, partition="cpu", cpus=8)["job"] for b, n in ((single, 1), (several, 5))]
    cluster.slurm("scancel", *jobs)
    for batch, job in zip((single, several), jobs):
        seen = batch.wait(harness, job=job)
        assert all(s["cause"] == "cancelled" for s in seen.values()), seen
    # Later, when only the accounting remembers.
    other = forgetful(cluster)
    for batch, job in zip((single, several), jobs):
        seen = batch.wait(other, job=job)
        assert all(s["cause"] == "cancelled" and "you" in s["message"] for s in seen.values()), seen
    assert other.close() == 0


def test_a_stopped_job_is_seen_and_can_be_cancelled(cluster, harness):
    batch = Batch(cluster, "sleep 300")
    answer = batch.submit(harness, 2, 0, partition="cpu")
    batch.wait(harness, "running")
    element = f"{answer['job']}_1"

    def stopped():
        # A job runs before its batch step can be signalled: a signal that came too early is lost.
        cluster.slurm("scancel", "--signal=STOP", "--full", element)
        return "JobState=STOPPED" in cluster.slurm("scontrol", "show", "job", element)

    wait_for(stopped, "a stopped job")
    seen, end = harness.poll(batch.all(answer["job"]))
    assert end["rc"] == 0 and [s["state"] for s in seen.values()] == ["running", "running"], seen
    assert seen[1]["reason"] == "stopped by a signal"
    assert harness.ask("cancel", batch.all())[-1]["rc"] == 0
    assert all(s["cause"] == "cancelled" for s in batch.wait(harness, job=answer["job"]).values())


def test_the_number_of_calls_does_not_grow_with_the_tasks(cluster, tmp_path):
    calls = slurm_lab.Calls(tmp_path / "count", cluster.env)
    h = Harness(calls.env, cluster.jobs, cluster.jobs / "runner")
    h.settle()
    calls.clear()
    batches = [Batch(cluster, "true") for _ in range(3)]
    for batch in batches:
        batch.submit(h, 1000, 2, partition="cpu")
    assert calls.count() == {"sbatch": 3}
    calls.clear()
    seen, end = {}, None
    answers = h.ask("poll", *(b.all() for b in batches))
    assert answers[-1]["rc"] == 0 and len(answers) == 3001
    assert calls.count()["squeue"] == cluster.looks and calls.count()["sacct"] <= 2, calls.count()
    assert not [line for line in calls.lines() if len(line[2]) > 1900], "an argument grew with the tasks"
    calls.clear()
    assert h.ask("cancel", *(b.all() for b in batches))[-1]["rc"] == 0
    assert calls.count() == {"squeue": cluster.looks, "scancel": 1}
    assert h.close() == 0


def test_the_parallel_limit_can_be_changed(cluster, harness):
    batch = Batch(cluster, "sleep 300")
    batch.submit(harness, 6, 1, partition="cpu")
    running = lambda: sum(s["state"] == "running" for s in harness.poll(batch.all())[0].values())  # noqa: E731
    wait_for(lambda: running() == 1, "one running")
    wait_for(lambda: "parallel limit" in (harness.poll(batch.all())[0][5]["reason"] or ""), "the reason of the others")
    assert harness.ask("parallel", batch.token, 3)[-1]["rc"] == 0
    wait_for(lambda: running() == 3, "three running")


def test_someone_elses_job_under_a_known_id_is_not_ours(cluster, harness):
    foreign = cluster.slurm("sbatch", "--parsable", "--array=0", "-p", "cpu", "--wrap=sleep 300").strip()
    batch = Batch(cluster, "true")
    batch.count = 1
    seen, end = harness.poll(batch.all(foreign))
    assert end["rc"] == 0 and seen[0]["state"] == "absent"
    assert harness.ask("cancel", batch.all(foreign))[-1]["rc"] == 0
    assert cluster.slurm("squeue", "-h", "-j", foreign, "-t", "PD,R", "-o", "%F").strip() == foreign


def test_a_job_is_found_again_by_its_token_alone(cluster, harness):
    batch = Batch(cluster, "sleep 3")
    answer = batch.submit(harness, 2, 0, partition="cpu")
    other = Harness(cluster.env, cluster.jobs, cluster.jobs / "runner")
    seen, end = other.poll(batch.all())
    assert end["rc"] == 0 and {s["job"] for s in seen.values()} == {f"{answer['job']}_0", f"{answer['job']}_1"}
    assert all(s["cause"] == "ok" for s in batch.wait(other).values())
    assert other.close() == 0


def test_ends_are_found_in_the_accounting_when_the_controller_forgot(cluster, harness):
    batch = Batch(cluster, "[ $index = 0 ]")
    answer = batch.submit(harness, 2, 0, partition="cpu")
    batch.wait(harness)
    other = forgetful(cluster)
    for job in (answer["job"], None):
        seen = batch.wait(other, job=job)
        assert seen[0]["cause"] == "ok" and seen[1]["cause"] == "exit" and seen[1]["exit_code"] == 1, (job, seen)
    assert other.close() == 0


def test_an_unconfirmed_submission_is_absent_only_after_a_while(cluster, harness):
    batch = Batch(cluster, "true")
    batch.count = 1
    fresh = Harness(cluster.env, cluster.jobs, cluster.jobs / "runner")
    # Whoever ran before may have left an sbatch behind.
    assert fresh.poll(batch.all())[0][0]["state"] == "queued"
    batch.wait(fresh, "absent")
    assert fresh.close() == 0


def test_a_dead_controller_means_unknown(cluster, harness):
    batch = Batch(cluster, "sleep 600")
    batch.submit(harness, 2, 0, partition="cpu")
    batch.wait(harness, "running")
    # A graceful stop loses nothing; a crash so soon might.
    cluster.run("stop", "slurmctld")
    try:
        seen, end = harness.poll(batch.all())
        assert end["rc"] < 0 and end["why"] and not seen
        assert harness.ask("interval", 0)[-1]["ms"] > 10000
        assert harness.ask("cancel", batch.all())[-1]["rc"] < 0
        lost = Batch(cluster, "true")
        assert lost.submit(harness, 1, 0, "unknown", partition="cpu")["why"]
        blind = Harness(cluster.env, cluster.jobs, cluster.jobs / "runner")
        # Slurm is here; it just does not answer. Nothing may be submitted before its limits are known.
        assert blind.opened["rc"] == 0 and blind.ask("room")[-1]["room"] == 0
        assert blind.close() == 0
    finally:
        cluster.start("slurmctld")
    batch.wait(harness, "running")


def test_a_stopped_controller_may_have_taken_the_job(cluster, harness):
    pid = cluster.daemon_pid("slurmctld")
    batch = Batch(cluster, "true")
    os.kill(pid, signal.SIGSTOP)
    try:
        batch.submit(harness, 1, 0, "unknown", partition="cpu")
    finally:
        os.kill(pid, signal.SIGCONT)
    # Whether it exists is for the token to find out: it is either seen, or absent after a while; never an error.
    state = wait_for(lambda: (s := harness.poll(batch.all())[0].get(0)) and s["state"] in ("ended", "absent") and s["state"],
                     "an answer")
    assert (state == "ended") == (batch.token in cluster.slurm("squeue", "-h", "-t", "all", "-o", "%j"))


def test_two_jobs_for_one_token_tell_one_story(cluster, harness):
    # The second runner loses the claim and ends well at once; the first one's end is the truth.
    batch = Batch(cluster, f"mkdir claim || exit 0; {UNTIL_GO}; exit 5")
    batch.submit(harness, 1, 0, partition="cpu")
    batch.submit(harness, 1, 0, partition="cpu")
    wait_for(lambda: cluster.slurm("squeue", "-h", "-t", "CD", "-o", "%j").count(batch.token) == 1, "a loser")
    assert harness.poll(batch.all())[0][0]["state"] == "running"
    batch.go()
    sight = batch.wait(harness)[0]
    assert sight["cause"] == "exit" and sight["exit_code"] == 5


def test_room_follows_the_accounts_limit(cluster, harness):
    user = cluster.slurm("id", "-un").strip()
    assert harness.ask("room")[-1]["room"] == 10000
    cluster.slurm("sacctmgr", "-i", "modify", "user", user, "set", "MaxSubmitJobs=5")
    try:
        limited = Harness(cluster.env, cluster.jobs, cluster.jobs / "runner")
        limited.settle()
        assert limited.ask("room")[-1]["room"] == 5
        batch, more = Batch(cluster, "sleep 300"), Batch(cluster, "true")
        batch.submit(limited, 3, 0, partition="cpu")
        assert limited.ask("room")[-1]["room"] == 2
        limited.poll(batch.all())
        assert limited.ask("room")[-1]["room"] == 2
        # Too many for now, not for ever: as if it had got lost, so that it is handed over again.
        answer = more.submit(limited, 4, 0, "unknown", partition="cpu")
        assert "Limit" in answer["why"], answer
        assert limited.ask("cancel", batch.all())[-1]["rc"] == 0
        assert limited.close() == 0
    finally:
        cluster.slurm("sacctmgr", "-i", "modify", "user", user, "set", "MaxSubmitJobs=-1")


def test_the_cluster_is_described(cluster, harness):
    told = harness.ask("describe")[-1]["describe"]
    assert told["controller"] == "up" and told["cluster"] == "lab" and told["accounting"] and not told["energy"]
    assert told["version"] and told["limits"]["array_size"] == 10001
    gpu = next(p for p in told["partitions"] if p["name"] == "gpu_volta")
    assert (gpu["nodes"], gpu["gpus"], gpu["gpus_per_node"], gpu["gpu_type"]) == (2, 4, 2, "volta")
    assert gpu["time_limit_s"] == 7 * 86400 and gpu["cpus"] == 16 and not gpu["default"]


def test_an_idle_backend_asks_nothing(cluster, tmp_path):
    calls = slurm_lab.Calls(tmp_path / "count", cluster.env)
    h = Harness(calls.env, cluster.jobs, cluster.jobs / "runner")
    h.settle()
    calls.clear()
    h.process.stdin.write("wait\t3000\ninterval\t0\n")
    h.process.stdin.flush()
    h.read("interval")
    assert not calls.count()
    assert h.close() == 0


def test_a_doctor_finds_a_program_that_nodes_cannot_run(cluster):
    h = Harness(cluster.env, cluster.jobs, "/nowhere/sluice")
    h.settle()
    findings = h.ask("examine", "cpu")[-1]["findings"]
    assert [f for f in findings if f["level"] == "error" and "/nowhere/sluice" in f["what"] and f["fix"]], findings
    assert h.close() == 0


def test_variables_of_the_user_do_not_change_what_is_seen(cluster):
    env = {**cluster.env, "SQUEUE_STATES": "RUNNING", "SQUEUE_FORMAT": "%i", "SQUEUE_PARTITION": "gpu_volta",
           "SLURM_TIME_FORMAT": "relative", "SACCT_FORMAT": "jobid", "SCANCEL_STATE": "RUNNING", "SCANCEL_INTERACTIVE": "1",
           "SBATCH_WAIT": "1", "SBATCH_ARRAY_INX": "3", "SLURM_BITSTR_LEN": "16"}
    h = Harness(env, cluster.jobs, cluster.jobs / "runner")
    h.settle()
    batch = Batch(cluster, "sleep 300")
    batch.submit(h, 40, 1, partition="cpu")
    seen, end = h.poll(batch.all())
    assert end["rc"] == 0 and len(seen) == 40 and all(s["state"] in ("queued", "running") for s in seen.values())
    assert h.ask("cancel", f"{batch.token}:1-39")[-1]["rc"] == 0
    wait_for(lambda: all(s["state"] in ("ended", "absent") for i, s in h.poll(batch.all())[0].items() if i), "all but one over")
    assert h.ask("cancel", batch.all())[-1]["rc"] == 0
    assert h.close() == 0


@pytest.fixture(scope="module")
def plain(cluster):
    """A cluster that keeps no accounts."""
    try:
        up = slurm_lab.Lab("--no-acct", "--no-cgroup", "--set", "MinJobAge=20")
    except slurm_lab.NoLab as reason:
        pytest.skip(f"no second Slurm here: {reason}")
    (up.jobs / "runner").write_text(RUNNER)
    (up.jobs / "runner").chmod(0o755)
    yield up
    up.down()


def test_without_accounting_ends_are_still_seen(plain):
    h = Harness(plain.env, plain.jobs, plain.jobs / "runner")
    h.settle()
    assert not h.ask("describe")[-1]["describe"]["accounting"]
    batch = Batch(plain, "[ $index = 0 ]")
    answer = batch.submit(h, 2, 0, partition="cpu")
    seen = batch.wait(h)
    assert seen[0]["cause"] == "ok" and seen[1]["cause"] == "exit" and seen[1]["cost"] == {}
    # After MinJobAge nobody knows it any more, and that is an answer.
    batch.wait(h, "absent", job=answer["job"])
    assert h.close() == 0
