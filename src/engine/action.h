/* Stops an experiment when the engine itself decides to. The actions that a user can ask for are in engine.h. */
#ifndef ENGINE_ACTION_H
#define ENGINE_ACTION_H

#include "base/mem.h"
#include "store/rows.h"

struct engine;
struct engine_experiment;

/* Stops the whole experiment; inside the transaction. Does nothing if it has ended or is being removed. */
int engine_stop_within(struct engine *engine, struct engine_experiment *experiment, enum store_stop why) MUST_USE;
/* The same because this task met `stop: {when}`: it runs on to its end, and the others are stopped. */
int engine_stop_met(struct engine *engine, struct engine_experiment *experiment, int64_t task) MUST_USE;
/* Stops that task too. */
int engine_end_met(struct engine *engine, struct engine_experiment *experiment) MUST_USE;
/* Its search may go on where it was stopped; inside the transaction. */
int engine_end_stop(struct engine *engine, struct engine_experiment *experiment) MUST_USE;
/* The reason that a stopped task shows. */
const char *engine_stop_why(struct engine *engine, const struct engine_experiment *experiment, int64_t task);

#endif
