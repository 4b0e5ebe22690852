/* Rows as structs: what the engine writes, and what it reads to continue after a restart. Every write works inside the
 * caller's transaction. Functions return 0 or a negative errno. Rows as JSON: json.h. */
#ifndef STORE_ROWS_H
#define STORE_ROWS_H

#include "base/cost.h"
#include "base/sample.h"
#include "store/store.h"

/* HOLD: a task that has not begun becomes waiting again. If it has begun in the meantime, it continues.
 * REMOVE: a task that has ended is being removed. */
enum store_wanted { STORE_WANT_RUN, STORE_WANT_STOP, STORE_WANT_PRUNE, STORE_WANT_HOLD, STORE_WANT_REMOVE };
enum store_flag { STORE_FLAG_ASKED_ALL, STORE_FLAG_REMOVING };
/* Why an experiment proposes and submits nothing more. The numbers are stored. */
enum store_stop {
	STORE_STOP_NO,
	STORE_STOP_USER,
	STORE_STOP_WHEN, /* its `stop: {when}` is met */
	STORE_STOP_BUDGET, /* its time, GPU hours or energy are used up */
};
/* An action on all tasks of an experiment. */
enum store_sweep {
	STORE_SWEEP_NONE,
	STORE_SWEEP_STOP,
	STORE_SWEEP_RESTART, /* those with a checkpoint continue, the others start from the beginning */
	STORE_SWEEP_RESTART_FAILED,
	STORE_SWEEP_RESUME,
	STORE_SWEEP_RESUME_FAILED,
	STORE_SWEEP_FRESH,
	STORE_SWEEP_FRESH_FAILED,
	STORE_SWEEP_GO_ON, /* of what was stopped: those with a checkpoint continue */
};
enum store_batch_state { STORE_BATCH_SUBMITTING, STORE_BATCH_SUBMITTED, STORE_BATCH_OVER };

/* The columns of a row are listed once, as STORE_X. The struct, its query, and the JSON for people and other programs
 * (json.h) all come from this list:
 *
 *	ROW(type, member, sql)              for the engine only
 *	JSON(kind, key, sql)                for the JSON only; the sql may name columns that are listed for the engine
 *	BOTH(type, member, sql, kind, key)
 *
 * The types: INT (NULL is 0), COUNT (NULL is -1), REAL (NULL is NAN), BOOL, INDEX, TEXT (only valid during the
 * callback) and the enums. The kinds: json_row.h. */
#define STORE_NONE(...)
#define STORE_TYPE_INT int64_t
#define STORE_TYPE_COUNT int64_t
#define STORE_TYPE_REAL double
#define STORE_TYPE_BOOL bool
#define STORE_TYPE_INDEX uint32_t
#define STORE_TYPE_TEXT const char *
#define STORE_TYPE_STATE enum store_state
#define STORE_TYPE_WANTED enum store_wanted
#define STORE_TYPE_SWEEP enum store_sweep
#define STORE_TYPE_STOP enum store_stop
#define STORE_TYPE_BATCH enum store_batch_state
#define STORE_MEMBER(type, member, ...) STORE_TYPE_##type member;

/* From experiment e. SUMMARY, DETAIL and SEARCH are BOTH, for three maps. */
#define STORE_EXPERIMENT(ROW, SUMMARY, DETAIL, SEARCH)                                                                 \
	SUMMARY(TEXT, name, "e.name", text, "name")                                                                    \
	SUMMARY(TEXT, description, "e.description", text, "description")                                               \
	SUMMARY(STATE, state, "e.state", state, "state")                                                               \
	SUMMARY(INT, created_ms, "e.created_ms", time, "created")                                                      \
	SUMMARY(INT, started_ms, "e.started_ms", time, "started")                                                      \
	SUMMARY(TEXT, strategy, "e.strategy", text, "strategy")                                                        \
	SUMMARY(TEXT, backend, "e.backend", text, "backend")                                                           \
	SUMMARY(TEXT, script, "e.script", text, "script")                                                              \
	SUMMARY(TEXT, objective, "e.objective", json, "objective")                                                     \
	SUMMARY(TEXT, limits, "e.limits", json, "limits")                                                              \
	SUMMARY(TEXT, paused, "e.paused", text, "paused")                                                              \
	DETAIL(TEXT, spec, "e.spec", json, "spec")                                                                     \
	DETAIL(TEXT, parameters, "e.parameters", json, "parameters")                                                   \
	DETAIL(TEXT, varying, "e.varying", json, "varying")                                                            \
	DETAIL(INT, parallel, "e.parallel", int, "parallel")                                                           \
	DETAIL(INT, removed, "e.removed", int, "removed")                                                              \
	SEARCH(TEXT, strategy_reason, "e.strategy_reason", text, "reason")                                             \
	SEARCH(INT, seed, "e.seed", int, "seed")                                                                       \
	SEARCH(INT, planned, "e.planned", int, "tasks")                                                                \
	ROW(TEXT, source_name, "e.source_name")                                                                        \
	ROW(TEXT, source, "e.source")                                                                                  \
	ROW(TEXT, batch_script, "e.batch_script")                                                                      \
	ROW(TEXT, warnings, "e.warnings") /* JSON: a list of {"kind","text"}, see below */                             \
	ROW(TEXT, note, "e.note")                                                                                      \
	/* NULL: no row has come */                                                                                    \
	ROW(TEXT, step_name,                                                                                           \
	    "(SELECT e.step_name WHERE EXISTS (SELECT 1 FROM task WHERE experiment = e.id "                            \
	    "AND step_name IS NOT NULL))")                                                                             \
	ROW(BOOL, asked_all, "e.asked_all")                                                                            \
	ROW(STOP, stopping, "e.stopping")                                                                              \
	ROW(INT, met_task, "e.met_task") /* the task that met `stop: {when}` */                                        \
	ROW(BOOL, removing, "e.removing")                                                                              \
	ROW(SWEEP, sweep, "e.sweep")                                                                                   \
	ROW(INT, sweep_from, "e.sweep_from")                                                                           \
	ROW(INT, sweep_ms, "e.sweep_ms")                                                                               \
	ROW(INT, remove_from, "e.remove_from")

