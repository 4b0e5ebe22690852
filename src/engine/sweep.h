/* Actions on every task of an experiment. They are written down first and carried out some tasks a turn, so that 100,000
 * of them do not hold the loop. Inside the transaction; 0 or a negative errno. */
#ifndef ENGINE_SWEEP_H
#define ENGINE_SWEEP_H

#include "engine/engine.h"
#include "store/rows.h"

struct engine_experiment;

/* Begins one (carrying out the first part of it) in the place of what was going on. */
int engine_begin_sweep(struct engine *engine, struct engine_experiment *experiment, enum store_sweep sweep) MUST_USE;
int engine_sweep(struct engine *engine) MUST_USE;
/* The parts of it: one task is stopped or restarted. What is alive is only marked in the store: the caller marks it in
 * memory. */
int engine_stop_task(struct engine *engine, struct engine_experiment *experiment,
		     const struct store_task *task) MUST_USE;
int engine_restart_task(struct engine *engine, struct engine_experiment *experiment, const struct store_task *task,
			enum engine_mode mode) MUST_USE;
/* The restart of all tasks, or of the failed ones, in this way. */
enum store_sweep engine_sweep_of(enum engine_mode mode, bool failed_only);

#endif
