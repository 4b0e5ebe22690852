/* Results that an experiment has already: importing the same file again must not count them twice. */
#ifndef ENGINE_TWICE_H
#define ENGINE_TWICE_H

#include "base/mem.h"

#include <stdbool.h>

struct engine;
struct engine_experiment;

struct twice_result {
	char *key; /* of its parameters and its value */
	int64_t asked; /* of a task that was removed: the search still knows it by this number; 0: its task is there */
};

/* {0} is empty. Free with twice_free. */
struct twice {
	VEC(struct twice_result) results; /* sorted */
};

/* Reads the tasks that are there now, and the added ones that were removed; 0 or a negative errno. */
int twice_read(struct twice *twice, struct engine *engine, const struct engine_experiment *experiment) MUST_USE;
/* Is there a result with these parameters (JSON, as a task has them) and this value of the first objective? ret_asked: 0, or
 * the number of one whose task was removed, which is given once. */
bool twice_take(struct twice *twice, const char *parameters, double value, int64_t *ret_asked);
void twice_free(struct twice *twice);

#endif
