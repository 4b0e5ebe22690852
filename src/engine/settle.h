/* Ends attempts, and updates their tasks and experiments. All functions but engine_note, engine_fence, engine_is_silent
 * and engine_needs_cancel work inside the transaction and return 0 or a negative errno. */
#ifndef ENGINE_SETTLE_H
#define ENGINE_SETTLE_H

#include "engine/decide.h"

#include "spool/stop.h"

struct engine;
struct engine_experiment;
struct engine_live;

/* Ends every attempt for which attempt_decide returns ATTEMPT_END. */
int engine_settle(struct engine *engine) MUST_USE;
int engine_update_experiments(struct engine *engine) MUST_USE;
/* Is one of the limits of `stop` on time, GPU hours or energy exceeded? */
bool engine_is_over_budget(struct engine *engine, const struct engine_experiment *experiment);
/* For a task that is stopped. If it had ended before a user restarted it, and has not begun since, nothing was run: it is
 * again as it was, and the search is told nothing. 1: it is; 0: nothing was changed. */
int engine_take_back_restart(struct engine *engine, struct engine_experiment *experiment,
			     const struct store_task *task) MUST_USE;
/* Changes the state of a task: in the store, the history and the counts, and for the listeners. */
int engine_set_state(struct engine *engine, struct engine_experiment *experiment, const struct store_task *task,
		     enum store_state state, const char *reason, const char *cause) MUST_USE;
/* Ends a live attempt in this state. The stored cause is JSON as in the REST schema. */
int engine_end(struct engine *engine, struct engine_live *live, enum store_state state, enum cause kind,
	       const char *text, const char *remedy) MUST_USE;
/* Writes the stop file of an attempt that is given up. Its runner may still be alive: a node that seemed dead can come
 * back with its processes. The runner looks for this file and stops. False: the file could not be written; this was
 * logged. */
bool engine_fence(const struct engine_live *live, enum spool_stop_why why);
/* Adds an event with the current time to the facts of an attempt; for events without a value. */
void engine_note(struct engine_live *live, enum attempt_event_kind kind);
/* Has its runner been silent for too long? See attempt_is_silent. */
bool engine_is_silent(const struct engine_live *live);
/* May its runner be at work although the backend says that it is gone? See attempt_may_live. */
bool engine_may_live(const struct engine_live *live);
/* Must the backend be asked (again) to end it? */
bool engine_needs_cancel(struct engine_live *live);

#endif
