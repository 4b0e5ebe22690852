/* Runners whose journal does not grow: the task says so, before anything is decided about it (decide.h). */
#ifndef ENGINE_SILENCE_H
#define ENGINE_SILENCE_H

#include "base/mem.h"

#include <stdbool.h>

struct engine;

/* Says so where a silence begins, and where it ends. Part of the turn: 0 or a negative errno. */
int engine_note_silence(struct engine *engine) MUST_USE;
/* Is this reason of a task one of ours? NULL is not. */
bool engine_is_silence(const char *reason);

#endif
