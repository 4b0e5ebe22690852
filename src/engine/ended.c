/* Work that is left after an attempt has ended: see ended.h. */
#include "engine/ended.h"

#include "engine/accounted.h"
#include "engine/backends.h"
#include "engine/event.h"
#include "engine/experiment.h"
#include "engine/folder.h"
#include "engine/follow.h"
#include "engine/home.h"
#include "engine/live.h"
#include "engine/state.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/pace.h"

#include <inttypes.h>

static bool ended_measures(const struct engine_backend *backend)
{
	return backend->backend && backend->ops->has_energy && backend->ops->has_energy(backend->backend);
}

static void ended_free(struct engine_ended *ended)
{
	free(ended->job);
	free(ended->batch_dir);
}

/* Takes the texts of `ended` over. */
static void ended_add(struct engine *engine, struct engine_ended ended, const char *token, bool figures, bool lingers)
{
	int64_t now = clock_mono_ms();
	ended.figures_until_ms = figures ? now + ENDED_WAIT_MS : 0;
	ended.linger_ms = lingers ? now + ENDED_LINGER_MS : 0;
	ended.linger_until_ms = lingers ? now + ENDED_LINGER_MAX_MS : 0;
	memcpy(ended.token, token, sizeof(ended.token));
	vec_push(&engine->ended, ended);
}

void engine_ended_add(struct engine *engine, const struct engine_live *live)
{
	struct engine_backend *backend = live->experiment->backend;
	bool figures = live->started_ms && !live->experiment->removing && ended_measures(backend);
	bool lingers = backend_is(backend->ops, BACKEND_HAS_QUEUE) && live->facts.phase == ATTEMPT_ENDED;
	if (live->facts.seen == ATTEMPT_GONE || (!figures && !lingers))
		return;
	ended_add(engine,
		  (struct engine_ended){
			  .backend = backend,
			  .experiment = live->experiment->id,
			  .number = live->task.number,
			  .attempt = live->id,
			  .task = live->task.id,
			  .index = live->index,
			  .job = mem_strdup(live->job),
			  .batch_dir = mem_strdup(live->batch_dir),
			  .submitted_ms = live->created_ms,
		  },
		  live->token, figures, lingers);
	if (figures)
		engine_poll_soon(backend);
}

static int ended_load_cb(void *ctx, const struct store_attempt *row)
{
	struct engine *engine = ctx;
	struct engine_backend *backend = engine_backend_named(engine, row->backend);
	if (!backend || !backend->backend || engine_is_foreign(engine, row->id))
		return 0;
	/* Whether energy is measured here the backend may learn only later. A removed task has no place for it. */
	bool figures = row->experiment != STORE_REMOVED && !row->measured && backend->ops->has_energy;
	bool lingers = backend_is(backend->ops, BACKEND_HAS_QUEUE) && row->ended;
	if (!figures && !lingers)
		return 0;
	ended_add(engine,
		  (struct engine_ended){
			  .backend = backend,
			  .experiment = row->experiment,
			  .number = row->task_number,
			  .attempt = row->id,
			  .task = row->task,
			  .index = row->index,
			  .job = mem_strdup(row->job),
			  .batch_dir = engine_batch_folder(engine, row->experiment, row->token),
			  .submitted_ms = row->created_ms,
		  },
		  row->token, figures, lingers);
	return 0;
}

int engine_ended_load(struct engine *engine)
{
	return store_each_ended(engine->store, clock_now_ms() - ENDED_LOOK_BACK_MS, ended_load_cb, engine);
}

void engine_ended_unload(struct engine *engine)
{
	for (size_t i = 0; i < engine->ended.len; i++)
		ended_free(&engine->ended.at[i]);
	engine->ended.len = 0;
}

void engine_ended_forget(struct engine *engine, int64_t task)
{
	for (size_t i = 0; i < engine->ended.len; i++)
		if (engine->ended.at[i].task == task)
			engine->ended.at[i].figures_until_ms = 0;
}

/* Forgets the entry where nothing is left to do about it. */
static void ended_settle(struct engine *engine, size_t at)
{
	if (engine->ended.at[at].figures_until_ms || engine->ended.at[at].linger_ms)
		return;
	ended_free(&engine->ended.at[at]);
	engine->ended.at[at] = engine->ended.at[--engine->ended.len];
}

