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

/* The tasks an action is about: all of the experiment, or the numbers given. */
static int action_collect(struct action *action, struct error *err)
{
	struct store *store = action->engine->store;
	int64_t id = action->experiment->id;
	int rc = 0;
	if (!action->numbers)
		return store_each_task(store, id, action_collect_cb, action);
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

static int action_stop_task(struct action *action, const struct store_task *task)
{
	struct engine *engine = action->engine;
	if (task->state == STORE_WAITING) {
		int rc = engine_set_state(engine, action->experiment, task, STORE_STOPPED,
					  engine_stop_why(action->experiment), NULL);
		return rc < 0 ? rc : engine_tell(engine, action->experiment, task->asked, SEARCH_STOPPED, NULL);
	}
	int rc = store_set_wish(engine->store, task->id, STORE_WISH_STOP);
	for (size_t i = 0; rc == 0 && i < engine->live.len; i++)
		if (engine->live.at[i]->task.id == task->id)
			engine->live.at[i]->task.wanted = STORE_WISH_STOP;
	return rc < 0 ? rc : store_set_task_reason(engine->store, task->id, "being stopped", 0);
}

static int action_restart_task(struct action *action, const struct store_task *task)
{
	struct engine *engine = action->engine;
	struct engine_experiment *e = action->experiment;
	int rc = store_reset_task(engine->store, task->id);
	if (rc == 0)
		rc = engine_set_state(engine, e, task, STORE_WAITING, "restarted by the user", NULL);
	e->best_changed = true;
	return rc;
}

/* Opens the transaction and the experiment. After a failure nothing has changed. */
static int action_begin(struct engine *engine, int64_t experiment, struct action *action,
			struct error *err)
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
		int written = store_commit(engine->store, &why);
		if (written == 0)
			return rc;
		rc = written;
	}
	if (!why.text[0])
		errorf(&why, rc, "%s", strerror(-rc));
	engine_degrade(engine, &why);
	return errorf(err, rc, "the change could not be written: %s", why.text);
}

int engine_stop_within(struct engine *engine, int64_t experiment, const int64_t *numbers, size_t count,
		       int64_t *ret_count, struct error *err)
{
	struct action action = {.engine = engine, .numbers = numbers, .count = count};
	*ret_count = 0;
	int rc = action_begin(engine, experiment, &action, err);
	if (rc == 0)
		rc = action_collect(&action, err);
	if (rc == 0 && !numbers && !store_state_is_over(action.experiment->state)) {
		action.experiment->stopping = action.experiment->changed = true;
		rc = store_set_flag(engine->store, experiment, STORE_FLAG_STOPPING, true);
	}
	for (size_t i = 0; rc == 0 && i < action.tasks.len; i++) {
		if (store_state_is_over(action.tasks.at[i].state))
			continue;
		rc = action_stop_task(&action, &action.tasks.at[i]);
		engine_task_changed(engine, experiment, action.tasks.at[i].number);
		++*ret_count;
	}
	free(action.tasks.at);
	return rc;
}

int engine_stop(struct engine *engine, int64_t experiment, const int64_t *numbers, size_t count,
		int64_t *ret_count, struct error *err)
{
	int rc = engine_stop_within(engine, experiment, numbers, count, ret_count, err);
	return engine_conclude(engine, rc, err);
}

int engine_restart(struct engine *engine, int64_t experiment, const int64_t *numbers, size_t count,
		   bool failed_only, int64_t *ret_count, struct error *err)
{
	struct action action = {.engine = engine, .numbers = numbers, .count = count};
	*ret_count = 0;
	int rc = action_begin(engine, experiment, &action, err);
	if (rc == 0)
		rc = action_collect(&action, err);
	for (size_t i = 0; rc == 0 && i < action.tasks.len; i++) {
		const struct store_task *task = &action.tasks.at[i];
		if (!store_state_is_over(task->state) || (failed_only && task->state != STORE_ERROR))
			continue;
		rc = action_restart_task(&action, task);
		++*ret_count;
	}
	if (rc == 0 && !numbers && !failed_only && action.experiment->stopping) {
		action.experiment->stopping = false; /* the search goes on where it was stopped */
		action.experiment->stop_why = NULL;
		action.experiment->changed = true;
		rc = store_set_flag(engine->store, experiment, STORE_FLAG_STOPPING, false);
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
	int64_t count;
	int rc = action_begin(engine, experiment, &action, err);
	if (rc == 0 && action.experiment->live && !stop)
		rc = errorf(err, -EBUSY, "e%lld has %lld running tasks; stop it first", (long long)experiment,
			    (long long)action.experiment->live);
	if (rc == 0)
		rc = engine_stop_within(engine, experiment, NULL, 0, &count, err);
	if (rc == 0) {
		action.experiment->removing = true;
		rc = store_set_flag(engine->store, experiment, STORE_FLAG_REMOVING, true);
	}
	return engine_conclude(engine, rc, err);
}
