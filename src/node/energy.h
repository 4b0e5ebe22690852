/* Adds up the energy of an attempt out of readings. Pure: times and readings come from the caller.
 *
 * What is the attempt's own: a GPU that no other process uses is measured. A GPU or node that is shared is split by
 * utilisation, and that part is an estimate. What cannot be read is not measured, and never 0. */
#ifndef NODE_ENERGY_H
#define NODE_ENERGY_H

#include "base/cost.h"
#include "node/gpu.h"

struct energy_gpu {
	int64_t at_ms; /* of the last reading, monotonic; 0: none yet */
	double counter_j, power_w; /* of the last reading; NAN */
	double card_j, ours_j, estimated_j;
	double idle_w; /* least power at 0 % utilisation; NAN: never seen */
	double busy_pct_ms, busy_ms; /* utilisation times time, and that time */
	double first_ms, slowed_ms;
	bool known; /* some energy was read */
	bool integrated; /* from power: the card has no counter */
};

struct energy {
	struct energy_gpu gpu[SAMPLE_GPUS_MAX];
	size_t gpu_count;
	double memory_bytes; /* most of all GPUs together; NAN */
	bool has_package, has_dram, node_shared;
	double package_j, dram_j, node_estimated_j; /* ours */
	double unsplit_package_j, unsplit_dram_j; /* of the node, while no share was known */
	const char *reader; /* of the GPUs: "NVML", "nvidia-smi", "amdgpu"; NULL: none */
	char source[96];
};

void energy_init(struct energy *energy, const char *reader);
/* A reading of GPU number g. share: gpu_share(); below 1 it is an estimate. */
void energy_take_gpu(struct energy *energy, size_t g, int64_t now_ms, const struct gpu_reading *reading, double share);
/* What CPU packages and memory used since the last call (NAN: not known), and our part of the CPU time. */
void energy_take_node(struct energy *energy, double package_j, double dram_j, double share);
/* Sets the figures of energy and GPU use that are known. cost->source points into `energy`. */
void energy_write(struct energy *energy, struct cost *cost);

#endif