struct store_experiment {
	int64_t id;
	STORE_EXPERIMENT(STORE_MEMBER, STORE_MEMBER, STORE_MEMBER, STORE_MEMBER)
};

int store_add_experiment(struct store *store, const struct store_experiment *row, int64_t *ret_id) MUST_USE;
typedef int (*store_experiment_f)(void *ctx, const struct store_experiment *row);
/* Experiments that still have something to do: those that have not ended, have an action in progress, or are being
 * removed, as a whole or some of their tasks. */
int store_each_active(struct store *store, store_experiment_f each, void *ctx) MUST_USE;
/* One experiment (removing ones too); -ENOENT. */
int store_read_experiment(struct store *store, int64_t id, store_experiment_f each, void *ctx) MUST_USE;
/* The largest seed of the experiments with this script (NULL: none), strategy and parameters, and an experiment that has it;
 * 0: there is no such experiment. */
int store_read_last_seed(struct store *store, const char *script, const char *strategy, const char *parameters,
			 int64_t *ret_experiment, int64_t *ret_seed) MUST_USE;
/* A started_ms of 0 leaves what is there. An experiment that is over has ended with its last task; finished_ms is for one
 * that has no ended task. While the state is not over, the time is cleared. */
int store_set_experiment_state(struct store *store, int64_t id, enum store_state state, int64_t started_ms,
			       int64_t finished_ms) MUST_USE;
int store_set_flag(struct store *store, int64_t id, enum store_flag flag, bool value) MUST_USE;
/* met_task: with STORE_STOP_WHEN the number of the task that met the condition; 0: none. */
int store_set_stopping(struct store *store, int64_t id, enum store_stop why, int64_t met_task) MUST_USE;
/* Stores the progress of an action on all tasks: it continues with task number `from`, and was requested at
 * since_ms. */
int store_set_sweep(struct store *store, int64_t id, enum store_sweep sweep, int64_t from, int64_t since_ms) MUST_USE;
/* Tasks from this number on may be marked with STORE_WANT_REMOVE; 0: none is. */
int store_set_remove_from(struct store *store, int64_t id, int64_t number) MUST_USE;
int store_set_parallel(struct store *store, int64_t id, int64_t parallel) MUST_USE;
/* The kinds of warnings of an experiment. It has one of each, but for the first. */
#define STORE_WARNS_SETTING "setting" /* the file says something that was probably not intended */
#define STORE_WARNS_UNSET "unset" /* the file names no objective */
#define STORE_WARNS_MISSING "missing" /* a task has no value for an objective */
#define STORE_WARNS_ENERGY "energy" /* the energy of a task was not measured, and something needs it */
#define STORE_WARNS_NODES "nodes" /* no task is submitted to some nodes */
#define STORE_WARNS_SAME "same" /* all tasks have one value of the objective */
#define STORE_WARNS_SCRIPT "script" /* the script was replaced */
/* Sets a warning for the user. It replaces the warning of its kind. text NULL: removes it. */
int store_set_warning(struct store *store, int64_t id, const char *kind, const char *text) MUST_USE;
/* Why the experiment is paused; NULL: it is not. */
int store_set_paused(struct store *store, int64_t id, const char *why) MUST_USE;
/* What its waiting tasks wait for; NULL: nothing. */
int store_set_note(struct store *store, int64_t id, const char *note) MUST_USE;
/* Of the finished tasks with a value: how many, and how many different parameters (at most `least` are counted). 0 tasks:
 * their values differ. */
