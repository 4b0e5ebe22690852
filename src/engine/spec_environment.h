/* The key environment of the experiment file: Python, modules, variables and setup lines. */
#ifndef ENGINE_SPEC_ENVIRONMENT_H
#define ENGINE_SPEC_ENVIRONMENT_H

#include "engine/spec.h"

void spec_environment_read(struct spec *spec, const struct node *node, struct problems *problems);

#endif
