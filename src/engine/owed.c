/* What remains to be done about attempts that have ended; see owed.h. */
#include "engine/owed.h"

#include "engine/backends.h"
#include "engine/event.h"
#include "engine/folder.h"
#include "engine/follow.h"
#include "engine/home.h"
#include "engine/state.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/pace.h"

#include <inttypes.h>

static bool owed_measures(const struct engine_backend *backend)
{
	return backend->backend && backend->ops->has_energy && backend->ops->has_energy(backend->backend);
}

static void owed_free(struct engine_owed *owed)
{
	free(owed->job);
	free(owed->batch_dir);
}

/* Takes the texts of `owed` over. */
static void owed_add(struct engine *engine, struct engine_owed owed, const char *token, bool figures, bool lingers)
{
	int64_t now = clock_mono_ms();
	owed.figures_until_ms = figures ? now + OWED_WAIT_MS : 0;
	owed.linger_ms = lingers ? now + OWED_LINGER_MS : 0;
	owed.linger_until_ms = lingers ? now + OWED_LINGER_MAX_MS : 0;
	memcpy(owed.token, token, sizeof(owed.token));
	vec_push(&engine->owed, owed);
}

void engine_owe(struct engine *engine, const struct engine_live *live)
{
	struct engine_backend *backend = live->experiment->backend;
	bool figures = live->started_ms && !live->experiment->removing && owed_measures(backend);
	bool lingers = backend_is(backend->ops, BACKEND_HAS_QUEUE) && live->facts.phase == ATTEMPT_ENDED;
	if (live->facts.seen == ATTEMPT_GONE || (!figures && !lingers))
		return;
	owed_add(engine,
		 (struct engine_owed){
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

static int owed_load_cb(void *ctx, const struct store_attempt *row)
{
	struct engine *engine = ctx;
	struct engine_backend *backend = engine_backend_named(engine, row->backend);
	if (!backend || !backend->backend || engine_is_foreign(engine, row->id))
		return 0;
	/* Whether energy is measured here the backend may learn only later. */
	bool figures = !row->measured && backend->ops->has_energy;
	bool lingers = backend_is(backend->ops, BACKEND_HAS_QUEUE) && row->ended;
	if (!figures && !lingers)
		return 0;
	owed_add(engine,
		 (struct engine_owed){
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

int engine_owed_load(struct engine *engine)
{
	return store_each_ended(engine->store, clock_now_ms() - OWED_LOOK_BACK_MS, owed_load_cb, engine);
}

void engine_owed_unload(struct engine *engine)
{
	for (size_t i = 0; i < engine->owed.len; i++)
		owed_free(&engine->owed.at[i]);
	engine->owed.len = 0;
}

/* Forgets the entry where nothing is left to do about it. */
static void owed_settle(struct engine *engine, size_t at)
{
	if (engine->owed.at[at].figures_until_ms || engine->owed.at[at].linger_ms)
		return;
	owed_free(&engine->owed.at[at]);
	engine->owed.at[at] = engine->owed.at[--engine->owed.len];
}

static struct backend_watch owed_watch(const struct engine_owed *owed)
{
	return (struct backend_watch){
		.token = owed->token,
		.job = owed->job,
		.experiment = owed->experiment,
		.index = owed->index,
		.batch_dir = owed->batch_dir,
		.submitted_ms = owed->submitted_ms,
		.queue_only = !owed->figures_until_ms,
	};
}

static bool owed_is_due(const struct engine_owed *owed, int64_t now)
{
	return (owed->figures_until_ms && owed_measures(owed->backend)) || (owed->linger_ms && now >= owed->linger_ms);
}

size_t engine_owed_watch(struct engine_backend *backend, struct backend_watch *watch)
{
	struct engine *engine = backend->engine;
	int64_t now = clock_mono_ms();
	size_t count = 0;
	for (size_t i = engine->owed.len; i-- > 0;) {
		struct engine_owed *owed = &engine->owed.at[i];
		if (owed->backend != backend)
			continue;
		if (now > owed->figures_until_ms)
			owed->figures_until_ms = 0;
		if (now > owed->linger_until_ms)
			owed->linger_ms = 0;
		if (owed_is_due(owed, now))
			watch[count++] = owed_watch(owed);
		else
			owed_settle(engine, i);
	}
	return count;
}

size_t engine_owed_cancel(struct engine_backend *backend, struct backend_watch *watch)
{
	struct engine *engine = backend->engine;
	size_t count = 0;
	for (size_t i = 0; i < engine->owed.len; i++) {
		struct engine_owed *owed = &engine->owed.at[i];
		if (owed->backend != backend || !owed->cancel)
			continue;
		owed->cancel = false;
		log_warning("e%" PRId64 "/%" PRId64 " has ended, but %s still has its job %s: cancelling it",
			    owed->experiment, owed->number, backend->ops->name, owed->job ? owed->job : "");
		watch[count++] = owed_watch(owed);
	}
	return count;
}

bool engine_owed_any(const struct engine_backend *backend)
{
	const struct engine *engine = backend->engine;
	int64_t now = clock_mono_ms();
	for (size_t i = 0; i < engine->owed.len; i++)
		if (engine->owed.at[i].backend == backend && owed_is_due(&engine->owed.at[i], now))
			return true;
	return false;
}

int64_t engine_owed_wait_ms(const struct engine *engine)
{
	int64_t now = clock_mono_ms(), wait = 0;
	for (size_t i = 0; i < engine->owed.len; i++) {
		int64_t due = engine->owed.at[i].linger_ms - now;
		if (due > 0 && (!wait || due < wait))
			wait = due;
	}
	return wait;
}

/* Of the rest the runner knows more: it counts in milliseconds, and from the script's own start. */
static int owed_take_figures(struct engine *engine, struct engine_owed *owed, const struct backend_sight *sight)
{
	struct cost cost = {.source = sight->cost.source};
	owed->figures_until_ms = 0;
	cost_set(&cost, FIGURE_ENERGY, cost_get(&sight->cost, FIGURE_ENERGY));
	engine_task_changed(engine, owed->experiment, owed->number);
	return cost.known ? store_set_cost(engine->store, owed->attempt, owed->task, &cost) : 0;
}

int engine_owed_sight(struct engine *engine, const struct backend_sight *sight)
{
	int64_t now = clock_mono_ms();
	int rc = 0;
	for (size_t i = 0; i < engine->owed.len; i++) {
		struct engine_owed *owed = &engine->owed.at[i];
		if (owed->index != sight->index || strcmp(owed->token, sight->token) != 0)
			continue;
		if (sight->state == BACKEND_ENDED || sight->state == BACKEND_ABSENT) {
			owed->linger_ms = 0;
		} else if (owed->linger_ms && now >= owed->linger_ms) {
			owed->linger_ms = now + OWED_LINGER_MS;
			owed->cancel = true;
		}
		if (owed->figures_until_ms && sight->state == BACKEND_ENDED && cost_has(&sight->cost, FIGURE_WALL))
			rc = owed_take_figures(engine, owed, sight);
		owed_settle(engine, i);
		break;
	}
	return rc;
}
