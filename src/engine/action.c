/* What a user can ask for: stop, restart, remove, another limit. Each is first a change in the store; the next turn
 * carries it out, and continues after a crash. */
#include "engine/action.h"

#include "engine/experiment.h"
#include "engine/hold.h"
#include "engine/live.h"
#include "engine/load.h"
#include "engine/pause.h"
#include "engine/propose.h"
#include "engine/spec.h"
#include "engine/settle.h"
#include "engine/state.h"
#include "engine/sweep.h"
#include "engine/transact.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/log.h"
#include "spool/descriptor.h"
#include "spool/stop.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

struct action {
	struct engine_experiment *experiment;
	bool failed_only;
	enum store_stop stop;
	enum engine_mode mode;
	int64_t met_task; /* with STORE_STOP_WHEN: the task that met the condition */
	int64_t parallel;
	int64_t touched; /* how many tasks */
	VEC(struct store_task) tasks; /* that were named */
};

static int action_collect_cb(void *ctx, const struct store_task *row)
{
	struct action *action = ctx;
	struct store_task copy = *row;
	copy.parameters = copy.retries = copy.reason = NULL;
	vec_push(&action->tasks, copy);
	return 0;
}

/* The experiment, and the tasks that the numbers name. The caller frees the list. */
static int action_find(struct engine *engine, int64_t experiment, const int64_t *numbers, size_t count,
		       struct action *action, struct error *err)
{
	int rc = engine_open_experiment(engine, experiment, &action->experiment, err);
	for (size_t i = 0; rc == 0 && numbers && i < count; i++) {
		rc = store_read_task(engine->store, experiment, numbers[i], action_collect_cb, action);
		if (rc == 0 && action->tasks.at[action->tasks.len - 1].wanted == STORE_WANT_REMOVE)
			rc = -ENOENT;
		if (rc == -ENOENT)
			return errorf(err, rc, "there is no task e%" PRId64 "/%" PRId64, experiment, numbers[i]);
	}
	return rc;
}

const char *engine_stop_why(struct engine *engine, const struct engine_experiment *experiment, int64_t task)
{
	enum store_stop why = experiment->stopping;
	if (engine_runs_on(experiment, task)) /* and was stopped all the same */
		why = engine_is_over_budget(engine, experiment) ? STORE_STOP_BUDGET : STORE_STOP_USER;
	switch (why) {
	case STORE_STOP_WHEN: return "stopped: the stopping condition of the experiment is met";
	case STORE_STOP_BUDGET: return "stopped: the budget of the experiment is used up";
	default: return "stopped by the user";
	}
}

/* Everything of the experiment: written down, and carried out turn by turn. */
static int action_stop_all(struct engine *engine, void *ctx, struct error *err)
{
	struct action *action = ctx;
	struct engine_experiment *e = action->experiment;
	(void)err;
	if (e->removing || (store_state_is_over(e->state) && !e->sweep))
		return 0;
	e->stopping = action->stop;
	e->met_task = action->met_task;
	e->changed = true;
	action->touched = e->counts[STORE_WAITING] + e->counts[STORE_SUBMITTED] + e->counts[STORE_RUNNING];
	int rc = store_set_stopping(engine->store, e->id, e->stopping, e->met_task);
	if (rc == 0)
		rc = engine_pause_end(engine, e);
	if (rc == 0 && e->spec->search->open)
		rc = engine_note_all(engine, e);
	return rc < 0 ? rc : engine_begin_sweep(engine, e, STORE_SWEEP_STOP);
}

int64_t engine_unproposed(struct engine *engine, int64_t experiment)
{
	const struct engine_experiment *e = engine_find(engine, experiment);
	bool open = e && !e->asked_all && !e->stopping && e->planned > e->last_number;
	return open ? e->planned - e->last_number : 0;
}

int engine_stop_within(struct engine *engine, struct engine_experiment *experiment, enum store_stop why)
{
	struct action action = {.experiment = experiment, .stop = why};
	return action_stop_all(engine, &action, NULL);
}

int engine_stop_met(struct engine *engine, struct engine_experiment *experiment, int64_t task)
{
	struct action action = {.experiment = experiment, .stop = STORE_STOP_WHEN, .met_task = task};
	return action_stop_all(engine, &action, NULL);
}

int engine_end_met(struct engine *engine, struct engine_experiment *experiment)
{
	struct store_task task = {0};
	if (store_state_is_over(experiment->state))
		return 0;
	int rc = store_read_task(engine->store, experiment->id, experiment->met_task, store_keep_task, &task);
	if (rc < 0 || task.wanted != STORE_WANT_RUN || store_state_is_over(task.state))
		return rc == -ENOENT ? 0 : rc;
	rc = engine_stop_task(engine, experiment, &task);
	for (size_t i = 0; rc == 0 && i < engine->live.len; i++)
		if (engine->live.at[i]->task.id == task.id)
			engine->live.at[i]->task.wanted = STORE_WANT_STOP;
	return rc;
}

