/* What an experiment should ask for next time (model/advice.h), from what its tasks used. */
#ifndef ENGINE_ADVICE_H
#define ENGINE_ADVICE_H

#include "base/json.h"

#include <stdint.h>

struct engine;

/* Writes {"tasks": N, "items": [{"text", "key", "value"}]}. -ENOENT: there is no such experiment. */
int engine_write_advice(struct engine *engine, int64_t experiment, struct json *out) MUST_USE;

#endif
