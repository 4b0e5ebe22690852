/* Carries out what unstarted.h decides: which nodes an experiment avoids, and how many of its tasks are tried while
 * none can start. The facts come from the attempts in the store, so they are the same after a restart. */
#ifndef ENGINE_HOLD_H
#define ENGINE_HOLD_H

#include "engine/engine.h"

struct engine_experiment;
struct engine_live;

/* An attempt ended before its script began; text says why. */
int engine_note_unstarted(struct engine *engine, const struct engine_live *live, const char *text) MUST_USE;
/* A script began on a node. */
int engine_note_started(struct engine *engine, struct engine_experiment *experiment, const char *node) MUST_USE;
/* Updates the warning about avoided nodes, also when a node is used again because its time has passed. */
int engine_hold_show(struct engine *engine, struct engine_experiment *experiment) MUST_USE;
/* How many of `room` tasks may be submitted now. */
int64_t engine_hold_room(const struct engine_experiment *experiment, int64_t room);
/* The backend refused a submission that avoided nodes, maybe for that reason: from now on no node is avoided. Returns
 * false if no node was avoided. */
bool engine_hold_refused(struct engine *engine, struct engine_experiment *experiment, int *ret_rc);
/* A user asked to try all tasks again: forgets the failures. */
int engine_hold_forget(struct engine *engine, struct engine_experiment *experiment) MUST_USE;
/* Counts again from the attempts in the store. */
int engine_hold_load(struct engine *engine, struct engine_experiment *experiment) MUST_USE;

#endif
