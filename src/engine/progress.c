/* How far a task is and how good: its step, its last and best value, and the metric that is its objective. */
#include "engine/progress.h"

#include "engine/engine.h"
#include "engine/event.h"
#include "engine/experiment.h"
#include "engine/left.h"
#include "engine/live.h"
#include "engine/load.h"
#include "engine/prune.h"
#include "engine/rank.h"
#include "engine/series.h"
#include "engine/spec.h"
#include "engine/spec_objective.h"
#include "engine/usual.h"

#include "base/clock.h"
#include "base/text.h"
#include "journal/journal.h"
#include "metrics/metrics.h"

#include <math.h>

int progress_choose(struct engine *engine, struct engine_experiment *e, const struct metric *metrics, size_t count)
{
	const char *chosen = usual_choose(metrics, count);
	if (!chosen)
		return 0;
	spec_objective_choose(e->spec, chosen, spec_objective_guess(chosen));
	e->changed = true;
	return engine_write_objective(engine, e);
}

int progress_choose_better(struct engine *engine, struct engine_experiment *e, const struct metric *metrics,
			   size_t count)
{
	if (!e->spec->objective_chosen || e->counts[STORE_FINISHED])
		return 0;
	enum usual chosen = usual_of(e->spec->objectives[0].metric);
	const char *better = usual_choose(metrics, count);
	enum usual is = better ? usual_of(better) : USUAL_NONE;
	if (!better || chosen < USUAL_REWARD || is >= chosen || (is > USUAL_REWARD && chosen != USUAL_NONE))
		return 0;
	spec_objective_choose(e->spec, better, spec_objective_guess(better));
	return engine_rank_again(engine, e);
}

/* The objective's own name may be gone: several files have the column. One that we chose ourselves is chosen again, one
 * that the user named is left to the user. */
static int progress_find_objective(struct engine *engine, struct engine_live *live)
{
	struct engine_experiment *e = live->experiment;
	struct series_row all = {0}, same = {0};
	bool there = false;
	int rc = 0;
	if (!e->spec->objective_count)
		return 0;
	const char *metric = e->spec->objectives[0].metric;
	series_list(live, NULL, &all);
	series_list(live, metric, &same);
	for (size_t i = 0; i < all.metrics.len; i++)
		there |= strcmp(all.metrics.at[i].name, metric) == 0;
	if (!there && same.metrics.len > 1 && e->spec->objective_chosen) {
		rc = progress_choose(engine, e, all.metrics.at, all.metrics.len);
	} else if (!there && same.metrics.len > 1) {
		char *text = mem_printf("the objective %s is in several files: name one of them, such as %s or %s",
					metric, same.metrics.at[0].name, same.metrics.at[same.metrics.len - 1].name);
		rc = store_add_history(engine_store(engine), live->task.id, STORE_RUNNING, text, clock_now_ms());
		free(text);
	}
	series_row_free(&all);
	series_row_free(&same);
	return rc;
}

int progress_recount(struct engine *engine, struct engine_live *live)
{
	struct engine_experiment *e = live->experiment;
	live->recount = false;
	int rc = progress_find_objective(engine, live);
	if (rc < 0 || !e->spec->objective_count)
		return rc;
	const struct spec_objective *objective = &e->spec->objectives[0];
	e->best_changed = e->changed = true;
	rc = store_read_progress(engine_store(engine), objective->metric, objective->maximise, &live->task);
	if (rc == 0 && objective->take != SPEC_TAKE_BEST) {
		live->task.best = live->task.last; /* of several rows the mean: see progress_mean */
		live->task.best_step = live->task.last_step;
	}
	return rc;
}

/* Can the row's step be an epoch, although it does not say so? One row an epoch is usual, one batch an epoch is not. */
static bool progress_may_be_epoch(const char *step_name)
{
	static const char *const others[] = {"total_timesteps", "timesteps", "global_step", "iteration",
					     "iterations",      "iter",      "batch",       "batch_idx"};
	for (size_t i = 0; step_name && i < COUNT_OF(others); i++)
		if (strcmp(step_name, others[i]) == 0)
			return false;
	return true;
}

/* Does the parameter that says how long a task is say it in epochs? */
static bool progress_plans_epochs(const struct spec *spec)
{
	return spec->steps_param >= 0 && strstr(spec->space->params[spec->steps_param].name, "epoch");
}

