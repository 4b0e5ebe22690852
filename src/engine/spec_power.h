/* The key power of the experiment file: a limit for the power of a task's GPUs. */
#ifndef ENGINE_SPEC_POWER_H
#define ENGINE_SPEC_POWER_H

#include "engine/spec.h"

/* {limit: 300W} or {cap: auto}; sets spec->power_limit. */
void spec_power_read(struct spec *spec, const struct node *node, struct problems *problems);

#endif
