/* Ranking what is there by another objective: the tasks, and what the search was told of them. */
#ifndef ENGINE_RANK_H
#define ENGINE_RANK_H

#include "base/mem.h"

struct engine;
struct engine_experiment;

/* Writes the objective of the specification, and takes the warning away that none is set; inside a transaction. */
int engine_write_objective(struct engine *engine, const struct engine_experiment *experiment) MUST_USE;
/* After the specification has got its new objective, inside the transaction; the caller replays the search. */
int engine_rank_again(struct engine *engine, struct engine_experiment *experiment) MUST_USE;

#endif