static int action_stop(struct engine *engine, void *ctx, struct error *err)
{
	struct action *action = ctx;
	int rc = 0;
	(void)err;
	for (size_t i = 0; rc == 0 && i < action->tasks.len; i++) {
		const struct store_task *task = &action->tasks.at[i];
		if (store_state_is_over(task->state))
			continue;
		rc = engine_stop_task(engine, action->experiment, task);
		for (size_t k = 0; k < engine->live.len; k++)
			if (engine->live.at[k]->task.id == task->id)
				engine->live.at[k]->task.wanted = STORE_WANT_STOP;
		action->touched++;
	}
	return rc;
}

int engine_stop(struct engine *engine, int64_t experiment, const int64_t *numbers, size_t count, int64_t *ret_count,
		struct error *err)
{
	struct action action = {.stop = STORE_STOP_USER};
	int rc = action_find(engine, experiment, numbers, count, &action, err);
	if (rc == 0)
		rc = engine_transact(engine, numbers ? action_stop : action_stop_all, &action, err);
	free(action.tasks.at);
	*ret_count = rc == 0 ? action.touched : 0;
	return rc;
}

static bool action_is_named(const int64_t *numbers, size_t count, int64_t number)
{
	for (size_t i = 0; numbers && i < count; i++)
		if (numbers[i] == number)
			return true;
	return !numbers;
}

static bool action_can_save(const struct engine_live *live, int64_t experiment, const int64_t *numbers, size_t count)
{
	return live->experiment->id == experiment && live->facts.phase == ATTEMPT_RUNNING &&
		live->task.wanted == STORE_WANT_RUN && action_is_named(numbers, count, live->task.number);
}

/* The request is written down before the scripts see it. Where the mark cannot be written it is an ordinary stop, which
 * lets a script save too, though for a shorter time. */
int engine_stop_saving(struct engine *engine, int64_t experiment, const int64_t *numbers, size_t count,
		       int64_t *ret_count, struct error *err)
{
	struct engine_experiment *e;
	int rc = engine_open_experiment(engine, experiment, &e, err);
	if (rc < 0)
		return rc;
	const struct backend_resources *r = &e->spec->resources;
	if (!r->checkpoint_signal)
		return errorf(err, -EINVAL,
			      "e%" PRId64
			      " has no `checkpoint: {signal: USR1}` in its file, so its script may not know how to "
			      "save; stop it without a checkpoint",
			      experiment);
	int64_t within = r->signal_before_ms < SPOOL_SAVE_MOST_MS ? r->signal_before_ms : SPOOL_SAVE_MOST_MS;
	int64_t until = clock_mono_ms() + within + 2 * SPOOL_GRACE_MS;
	for (size_t i = 0; i < engine->live.len; i++)
		if (action_can_save(engine->live.at[i], experiment, numbers, count))
			engine->live.at[i]->save_until_ms = until;
	rc = engine_stop(engine, experiment, numbers, count, ret_count, err);
	for (size_t i = 0; i < engine->live.len; i++) {
		struct engine_live *live = engine->live.at[i];
		struct error unwritten;
		if (live->save_until_ms != until || live->experiment->id != experiment)
			continue;
		if (rc < 0 || spool_save_write(live->attempt_dir, within, &unwritten) < 0)
			live->save_until_ms = 0;
	}
	return rc;
}

int engine_end_stop(struct engine *engine, struct engine_experiment *e)
{
	e->stopping = STORE_STOP_NO;
	e->met_task = 0;
	e->changed = true;
	return store_set_stopping(engine->store, e->id, STORE_STOP_NO, 0);
}

static int action_restart_all(struct engine *engine, void *ctx, struct error *err)
{
	struct action *action = ctx;
	struct engine_experiment *e = action->experiment;
	int rc = 0;
	(void)err;
	action->touched = e->counts[STORE_ERROR];
	if (!action->failed_only)
		action->touched += e->counts[STORE_FINISHED] + e->counts[STORE_STOPPED] + e->counts[STORE_PRUNED];
	if (!action->failed_only && e->stopping) {
		rc = engine_end_stop(engine, e);
	}
	if (rc == 0)
		rc = engine_hold_forget(engine, e);
	if (rc == 0)
		rc = engine_pause_end(engine, e);
	return rc < 0 ? rc : engine_begin_sweep(engine, e, engine_sweep_of(action->mode, action->failed_only));
}

static int action_restart(struct engine *engine, void *ctx, struct error *err)
{
	struct action *action = ctx;
	int rc = engine_hold_forget(engine, action->experiment);
	(void)err;
	if (rc == 0)
		rc = engine_pause_end(engine, action->experiment);
	for (size_t i = 0; rc == 0 && i < action->tasks.len; i++) {
		const struct store_task *task = &action->tasks.at[i];
		if (!store_state_is_over(task->state) || (action->failed_only && task->state != STORE_ERROR))
			continue;
		rc = engine_restart_task(engine, action->experiment, task, action->mode);
		action->touched++;
	}
	return rc;
}

