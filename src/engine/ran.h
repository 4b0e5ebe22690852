/* What an attempt ran, out of the file that its runner wrote, into the store. */
#ifndef ENGINE_RAN_H
#define ENGINE_RAN_H

#include "engine/engine.h"

struct engine_live;

/* A file that cannot be read is logged, and the digest kept: the next attempt that ran the same brings it. */
int engine_take_ran(struct engine *engine, const struct engine_live *live, const char *digest) MUST_USE;

#endif
