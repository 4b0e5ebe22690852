/* Ask and tell for workers of the user's own. What they take is an attempt like any other, and what they tell
 * goes the way of a journal's records, so that states, curves, pruning and the search need to know nothing of
 * it. */
#include "engine/internal.h"

#include "base/clock.h"
#include "base/limits.h"
#include "journal/journal.h"

#include <errno.h>
#include <math.h>
#include <unistd.h>

static int external_experiment(struct engine *engine, int64_t id, struct engine_experiment **ret, struct error *err)
{
	int rc = store_begin(engine->store, err);
	if (rc == 0)
		rc = engine_load_experiment(engine, id, ret, err);
	if (rc < 0)
		return rc;
	if ((*ret)->removing)
		return errorf(err, -ENOENT, "there is no experiment e%lld", (long long)id);
	if (!(*ret)->backend || !backend_is((*ret)->backend->ops, BACKEND_PULLED))
		return errorf(err, -EINVAL,
			      "e%lld runs its tasks by itself (backend %s); ask and tell are for experiments with "
			      "resources: {backend: external}",
			      (long long)id, (*ret)->backend ? (*ret)->backend->ops->name : "unknown");
	return 0;
}

static int external_take(struct engine *engine, struct engine_experiment *e, const struct store_task *task)
{
	char token[TOKEN_ID_CHARS], host[256] = "";
	int64_t now = clock_now_ms();
	token_make_id(token);
	gethostname(host, sizeof(host) - 1);
	struct store_attempt row = {
		.task = task->id,
		.experiment = e->id,
		.task_number = task->number,
		.number = task->attempt + 1,
		.created_ms = now,
		.submitted_ms = now,
		.state = STORE_SUBMITTED,
		.token = token,
		.batch_state = STORE_BATCH_SUBMITTED,
	};
	int rc = store_add_batch(engine->store, token, e->id, e->backend->ops->name, STORE_BATCH_SUBMITTED, 0, now);
	if (rc == 0)
		rc = store_add_attempt(engine->store, task->id, row.number, token, 0, now, &row.id);
	if (rc < 0)
		return rc;
	struct engine_live *live = engine_add_live(engine, e, &row);
	return engine_ingest_record(engine, live,
				    &(struct journal_record){.kind = JOURNAL_START,
							     .time_ms = now,
							     .host = host,
							     .version = SLUICE_VERSION,
							     .resume = task->attempt > 0 && !task->fresh});
}

/* As engine_ask, for the first who waits. -EINPROGRESS: there will be an answer later, and then a turn. */
static int external_ask(struct engine *engine, int64_t experiment, int64_t *ret_number, struct error *err)
{
	struct engine_experiment *e;
	struct store_task task = {0};
	int rc = external_experiment(engine, experiment, &e, err);
	if (rc < 0)
		return rc;
	if (!e->counts[STORE_WAITING] && !e->asked_all && !e->stopping)
		rc = engine_propose_for(engine, e, 1);
	if (rc == 0 && e->sweep != STORE_SWEEP_STOP)
		rc = store_each_ready(engine->store, e->id, clock_now_ms(), 1, store_keep_task, &task);
	if (rc == 0 && task.id)
		rc = external_take(engine, e, &task);
	if (rc == 0 && !task.id && e->question && !e->stopping) {
		engine_soon(engine); /* what was begun is committed */
		return -EINPROGRESS;
	}
	/* Nobody may ask once more only to hear that this was the last one. */
	if (rc == 0 && !e->asked_all && !e->question && e->last_number >= e->planned &&
	    !(e->spec->search->strategy->capabilities & SEARCH_MULTI_FIDELITY)) {
		e->asked_all = e->changed = true;
		rc = store_set_flag(engine->store, e->id, STORE_FLAG_ASKED_ALL, true);
	}
	bool left = !e->asked_all && !e->stopping;
	rc = engine_conclude(engine, rc, err);
	if (rc < 0)
		return rc;
	if (!task.id && !left)
		return errorf(err, -ENOENT, "e%lld has no task left to give", (long long)experiment);
	if (!task.id)
		return errorf(err, -EAGAIN, "the search waits for results of tasks that were taken");
	*ret_number = task.number;
	return 0;
}

static bool external_is_asked(const struct engine *engine, int64_t experiment)
{
	for (const struct engine_asker *asker = engine->first_asker; asker; asker = asker->next)
		if (asker->experiment == experiment)
			return true;
	return false;
}

int engine_ask(struct engine *engine, int64_t experiment, struct engine_asker *asker, int64_t *ret_number,
	       struct error *err)
{
	/* First come, first served. */
	int rc = external_is_asked(engine, experiment) ? -EINPROGRESS
						       : external_ask(engine, experiment, ret_number, err);
	if (rc == -EINPROGRESS) {
		asker->experiment = experiment;
		asker->next = NULL;
		*(engine->last_asker ? &engine->last_asker->next : &engine->first_asker) = asker;
		engine->last_asker = asker;
	}
	return rc;
}

