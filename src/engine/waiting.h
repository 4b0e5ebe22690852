/* Explains why the waiting tasks of an experiment wait. */
#ifndef ENGINE_WAITING_H
#define ENGINE_WAITING_H

#include "base/mem.h"

struct engine;
struct engine_experiment;

/* Stores one text for all of them in the experiment's row; inside the transaction. 0 or a negative errno. */
int engine_note_waiting(struct engine *engine) MUST_USE;

/* What is said of a paused experiment begins so. */
#define WAITING_PAUSED "paused: "
/* Why tasks of it are not with the backend, as it is now. NULL: not known. The caller frees it. */
char *engine_say_waiting(const struct engine_experiment *e);

#endif
