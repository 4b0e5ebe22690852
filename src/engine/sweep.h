/* Actions on every task of an experiment. They are stored first, and then carried out on some tasks per turn, so that
 * 100,000 tasks do not block the loop. Inside the transaction; 0 or a negative errno. */
#ifndef ENGINE_SWEEP_H
#define ENGINE_SWEEP_H

#include "engine/engine.h"
#include "store/rows.h"

struct engine_experiment;

/* Starts an action and carries out its first part. It replaces an action that was in progress. */
int engine_begin_sweep(struct engine *engine, struct engine_experiment *experiment, enum store_sweep sweep) MUST_USE;
int engine_sweep(struct engine *engine) MUST_USE;
/* Stop or restart one task. A live attempt is marked only in the store; the caller marks it in memory. */
int engine_stop_task(struct engine *engine, struct engine_experiment *experiment,
		     const struct store_task *task) MUST_USE;
int engine_restart_task(struct engine *engine, struct engine_experiment *experiment, const struct store_task *task,
			enum engine_mode mode) MUST_USE;
/* The action that restarts all tasks, or the failed ones, in this mode. */
enum store_sweep engine_sweep_of(enum engine_mode mode, bool failed_only);

#endif
