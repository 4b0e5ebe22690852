/* See energy.h. */
#include "node/energy.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The clock is lowered for one of these: software power cap, hardware slowdown, software and hardware thermal slowdown,
 * power brake. An idle card (1) or clocks that the user chose (2) are no reason to worry. */
#define ENERGY_SLOWED (0x4 | 0x8 | 0x20 | 0x40 | 0x80)
/* Above this part of the CPU time a node counts as ours alone: the rest is the system's. */
#define ENERGY_ALONE 0.9

void energy_init(struct energy *energy, const char *reader)
{
	*energy = (struct energy){.reader = reader, .memory_bytes = NAN};
	for (size_t g = 0; g < SAMPLE_GPUS_MAX; g++)
		energy->gpu[g].counter_j = energy->gpu[g].power_w = energy->gpu[g].idle_w = NAN;
}

/* What the card used since the last reading: its counter, or power times time. A counter that went back was reset with
 * the driver. NAN: neither is known. */
static double energy_since(struct energy_gpu *gpu, double passed_ms, const struct gpu_reading *reading)
{
	double power = reading->figure[SAMPLE_GPU_POWER];
	if (reading->energy_j >= gpu->counter_j)
		return reading->energy_j - gpu->counter_j;
	gpu->integrated = true;
	return (power + gpu->power_w) / 2 * passed_ms / 1000;
}

static void energy_watch(struct energy_gpu *gpu, double passed_ms, const struct gpu_reading *reading)
{
	double util = reading->figure[SAMPLE_GPU_UTIL], power = reading->figure[SAMPLE_GPU_POWER];
	double throttle = reading->figure[SAMPLE_GPU_THROTTLE];
	if (util == 0 && !(power >= gpu->idle_w))
		gpu->idle_w = power;
	if (!isnan(util)) {
		gpu->busy_pct_ms += util * passed_ms;
		gpu->busy_ms += passed_ms;
	}
	if (throttle > 0 && ((uint64_t)throttle & ENERGY_SLOWED))
		gpu->slowed_ms += passed_ms;
}

void energy_take_gpu(struct energy *energy, size_t g, int64_t now_ms, const struct gpu_reading *reading, double share)
{
	if (g >= SAMPLE_GPUS_MAX)
		return;
	struct energy_gpu *gpu = &energy->gpu[g];
	double passed_ms = gpu->at_ms ? (double)(now_ms - gpu->at_ms) : 0;
	energy_watch(gpu, passed_ms, reading);
	share *= reading->part;
	if (passed_ms > 0) {
		double used = energy_since(gpu, passed_ms, reading);
		if (!isnan(used) && !isnan(share)) {
			gpu->known = true;
			gpu->card_j += used;
			gpu->ours_j += used * share;
			gpu->estimated_j += share < 1 ? used * share : 0;
		}
	}
	gpu->first_ms += passed_ms;
	gpu->at_ms = now_ms;
	gpu->counter_j = reading->energy_j;
	gpu->power_w = reading->figure[SAMPLE_GPU_POWER];
	if (g >= energy->gpu_count)
		energy->gpu_count = g + 1;
}

void energy_take_node(struct energy *energy, double package_j, double dram_j, double share)
{
	energy->unsplit_package_j += isnan(package_j) ? 0 : package_j;
	energy->unsplit_dram_j += isnan(dram_j) ? 0 : dram_j;
	if (isnan(share))
		return; /* not known yet whose it was: the next share counts for it too */
	package_j = isnan(package_j) && energy->unsplit_package_j == 0 ? NAN : energy->unsplit_package_j;
	dram_j = isnan(dram_j) && energy->unsplit_dram_j == 0 ? NAN : energy->unsplit_dram_j;
	energy->unsplit_package_j = energy->unsplit_dram_j = 0;
	bool shared = share < ENERGY_ALONE;
	double part = shared ? share : 1;
	if (!isnan(package_j)) {
		energy->has_package = true;
		energy->package_j += package_j * part;
	}
	if (!isnan(dram_j)) {
		energy->has_dram = true;
		energy->dram_j += dram_j * part;
	}
	if (shared) {
		energy->node_shared = true;
		energy->node_estimated_j += (isnan(package_j) ? 0 : package_j * part) +
			(isnan(dram_j) ? 0 : dram_j * part);
	}
}

/* "NVML counter, RAPL package and DRAM (estimate: split with others)" */
static void energy_name_source(struct energy *energy, bool gpu, bool integrated, bool estimate)
{
	char of_gpus[48] = "";
	if (gpu)
		snprintf(of_gpus, sizeof(of_gpus), "%.16s %s", energy->reader,
			 integrated ? "power, integrated" : "energy counter");
	const char *of_node = energy->has_package && energy->has_dram ? "RAPL package and DRAM"
		: energy->has_package                                 ? "RAPL package"
		: energy->has_dram                                    ? "RAPL DRAM"
								      : "";
	snprintf(energy->source, sizeof(energy->source), "%s%s%s%s", of_gpus, *of_gpus && *of_node ? ", " : "", of_node,
		 estimate ? " (estimate: shared)" : "");
}

void energy_write(struct energy *energy, struct cost *cost)
{
	double joules = 0, idle_j = 0, estimated_j = energy->node_estimated_j, busy = 0, busy_ms = 0, slowed_ms = 0;
	bool gpu = false, idle = false, integrated = false;
	for (size_t g = 0; g < energy->gpu_count; g++) {
		const struct energy_gpu *at = &energy->gpu[g];
		busy += at->busy_pct_ms;
		busy_ms += at->busy_ms;
		slowed_ms += at->slowed_ms;
		if (!at->known)
			continue;
		gpu = true;
		integrated |= at->integrated;
		joules += at->ours_j;
		estimated_j += at->estimated_j;
		if (!isnan(at->idle_w) && at->card_j > 0) {
			double all_j = at->idle_w * at->first_ms / 1000;
			idle = true;
			idle_j += (all_j < at->card_j ? all_j : at->card_j) * at->ours_j / at->card_j;
		}
	}
	cost_set(cost, FIGURE_GPU_UTIL, busy_ms > 0 ? busy / busy_ms : NAN);
	cost_set(cost, FIGURE_GPU_SLOWED, busy_ms > 0 ? slowed_ms / 1000 : NAN);
	cost_set(cost, FIGURE_GPU_MEMORY, energy->memory_bytes);
	cost_set(cost, FIGURE_ENERGY_GPU, gpu ? joules : NAN);
	cost_set(cost, FIGURE_ENERGY_IDLE, idle ? idle_j : NAN);
	cost_set(cost, FIGURE_ENERGY_PACKAGE, energy->has_package ? energy->package_j : NAN);
	cost_set(cost, FIGURE_ENERGY_DRAM, energy->has_dram ? energy->dram_j : NAN);
	if (!gpu && !energy->has_package && !energy->has_dram)
		return;
	cost_set(cost, FIGURE_ENERGY, joules + energy->package_j + energy->dram_j);
	cost_set(cost, FIGURE_ENERGY_ESTIMATED, estimated_j);
	energy_name_source(energy, gpu, integrated, estimated_j > 0 || energy->node_shared);
	cost->source = energy->source;
}