/* What runs is not run a second time; said instead of an answer as if it were, where nothing else was asked for. */
static int action_check_over(const struct action *action, struct error *err)
{
	const struct store_task *running = NULL;
	for (size_t i = 0; i < action->tasks.len; i++) {
		if (action->tasks.at[i].state != STORE_RUNNING)
			return 0;
		running = running ? running : &action->tasks.at[i];
	}
	if (!running)
		return 0;
	int64_t e = action->experiment->id, n = running->number;
	return errorf(err, -EBUSY,
		      "e%" PRId64 "/%" PRId64 " runs: `sluice stop e%" PRId64 "/%" PRId64
		      "` first, and restart it when it has ended",
		      e, n, e, n);
}

int engine_restart(struct engine *engine, int64_t experiment, const int64_t *numbers, size_t count, bool failed_only,
		   enum engine_mode mode, int64_t *ret_count, struct error *err)
{
	struct action action = {.failed_only = failed_only, .mode = mode};
	int rc = action_find(engine, experiment, numbers, count, &action, err);
	/* What begins again before the stop has come to it would be stopped by it. */
	if (rc == 0 && (numbers || failed_only) && action.experiment->sweep == STORE_SWEEP_STOP)
		rc = errorf(err, -EBUSY, "e%" PRId64 " is still being stopped; try again in a moment", experiment);
	if (rc == 0 && numbers)
		rc = action_check_over(&action, err);
	if (rc == 0)
		rc = engine_transact(engine, numbers ? action_restart : action_restart_all, &action, err);
	free(action.tasks.at);
	*ret_count = rc == 0 ? action.touched : 0;
	return rc;
}

static int action_resume(struct engine *engine, void *ctx, struct error *err)
{
	struct action *action = ctx;
	struct engine_experiment *e = action->experiment;
	(void)err;
	if (e->paused && !e->stopping)
		return engine_pause_end(engine, e);
	int rc = engine_end_stop(engine, e);
	return rc < 0 ? rc : engine_begin_sweep(engine, e, STORE_SWEEP_GO_ON);
}

int engine_resume(struct engine *engine, int64_t experiment, struct error *err)
{
	struct action action = {0};
	int rc = action_find(engine, experiment, NULL, 0, &action, err);
	/* Also where each task was stopped by itself. */
	if (rc == 0 && !action.experiment->paused && !action.experiment->stopping &&
	    action.experiment->state != STORE_STOPPED)
		rc = errorf(err, -EBUSY, "e%" PRId64 " is neither paused nor stopped", experiment);
	if (rc == 0 && action.experiment->sweep == STORE_SWEEP_STOP)
		rc = errorf(err, -EBUSY, "e%" PRId64 " is still being stopped; try again in a moment", experiment);
	return rc < 0 ? rc : engine_transact(engine, action_resume, &action, err);
}

static int action_set_parallel(struct engine *engine, void *ctx, struct error *err)
{
	struct action *action = ctx;
	struct engine_experiment *e = action->experiment;
	(void)err;
	e->parallel = action->parallel;
	e->changed = e->parallel_changed = true;
	return store_set_parallel(engine->store, e->id, e->parallel);
}

int engine_set_parallel(struct engine *engine, int64_t experiment, int64_t parallel, struct error *err)
{
	struct action action = {.parallel = parallel};
	if (parallel < 0 || parallel > LIMIT_PARALLEL)
		return errorf(err, -EINVAL, "parallel is a number from 0 (no limit) to %d", LIMIT_PARALLEL);
	int rc = action_find(engine, experiment, NULL, 0, &action, err);
	return rc < 0 ? rc : engine_transact(engine, action_set_parallel, &action, err);
}

/* What waits goes with the experiment; only what is alive has to be stopped first. */
static int action_remove(struct engine *engine, void *ctx, struct error *err)
{
	struct action *action = ctx;
	struct engine_experiment *e = action->experiment;
	(void)err;
	e->removing = true;
	int rc = store_set_flag(engine->store, e->id, STORE_FLAG_REMOVING, true);
	for (size_t i = 0; rc == 0 && i < engine->live.len; i++) {
		struct engine_live *live = engine->live.at[i];
		if (live->experiment != e || live->facts.phase == ATTEMPT_SETTLED)
			continue;
		live->task.wanted = STORE_WANT_STOP;
		rc = store_set_wanted(engine->store, live->task.id, STORE_WANT_STOP);
	}
	return rc;
}

int engine_remove(struct engine *engine, int64_t experiment, bool stop, struct error *err)
{
	struct action action = {0};
	int rc = action_find(engine, experiment, NULL, 0, &action, err);
	if (rc == 0 && action.experiment->live && !stop)
		rc = errorf(err, -EBUSY, "e%" PRId64 " has %" PRId64 " running tasks; stop it first", experiment,
			    action.experiment->live);
	return rc < 0 ? rc : engine_transact(engine, action_remove, &action, err);
}
