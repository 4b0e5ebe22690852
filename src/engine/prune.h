/* Ending tasks early by their newest rows. Inside the transaction; 0 or a negative errno. */
#ifndef ENGINE_PRUNE_H
#define ENGINE_PRUNE_H

#include "base/mem.h"

#include <stdint.h>

struct engine;
struct engine_experiment;
struct engine_live;
struct spec_objective;

/* Asks for the end of the task where its newest rows say so. */
int engine_prune(struct engine *engine, struct engine_live *live) MUST_USE;
/* One number for one objective of a task, as the search is told it. */
int engine_read_objective(struct engine *engine, const struct engine_experiment *experiment, int64_t task,
			  const struct spec_objective *objective, double *ret) MUST_USE;

#endif
