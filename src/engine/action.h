/* Stopping an experiment from within; what a user can ask for is in engine.h. */
#ifndef ENGINE_ACTION_H
#define ENGINE_ACTION_H

#include "base/mem.h"

struct engine;
struct engine_experiment;

/* Stops the whole experiment; inside the transaction. Harmless where it has ended or is being removed. */
int engine_stop_within(struct engine *engine, struct engine_experiment *experiment) MUST_USE;
/* What a stopped task says. Not kept across a restart of the daemon. */
const char *engine_stop_why(const struct engine_experiment *experiment);

#endif
