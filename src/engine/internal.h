/* What the files of the engine share. One turn of the engine is: read the journals, settle what has
 * ended, propose tasks, prepare submissions, bring the experiments' states up to date, all in one
 * transaction; then, once that is committed, tell the listeners and talk to the backends. Nothing here
 * is true before it is in the store: when a commit fails, everything in memory is thrown away and read
 * again. */
#ifndef ENGINE_INTERNAL_H
#define ENGINE_INTERNAL_H

#include "backend/backend.h"
#include "engine/decide.h"
#include "engine/engine.h"
#include "engine/inbox.h"
#include "engine/spec.h"
#include "engine/transact.h"
#include "store/rows.h"

#include "base/token.h"

/* A question that a search answers on libuv's pool: see question.c. */
struct engine_question {
	uv_work_t work;
	struct engine *engine;
	struct engine_experiment
		*experiment; /* NULL: the answer is no longer wanted, and the question owns search and spec */
	struct search *search;
	struct spec *spec;
	int64_t asked, seq; /* kept for the answer */
	struct search_proposal proposal;
	enum search_answer answer;
	bool answered;
	struct buf state; /* of the search when it was asked; shown meanwhile */
	VEC(struct store_event) later; /* what it will hear afterwards; owns the values */
};

/* An experiment that has something to do. */
struct engine_experiment {
	int64_t id;
	struct spec *spec;
	struct search *search; /* not to be touched while there is a question */
	struct engine_question *question;
	bool waits; /* its (slow) search has nothing to propose before it is told something */
	struct engine_backend *backend;
	enum store_state state;
	int64_t parallel, planned, created_ms, started_ms;
	bool asked_all, stopping, removing;
	enum store_sweep sweep; /* an action on all tasks that is being carried out, */
	int64_t sweep_from, sweep_ms; /* from this number on, asked for at this time */
	int64_t ended_ms; /* when its last task ended of those that this turn settled, wall clock; 0: none did */
	const char *stop_why; /* what its tasks are told when it stops itself; NULL: a user asked for it */
	bool changed; /* its counts or its best: bring the state up to date, tell the listeners */
	bool best_changed;
	int64_t counts[STORE_STATE_COUNT];
	int64_t told_ms; /* when listeners last heard of it (monotonic), and in which state */
	enum store_state told_state;
	int64_t last_number, last_asked, next_seq;
	bool parallel_changed; /* the backend is to be told */
	int64_t live; /* attempts of its in engine->live */
	char *step_name;
	char *note; /* what its waiting tasks wait for, as the store has it; NULL */
	int64_t note_old_ms; /* since when that is no longer so, monotonic; 0 */
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
	int64_t offset, created_ms, started_ms;
	struct attempt_facts facts; /* what is known of it, and so what becomes of it: decide.h */
	char *reason; /* why it waits, as last told; NULL */
	int64_t expected_ms; /* when it is expected to start; 0 unknown */
	bool told; /* rows came since the progress was last written */
	int64_t pruned_at; /* the last step that was looked at for pruning */
	struct buf rows;
	struct store_cost gone_cost; /* what the backend says it used; not written yet where wall_ms is not negative */
	char *gone_source; /* where its energy comes from */
};

struct engine_backend {
	struct engine *engine;
	struct backend *backend; /* NULL: not available here */
	const struct backend_ops *ops;
	char *why_not;
	uv_timer_t timer;
	bool polling, expecting;
	bool given; /* this turn has prepared a batch for it */
	bool adopted; /* it has seen what was alive when we came up; until then it cannot know its free room */
	int64_t polled_ms, answered_ms; /* when it was asked last, and when it last answered; monotonic */
	int64_t retell_ms; /* when to tell it the parallel limits again, monotonic; 0 */
};

/* A submission that was committed and is to be handed over. */
struct engine_submission {
	char token[TOKEN_ID_CHARS];
	struct engine_experiment *experiment; /* lives as long as an attempt of the token does */
	bool again;
	int64_t not_before_ms; /* back-off after it could not be handed over */
	uint32_t described; /* the descriptors of indices below this one are written */
	bool describing; /* and there are more */
};

