/* How long an experiment may take. */
#ifndef ENGINE_ESTIMATE_H
#define ENGINE_ESTIMATE_H

#include "base/json.h"

struct engine;
struct engine_backend;
struct spec;

/* The "estimate" of POST /check; null where nothing is known. */
void engine_write_estimate(struct engine *engine, const struct engine_backend *backend, const struct spec *spec,
			   const char *text, struct json *out);

#endif
