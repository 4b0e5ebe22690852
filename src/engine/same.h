/* Tasks with different parameters and exactly one value of the objective: mostly a script that does not use them. */
#ifndef ENGINE_SAME_H
#define ENGINE_SAME_H

#include "engine/live.h"

/* After a task ended well: sets, renews or removes the warning of its experiment. Inside a transaction. */
int engine_warn_same(struct engine *engine, struct engine_live *live) MUST_USE;

#endif
