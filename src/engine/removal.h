/* Removes experiments, and single tasks: their rows in small steps, their folders on libuv's pool. */
#ifndef ENGINE_REMOVAL_H
#define ENGINE_REMOVAL_H

#include "base/error.h"

struct engine;

/* Continues the removal of every experiment that is being removed and has no live attempt; after the commit. */
void engine_remove_gone(struct engine *engine);
/* Removes folders that an interrupted daemon left behind: of removed experiments, and of experiments that were not
 * completely created. */
void engine_remove_leftovers(struct engine *engine);
/* Removes tasks that are marked for it, and rows of removed tasks, for some milliseconds; inside the transaction. 0 or a
 * negative errno. */
int engine_remove_marked(struct engine *engine) MUST_USE;

#endif