int store_count_same(struct store *store, int64_t id, int64_t least, int64_t *ret_tasks,
		     int64_t *ret_configurations) MUST_USE;
int store_set_objective(struct store *store, int64_t id, const char *json, const char *limits) MUST_USE;
int store_set_step_name(struct store *store, int64_t id, const char *name) MUST_USE;
/* Finds the best task again. */
int store_update_best(struct store *store, int64_t id, bool maximise, bool finished) MUST_USE;
/* The best configuration by the mean of its repeats; those whose repeats have all ended come before the others. */
struct store_repeats {
	int64_t task, number; /* the repeat that is nearest to the mean; 0: no task has a value */
	int64_t count; /* repeats with a value */
	double mean, spread; /* spread: the standard deviation; NAN for one value */
};
int store_read_best_mean(struct store *store, int64_t id, bool maximise, struct store_repeats *ret) MUST_USE;
/* Are configurations run several times? Then `best` is the order of their means, which only store_json_query knows.
 * 1, 0 or a negative errno. */
int store_is_repeated(struct store *store, int64_t id) MUST_USE;
/* number 0: none. more: JSON, or NULL. */
int store_set_best(struct store *store, int64_t id, int64_t number, const char *more) MUST_USE;
/* The task that is the best, and its number; 0: none. */
int store_read_best_task(struct store *store, int64_t id, int64_t *ret_task, int64_t *ret_number) MUST_USE;
/* Deletes some of the experiment: 1 while there is more, 0 when it is gone, or a negative errno. STORE_REMOVED: some of
 * the tasks that store_remove_task has taken out of their experiments; 0 when all are gone. */
#define STORE_REMOVED 0
int store_delete_some(struct store *store, int64_t id) MUST_USE;
int store_count_tasks(struct store *store, int64_t id, int64_t counts[static STORE_STATE_COUNT]) MUST_USE;
/* GPU seconds and joules used so far by all tasks, and by those that were removed. */
int store_sum_cost(struct store *store, int64_t id, double *ret_gpu_s, double *ret_energy_j) MUST_USE;

/* What people write about an experiment (number 0) or a task. Tags: a JSON list of texts. Notes: NULL or "": none. */
int store_read_tags(struct store *store, int64_t experiment, int64_t number, struct buf *out) MUST_USE;
int store_set_tags(struct store *store, int64_t experiment, int64_t number, const char *json) MUST_USE;
int store_set_notes(struct store *store, int64_t experiment, int64_t number, const char *text) MUST_USE;
int store_set_star(struct store *store, int64_t experiment, int64_t number, bool star) MUST_USE;
int store_set_archived(struct store *store, int64_t experiment, bool archived) MUST_USE;

/* The sequence of asks and tells. */
enum store_event_kind {
	STORE_EVENT_ASK,
	STORE_EVENT_TELL,
	STORE_EVENT_ADD,
	STORE_EVENT_CHANGE,
	STORE_EVENT_CORRECT, /* what a task really ran with */
};
struct store_event {
	int64_t seq;
	enum store_event_kind kind;
	int64_t asked; /* the search's id of the ask */
	int64_t outcome;
	const char
		*value; /* JSON: a tell's list of values, {"parameters","fidelity"} of an ask or a correction; NULL */
};
typedef int (*store_event_f)(void *ctx, const struct store_event *event);
int store_add_event(struct store *store, int64_t experiment, const struct store_event *event) MUST_USE;
/* The seq of the last change of the settings; 0: never. */
int store_last_change(struct store *store, int64_t experiment, int64_t *ret) MUST_USE;
/* The newest entry of the sequence (seq), 0: none. */
int store_last_event(struct store *store, int64_t experiment, int64_t *ret) MUST_USE;
/* What was asked or added last, as the search knows it; 0: nothing. */
int store_last_asked(struct store *store, int64_t experiment, int64_t *ret) MUST_USE;
/* New settings of the search: the whole specification and what follows from it. */
int store_change_experiment(struct store *store, int64_t id, const struct store_experiment *row) MUST_USE;
int store_set_planned(struct store *store, int64_t id, int64_t planned) MUST_USE;
int store_each_event(struct store *store, int64_t experiment, store_event_f each, void *ctx) MUST_USE;

