/* See collect.h. */
#include "engine/collect.h"

#include "engine/experiment.h"
#include "engine/home.h"
#include "engine/live.h"
#include "engine/settle.h"
#include "engine/state.h"
#include "engine/turn.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/pace.h"
#include "base/proc.h"

#include <inttypes.h>
#include <stdio.h>

/* At a time: when a node dies, all that ran there is lost together. */
#define COLLECT_MOST 4
/* Tries for one attempt, a while apart. */
#define COLLECT_TRIES 5

struct engine_collector {
	struct engine *engine; /* NULL: it has closed meanwhile */
	struct proc *proc;
	int64_t attempt;
};

static struct engine_live *collect_find_live(const struct engine *engine, int64_t attempt)
{
	for (size_t i = 0; i < engine->live.len; i++)
		if (engine->live.at[i]->id == attempt)
			return engine->live.at[i];
	return NULL;
}

static void collect_forget(struct engine_collector *collector)
{
	struct engine *engine = collector->engine;
	size_t at = 0;
	while (engine->collectors.at[at] != collector)
		at++;
	engine->collectors.at[at] = engine->collectors.at[--engine->collectors.len];
	free(collector);
}

static void collect_failed(struct engine_live *live, const char *why)
{
	live->collect_failures++;
	live->collect_after_ms = clock_mono_ms() + SETTLE_RETRY_MS;
	log_warning("e%" PRId64 "/%" PRId64 ": its last metrics could not be read: %s", live->experiment->id,
		    live->task.number, why);
}

/* The attempt may have been read anew from the store meanwhile. */
static void collect_done_cb(void *ctx, const struct proc_result *result)
{
	struct engine_collector *collector = ctx;
	struct engine *engine = collector->engine;
	if (!engine) {
		free(collector);
		return;
	}
	struct engine_live *live = collect_find_live(engine, collector->attempt);
	collect_forget(collector);
	if (engine->closing)
		return;
	if (live && result->exit_code == 0)
		engine_note(live, ATTEMPT_EVENT_COLLECTED);
	else if (live)
		collect_failed(live,
			       result->timed_out         ? "it took too long"
				       : result->err.len ? buf_text(&result->err)
							 : "the child failed");
	engine_soon(engine);
}

static void collect_start(struct engine *engine, struct engine_live *live)
{
	char index[16];
	struct error err;
	struct engine_collector *collector = mem_alloc(sizeof(*collector));
	*collector = (struct engine_collector){.engine = engine, .attempt = live->id};
	snprintf(index, sizeof(index), "%" PRIu32, live->index);
	const char *argv[] = {engine->program, "exec", "--collect", live->batch_dir, index, NULL};
	const struct proc_spec spec = {.argv = argv, .timeout_ms = COLLECT_HANGS_MS};
	vec_push(&engine->collectors, collector);
	engine_note(live, ATTEMPT_EVENT_COLLECTING);
	int rc = proc_start(engine->loop, &spec, collect_done_cb, collector, &collector->proc, &err);
	if (rc < 0) {
		collect_failed(live, err.text);
		collect_forget(collector);
	}
}

/* The stop file comes first, on every backend: a runner may live where others have reported its end, or on another
 * machine where it was only silent, and would write to its journal, too. */
static int collect_fence(struct engine *engine, struct engine_live *live)
{
	if (clock_mono_ms() < live->collect_after_ms)
		return 0;
	engine_soon(engine);
	if (!engine_fence(live, SPOOL_STOP_OVER)) {
		collect_failed(live, "its stop file cannot be written");
		return 0;
	}
	engine_note(live, ATTEMPT_EVENT_FENCED);
	return engine_may_live(live)
		? store_add_history(
			  engine->store, live->task.id, STORE_RUNNING,
			  "the cluster has lost it, and its runner may still be at work: waiting until that has "
			  "ended, or was silent for " SETTLE_SILENT_TEXT,
			  clock_now_ms())
		: 0;
}

/* It ends as it would have; what is missing is where the script wrote it. */
static int collect_give_up(struct engine *engine, struct engine_live *live)
{
	engine_note(live, ATTEMPT_EVENT_COLLECTED);
	engine_soon(engine);
	return store_add_history(
		engine->store, live->task.id, STORE_RUNNING,
		"the metrics that its script wrote last could not be read, and may be missing here: see "
		"its own files",
		clock_now_ms());
}

int engine_collect(struct engine *engine, struct engine_live *live)
{
	/* The descriptor of an attempt of the folder that this one was copied from names the files of the original. */
	bool ours = !live->experiment->removing && !engine_is_foreign(engine, live->id);
	if (ours && live->collect_failures >= COLLECT_TRIES)
		return collect_give_up(engine, live);
	if (ours && !live->facts.fenced)
		return collect_fence(engine, live);
	if (!engine->program || !ours) {
		engine_note(live, ATTEMPT_EVENT_COLLECTED);
		engine_soon(engine);
		return 0;
	}
	for (size_t i = 0; i < engine->collectors.len; i++)
		if (engine->collectors.at[i]->attempt == live->id)
			return 0;
	if (engine->collectors.len < COLLECT_MOST && clock_mono_ms() >= live->collect_after_ms)
		collect_start(engine, live);
	return 0;
}

static void collect_overdue_cb(uv_timer_t *timer)
{
	*(bool *)timer->data = true;
}

void engine_end_collectors(struct engine *engine)
{
	uv_timer_t timer;
	bool overdue = false;
	uv_timer_init(engine->loop, &timer);
	timer.data = &overdue;
	uv_timer_start(&timer, collect_overdue_cb, COLLECT_END_MS, 0);
	for (size_t i = 0; i < engine->collectors.len; i++)
		proc_kill(engine->collectors.at[i]->proc);
	while (engine->collectors.len && !overdue)
		uv_run(engine->loop, UV_RUN_ONCE);
	uv_close((uv_handle_t *)&timer, NULL);
	uv_run(engine->loop, UV_RUN_NOWAIT);
	for (size_t i = 0; i < engine->collectors.len; i++)
		engine->collectors.at[i]->engine = NULL;
	free(engine->collectors.at);
}
