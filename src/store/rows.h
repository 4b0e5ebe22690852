/* Rows as structs: what the engine writes, and what it reads to go on where it was. Every write works inside the
 * caller's transaction. Functions return 0 or a negative errno. Rows as JSON: json.h. */
#ifndef STORE_ROWS_H
#define STORE_ROWS_H

#include "base/cost.h"
#include "store/store.h"

enum store_wish { STORE_WISH_RUN, STORE_WISH_STOP, STORE_WISH_PRUNE };
enum store_flag { STORE_FLAG_ASKED_ALL, STORE_FLAG_STOPPING, STORE_FLAG_REMOVING };
/* An action on all tasks of an experiment. */
enum store_sweep { STORE_SWEEP_NONE, STORE_SWEEP_STOP, STORE_SWEEP_RESTART, STORE_SWEEP_RESTART_FAILED };
enum store_batch_state { STORE_BATCH_SUBMITTING, STORE_BATCH_SUBMITTED, STORE_BATCH_OVER };

/* A row as a struct is listed once, as STORE_X(X): kind, member and SQL of the column. The struct and the query come
 * from the list. The kinds: INT (NULL is 0), COUNT (NULL is -1), REAL (NULL is NAN), BOOL, INDEX, TEXT (valid during the
 * callback only) and the enums. */
#define STORE_TYPE_INT int64_t
#define STORE_TYPE_COUNT int64_t
#define STORE_TYPE_REAL double
#define STORE_TYPE_BOOL bool
#define STORE_TYPE_INDEX uint32_t
#define STORE_TYPE_TEXT const char *
#define STORE_TYPE_STATE enum store_state
#define STORE_TYPE_WISH enum store_wish
#define STORE_TYPE_SWEEP enum store_sweep
#define STORE_TYPE_BATCH enum store_batch_state
#define STORE_MEMBER(kind, member, sql) STORE_TYPE_##kind member;

#define STORE_EXPERIMENT(X)                                                                                            \
	X(TEXT, name, "name")                                                                                          \
	X(TEXT, description, "description")                                                                            \
	X(TEXT, spec, "spec")                                                                                          \
	X(TEXT, source_name, "source_name")                                                                            \
	X(TEXT, source, "source")                                                                                      \
	X(TEXT, parameters, "parameters")                                                                              \
	X(TEXT, varying, "varying")                                                                                    \
	X(TEXT, objective, "objective")                                                                                \
	X(TEXT, strategy, "strategy")                                                                                  \
	X(TEXT, strategy_reason, "strategy_reason")                                                                    \
	X(TEXT, backend, "backend")                                                                                    \
	X(TEXT, script, "script")                                                                                      \
	X(TEXT, warnings, "warnings")                                                                                  \
	X(TEXT, batch_script, "batch_script")                                                                          \
	X(TEXT, note, "note")                                                                                          \
	X(INT, created_ms, "created_ms")                                                                               \
	X(INT, started_ms, "started_ms")                                                                               \
	X(INT, seed, "seed")                                                                                           \
	X(INT, planned, "planned")                                                                                     \
	X(INT, parallel, "parallel")                                                                                   \
	X(STATE, state, "state")                                                                                       \
	X(BOOL, asked_all, "asked_all")                                                                                \
	X(BOOL, stopping, "stopping")                                                                                  \
	X(BOOL, removing, "removing")                                                                                  \
	X(SWEEP, sweep, "sweep")                                                                                       \
	X(INT, sweep_from, "sweep_from")                                                                               \
	X(INT, sweep_ms, "sweep_ms")

struct store_experiment {
	int64_t id;
	STORE_EXPERIMENT(STORE_MEMBER)
};

