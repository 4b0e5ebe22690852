/* Processes of the user's own that take tasks, and how their end is noticed. */
#ifndef ENGINE_WORKER_H
#define ENGINE_WORKER_H

#include "engine/engine.h"

struct engine_experiment;

/* It claims so many tasks more, or fewer; also by asking for one. */
void engine_worker_claims(struct engine_experiment *e, const struct engine_worker *worker, int64_t tasks);
/* All claims of the experiment were dropped. */
void engine_workers_drop_claims(struct engine_experiment *e);
/* Ends the tasks of workers that are gone, and gives back what they had claimed. Part of a turn. */
int engine_look_at_workers(struct engine *engine) MUST_USE;

#endif
