/* The resources of this machine: CPUs, memory, GPUs. */
#ifndef BACKEND_LOCAL_MACHINE_H
#define BACKEND_LOCAL_MACHINE_H

#include "backend/backend.h"

#include <stdint.h>
#include <string.h>

#define LOCAL_GPUS_MAX 64

struct local_gpu {
	int64_t index;
	char id[64]; /* as CUDA_VISIBLE_DEVICES takes it: the index, or the UUID of a MIG slice */
	char uuid[64];
	char name[64];
	int64_t memory_bytes;
	int64_t used; /* thousandths that tasks have */
};

/* MIG slices are given as a whole: NVIDIA MPS needs a server of its own for each, which we do not start. */
static inline bool local_gpu_is_slice(const struct local_gpu *gpu)
{
	return strncmp(gpu->id, "MIG-", 4) == 0;
}

struct local_machine {
	int64_t cpus; /* that this process may run on */
	int64_t memory_bytes, memory_free_bytes; /* of the machine or its container; free when looked at */
	struct local_gpu gpus[LOCAL_GPUS_MAX];
	size_t gpu_count;
};

/* CPUs and memory; no GPUs yet. */
void local_machine_look(struct local_machine *machine);
/* The GPUs out of nvidia-smi's answer, less those that `visible` (the daemon's own CUDA_VISIBLE_DEVICES; NULL: all)
 * leaves out. Lines that cannot be read are skipped. */
void local_machine_read_gpus(struct local_machine *machine, const char *text, const char *visible);
/* Puts the MIG slices of each GPU in its place, out of the answer to `nvidia-smi -L`: CUDA cannot use the card as a whole
 * then. `visible` may name slices too. */
void local_machine_read_slices(struct local_machine *machine, const char *text, const char *visible);

/* All of a GPU. */
#define LOCAL_GPU_WHOLE 1000

/* Counts the GPUs of a list ("0,1") as used: `share` thousandths of each; 0: all of it. */
void local_machine_use(struct local_machine *machine, const char *list, int64_t share);
/* How many tasks that want so many GPUs, or such a share of one, fit beside what is used. */
int64_t local_machine_gpu_room(const struct local_machine *machine, int64_t gpus, int64_t share);

/* Runs nvidia-smi in the background, with a time limit. `answered` is called once on the loop with its output, or with
 * NULL if it failed. Returns NULL if there is no such program; then the callback is not called. */
struct local_query;
typedef void (*local_gpus_f)(void *ctx, const char *text);
struct local_query *local_machine_ask_gpus(uv_loop_t *loop, local_gpus_f answered, void *ctx);
/* The same with `nvidia-smi -L`, which names MIG slices. */
struct local_query *local_machine_ask_slices(uv_loop_t *loop, local_gpus_f answered, void *ctx);
/* The callback is not called any more. NULL is fine. */
void local_machine_forget_query(struct local_query *query);

/* Why this machine can never provide these resources; NULL when it can. GPUs are not checked before they are known.
 * ret_key: the key of `resources` that is too large; ret_remedy: what to do. The caller frees the text. */
char *local_machine_impossible(const struct local_machine *machine, bool gpus_known,
			       const struct backend_resources *resources, const char **ret_key,
			       const char **ret_remedy);
static inline int64_t local_machine_cpus(const struct backend_resources *resources)
{
	return resources->cpus > 0 ? resources->cpus : 1;
}

/* How many tasks of this size fit at a time; 0: none (or its GPUs are not known yet). */
int64_t local_machine_slots(const struct local_machine *machine, const struct backend_resources *resources);

/* The members of GET /cluster that are about the machine, and "text": "2 CPUs, 23 GB, no GPU". */
void local_machine_write(const struct local_machine *machine, struct json *out);
/* A script for people to read. It shows how this many tasks of this size would run. The caller frees it. */
char *local_machine_preview(const struct local_machine *machine, const struct backend_resources *resources,
			    uint64_t tasks, uint32_t parallel);

#endif