int store_add_experiment(struct store *store, const struct store_experiment *row, int64_t *ret_id) MUST_USE;
typedef int (*store_experiment_f)(void *ctx, const struct store_experiment *row);
/* Experiments that still have something to do: not over, being swept or being removed. */
int store_each_active(struct store *store, store_experiment_f each, void *ctx) MUST_USE;
/* One experiment (removing ones too); -ENOENT. */
int store_read_experiment(struct store *store, int64_t id, store_experiment_f each, void *ctx) MUST_USE;
/* Times of 0 leave what is there; finished_ms is cleared while the state is not over. */
int store_set_experiment_state(struct store *store, int64_t id, enum store_state state, int64_t started_ms,
			       int64_t finished_ms) MUST_USE;
int store_set_flag(struct store *store, int64_t id, enum store_flag flag, bool value) MUST_USE;
/* How far an action on all tasks has come: it goes on with number `from`; since when. */
int store_set_sweep(struct store *store, int64_t id, enum store_sweep sweep, int64_t from, int64_t since_ms) MUST_USE;
int store_set_parallel(struct store *store, int64_t id, int64_t parallel) MUST_USE;
/* What its waiting tasks wait for; NULL: nothing. */
/* The nodes that its submissions leave out, as a warning that people see; NULL: none. */
int store_set_excluded(struct store *store, int64_t id, const char *nodes) MUST_USE;
int store_set_note(struct store *store, int64_t id, const char *note) MUST_USE;
int store_set_objective(struct store *store, int64_t id, const char *json) MUST_USE;
int store_set_step_name(struct store *store, int64_t id, const char *name) MUST_USE;
/* Finds the best task anew. */
int store_update_best(struct store *store, int64_t id, bool maximise) MUST_USE;
/* Deletes some of the experiment: 1 while there is more, 0 when it is gone, or a negative errno. */
int store_delete_some(struct store *store, int64_t id) MUST_USE;
int store_count_tasks(struct store *store, int64_t id, int64_t counts[static STORE_STATE_COUNT]) MUST_USE;
/* GPU seconds and joules used so far by all tasks. */
int store_sum_cost(struct store *store, int64_t id, double *ret_gpu_s, double *ret_energy_j) MUST_USE;

/* The sequence of asks and tells. */
enum store_event_kind { STORE_EVENT_ASK, STORE_EVENT_TELL, STORE_EVENT_ADD, STORE_EVENT_CHANGE };
struct store_event {
	int64_t seq;
	enum store_event_kind kind;
	int64_t asked; /* the search's id of the ask */
	int64_t outcome;
	const char *value; /* JSON: a tell's list of values, an ask's {"parameters","fidelity"}; NULL */
};
typedef int (*store_event_f)(void *ctx, const struct store_event *event);
int store_add_event(struct store *store, int64_t experiment, const struct store_event *event) MUST_USE;
/* The last time the settings changed (seq), 0: never. */
int store_last_change(struct store *store, int64_t experiment, int64_t *ret) MUST_USE;
/* The newest entry of the sequence (seq), 0: none. */
int store_last_event(struct store *store, int64_t experiment, int64_t *ret) MUST_USE;
/* What was asked or added last, as the search knows it; 0: nothing. */
int store_last_asked(struct store *store, int64_t experiment, int64_t *ret) MUST_USE;
/* New settings of the search: the whole specification and what follows from it. */
int store_change_experiment(struct store *store, int64_t id, const struct store_experiment *row) MUST_USE;
int store_set_planned(struct store *store, int64_t id, int64_t planned) MUST_USE;
int store_each_event(struct store *store, int64_t experiment, store_event_f each, void *ctx) MUST_USE;

