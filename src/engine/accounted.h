/* Figures that a backend's accounting gives of an attempt, beside those that its runner measured. */
#ifndef ENGINE_ACCOUNTED_H
#define ENGINE_ACCOUNTED_H

#include "base/cost.h"
#include "base/error.h"

#include <stdbool.h>

struct engine;
struct engine_experiment;
struct engine_live;

/* Stores the figures. The energy of accounting is the whole node's: it stands beside what the runner measured, and
 * counts only where nothing was measured. Where the energy is an objective and the task has ended already, the task is
 * ranked by it now, and the search is told. The search is not replayed for it. Inside a transaction. */
int engine_take_accounted(struct engine *engine, int64_t experiment, int64_t number, int64_t task, int64_t attempt,
			  const struct cost *cost) MUST_USE;
/* An attempt has ended with these figures: warns where the file wants its energy (as an objective, or in `stop`) and it
 * was not measured. Inside a transaction. */
int engine_warn_unmeasured(struct engine *engine, const struct engine_live *live, const struct cost *cost) MUST_USE;

/* A search would take a task without its energy for a failed one. So where the energy is an objective, was not measured
 * and may come from accounting, the search is told later: when it has come, or after ENDED_WAIT_MS. */

/* An attempt has ended well with these values of the objectives. True: the search is told later. */
bool engine_tell_later(struct engine_live *live, const double *values);
/* Tells what was awaited for long enough. Inside a transaction. */
int engine_tell_untold(struct engine *engine) MUST_USE;
/* An experiment was loaded: finds the tasks that an earlier daemon did not come to tell. */
int engine_find_untold(struct engine *engine, struct engine_experiment *experiment) MUST_USE;

#endif
