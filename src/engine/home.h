/* Is this state folder a copy of another one? The tasks that ran when it was copied belong to the original: the copy
 * must neither continue nor end them, and treats them as lost. A folder that was moved keeps its tasks.
 *
 * The file `home` has a random id and the folder's path. In a copy, it names the path of the original, where `home` has
 * the same id. Then the copy gets a new id, and its file records the last attempt that belongs to the original. */
#ifndef ENGINE_HOME_H
#define ENGINE_HOME_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct engine;

/* Reads and updates `home`, before anything is loaded. Fails when this is a copy and that cannot be recorded. */
int engine_find_home(struct engine *engine, struct error *err) MUST_USE;
/* Does the attempt with this id belong to the folder that this one was copied from? */
bool engine_is_foreign(const struct engine *engine, int64_t attempt);

#endif
