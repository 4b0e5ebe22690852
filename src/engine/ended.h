/* What remains to be done about attempts that have ended: the journal ends an attempt at once, the backend is later.
 *
 * - Figures that only the cluster's accounting knows (the energy) come seconds later. They are asked for a minute long.
 * - A job that the backend still has long after the END record holds its nodes for nothing: a runner that hangs on a dead
 *   file system, a command after it in the user's own batch script. It is cancelled.
 *
 * Nothing here needs to survive a crash: the store shows what ended lately. */
#ifndef ENGINE_ENDED_H
#define ENGINE_ENDED_H

#include "backend/backend.h"

#include "base/token.h"

struct engine;
struct engine_backend;
struct engine_live;

/* An attempt that has ended. All times are monotonic. */
struct engine_ended {
	struct engine_backend *backend;
	int64_t experiment, number, attempt, task;
	char token[TOKEN_ID_CHARS];
	uint32_t index;
	char *job, *batch_dir;
	int64_t submitted_ms;
	int64_t figures_until_ms; /* 0: none are waited for */
	int64_t linger_ms; /* when to look whether its job is still there; 0: it has gone */
	int64_t linger_until_ms; /* then it is given up */
	bool cancel; /* its job is to be cancelled */
};

/* Called when an attempt ends; remembers it where something remains to be done. */
void engine_ended_add(struct engine *engine, const struct engine_live *live);
/* From the store; 0 or a negative errno. */
int engine_ended_load(struct engine *engine) MUST_USE;
void engine_ended_unload(struct engine *engine);
/* Adds what this backend is to be asked about now to a watch list with room for all of it; how many. */
size_t engine_ended_watch(struct engine_backend *backend, struct backend_watch *watch);
/* Adds the jobs that are to be cancelled now, each once; how many. */
size_t engine_ended_cancel(struct engine_backend *backend, struct backend_watch *watch);
/* Is this backend to be asked about something now? */
bool engine_ended_any(const struct engine_backend *backend);
/* How long until the next look at a job that may be left; 0: there is none. */
int64_t engine_ended_wait_ms(const struct engine *engine);
/* What a backend saw of an attempt that is not alive; inside the transaction. */
int engine_ended_observe(struct engine *engine, const struct backend_observation *observed) MUST_USE;

#endif
