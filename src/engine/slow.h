/* Finds running tasks that are much slower than finished tasks of the same experiment (model/straggler.h), and shows
 * them: as the reason of the task, in its timeline, as a notice, and in the list of the experiment. */
#ifndef ENGINE_SLOW_H
#define ENGINE_SLOW_H

#include "base/json.h"

#include <stdint.h>

struct engine;
struct engine_live;

/* A part of the engine's turn. 0 or a negative errno. */
int engine_note_slow(struct engine *engine) MUST_USE;
/* The reason of a running task: it makes no progress, or it is slow; NULL: neither. */
const char *engine_running_reason(const struct engine_live *live);
/* Writes the member "slow" of an experiment: its slow tasks, with the evidence. */
void engine_write_slow(const struct engine *engine, int64_t experiment, struct json *out);

#endif