/* From task t; ?1 is the experiment. */
#define STORE_TASK(BOTH, ROW, JSON)                                                                                    \
	ROW(INT, experiment, "t.experiment")                                                                           \
	BOTH(INT, number, "t.number", int, "number")                                                                   \
	BOTH(STATE, state, "t.state", state, "state")                                                                  \
	ROW(WANTED, wanted, "t.wanted")                                                                                \
	BOTH(TEXT, reason, "t.reason", text, "reason")                                                                 \
	JSON(text, "waiting_for", TASK_WAITING_FOR)                                                                    \
	JSON(bool, "stalled", TASK_STALLED)                                                                            \
	JSON(json, "cause", "t.cause")                                                                                 \
	BOTH(TEXT, parameters, "t.parameters", json, "parameters")                                                     \
	ROW(TEXT, retries, "t.retries")                                                                                \
	BOTH(INT, repeat, "t.repeat", int, "repeat")                                                                   \
	BOTH(INT, seed, "t.seed", int, "seed")                                                                         \
	ROW(REAL, best, "t.best")                                                                                      \
	ROW(COUNT, best_step, "t.best_step")                                                                           \
	JSON(point, "best", "t.best, t.best_step")                                                                     \
	ROW(REAL, last, "t.last")                                                                                      \
	ROW(COUNT, last_step, "t.last_step")                                                                           \
	JSON(point, "last", "t.last, t.last_step")                                                                     \
	ROW(COUNT, step, "t.step")                                                                                     \
	ROW(BOOL, from_zero, "t.from_zero") /* the steps begin at 0 */                                                 \
	JSON(int, "epoch", "t.step + t.from_zero")                                                                     \
	ROW(COUNT, steps, "t.steps")                                                                                   \
	JSON(int, "epochs", TASK_EPOCHS)                                                                               \
	BOTH(TEXT, step_name, "t.step_name", text, "step_name")                                                        \
	JSON(text, "beyond", "t.beyond")                                                                               \
	JSON(text, "renumbered", "t.renumbered")                                                                       \
	JSON(progress, "progress", "t.state, t.step + t.from_zero, " TASK_EPOCHS)                                      \
	BOTH(INT, created_ms, "t.created_ms", time, "created")                                                         \
	BOTH(INT, submitted_ms, "t.submitted_ms", time, "submitted")                                                   \
	BOTH(INT, started_ms, "t.started_ms", time, "started")                                                         \
	BOTH(INT, finished_ms, "t.finished_ms", time, "finished")                                                      \
	JSON(elapsed, "elapsed_s", "t.state, " TASK_RAN)                                                               \
	BOTH(INT, attempt, "t.attempt", int, "attempt")                                                                \
	ROW(INT, asked, "t.asked")                                                                                     \
	ROW(REAL, fidelity, "t.fidelity")                                                                              \
	ROW(BOOL, fresh, "t.fresh")                                                                                    \
	JSON(text, "node", "t.node")                                                                                   \
	JSON(text, "gpus", "t.gpus")                                                                                   \
	JSON(text, "job", "t.job")                                                                                     \
	JSON(time, "expected_start", "t.expected_start_ms")                                                            \
	JSON(json, "tags", "t.tags")                                                                                   \
	JSON(bool, "star", "t.star")                                                                                   \
	JSON(cost, "cost", ROW_COST_COLUMNS)

struct store_task {
	int64_t id;
	STORE_TASK(STORE_MEMBER, STORE_MEMBER, STORE_NONE)
};

typedef int (*store_task_f)(void *ctx, const struct store_task *row);
/* A store_task_f that keeps the row in the struct store_task that ctx points to, without its texts. */
int store_keep_task(void *ctx, const struct store_task *row);
/* Adds it in state waiting, with its first line of history. */
int store_add_task(struct store *store, const struct store_task *row, int64_t now_ms, int64_t *ret_id) MUST_USE;
/* The largest number that a task has, or had before it was removed; 0: there was none. */
int store_last_number(struct store *store, int64_t experiment, int64_t *ret) MUST_USE;
/* How many of its tasks were imported, with those that were removed or run again since. */
int store_count_imported(struct store *store, int64_t experiment, int64_t *ret) MUST_USE;
int store_add_imported(struct store *store, int64_t experiment, int64_t count) MUST_USE;
/* The first task from number `from` on that is marked with STORE_WANT_REMOVE; -ENOENT. */
int store_find_marked(struct store *store, int64_t experiment, int64_t from, store_task_f each, void *ctx) MUST_USE;
/* Takes a task out of its experiment, which keeps its number and what it used. Its rows are deleted by
 * store_delete_some(STORE_REMOVED). */
