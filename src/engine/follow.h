/* Polls the backends, and tells them which attempts to end. */
#ifndef ENGINE_FOLLOW_H
#define ENGINE_FOLLOW_H

#include "backend/backend.h"

struct engine;
struct engine_backend;
struct engine_live;

/* Polls every backend that has live attempts, when its next poll is due. */
void engine_follow(struct engine *engine);
/* Makes the next poll of this backend come soon. */
void engine_poll_soon(struct engine_backend *backend);
/* Sends requests to stop to the backends. Repeats those that had no effect. */
void engine_cancel(struct engine *engine);
/* Handles what a backend saw of one attempt; inside the transaction. */
int engine_take_observation(struct engine *engine, const struct backend_observation *observed) MUST_USE;
/* Stores why a submitted task waits and when it is expected to start (0: not known), if either has changed. */
int engine_tell_waiting(struct engine *engine, struct engine_live *live, const char *reason,
			int64_t expected_start_ms) MUST_USE;

#endif