static struct backend_watch ended_watch(const struct engine_ended *ended)
{
	return (struct backend_watch){
		.token = ended->token,
		.job = ended->job,
		.experiment = ended->experiment,
		.index = ended->index,
		.batch_dir = ended->batch_dir,
		.submitted_ms = ended->submitted_ms,
		.queue_only = !ended->figures_until_ms,
	};
}

static bool ended_is_due(const struct engine_ended *ended, int64_t now)
{
	return (ended->figures_until_ms && ended_measures(ended->backend)) ||
		(ended->linger_ms && now >= ended->linger_ms);
}

size_t engine_ended_watch(struct engine_backend *backend, struct backend_watch *watch)
{
	struct engine *engine = backend->engine;
	int64_t now = clock_mono_ms();
	size_t count = 0;
	for (size_t i = engine->ended.len; i-- > 0;) {
		struct engine_ended *ended = &engine->ended.at[i];
		if (ended->backend != backend)
			continue;
		if (now > ended->figures_until_ms)
			ended->figures_until_ms = 0;
		if (now > ended->linger_until_ms)
			ended->linger_ms = 0;
		if (ended_is_due(ended, now))
			watch[count++] = ended_watch(ended);
		else
			ended_settle(engine, i);
	}
	return count;
}

size_t engine_ended_cancel(struct engine_backend *backend, struct backend_watch *watch)
{
	struct engine *engine = backend->engine;
	size_t count = 0;
	for (size_t i = 0; i < engine->ended.len; i++) {
		struct engine_ended *ended = &engine->ended.at[i];
		if (ended->backend != backend || !ended->cancel)
			continue;
		ended->cancel = false;
		log_warning("e%" PRId64 "/%" PRId64 " has ended, but %s still has its job %s: cancelling it",
			    ended->experiment, ended->number, backend->ops->name, ended->job ? ended->job : "");
		watch[count++] = ended_watch(ended);
	}
	return count;
}

bool engine_ended_any(const struct engine_backend *backend)
{
	const struct engine *engine = backend->engine;
	int64_t now = clock_mono_ms();
	for (size_t i = 0; i < engine->ended.len; i++)
		if (engine->ended.at[i].backend == backend && ended_is_due(&engine->ended.at[i], now))
			return true;
	return false;
}

int64_t engine_ended_wait_ms(const struct engine *engine)
{
	int64_t now = clock_mono_ms(), wait = 0;
	for (size_t i = 0; i < engine->ended.len; i++) {
		int64_t due = engine->ended.at[i].linger_ms - now;
		if (due > 0 && (!wait || due < wait))
			wait = due;
	}
	return wait;
}

/* Of the rest the runner knows more: it counts in milliseconds, and from the script's own start. */
static int ended_take_figures(struct engine *engine, struct engine_ended *ended,
			      const struct backend_observation *observed)
{
	struct cost cost = {.source = observed->cost.source};
	ended->figures_until_ms = 0;
	cost_set(&cost, FIGURE_ENERGY, cost_get(&observed->cost, FIGURE_ENERGY));
	engine_task_changed(engine, ended->experiment, ended->number);
	return engine_take_accounted(engine, ended->experiment, ended->number, ended->task, ended->attempt, &cost);
}

int engine_ended_observe(struct engine *engine, const struct backend_observation *observed)
{
	int64_t now = clock_mono_ms();
	int rc = 0;
	for (size_t i = 0; i < engine->ended.len; i++) {
		struct engine_ended *ended = &engine->ended.at[i];
		if (ended->index != observed->index || strcmp(ended->token, observed->token) != 0)
			continue;
		if (observed->state == BACKEND_ENDED || observed->state == BACKEND_ABSENT) {
			ended->linger_ms = 0;
		} else if (ended->linger_ms && now >= ended->linger_ms) {
			ended->linger_ms = now + ENDED_LINGER_MS;
			ended->cancel = true;
		}
		if (ended->figures_until_ms && observed->state == BACKEND_ENDED &&
		    cost_has(&observed->cost, FIGURE_WALL))
			rc = ended_take_figures(engine, ended, observed);
		ended_settle(engine, i);
		break;
	}
	return rc;
}
