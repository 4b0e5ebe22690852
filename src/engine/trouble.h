/* Reasons why the daemon cannot write: a full disk or quota, a state folder that became read-only, a database that
 * cannot be written. Every command and every page shows the reason until it has passed. */
#ifndef ENGINE_TROUBLE_H
#define ENGINE_TROUBLE_H

#include "base/error.h"

struct engine;

/* A write failed. Listeners are notified if this is new. */
void engine_trouble_begin(struct engine *engine, const struct error *why);
/* Something was written. */
void engine_trouble_end(struct engine *engine);
/* Tries to write to the state folder, at most every TROUBLE_LOOK_MS: runners that wait for disk space write nothing, so
 * the daemon would not notice by itself. */
void engine_look_for_trouble(struct engine *engine);

#endif
