/* Ranking what is there by another objective: the tasks, and what the search was told of them. */
#ifndef ENGINE_RANK_H
#define ENGINE_RANK_H

#include "base/mem.h"

struct engine;
struct engine_experiment;

/* After the specification has got its new objective, inside the transaction; the caller replays the search. */
int engine_rank_again(struct engine *engine, struct engine_experiment *experiment) MUST_USE;

#endif
