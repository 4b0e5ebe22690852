/* What keeps the daemon from recording anything: a full disk or quota, a state folder that became read-only, a database
 * that cannot be written. Shown by every command and on every page until it has passed. */
#ifndef ENGINE_TROUBLE_H
#define ENGINE_TROUBLE_H

#include "base/error.h"

struct engine;

/* A write failed. Listeners hear of it when it is news. */
void engine_trouble_begin(struct engine *engine, const struct error *why);
/* Something was written. */
void engine_trouble_end(struct engine *engine);
/* Tries to write to the state folder, at most every TROUBLE_LOOK_MS: runners that wait for room write nothing, so the
 * daemon has nothing to write either. */
void engine_look_for_trouble(struct engine *engine);

#endif
