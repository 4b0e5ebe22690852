/* See asked.h. */
#include "engine/asked.h"

#include "engine/backends.h"
#include "engine/experiment.h"
#include "engine/spec.h"

#include "base/buf.h"
#include "base/text.h"

#include <math.h>

static int64_t asked_times(int64_t amount, double factor, int64_t retries)
{
	double more = (double)amount * pow(factor, (double)retries);
	return more < (double)(INT64_MAX / 2) ? (int64_t)more : INT64_MAX / 2;
}

/* At most `most` where that is known; what the experiment itself asks for is never cut. */
static bool asked_cut(int64_t *amount, int64_t base, int64_t most)
{
	if (most <= 0 || *amount <= most || *amount == base)
		return false;
	*amount = most > base ? most : base;
	return true;
}

void engine_ask_for(const struct engine_experiment *e, const char *retries, struct asked *ret)
{
	const struct backend_resources *r = &e->spec->resources;
	const double *factor = e->spec->retry_factor;
	int64_t most_memory = 0, most_time = 0;
	struct node *map = NULL;
	*ret = (struct asked){.memory_bytes = r->memory_bytes, .time_ms = r->time_ms, .gpu_share = r->gpu_share};
	if (!(factor[RETRY_MEMORY] > 1) && !(factor[RETRY_TIME] > 1) && !r->gpu_share)
		return;
	if (!retries || node_parse_json(retries, strlen(retries), &map, NULL) < 0)
		return;
	if (node_get_int(map, retry_keys[RETRY_SHARED], 0) > 0)
		ret->gpu_share = 0; /* alone */
	ret->memory_bytes = asked_times(r->memory_bytes, factor[RETRY_MEMORY],
					node_get_int(map, retry_keys[RETRY_MEMORY], 0));
	ret->time_ms = asked_times(r->time_ms, factor[RETRY_TIME], node_get_int(map, retry_keys[RETRY_TIME], 0));
	node_free(map);
	if (e->backend && e->backend->backend && e->backend->ops->most)
		e->backend->ops->most(e->backend->backend, r, &most_memory, &most_time);
	ret->memory_cut = asked_cut(&ret->memory_bytes, r->memory_bytes, most_memory);
	ret->time_cut = asked_cut(&ret->time_ms, r->time_ms, most_time);
}

bool asked_is_same(const struct asked *a, const struct asked *b)
{
	return a->memory_bytes == b->memory_bytes && a->time_ms == b->time_ms && a->gpu_share == b->gpu_share;
}

struct backend_resources engine_asked_resources(const struct engine_experiment *e, const struct asked *asked)
{
	struct backend_resources r = e->spec->resources;
	r.memory_bytes = asked->memory_bytes;
	r.time_ms = asked->time_ms;
	r.gpu_share = asked->gpu_share;
	return r;
}

char *engine_asked_json(const struct engine_experiment *e, const struct asked *asked)
{
	const struct backend_resources *r = &e->spec->resources;
	struct buf out = buf_make(BUF_UNLIMITED);
	struct json w = json_to(&out);
	json_map(&w);
	json_key_int(&w, "cpus", r->cpus);
	if (asked->gpu_share)
		json_key_real(&w, "gpus", (double)asked->gpu_share / 1000);
	else
		json_key_int(&w, "gpus", r->gpus);
	if (asked->memory_bytes > 0)
		json_key_int(&w, "memory_bytes", asked->memory_bytes);
	else
		json_key_null(&w, "memory_bytes");
	if (asked->time_ms > 0)
		json_key_real(&w, "time_s", (double)asked->time_ms / 1000);
	else
		json_key_null(&w, "time_s");
	json_key_string(&w, "partition", r->partition);
	json_end(&w);
	return buf_take(&out);
}

void engine_asked_read(const struct engine_experiment *e, const char *json, struct asked *ret)
{
	struct node *map = NULL;
	engine_ask_for(e, NULL, ret);
	if (!json || node_parse_json(json, strlen(json), &map, NULL) < 0)
		return;
	double gpus = node_get_real(map, "gpus", 0);
	ret->gpu_share = gpus > 0 && gpus < 1 ? llround(gpus * 1000) : 0;
	ret->memory_bytes = node_get_int(map, "memory_bytes", 0);
	const struct node *time_s = node_get(map, "time_s");
	ret->time_ms = node_is_number(time_s) ? (int64_t)llround(time_s->real * 1000) : 0;
	node_free(map);
}

static bool asked_grows(const struct engine_experiment *e, enum retry policy)
{
	return (policy == RETRY_MEMORY || policy == RETRY_TIME) && e->spec->retry_factor[policy] > 1;
}

static int64_t asked_amount(const struct asked *asked, enum retry policy)
{
	return policy == RETRY_MEMORY ? asked->memory_bytes : asked->time_ms;
}

bool engine_asked_is_outdated(const struct engine_experiment *e, enum retry policy, const struct asked *had,
			      const char *retries)
{
	struct asked now;
	engine_ask_for(e, retries, &now);
	return asked_grows(e, policy) && asked_amount(had, policy) < asked_amount(&now, policy);
}

char *engine_asked_words(const struct engine_experiment *e, enum retry policy, const struct asked *had,
			 const char *retries, bool *ret_more)
{
	struct asked next;
	char amount[32];
	*ret_more = true;
	if (policy == RETRY_SHARED)
		return mem_strdup(" with a GPU of its own");
	if (!asked_grows(e, policy))
		return mem_strdup("");
	engine_ask_for(e, retries, &next);
	bool memory = policy == RETRY_MEMORY;
	const char *what = memory ? " of memory" : "";
	const char *most = memory ? ", the most that one node offers" : ", the most that is allowed";
	*ret_more = asked_amount(&next, policy) > asked_amount(had, policy);
	if (memory)
		text_format_bytes(next.memory_bytes, amount, sizeof(amount));
	else
		text_format_duration(next.time_ms, amount, sizeof(amount));
	if (!*ret_more)
		return mem_printf("it had %s%s%s", amount, what, most);
	return mem_printf(" with %s%s%s", amount, what, (memory ? next.memory_cut : next.time_cut) ? most : "");
}
