/* Pruning with real tasks: the curve of a running task against those of the others, as its rows arrive. With several
 * objectives, only the first one that has steps is used for pruning, and a task that no finished task dominates so far is never
 * pruned. */
#include "engine/prune.h"

#include "engine/engine.h"
#include "engine/experiment.h"
#include "engine/live.h"
#include "engine/spec.h"

#include "base/clock.h"

#include <math.h>

static enum store_take prune_take(const struct spec_objective *objective)
{
	return objective->take == SPEC_TAKE_LAST    ? STORE_TAKE_LAST
		: objective->take == SPEC_TAKE_MEAN ? STORE_TAKE_MEAN
		: objective->maximise               ? STORE_TAKE_MOST
						    : STORE_TAKE_LEAST;
}

int engine_read_objective(struct engine *engine, const struct engine_experiment *e, int64_t task,
			  const struct spec_objective *objective, double *ret)
{
	return store_read_objective(engine_store(engine), e->id, task, objective->metric, prune_take(objective),
				    objective->mean_of, ret);
}

int engine_read_objective_step(struct engine *engine, const struct engine_experiment *e, int64_t task,
			       const struct spec_objective *objective, int64_t *ret)
{
	return store_read_objective_step(engine_store(engine), e->id, task, objective->metric, prune_take(objective),
					 ret);
}

/* An objective of a task that runs, as it stands. Its time and its measured energy only grow. */
static int prune_read(struct engine *engine, const struct engine_live *live, const struct spec_objective *objective,
		      double *ret)
{
	double value = NAN;
	int rc = engine_read_objective(engine, live->experiment, live->task.id, objective, &value);
	if (isnan(value) && strcmp(objective->metric, "time") == 0)
		value = (double)(clock_now_ms() - live->started_ms) / 1000;
	if (isnan(value) && strcmp(objective->metric, "energy") == 0)
		value = objective->maximise ? INFINITY : -INFINITY; /* nothing is known that could dominate it */
	*ret = value;
	return rc;
}

/* Is there a finished task that is at least as good in every objective? */
static int prune_is_dominated(struct engine *engine, const struct engine_live *live, bool *ret)
{
	const struct engine_experiment *e = live->experiment;
	int64_t *finished;
	size_t count;
	int rc = store_read_finished(engine_store(engine), e->id, &finished, &count);
	*ret = false;
	for (size_t i = 0; rc == 0 && i < count && !*ret; i++) {
		bool dominates = true;
		for (size_t k = 0; rc == 0 && dominates && k < e->spec->objective_count; k++) {
			const struct spec_objective *objective = &e->spec->objectives[k];
			double mine = NAN, theirs = NAN;
			rc = prune_read(engine, live, objective, &mine);
			if (rc == 0)
				rc = engine_read_objective(engine, e, finished[i], objective, &theirs);
			dominates = !isnan(theirs) &&
				(isnan(mine) || (objective->maximise ? theirs >= mine : theirs <= mine));
		}
		*ret = dominates;
	}
	free(finished);
	return rc;
}

/* Curves are compared by the first objective that has steps: time and energy have none. NULL: there is none. */
static const struct spec_objective *prune_objective(const struct spec *spec)
{
	for (size_t i = 0; i < spec->objective_count; i++)
		if (strcmp(spec->objectives[i].metric, "time") != 0 &&
		    strcmp(spec->objectives[i].metric, "energy") != 0)
			return &spec->objectives[i];
	return spec->objective_count ? spec->objectives : NULL;
}

int engine_prune(struct engine *engine, struct engine_live *live)
{
	struct engine_experiment *e = live->experiment;
	const struct spec *spec = e->spec;
	const struct spec_objective *objective = prune_objective(spec);
	double reached = -1, at;
	if (live->facts.phase >= ATTEMPT_ENDED || live->task.wanted != STORE_WANT_RUN || !objective ||
	    spec->prune.rule == PRUNE_NONE || engine_runs_on(e, live->task.number))
		return 0;
	int rc = store_read_reached(engine_store(engine), e->id, live->task.id, objective->metric, &reached);
	if (rc < 0 || reached <= live->pruned_at || !prune_is_due(&spec->prune, live->pruned_at, reached, &at))
		return rc;
	live->pruned_at = reached;

	double *rivals = NULL;
	size_t count = 0;
	rc = store_read_rivals(engine_store(engine), e->id, live->task.id, objective->metric, at, objective->maximise,
			       spec->prune.rule == PRUNE_ASHA, &rivals, &count);
	/* The best so far, like the rivals', whatever the task will be ranked by. */
	double mine = NAN;
	if (rc == 0)
		rc = store_read_objective(engine_store(engine), e->id, live->task.id, objective->metric,
					  objective->maximise ? STORE_TAKE_MOST : STORE_TAKE_LEAST, 1, &mine);
	bool prune = rc == 0 && prune_decide(&spec->prune, objective->maximise, mine, rivals, count);
	free(rivals);
	if (rc == 0 && prune && spec->objective_count > 1)
		rc = prune_is_dominated(engine, live, &prune);
	if (rc < 0 || !prune)
		return rc;
	live->task.wanted = STORE_WANT_PRUNE;
	return store_set_wanted(engine_store(engine), live->task.id, STORE_WANT_PRUNE);
}
