/* What a user can ask for: stop, restart, remove, another limit. Each is a change in the store first; the
 * next turn carries it out, and goes on carrying it out after a crash. */
#include "engine/internal.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/log.h"

#include <errno.h>
#include <stdio.h>

struct action {
	struct engine *engine;
	struct engine_experiment *experiment;
	const int64_t *numbers;
	size_t count;
	bool failed_only;
	VEC(struct store_task) tasks;
};

static int action_collect_cb(void *ctx, const struct store_task *row)
{
	struct action *action = ctx;
	struct store_task copy = *row;
	copy.parameters = copy.retries = NULL;
	vec_push(&action->tasks, copy);
	return 0;
}

/* The tasks that the numbers name. */
static int action_collect(struct action *action, struct error *err)
{
	struct store *store = action->engine->store;
	int64_t id = action->experiment->id;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < action->count; i++) {
		rc = store_read_task(store, id, action->numbers[i], action_collect_cb, action);
		if (rc == -ENOENT)
			return errorf(err, rc, "there is no task e%lld/%lld", (long long)id,
				      (long long)action->numbers[i]);
	}
	return rc;
}

const char *engine_stop_why(const struct engine_experiment *experiment)
{
	return experiment->stopping && experiment->stop_why ? experiment->stop_why : "stopped by the user";
}

/* Opens the transaction and the experiment. After a failure nothing has changed. */
static int action_begin(struct engine *engine, int64_t experiment, struct action *action, struct error *err)
{
	int rc = store_begin(engine->store, err);
	if (rc == 0)
		rc = engine_load_experiment(engine, experiment, &action->experiment, err);
	if (rc == 0 && action->experiment->removing)
		rc = errorf(err, -ENOENT, "there is no experiment e%lld", (long long)experiment);
	return rc;
}

int engine_conclude(struct engine *engine, int rc, struct error *err)
{
	struct error why = {0};
	/* What was read in vain (an experiment that is over) is let go by the next turn. */
	engine_soon(engine);
	if (rc == -ENOENT || rc == -EBUSY || rc == -EINVAL || rc == -EAGAIN)
		return rc; /* refused before anything was written */
	if (rc >= 0) {
		int written = engine_update_experiments(engine);
		if (written == 0)
			written = store_commit(engine->store, &why);
		if (written == 0)
			return rc;
		rc = written;
	}
	if (!why.text[0])
		errorf(&why, rc, "%s", strerror(-rc));
	engine_degrade(engine, &why);
	return errorf(err, rc, "the change could not be written: %s", why.text);
}

/* Everything of the experiment: written down, and carried out turn by turn. */
static int action_stop_all(struct action *action, int64_t *ret_count)
{
	struct engine *engine = action->engine;
	struct engine_experiment *e = action->experiment;
	if (store_state_is_over(e->state) && !e->sweep)
		return 0;
	e->stopping = e->changed = true;
	*ret_count = e->counts[STORE_WAITING] + e->counts[STORE_SUBMITTED] + e->counts[STORE_RUNNING];
	int rc = store_set_flag(engine->store, e->id, STORE_FLAG_STOPPING, true);
	return rc < 0 ? rc : engine_begin_sweep(engine, e, STORE_SWEEP_STOP);
}

int engine_stop_within(struct engine *engine, int64_t experiment, const int64_t *numbers, size_t count,
		       int64_t *ret_count, struct error *err)
{
	struct action action = {.engine = engine, .numbers = numbers, .count = count};
	*ret_count = 0;
	int rc = action_begin(engine, experiment, &action, err);
	if (rc == 0 && !numbers)
		return action_stop_all(&action, ret_count);
	if (rc == 0)
		rc = action_collect(&action, err);
	for (size_t i = 0; rc == 0 && i < action.tasks.len; i++) {
		const struct store_task *task = &action.tasks.at[i];
		if (store_state_is_over(task->state))
			continue;
		rc = engine_stop_task(engine, action.experiment, task);
		for (size_t k = 0; k < engine->live.len; k++)
			if (engine->live.at[k]->task.id == task->id)
				engine->live.at[k]->task.wanted = STORE_WISH_STOP;
		++*ret_count;
	}
	free(action.tasks.at);
	return rc;
}

