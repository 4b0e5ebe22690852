/* Actions on every task of an experiment: see sweep.h. The progress of an action is stored together with its changes,
 * so that it continues after a crash. It skips tasks that changed after the action was requested. */
#include "engine/sweep.h"

#include "engine/action.h"
#include "engine/event.h"
#include "engine/experiment.h"
#include "engine/live.h"
#include "engine/propose.h"
#include "engine/settle.h"
#include "engine/state.h"
#include "engine/turn.h"

#include "base/clock.h"
#include "base/limits.h"
#include "spool/checkpoint.h"

/* Tasks between two looks at the clock. */
#define SWEEP_STEP 16

struct sweep {
	struct store_task tasks[SWEEP_STEP];
	size_t count;
};

static int sweep_collect_cb(void *ctx, const struct store_task *row)
{
	struct sweep *sweep = ctx;
	return store_keep_task(&sweep->tasks[sweep->count++], row);
}

int engine_stop_task(struct engine *engine, struct engine_experiment *e, const struct store_task *task)
{
	if (task->state == STORE_WAITING) {
		int rc = engine_take_back_restart(engine, e, task);
		if (rc)
			return rc < 0 ? rc : 0;
		rc = engine_set_state(engine, e, task, STORE_STOPPED, engine_stop_why(engine, e, task->number), NULL);
		return rc < 0 ? rc : engine_tell(engine, e, task->asked, SEARCH_STOPPED, NULL);
	}
	int rc = store_set_wanted(engine->store, task->id, STORE_WANT_STOP);
	engine_task_changed(engine, e->id, task->number);
	return rc < 0 ? rc : store_set_task_reason(engine->store, task->id, "being stopped", 0);
}

static bool sweep_has_checkpoint(struct engine *engine, const struct store_task *task)
{
	char *folder = engine_folder(engine, task->experiment, task->number, 0);
	bool saved = spool_checkpoint_exists(folder);
	free(folder);
	return saved;
}

int engine_restart_task(struct engine *engine, struct engine_experiment *e, const struct store_task *task,
			enum engine_mode mode)
{
	bool saved = mode != ENGINE_MODE_FRESH && sweep_has_checkpoint(engine, task);
	bool fresh = mode == ENGINE_MODE_FRESH ||
		(mode == ENGINE_MODE_DEFAULT && (!saved || task->state == STORE_FINISHED));
	const char *why = !fresh && saved ? "restarted by the user: goes on from its checkpoint"
		: !fresh
		? "restarted by the user in its folder; it has saved no checkpoint, so it begins with the first epoch"
		: mode == ENGINE_MODE_FRESH || saved
		? "restarted by the user: from the beginning"
		: "restarted by the user: from the beginning, as it has saved no checkpoint";
	int rc = store_reset_task(engine->store, task->id, fresh);
	return rc < 0 ? rc : engine_set_state(engine, e, task, STORE_WAITING, why, NULL);
}

static const struct {
	enum engine_mode mode;
	bool failed_only, stopped_only;
} sweep_restarts[] = {
	[STORE_SWEEP_RESTART] = {ENGINE_MODE_DEFAULT, false, false},
	[STORE_SWEEP_RESTART_FAILED] = {ENGINE_MODE_DEFAULT, true, false},
	[STORE_SWEEP_RESUME] = {ENGINE_MODE_RESUME, false, false},
	[STORE_SWEEP_RESUME_FAILED] = {ENGINE_MODE_RESUME, true, false},
	[STORE_SWEEP_FRESH] = {ENGINE_MODE_FRESH, false, false},
	[STORE_SWEEP_FRESH_FAILED] = {ENGINE_MODE_FRESH, true, false},
	[STORE_SWEEP_GO_ON] = {ENGINE_MODE_DEFAULT, false, true},
};

enum store_sweep engine_sweep_of(enum engine_mode mode, bool failed_only)
{
	enum store_sweep sweep = STORE_SWEEP_RESTART;
	while (sweep_restarts[sweep].mode != mode || sweep_restarts[sweep].failed_only != failed_only)
		sweep++;
	return sweep;
}

static int sweep_task(struct engine *engine, struct engine_experiment *e, const struct store_task *task)
{
	bool over = store_state_is_over(task->state);
	if (task->wanted == STORE_WANT_REMOVE)
		return 0;
	if (e->sweep == STORE_SWEEP_STOP)
		return over || task->created_ms > e->sweep_ms || engine_runs_on(e, task->number)
			? 0
			: engine_stop_task(engine, e, task);
	if (!over || task->finished_ms > e->sweep_ms)
		return 0;
	if ((sweep_restarts[e->sweep].failed_only && task->state != STORE_ERROR) ||
	    (sweep_restarts[e->sweep].stopped_only && task->state != STORE_STOPPED))
		return 0;
	return engine_restart_task(engine, e, task, sweep_restarts[e->sweep].mode);
}

/* Marks the live attempts among the tasks that were swept, too. */
static void sweep_mark_live(struct engine *engine, const struct engine_experiment *e, int64_t from)
{
	for (size_t i = 0; e->sweep == STORE_SWEEP_STOP && i < engine->live.len; i++) {
		struct engine_live *live = engine->live.at[i];
		if (live->experiment == e && live->task.number >= from && live->task.number < e->sweep_from &&
		    live->task.created_ms <= e->sweep_ms && !engine_runs_on(e, live->task.number))
			live->task.wanted = STORE_WANT_STOP;
	}
}

static int sweep_experiment(struct engine *engine, struct engine_experiment *e)
{
	int64_t until = clock_mono_ms() + LIMIT_HOLD_MS, first = e->sweep_from;
	bool more = true;
	int rc = 0;
	while (rc == 0 && more && clock_mono_ms() < until) {
		struct sweep sweep = {0};
		rc = store_each_task(engine->store, e->id, e->sweep_from, SWEEP_STEP, sweep_collect_cb, &sweep);
		for (size_t i = 0; rc == 0 && i < sweep.count; i++) {
			rc = sweep_task(engine, e, &sweep.tasks[i]);
			e->sweep_from = sweep.tasks[i].number + 1;
		}
		more = sweep.count == SWEEP_STEP;
	}
	sweep_mark_live(engine, e, first);
	if (!more) {
		e->sweep = STORE_SWEEP_NONE;
		e->changed = true;
	}
	if (rc == 0)
		rc = store_set_sweep(engine->store, e->id, e->sweep, e->sweep_from, e->sweep_ms);
	engine_soon(engine);
	return rc;
}

int engine_begin_sweep(struct engine *engine, struct engine_experiment *e, enum store_sweep sweep)
{
	e->sweep = sweep;
	e->sweep_from = 1;
	e->sweep_ms = clock_now_ms();
	return sweep_experiment(engine, e);
}

int engine_sweep(struct engine *engine)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < engine->experiments.len; i++)
		if (engine->experiments.at[i]->sweep && !engine->experiments.at[i]->removing)
			rc = sweep_experiment(engine, engine->experiments.at[i]);
	return rc;
}