/* An attempt that has ended, and whose energy the accounting will tell. */
struct engine_owed {
	struct engine_backend *backend;
	int64_t experiment, number, attempt, task;
	char token[TOKEN_ID_CHARS];
	uint32_t index;
	char *job, *batch_dir;
	int64_t submitted_ms;
	int64_t until_ms; /* monotonic */
};

/* An experiment's folder has a name that begins so until its row is written; what a crash leaves goes at the start. */
#define ENGINE_NEW_FOLDER ".new-"

struct engine {
	uv_loop_t *loop;
	char *state_dir, *program, *push_url;
	struct store *store;
	VEC(struct engine_backend *) backends;
	VEC(struct engine_experiment *) experiments;
	VEC(struct engine_live *) live;
	VEC(struct engine_submission) submissions;
	VEC(struct engine_owed) owed;
	struct engine_inbox inbox;
	VEC(struct engine_dirty { int64_t experiment, number; }) dirty;
	bool reset; /* so much changed that listeners should fetch anew */
	uv_timer_t timer; /* the next turn */
	bool stale; /* memory is not what the store says, and could not be read again */
	int64_t pause_ms; /* after a failed write: no turn before this time, monotonic; 0 */
	bool unread; /* the store could not be read, and the user was not told yet */
	int64_t unread_ms; /* when the user was told; 0: never */
	bool closing, submitting; /* submitting: a backend that answers at once does so within the turn */
	size_t sighted; /* where in `live` the last sight belonged; a hint */
	unsigned examining; /* backends that are being looked at */
	struct buf findings; /* JSON values, comma-separated */
	struct engine_check *check; /* of the database, while it goes on */
	size_t questions; /* with the pool, also those whose answer is no longer wanted */
	struct engine_asker *first_asker, *last_asker; /* in the order in which they came */
	engine_event_f event;
	void *event_ctx;
};

/* engine.c */
void engine_soon(struct engine *engine); /* a turn as soon as everybody else had one */
/* The answer to an examination: takes over the findings, and one that was waited for less is going on. */
void engine_add_findings(struct engine *engine, const struct backend_finding *list, size_t count);
/* check.c: the database, for engine_examine. End is harmless when none goes on. */
void engine_begin_check(struct engine *engine);
void engine_end_check(struct engine *engine);
/* A store_failure_f: a read failed. The user is told at the next turn, at most once a minute. */
void engine_unread_cb(void *ctx, const char *text);
void engine_tell_unread(struct engine *engine);
struct engine_experiment *engine_find(struct engine *engine, int64_t experiment);
struct engine_backend *engine_backend_named(struct engine *engine, const char *name);
/* The named backend. For "auto": the one that alone understands a key of the resources (NULL: none are given), else the
 * preferred one that is available. NULL with err when it is not available. */
struct engine_backend *engine_choose_backend(struct engine *engine, const char *name,
					     const struct backend_resources *resources, struct error *err);
char *engine_batch_folder(struct engine *engine, int64_t experiment, const char *token);

/* load.c */
int engine_load(struct engine *engine, struct error *err) MUST_USE;
void engine_unload(struct engine *engine);
/* The experiment in memory, read from the store where it is not there yet. -ENOENT. */
int engine_load_experiment(struct engine *engine, int64_t id, struct engine_experiment **ret,
			   struct error *err) MUST_USE;
/* The experiment that a request is about, as engine_load_experiment, once memory is what the store says. -ENOENT also for
 * one that is being removed. Asks for a turn: it lets go what was read in vain. */
int engine_open_experiment(struct engine *engine, int64_t id, struct engine_experiment **ret,
			   struct error *err) MUST_USE;
void engine_forget_experiment(struct engine *engine, struct engine_experiment *experiment);
/* The specification alone, from the store; the caller frees it. -ENOENT. */
int engine_read_spec(struct engine *engine, int64_t id, struct spec **ret) MUST_USE;
/* A recorded configuration in today's space. The fidelity is what the strategy set it to, whatever the space says.
 * false: it has no place there any more. */
