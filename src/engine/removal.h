/* Removes experiments: their rows in small steps, their folders on libuv's pool. */
#ifndef ENGINE_REMOVAL_H
#define ENGINE_REMOVAL_H

struct engine;

/* Continues the removal of every experiment that is being removed and has no live attempt; after the commit. */
void engine_remove_gone(struct engine *engine);
/* Removes folders that an interrupted daemon left behind: of removed experiments, and of experiments that were not
 * completely created. */
void engine_remove_leftovers(struct engine *engine);

#endif
