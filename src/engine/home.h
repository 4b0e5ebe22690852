/* Is this state folder a copy of another one? The tasks that ran when it was copied belong to the original: a copy must
 * neither take them up nor end them; for it they are lost. A folder that was moved keeps its tasks.
 *
 * The file `home` has a random id and the folder's path. In a copy it names the original, which has the same id; then the
 * copy gets an id of its own, and the file says up to which attempt everything is the original's. */
#ifndef ENGINE_HOME_H
#define ENGINE_HOME_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct engine;

/* Reads and updates `home`, before anything is loaded. Fails when a copy cannot write down that it is one. */
int engine_find_home(struct engine *engine, struct error *err) MUST_USE;
/* Does the attempt with this id belong to the folder that this one was copied from? */
bool engine_is_foreign(const struct engine *engine, int64_t attempt);

#endif
