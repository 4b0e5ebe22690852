/* Ranks existing results by another objective: the tasks, and the results that the search was told. */
#ifndef ENGINE_RANK_H
#define ENGINE_RANK_H

#include "base/mem.h"

struct engine;
struct engine_experiment;

/* Stores the objective of the specification, and removes the warning that none is set; inside a transaction. */
int engine_write_objective(struct engine *engine, const struct engine_experiment *experiment) MUST_USE;
/* Call it inside the transaction, after the specification has its new objective. The caller then replays the search. */
int engine_rank_again(struct engine *engine, struct engine_experiment *experiment) MUST_USE;
/* All values of a task that has ended are there (the energy comes late, from accounting), or will not come: ranks the task
 * and tells the search, which takes a value in the place of a failure that it was told before. Nothing is replayed. Inside
 * the transaction. Nothing happens while the task runs: it is ranked at its end. */
int engine_rank_late(struct engine *engine, struct engine_experiment *experiment, int64_t number) MUST_USE;

#endif
