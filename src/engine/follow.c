/* Polls the backends: one query per cycle for all attempts of a backend. A missing answer means unknown, never failed.
 * Also carries out requests to stop, and repeats them until they have an effect. */
#include "engine/follow.h"

#include "engine/backends.h"
#include "engine/ended.h"
#include "engine/event.h"
#include "engine/experiment.h"
#include "engine/home.h"
#include "engine/live.h"
#include "engine/settle.h"
#include "engine/state.h"
#include "engine/stopping.h"
#include "engine/turn.h"

#include "base/clock.h"
#include "base/log.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

/* An expected start is an estimate: only a change of this much is worth telling. */
#define FOLLOW_START_MOVED_MS 5000
/* Sights come mostly in the order in which they were asked for, so the next one is looked for first where the
 * last one was found: ten thousand attempts are not a hundred million comparisons. */
static struct engine_live *follow_find(struct engine *engine, const char *token, uint32_t index)
{
	size_t count = engine->live.len;
	for (size_t i = 0; i < count; i++) {
		size_t at = (engine->last_observed + i) % count;
		struct engine_live *live = engine->live.at[at];
		if (live->index == index && strcmp(live->token, token) == 0) {
			engine->last_observed = at + 1;
			return live;
		}
	}
	return NULL;
}

static void follow_gone(struct engine_live *live, const struct backend_observation *observed)
{
	struct attempt_end found = {
		.cause = observed->cause,
		.unlaunched = observed->unlaunched,
		.exit_code = observed->exit_code,
		.signal = observed->signal,
		.time_ms = observed->ended_ms,
		.message = (char *)observed->message,
		.remedy = (char *)observed->remedy,
	};
	if (live->facts.seen == ATTEMPT_GONE)
		return;
	attempt_update(&live->facts,
		       &(struct attempt_event){.kind = ATTEMPT_EVENT_GONE, .at_ms = clock_mono_ms(), .end = &found});
	live->gone_cost = observed->cost;
	live->gone_cost.source = live->gone_source = mem_strdup(observed->cost.source);
}

/* Written only where it changed: a look at a thousand waiting tasks is then nothing to the store and to listeners. */
int engine_tell_waiting(struct engine *engine, struct engine_live *live, const char *reason, int64_t expected_start_ms)
{
	int64_t moved = expected_start_ms - live->expected_ms;
	bool same = live->reason ? reason && strcmp(live->reason, reason) == 0 : !reason;
	if (live->facts.phase >= ATTEMPT_RUNNING || live->task.wanted == STORE_WANT_STOP ||
	    (same && moved > -FOLLOW_START_MOVED_MS && moved < FOLLOW_START_MOVED_MS))
		return 0;
	free(live->reason);
	live->reason = mem_strdup(reason);
	live->expected_ms = expected_start_ms;
	engine_task_changed(engine, live->experiment->id, live->task.number);
	return store_set_task_reason(engine->store, live->task.id, reason, expected_start_ms);
}

/* The place of one that has not reported it itself: a runner that never starts its script never will. */
static int follow_place(struct engine *engine, struct engine_live *live, const struct backend_observation *observed)
{
	bool moved = observed->node && (!live->node || strcmp(live->node, observed->node) != 0);
	bool named = observed->job && (!live->job || strcmp(live->job, observed->job) != 0);
	if (live->started_ms || (!moved && !named))
		return 0;
	if (moved) {
		free(live->node);
		live->node = mem_strdup(observed->node);
	}
	if (named) {
		free(live->job);
		live->job = mem_strdup(observed->job);
	}
	return store_set_place(engine->store, live->id, live->task.id, observed->node, observed->job);
}

/* Not found: written down once, so that the store shows since when. */
static int follow_absent(struct engine *engine, struct engine_live *live)
{
	bool first = !live->facts.absent_ms && live->facts.phase == ATTEMPT_SUBMITTED;
	engine_note(live, ATTEMPT_EVENT_ABSENT);
	return first ? store_set_batch_absent(engine->store, live->token, clock_now_ms()) : 0;
}

