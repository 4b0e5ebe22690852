/* GET /cluster/use: what runs where, what is queued and why, and the nodes of the backends that have some. Everything is
 * written from memory but the place of running tasks, which is one row each. */
#include "engine/engine.h"

#include "engine/backends.h"
#include "engine/experiment.h"
#include "engine/live.h"
#include "engine/spec.h"
#include "engine/state.h"
#include "engine/waiting.h"

#include "base/limits.h"
#include "store/json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

typedef VEC(char *) use_names;

/* Tasks of one experiment that wait for the same. */
struct use_group {
	const struct engine_experiment *experiment;
	const char *state, *reason; /* reason: NULL: not known */
	int64_t tasks, first; /* first: the lowest number; 0: none has one yet */
	int64_t since_ms, expected_ms; /* the earliest; 0: not known */
	char *said; /* the reason, where nothing else keeps it */
};
typedef VEC(struct use_group) use_groups;

static bool use_is_queued(const struct engine_live *live)
{
	return live->facts.phase == ATTEMPT_SUBMITTED;
}

static void use_write_resources(const struct engine_experiment *e, struct json *out)
{
	const struct backend_resources *r = &e->spec->resources;
	json_key_int(out, "cpus", r->cpus > 0 ? r->cpus : 1);
	json_key(out, "memory_bytes");
	if (r->memory_bytes)
		json_put_int(out, r->memory_bytes);
	else
		json_put_null(out);
	json_key_string(out, "partition", r->partition);
}

static int use_write_running(struct engine *engine, const struct engine_live *live, use_names *nodes, struct json *out)
{
	const struct engine_experiment *e = live->experiment;
	struct buf node = buf_make(BUF_UNLIMITED);
	char id[48];
	snprintf(id, sizeof(id), "e%" PRId64 "/%" PRId64, e->id, live->task.number);
	json_map(out);
	json_key_string(out, "task", id);
	json_key_string(out, "name", e->spec->name);
	json_key_string(out, "backend", e->backend ? e->backend->ops->name : NULL);
	json_key_bool(out, "stalled", live->stall);
	use_write_resources(e, out);
	int rc = store_json_place(engine->store, live->task.id, out, &node);
	json_end(out);
	if (node.len)
		vec_push(nodes, buf_take(&node));
	buf_free(&node);
	return rc;
}

static struct use_group *use_find(use_groups *groups, const struct engine_experiment *e, const char *reason)
{
	for (size_t i = groups->len; i-- > 0;) {
		const char *other = groups->at[i].reason;
		if (groups->at[i].experiment == e &&
		    (other == reason || (other && reason && strcmp(other, reason) == 0)))
			return &groups->at[i];
	}
	return NULL;
}

static int64_t use_earlier(int64_t a, int64_t b)
{
	return a && (!b || a < b) ? a : b;
}

static void use_add_queued(use_groups *groups, const struct engine_live *live)
{
	struct use_group *group = use_find(groups, live->experiment, live->reason);
	if (!group && groups->len < LIMIT_USE_ROWS) {
		vec_push(groups,
			 ((struct use_group){.experiment = live->experiment,
					     .state = "submitted",
					     .reason = live->reason,
					     .first = live->task.number}));
		group = &groups->at[groups->len - 1];
	}
	if (!group)
		return;
	group->tasks++;
	group->first = live->task.number < group->first ? live->task.number : group->first;
	group->since_ms = use_earlier(live->created_ms, group->since_ms);
	group->expected_ms = use_earlier(live->expected_ms, group->expected_ms);
}

/* The note of an experiment is about tasks that exist; a search proposes many of its tasks late. */
static char *use_say_waiting(const struct engine_experiment *e)
{
	if (e->paused || e->note || !e->backend || !e->backend->backend)
		return NULL;
	if (backend_is(e->backend->ops, BACKEND_PULLED))
		return mem_strdup("waits for a worker of yours to ask for it");
	char *why = engine_say_waiting(e);
	return why || e->counts[STORE_WAITING] ? why : mem_strdup("waits until the search proposes it");
}

