/* Results that an experiment has already: importing the same file again must not count them twice. */
#ifndef ENGINE_TWICE_H
#define ENGINE_TWICE_H

#include "base/mem.h"

#include <stdbool.h>

struct engine;
struct engine_experiment;

/* {0} is empty. Free with twice_free. */
struct twice {
	VEC(char *) keys; /* sorted */
};

/* Reads the tasks that are there now; 0 or a negative errno. */
int twice_read(struct twice *twice, struct engine *engine, const struct engine_experiment *experiment) MUST_USE;
/* Is there a task with these parameters (JSON, as a task has them) and this value of the first objective? */
bool twice_has(const struct twice *twice, const char *parameters, double value);
void twice_free(struct twice *twice);

#endif
