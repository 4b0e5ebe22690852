/* What the backends see, and what they are told to end. */
#ifndef ENGINE_FOLLOW_H
#define ENGINE_FOLLOW_H

#include "backend/backend.h"

struct engine;
struct engine_backend;
struct engine_live;

/* Asks every backend that has something alive, when it is due. */
void engine_follow(struct engine *engine);
/* Makes the next poll of this backend come soon. */
void engine_poll_soon(struct engine_backend *backend);
/* Carries out the requests to stop, again where they had no effect. */
void engine_cancel(struct engine *engine);
/* What a backend saw of one attempt; inside the transaction. */
int engine_take_observation(struct engine *engine, const struct backend_observation *observed) MUST_USE;
/* Why a submitted task waits, and when it is expected to start (0: not known); stored only where it changed. */
int engine_tell_waiting(struct engine *engine, struct engine_live *live, const char *reason,
			int64_t expected_start_ms) MUST_USE;

#endif
