/* Shows the user when the journal of a task stops growing, before anything is decided about it (decide.h). */
#ifndef ENGINE_SILENCE_H
#define ENGINE_SILENCE_H

#include "base/mem.h"

#include <stdbool.h>

struct engine;

/* Updates the task's reason when a silence begins and when it ends. Part of the turn: 0 or a negative errno. */
int engine_note_silence(struct engine *engine) MUST_USE;
/* True if this reason of a task was written here; false for NULL. */
bool engine_is_silence(const char *reason);

#endif
