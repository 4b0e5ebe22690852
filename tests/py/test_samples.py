"""Samples, energy and power limits, with the real runner and its real helper for NVML. Only the driver's library is
played by a small C file (tests/nvml), since test machines have no GPU."""

import os
import shutil
import subprocess

import pytest

from conftest import PROGRAM, ROOT, wait_for

WATTS = 250
# Prints a row a turn, until it has done so many.
SCRIPT = """
    import sys, time
    for epoch in range(int(sys.argv[1].split("=")[1])):
        time.sleep(0.5)
        print(f"epoch={epoch} loss={1 / (epoch + 1)}", flush=True)
"""
GPU = {"parameters": {"turns": [7]}, "resources": {"gpus": 1, "cpus": 1}}


@pytest.fixture(scope="session")
def fake_nvml(tmp_path_factory):
    """A libnvidia-ml.so.1 with one card of WATTS."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        pytest.skip("no C compiler here")
    library = tmp_path_factory.mktemp("nvml") / "libfake.so"
    subprocess.run([compiler, "-shared", "-fPIC", f"-I{ROOT}/src", f"{ROOT}/tests/nvml/fake_nvml.c", "-D_GNU_SOURCE",
                    "-o", str(library)], check=True)
    return library


def write_smi(folder, answer="exit 1"):
    """An nvidia-smi that lists one GPU, and says `answer` to every other question."""
    program = folder / "bin" / "nvidia-smi"
    program.parent.mkdir(exist_ok=True)
    program.write_text("#!/bin/sh\ncase \"$*\" in *index,uuid*) echo '0, GPU-11112222-3333, 81559, Fake GPU';;\n"
                       f"-L) exit 1;; *) {answer};; esac\n")
    program.chmod(0o755)
    return f"{program.parent}:{os.environ['PATH']}"


@pytest.fixture
def gpu_daemon(make_daemon, folder, fake_nvml, monkeypatch):
    """Starts a daemon on a machine that has one GPU, as far as it can tell."""
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)

    def start(library=fake_nvml, smi="exit 1", **env):
        env = {key: str(value) for key, value in env.items()}
        return make_daemon(env={"PATH": write_smi(folder, smi), "SLUICE_NVML": str(library),
                                "FAKE_NVML_WATTS": str(WATTS), **env}).start()
    return start


def run_task(daemon, spec=GPU, script=SCRIPT):
    experiment = daemon.submit(script, spec)
    assert daemon.wait_ended(experiment)["state"] == "finished"
    return experiment, daemon.task(experiment, 1)


def notes(task):
    return [line["reason"] for line in task["timeline"] if line["reason"]]


def test_a_task_with_a_gpu_has_samples_and_measured_energy(gpu_daemon):
    daemon = gpu_daemon()
    experiment, task = run_task(daemon)
    cost = task["cost"]
    assert cost["energy_source"].startswith("NVML energy counter") and cost["energy_estimated_j"] in (0, None)
    assert cost["energy_gpu_j"] == pytest.approx(WATTS * cost["wall_s"], rel=0.05)
    assert cost["gpu_util_pct"] == 37 and cost["gpu_max_memory_bytes"] == 1 << 30 and cost["gpu_slowed_s"] > 1
    samples = daemon.get(f"/experiments/{experiment}/tasks/1/samples")
    count = len(samples["time_s"])
    assert count >= 1 and samples["time_s"] == sorted(samples["time_s"])
    assert samples["gpus"][0]["id"] == "0" and samples["gpus"][0]["power_w"] == [WATTS] * count
    assert all(len(column) == count for column in samples["host"].values())
    assert samples["host"]["processes"][-1] == 1 and samples["host"]["memory_bytes"][-1] > 1 << 20
    shown = daemon.cli("show", f"{experiment}/1", "--samples").stdout
    assert "GPU 0" in shown and f"{WATTS} W" in shown and "power limit" in shown
    assert "NVML energy counter" in daemon.cli("show", f"{experiment}/1").stdout
    assert daemon.get(f"/experiments/{experiment}")["cost"]["energy_j"] == pytest.approx(cost["energy_j"])


def test_a_task_shorter_than_a_sample_has_its_energy(gpu_daemon):
    _, task = run_task(gpu_daemon(), {**GPU, "parameters": {"turns": [1]}})
    assert task["cost"]["energy_gpu_j"] == pytest.approx(WATTS * task["cost"]["wall_s"], rel=0.1)


def test_a_card_without_a_counter_is_integrated(gpu_daemon):
    _, task = run_task(gpu_daemon(FAKE_NVML_NO_COUNTER=1))
    assert task["cost"]["energy_source"].startswith("NVML power, integrated")
    assert task["cost"]["energy_gpu_j"] == pytest.approx(WATTS * task["cost"]["wall_s"], rel=0.05)


def test_without_nvml_nvidia_smi_is_asked(gpu_daemon):
    smi = "while :; do echo '0, 50, 2048, 81559, 120.00, 61, 1500, 2600, 0x0000000000000000'; sleep 0.5; done"
    daemon = gpu_daemon(library="/no/such/library", smi=smi)
    experiment, task = run_task(daemon)
    assert task["cost"]["energy_source"].startswith("nvidia-smi power, integrated")
    assert 0 < task["cost"]["energy_gpu_j"] <= 120 * task["cost"]["wall_s"] * 1.02
    assert daemon.get(f"/experiments/{experiment}/tasks/1/samples")["gpus"][0]["temperature_c"][-1] == 61


def test_nvidia_smi_ends_with_its_task(gpu_daemon, folder):
    """Also where it waits between two readings and nothing is written into its closed pipe."""
    smi = (f"echo $$ >{folder}/pid; echo '0, 50, 2048, 81559, 120.00, 61, 1500, 2600, 0x0000000000000000'; "
           "exec sleep 600")
    run_task(gpu_daemon(library="/no/such/library", smi=smi))
    pid = int((folder / "pid").read_text())

    def gone():
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        return False
    try:
        wait_for(gone, "nvidia-smi runs on", deadline_s=20)
    finally:
        if not gone():
            os.kill(pid, 9)


@pytest.mark.parametrize("given, seen", [({}, "PCI_BUS_ID"), ({"CUDA_DEVICE_ORDER": "FASTEST_FIRST"}, "FASTEST_FIRST")])
def test_cuda_counts_the_gpus_as_the_sampler_does(gpu_daemon, given, seen):
    script = ("import os\nassert os.environ['CUDA_VISIBLE_DEVICES'] == '0'\n"
              f"assert os.environ['CUDA_DEVICE_ORDER'] == '{seen}'\nprint('epoch=1 loss=1')\n")
    run_task(gpu_daemon(), {**GPU, "parameters": {"turns": [1]}, "environment": {"vars": given}}, script)


def test_without_any_reader_nothing_is_measured_and_nothing_fails(gpu_daemon):
    daemon = gpu_daemon(library="/no/such/library")
    experiment, task = run_task(daemon)
    assert task["cost"]["energy_gpu_j"] is None and task["cost"]["gpu_util_pct"] is None
    assert any("the GPUs are not measured: libnvidia-ml.so.1 cannot be loaded" in note for note in notes(task))
    assert "not measured" in daemon.cli("show", f"{experiment}/1", "--samples").stdout


def test_a_task_without_a_gpu_asks_no_driver(gpu_daemon, folder):
    daemon = gpu_daemon(FAKE_NVML_DIE=folder)
    _, task = run_task(daemon, {"parameters": {"turns": [1]}, "resources": {"cpus": 1}})
    assert task["cost"]["energy_gpu_j"] is None and not any("measured" in note for note in notes(task))


def test_a_driver_that_crashes_does_no_harm(gpu_daemon, folder):
    daemon = gpu_daemon(FAKE_NVML_DIE=folder / "die")
    experiment = daemon.submit(SCRIPT, {**GPU, "parameters": {"turns": [10]}})
    samples = f"/experiments/{experiment}/tasks/1/samples"
    wait_for(lambda: daemon.get(samples)["gpus"], "no sample came")
    (folder / "die").write_text("")
    assert daemon.wait_ended(experiment)["state"] == "finished"
    task = daemon.task(experiment, 1)
    assert any("the GPUs are not measured" in note for note in notes(task))
    assert 0 < task["cost"]["energy_gpu_j"] < WATTS * task["cost"]["wall_s"]


def test_a_shared_gpu_is_split_by_utilisation_and_called_an_estimate(gpu_daemon, folder):
    """The script and a process of another user, which keeps the card three times as busy."""
    script = """
        import os, sys, time
        with open(sys.argv[2].split("=")[1], "w") as file:
            file.write(f"{os.getpid()} {3 << 30} 20\\n{os.getppid()} 100 60\\n")
        time.sleep(8)
    """
    processes = folder / "processes"
    daemon = gpu_daemon(FAKE_NVML_PROCESSES=processes)
    _, task = run_task(daemon, {**GPU, "parameters": {"turns": 1, "path": str(processes)}}, script)
    cost = task["cost"]
    assert "estimate" in cost["energy_source"] and cost["energy_estimated_j"] > 0
    assert cost["energy_gpu_j"] == pytest.approx(WATTS * cost["wall_s"] / 4, rel=0.2)
    assert cost["gpu_max_memory_bytes"] == 3 << 30


def test_the_helper_starts_without_its_daemon_and_ends_with_its_input(fake_nvml):
    """Found in the program itself, as a node has it: a dynamic program that needs an old glibc only."""
    helper = PROGRAM.parent / "src/node/sluice-nvml"
    if not helper.exists():
        pytest.skip("the helper is not beside the program here")
    done = subprocess.run([helper, "GPU-1111"], input="r\n", env={"SLUICE_NVML": str(fake_nvml)}, capture_output=True,
                          text=True, timeout=60)
    assert done.returncode == 0 and '"id":"GPU-1111"' in done.stdout
    symbols = subprocess.run(["readelf", "--dyn-syms", "-W", helper], capture_output=True, text=True).stdout
    if "x86-64" in subprocess.run(["readelf", "-h", helper], capture_output=True, text=True).stdout:
        versions = {part.split("GLIBC_")[1].split()[0] for part in symbols.splitlines() if "GLIBC_" in part}
        assert versions and max(tuple(map(int, v.split("."))) for v in versions) <= (2, 17)


def test_energy_is_an_objective_beside_a_metric(gpu_daemon):
    """The task with more turns uses more energy: both are on the front, and nothing dominates the better one."""
    script = """
        import sys, time
        turns = int(sys.argv[1].split("=")[1])
        time.sleep(turns)
        print(f"epoch=1 val_accuracy={turns / 10}", flush=True)
    """
    daemon = gpu_daemon()
    spec = {"parameters": {"turns": [1, 3]}, "search": {"strategy": "nsga2", "tasks": 2, "parallel": 1},
            "objective": [{"metric": "val_accuracy", "goal": "max"}, {"metric": "energy", "goal": "min"}],
            "resources": {"gpus": 1, "cpus": 1}}
    experiment = daemon.submit(script, spec)
    assert daemon.wait_ended(experiment)["state"] == "finished"
    front = [f for f in daemon.get(f"/experiments/{experiment}/analysis")["fronts"]
             if [axis["name"] for axis in f["axes"]] == ["val_accuracy", "energy"]][0]
    measured = {task["number"]: task["cost"]["energy_j"] for task in daemon.tasks(experiment)}
    points = {point["task"]: point["values"][1] for point in front["points"]}
    assert points and all(points[number] == pytest.approx(measured[number]) for number in points)
    assert not daemon.get(f"/experiments/{experiment}")["warnings"]


def test_a_task_that_is_worse_and_uses_more_energy_is_pruned(gpu_daemon):
    """The second task is worse at every step. It is kept while it has used less energy than the finished one, and is
    pruned when its measured energy, which only grows, is above."""
    script = """
        import sys, time
        bad = int(sys.argv[1].split("=")[1])
        for epoch in range(40 if bad else 8):
            time.sleep(0.5)
            print(f"epoch={epoch} val_accuracy={0.1 if bad else 0.9}", flush=True)
    """
    daemon = gpu_daemon()
    experiment = daemon.submit(script, {
        "parameters": {"bad": [0, 1]}, "search": {"strategy": "grid", "parallel": 1},
        "prune": {"rule": "median", "warmup": 1, "min_tasks": 1},
        "objective": [{"metric": "val_accuracy", "goal": "max"}, {"metric": "energy", "goal": "min"}],
        "resources": {"gpus": 1, "cpus": 1}})
    daemon.wait_ended(experiment)
    good, bad = daemon.tasks(experiment)
    assert good["state"] == "finished" and bad["state"] == "pruned"
    assert bad["cost"]["energy_j"] > good["cost"]["energy_j"]


def test_stop_counts_measured_joules(gpu_daemon):
    daemon = gpu_daemon()
    experiment = daemon.submit(SCRIPT, {**GPU, "parameters": {"turns": [600]}, "stop": {"energy": "800J"}})
    ended = daemon.wait_ended(experiment)
    assert ended["state"] == "stopped" and 800 < ended["cost"]["energy_j"] < 800 + WATTS * 30
    assert "budget" in daemon.task(experiment, 1)["reason"]


def test_a_wanted_energy_that_is_not_measured_is_a_warning(daemon):
    experiment = daemon.submit(SCRIPT, {"parameters": {"turns": [1]}, "stop": {"energy": "20MJ"}})
    daemon.wait_ended(experiment)
    if daemon.task(experiment, 1)["cost"]["energy_j"] is not None:
        pytest.skip("this machine lets RAPL be read")
    assert any("was not measured" in text for text in daemon.get(f"/experiments/{experiment}")["warnings"])


def test_an_objective_that_is_not_measured_is_shown_so(daemon):
    spec = {"parameters": {"turns": [1]}, "objective": [{"metric": "val_accuracy", "goal": "max"}, {"metric": "energy", "goal": "min"}]}
    experiment = daemon.submit(SCRIPT, spec)
    daemon.wait_ended(experiment)
    if daemon.task(experiment, 1)["cost"]["energy_j"] is not None:
        pytest.skip("this machine lets RAPL be read")
    row = next(line for line in daemon.cli("show", experiment).stdout.splitlines() if line.startswith(f"{experiment}/1 "))
    assert "not measured" in row, row


def test_a_power_limit_is_set_and_restored(gpu_daemon, folder):
    limits = folder / "limits"
    daemon = gpu_daemon(FAKE_NVML_LIMIT=limits)
    _, task = run_task(daemon, {**GPU, "parameters": {"turns": [1]}, "power": {"limit": "300W"}})
    assert limits.read_text().split() == ["300000", "400000"]
    assert any("may draw 300 W while the task runs (before: 400 W)" in note for note in notes(task))
    limits.unlink()
    run_task(daemon, {**GPU, "parameters": {"turns": [1]}, "power": {"cap": "auto"}})
    assert limits.read_text().split() == ["300000", "400000"]  # three quarters of the card's own


def test_a_power_limit_is_restored_after_a_kill_of_the_runner(gpu_daemon, folder):
    limits = folder / "limits"
    daemon = gpu_daemon(FAKE_NVML_LIMIT=limits)
    experiment = daemon.submit(SCRIPT, {**GPU, "parameters": {"turns": [600]}, "power": {"limit": "100W"},
                                        "retry": {"lost": 0}})
    wait_for(lambda: limits.exists() and limits.read_text(), "the limit was not set")
    daemon.wait_state(experiment, ("running",), 1)
    journal = daemon.state / "experiments" / experiment / "tasks" / "1" / "journal"
    start = [line for line in journal.read_text().splitlines() if '"kind":"start"' in line][0]
    os.kill(int(start.split('"pid":')[1].split(",")[0]), 9)
    # The card allows no less than 200 W.
    wait_for(lambda: limits.read_text().split() == ["200000", "400000"], lambda: limits.read_text())


def test_a_power_limit_is_restored_when_nobody_reads_the_answers(fake_nvml, folder):
    helper = PROGRAM.parent / "src/node/sluice-nvml"
    if not helper.exists():
        pytest.skip("the helper is not beside the program here")
    limits = folder / "limits"
    read, write = os.pipe()
    os.close(read)
    env = {"SLUICE_NVML": str(fake_nvml), "FAKE_NVML_LIMIT": str(limits)}
    with subprocess.Popen([helper, "GPU-1111", "300"], stdin=subprocess.PIPE, stdout=write, env=env) as process:
        os.close(write)
        process.stdin.write(b"r\n")
        process.stdin.flush()
        assert process.wait(60) == 0
    assert limits.read_text().split() == ["300000", "400000"]


def test_a_power_limit_that_is_not_permitted_is_said(gpu_daemon):
    _, task = run_task(gpu_daemon(FAKE_NVML_DENY=1), {**GPU, "parameters": {"turns": [1]}, "power": {"limit": "300W"}})
    assert any("the power limit of GPU 0 was not set: not permitted: it needs root" in note for note in notes(task))


@pytest.mark.parametrize("power", [{"limit": "lots"}, {"limit": "3W"}, {"cap": "maybe"}, {"limit": "300W", "cap": "auto"}, 300])
def test_a_wrong_power_limit_is_refused(daemon, power):
    refused = daemon.request("POST", "/check", {"experiment": {"command": ["true"], "parameters": {"n": [1]}, "power": power}})
    assert refused.status == 400 and "power" in refused.body.decode()


def test_energy_adds_up_to_co2_and_money_by_state_and_strategy(gpu_daemon):
    """One task finishes, one fails: what the failed one cost is told apart, and nothing is guessed without settings."""
    script = """
        import sys, time
        time.sleep(2)
        sys.exit(int(sys.argv[1].split("=")[1]))
    """
    daemon = gpu_daemon()
    experiment = daemon.submit(script, {"parameters": {"code": [0, 1]}, "resources": {"gpus": 1, "cpus": 1},
                                        "search": {"strategy": "grid", "parallel": 1}})
    daemon.wait_ended(experiment)
    joules = {task["state"]: task["cost"]["energy_j"] for task in daemon.tasks(experiment)}
    got = daemon.get(f"/experiments/{experiment}/energy")
    assert {row["state"]: row["energy_j"] for row in got["by_state"]} == pytest.approx(joules)
    assert got["total"]["co2_g"] is None and got["total"]["price"] is None
    assert "settings.yaml" in daemon.cli("energy", experiment).stdout
    for text, wrong in (("energy: {intensty: 400}", "energy.intensty; did you mean intensity?"),
                        ("enrgy: {intensity: 400}", "enrgy; did you mean energy?")):
        (daemon.state / "settings.yaml").write_text(text)
        assert wrong in daemon.cli("energy", experiment, status=1).stderr
    (daemon.state / "settings.yaml").write_text("energy: {intensity: 400, price: 0.5, currency: EUR}\n")
    kwh = sum(joules.values()) / 3.6e6
    got = daemon.get("/energy")
    assert got["total"]["co2_g"] == pytest.approx(400 * kwh) and got["total"]["price"] == pytest.approx(0.5 * kwh)
    assert [row["strategy"] for row in got["by_strategy"]] == ["grid"] and got["currency"] == "EUR"
    hours = ", ".join(["400"] * 24)  # a table that says the same gives the same
    (daemon.state / "settings.yaml").write_text(f"energy: {{intensity: [{hours}], price: [{'0.5, ' * 23}0.6]}}\n")
    assert daemon.get("/energy")["total"]["co2_g"] == pytest.approx(400 * kwh)
    assert 0.4999 * kwh <= daemon.get("/energy")["total"]["price"] <= 0.6001 * kwh
    shown = daemon.cli("energy", experiment).stdout
    assert "error" in shown and "NVML energy counter" in shown
    assert daemon.request("GET", "/experiments/e99/energy").status == 404
    (daemon.state / "settings.yaml").write_text("energy: {intensity: much}\n")
    refused = daemon.request("GET", "/energy")
    assert refused.status == 409 and "energy.intensity must be a number" in refused.json["detail"]


def test_energy_that_was_not_measured_is_no_zero(daemon):
    experiment = daemon.submit(SCRIPT, {"parameters": {"turns": [1]}})
    daemon.wait_ended(experiment)
    total = daemon.get(f"/experiments/{experiment}/energy")["total"]
    if total["measured"]:
        pytest.skip("this machine lets RAPL be read")
    assert total["tasks"] == 1 and total["energy_j"] is None and total["co2_g"] is None
    assert "not measured" in daemon.cli("energy", experiment).stdout


def test_what_failed_tasks_cost_is_said_for_each_strategy_and_experiment(gpu_daemon):
    script = """
        import os, sys, time
        time.sleep(0.3)
        how = sys.argv[1].split("=")[1]
        sys.exit(how == "bad" or (how == "once" and os.environ["SLUICE_ATTEMPT"] == "1"))
    """
    daemon = gpu_daemon()
    spec = {"parameters": {"how": ["good", "bad", "once"]}, "resources": {"gpus": 1, "cpus": 1}, "warm": "off"}
    grid = daemon.submit(script, {**spec, "search": {"strategy": "grid"}})
    fine = daemon.submit(script, {**spec, "parameters": {"how": ["good"]}, "search": {"strategy": "random", "tasks": 1}})
    daemon.wait_ended(grid)
    daemon.wait_ended(fine)
    daemon.post(f"/experiments/{grid}/tasks/3/restart")
    daemon.wait_ended(grid)
    tasks = {task["number"]: task["cost"] for task in daemon.tasks(grid)}
    sums = daemon.get("/energy")
    for failed in (sums["total"]["failed"], daemon.get(f"/experiments/{grid}")["failed"],
                   *[row["failed"] for row in sums["by_strategy"] if row["strategy"] == "grid"],
                   *[row["failed"] for row in sums["by_experiment"] if row["experiment"] == grid]):
        assert failed["tasks"] == failed["measured"] == 1
        for key in ("wall_s", "gpu_s", "energy_j"):
            assert failed[key] == pytest.approx(tasks[2][key]), key
    assert [row["failed"]["tasks"] for row in sums["by_strategy"] if row["strategy"] == "random"] == [0]
    # The third failed once and was restarted; that attempt is a part of what it cost.
    first = daemon.task(grid, 3)["attempts"][0]
    (repeated,) = sums["repeated"]
    assert (repeated["state"], repeated["tasks"]) == ("error", 1)
    assert repeated["energy_j"] == pytest.approx(first["cost"]["energy_j"]) and repeated["energy_j"] < tasks[3]["energy_j"]
    said = daemon.cli("energy").stdout
    assert "its failed tasks" in said and f"{grid}, failed tasks" in said and "run again after: error" in said
    assert "by 1 task, GPU time" in daemon.cli("show", grid).stdout and "failed cost" not in daemon.cli("show", fine).stdout
