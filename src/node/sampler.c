/* See sampler.h. A reading of the GPUs is asked for when a sample is due, and the sample is taken when it has come: so
 * the loop never waits for a driver. */
#include "node/sampler.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/pace.h"
#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

/* Of one core: a sample that takes a millisecond of CPU time comes every 400 ms at most. */
#define SAMPLER_SHARE 0.0025
/* What the reader of the GPUs spends on its side, measured on an H200. */
#define SAMPLER_GPU_MS 4.3

int64_t sampler_interval_ms(int64_t running_ms, double spent_ms)
{
	int64_t wait = running_ms < EXEC_SAMPLE_EARLY_MS ? EXEC_SAMPLE_FIRST_MS
		: running_ms < EXEC_SAMPLE_SOON_UNTIL_MS ? EXEC_SAMPLE_SOON_MS
							 : EXEC_SAMPLE_MS;
	double least = spent_ms / SAMPLER_SHARE;
	if (least > (double)wait)
		wait = least < EXEC_BEAT_MS ? (int64_t)least : EXEC_BEAT_MS;
	return wait;
}

static double sampler_cpu_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1000 + (double)t.tv_nsec / 1e6;
}

static bool sampler_has_cb(const void *ctx, int64_t pid)
{
	return usage_has(ctx, pid);
}

static bool sampler_lives_cb(const void *ctx, int64_t pid)
{
	(void)ctx;
	return pid > 0 && (kill((pid_t)pid, 0) == 0 || errno != ESRCH);
}

/* "nvidia-cuda-mps-server", of which the kernel keeps 15 characters. */
static bool sampler_is_server_cb(const void *ctx, int64_t pid)
{
	char path[64];
	struct buf name = buf_make(64);
	(void)ctx;
	snprintf(path, sizeof(path), "/proc/%" PRId64 "/comm", pid);
	bool server = fs_read(path, 64, &name, NULL) == 0 && text_starts(buf_text(&name), "nvidia-cuda-mps");
	buf_free(&name);
	return server;
}

void sampler_open(struct sampler *sampler, const struct sampler_config *config)
{
	*sampler = (struct sampler){.config = *config};
	/* The tasks that share a card would set and restore it for each other, and the last one would leave it limited. */
	if (config->part < 1)
		sampler->config.power_limit = NULL;
	sampler->limit_refused = config->power_limit && !sampler->config.power_limit;
	for (size_t g = 0; g < SAMPLE_GPUS_MAX; g++)
		sampler->share[g] = NAN;
	sampler->gpus = gpus_open(&config->gpus, sampler->config.power_limit);
	sampler->usage.helper = gpus_pid(sampler->gpus);
	rapl_open(&sampler->rapl, RAPL_ROOT);
	energy_init(&sampler->energy, NULL);
	if (!sampler->gpus)
		return;
	sampler->readings = mem_alloc(sizeof(*sampler->readings));
	gpus_ask(sampler->gpus);
}

/* What came of the power limit, once. */
static void sampler_tell_limit(struct sampler *sampler)
{
	if (sampler->limit_set || !sampler->config.power_limit)
		return;
	sampler->limit_set = true;
	for (size_t g = 0; g < sampler->readings->count; g++) {
		const struct gpu_reading *r = &sampler->readings->at[g];
		char text[400];
		if (r->limit_problem[0])
			snprintf(text, sizeof(text), "the power limit of GPU %s was not set: %s", r->id,
				 r->limit_problem);
		else if (!isnan(r->limit_before_w))
			snprintf(text, sizeof(text), "GPU %s may draw %.0f W while the task runs (before: %.0f W)",
				 r->id, r->limit_w, r->limit_before_w);
		else if (!isnan(r->limit_w))
			snprintf(text, sizeof(text), "GPU %s has a power limit of %.0f W already", r->id, r->limit_w);
		else
			snprintf(text, sizeof(text), "the power limit of GPU %s was not set: %s cannot do that", r->id,
				 gpus_reader(sampler->gpus));
		sampler->config.note(sampler->config.ctx, text);
	}
}

/* Nothing can read them: said once, and then it is as if there were none. */
static void sampler_lose_gpus(struct sampler *sampler, const struct error *why)
{
	char text[600];
	snprintf(text, sizeof(text), "the GPUs are not measured: %.400s%s", why->text,
		 sampler->config.power_limit ? "; no power limit was set" : "");
	sampler->config.note(sampler->config.ctx, text);
	gpus_close(sampler->gpus);
	sampler->gpus = NULL;
	sampler->usage.helper = 0;
}

/* Waits for the reading that was asked for. True when it is there. */
static bool sampler_take_gpus(struct sampler *sampler, int wait_ms)
{
	struct error err = {0};
	if (!sampler->gpus)
		return false;
	int rc = gpus_take(sampler->gpus, wait_ms, sampler->readings, &err);
	if (rc < 0)
		sampler_lose_gpus(sampler, &err);
	else
		sampler->usage.helper = gpus_pid(sampler->gpus);
	if (rc > 0) {
		sampler->energy.reader = gpus_reader(sampler->gpus);
		sampler_tell_limit(sampler);
	}
	return rc > 0;
}