int engine_stop(struct engine *engine, int64_t experiment, const int64_t *numbers, size_t count, int64_t *ret_count,
		struct error *err)
{
	int rc = engine_stop_within(engine, experiment, numbers, count, ret_count, err);
	return engine_conclude(engine, rc, err);
}

static int action_restart_all(struct action *action, bool failed_only, int64_t *ret_count)
{
	struct engine *engine = action->engine;
	struct engine_experiment *e = action->experiment;
	int rc = 0;
	*ret_count = e->counts[STORE_ERROR];
	if (!failed_only)
		*ret_count += e->counts[STORE_FINISHED] + e->counts[STORE_STOPPED] + e->counts[STORE_PRUNED];
	if (!failed_only && e->stopping) {
		e->stopping = false; /* the search goes on where it was stopped */
		e->stop_why = NULL;
		e->changed = true;
		rc = store_set_flag(engine->store, e->id, STORE_FLAG_STOPPING, false);
	}
	return rc < 0 ? rc
		      : engine_begin_sweep(engine, e, failed_only ? STORE_SWEEP_RESTART_FAILED : STORE_SWEEP_RESTART);
}

int engine_restart(struct engine *engine, int64_t experiment, const int64_t *numbers, size_t count, bool failed_only,
		   int64_t *ret_count, struct error *err)
{
	struct action action = {.engine = engine, .numbers = numbers, .count = count};
	*ret_count = 0;
	int rc = action_begin(engine, experiment, &action, err);
	/* What begins again before the stop has come to it would be stopped by it. */
	if (rc == 0 && (numbers || failed_only) && action.experiment->sweep == STORE_SWEEP_STOP)
		rc = errorf(err, -EBUSY, "e%lld is still being stopped; try again in a moment", (long long)experiment);
	if (rc == 0 && !numbers)
		return engine_conclude(engine, action_restart_all(&action, failed_only, ret_count), err);
	if (rc == 0)
		rc = action_collect(&action, err);
	for (size_t i = 0; rc == 0 && i < action.tasks.len; i++) {
		const struct store_task *task = &action.tasks.at[i];
		if (!store_state_is_over(task->state) || (failed_only && task->state != STORE_ERROR))
			continue;
		rc = engine_restart_task(engine, action.experiment, task);
		++*ret_count;
	}
	free(action.tasks.at);
	return engine_conclude(engine, rc, err);
}

int engine_set_parallel(struct engine *engine, int64_t experiment, int64_t parallel, struct error *err)
{
	struct action action = {.engine = engine};
	if (parallel < 0 || parallel > LIMIT_PARALLEL)
		return errorf(err, -EINVAL, "parallel is a number from 0 (no limit) to %d", LIMIT_PARALLEL);
	int rc = action_begin(engine, experiment, &action, err);
	if (rc == 0)
		rc = store_set_parallel(engine->store, experiment, parallel);
	if (rc == 0) {
		action.experiment->parallel = parallel;
		action.experiment->changed = true;
		action.experiment->parallel_changed = true;
	}
	return engine_conclude(engine, rc, err);
}

int engine_remove(struct engine *engine, int64_t experiment, bool stop, struct error *err)
{
	struct action action = {.engine = engine};
	int rc = action_begin(engine, experiment, &action, err);
	if (rc == 0 && action.experiment->live && !stop)
		rc = errorf(err, -EBUSY, "e%lld has %lld running tasks; stop it first", (long long)experiment,
			    (long long)action.experiment->live);
	/* What waits goes with the experiment; only what is alive has to be stopped first. */
	for (size_t i = 0; rc == 0 && i < engine->live.len; i++) {
		struct engine_live *live = engine->live.at[i];
		if (live->experiment != action.experiment || live->facts.phase == ATTEMPT_SETTLED)
			continue;
		live->task.wanted = STORE_WISH_STOP;
		rc = store_set_wish(engine->store, live->task.id, STORE_WISH_STOP);
	}
	if (rc == 0) {
		action.experiment->removing = true;
		rc = store_set_flag(engine->store, experiment, STORE_FLAG_REMOVING, true);
	}
	return engine_conclude(engine, rc, err);
}
