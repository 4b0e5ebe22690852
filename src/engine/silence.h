/* Shows the user when the journal of a task stops growing, before anything is decided about it (decide.h). */
#ifndef ENGINE_SILENCE_H
#define ENGINE_SILENCE_H

#include "base/mem.h"

struct engine;

/* Stores it and updates the task's reason when a silence begins and when it ends. Part of the turn: 0 or a negative errno. */
int engine_note_silence(struct engine *engine) MUST_USE;

#endif