int store_remove_task(struct store *store, const struct store_task *row) MUST_USE;
/* The newest attempt of all; 0: there is none. */
int store_last_attempt(struct store *store, int64_t *ret) MUST_USE;
/* No new attempt gets an id up to this one. */
int store_leave_attempts(struct store *store, int64_t until) MUST_USE;
int store_read_task(struct store *store, int64_t experiment, int64_t number, store_task_f each, void *ctx) MUST_USE;
/* At most `limit` tasks of the experiment from number `from` on, by number. */
int store_each_task(struct store *store, int64_t experiment, int64_t from, int64_t limit, store_task_f each,
		    void *ctx) MUST_USE;
/* Waiting tasks that may be submitted now, by number. */
int store_each_ready(struct store *store, int64_t experiment, int64_t now_ms, int64_t limit, store_task_f each,
		     void *ctx) MUST_USE;
/* The same, ordered by the time since the last retry, longest first. */
int store_each_rested(struct store *store, int64_t experiment, int64_t now_ms, int64_t limit, store_task_f each,
		      void *ctx) MUST_USE;
/* A change of state, with its time and reason in the history. cause: JSON, NULL unless error. */
int store_set_task_state(struct store *store, int64_t id, enum store_state state, const char *reason, const char *cause,
			 int64_t now_ms, enum store_state *ret_before) MUST_USE;
int store_set_task_reason(struct store *store, int64_t id, const char *reason, int64_t expected_start_ms) MUST_USE;
int store_set_wanted(struct store *store, int64_t id, enum store_wanted wanted) MUST_USE;
/* Waiting again after a failed attempt, not before a time. */
int store_set_retry(struct store *store, int64_t id, const char *retries, int64_t not_before_ms) MUST_USE;
/* Forgets the retries under this key, for all tasks of the experiment that have not ended. */
int store_forget_retries(struct store *store, int64_t experiment, const char *key) MUST_USE;
/* Prepares another attempt that a user asked for. fresh: it starts from the beginning, and the old metrics stay until
 * it has started. The caller sets the state. */
int store_reset_task(struct store *store, int64_t id, bool fresh) MUST_USE;
/* Takes such an attempt back: if the task had ended and has not begun since, it is again as it was, and the history has
 * why. 1: it is; 0: nothing was changed. */
int store_restore_task(struct store *store, int64_t id, const char *why, int64_t now_ms, enum store_state *ret_before,
		       enum store_state *ret_state) MUST_USE;
/* What the task really runs with, as JSON. steps: 0 leaves them as they are. */
int store_set_parameters(struct store *store, int64_t id, const char *parameters, int64_t steps) MUST_USE;
/* The search continues a task at another fidelity: stores its parameters and its newest ask. */
int store_promote_task(struct store *store, int64_t id, const struct store_task *row) MUST_USE;
/* The task whose newest ask this is; -ENOENT: it was removed, is being removed, or has a newer ask. */
int store_find_asked(struct store *store, int64_t experiment, int64_t asked, store_task_f each, void *ctx) MUST_USE;
int store_set_progress(struct store *store, const struct store_task *row) MUST_USE;
/* The limit that it does not keep, in words; NULL: it keeps all of them. */
int store_set_beyond(struct store *store, int64_t id, const char *text) MUST_USE;
/* Has a task of the experiment values of this metric, and steps that count rows? */
int store_counts_rows(struct store *store, int64_t experiment, const char *metric, bool *ret) MUST_USE;
/* What its steps count. */
int store_set_task_step_name(struct store *store, int64_t id, const char *name) MUST_USE;
/* Why some of its rows have other steps than in their file. The first reason stays until the metrics are cleared. */
int store_set_renumbered(struct store *store, int64_t id, const char *why) MUST_USE;
/* Deletes some of its metrics: 1 while there may be more, 0 when none is left, or a negative errno. */
int store_clear_metrics(struct store *store, int64_t task) MUST_USE;
/* Adds a sample of what the task does. They are kept thinned out: LIMIT_SAMPLES_BYTES for a task. */
int store_add_sample(struct store *store, int64_t task, const struct sample *sample) MUST_USE;
/* The newest one; -ENOENT. */
int store_last_sample(struct store *store, int64_t task, struct sample *ret) MUST_USE;
int store_clear_samples(struct store *store, int64_t task) MUST_USE;
/* The samples of a task, from the oldest to the newest. A sample is valid during the call. */
typedef int (*store_sample_f)(void *ctx, const struct sample *sample);
int store_each_sample(struct store *store, int64_t task, store_sample_f each, void *ctx) MUST_USE;
/* Have rows of the task an epoch? */
int store_has_epochs(struct store *store, int64_t task, bool *ret) MUST_USE;
/* The newest steps of the task's first metric that has epochs, else of its first, the newest first. */
typedef int (*store_step_f)(void *ctx, int64_t step, int64_t time_ms);
int store_each_step(struct store *store, int64_t task, int64_t limit, store_step_f each, void *ctx) MUST_USE;
/* What one task used. NAN: not known. */
struct store_used {
	int64_t task;
	double wall_ms, memory_bytes, gpu_util_pct, gpu_memory_bytes, gpu_slowed_s;
};
/* Of the newest tasks that finished or were pruned. */
typedef int (*store_used_f)(void *ctx, const struct store_used *used);
int store_each_used(struct store *store, int64_t experiment, int64_t limit, store_used_f each, void *ctx) MUST_USE;
/* How many attempts of the experiment ended with this cause. */
int store_count_cause(struct store *store, int64_t experiment, const char *cause, int64_t *ret) MUST_USE;
/* What the newest tasks took that finished or were pruned; energy NAN where it was not measured. */
typedef int (*store_took_f)(void *ctx, double wall_ms, double energy_j);
int store_each_took(struct store *store, int64_t experiment, int64_t limit, store_took_f each, void *ctx) MUST_USE;
/* A line in the timeline without a change of state. */
int store_add_history(struct store *store, int64_t task, enum store_state state, const char *text,
		      int64_t time_ms) MUST_USE;

