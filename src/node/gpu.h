/* Readings of GPUs, out of the lines that NVML's helper, nvidia-smi and the kernel's amdgpu driver give. Pure. */
#ifndef NODE_GPU_H
#define NODE_GPU_H

#include "base/error.h"
#include "base/sample.h"

#include <stdbool.h>
#include <stdint.h>

#define GPU_PROCESSES_MAX 64

struct gpu_process {
	int64_t pid;
	double memory_bytes, busy_pct; /* NAN: not known */
};

struct gpu_reading {
	char id[96]; /* as CUDA_VISIBLE_DEVICES names it */
	double figure[SAMPLE_GPU_COUNT]; /* NAN: not known */
	double energy_j; /* a counter of the card that only grows; NAN: it has none */
	double memory_total_bytes;
	double part; /* of the card: a MIG slice has less than 1 */
	double limit_w, limit_before_w; /* power limit now, and before we set it; NAN: not known, not set */
	char limit_problem[160]; /* why it was not set; "" */
	bool knows_processes;
	size_t process_count;
	struct gpu_process processes[GPU_PROCESSES_MAX];
};

struct gpu_readings {
	size_t count;
	struct gpu_reading at[SAMPLE_GPUS_MAX];
};

/* A line of the helper (node/nvml/helper.c). 0, or a negative errno with what it says is wrong. */
int gpu_parse_helper(const char *line, size_t len, struct gpu_readings *ret, struct error *err) MUST_USE;

/* What nvidia-smi is asked for, and one line of its answer ("0, 37, 512, 81559, 120.5, 45, 1980, 2619, 0x0"). False when
 * the line is none. */
#define GPU_SMI_QUERY                                                                                                  \
	"--query-gpu=index,utilization.gpu,memory.used,memory.total,power.draw,temperature.gpu,clocks.sm,clocks.mem,"  \
	"clocks_throttle_reasons.active"
bool gpu_parse_smi(const char *line, size_t len, struct gpu_reading *ret);

/* A card of the amdgpu driver: `dir` is its folder in /sys/class/drm, with `device` below. False when it is none. */
bool gpu_read_amd(const char *dir, const char *id, struct gpu_reading *ret);

/* What part of the card's work is ours: 1 when no other process is on it. With others it goes by how busy each kept the
 * card, or by their number where that is not known. `has` says whether a process is the script's, `lives` whether its
 * number means anything here (containers hide numbers). `part` is what was promised to the script, 1 for the whole card:
 * a script with a part shares it with others also where no process can be told to be its own. *ret_others: how many
 * processes are not the script's. */
typedef bool (*gpu_has_f)(const void *ctx, int64_t pid);
double gpu_share(const struct gpu_reading *reading, double part, gpu_has_f has, gpu_has_f lives, const void *ctx,
		 size_t *ret_others);
/* NVIDIA MPS works for its clients, so the driver counts all of their work as the server's. Takes the server off the list,
 * and forgets how busy each process was: then the card is split by the number of its clients. */
void gpu_forget_server(struct gpu_reading *reading, gpu_has_f is_server, const void *ctx);
/* The memory that the script's processes use on it. Where they are not listed: that of the whole card if it is not shared
 * with others, else NAN. */
double gpu_memory(const struct gpu_reading *reading, gpu_has_f has, const void *ctx, bool shared);

#endif
