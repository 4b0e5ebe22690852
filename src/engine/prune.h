/* Ends tasks early because of their newest metrics. Inside the transaction; 0 or a negative errno. */
#ifndef ENGINE_PRUNE_H
#define ENGINE_PRUNE_H

#include "base/mem.h"

#include <stdint.h>

struct engine;
struct engine_experiment;
struct engine_live;
struct spec_objective;

/* Requests the end of the task if its newest rows are bad enough. */
int engine_prune(struct engine *engine, struct engine_live *live) MUST_USE;
/* The value of one objective of a task, as the search gets it. */
int engine_read_objective(struct engine *engine, const struct engine_experiment *experiment, int64_t task,
			  const struct spec_objective *objective, double *ret) MUST_USE;
/* The step of that value; -1: it has none. */
int engine_read_objective_step(struct engine *engine, const struct engine_experiment *experiment, int64_t task,
			       const struct spec_objective *objective, int64_t *ret) MUST_USE;

#endif
