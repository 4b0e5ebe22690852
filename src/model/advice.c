/* See advice.h. Each rule says what it saw, and what to write. */
#include "model/advice.h"

#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define ADVICE_GIB (1024.0 * 1024 * 1024)
#define ADVICE_MIB (1024.0 * 1024)
/* Room above the most that was seen. */
#define ADVICE_MEMORY_ROOM 1.25
#define ADVICE_TIME_ROOM 1.5
#define ADVICE_TIME_LEAST_MS 300000.0
/* A GPU that is used less than this can be shared. */
#define ADVICE_SHARE_UTIL 60.0
#define ADVICE_SHARE_MOST 16.0
/* Of a card's memory that tasks may fill together. */
#define ADVICE_CARD_PART 0.9

static void advice_add(advice_list *list, const char *key, char *value, char *text)
{
	struct advice advice = {.text = text, .key = key, .value = value};
	vec_push(list, advice);
}

/* "4G", "512M": upwards, as people write it. */
static char *advice_bytes(double bytes, double *ret)
{
	double unit = bytes > 2 * ADVICE_GIB ? ADVICE_GIB : 256 * ADVICE_MIB, count = ceil(bytes / unit);
	*ret = count * unit;
	return *ret >= ADVICE_GIB && fmod(*ret, ADVICE_GIB) == 0 ? mem_printf("%.0fG", *ret / ADVICE_GIB)
								 : mem_printf("%.0fM", *ret / ADVICE_MIB);
}

static void advice_find_memory(const struct advice_facts *f, advice_list *list)
{
	double want;
	char peak[32], asked[32];
	if (f->out_of_memory > 0 && f->memory_bytes > 0) {
		text_format_bytes(f->memory_bytes, asked, sizeof(asked));
		char *twice = advice_bytes((double)f->memory_bytes * 2, &want);
		advice_add(list, "memory", twice,
			   mem_printf("%" PRId64 " ended for lack of memory with %s asked: ask for %s",
				      f->out_of_memory, asked, twice));
		return;
	}
	if (!(f->peak_bytes > 0) || f->memory_bytes <= 0)
		return;
	char *value = advice_bytes(f->peak_bytes * ADVICE_MEMORY_ROOM, &want);
	text_format_two_bytes((int64_t)f->peak_bytes, f->memory_bytes, peak, asked, sizeof(peak));
	if (want <= (double)f->memory_bytes / 2)
		advice_add(list, "memory", value,
			   mem_printf("peak memory %s of %s asked, in %zu tasks: ask for %s and start sooner", peak,
				      asked, f->tasks, value));
	else if (f->peak_bytes > 0.9 * (double)f->memory_bytes)
		advice_add(list, "memory", value,
			   mem_printf("peak memory %s of %s asked: ask for %s, or a larger task will be ended", peak,
				      asked, value));
	else
		free(value);
}

static void advice_find_time(const struct advice_facts *f, advice_list *list)
{
	char longest[32], asked[32];
	double want = fmax(f->longest_ms * ADVICE_TIME_ROOM, ADVICE_TIME_LEAST_MS);
	double unit = want > 2 * 3600e3 ? 1800e3 : want > 600e3 ? 300e3 : 60e3;
	int64_t minutes = (int64_t)(ceil(want / unit) * unit / 60000);
	/* Those that reached their limit go on from a checkpoint, or need more. */
	if (f->out_of_time > 0)
		return;
	if (!(f->longest_ms > 0) || f->time_ms <= 0 || (double)minutes * 60000 > (double)f->time_ms / 2)
		return;
	text_format_duration((int64_t)f->longest_ms, longest, sizeof(longest));
	text_format_duration(f->time_ms, asked, sizeof(asked));
	char *value = minutes % 60 ? mem_printf("%" PRId64 "m", minutes) : mem_printf("%" PRId64 "h", minutes / 60);
	advice_add(list, "time", value,
		   mem_printf("time limit %s, longest of %zu tasks %s: ask for %s and start sooner", asked, f->tasks,
			      longest, value));
}