#define STORE_TASK(X)                                                                                                  \
	X(INT, experiment, "experiment")                                                                               \
	X(INT, number, "number")                                                                                       \
	X(STATE, state, "state")                                                                                       \
	X(WISH, wanted, "wanted")                                                                                      \
	X(TEXT, parameters, "parameters")                                                                              \
	X(TEXT, retries, "retries")                                                                                    \
	X(INT, repeat, "repeat")                                                                                       \
	X(INT, seed, "seed")                                                                                           \
	X(COUNT, steps, "steps")                                                                                       \
	X(INT, attempt, "attempt")                                                                                     \
	X(INT, asked, "asked")                                                                                         \
	X(INT, created_ms, "created_ms")                                                                               \
	X(INT, started_ms, "started_ms")                                                                               \
	X(INT, submitted_ms, "submitted_ms")                                                                           \
	X(INT, finished_ms, "finished_ms")                                                                             \
	X(REAL, fidelity, "fidelity")                                                                                  \
	X(BOOL, fresh, "fresh")                                                                                        \
	X(REAL, best, "best")                                                                                          \
	X(REAL, last, "last")                                                                                          \
	X(COUNT, best_step, "best_step")                                                                               \
	X(COUNT, last_step, "last_step")                                                                               \
	X(COUNT, step, "step")                                                                                         \
	X(BOOL, from_zero, "from_zero") /* the steps begin at 0 */

struct store_task {
	int64_t id;
	STORE_TASK(STORE_MEMBER)
};

typedef int (*store_task_f)(void *ctx, const struct store_task *row);
/* A store_task_f that keeps the row in the struct store_task that ctx points to, without its texts. */
int store_keep_task(void *ctx, const struct store_task *row);
/* Adds it in state waiting, with its first line of history. */
int store_add_task(struct store *store, const struct store_task *row, int64_t now_ms, int64_t *ret_id) MUST_USE;
int store_last_number(struct store *store, int64_t experiment, int64_t *ret) MUST_USE;
/* The newest attempt of all; 0: there is none. */
int store_last_attempt(struct store *store, int64_t *ret) MUST_USE;
int store_read_task(struct store *store, int64_t experiment, int64_t number, store_task_f each, void *ctx) MUST_USE;
/* At most `limit` tasks of the experiment from number `from` on, by number. */
int store_each_task(struct store *store, int64_t experiment, int64_t from, int64_t limit, store_task_f each,
		    void *ctx) MUST_USE;
/* Waiting tasks that may be submitted now, by number. */
int store_each_ready(struct store *store, int64_t experiment, int64_t now_ms, int64_t limit, store_task_f each,
		     void *ctx) MUST_USE;
/* The same, those first that have waited for longest since their last retry. */
int store_each_rested(struct store *store, int64_t experiment, int64_t now_ms, int64_t limit, store_task_f each,
		      void *ctx) MUST_USE;
/* A change of state, with its time and reason in the history. cause: JSON, NULL unless error. */
int store_set_task_state(struct store *store, int64_t id, enum store_state state, const char *reason, const char *cause,
			 int64_t now_ms, enum store_state *ret_before) MUST_USE;
int store_set_task_reason(struct store *store, int64_t id, const char *reason, int64_t expected_start_ms) MUST_USE;
int store_set_wish(struct store *store, int64_t id, enum store_wish wish) MUST_USE;
/* Waiting again after a failed attempt, not before a time. */
int store_set_retry(struct store *store, int64_t id, const char *retries, int64_t not_before_ms) MUST_USE;
/* From scratch: results and metrics gone, the next attempt is fresh. The state is the caller's to set. */
int store_reset_task(struct store *store, int64_t id) MUST_USE;
/* The search goes on with a task at another fidelity: its parameters, its newest ask. */
int store_promote_task(struct store *store, int64_t id, const struct store_task *row) MUST_USE;
/* The task whose newest ask this is; -ENOENT. */
int store_find_asked(struct store *store, int64_t experiment, int64_t asked, store_task_f each, void *ctx) MUST_USE;
int store_set_progress(struct store *store, const struct store_task *row) MUST_USE;
int store_clear_metrics(struct store *store, int64_t task) MUST_USE;
/* A line in the timeline without a change of state. */
int store_add_history(struct store *store, int64_t task, enum store_state state, const char *text,
		      int64_t time_ms) MUST_USE;

