/* Is this state folder a copy of another one? The tasks that ran when it was copied belong to the original: a copy must
 * neither take them up nor end them. The file `home` says for which folder the state was made. A folder that was moved
 * keeps its tasks. */
#ifndef ENGINE_HOME_H
#define ENGINE_HOME_H

#include <stdbool.h>

struct engine;
struct engine_live;

/* Finds out, before anything is loaded. */
void engine_find_home(struct engine *engine);
/* Does it belong to the folder that this one was copied from? */
bool engine_is_foreign(const struct engine *engine, const struct engine_live *live);
/* After the first load, and after every turn: once nothing foreign is left, this folder is its own home. */
void engine_settle_home(struct engine *engine);

#endif