/* Adds the newest readings to the energy, and the figures of the GPUs to the sample (NULL: none is taken). */
static void sampler_count_gpus(struct sampler *sampler, struct sample *sample)
{
	double memory = NAN;
	int64_t now_ms = clock_mono_ms();
	for (size_t g = 0; g < sampler->readings->count; g++) {
		struct gpu_reading *reading = &sampler->readings->at[g];
		size_t others;
		if (sampler->config.mps)
			gpu_forget_server(reading, sampler_is_server_cb, NULL);
		double share = gpu_share(reading, sampler->config.part, sampler_has_cb, sampler_lives_cb,
					 &sampler->usage, &others);
		if (!sample && !isnan(sampler->share[g]))
			share = sampler->share[g]; /* the script has ended: its processes cannot be found any more */
		else if (!sample && others)
			share = 1.0 / (double)(others + 1);
		else if (sample)
			sampler->share[g] = share;
		double used = gpu_memory(reading, sampler_has_cb, &sampler->usage, others > 0 || share < 1);
		energy_take_gpu(&sampler->energy, g, now_ms, reading, share);
		if (!isnan(used))
			memory = (isnan(memory) ? 0 : memory) + used;
		if (!sample)
			continue;
		for (size_t i = 0; i < SAMPLE_GPU_COUNT; i++)
			sample->gpu[g][i] = reading->figure[i];
		if (reading->knows_processes)
			sample->gpu[g][SAMPLE_GPU_OTHERS] = (double)others;
		sample->gpu_count = (uint32_t)g + 1;
	}
	if (sample && !(memory <= sampler->energy.memory_bytes))
		sampler->energy.memory_bytes = memory;
}

static void sampler_count_node(struct sampler *sampler, const struct cost *cost, struct sample *sample)
{
	double package_j, dram_j;
	if (!sampler->rapl.count)
		return;
	rapl_read(&sampler->rapl, &package_j, &dram_j);
	double share = rapl_share(&sampler->rapl, cost_get(cost, FIGURE_CPU));
	energy_take_node(&sampler->energy, package_j, dram_j, share);
	int64_t now_ms = clock_mono_ms();
	double passed_s = (double)(now_ms - sampler->node_ms) / 1000;
	sampler->node_ms = now_ms;
	double all_j = (isnan(package_j) ? 0 : package_j) + (isnan(dram_j) ? 0 : dram_j);
	if (sample && passed_s > 0 && !(isnan(package_j) && isnan(dram_j)))
		sample->host[SAMPLE_HOST_POWER] = all_j / passed_s; /* of the whole machine */
}

void sampler_begin(struct sampler *sampler, int64_t now_ms)
{
	double package_j, dram_j;
	sampler->started_ms = sampler->node_ms = now_ms;
	sampler->next_ms = now_ms + EXEC_SAMPLE_FIRST_MS;
	if (sampler->limit_refused)
		sampler->config.note(sampler->config.ctx,
				     "no power limit was set: the task has a part of a GPU, and others have the rest");
	if (!sampler->gpus && sampler->config.power_limit)
		sampler->config.note(sampler->config.ctx, "no power limit was set: the task has no NVIDIA GPU");
	if (sampler_take_gpus(sampler, SAMPLER_START_MS))
		sampler_count_gpus(sampler, NULL);
	sampler->usage.seen_ms = now_ms; /* nothing was used before */
	rapl_read(&sampler->rapl, &package_j, &dram_j); /* what was used before is not ours */
}

/* True while a reading is awaited, and it is worth waiting for. */
static bool sampler_waits(struct sampler *sampler, int64_t now_ms, bool *ret_fresh)
{
	*ret_fresh = false;
	if (!sampler->gpus)
		return false;
	if (!sampler->asked_ms) {
		gpus_ask(sampler->gpus);
		sampler->asked_ms = now_ms;
		return true;
	}
	*ret_fresh = sampler_take_gpus(sampler, 0);
	return !*ret_fresh && sampler->gpus && now_ms - sampler->asked_ms < SAMPLER_ANSWER_MS;
}

bool sampler_poll(struct sampler *sampler, int64_t now_ms, struct cost *cost, struct sample *ret)
{
	bool fresh;
	if (now_ms < sampler->next_ms || sampler_waits(sampler, now_ms, &fresh))
		return false;
	sampler->asked_ms = 0;
	double before_ms = sampler_cpu_ms();
	sample_init(ret, clock_now_ms(), 0);
	usage_sample(&sampler->usage, now_ms, cost, ret);
	if (fresh)
		sampler_count_gpus(sampler, ret);
	sampler_count_node(sampler, cost, ret);
	energy_write(&sampler->energy, cost);
	/* A close look at the memory is rare, and must not make the next sample late. */
	sampler->spent_ms = sampler_cpu_ms() - before_ms - sampler->usage.looking_ms + (fresh ? SAMPLER_GPU_MS : 0);
	sampler->next_ms = now_ms + sampler_interval_ms(now_ms - sampler->started_ms, sampler->spent_ms);
	return true;
}

void sampler_end(struct sampler *sampler, struct cost *cost)
{
	usage_final(&sampler->usage, cost); /* the last sample does not know what was used since */
	if (sampler->gpus) {
		gpus_ask(sampler->gpus);
		if (sampler_take_gpus(sampler, SAMPLER_END_MS))
			sampler_count_gpus(sampler, NULL);
	}
	sampler_count_node(sampler, cost, NULL);
	energy_write(&sampler->energy, cost);
	gpus_close(sampler->gpus);
	sampler->gpus = NULL;
}

void sampler_close(struct sampler *sampler)
{
	gpus_close(sampler->gpus);
	sampler->gpus = NULL;
	usage_free(&sampler->usage);
	rapl_close(&sampler->rapl);
	free(sampler->readings);
	sampler->readings = NULL;
}
