/* Warns about settings that are allowed in an experiment but probably not intended. */
#ifndef ENGINE_WARNINGS_H
#define ENGINE_WARNINGS_H

#include "engine/spec.h"

/* Adds a text for each such setting to the open list. */
void warnings_add(const struct spec *spec, struct json *out);

#endif
