/* How attempts end, and what follows for their tasks and experiments. All but note, fence, is_silent and needs_cancel happen inside
 * the transaction and return 0 or a negative errno. */
#ifndef ENGINE_SETTLE_H
#define ENGINE_SETTLE_H

#include "engine/decide.h"

struct engine;
struct engine_experiment;
struct engine_live;

/* Ends every attempt of which attempt_decide says so. */
int engine_settle(struct engine *engine) MUST_USE;
int engine_update_experiments(struct engine *engine) MUST_USE;
/* A task's change of state: store, history, counts, listeners. */
int engine_set_state(struct engine *engine, struct engine_experiment *experiment, const struct store_task *task,
		     enum store_state state, const char *reason, const char *cause) MUST_USE;
/* Ends a live attempt in this state; cause JSON as in the REST shapes. */
int engine_end(struct engine *engine, struct engine_live *live, enum store_state state, enum cause kind,
	       const char *text, const char *remedy) MUST_USE;
/* An attempt that is given up must not go on behind our back (a node that was thought dead comes back with its
 * processes): the runner looks for the file that this writes. False: it could not be written, which was logged. */
bool engine_fence(const struct engine_live *live);
/* Adds an event of now to the facts of an attempt; for events without a value. */
void engine_note(struct engine_live *live, enum attempt_event_kind kind);
/* Has it missed its beats? */
bool engine_is_silent(const struct engine_live *live);
/* Is the backend to be told (again) to end it? */
bool engine_needs_cancel(struct engine_live *live);

#endif
