/* The best task of an experiment. */
#ifndef ENGINE_BEST_H
#define ENGINE_BEST_H

#include "base/mem.h"

struct engine;
struct engine_experiment;

/* Finds it again and stores it, with the values of all objectives and what its repeats say; inside a transaction. */
int engine_update_best(struct engine *engine, struct engine_experiment *experiment) MUST_USE;

#endif