/* The first line of the timeline with this text in it, to be freed; NULL: there is none. */
int store_find_history(struct store *store, int64_t task, const char *text, char **ret) MUST_USE;

/* An attempt that may be alive, with the data to follow it. From attempt a, task t and batch b; the JSON only from
 * a. */
#define STORE_ATTEMPT(BOTH, ROW, JSON)                                                                                 \
	ROW(INT, task, "a.task")                                                                                       \
	ROW(INT, experiment, "t.experiment")                                                                           \
	ROW(INT, task_number, "t.number")                                                                              \
	BOTH(INT, number, "a.number", int, "number")                                                                   \
	BOTH(STATE, state, "a.state", state, "state")                                                                  \
	JSON(json, "cause", "a.cause")                                                                                 \
	ROW(INT, journal_offset, "a.journal_offset")                                                                   \
	ROW(INT, created_ms, "a.created_ms")                                                                           \
	BOTH(INT, submitted_ms, "a.submitted_ms", time, "submitted")                                                   \
	BOTH(INT, started_ms, "a.started_ms", time, "started")                                                         \
	JSON(time, "finished", "a.finished_ms")                                                                        \
	ROW(INDEX, index, "a.idx")                                                                                     \
	ROW(WANTED, wanted, "t.wanted")                                                                                \
	ROW(TEXT, token, "a.token")                                                                                    \
	JSON(text, "node", "a.node")                                                                                   \
	JSON(text, "job", "a.job")                                                                                     \
	ROW(TEXT, job, "coalesce(a.job, b.job)")                                                                       \
	ROW(TEXT, backend, "b.backend")                                                                                \
	ROW(TEXT, stall, "a.stall")                                                                                    \
	ROW(TEXT, slow, "a.slow")                                                                                      \
	ROW(BOOL, silent, "a.silent")                                                                                  \
	ROW(TEXT, ended, "a.ended") /* JSON: what its END record said; NULL: none was read */                          \
	ROW(INT, absent_ms, "b.absent_ms")                                                                             \
	ROW(BOOL, measured, "a.energy_j IS NOT NULL") /* its energy is known */                                        \
	ROW(TEXT, asked, "b.asked") /* JSON: what it asked for; NULL: an earlier version did not write it down */      \
	ROW(BATCH, batch_state, "b.state")                                                                             \
	JSON(int, "exit_code", "a.exit_code")                                                                          \
	JSON(int, "signal", "a.signal")                                                                                \
	JSON(text, "gpus", "a.gpus")                                                                                   \
	JSON(json, "asked", "(SELECT b.asked FROM batch b WHERE b.token = a.token)")                                   \
	JSON(text, "ran", "a.ran")                                                                                     \
	JSON(bool, "warm", "a.warm")                                                                                   \
	JSON(cost, "cost", ROW_COST_COLUMNS)

struct store_attempt {
	int64_t id;
	STORE_ATTEMPT(STORE_MEMBER, STORE_MEMBER, STORE_NONE)
};

typedef int (*store_attempt_f)(void *ctx, const struct store_attempt *row);
int store_add_batch(struct store *store, const char *token, int64_t experiment, const char *backend,
		    enum store_batch_state state, int64_t parallel, const char *asked, int64_t now_ms) MUST_USE;
int store_set_batch(struct store *store, const char *token, enum store_batch_state state, const char *job) MUST_USE;
int store_set_batch_absent(struct store *store, const char *token, int64_t absent_ms) MUST_USE;
/* Adds the attempt and makes it the task's newest; the task is submitted from now on. */
int store_add_attempt(struct store *store, int64_t task, int64_t number, const char *token, uint32_t index,
		      int64_t now_ms, int64_t *ret_id) MUST_USE;