/* One that was to be taken out of the queue has started instead: it runs with what it has. Only a look that began after
 * the answer shows that; and one that is ending may end by our own call. */
static int follow_keep(struct engine *engine, struct engine_live *live, const struct backend_observation *observed)
{
	bool answered = live->stop_confirmed && live->experiment->backend->polls > live->confirmed_at;
	if (live->task.wanted != STORE_WANT_HOLD || live->facts.seen == ATTEMPT_GONE || observed->reason ||
	    (live->facts.cancel_ms && !answered))
		return 0;
	live->task.wanted = STORE_WANT_RUN;
	live->stop_confirmed = false;
	live->facts.cancel_ms = 0;
	return store_set_wanted(engine->store, live->task.id, STORE_WANT_RUN);
}

int engine_take_observation(struct engine *engine, const struct backend_observation *observed)
{
	struct engine_live *live = follow_find(engine, observed->token, observed->index);
	if (!live || live->facts.phase == ATTEMPT_SETTLED)
		return engine_ended_observe(engine, observed);
	if (live->unplaced)
		return 0; /* the backend looked into the wrong folder, perhaps */
	switch (observed->state) {
	case BACKEND_QUEUED:
		engine_note(live, ATTEMPT_EVENT_QUEUED);
		return engine_tell_waiting(engine, live, observed->reason, observed->expected_start_ms);
	case BACKEND_RUNNING: {
		/* The journal says so, with more. */
		engine_note(live, observed->reason ? ATTEMPT_EVENT_PAUSED : ATTEMPT_EVENT_ALIVE);
		free(live->paused);
		live->paused = mem_strdup(observed->reason);
		int rc = follow_keep(engine, live, observed);
		return rc < 0 ? rc : follow_place(engine, live, observed);
	}
	case BACKEND_ENDED: follow_gone(live, observed); return follow_place(engine, live, observed);
	case BACKEND_ABSENT: return follow_absent(engine, live);
	}
	return 0;
}

/* The end of the poll asks for the turn. */
static void follow_observation_cb(void *ctx, const struct backend_observation *observed)
{
	struct engine_backend *backend = ctx;
	if (!backend->engine->closing)
		engine_inbox_add_observation(&backend->engine->inbox, observed);
}

static void follow_polled_cb(void *ctx, int rc, const char *why)
{
	struct engine_backend *backend = ctx;
	backend->polling = false;
	backend->polled_ms = clock_mono_ms();
	if (backend->engine->closing)
		return;
	if (rc == 0) {
		backend->adopted = true;
		backend->answered_ms = backend->polled_ms;
	}
	if (rc < 0)
		log_warning("%s cannot be asked: %s", backend->ops->name, why ? why : strerror(-rc));
	engine_soon(backend->engine);
}

enum follow_which { FOLLOW_ALL, FOLLOW_END, FOLLOW_HOLD };

