/* A task that ended without its objective: what was found instead, and what may have been meant. */
#ifndef ENGINE_MISSING_H
#define ENGINE_MISSING_H

#include "base/mem.h"

#include <stdbool.h>
#include <stdint.h>

struct engine;
struct engine_experiment;
struct engine_live;

/* The first words of the warning, for people and to find it again. */
#define MISSING_WORDS "no value for the objective: "

/* The sentence, or NULL where every objective has a value; the caller frees it. ret_never: no task has ever had it. */
int missing_find(struct engine *engine, const struct engine_live *live, char **ret, bool *ret_never) MUST_USE;
/* The name in the experiment that may be meant by `name`; NULL. The caller frees it. ret_list: all names, for people;
 * the caller frees it. */
int missing_name(struct engine *engine, const struct engine_experiment *e, int64_t task, const char *name,
		 char **ret_list, char **ret_meant, bool *ret_there) MUST_USE;

#endif
