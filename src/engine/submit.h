/* Submits tasks to a backend, exactly once. */
#ifndef ENGINE_SUBMIT_H
#define ENGINE_SUBMIT_H

#include "backend/backend.h"

#include "base/token.h"

struct engine;
struct engine_experiment;

/* A submission that is committed but not yet given to the backend. */
struct engine_submission {
	char token[TOKEN_ID_CHARS];
	struct engine_experiment *experiment; /* lives as long as an attempt of the token does */
	bool again;
	int64_t not_before_ms; /* when to try again after a failed submission; monotonic */
	uint32_t described; /* the descriptors of indices below this one are written */
	bool describing; /* there are more to write */
};

/* Makes batches of waiting tasks; inside the transaction. 0 or a negative errno. */
int engine_prepare(struct engine *engine) MUST_USE;
/* Gives the prepared batches to the backends; after the commit. */
void engine_submit(struct engine *engine);
/* Handles a backend's answer to a submission; inside the transaction. */
int engine_take_submitted(struct engine *engine, const char *token,
			  const struct backend_submit_result *result) MUST_USE;

#endif
