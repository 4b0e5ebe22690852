/* What the engine knows, shared by all its files: the experiments that have something to do, the attempts that may be
 * alive, and the engine that holds both. One turn of the engine is: read the journals, settle what has ended, propose
 * tasks, prepare submissions, bring the experiments' states up to date, all in one transaction; then, once that is
 * committed, tell the listeners and talk to the backends. Only the store counts: when a commit fails, everything in
 * memory is discarded and read again. */
#ifndef ENGINE_STATE_H
#define ENGINE_STATE_H

#include "engine/asked.h"
#include "engine/decide.h"
#include "engine/engine.h"
#include "engine/inbox.h"
#include "engine/pythons.h"
#include "engine/streak.h"
#include "engine/unstarted.h"
#include "store/rows.h"

#include "base/buf.h"
#include "base/token.h"

#include <uv.h>

/* An experiment that has something to do. */
struct engine_experiment {
	int64_t id;
	struct spec *spec;
	struct search *search; /* do not use it while there is a question */
	struct engine_question *question;
	bool waits; /* its (slow) search proposes nothing until it gets another result */
	struct engine_backend *backend;
	enum store_state state;
	int64_t parallel, planned, created_ms, started_ms;
	bool asked_all, stopping, removing;
	enum store_sweep sweep; /* an action on all tasks that is being carried out, */
	int64_t sweep_from, sweep_ms; /* from this number on, asked for at this time */
	int64_t ended_ms; /* when the last of the tasks ended that this turn settled, wall clock; 0: none */
	const char *stop_why; /* the reason that its tasks show when it stops itself; NULL: a user stopped it */
	bool changed; /* its counts or its best value: update the state, tell the listeners */
	bool best_changed;
	int64_t counts[STORE_STATE_COUNT];
	int64_t sent_ms; /* when listeners were last told of it (monotonic), and in which state */
	enum store_state sent_state;
	int64_t last_number, last_asked, next_seq;
	bool parallel_changed; /* the backend must be told */
	int64_t live; /* its attempts in engine->live */
	char *step_name;
	char *note; /* what its waiting tasks wait for, as the store has it; NULL */
	char *paused; /* why it is paused (pause.h), as the store has it; NULL: it is not */
	bool missing_told; /* the user was told about a task without the objective */
	struct streak streak; /* failures of a kind since something succeeded */
	int64_t note_old_ms; /* since when `note` is no longer true, monotonic; 0 */
	struct unstarted unstarted; /* attempts that ended before their script began: hold.h */
	char *excluded; /* the nodes that it avoids because of that; NULL: none */
	bool excluded_shown; /* the store says the same */
	VEC(struct engine_metric {
		char *name;
		int64_t id;
	}) metrics;
};

/* An attempt that may be alive. */
struct engine_live {
	struct engine_experiment *experiment;
	int64_t id, number; /* of the attempt */
	struct store_task task; /* progress; texts NULL */
	char token[TOKEN_ID_CHARS];
	uint32_t index;
	char *job, *batch_dir, *attempt_dir;
	bool unplaced; /* its descriptor cannot be read, so attempt_dir may be wrong: engine_place */
	char *node; /* its node according to the backend, until its journal names it; NULL: not known */
	int64_t offset, created_ms, started_ms;
	struct asked asked;
	struct attempt_facts facts; /* what is known of it; decide.h decides from this */
	int64_t save_until_ms; /* it was told to save a checkpoint and end, and has time until then; 0 */
	bool stop_confirmed; /* the backend has answered a call to end it: stopping.h */
	uint64_t confirmed_at; /* if so: the backend's number of polls at that time */
	char *reason; /* why it waits, as last told; NULL */
	char *paused; /* why it makes no progress although it runs; NULL */
	int64_t away_ms; /* since when the folder of its experiment is missing, monotonic; 0: it is there */
	unsigned collect_failures; /* collect.h */
	int64_t collect_after_ms; /* do not collect before this time, monotonic */
	bool damaged; /* lines of its journal could not be read */
	bool start_read; /* its START was read: facts.beats is what that says */
	enum engine_silence {
		SILENCE_NONE,
		SILENCE_SOME,
		SILENCE_AWAY,
		SILENCE_ENDED,
		SILENCE_GIVEN_UP
	} silence; /* as last told */
	int64_t expected_ms; /* when it is expected to start; 0 unknown */
	VEC(struct engine_source *) sources; /* of its metrics: series.h */
	bool sources_read; /* from the store */
	bool recount; /* best and last must be read from the store: values were renamed or replaced */
	bool unwritten; /* rows came since the progress was last written */
	int64_t pruned_at; /* the last step that was looked at for pruning */
	struct buf rows;
	struct cost gone_cost; /* what it used according to the backend; .known is 0 once it is stored */
	char *gone_source; /* where its energy comes from */
};

/* Does it have a runner, with a batch folder and a journal? An attempt that a user's own worker took has none. */
static inline bool engine_has_runner(const struct engine_live *live)
{
	return !(live->facts.traits & BACKEND_PULLED);
}

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
	bool stale; /* memory differs from the store, and reading it again failed */
	char *trouble; /* why nothing can be written, as sent to the listeners: trouble.h; NULL */
	int64_t trouble_ms; /* when the last transaction failed, monotonic; 0: a later one succeeded */
	int64_t tried_ms; /* when writing to the state folder was tried last, monotonic; 0: never */
	int64_t pause_ms; /* after a failed write: no turn before this time, monotonic; 0 */
	bool unread; /* the store could not be read, and the user was not told yet */
	int64_t unread_ms; /* when the user was told; 0: never */
	bool closing, submitting; /* submitting: backends may answer within the turn */
	size_t last_observed; /* where in `live` the attempt of the last observation was; a hint */
	unsigned examining; /* backends that are being looked at */
	struct buf findings; /* JSON values, comma-separated */
	struct engine_check *check; /* of the database, while it goes on */
	struct engine_pythons pythons;
	size_t questions; /* on the pool, including those whose answer is no longer wanted */
	struct engine_asker *first_asker, *last_asker; /* in the order in which they came */
	engine_event_f event;
	void *event_ctx;
};

/* Asks for a turn, to run after all other callbacks that are due. */
void engine_soon(struct engine *engine);
/* The experiment in memory, or NULL. */
struct engine_experiment *engine_find(struct engine *engine, int64_t experiment);

#endif
