/* See rank.h. What a search was told is rewritten in the recorded sequence, from the curves that are in the store: so the
 * replay is the same today and after every restart. */
#include "engine/rank.h"

#include "engine/event.h"
#include "engine/experiment.h"
#include "engine/limit.h"
#include "engine/live.h"
#include "engine/propose.h"
#include "engine/prune.h"
#include "engine/spec.h"
#include "engine/spec_objective.h"
#include "engine/state.h"
#include "engine/turn.h"

#include <errno.h>
#include <math.h>

/* Tasks that are read at once. */
#define RANK_STEP 64

struct rank_tasks {
	struct store_task at[RANK_STEP];
	size_t len;
};

static int rank_collect_cb(void *ctx, const struct store_task *row)
{
	struct rank_tasks *tasks = ctx;
	return store_keep_task(&tasks->at[tasks->len++], row);
}

static int rank_task(struct engine *engine, struct engine_experiment *e, struct store_task *task)
{
	const struct spec_objective *objective = &e->spec->objectives[0];
	double value = NAN;
	int rc = store_read_rank(engine->store, e->id, objective->metric, objective->maximise, task);
	if (rc == 0)
		rc = engine_read_objective(engine, e, task->id, objective, &value);
	/* Time and energy have no steps: a task is ranked by them once it has ended. */
	bool over = task->state == STORE_FINISHED || task->state == STORE_PRUNED;
	if (task->last_step < 0 && !isnan(value) && over) {
		task->best = task->last = value;
		task->best_step = task->last_step = task->step > 0 ? task->step : 0;
	} else if (objective->take != SPEC_TAKE_BEST) {
		task->best = value;
		task->best_step = task->last_step;
	}
	if (rc == 0)
		rc = store_set_progress(engine->store, task);
	if (rc == 0)
		rc = e->spec->limit_count ? engine_judge(engine, e, task->id)
					  : store_set_beyond(engine->store, task->id, NULL);
	return rc;
}

static int rank_tasks(struct engine *engine, struct engine_experiment *e)
{
	int64_t from = 1;
	int rc = 0;
	struct rank_tasks tasks;
	do {
		tasks.len = 0;
		rc = store_each_task(engine->store, e->id, from, RANK_STEP, rank_collect_cb, &tasks);
		for (size_t i = 0; rc == 0 && i < tasks.len; i++) {
			rc = rank_task(engine, e, &tasks.at[i]);
			from = tasks.at[i].number + 1;
			engine_task_changed(engine, e->id, tasks.at[i].number);
		}
	} while (rc == 0 && tasks.len == RANK_STEP);
	return rc;
}

/* What runs goes on from the new numbers. */
static int rank_live(struct engine *engine, struct engine_experiment *e)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < engine->live.len; i++) {
		struct engine_live *live = engine->live.at[i];
		struct store_task row = {0};
		if (live->experiment != e)
			continue;
		rc = store_read_task(engine->store, e->id, live->task.number, store_keep_task, &row);
		live->task.best = row.best;
		live->task.last = row.last;
		live->task.best_step = row.best_step;
		live->task.last_step = row.last_step;
	}
	return rc;
}

struct rank_tell {
	int64_t seq, asked;
};

struct rank_tells {
	VEC(struct rank_tell) at;
};

static int rank_tell_cb(void *ctx, const struct store_event *event)
{
	struct rank_tells *tells = ctx;
	bool has_values = event->outcome == SEARCH_FINISHED || event->outcome == SEARCH_PRUNED;
	if (event->kind == STORE_EVENT_TELL && has_values)
		vec_push(&tells->at, ((struct rank_tell){event->seq, event->asked}));
	return 0;
}

/* A task that went on at a higher fidelity has several; the last one speaks for it, those before have no value. */
static int rank_tell(struct engine *engine, struct engine_experiment *e, const struct rank_tell *tell)
{
	struct store_task task = {0};
	struct buf text = buf_make(BUF_UNLIMITED);
	struct json w = json_to(&text);
	int rc = store_find_asked(engine->store, e->id, tell->asked, store_keep_task, &task);
	bool gone = rc == -ENOENT;
	rc = gone ? 0 : rc;
	size_t count = engine_count_told(e->spec);
	double *values = mem_array(count, sizeof(*values));
	for (size_t i = 0; i < count; i++)
		values[i] = NAN;
	if (rc == 0 && !gone)
		rc = engine_read_told(engine, e, task.id, values);
	json_list(&w);
	for (size_t i = 0; i < count; i++)
		json_put_real(&w, values[i]);
	free(values);
	json_end(&w);
	if (rc == 0)
		rc = store_set_event_value(engine->store, e->id, tell->seq, buf_text(&text));
	buf_free(&text);
	return rc;
}

int engine_write_objective(struct engine *engine, const struct engine_experiment *e)
{
	struct buf objective = buf_make(BUF_UNLIMITED);
	struct json w = json_to(&objective);
	spec_objective_write(e->spec, &w);
	struct buf limits = buf_make(BUF_UNLIMITED);
	w = json_to(&limits);
	spec_objective_write_limits(e->spec, &w);
	int rc = store_set_objective(engine->store, e->id, buf_text(&objective),
				     e->spec->limit_count ? buf_text(&limits) : NULL);
	buf_free(&objective);
	buf_free(&limits);
	if (rc == 0)
		rc = store_set_warning(engine->store, e->id, STORE_WARNS_SAME, NULL);
	return rc < 0 ? rc : store_set_warning(engine->store, e->id, STORE_WARNS_UNSET, NULL);
}

int engine_rank_again(struct engine *engine, struct engine_experiment *e)
{
	struct rank_tells tells = {0};
	int rc = engine_write_objective(engine, e);
	if (rc == 0)
		rc = rank_tasks(engine, e);
	if (rc == 0)
		rc = rank_live(engine, e);
	if (rc == 0)
		rc = store_each_event(engine->store, e->id, rank_tell_cb, &tells);
	for (size_t i = 0; rc == 0 && i < tells.at.len; i++)
		rc = rank_tell(engine, e, &tells.at.at[i]);
	free(tells.at.at);
	e->best_changed = e->changed = true;
	return rc;
}

int engine_rank_late(struct engine *engine, struct engine_experiment *e, int64_t number)
{
	struct store_task task = {0};
	int rc = store_read_task(engine->store, e->id, number, store_keep_task, &task);
	if (rc < 0 || (task.state != STORE_FINISHED && task.state != STORE_PRUNED))
		return rc == -ENOENT ? 0 : rc;
	double *values = mem_array(engine_count_told(e->spec), sizeof(*values));
	rc = rank_task(engine, e, &task);
	if (rc == 0)
		rc = engine_read_told(engine, e, task.id, values);
	if (rc == 0)
		rc = engine_tell(engine, e, task.asked, task.state == STORE_PRUNED ? SEARCH_PRUNED : SEARCH_FINISHED,
				 values);
	free(values);
	e->best_changed = e->changed = true;
	engine_soon(engine);
	return rc;
}
