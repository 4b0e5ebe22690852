/* See advice.h. */
#include "engine/advice.h"

#include "engine/backends.h"
#include "engine/experiment.h"
#include "engine/load.h"
#include "engine/share.h"
#include "engine/spec.h"
#include "engine/state.h"

#include "model/advice.h"

#include <math.h>

/* The newest tasks are looked at, and the samples of the newest of them: they are much more to read. */
#define ADVICE_TASKS_MOST 200
#define ADVICE_SAMPLED_MOST 10

struct advice_gather {
	struct engine *engine;
	struct advice_facts facts;
	double util_sum, util_count, slowed_ms, wall_ms;
	double cpu_sum, busiest_sum, weight; /* over samples */
	int64_t sampled[ADVICE_SAMPLED_MOST];
	size_t sampled_count;
};

static void advice_raise(double *most, double value)
{
	if (!(*most >= value) && !isnan(value))
		*most = value;
}

static int advice_task_cb(void *ctx, const struct store_used *used)
{
	struct advice_gather *g = ctx;
	g->facts.tasks++;
	advice_raise(&g->facts.longest_ms, used->wall_ms);
	advice_raise(&g->facts.peak_bytes, used->memory_bytes);
	advice_raise(&g->facts.gpu_peak_bytes, used->gpu_memory_bytes);
	if (!isnan(used->gpu_util_pct)) {
		g->util_sum += used->gpu_util_pct;
		g->util_count++;
	}
	if (!isnan(used->gpu_slowed_s) && used->wall_ms > 0) {
		g->slowed_ms += used->gpu_slowed_s * 1000;
		g->wall_ms += used->wall_ms;
	}
	if (g->sampled_count < ADVICE_SAMPLED_MOST)
		g->sampled[g->sampled_count++] = used->task;
	return 0;
}

struct advice_mean {
	double cpu, busiest, weight;
};

static int advice_sample_cb(void *ctx, const struct sample *sample)
{
	struct advice_mean *mean = ctx;
	double cpu = sample->host[SAMPLE_HOST_CPU], busiest = sample->host[SAMPLE_HOST_BUSIEST];
	if (isnan(cpu) || isnan(busiest))
		return 0;
	mean->cpu += cpu * sample->weight;
	mean->busiest += busiest * sample->weight;
	mean->weight += sample->weight;
	return 0;
}

static int advice_add_samples(struct advice_gather *g)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < g->sampled_count; i++) {
		struct advice_mean mean = {0};
		rc = store_each_sample(g->engine->store, g->sampled[i], advice_sample_cb, &mean);
		if (!(mean.weight > 0))
			continue;
		advice_raise(&g->facts.most_cores, mean.cpu / mean.weight);
		g->cpu_sum += mean.cpu;
		g->busiest_sum += mean.busiest;
		g->weight += mean.weight;
	}
	return rc;
}

static void advice_fill(struct advice_gather *g, const struct spec *spec, const struct engine_backend *backend)
{
	struct advice_facts *f = &g->facts;
	f->cpus = spec->resources.cpus;
	f->memory_bytes = spec->resources.memory_bytes;
	f->time_ms = spec->resources.time_ms;
	f->gpus = spec->resources.gpu_share ? (double)spec->resources.gpu_share / 1000 : (double)spec->resources.gpus;
	f->gpu_util_pct = g->util_count > 0 ? g->util_sum / g->util_count : NAN;
	f->gpu_slowed = g->wall_ms > 0 ? g->slowed_ms / g->wall_ms : NAN;
	f->cpu_cores = g->weight > 0 ? g->cpu_sum / g->weight : NAN;
	f->busiest_cores = g->weight > 0 ? g->busiest_sum / g->weight : NAN;
	f->card_bytes = engine_card_bytes(backend);
}

static void advice_write(const struct advice_facts *facts, struct json *out)
{
	advice_list list = {0};
	advice_find(facts, &list);
	json_map(out);
	json_key_int(out, "tasks", (int64_t)facts->tasks);
	json_key(out, "items");
	json_list(out);
	for (size_t i = 0; i < list.len; i++) {
		json_map(out);
		json_key_string(out, "text", list.at[i].text);
		json_key_string(out, "key", list.at[i].key);
		json_key_string(out, "value", list.at[i].value);
		json_end(out);
	}
	json_end(out);
	json_end(out);
	advice_free(&list);
}

int engine_write_advice(struct engine *engine, int64_t experiment, struct json *out)
{
	struct engine_experiment *e = engine_find(engine, experiment);
	struct spec *read = NULL;
	struct advice_gather g = {
		.engine = engine,
		.facts = {.longest_ms = NAN, .peak_bytes = NAN, .most_cores = NAN, .gpu_peak_bytes = NAN}};
	int rc = e ? 0 : engine_read_spec(engine, experiment, &read);
	if (rc < 0)
		return rc;
	const struct spec *spec = e ? e->spec : read;
	rc = store_each_used(engine->store, experiment, ADVICE_TASKS_MOST, advice_task_cb, &g);
	if (rc == 0)
		rc = store_count_cause(engine->store, experiment, cause_name(CAUSE_MEMORY), &g.facts.out_of_memory);
	if (rc == 0)
		rc = store_count_cause(engine->store, experiment, cause_name(CAUSE_TIME), &g.facts.out_of_time);
	if (rc == 0)
		rc = advice_add_samples(&g);
	if (rc == 0) {
		/* An experiment that is over has no backend any more: the one of its name. */
		const struct engine_backend *backend = e ? e->backend : NULL;
		for (size_t i = 0; !e && i < engine->backends.len; i++)
			if (!backend && !backend_is(engine->backends.at[i]->ops, BACKEND_HAS_QUEUE | BACKEND_PULLED) &&
			    (strcmp(spec->backend, "auto") == 0 ||
			     strcmp(spec->backend, engine->backends.at[i]->ops->name) == 0))
				backend = engine->backends.at[i];
		advice_fill(&g, spec, backend);
		advice_write(&g.facts, out);
	}
	spec_free(read);
	return rc;
}
