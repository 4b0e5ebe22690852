/* Stops that a backend has not confirmed yet: see stopping.h. */
#include "engine/stopping.h"

#include "engine/backends.h"
#include "engine/event.h"
#include "engine/experiment.h"
#include "engine/home.h"
#include "engine/live.h"
#include "engine/settle.h"
#include "engine/state.h"
#include "engine/turn.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#define STOPPING_TEXT "being stopped"

/* Could it still run or start, although it was stopped? */
static bool stop_is_open(struct engine *engine, const struct engine_live *live)
{
	bool asked = live->task.wanted == STORE_WANT_STOP || live->task.wanted == STORE_WANT_PRUNE ||
		(live->experiment->sweep == STORE_SWEEP_STOP && !engine_runs_on(live->experiment, live->task.number));
	return asked && !live->stop_confirmed && !live->save_until_ms && live->facts.phase < ATTEMPT_ENDED &&
		live->facts.seen != ATTEMPT_GONE && live->experiment->backend && !engine_is_foreign(engine, live->id);
}

/* A job whose submission is not answered yet is in no queue, and a call to end it finds nothing: that confirms nothing. */
static bool stop_was_possible(const struct engine_live *live)
{
	return !backend_is(live->experiment->backend->ops, BACKEND_HAS_QUEUE) || live->job ||
		live->facts.seen == ATTEMPT_QUEUED || live->facts.seen == ATTEMPT_ALIVE;
}

void engine_stops_answered(struct engine_backend *backend, int rc, const char *why)
{
	struct engine *engine = backend->engine;
	free(backend->cancel_why);
	backend->cancel_why = rc < 0 ? mem_strdup(why ? why : strerror(-rc)) : NULL;
	for (size_t i = 0; i < engine->live.len; i++) {
		struct engine_live *live = engine->live.at[i];
		if (live->experiment->backend != backend || live->task.wanted == STORE_WANT_RUN ||
		    !live->facts.cancel_ms)
			continue;
		if (rc >= 0 && stop_was_possible(live)) {
			live->stop_confirmed = true;
			live->confirmed_at = backend->polls;
		} else if (rc < 0 && live->facts.phase < ATTEMPT_ENDED && live->task.wanted != STORE_WANT_HOLD) {
			engine_fence(live, SPOOL_STOP_OVER); /* the runner looks for a stop file too */
		}
	}
	engine_soon(engine);
}

/* With the reason, where it is known. The caller frees it. */
static char *stop_doubt(const struct engine_backend *backend)
{
	const char *why = backend->backend ? backend->cancel_why : backend->why_not;
	return mem_printf("%s has not confirmed it yet%s%s", backend->ops->name, why ? ": " : "", why ? why : "");
}

static int stop_note(struct engine *engine, struct engine_live *live)
{
	bool open = stop_is_open(engine, live) && backend_is(live->experiment->backend->ops, BACKEND_HAS_QUEUE);
	char *doubt = open ? stop_doubt(live->experiment->backend) : NULL;
	char *text = open
		? mem_printf(STOPPING_TEXT "; %s", doubt)
		: mem_strdup(live->save_until_ms ? STOPPING_TEXT ": it saves a checkpoint first" : STOPPING_TEXT);
	int rc = 0;
	free(doubt);
	if (live->reason && strcmp(live->reason, text) == 0) {
		free(text);
		return 0;
	}
	free(live->reason);
	live->reason = text;
	live->expected_ms = 0;
	rc = store_set_task_reason(engine->store, live->task.id, text, 0);
	engine_task_changed(engine, live->experiment->id, live->task.number);
	return rc;
}

int engine_note_stops(struct engine *engine)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < engine->live.len; i++) {
		struct engine_live *live = engine->live.at[i];
		if (live->task.wanted == STORE_WANT_STOP && live->facts.phase < ATTEMPT_ENDED &&
		    !engine_is_foreign(engine, live->id))
			rc = stop_note(engine, live);
	}
	return rc;
}

/* Attempts of an experiment that were stopped and may still run or start, because the backend has not confirmed it. */
static int64_t engine_open_stops_of(struct engine *engine, const struct engine_experiment *experiment)
{
	int64_t count = 0;
	for (size_t i = 0; experiment->live && i < engine->live.len; i++)
		if (engine->live.at[i]->experiment == experiment)
			count += stop_is_open(engine, engine->live.at[i]);
	return count;
}

char *engine_explain_stops(struct engine *engine, const struct engine_experiment *experiment)
{
	int64_t count = engine_open_stops_of(engine, experiment);
	if (!count || !backend_is(experiment->backend->ops, BACKEND_HAS_QUEUE))
		return NULL;
	char *doubt = stop_doubt(experiment->backend);
	char *text = mem_printf("%" PRId64 " task%s being stopped; %s", count, count == 1 ? " is" : "s are", doubt);
	free(doubt);
	return text;
}

int64_t engine_open_stops(struct engine *engine)
{
	int64_t count = 0;
	for (size_t i = 0; i < engine->live.len; i++)
		count += stop_is_open(engine, engine->live.at[i]);
	return count;
}

void engine_write_stops(struct engine *engine, struct json *out)
{
	json_list(out);
	for (size_t i = 0; i < engine->experiments.len; i++) {
		const struct engine_experiment *e = engine->experiments.at[i];
		int64_t count = engine_open_stops_of(engine, e);
		if (!count)
			continue;
		char *doubt = stop_doubt(e->backend), id[24];
		snprintf(id, sizeof(id), "e%" PRId64, e->id);
		json_map(out);
		json_key_string(out, "experiment", id);
		json_key_int(out, "tasks", count);
		json_key_string(out, "text", doubt);
		json_end(out);
		free(doubt);
	}
	json_end(out);
}