void engine_unask(struct engine *engine, struct engine_asker *asker)
{
	struct engine_asker *before = NULL, *at = engine->first_asker;
	for (; at && at != asker; at = at->next)
		before = at;
	if (!at)
		return;
	*(before ? &before->next : &engine->first_asker) = asker->next;
	if (engine->last_asker == asker)
		engine->last_asker = before;
}

/* The search of what it asks for is still thinking, and nothing else can be said. */
static bool external_must_wait(struct engine *engine, const struct engine_asker *asker)
{
	const struct engine_experiment *e = engine_find(engine, asker->experiment);
	return e && e->question && !e->question->answered && !e->stopping && !e->removing;
}

void engine_serve_askers(struct engine *engine)
{
	struct engine_asker *asker = engine->first_asker;
	while (asker) {
		struct error err = {0};
		int64_t number = 0;
		int rc = external_must_wait(engine, asker) ? -EINPROGRESS
							   : external_ask(engine, asker->experiment, &number, &err);
		if (rc == -EINPROGRESS) {
			asker = asker->next;
			continue;
		}
		engine_unask(engine, asker);
		asker->done(asker, rc, number, &err);
		asker = engine->first_asker; /* whoever was answered may have asked again, or others may have gone */
	}
}

void engine_refuse_askers(struct engine *engine, int rc, const char *why)
{
	struct error err = {0};
	errorf(&err, rc, "%s", why);
	while (engine->first_asker) {
		struct engine_asker *asker = engine->first_asker;
		engine_unask(engine, asker);
		asker->done(asker, rc, 0, &err);
	}
}

static double external_number(const struct node *node)
{
	const char *word = node_string(node);
	if (node_is_number(node))
		return node->real;
	if (word && strcmp(word, "Infinity") == 0)
		return INFINITY;
	if (word && strcmp(word, "-Infinity") == 0)
		return -INFINITY;
	return NAN;
}

static int external_tell_row(struct engine *engine, struct engine_live *live, const struct node *body,
			     struct error *err)
{
	const struct node *values = node_get(body, "values");
	struct metric metrics[LIMIT_METRIC_COLUMNS];
	if (!values)
		return 0;
	if (values->type != NODE_MAP || !values->count || values->count > COUNT_OF(metrics))
		return errorf(err, -EINVAL, "'values' is a map of metric names and numbers");
	for (size_t i = 0; i < values->count; i++) {
		const struct node *value = values->items[i];
		if (!node_is_number(value) && value->type != NODE_STRING)
			return errorf(err, -EINVAL, "the metric '%.100s' is not a number", value->key);
		if (strlen(value->key) > LIMIT_METRIC_NAME_BYTES)
			return errorf(err, -EINVAL, "a metric's name is too long");
		metrics[i] = (struct metric){.name = value->key, .value = external_number(value)};
	}
	return engine_ingest_record(engine, live,
				    &(struct journal_record){.kind = JOURNAL_METRIC,
							     .time_ms = clock_now_ms(),
							     .step = node_get_int(body, "step", live->task.step + 1),
							     .step_name = "step",
							     .metrics = metrics,
							     .metric_count = values->count});
}

int engine_tell_task(struct engine *engine, int64_t experiment, int64_t number, const struct node *body,
		     struct error *err)
{
	struct engine_experiment *e;
	struct engine_live *live = NULL;
	int rc = external_experiment(engine, experiment, &e, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < engine->live.len; i++)
		if (engine->live.at[i]->experiment == e && engine->live.at[i]->task.number == number &&
		    engine->live.at[i]->facts.phase != ATTEMPT_SETTLED)
			live = engine->live.at[i];
	if (!live || live->facts.phase >= ATTEMPT_ENDED)
		return errorf(err, -ENOENT, "e%lld/%lld is not running: nobody has taken it, or it is over",
			      (long long)experiment, (long long)number);
	const char *failed = node_get_string(body, "failed");
	if (!failed && !node_get(body, "values"))
		return errorf(err, -EINVAL, "send 'values' ({\"val_loss\": 0.3}) or 'failed' (why)");
	rc = external_tell_row(engine, live, body, err);
	if (rc == 0 && !node_get_bool(body, "more", false)) {
		int64_t wall = clock_now_ms() - live->started_ms;
		rc = engine_ingest_record(engine, live,
					  &(struct journal_record){.kind = JOURNAL_END,
								   .time_ms = clock_now_ms(),
								   .exit_code = failed ? 1 : 0,
								   .cause = failed ? "exit" : "ok",
								   .message = failed,
								   .wall_ms = wall > 0 ? wall : 0,
								   .cpu_ms = -1,
								   .max_rss_bytes = -1,
								   .energy_j = NAN});
	}
	if (rc == 0 && live->facts.phase == ATTEMPT_ENDED)
		rc = engine_settle(engine);
	return engine_conclude(engine, rc, err);
}
