"""Several tasks on one GPU: parts, NVIDIA MPS, tasks that fail for their neighbours, and how many is best. The driver and
the control program of MPS are played, since test machines have no GPU."""

import os
import re
import signal
import sqlite3

import pytest

from attempt import is_alive
from conftest import wait_for
from test_samples import fake_nvml, notes, write_smi  # noqa: F401 (a fixture)

# Writes what it sees of its GPU and how many run beside it, and works for a while. With HALF it plays a GPU on which two
# tasks are each faster than one alone, and four are not: what is measured then does not hang on how fast Python starts.
SCRIPT = """
    import os, pathlib, sys, time
    how = sys.argv[1].split("=")[1]
    here = pathlib.Path(os.environ["SLUICE_TASK_DIR"]).parent / "running"
    here.mkdir(exist_ok=True)
    mine = here / os.environ["SLUICE_TASK"]
    mine.touch()
    half = "HALF" in os.environ and os.environ.get("CUDA_MPS_PINNED_DEVICE_MEM_LIMIT") == "0=40779M"
    time.sleep(float(os.environ.get("HALF" if half else "SLEEP", "1")))
    print("step=1 loss=1 beside=%d" % len(list(here.iterdir())), flush=True)
    print({k: v for k, v in os.environ.items() if k.startswith("CUDA_")}, flush=True)
    mine.unlink()
    if how == "memory" and os.environ["SLUICE_ATTEMPT"] == "1":
        sys.exit("torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB")
"""


def write_mps(folder, status=0):
    """A control program of MPS that writes down how it was called."""
    program = folder / "bin" / "nvidia-cuda-mps-control"
    program.write_text("#!/bin/sh\n[ $# -gt 0 ] && words=$* || read words\n"
                       f"echo \"$words in $CUDA_MPS_PIPE_DIRECTORY\" >> {folder}/mps.log\nexit {status}\n")
    program.chmod(0o755)


@pytest.fixture
def start(make_daemon, folder, fake_nvml, monkeypatch):  # noqa: F811
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)

    def start(mps=0):
        path = write_smi(folder)
        if mps is not None:
            write_mps(folder, mps)
        return make_daemon(env={"PATH": path, "SLUICE_NVML": str(fake_nvml), "FAKE_NVML_WATTS": "250"}).start()
    return start


def write_living_mps(folder):
    """One that leaves a process and its number behind, as the real one does."""
    program = folder / "bin" / "nvidia-cuda-mps-control"
    program.write_text(f"""#!/bin/sh
file=$CUDA_MPS_PIPE_DIRECTORY/nvidia-cuda-mps-control.pid
if [ "$1" = -d ]; then
    echo start >> {folder}/mps.log
    (while :; do sleep 0.1; done) </dev/null >/dev/null 2>&1 &
    echo $! > $file
else
    read words
    echo "$words" >> {folder}/mps.log
    kill $(cat $file) 2>/dev/null || {{ echo Cannot find MPS control daemon process; exit 1; }}
fi
""")
    program.chmod(0o755)


def mps_pid(daemon):
    return int((daemon.state / "mps/pipe/nvidia-cuda-mps-control.pid").read_text())


def spec(values, **resources):
    return {"parameters": {"how": list(values)}, "resources": {"cpus": 1, **resources}, "warm": "off"}


def stdout(daemon, experiment, task):
    return daemon.request("GET", f"/experiments/{experiment}/tasks/{task}/log?stream=stdout").body.decode()


def test_parts_of_a_gpu_run_side_by_side_by_mps(start, folder):
    daemon = start()
    experiment = daemon.submit(SCRIPT, spec(range(4), gpus=0.5))
    assert daemon.wait_ended(experiment)["state"] == "finished"
    beside = [daemon.task(experiment, n)["last"]["value"] is not None and
              int(re.search(r"beside=(\d)", stdout(daemon, experiment, n)).group(1)) for n in range(1, 5)]
    assert max(beside) == 2, "two halves were not on the GPU at the same time"
    assert "'CUDA_VISIBLE_DEVICES': '0'" in stdout(daemon, experiment, 1)
    assert "'CUDA_MPS_PINNED_DEVICE_MEM_LIMIT': '0=40779M'" in stdout(daemon, experiment, 1)
    assert str(daemon.state / "mps" / "pipe") in stdout(daemon, experiment, 1)
    task = daemon.task(experiment, 1)
    assert "has 0.5 of GPU 0, beside other tasks, by NVIDIA MPS" in notes(task)
    assert task["attempts"][0]["asked"]["gpus"] == 0.5
    assert task["cost"]["gpu_s"] == pytest.approx(task["cost"]["wall_s"] / 2, rel=0.01)
    daemon.stop()
    assert (folder / "mps.log").read_text().split("\n")[:2] == [
        f"-d in {daemon.state}/mps/pipe", f"quit in {daemon.state}/mps/pipe"], "MPS was not ended with the daemon"


