"""Parts of a GPU on a real Slurm whose GPUs can be asked for in shards. The GPUs themselves are files without a device."""

import pytest

from conftest import Refused, SlurmDaemon, lab_up, wait_for

SHARDS = 8  # of the two GPUs of a node
SCRIPT = """
    import os, sys, time
    how = sys.argv[1].split("=")[1]
    print("epoch=1 loss=1", flush=True)
    if how == "memory" and os.environ["SLUICE_ATTEMPT"] == "1":
        sys.exit("torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB")
    if how == "long":
        time.sleep(1000)
"""


@pytest.fixture(scope="module")
def lab():
    up = lab_up("--no-acct", "--shards", str(SHARDS), "--nodes", "1", "--cpu-nodes", "1")
    yield up
    up.down()


@pytest.fixture
def slurm(lab, folder):
    folder.chmod(0o755)
    daemon = SlurmDaemon(folder / "state", lab).start()
    yield daemon
    daemon.stop()
    daemon.clear_queue()


def test_parts_of_a_gpu_are_asked_for_in_shards(slurm):
    asked = {**slurm.spec({"how": ["long"], "n": list(range(6))}, partition="gpu_volta"), "warm": "off"}
    asked["resources"]["gpus"] = 0.5
    experiment = slurm.submit(SCRIPT, asked)
    expected = ["PENDING gres:shard:2 "] * 2 + ["RUNNING gres:shard:2 volta1"] * 4
    wait_for(lambda: sorted(slurm.queue("-o", "%T %b %N")) == expected, lambda: slurm.queue("-o", "%i %T %b %N %r"))
    slurm.post(f"/experiments/{experiment}/stop")
    slurm.wait_ended(experiment)


def test_a_job_that_fails_beside_others_runs_again_with_a_whole_gpu(slurm):
    asked = slurm.spec({"how": ["memory"]}, partition="gpu_volta")
    asked["resources"]["gpus"] = 0.25
    experiment = slurm.submit(SCRIPT, asked)
    assert slurm.wait_ended(experiment)["state"] == "finished"
    task = slurm.task(experiment, 1)
    assert task["attempts"][0]["cause"]["kind"] == "shared"
    assert [a["asked"]["gpus"] for a in task["attempts"]] == [0.25, 1]


def test_a_part_is_refused_where_there_are_none(slurm):
    asked = slurm.spec({"how": ["short"]}, partition="cpu")
    asked["resources"]["gpus"] = 0.25
    wait_for(lambda: any(b.get("partitions") for b in slurm.get("/cluster")["backends"]), lambda: slurm.get("/cluster"))
    with pytest.raises(Refused) as refused:
        slurm.submit(SCRIPT, asked)
    assert refused.value.answer.status == 400 and "partition cpu has none" in refused.value.answer.body.decode()
