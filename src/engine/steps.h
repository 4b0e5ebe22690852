/* What the steps of a task and of an experiment count: epochs, steps, or rows. */
#ifndef ENGINE_STEPS_H
#define ENGINE_STEPS_H

#include "journal/journal.h"

struct engine;
struct engine_live;

/* Stores the name of the row's steps, of the task and of its experiment, where the row has the objective; inside a
 * transaction. */
int engine_name_steps(struct engine *engine, struct engine_live *live, const struct journal_record *row) MUST_USE;

#endif