def test_mps_that_died_is_started_again(start, folder):
    daemon = start()
    write_living_mps(folder)
    for _ in range(2):
        assert daemon.wait_ended(daemon.submit(SCRIPT, spec([1], gpus=0.5)))["state"] == "finished"
        os.kill(mps_pid(daemon), signal.SIGKILL)
        wait_for(lambda: not is_alive(mps_pid(daemon)), "it lives")
    assert (folder / "mps.log").read_text().split() == ["start", "start"]
    assert "NVIDIA MPS has died" in daemon.log.read_text()


def test_mps_of_a_killed_daemon_is_ended_with_the_next(start, folder):
    daemon = start()
    write_living_mps(folder)
    assert daemon.wait_ended(daemon.submit(SCRIPT, spec([1], gpus=0.5)))["state"] == "finished"
    daemon.kill()
    left = mps_pid(daemon)
    assert is_alive(left)
    daemon.start()
    daemon.stop()
    wait_for(lambda: not is_alive(left), "MPS outlives both daemons")
    assert (folder / "mps.log").read_text().split() == ["start", "quit"]


def test_mps_of_a_killed_daemon_serves_its_tasks_on(start, folder):
    daemon = start()
    write_living_mps(folder)
    experiment = daemon.submit(SCRIPT, {**spec([1, 2, 3], gpus=0.5), "environment": {"vars": {"SLEEP": "4"}}})
    wait_for(lambda: daemon.task(experiment, 1)["state"] == "running", "it does not run")
    daemon.kill()
    daemon.start()
    assert daemon.wait_ended(experiment)["state"] == "finished"
    assert all("has 0.5 of GPU 0, beside other tasks, by NVIDIA MPS" in notes(daemon.task(experiment, n)) for n in (1, 2, 3))
    assert (folder / "mps.log").read_text().split() == ["start"]


def test_the_energy_of_parts_is_no_more_than_the_card_used(start):
    """The driver that is played lists no processes: none can be told to be the task's own."""
    daemon = start()
    experiment = daemon.submit(SCRIPT, {**spec(range(2), gpus=0.5), "environment": {"vars": {"SLEEP": "5"}}})
    assert daemon.wait_ended(experiment)["state"] == "finished"
    for n in (1, 2):
        cost = daemon.task(experiment, n)["cost"]
        assert cost["energy_j"] == pytest.approx(250 * cost["wall_s"] / 2, rel=0.1)
        assert cost["energy_estimated_j"] == cost["energy_j"] and "estimate" in cost["energy_source"]


def test_tasks_that_share_a_gpu_do_not_limit_its_power(make_daemon, folder, fake_nvml, monkeypatch):  # noqa: F811
    """The first to end would restore the limit for all, and the last would set the one that it had found."""
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    limits = folder / "limits"
    daemon = make_daemon(env={"PATH": write_smi(folder), "SLUICE_NVML": str(fake_nvml), "FAKE_NVML_LIMIT": str(limits)}).start()
    experiment = daemon.submit(SCRIPT, {**spec(range(2), gpus=0.5), "power": {"limit": "300W"}})
    assert daemon.wait_ended(experiment)["state"] == "finished"
    for n in (1, 2):
        assert any("no power limit was set: the task has a part of a GPU" in note for note in notes(daemon.task(experiment, n)))
    assert not limits.exists()


@pytest.mark.parametrize("mps", [None, 1], ids=["missing", "fails"])
def test_without_mps_tasks_take_turns(start, mps):
    daemon = start(mps)
    experiment = daemon.submit(SCRIPT, spec(range(2), gpus=0.25))
    assert daemon.wait_ended(experiment)["state"] == "finished"
    assert any("in turns: NVIDIA MPS is not available" in note for note in notes(daemon.task(experiment, 1)))
    assert "CUDA_MPS" not in stdout(daemon, experiment, 1)


def test_a_task_that_fails_beside_others_runs_again_alone(start):
    daemon = start()
    experiment = daemon.submit(SCRIPT, spec(["memory", "fine"], gpus=0.5))
    assert daemon.wait_ended(experiment)["state"] == "finished"
    task = daemon.task(experiment, 1)
    assert [a["state"] for a in task["attempts"]] == ["error", "finished"]
    assert task["attempts"][0]["cause"]["kind"] == "shared"
    assert [a["asked"]["gpus"] for a in task["attempts"]] == [0.5, 1]
    assert any("retry 1 of 1 with a GPU of its own" in note for note in notes(task))
    assert len(daemon.task(experiment, 2)["attempts"]) == 1, "a neighbour was taken along"


