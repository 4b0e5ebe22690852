/* Handing tasks to a backend, exactly once. */
#ifndef ENGINE_SUBMIT_H
#define ENGINE_SUBMIT_H

#include "backend/backend.h"

#include "base/token.h"

struct engine;
struct engine_experiment;

/* A submission that was committed and is to be handed over. */
struct engine_submission {
	char token[TOKEN_ID_CHARS];
	struct engine_experiment *experiment; /* lives as long as an attempt of the token does */
	bool again;
	int64_t not_before_ms; /* back-off after it could not be submitted; monotonic */
	uint32_t described; /* the descriptors of indices below this one are written */
	bool describing; /* and there are more */
};

/* Makes batches of what waits; inside the transaction. 0 or a negative errno. */
int engine_prepare(struct engine *engine) MUST_USE;
/* Hands over what was prepared; after the commit. */
void engine_submit(struct engine *engine);
/* A backend's answer to a submission; inside the transaction. */
int engine_take_submitted(struct engine *engine, const char *token,
			  const struct backend_submit_result *result) MUST_USE;

#endif
