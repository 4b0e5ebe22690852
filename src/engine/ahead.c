/* See ahead.h. A search that learns is not asked ahead: its next proposal would know less. */
#include "engine/ahead.h"

#include "engine/backends.h"
#include "engine/experiment.h"
#include "engine/live.h"
#include "engine/spec.h"
#include "engine/state.h"

/* Tasks that take longer on average do not gain. */
#define AHEAD_TASK_MS 100.0
/* Enough for the slots until the next turn, by far; each costs a descriptor on disk. */
#define AHEAD_TASKS 16
/* The weight of the newest task in the mean. */
#define AHEAD_NEWEST 0.1

void engine_ahead_ended(const struct engine_live *live, enum store_state state)
{
	struct engine_experiment *e = live->experiment;
	double wall_ms = (double)attempt_end_of(&live->facts)->wall_ms;
	if (e->spec->search->strategy->capabilities & SEARCH_ADAPTIVE)
		return;
	if (state == STORE_FINISHED)
		e->mean_ms += e->mean_ms > 0 ? AHEAD_NEWEST * (wall_ms - e->mean_ms) : wall_ms + 1;
	e->brief = state == STORE_FINISHED && e->mean_ms <= AHEAD_TASK_MS;
}

/* Does another experiment use the backend, or wait for it? */
static bool ahead_has_others(const struct engine *engine, const struct engine_experiment *e)
{
	for (size_t i = 0; i < engine->experiments.len; i++) {
		const struct engine_experiment *other = engine->experiments.at[i];
		if (other != e && other->backend == e->backend &&
		    (other->live || (other->counts[STORE_WAITING] && !other->paused)))
			return true;
	}
	return false;
}

void engine_ahead_choose(const struct engine *engine, struct engine_experiment *e)
{
	bool limited = e->parallel || e->spec->stop.failures > 0;
	e->spec->resources.ahead = e->brief && !limited && !ahead_has_others(engine, e) ? AHEAD_TASKS : 0;
}
