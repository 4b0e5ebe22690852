"""The same tasks through submitit: `submit` prints how long map_array takes, `follow` how long until all results are there."""

import sys
import time

import submitit


def work(n):
    return n


verb, tasks, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
executor = submitit.AutoExecutor(folder=folder, cluster="slurm")
executor.update_parameters(slurm_partition="cpu", timeout_min=10, slurm_mem="64M", slurm_array_parallelism=tasks)
begin = time.monotonic()
jobs = executor.map_array(work, range(tasks))
if verb == "follow":
    results = [job.result() for job in jobs]
    if results != list(range(tasks)):
        raise SystemExit("not all results came")
print(time.monotonic() - begin)