/* The live attempts of a backend as a watch list: all, or those that must end or leave the queue now. */
static struct backend_watch *follow_watch(struct engine_backend *backend, enum follow_which which, size_t *ret_count)
{
	struct engine *engine = backend->engine;
	struct backend_watch *watch = mem_array(engine->live.len + engine->ended.len, sizeof(*watch));
	size_t count = 0;
	for (size_t i = 0; i < engine->live.len; i++) {
		struct engine_live *live = engine->live.at[i];
		/* Nearly all: this is asked every turn. */
		if (which != FOLLOW_ALL && live->task.wanted == STORE_WANT_RUN && !live->facts.given_up)
			continue;
		if (live->experiment->backend != backend || live->facts.phase == ATTEMPT_SETTLED ||
		    engine_is_foreign(engine, live->id))
			continue;
		if (which != FOLLOW_ALL) {
			bool hold = live->task.wanted == STORE_WANT_HOLD && !live->facts.given_up;
			if (hold != (which == FOLLOW_HOLD))
				continue;
			/* A cluster gets all of them in one call, when the last one was asked to stop. */
			if (live->experiment->sweep == STORE_SWEEP_STOP && backend_is(backend->ops, BACKEND_HAS_QUEUE))
				continue;
			if (live->save_until_ms > clock_mono_ms() || !engine_needs_cancel(live))
				continue;
			engine_note(live, ATTEMPT_EVENT_CANCEL);
		}
		watch[count++] = (struct backend_watch){
			.token = live->token,
			.job = live->job,
			.experiment = live->experiment->id,
			.index = live->index,
			.batch_dir = live->batch_dir,
			.attempt_dir = live->attempt_dir,
			.submitted_ms = live->created_ms,
			.silent_ms = live->facts.silent_ms,
		};
	}
	if (which == FOLLOW_ALL)
		count += engine_ended_watch(backend, watch + count);
	if (which == FOLLOW_END)
		count += engine_ended_cancel(backend, watch + count);
	*ret_count = count;
	return watch;
}

static void follow_poll(struct engine_backend *backend)
{
	if (backend->polling || !backend->backend || backend->engine->closing)
		return;
	size_t count;
	struct backend_watch *watch = follow_watch(backend, FOLLOW_ALL, &count);
	backend->expecting = false;
	if (count) {
		backend->polling = true;
		backend->polls++;
		backend->ops->poll(backend->backend, watch, count, follow_observation_cb, follow_polled_cb, backend);
	}
	free(watch);
}

static void follow_timer_cb(uv_timer_t *timer)
{
	follow_poll(timer->data);
}

void engine_poll_soon(struct engine_backend *backend)
{
	backend->expecting = true;
}

void engine_follow(struct engine *engine)
{
	engine_look_again(engine);
	for (size_t i = 0; i < engine->backends.len; i++) {
		struct engine_backend *backend = engine->backends.at[i];
		bool any = engine_ended_any(backend);
		for (size_t k = 0; k < engine->live.len && !any; k++)
			any = engine->live.at[k]->experiment->backend == backend;
		if (!backend->backend || backend->polling)
			continue;
		if (!any) {
			if (!backend->adopted)
				engine_soon(engine);
			backend->adopted = true;
			uv_timer_stop(&backend->timer);
			continue;
		}
		int64_t wait = backend->ops->poll_interval_ms(backend->backend, backend->expecting);
		int64_t due = backend->polled_ms + wait - clock_mono_ms();
		uv_timer_start(&backend->timer, follow_timer_cb, due > 0 ? (uint64_t)due : 0, 0);
	}
}

static void follow_cancelled_cb(void *ctx, int rc, const char *why)
{
	struct engine_backend *backend = ctx;
	backend->expecting = true;
	backend->cancelling = false;
	if (backend->engine->closing)
		return;
	if (rc < 0)
		log_warning("%s: ending attempts: %s", backend->ops->name, why ? why : strerror(-rc));
	engine_stops_answered(backend, rc, why);
}

/* One call at a time: its answer is for every attempt that was asked to end before it. */
void engine_cancel(struct engine *engine)
{
	for (size_t i = 0; i < engine->backends.len; i++) {
		struct engine_backend *backend = engine->backends.at[i];
		size_t count = 0;
		if (!backend->backend || backend->cancelling)
			continue;
		struct backend_watch *watch = follow_watch(backend, FOLLOW_END, &count);
		backend->cancelling = count > 0;
		if (count)
			backend->ops->cancel(backend->backend, watch, count, follow_cancelled_cb, backend);
		free(watch);
		if (count || !backend->ops->withdraw)
			continue;
		watch = follow_watch(backend, FOLLOW_HOLD, &count);
		backend->cancelling = count > 0;
		if (count)
			backend->ops->withdraw(backend->backend, watch, count, follow_cancelled_cb, backend);
		free(watch);
	}
}