/* From the first row with an epoch on, what other rows count is no measure of how far the task is. */
static void progress_begin_epochs(struct engine_live *live)
{
	live->epochs = true;
	live->task.step = -1;
	live->task.from_zero = false;
	live->left.count = 0;
}

static void progress_set_step(struct store_task *task, int64_t step, bool whole)
{
	/* Only 0, 1, 2, … count: of the steps 0, 10, … 90 the last is not the 91st, and an epoch of 0.5 is no first one. */
	if (step == 0 && task->step <= 0 && whole)
		task->from_zero = true;
	else if (step > task->step + 1 || !whole)
		task->from_zero = false;
	if (step > task->step)
		task->step = step;
}

/* What is printed as epoch 1 is epoch 0 of the file that Keras writes: with such a file, what is printed does not count.
 * A file that begins at 0 once more is another attempt's, which counts afresh. */
static bool progress_counts(struct engine_live *live, const struct journal_record *r, double step)
{
	bool printed = r->source && text_starts(r->source, "printed:");
	bool first = live->left.read && !live->left.count; /* in its attempt, nothing has moved the task on */
	if (!printed && step == 0 && (live->task.step <= 1 || first || live->printed_steps)) {
		live->task.step = 0;
		live->file_from_zero = true;
		live->printed_steps = false;
	}
	live->printed_steps |= printed && !live->file_from_zero;
	return !printed || !live->file_from_zero;
}

/* How far the task is: in epochs where its rows have them, since that is what people plan. */
static void progress_step(struct engine_live *live, const struct journal_record *r)
{
	bool named = r->step_name && strcmp(r->step_name, "epoch") == 0;
	bool epochs = r->has_epoch && fabs(r->epoch) < 1e15;
	if (!epochs && !named &&
	    (live->epochs || (progress_plans_epochs(live->experiment->spec) && !progress_may_be_epoch(r->step_name))))
		return;
	if ((epochs || named) && !live->epochs)
		progress_begin_epochs(live);
	if (!progress_counts(live, r, epochs ? r->epoch : (double)r->step))
		return;
	progress_set_step(&live->task, epochs ? (int64_t)floor(r->epoch) : r->step,
			  !epochs || r->epoch == floor(r->epoch));
}

void progress_take_epochs(struct engine_live *live, const struct journal_record *r)
{
	if (live->task.steps > 0 || r->epochs <= 0 || r->earlier)
		return;
	live->task.steps = r->epochs;
	live->unwritten = true;
}

void progress_take_row(struct engine_live *live, const struct journal_record *r)
{
	struct engine_experiment *e = live->experiment;
	struct store_task *task = &live->task;
	int64_t before = task->step;
	progress_step(live, r);
	if (task->step > before && !r->earlier)
		left_take_step(live, r->time_ms);
	for (size_t i = 0; i < r->metric_count && e->spec->objective_count; i++) {
		const struct spec_objective *objective = &e->spec->objectives[0];
		double value = r->metrics[i].value;
		if (strcmp(r->metrics[i].name, objective->metric) != 0)
			continue;
		task->last = value;
		task->last_step = r->step;
		if (objective->take != SPEC_TAKE_BEST) {
			task->best = isfinite(value) ? value : NAN; /* of several rows the mean: see progress_mean */
			task->best_step = r->step;
			e->best_changed = true;
			continue;
		}
		bool better = isfinite(value) &&
			(isnan(task->best) || (objective->maximise ? value > task->best : value < task->best));
		if (better) {
			task->best = value;
			task->best_step = r->step;
			e->best_changed = true;
		} else if (r->step == task->best_step && value != task->best) {
			live->recount = true; /* the row of the best was replaced: a resumed attempt repeats steps */
		}
	}
}

int progress_know_epochs(struct engine *engine, struct engine_live *live)
{
	if (live->epochs_asked)
		return 0;
	int rc = store_has_epochs(engine_store(engine), live->task.id, &live->epochs);
	live->epochs_asked = rc == 0;
	return rc;
}

int progress_mean(struct engine *engine, struct engine_live *live)
{
	const struct spec *spec = live->experiment->spec;
	if (!spec->objective_count || spec->objectives[0].take != SPEC_TAKE_MEAN)
		return 0;
	return engine_read_objective(engine, live->experiment, live->task.id, &spec->objectives[0], &live->task.best);
}
