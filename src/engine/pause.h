/* Pauses an experiment: it starts no more tasks until a user looks at it, because its tasks fail one after the other,
 * or because its search gets no results. Running tasks continue; queued tasks are withdrawn. */
#ifndef ENGINE_PAUSE_H
#define ENGINE_PAUSE_H

#include "base/cause.h"

#include <stdint.h>

struct engine;
struct engine_experiment;
struct engine_live;

/* All inside the transaction. A task has failed and is not retried; `words` say why. */
int engine_pause_note_failure(struct engine *engine, struct engine_live *live, enum cause kind,
			      const char *words) MUST_USE;
/* A task has finished: its objective may be missing. */
int engine_pause_note_success(struct engine *engine, struct engine_live *live) MUST_USE;
/* Ends the pause; does nothing if the experiment is not paused. */
int engine_pause_end(struct engine *engine, struct engine_experiment *experiment) MUST_USE;

#endif