/* An attempt that may be alive, with what is needed to follow it. From attempt a, task t and batch b. */
#define STORE_ATTEMPT(X)                                                                                               \
	X(INT, task, "a.task")                                                                                         \
	X(INT, experiment, "t.experiment")                                                                             \
	X(INT, task_number, "t.number")                                                                                \
	X(INT, number, "a.number")                                                                                     \
	X(INT, journal_offset, "a.journal_offset")                                                                     \
	X(INT, created_ms, "a.created_ms")                                                                             \
	X(INT, submitted_ms, "a.submitted_ms")                                                                         \
	X(INT, started_ms, "a.started_ms")                                                                             \
	X(INDEX, index, "a.idx")                                                                                       \
	X(STATE, state, "a.state")                                                                                     \
	X(WISH, wanted, "t.wanted")                                                                                    \
	X(TEXT, token, "a.token")                                                                                      \
	X(TEXT, job, "coalesce(a.job, b.job)")                                                                         \
	X(TEXT, backend, "b.backend")                                                                                  \
	X(TEXT, ended, "a.ended") /* JSON: what its END record said; NULL: none was read */                            \
	X(INT, absent_ms, "b.absent_ms")                                                                               \
	X(BOOL, measured, "a.energy_j IS NOT NULL") /* its energy is known */                                          \
	X(BATCH, batch_state, "b.state")

struct store_attempt {
	int64_t id;
	STORE_ATTEMPT(STORE_MEMBER)
};

typedef int (*store_attempt_f)(void *ctx, const struct store_attempt *row);
int store_add_batch(struct store *store, const char *token, int64_t experiment, const char *backend,
		    enum store_batch_state state, int64_t parallel, int64_t now_ms) MUST_USE;
int store_set_batch(struct store *store, const char *token, enum store_batch_state state, const char *job) MUST_USE;
int store_set_batch_absent(struct store *store, const char *token, int64_t absent_ms) MUST_USE;
/* Adds the attempt and makes it the task's newest; the task is submitted from now on. */
int store_add_attempt(struct store *store, int64_t task, int64_t number, const char *token, uint32_t index,
		      int64_t now_ms, int64_t *ret_id) MUST_USE;
int store_each_live(struct store *store, store_attempt_f each, void *ctx) MUST_USE;
/* Attempts that ran and ended after since_ms. */
int store_each_ended(struct store *store, int64_t since_ms, store_attempt_f each, void *ctx) MUST_USE;
/* How attempts of an experiment began, in the order of time: every one that ended before its script began, and the last
 * that started on each node. */
struct store_beginning {
	bool started;
	const char *node, *why; /* NULL: not known */
	int exit_code; /* -1: not known */
	int64_t time_ms;
};
typedef int (*store_beginning_f)(void *ctx, const struct store_beginning *row);
int store_each_beginning(struct store *store, int64_t experiment, store_beginning_f each, void *ctx) MUST_USE;
int store_set_journal_offset(struct store *store, int64_t attempt, int64_t offset) MUST_USE;
/* It runs: host, GPUs and the backend's id, of the attempt and of its task. */
int store_start_attempt(struct store *store, int64_t attempt, int64_t task, const char *node, const char *gpus,
			const char *job, int64_t started_ms) MUST_USE;
/* Where the backend has put it, before it says so itself; NULL leaves what is there. Of the attempt and of its task. */
int store_set_place(struct store *store, int64_t attempt, int64_t task, const char *node, const char *job) MUST_USE;
int store_set_job(struct store *store, int64_t attempt, int64_t task, const char *job) MUST_USE;
/* What it used so far. A figure that is not known leaves what is there; the source counts where the energy is known. The
 * task has what its attempts add up to. */
int store_set_cost(struct store *store, int64_t attempt, int64_t task, const struct cost *cost) MUST_USE;
/* Its END record was read; what follows from it, other than the cost, may have to wait for the backend's word. */
int store_set_ended(struct store *store, int64_t attempt, int64_t task, const char *ended,
		    const struct cost *cost) MUST_USE;
int store_end_attempt(struct store *store, int64_t attempt, enum store_state state, const char *cause, int exit_code,
		      int signal, int64_t now_ms) MUST_USE;