/* Is the item of a batch an attempt that may be alive? 1, 0 or a negative errno. */
int store_is_live(struct store *store, const char *token, uint32_t index) MUST_USE;
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
/* While it runs. stall: that its script makes no progress, in words; slow: that it is slower than its siblings; NULL: not
 * so. silent: its runner gives no sign of life. */
int store_set_stall(struct store *store, int64_t attempt, const char *stall) MUST_USE;
int store_set_slow(struct store *store, int64_t attempt, const char *slow) MUST_USE;
int store_set_silent(struct store *store, int64_t attempt, bool silent) MUST_USE;
/* How its script was started: from a process that had its modules imported (warm), or cold. */
int store_set_warm(struct store *store, int64_t attempt, bool warm) MUST_USE;
int store_set_journal_offset(struct store *store, int64_t attempt, int64_t offset) MUST_USE;
/* It runs: host, GPUs and the backend's id, of the attempt and of its task. */
int store_start_attempt(struct store *store, int64_t attempt, int64_t task, const char *node, const char *gpus,
			const char *job, int64_t started_ms) MUST_USE;
/* What it ran: the digest of the content, which the experiment has once. 1, 0 or a negative errno. */
int store_has_ran(struct store *store, int64_t experiment, const char *digest) MUST_USE;
int store_add_ran(struct store *store, int64_t experiment, const char *digest, const char *content) MUST_USE;
int store_set_ran(struct store *store, int64_t attempt, const char *digest) MUST_USE;
/* Stores the node and job that the backend reports, before the journal does, for the attempt and its task. NULL leaves
 * a value unchanged. */
int store_set_place(struct store *store, int64_t attempt, int64_t task, const char *node, const char *job) MUST_USE;
int store_set_job(struct store *store, int64_t attempt, int64_t task, const char *job) MUST_USE;
/* Stores what the attempt has used so far. An unknown figure leaves the stored one unchanged. The source is only stored
 * with a known energy. The task gets the sum over its attempts. */
int store_set_cost(struct store *store, int64_t attempt, int64_t task, const struct cost *cost) MUST_USE;
/* Has the runner of the attempt measured energy itself? 1, 0 or a negative errno. */
int store_measures_energy(struct store *store, int64_t attempt) MUST_USE;
/* Stores that its END record was read, and its cost. All other results may have to wait for the backend's report. */
int store_set_ended(struct store *store, int64_t attempt, int64_t task, const char *ended,
		    const struct cost *cost) MUST_USE;
int store_end_attempt(struct store *store, int64_t attempt, enum store_state state, const char *cause, int exit_code,
		      int signal, int64_t now_ms) MUST_USE;

enum store_take { STORE_TAKE_LEAST, STORE_TAKE_MOST, STORE_TAKE_LAST, STORE_TAKE_MEAN };
/* One number for a task's metric: its least, most, last, or the mean of its last `of` values; for the
 * names "time" (seconds) and "energy" (joules), unless they are metrics, the cost. NAN: none. */
int store_read_objective(struct store *store, int64_t experiment, int64_t task, const char *name, enum store_take take,
			 int64_t of, double *ret) MUST_USE;
/* The step of that value, and of a mean the last step; -1: none, as for a cost. */
int store_read_objective_step(struct store *store, int64_t experiment, int64_t task, const char *name,
			      enum store_take take, int64_t *ret) MUST_USE;
/* How an objective is taken, from its JSON: {"metric":…,"goal":…,"take":…,"of":…}. */
enum store_take store_objective_take(const struct node *objective, int64_t *ret_of);

/* How far the task's newest value of the metric is: its epoch, or its step where no epoch is known. -1: no value. */
int store_read_reached(struct store *store, int64_t experiment, int64_t task, const char *name, double *ret) MUST_USE;
/* The best (least, or most) value of the metric up to there, of every other task that came as far or has finished: what
 * pruning compares with. pruned: also of those that were pruned. The caller frees *ret. */
int store_read_rivals(struct store *store, int64_t experiment, int64_t task, const char *name, double at, bool most,
		      bool pruned, double **ret, size_t *ret_count) MUST_USE;
/* Ids of the finished tasks of an experiment. The caller frees *ret. */
int store_read_finished(struct store *store, int64_t experiment, int64_t **ret, size_t *ret_count) MUST_USE;

/* The first answer to an idempotency key: 1 and the experiment, 0 when the key is new, -EEXIST when the
 * body was another one. */
int store_find_key(struct store *store, const char *key, const char *body_hash, int64_t *ret_experiment) MUST_USE;
int store_add_key(struct store *store, const char *key, const char *body_hash, int64_t experiment,
		  int64_t now_ms) MUST_USE;

