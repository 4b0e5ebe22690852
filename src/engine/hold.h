/* Carries out what unstarted.h decides: the nodes that an experiment leaves out, and how much of it is tried while nothing
 * starts. What is known is read from the attempts in the store, so that it is the same after a restart. */
#ifndef ENGINE_HOLD_H
#define ENGINE_HOLD_H

#include "engine/engine.h"

struct engine_experiment;
struct engine_live;

/* An attempt ended before its script began; text says why. */
int engine_hear_unstarted(struct engine *engine, const struct engine_live *live, const char *text) MUST_USE;
/* A script began on a node. */
int engine_hear_started(struct engine *engine, struct engine_experiment *experiment, const char *node) MUST_USE;
/* Brings what a user sees of the nodes that are left out up to date: also when their time is over. */
int engine_hold_show(struct engine *engine, struct engine_experiment *experiment) MUST_USE;
/* How many of `room` tasks may be handed over now. */
int64_t engine_hold_room(const struct engine_experiment *experiment, int64_t room);
/* The backend refused a submission that left nodes out, maybe for that reason: no node is left out any more. False: none
 * was. */
bool engine_hold_refused(struct engine *engine, struct engine_experiment *experiment, int *ret_rc);
/* A user has all of it tried again. */
int engine_hold_forget(struct engine *engine, struct engine_experiment *experiment) MUST_USE;
/* As the store has it. */
int engine_hold_load(struct engine *engine, struct engine_experiment *experiment) MUST_USE;

#endif
