/* Figures that come after the end. The journal ends an attempt at once; what only the cluster's accounting knows (the
 * energy) comes seconds later, when the task is long over. Until then, or for a minute, the attempt stays on the
 * list of what the backend is asked about. Nothing here needs to survive a crash: the store shows what is missing. */
#include "engine/owed.h"

#include "engine/backends.h"
#include "engine/event.h"
#include "engine/folder.h"
#include "engine/follow.h"
#include "engine/state.h"

#include "base/clock.h"
#include "base/pace.h"

static bool owed_wanted(const struct engine_backend *backend)
{
	return backend->backend && backend->ops->has_energy && backend->ops->has_energy(backend->backend);
}

static void owed_free(struct engine_owed *owed)
{
	free(owed->job);
	free(owed->batch_dir);
}

void engine_owe(struct engine *engine, const struct engine_live *live)
{
	if (!live->started_ms || live->facts.seen == ATTEMPT_GONE || live->experiment->removing ||
	    !owed_wanted(live->experiment->backend))
		return;
	struct engine_owed owed = {
		.backend = live->experiment->backend,
		.experiment = live->experiment->id,
		.number = live->task.number,
		.attempt = live->id,
		.task = live->task.id,
		.index = live->index,
		.job = mem_strdup(live->job),
		.batch_dir = mem_strdup(live->batch_dir),
		.submitted_ms = live->created_ms,
		.until_ms = clock_mono_ms() + OWED_WAIT_MS,
	};
	memcpy(owed.token, live->token, sizeof(owed.token));
	vec_push(&engine->owed, owed);
	engine_poll_soon(owed.backend);
}

static int owed_load_cb(void *ctx, const struct store_attempt *row)
{
	struct engine *engine = ctx;
	struct engine_owed owed = {
		.backend = engine_backend_named(engine, row->backend),
		.experiment = row->experiment,
		.number = row->task_number,
		.attempt = row->id,
		.task = row->task,
		.index = row->index,
		.job = mem_strdup(row->job),
		.batch_dir = engine_batch_folder(engine, row->experiment, row->token),
		.submitted_ms = row->created_ms,
		.until_ms = clock_mono_ms() + OWED_WAIT_MS,
	};
	memcpy(owed.token, row->token, sizeof(owed.token));
	if (owed.backend && owed.backend->backend && owed.backend->ops->has_energy)
		vec_push(&engine->owed, owed);
	else
		owed_free(&owed);
	return 0;
}

int engine_owed_load(struct engine *engine)
{
	return store_each_unmeasured(engine->store, clock_now_ms() - OWED_LOOK_BACK_MS, owed_load_cb, engine);
}

void engine_owed_unload(struct engine *engine)
{
	for (size_t i = 0; i < engine->owed.len; i++)
		owed_free(&engine->owed.at[i]);
	engine->owed.len = 0;
}

static void owed_drop(struct engine *engine, size_t at)
{
	owed_free(&engine->owed.at[at]);
	engine->owed.at[at] = engine->owed.at[--engine->owed.len];
}

size_t engine_owed_watch(struct engine_backend *backend, struct backend_watch *watch)
{
	struct engine *engine = backend->engine;
	int64_t now = clock_mono_ms();
	size_t count = 0;
	for (size_t i = engine->owed.len; i-- > 0;) {
		const struct engine_owed *owed = &engine->owed.at[i];
		if (owed->backend != backend)
			continue;
		if (now > owed->until_ms) {
			owed_drop(engine, i);
			continue;
		}
		if (owed_wanted(backend))
			watch[count++] = (struct backend_watch){.token = owed->token,
								.job = owed->job,
								.index = owed->index,
								.batch_dir = owed->batch_dir,
								.submitted_ms = owed->submitted_ms};
	}
	return count;
}

bool engine_owed_any(const struct engine_backend *backend)
{
	const struct engine *engine = backend->engine;
	for (size_t i = 0; i < engine->owed.len; i++)
		if (engine->owed.at[i].backend == backend)
			return owed_wanted(backend);
	return false;
}

int engine_owed_sight(struct engine *engine, const struct backend_sight *sight)
{
	int rc = 0;
	if (sight->state != BACKEND_ENDED || !cost_has(&sight->cost, FIGURE_WALL))
		return 0;
	for (size_t i = 0; i < engine->owed.len; i++) {
		struct engine_owed *owed = &engine->owed.at[i];
		if (owed->index != sight->index || strcmp(owed->token, sight->token) != 0)
			continue;
		/* Of the rest the runner knows more: it counts in milliseconds, and from the script's own start. */
		struct cost cost = {.source = sight->cost.source};
		cost_set(&cost, FIGURE_ENERGY, cost_get(&sight->cost, FIGURE_ENERGY));
		if (cost.known)
			rc = store_set_cost(engine->store, owed->attempt, owed->task, &cost);
		engine_task_changed(engine, owed->experiment, owed->number);
		owed_drop(engine, i);
		break;
	}
	return rc;
}
