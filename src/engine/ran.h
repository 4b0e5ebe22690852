/* Stores what an attempt ran (its program and environment), from the file that its runner wrote. */
#ifndef ENGINE_RAN_H
#define ENGINE_RAN_H

#include "engine/engine.h"

struct engine_live;

/* If the file cannot be read, logs that and keeps the digest; the next attempt with the same digest supplies the
 * content. */
int engine_take_ran(struct engine *engine, const struct engine_live *live, const char *digest) MUST_USE;

#endif
