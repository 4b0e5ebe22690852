/* The engine itself: what it has in memory, for the files that walk over all of it. One turn of the engine is: read the
 * journals, settle what has ended, propose tasks, prepare submissions, bring the experiments' states up to date, all in
 * one transaction; then, once that is committed, tell the listeners and talk to the backends. Only the store counts: when
 * a commit fails, everything in memory is discarded and read again. A file that needs no more than the store or the state
 * folder takes engine_store and engine_state_dir of engine.h. */
#ifndef ENGINE_STATE_H
#define ENGINE_STATE_H

#include "engine/engine.h"
#include "engine/inbox.h"
#include "engine/pythons.h"

#include "base/buf.h"
#include "base/mem.h"

#include <uv.h>

struct engine_experiment;
struct engine_live;

struct engine {
	uv_loop_t *loop;
	char *state_dir;
	struct store *store;
	VEC(struct engine_backend *) backends; /* backends.h */
	char *program, *daemon_url; /* for backends that are opened later */
	char *copied_from; /* home.h; NULL: this folder is no copy */
	int64_t copied_until; /* attempts up to this id belong to the original */
	int64_t clock_offset_ms; /* steady.h */
	VEC(struct engine_experiment *) experiments;
	VEC(struct engine_live *) live;
	VEC(struct engine_submission) submissions; /* submit.h */
	VEC(struct engine_ended) ended; /* ended.h */
	VEC(struct engine_untidy) untidy; /* tidy.h */
	VEC(struct engine_unlooked) unlooked; /* tidy.h */
	VEC(struct engine_collector *) collectors; /* collect.h */
	struct engine_inbox inbox;
	VEC(struct engine_dirty) dirty; /* tasks with events to send: event.c */
	bool reset; /* so much changed that listeners should fetch everything again */
	uv_timer_t timer; /* the next turn */
	bool has_removed; /* rows of removed tasks may be left: removal.c */
	bool stale; /* memory differs from the store, and reading it again failed */
	char *trouble; /* why nothing can be written, as sent to the listeners: trouble.h; NULL */
	int64_t trouble_ms; /* when the last transaction failed, monotonic; 0: a later one succeeded */
	int64_t tried_ms; /* when writing to the state folder was tried last, monotonic; 0: never */
	int64_t pause_ms; /* after a failed write: no turn before this time, monotonic; 0 */
	bool unread; /* the store could not be read, and the user was not notified yet */
	int64_t unread_ms; /* when the user was notified; 0: never */
	bool closing, submitting; /* submitting: backends may answer within the turn */
	size_t last_observed; /* where in `live` the attempt of the last observation was; a hint */
	unsigned examining; /* backends that are being looked at */
	struct buf findings; /* JSON values, comma-separated */
	struct engine_check *check; /* of the database, while it goes on */
	struct engine_pythons pythons;
	struct notify *notify; /* messages that leave the machine: notify/notify.h */
	uint64_t served; /* counts the turns in which an experiment handed tasks over: submit.c */
	size_t questions; /* on the pool, including those whose answer is no longer wanted */
	struct engine_asker *first_asker, *last_asker; /* in the order in which they came */
	engine_event_f event;
	void *event_ctx;
};

#endif
