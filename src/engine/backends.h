/* The backends of an engine: which ones exist, which one an experiment uses, and how many of its tasks may run
 * there. */
#ifndef ENGINE_BACKENDS_H
#define ENGINE_BACKENDS_H

#include "backend/backend.h"

struct engine;
struct engine_config;

struct engine_backend {
	struct engine *engine;
	struct backend *backend; /* NULL: not available here */
	const struct backend_ops *ops;
	char *why_not;
	int64_t look_ms; /* if not available: when to try to open it again; monotonic */
	uv_timer_t timer;
	bool polling, expecting, cancelling;
	uint64_t polls; /* number of polls so far */
	char *cancel_why; /* why the last cancel call failed; NULL: it did not fail */
	bool given; /* a batch was prepared for it in this turn */
	bool adopted; /* it has seen the attempts of the last daemon; before that, its free room is unknown */
	int64_t polled_ms, answered_ms; /* when it was asked last, and when it last answered; monotonic */
	int64_t retell_ms; /* when to send it the parallel limits again, monotonic; 0: never */
};

/* Opens every backend that the configuration names. A backend that is not available gets why_not. */
void engine_open_backends(struct engine *engine, const struct engine_config *config);
/* Tries again to open the backends that are not available: a module may have been loaded, a configuration written, or a
 * folder mounted since. It tries at most once every ENGINE_LOOK_AGAIN_MS. If a try is slow (a slow name server), tries
 * take at most one percent of the time. */
void engine_look_again(struct engine *engine);
/* engine_close_backends closes their loop handles. Call engine_free_backends after the loop has run once more. */
void engine_close_backends(struct engine *engine);
void engine_free_backends(struct engine *engine);
struct engine_backend *engine_backend_named(struct engine *engine, const char *name);
/* The named backend. For "auto": if the resources (may be NULL) have a key that only one backend understands, that
 * backend; else the available backend with the highest preference. Returns NULL with err when it is not available.
 * ret_key (may be NULL) is set to the key that decided, and is left unchanged if no key did. */
struct engine_backend *engine_choose_backend(struct engine *engine, const char *name,
					     const struct backend_resources *resources, const char **ret_key,
					     struct error *err);
/* Sends changed parallel limits to the backends; after the commit. */
void engine_tell_parallel(struct engine *engine);

#endif
