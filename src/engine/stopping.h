/* Stops that a backend has not confirmed yet. A request to stop is in the store at once; a job in a queue may still
 * start until the cluster has the request. Until then the tasks say so, and a daemon that shuts down waits for it. */
#ifndef ENGINE_STOPPING_H
#define ENGINE_STOPPING_H

#include "base/mem.h"

#include <stdbool.h>
#include <stdint.h>

struct engine;
struct engine_backend;
struct engine_experiment;

/* The backend answered a call to end attempts: rc 0, or a negative errno with the reason. */
void engine_stops_answered(struct engine_backend *backend, int rc, const char *why);
/* Updates the reasons of tasks that are being stopped; inside the transaction. */
int engine_note_stops(struct engine *engine) MUST_USE;
/* In words, for the experiment's note; NULL when there are none. The caller frees it. */
char *engine_explain_stops(struct engine *engine, const struct engine_experiment *experiment);

#endif