def test_the_number_of_neighbours_is_measured(start):
    """Memory is known from the samples, so the tasks are long enough for one."""
    daemon = start()
    works = {**spec(range(14), share="auto"), "environment": {"vars": {"SLEEP": "4", "HALF": "2"}}}
    experiment = daemon.submit(SCRIPT, works)
    wait_for(lambda: "on a GPU" in (daemon.get(f"/experiments/{experiment}")["sharing"] or ""), "it says nothing")
    assert daemon.wait_ended(experiment)["state"] == "finished"
    asked = [daemon.task(experiment, n)["attempts"][0]["asked"]["gpus"] for n in range(1, 15)]
    assert asked[:2] == [1, 1] and 0.5 in asked[2:5], "it does not begin alone"
    log = daemon.log.read_text()
    cores = len(os.sched_getaffinity(0))
    assert "a task uses up to 1.0 GB of 80 GB" in log
    if cores == 2:  # four tasks on two cores are no more than two
        assert asked[-1] == 0.5 and "4 gave " in log
    # What was measured outlives the daemon, for the same script with the same values.
    daemon.restart()
    same = daemon.submit(SCRIPT, works)
    first = wait_for(lambda: [a["asked"]["gpus"] for a in daemon.task(same, 1)["attempts"]], "it does not begin")
    assert first[0] < 1, "it began alone again"
    assert "times as many tasks an hour as one alone" in daemon.get(f"/experiments/{same}")["sharing"]
    daemon.post(f"/experiments/{same}/stop")
    other = daemon.submit(SCRIPT, spec(range(15), share="auto"))
    assert wait_for(lambda: [a["asked"]["gpus"] for a in daemon.task(other, 1)["attempts"]], "it does not begin")[0] in (1, None)
    daemon.post(f"/experiments/{other}/stop")


def rewrite_smi(folder, cards, slices="exit 1"):
    """The start() of a test has made one that lists a single card."""
    program = folder / "bin" / "nvidia-smi"
    program.write_text(f"#!/bin/sh\ncase \"$*\" in *index,uuid*) {cards};; -L) {slices};; *) exit 1;; esac\n")


def test_what_is_measured_is_kept_once_for_all_models(start, folder):
    daemon = start()
    daemon.stop()
    rewrite_smi(folder, "echo '0, GPU-1, 81559, NVIDIA A100-SXM4-80GB'; echo '1, GPU-2, 81559, NVIDIA A100'; "
                        "echo '2, GPU-3, 81559, NVIDIA A100'")
    daemon.start()
    # The copy of the script changes while it runs: it is still the script that was submitted.
    script = "import os\nos.chmod(__file__, 0o600)\nopen(__file__, 'a').write('#\\n')\nprint('loss=1')\n"
    experiment = daemon.submit(script, spec(range(4), share="auto"))
    assert daemon.wait_ended(experiment)["state"] == "finished"
    daemon.stop()
    with sqlite3.connect(daemon.state / "sluice.db") as store:
        assert store.execute("SELECT gpu FROM sharing").fetchall() == [("NVIDIA A100-SXM4-80GB, NVIDIA A100",)]


def test_what_is_measured_is_that_of_the_files_beside_the_script_too(start):
    """A module or a configuration beside the script may change what a task needs."""
    daemon = start()
    for content in (None, "width: 1", "width: 2", "width: 1"):
        files = [{"path": "sub/model.yaml", "text": content}] if content else []
        experiment = daemon.submit("print('loss=1')\n", spec(range(2), share="auto"), files=files)
        assert daemon.wait_ended(experiment)["state"] == "finished"
    daemon.stop()
    with sqlite3.connect(daemon.state / "sluice.db") as store:
        assert store.execute("SELECT count(*) FROM sharing").fetchone() == (3,)


def test_mig_slices_stay_whole(start, folder):
    daemon = start()
    daemon.stop()
    name = "MIG-c6d4f1ef-42e4-5de3-91c7-45d71c87eb3f"
    rewrite_smi(folder, "echo '0, GPU-1, 40960, NVIDIA A100'",
                f"echo 'GPU 0: NVIDIA A100 (UUID: GPU-1)'; echo '  MIG 3g.20gb  Device  0: (UUID: {name})'")
    daemon.start()
    experiment = daemon.submit(SCRIPT, spec(range(3), share="auto"))
    wait_for(lambda: daemon.get(f"/experiments/{experiment}")["sharing"] == "1 task on a GPU: MIG slices are not parted",
             "it does not say that slices stay whole")
    assert daemon.wait_ended(experiment)["state"] == "finished"
    (local,) = [b for b in daemon.get("/cluster")["backends"] if b["name"] == "local"]
    assert [(gpu["id"], gpu["index"]) for gpu in local["gpus"]] == [(name, 0)]
    assert daemon.task(experiment, 1)["attempts"][0]["gpus"] == name
    assert {daemon.task(experiment, n)["attempts"][0]["asked"]["gpus"] for n in range(1, 4)} == {1}
    text = "command: [x]\nresources: {gpus: 0.5}\n"
    answer = daemon.request("POST", "/experiments", {"source": {"name": "a.yaml", "text": text}})
    assert answer.status == 400 and "MIG slices, which are not parted" in answer.json["errors"][0]["message"], answer.json


@pytest.mark.parametrize("gpus", [0.001, 0.7, 1.5])
def test_parts_that_cannot_be_shared_are_refused(daemon, gpus):
    text = f"command: [x]\nresources: {{gpus: {gpus}}}\n"
    answer = daemon.request("POST", "/experiments", {"source": {"name": "a.yaml", "text": text}})
    assert answer.status == 400 and answer.json["errors"][0]["field"] == "/resources/gpus", answer.json