bool engine_read_values(const struct spec *spec, const struct node *parameters, struct space_value *ret);
struct engine_live *engine_add_live(struct engine *engine, struct engine_experiment *experiment,
				    const struct store_attempt *row);
void engine_free_live(struct engine_live *live);

/* Each part of a turn; all inside the transaction, 0 or a negative errno. */
int engine_ingest(struct engine *engine) MUST_USE; /* ingest.c */
struct journal_record;
int engine_ingest_record(struct engine *engine, struct engine_live *live, const struct journal_record *record) MUST_USE;
/* Takes what an END record said (JSON) into the attempt. */
int engine_take_end(struct engine_live *live, const char *json) MUST_USE;
int engine_settle(struct engine *engine) MUST_USE; /* settle.c */
int engine_update_experiments(struct engine *engine) MUST_USE; /* settle.c */
int engine_propose(struct engine *engine) MUST_USE; /* propose.c */
/* At most `wanted` new tasks. 0 or a negative errno. */
int engine_propose_for(struct engine *engine, struct engine_experiment *experiment, int64_t wanted) MUST_USE;
int engine_tell(struct engine *engine, struct engine_experiment *experiment, int64_t asked, enum search_outcome outcome,
		const double *values) MUST_USE;
/* A configuration that the search did not choose: written into the sequence (parameters: JSON), and told to the search. */
int engine_add_foreign(struct engine *engine, struct engine_experiment *experiment, int64_t asked,
		       const struct space_value *values, const char *parameters) MUST_USE;
/* What the search answered: a task, a task promoted, or that there is nothing left. seq: its place in the sequence. */
int engine_add_proposal(struct engine *engine, struct engine_experiment *experiment, enum search_answer answer,
			int64_t asked, int64_t seq, const struct search_proposal *proposal) MUST_USE;
/* Tells the search what is in the sequence already, as a replay would. */
int engine_hear_events(struct engine_experiment *experiment, const struct store_event *events, size_t count) MUST_USE;
int engine_replay(struct engine *engine, struct engine_experiment *experiment, struct error *err) MUST_USE;
/* The search as it was opened, and where its sequence goes on. */
int engine_skip_replay(struct engine *engine, struct engine_experiment *experiment, struct error *err) MUST_USE;
/* As engine_replay, but -ESTALE where the search would make another proposal than it did. */
int engine_replay_exactly(struct engine *engine, struct engine_experiment *experiment, struct error *err) MUST_USE;

/* question.c: searches that think on libuv's pool. Asks for the next proposal; there must be no question yet. */
void engine_pose_question(struct engine *engine, struct engine_experiment *experiment);
/* Makes the answer, where it is there, what it means; inside the transaction. How many proposals that were (0 or 1). */
int engine_take_answer(struct engine *engine, struct engine_experiment *experiment) MUST_USE;
/* The answer is not wanted any more. The experiment then has neither search nor spec: the worker may still be at
 * them, and they are freed when it is not. Harmless where there is no question. */
void engine_drop_question(struct engine_experiment *experiment);

/* external.c: answers who waits for a proposal, in order, as far as there is one. After the commit. */
void engine_serve_askers(struct engine *engine);
/* Everybody who waits hears this error. */
void engine_refuse_askers(struct engine *engine, int rc, const char *why);

int engine_prepare(struct engine *engine) MUST_USE; /* submit.c */
/* waiting.c: why the waiting tasks of an experiment wait: one text for all of them, in the experiment's row. */
int engine_note_waiting(struct engine *engine) MUST_USE;
void engine_submit(struct engine *engine); /* after the commit */
/* A backend's answer to a submission; inside the transaction. */
int engine_take_submitted(struct engine *engine, const char *token,
			  const struct backend_submit_result *result) MUST_USE;
/* A task's change of state: store, history, counts, listeners. */
int engine_set_state(struct engine *engine, struct engine_experiment *experiment, const struct store_task *task,
		     enum store_state state, const char *reason, const char *cause) MUST_USE;