/* Tasks that are not with a backend yet. */
static void use_add_waiting(use_groups *groups, const struct engine_experiment *e)
{
	int64_t open = e->asked_all ? 0 : e->planned - e->last_number;
	int64_t tasks = e->counts[STORE_WAITING] + (open > 0 ? open : 0);
	if (!tasks || e->stopping || e->removing || groups->len >= LIMIT_USE_ROWS)
		return;
	char *said = use_say_waiting(e);
	vec_push(groups,
		 ((struct use_group){.experiment = e,
				     .state = "waiting",
				     .said = said,
				     .reason = e->paused ? e->paused
					     : said      ? said
							 : e->note,
				     .tasks = tasks,
				     .since_ms = e->created_ms}));
}

static void use_write_group(const struct use_group *group, struct json *out)
{
	char id[32];
	snprintf(id, sizeof(id), "e%" PRId64, group->experiment->id);
	json_map(out);
	json_key_string(out, "experiment", id);
	json_key_string(out, "name", group->experiment->spec->name);
	json_key_string(out, "backend", group->experiment->backend ? group->experiment->backend->ops->name : NULL);
	json_key_string(out, "state", group->state);
	json_key_int(out, "tasks", group->tasks);
	json_key(out, "first");
	if (group->first)
		json_put_int(out, group->first);
	else
		json_put_null(out);
	json_key_string(out, "reason", group->reason);
	json_key_time(out, "since", group->since_ms);
	json_key_time(out, "expected_start", group->expected_ms);
	use_write_resources(group->experiment, out);
	json_end(out);
}

static void use_write_queue(struct engine *engine, struct json *out)
{
	use_groups groups = {0};
	for (size_t i = 0; i < engine->live.len; i++)
		if (use_is_queued(engine->live.at[i]))
			use_add_queued(&groups, engine->live.at[i]);
	for (size_t i = 0; i < engine->experiments.len; i++)
		use_add_waiting(&groups, engine->experiments.at[i]);
	json_key(out, "queued");
	json_list(out);
	for (size_t i = 0; i < groups.len; i++) {
		use_write_group(&groups.at[i], out);
		free(groups.at[i].said);
	}
	json_end(out);
	free(groups.at);
}

static int use_compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void use_write_nodes(struct engine *engine, const use_names *ours, struct json *out)
{
	json_key(out, "nodes");
	json_list(out);
	for (size_t i = 0; i < engine->backends.len; i++) {
		const struct engine_backend *backend = engine->backends.at[i];
		if (!backend->backend || !backend->ops->write_nodes)
			continue;
		json_map(out);
		json_key_string(out, "backend", backend->ops->name);
		backend->ops->write_nodes(backend->backend, (const char *const *)ours->at, ours->len, out);
		json_end(out);
	}
	json_end(out);
}

int engine_write_use(struct engine *engine, struct json *out)
{
	use_names nodes = {0};
	int64_t running = 0;
	int rc = 0;
	engine_look_again(engine);
	json_map(out);
	json_key(out, "running");
	json_list(out);
	for (size_t i = 0; rc == 0 && i < engine->live.len; i++) {
		const struct engine_live *live = engine->live.at[i];
		if (live->facts.phase != ATTEMPT_RUNNING)
			continue;
		if (++running <= LIMIT_USE_ROWS)
			rc = use_write_running(engine, live, &nodes, out);
	}
	json_end(out);
	json_key_int(out, "running_total", running);
	use_write_queue(engine, out);
	if (nodes.len)
		qsort(nodes.at, nodes.len, sizeof(*nodes.at), use_compare_names);
	use_write_nodes(engine, &nodes, out);
	json_end(out);
	for (size_t i = 0; i < nodes.len; i++)
		free(nodes.at[i]);
	free(nodes.at);
	return rc;
}
