/* The backends of an engine: which there are, which one an experiment gets, and how many of its tasks may run there. */
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
	int64_t look_ms; /* not available: when to look for it again; monotonic */
	uv_timer_t timer;
	bool polling, expecting, cancelling;
	uint64_t polls; /* how often it was asked what it sees */
	char *cancel_why; /* why the last call to end attempts failed; NULL: it did not */
	bool given; /* a batch was prepared for it in this turn */
	bool adopted; /* it has seen what was alive when the engine opened; until then it cannot know its free room */
	int64_t polled_ms, answered_ms; /* when it was asked last, and when it last answered; monotonic */
	int64_t retell_ms; /* when to tell it the parallel limits again, monotonic; 0 */
};

/* Opens every backend that the configuration names; one that is not available keeps the reason. */
void engine_open_backends(struct engine *engine, const struct engine_config *config);
/* Tries those again that are not available: a module may have been loaded, a configuration written, a folder mounted. Not
 * more often than every ENGINE_LOOK_AGAIN_MS, and where a look takes long (a slow name server) for a hundredth of the
 * time at most. */
void engine_look_again(struct engine *engine);
/* Close lets go of what they hold of the loop; free comes after the loop has run. */
void engine_close_backends(struct engine *engine);
void engine_free_backends(struct engine *engine);
struct engine_backend *engine_backend_named(struct engine *engine, const char *name);
/* The named backend. For "auto": the one that alone understands a key of the resources (NULL: none are given), else the
 * preferred one that is available. NULL with err when it is not available; ret_key (or NULL) is set to the key that
 * asked for it, and untouched where none did. */
struct engine_backend *engine_choose_backend(struct engine *engine, const char *name,
					     const struct backend_resources *resources, const char **ret_key,
					     struct error *err);
/* Tells the backends the parallel limits that changed; after the commit. */
void engine_tell_parallel(struct engine *engine);

#endif