enum store_take { STORE_TAKE_LEAST, STORE_TAKE_MOST, STORE_TAKE_LAST, STORE_TAKE_MEAN };
/* One number for a task's metric: its least, most, last, or the mean of its last `of` values; for the
 * names "time" (seconds) and "energy" (joules), unless they are metrics, the cost. NAN: none. */
int store_read_objective(struct store *store, int64_t experiment, int64_t task, const char *name, enum store_take take,
			 int64_t of, double *ret) MUST_USE;

/* The best (least, or most) value of the metric up to a step, of every other task that came as far or has
 * finished: what pruning compares with. The caller frees *ret. */
int store_read_rivals(struct store *store, int64_t experiment, int64_t task, const char *name, int64_t step, bool most,
		      double **ret, size_t *ret_count) MUST_USE;
/* Ids of the finished tasks of an experiment. The caller frees *ret. */
int store_read_finished(struct store *store, int64_t experiment, int64_t **ret, size_t *ret_count) MUST_USE;

/* The first answer to an idempotency key: 1 and the experiment, 0 when the key is new, -EEXIST when the
 * body was another one. */
int store_find_key(struct store *store, const char *key, const char *body_hash, int64_t *ret_experiment) MUST_USE;
int store_add_key(struct store *store, const char *key, const char *body_hash, int64_t experiment,
		  int64_t now_ms) MUST_USE;

/* 0 or a negative errno; *ret_id names the metric within the experiment. */
int store_metric_name(struct store *store, int64_t experiment, const char *name, int64_t *ret_id) MUST_USE;
int store_add_metric(struct store *store, int64_t task, int64_t name, int64_t step, double value,
		     int64_t time_ms) MUST_USE;

/* How long tasks of a program took: in the newest experiment with the same script (or program) and command (JSON; NULL: none)
 * that has finished tasks whose time was measured. Looks at the newest 100 such experiments, and 1000 tasks of that one.
 * -ENOENT. */
struct store_pace {
	int64_t experiment, median_ms;
	char backend[24];
};
int store_read_pace(struct store *store, const char *script, const char *command, struct store_pace *ret) MUST_USE;

/* A finished task, for the analysis. */
struct store_result {
	int64_t id, number;
	const char *parameters; /* JSON; valid during the callback */
	double best, time_s; /* NAN: not known */
};
typedef int (*store_result_f)(void *ctx, const struct store_result *row);
/* At most `limit` finished tasks with numbers below `below`, from the newest to the oldest. */
int store_each_result(struct store *store, int64_t experiment, int64_t below, int64_t limit, store_result_f each,
		      void *ctx) MUST_USE;
/* A task that runs, for the analysis. */
struct store_running {
	int64_t id, number;
	int64_t last_step; /* where it will end; -1: not known */
};
typedef int (*store_running_f)(void *ctx, const struct store_running *row);
/* At most `limit` running tasks, the newest where there are more; by number. */
int store_each_running(struct store *store, int64_t experiment, int64_t limit, store_running_f each,
		       void *ctx) MUST_USE;
/* A task's curve of a metric, by step; NAN for a value that is none. *ret_count points were written to the arrays;
 * 0 where there are more than `limit`. */
int store_read_curve(struct store *store, int64_t experiment, int64_t task, const char *metric, size_t limit,
		     double *steps, double *values, size_t *ret_count) MUST_USE;

/* The number of a task's attempt, once it is known to exist: `attempt` itself, or the newest for 0. *ret is 0
 * when the task has none yet. -ENOENT when there is no such task or attempt. */
int store_find_attempt(struct store *store, int64_t experiment, int64_t number, int64_t attempt, int64_t *ret) MUST_USE;
/* 0 when there is such an experiment that is not being removed; -ENOENT. */
int store_find_experiment(struct store *store, int64_t experiment) MUST_USE;
/* A text of the experiment: "source", "batch_script" (as foreseen), "last_batch" (the token of what was handed over last). */
int store_read_text(struct store *store, int64_t experiment, const char *column, struct buf *out) MUST_USE;

#endif
