/* Work that is left after an attempt has ended. The journal ends an attempt at once; the backend is slower.
 *
 * - Figures that only the cluster's accounting knows (the energy) come seconds later. The engine asks for them for one
 *   minute.
 * - A job that the backend still has long after the END record blocks its nodes without need. The cause can be a runner
 *   that hangs on a dead file system, or a command after the runner in the user's batch script. The engine cancels it.
 *
 * This list does not need to survive a crash: it is made again from the attempts in the store that ended recently. */
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
	int64_t figures_until_ms; /* 0: it does not wait for figures */
	int64_t linger_ms; /* when to check whether its job still exists; 0: the job is gone */
	int64_t linger_until_ms; /* when to stop checking */
	bool cancel; /* its job is to be cancelled */
};

/* Call this when an attempt ends. It remembers the attempt if work is left. */
void engine_ended_add(struct engine *engine, const struct engine_live *live);
/* Fills the list from the store. 0 or a negative errno. */
int engine_ended_load(struct engine *engine) MUST_USE;
void engine_ended_unload(struct engine *engine);
/* A task that was removed needs no figures any more. */
void engine_ended_forget(struct engine *engine, int64_t task);
/* Adds the attempts to ask this backend about now to `watch`, which must have room for all of them. Returns how
 * many. */
size_t engine_ended_watch(struct engine_backend *backend, struct backend_watch *watch);
/* Adds the jobs to cancel now to `watch`, each once. Returns how many. */
size_t engine_ended_cancel(struct engine_backend *backend, struct backend_watch *watch);
/* Is there anything to ask this backend about now? */
bool engine_ended_any(const struct engine_backend *backend);
/* The time until the next check of a job that may still exist; 0: there is none. */
int64_t engine_ended_wait_ms(const struct engine *engine);
/* Handles an observation of an attempt that has ended; inside the transaction. */
int engine_ended_observe(struct engine *engine, const struct backend_observation *observed) MUST_USE;

#endif
