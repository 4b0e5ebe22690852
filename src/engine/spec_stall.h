/* The key stall of the experiment file: when a task counts as one that makes no progress, and what happens then. */
#ifndef ENGINE_SPEC_STALL_H
#define ENGINE_SPEC_STALL_H

#include "engine/spec.h"

/* {after: 3x, do: warn}; `after` is also a time, and `do` also restart or stop. Sets spec->stall. */
void spec_stall_read(struct spec *spec, const struct node *node, struct problems *problems);

#endif
