/* See accounted.h. */
#include "engine/accounted.h"

#include "engine/backends.h"
#include "engine/experiment.h"
#include "engine/limit.h"
#include "engine/live.h"
#include "engine/load.h"
#include "engine/rank.h"
#include "engine/spec.h"
#include "engine/spec_objective.h"
#include "engine/state.h"

#include "base/clock.h"
#include "base/pace.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static bool accounted_is_objective(const struct spec *spec)
{
	return spec_objective_uses(spec, "energy");
}

/* Does the backend give the energy some time after the end? */
static bool accounted_may_come(const struct engine_experiment *e)
{
	return e->backend && e->backend->backend && e->backend->ops->has_energy &&
		e->backend->ops->has_energy(e->backend->backend);
}

int engine_warn_unmeasured(struct engine *engine, const struct engine_live *live, const struct cost *cost)
{
	const struct engine_experiment *e = live->experiment;
	bool objective = accounted_is_objective(e->spec), stop = e->spec->stop.energy_j > 0;
	double value = NAN;
	if (cost_has(cost, FIGURE_ENERGY) || accounted_may_come(e) || (!objective && !stop))
		return 0;
	int rc = objective
		? store_read_objective(engine->store, e->id, live->task.id, "energy", STORE_TAKE_LAST, 1, &value)
		: 0;
	if (rc < 0 || !isnan(value))
		return rc; /* the script reports a metric of this name */
	char *text = mem_printf("the energy of task %" PRId64
				" was not measured, so %s cannot count it. `sluice show e%" PRId64 "/%" PRId64
				"` says why; energy comes from NVML (`gpus: 1`), RAPL or "
				"Slurm's accounting",
				live->task.number, objective ? "the objective" : "`stop`", e->id, live->task.number);
	rc = store_set_warning(engine->store, e->id, STORE_WARNS_ENERGY, text);
	free(text);
	return rc;
}

bool engine_tell_later(struct engine_live *live, const double *values)
{
	struct engine_experiment *e = live->experiment;
	bool missing = false;
	for (size_t i = 0; i < e->spec->objective_count; i++)
		missing |= strcmp(e->spec->objectives[i].metric, "energy") == 0 && isnan(values[i]);
	size_t first = engine_count_told(e->spec) - e->spec->limit_count;
	for (size_t i = 0; i < e->spec->limit_count; i++)
		missing |= strcmp(e->spec->limits[i].of.metric, "energy") == 0 && isnan(values[first + i]);
	if (!missing || live->facts.seen == ATTEMPT_GONE || !accounted_may_come(e))
		return false;
	vec_push(&e->untold, ((struct engine_untold){live->task.number, clock_mono_ms() + ENDED_WAIT_MS}));
	return true;
}

static void accounted_forget(struct engine_experiment *e, int64_t number)
{
	size_t keep = 0;
	for (size_t i = 0; i < e->untold.len; i++)
		if (e->untold.at[i].number != number)
			e->untold.at[keep++] = e->untold.at[i];
	e->untold.len = keep;
}

int engine_tell_untold(struct engine *engine)
{
	int64_t now = clock_mono_ms();
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < engine->experiments.len; i++) {
		struct engine_experiment *e = engine->experiments.at[i];
		for (size_t k = e->untold.len; rc == 0 && k-- > 0;) {
			struct engine_untold untold = e->untold.at[k];
			if (now < untold.until_ms)
				continue;
			e->untold.at[k] = e->untold.at[--e->untold.len];
			rc = e->removing ? 0 : engine_rank_late(engine, e, untold.number);
		}
	}
	return rc;
}

static int accounted_untold_cb(void *ctx, int64_t number)
{
	struct engine_experiment *e = ctx;
	vec_push(&e->untold, ((struct engine_untold){.number = number}));
	return 0;
}

int engine_find_untold(struct engine *engine, struct engine_experiment *e)
{
	return accounted_is_objective(e->spec) ? store_each_untold(engine->store, e->id, accounted_untold_cb, e) : 0;
}

/* An experiment that is over is not in memory, and is loaded only if this changes its order. Its search is not asked any
 * more. */
static int accounted_rank(struct engine *engine, int64_t experiment, int64_t number)
{
	struct engine_experiment *e = engine_find(engine, experiment);
	struct spec *spec = NULL;
	int rc = e ? 0 : engine_read_spec(engine, experiment, &spec);
	bool ranks = rc == 0 && accounted_is_objective(e ? e->spec : spec);
	spec_free(spec);
	if (rc < 0 || !ranks)
		return rc;
	if (!e)
		rc = engine_load_for_a_turn(engine, experiment, &e);
	if (rc < 0)
		return rc;
	accounted_forget(e, number);
	return engine_rank_late(engine, e, number);
}

int engine_take_accounted(struct engine *engine, int64_t experiment, int64_t number, int64_t task, int64_t attempt,
			  const struct cost *cost)
{
	struct cost late = *cost;
	int measured = store_measures_energy(engine->store, attempt);
	if (measured < 0)
		return measured;
	cost_set(&late, FIGURE_ENERGY_NODE, cost_get(&late, FIGURE_ENERGY));
	if (measured) {
		cost_set(&late, FIGURE_ENERGY, NAN);
		late.source = NULL;
	}
	int rc = late.known ? store_set_cost(engine->store, attempt, task, &late) : 0;
	if (rc == 0 && cost_has(&late, FIGURE_ENERGY))
		rc = accounted_rank(engine, experiment, number);
	return rc;
}
