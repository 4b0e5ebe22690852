/* Very short tasks are handed to the backend before a slot is free, so that none waits for a turn of the engine. Only while
 * their experiment has the backend for itself and no limit of its own, because what the backend has is no longer in our hand. */
#ifndef ENGINE_AHEAD_H
#define ENGINE_AHEAD_H

#include "store/store.h"

struct engine;
struct engine_experiment;
struct engine_live;

/* An attempt has ended in this state. */
void engine_ahead_ended(const struct engine_live *live, enum store_state state);
/* Decides how many tasks of the experiment may wait in its backend. */
void engine_ahead_choose(const struct engine *engine, struct engine_experiment *e);

#endif
