/* Predicts the results of running tasks, if the finished tasks show that such predictions work: "curves" of GET
 * …/analysis. */

#include "engine/analysis.h"
#include "engine/engine.h"
#include "store/rows.h"
#include "base/num.h"
#include "search/curve.h"
#include "store/json.h"

#include <math.h>

/* A longer curve is left out and not thinned: without the points
 * between, its best so far looks worse than it was, and the extrapolation wins a backtest that it should not. */
#define CURVES_TASKS 100
#define CURVES_POINTS 300

struct analysis_curves {
	struct engine *engine;
	int64_t experiment;
	const struct spec_objective *objective;
	const struct analysis_run *runs;
	size_t run_count, next; /* the next run whose curve is to be read */
	bool fits; /* there is an objective */
	VEC(struct curve) finished;
	struct curve_backtest test;
	double end; /* where the finished tasks ended, for those that do not say how far they go */
	struct json *out;
};

/* The arrays are the caller's, also after a failure. */
static int curves_read(const struct analysis_curves *c, int64_t task, double final, struct curve *ret)
{
	double *steps = mem_resize(NULL, 2 * CURVES_POINTS, sizeof(*steps)), *values = steps + CURVES_POINTS;
	size_t count = 0;
	int rc = store_read_curve(engine_store(c->engine), c->experiment, task, c->objective->metric, CURVES_POINTS,
				  steps, values, &count);
	*ret = (struct curve){steps, values, count, final};
	return rc;
}

static void curves_free(const struct curve *curve)
{
	free((void *)curve->steps);
}

/* The median of the finished tasks' last steps. */
static double curves_end(const struct curve *curves, size_t count)
{
	double *ends = mem_resize(NULL, count + 1, sizeof(*ends)), end = NAN;
	size_t kept = 0;
	for (size_t i = 0; i < count; i++)
		if (curves[i].count)
			ends[kept++] = curves[i].steps[curves[i].count - 1];
	qsort(ends, kept, sizeof(*ends), num_compare_reals);
	if (kept)
		end = ends[kept / 2];
	free(ends);
	return end;
}

static void curves_learn(struct analysis_curves *c)
{
	if (!c->fits)
		return;
	curve_test(c->finished.at, c->finished.len, c->objective->maximise, &c->test);
	c->end = curves_end(c->finished.at, c->finished.len);
}

/* How far off predictions were that were made no later than this one is; NAN: not tried. */
static double curves_error(const struct analysis_curves *c, double share)
{
	double error = NAN;
	for (size_t i = 0; i < CURVE_CUTS; i++)
		if (c->test.cuts[i].share <= share && !isnan(c->test.cuts[i].error))
			error = c->test.cuts[i].error;
	return error;
}

static void curves_put_real(const char *key, double value, struct json *out)
{
	json_key(out, key);
	if (isnan(value))
		json_put_null(out);
	else
		json_put_real(out, value);
}

static int curves_running_cb(void *ctx, const struct store_running *row)
{
	const struct analysis_curves *c = ctx;
	struct curve curve;
	int rc = curves_read(c, row->id, NAN, &curve);
	double end = row->last_step >= 0 ? (double)row->last_step : c->end;
	double at = curve.count ? curve.steps[curve.count - 1] : NAN;
	/* Only where predictions were tried: beyond the first cut, and not past the end. */
	if (at <= end && at - curve.steps[0] >= c->test.from * (end - curve.steps[0])) {
		double predicted = curve_predict(&curve, c->objective->maximise, end);
		if (isfinite(predicted)) {
			json_map(c->out);
			json_key_int(c->out, "task", row->number);
			json_key_real(c->out, "predicted", predicted);
			json_key_real(c->out, "at", end);
			curves_put_real("error", curves_error(c, (at - curve.steps[0]) / (end - curve.steps[0])),
					c->out);
			json_end(c->out);
		}
	}
	curves_free(&curve);
	return rc;
}

struct analysis_curves *analysis_curves_new(struct engine *engine, int64_t experiment, const struct spec *spec,
					    const struct analysis_run *runs, size_t count)
{
	struct analysis_curves *c = mem_alloc(sizeof(*c));
	*c = (struct analysis_curves){
		.engine = engine,
		.experiment = experiment,
		.objective = spec->objectives,
		.runs = runs,
		.run_count = count,
		.next = count > CURVES_TASKS ? count - CURVES_TASKS : 0,
		.fits = spec->objective_count > 0,
	};
	return c;
}

void analysis_curves_free(struct analysis_curves *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->finished.len; i++)
		curves_free(&c->finished.at[i]);
	free(c->finished.at);
	free(c);
}

static void curves_write_cuts(const struct analysis_curves *c, struct json *out)
{
	json_key(out, "cuts");
	json_list(out);
	for (size_t i = 0; c->fits && i < CURVE_CUTS; i++) {
		json_map(out);
		json_key_real(out, "share", c->test.cuts[i].share);
		json_key_int(out, "tasks", (int64_t)c->test.cuts[i].tasks);
		curves_put_real("correlation", c->test.cuts[i].correlation, out);
		curves_put_real("plain", c->test.cuts[i].plain, out);
		curves_put_real("error", c->test.cuts[i].error, out);
		json_end(out);
	}
	json_end(out);
}

int analysis_write_curves(struct analysis_curves *c, struct json *out)
{
	int rc = 0;
	if (c->fits && c->next < c->run_count) {
		struct curve curve;
		rc = curves_read(c, c->runs[c->next].id, c->runs[c->next].scores[0], &curve);
		vec_push(&c->finished, curve);
		c->next++;
		return rc < 0 ? rc : 1;
	}
	curves_learn(c);
	json_key(out, "curves");
	json_map(out);
	json_key_bool(out, "earned", c->test.earned);
	json_key_int(out, "tasks", (int64_t)c->test.tasks);
	curves_write_cuts(c, out);
	c->out = out;
	if (c->test.earned) {
		json_key(out, "running");
		json_list(out);
		rc = store_each_running(engine_store(c->engine), c->experiment, CURVES_TASKS, curves_running_cb, c);
		json_end(out);
	}
	json_end(out);
	return rc;
}