/* 0 or a negative errno; *ret_id names the metric within the experiment. */
int store_metric_name(struct store *store, int64_t experiment, const char *name, int64_t *ret_id) MUST_USE;
/* One value of a metric. */
struct store_point {
	int64_t name, step, time_ms;
	double value;
	double epoch; /* may be a fraction; NAN: not known */
};
/* Replaces the value that the metric has at this step. */
int store_add_metric(struct store *store, int64_t task, const struct store_point *point) MUST_USE;
/* Moves all values of a task's metric to another name. They replace the values there at the same steps. */
int store_rename_metric(struct store *store, int64_t task, int64_t from, int64_t to) MUST_USE;
int store_drop_metric(struct store *store, int64_t task, int64_t name) MUST_USE;
/* Computes best and last of a task from its values of the metric; NAN and -1 if there are none. */
int store_read_progress(struct store *store, const char *name, bool maximise, struct store_task *task) MUST_USE;

/* A file that a task's metrics come from. */
struct store_source {
	const char *source; /* "csv:logs/train.csv" */
	int64_t attempt; /* the newest that wrote it */
	const char *step_name;
	const char *names; /* JSON map: column -> name of the metric; null: left out */
};
typedef int (*store_source_f)(void *ctx, const struct store_source *source);
int store_each_source(struct store *store, int64_t task, store_source_f each, void *ctx) MUST_USE;
int store_set_source(struct store *store, int64_t task, const struct store_source *source) MUST_USE;

/* How long tasks of a program took: in the newest experiment with the same script (or program) and command (JSON; NULL:
 * none) that has finished tasks with a measured time. Looks at the newest 100 such experiments, and at 1000 tasks of
 * that one. -ENOENT. */
struct store_pace {
	int64_t experiment, median_ms;
	char backend[24];
	char *parameters; /* JSON, as REST shows them; the caller frees it */
};
int store_read_pace(struct store *store, const char *script, const char *command, struct store_pace *ret) MUST_USE;
/* A finished task of such a program, in any experiment. */
struct store_run {
	int64_t experiment;
	const char *parameters; /* JSON; valid during the callback */
	double wall_ms, energy_j; /* NAN: not measured */
};
typedef int (*store_run_f)(void *ctx, const struct store_run *row);
/* At most `limit` finished tasks with a measured time, the newest first, of the same experiments as store_read_pace. */
int store_each_run(struct store *store, const char *script, const char *command, int64_t limit, store_run_f each,
		   void *ctx) MUST_USE;

/* The experiments themselves, the newest first, at most `limit`. */
typedef int (*store_id_f)(void *ctx, int64_t id);
int store_each_same(struct store *store, const char *script, const char *command, int64_t limit, store_id_f each,
		    void *ctx) MUST_USE;

/* The names of the metrics that were measured, in the order in which they appeared: of a task, or (task 0) of all. */
typedef int (*store_name_f)(void *ctx, const char *name);
int store_each_metric_name(struct store *store, int64_t experiment, int64_t task, store_name_f each,
			   void *ctx) MUST_USE;
/* Reads the best value (the first of equal ones) and the last value of a metric of a task into best, best_step, last
 * and last_step of the row. They are NAN and -1 if the task does not have the metric. */
int store_read_rank(struct store *store, int64_t experiment, const char *metric, bool maximise,
		    struct store_task *row) MUST_USE;
/* The numbers of tasks that have finished or were pruned, and of which the sequence has no result. */
int store_each_untold(struct store *store, int64_t experiment, store_id_f each, void *ctx) MUST_USE;
/* Replaces the value of an entry of the sequence. */
int store_set_event_value(struct store *store, int64_t experiment, int64_t seq, const char *value) MUST_USE;

/* What was measured of tasks of a script that share a GPU, as JSON. `script` is a digest, `gpu` the model. -ENOENT:
 * nothing is known. */
int store_set_sharing(struct store *store, const char *script, const char *gpu, const char *measured,
		      int64_t now_ms) MUST_USE;
int store_read_sharing(struct store *store, const char *script, const char *gpu, struct buf *out) MUST_USE;

/* A finished task, for the analysis. */
struct store_result {
	int64_t id, number;
	const char *parameters; /* JSON; valid during the callback */
	double best, time_s; /* NAN: not known */
	bool beyond; /* it does not keep a limit */
	bool unsettled; /* with repeats: not all tasks of its configuration have ended well */
	bool imported;
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
/* The id that the next experiment gets, unless another one is added first. */
int64_t store_next_experiment(struct store *store);
/* A text of the experiment: "source", "batch_script" (as planned), "last_batch" (the token of the last submission). */
int store_read_text(struct store *store, int64_t experiment, const char *column, struct buf *out) MUST_USE;

#endif
