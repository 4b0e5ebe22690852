/* See best.h. Where configurations are repeated, the best one is that with the best mean, not the one with the luckiest
 * seed: the search gets the same. */
#include "engine/best.h"

#include "engine/engine.h"
#include "engine/experiment.h"
#include "engine/prune.h"
#include "engine/spec.h"

#include <math.h>

/* The value of every objective in the task, and the step of each: they need not have occurred together. */
static int best_write_values(struct engine *engine, struct engine_experiment *e, int64_t task, struct json *out)
{
	int rc = 0;
	json_key(out, "values");
	json_list(out);
	for (size_t i = 0; rc == 0 && i < e->spec->objective_count; i++) {
		double value = NAN;
		rc = engine_read_objective(engine, e, task, &e->spec->objectives[i], &value);
		json_put_real(out, value);
	}
	json_end(out);
	json_key(out, "epochs");
	json_list(out);
	for (size_t i = 0; rc == 0 && i < e->spec->objective_count; i++) {
		int64_t step = -1;
		rc = engine_read_objective_step(engine, e, task, &e->spec->objectives[i], &step);
		if (step < 0)
			json_put_null(out);
		else
			json_put_int(out, step);
	}
	json_end(out);
	return rc;
}

static void best_write_repeats(const struct store_repeats *repeats, struct json *out)
{
	json_key_real(out, "mean", repeats->mean);
	if (!isnan(repeats->spread))
		json_key_real(out, "spread", repeats->spread);
	json_key_int(out, "repeats", repeats->count);
}

int engine_update_best(struct engine *engine, struct engine_experiment *e)
{
	const struct spec *spec = e->spec;
	bool maximise = spec->objective_count && spec->objectives[0].maximise;
	struct store_repeats repeats = {0};
	int rc = spec->repeats > 1 ? store_read_best_mean(engine_store(engine), e->id, maximise, &repeats)
				   : store_update_best(engine_store(engine), e->id, maximise, spec->search->open);
	if (rc == 0 && spec->repeats <= 1 && spec->objective_count > 1)
		rc = store_read_best_task(engine_store(engine), e->id, &repeats.task, &repeats.number);
	if (rc < 0 || (spec->repeats <= 1 && !repeats.task))
		return rc;
	struct buf more = buf_make(BUF_UNLIMITED);
	struct json w = json_to(&more);
	json_map(&w);
	if (repeats.task && spec->objective_count > 1)
		rc = best_write_values(engine, e, repeats.task, &w);
	if (repeats.count)
		best_write_repeats(&repeats, &w);
	json_end(&w);
	if (rc == 0)
		rc = store_set_best(engine_store(engine), e->id, repeats.number, repeats.task ? buf_text(&more) : NULL);
	buf_free(&more);
	return rc;
}
