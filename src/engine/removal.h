/* Removing experiments: their rows some at a time, their folders on libuv's pool. */
#ifndef ENGINE_REMOVAL_H
#define ENGINE_REMOVAL_H

struct engine;

/* Carries on with every experiment that is being removed and of which nothing is alive; after the commit. */
void engine_remove_gone(struct engine *engine);
/* Folders of removed experiments, and of some that were not made whole, that a stop left behind. */
void engine_remove_leftovers(struct engine *engine);

#endif
