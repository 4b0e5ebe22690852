/* Shows that a task makes no progress, as its runner found out (node/watch.h). */
#ifndef ENGINE_STALLED_H
#define ENGINE_STALLED_H

#include "journal/journal.h"

struct engine;
struct engine_live;

/* A note of the runner about it: stores it, sets or clears the reason of the task, and tells the user. Part of the turn. */
int engine_take_stall(struct engine *engine, struct engine_live *live, const struct journal_record *note) MUST_USE;

#endif