static void advice_find_cpus(const struct advice_facts *f, advice_list *list)
{
	if (f->cpus < 2 || !(f->most_cores >= 0) || ceil(f->most_cores) > (double)f->cpus / 2)
		return;
	int64_t want = f->most_cores > 1 ? (int64_t)ceil(f->most_cores) : 1;
	advice_add(list, "cpus", mem_printf("%" PRId64, want),
		   mem_printf("%.1f of %" PRId64 " CPUs in use (the busiest task: %.1f): ask for %" PRId64,
			      f->cpu_cores, f->cpus, f->most_cores, want));
}

/* How many such tasks fit on one GPU, by memory and by how busy one keeps it: a power of two. */
static double advice_fit(const struct advice_facts *f)
{
	double by_memory = f->card_bytes * ADVICE_CARD_PART / f->gpu_peak_bytes,
	       by_util = 100 / fmax(f->gpu_util_pct, 1);
	double most = fmin(fmin(by_memory, by_util), ADVICE_SHARE_MOST), fit = 1;
	while (fit * 2 <= most)
		fit *= 2;
	return fit;
}

static void advice_find_gpu(const struct advice_facts *f, advice_list *list)
{
	if (!(f->gpus > 0) || isnan(f->gpu_util_pct))
		return;
	char peak[32] = "", card[32] = "";
	double fit = f->gpus <= 1 && f->gpu_peak_bytes > 0 && f->card_bytes > 0 ? advice_fit(f) : 1;
	if (f->gpu_util_pct < 1 && !(f->gpu_peak_bytes > 200 * ADVICE_MIB)) {
		advice_add(list, "gpus", mem_strdup("0"),
			   mem_printf("GPU %.0f %% busy in %zu tasks: the script does not use it, ask for none",
				      f->gpu_util_pct, f->tasks));
		return;
	}
	if (f->gpu_util_pct < 50 && f->busiest_cores > 0.9)
		advice_add(
			list, f->cpus < 4 ? "cpus" : NULL, f->cpus < 4 ? mem_strdup("4") : NULL,
			mem_printf("GPU %.0f %% busy, one process at %.0f %% of a core: more workers that load data%s",
				   f->gpu_util_pct, f->busiest_cores * 100, f->cpus < 4 ? ", and CPUs for them" : ""));
	if (f->gpu_util_pct <= ADVICE_SHARE_UTIL && fit > 1 && fit > 1 / f->gpus) {
		text_format_bytes((int64_t)f->gpu_peak_bytes, peak, sizeof(peak));
		text_format_bytes((int64_t)f->card_bytes, card, sizeof(card));
		advice_add(list, "gpus", mem_printf("%g", 1 / fit),
			   mem_printf("GPU %.0f %% busy, %s of its %s in use: %.0f of these fit on one GPU",
				      f->gpu_util_pct, peak, card, fit));
	}
	if (f->gpu_slowed > 0.1)
		advice_add(list, NULL, NULL,
			   mem_printf("the GPU was slowed down for power or temperature in %.0f %% of the time",
				      f->gpu_slowed * 100));
}

void advice_find(const struct advice_facts *facts, advice_list *ret)
{
	if (facts->tasks < ADVICE_TASKS_LEAST)
		return;
	advice_find_gpu(facts, ret);
	advice_find_memory(facts, ret);
	advice_find_time(facts, ret);
	for (size_t i = 0; i < ret->len; i++)
		if (ret->at[i].key && strcmp(ret->at[i].key, "cpus") == 0)
			return; /* more for the data: not fewer */
	advice_find_cpus(facts, ret);
}

void advice_free(advice_list *list)
{
	for (size_t i = 0; i < list->len; i++) {
		free(list->at[i].text);
		free(list->at[i].value);
	}
	free(list->at);
	*list = (advice_list){0};
}
