/* Figures that come after the end. */
#ifndef ENGINE_OWED_H
#define ENGINE_OWED_H

#include "backend/backend.h"

#include "base/token.h"

struct engine;
struct engine_backend;
struct engine_live;

/* An attempt that has ended, and whose energy the accounting will tell. */
struct engine_owed {
	struct engine_backend *backend;
	int64_t experiment, number, attempt, task;
	char token[TOKEN_ID_CHARS];
	uint32_t index;
	char *job, *batch_dir;
	int64_t submitted_ms;
	int64_t until_ms; /* monotonic */
};

void engine_owe(struct engine *engine, const struct engine_live *live);
int engine_owed_load(struct engine *engine) MUST_USE;
void engine_owed_unload(struct engine *engine);
/* Adds what is owed by this backend to a watch list with room for all of it; how many. */
size_t engine_owed_watch(struct engine_backend *backend, struct backend_watch *watch);
bool engine_owed_any(const struct engine_backend *backend);
int engine_owed_sight(struct engine *engine, const struct backend_sight *sight) MUST_USE;

#endif
