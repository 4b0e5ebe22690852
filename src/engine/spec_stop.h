/* The key stop of the experiment file: when an experiment ends early. */
#ifndef ENGINE_SPEC_STOP_H
#define ENGINE_SPEC_STOP_H

#include "engine/spec.h"

void spec_stop_read(struct spec *spec, const struct node *node, struct problems *problems);

#endif
