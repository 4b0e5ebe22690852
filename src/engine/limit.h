/* Limits on metrics (`at_most`, `at_least` of an objective): a task beyond one is never the best, nor on the front. */
#ifndef ENGINE_LIMIT_H
#define ENGINE_LIMIT_H

#include "base/mem.h"

#include <stdint.h>

struct engine;
struct engine_experiment;
struct spec;

/* How many values a tell of the search has: one for each objective, then one for each limit. */
size_t engine_count_told(const struct spec *spec);
/* Reads them for a task, as reported; NAN where there is none. */
int engine_read_told(struct engine *engine, const struct engine_experiment *experiment, int64_t task,
		     double *ret) MUST_USE;
/* Compares a task with all limits as its metrics stand, and stores the first one that it does not keep, in words. A value
 * that is not known does not keep a limit. Nothing happens without limits. Inside the transaction. */
int engine_judge(struct engine *engine, const struct engine_experiment *experiment, int64_t task) MUST_USE;

#endif
