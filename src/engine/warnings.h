/* Warns about settings that are allowed in an experiment but probably not intended. */
#ifndef ENGINE_WARNINGS_H
#define ENGINE_WARNINGS_H

#include "engine/spec.h"

/* A text for each such setting. kind: STORE_WARNS_SETTING or STORE_WARNS_UNSET of store/rows.h. */
typedef void (*warnings_f)(struct json *out, const char *kind, const char *text);
void warnings_each(const struct spec *spec, warnings_f each, struct json *out);

#endif
