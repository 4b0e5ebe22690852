/* For a task that ended without a value for its objective: which metrics were found, and which one the user may have
 * meant. */
#ifndef ENGINE_MISSING_H
#define ENGINE_MISSING_H

#include "base/mem.h"

#include <stdbool.h>
#include <stdint.h>

struct engine;
struct engine_live;

/* The warning, or NULL if every objective has a value; the caller frees it. ret_never: no task has had a value so
 * far. */
int missing_find(struct engine *engine, const struct engine_live *live, char **ret, bool *ret_never) MUST_USE;
/* ret_meant: the name of a metric that may be meant by `name`, or NULL. ret_list: the names of the metrics, as a text
 * for the user. The caller frees both. ret_there: `name` itself exists. */
int missing_name(struct engine *engine, int64_t experiment, int64_t task, const char *name, char **ret_list,
		 char **ret_meant, bool *ret_there) MUST_USE;

#endif
