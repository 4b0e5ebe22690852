/* Where readings of the attempt's GPUs come from: NVML's helper (a child that this program carries in itself), else
 * nvidia-smi, else nothing; for AMD cards the kernel's files. The script is never held up by any of them. */
#ifndef NODE_GPUS_H
#define NODE_GPUS_H

#include "node/gpu.h"

#include <sys/types.h>

/* Which GPUs the attempt was given. */
struct gpus_list {
	const char *ids; /* "0,1", "GPU-…", "MIG-…"; NULL or "": none */
	bool amd;
};
/* `assigned`: by the local backend; NULL: what the cluster has set in the environment. */
struct gpus_list gpus_list_find(const char *assigned);

struct gpus;
/* Starts what reads them. limit: watts or "auto" as a power limit; NULL: leave it. NULL when the attempt has no GPU. */
struct gpus *gpus_open(const struct gpus_list *list, const char *limit);
/* Asks for a reading. An earlier question that was not answered yet is the same question. */
void gpus_ask(struct gpus *gpus);
/* Waits up to wait_ms for the answer. 1: there is one; 0: not yet; -ENODEV with err: nothing can read these GPUs. */
int gpus_take(struct gpus *gpus, int wait_ms, struct gpu_readings *ret, struct error *err) MUST_USE;
/* "NVML", "nvidia-smi" or "amdgpu". */
const char *gpus_reader(const struct gpus *gpus);
/* The child that reads; 0: none. It is no process of the script. */
pid_t gpus_pid(const struct gpus *gpus);
/* Ends it. A power limit that was set is restored before this returns, within a second. NULL is fine. */
void gpus_close(struct gpus *gpus);

#endif