/* Ends a live attempt in this state; cause JSON as in the REST shapes. */
int engine_end(struct engine *engine, struct engine_live *live, enum store_state state, enum cause kind,
	       const char *text, const char *remedy) MUST_USE;

/* An attempt that is given up must not go on behind our back (a node that was thought dead comes back with its
 * processes): the runner looks for the file that this writes. */
void engine_fence(const struct engine_live *live);
/* Takes in what was learnt of an attempt just now; for events without a value of their own. */
void engine_hear(struct engine_live *live, enum attempt_event_kind kind);
/* Is the backend to be told (again) to end it? */
bool engine_needs_cancel(struct engine_live *live);

/* request.c: what a specification says in the store's columns; free with engine_free_row. */
void engine_fill_row(const struct spec *spec, struct store_experiment *ret);
void engine_free_row(struct store_experiment *row);

/* estimate.c: the "estimate" of POST /check; null where nothing is known. */
void engine_write_estimate(struct engine *engine, const struct engine_backend *backend, const struct spec *spec,
			   struct json *out);

/* sweep.c: actions on every task of an experiment. They are written down first and carried out some tasks a turn, so
 * that 100,000 of them do not hold the loop. Begins one (carrying out the first part of it) in the place of what was
 * going on; inside the transaction. */
int engine_begin_sweep(struct engine *engine, struct engine_experiment *experiment, enum store_sweep sweep) MUST_USE;
int engine_sweep(struct engine *engine) MUST_USE;
/* The parts of it: one task is stopped or restarted. What is alive is only marked in the store: the caller marks it in
 * memory. */
int engine_stop_task(struct engine *engine, struct engine_experiment *experiment,
		     const struct store_task *task) MUST_USE;
int engine_restart_task(struct engine *engine, struct engine_experiment *experiment,
			const struct store_task *task) MUST_USE;

/* action.c: stops the whole experiment; inside the transaction. Harmless where it has ended or is being removed. */
int engine_stop_within(struct engine *engine, struct engine_experiment *experiment) MUST_USE;
/* What a stopped task says. Not kept across a restart of the daemon. */
const char *engine_stop_why(const struct engine_experiment *experiment);

/* prune.c: ends the task early where its newest rows say so. */
int engine_prune(struct engine *engine, struct engine_live *live) MUST_USE;
/* One number for one objective of a task, as the search hears it. */
int engine_read_objective(struct engine *engine, const struct engine_experiment *experiment, int64_t task,
			  const struct spec_objective *objective, double *ret) MUST_USE;

/* follow.c */
void engine_follow(struct engine *engine);
/* What a backend saw of one attempt; inside the transaction. */
int engine_take_sight(struct engine *engine, const struct backend_sight *sight) MUST_USE;
/* Why a submitted task waits, and when it is expected to start (0: not known); stored only where it changed. */
int engine_tell_waiting(struct engine *engine, struct engine_live *live, const char *reason,
			int64_t expected_start_ms) MUST_USE;
void engine_poll_soon(struct engine_backend *backend);
void engine_cancel(struct engine *engine);

/* owed.c: figures that come after the end. */
void engine_owe(struct engine *engine, const struct engine_live *live);
int engine_owed_load(struct engine *engine) MUST_USE;
void engine_owed_unload(struct engine *engine);
/* Adds what is owed by this backend to a watch list with room for all of it; how many. */
size_t engine_owed_watch(struct engine_backend *backend, struct backend_watch *watch);
bool engine_owed_any(const struct engine_backend *backend);
int engine_owed_sight(struct engine *engine, const struct backend_sight *sight) MUST_USE;

/* descriptor.c: writes BATCH_DIR/INDEX.json for one attempt. */
int engine_write_descriptor(struct engine *engine, const struct engine_live *live, struct error *err) MUST_USE;
/* The program and arguments of a task with these parameters. The caller frees it. */
struct node *engine_make_argv(const struct spec *spec, int64_t experiment, int64_t task, const struct node *params);

/* event.c */
void engine_task_changed(struct engine *engine, int64_t experiment, int64_t number);
void engine_notice(struct engine *engine, const char *level, const char *text);
void engine_send_events(struct engine *engine);

#endif
