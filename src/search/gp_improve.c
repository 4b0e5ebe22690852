/* Where the Gaussian process proposes the next task: the largest expected improvement times the chance that the task
 * does not fail, among quasi-random points and points near the best results, then uphill from the best of those. */
#include "search/gp_internal.h"

#include <math.h>

#define GP_POINTS 1024
#define GP_STARTS 6
#define GP_APART 0.05
#define GP_BEST 5 /* results around which points are tried too */
#define GP_NEAR 60 /* points around each */
#define GP_CLIMB_STEPS 60
#define GP_CLIMB_MANY 150 /* results from which a step costs so much that all but one climb are short */
#define GP_CLIMB_SHORT 20
#define GP_STEP_FIRST 0.02
#define GP_STEP_LEAST 1e-5
#define GP_STEP_MOST 0.1
#define GP_ROUNDS 6
#define GP_CELLS_STEP 0.2
#define GP_CELLS_STEP_LEAST 0.005

/* How far apart two results are that differ in nothing but real parameters, as the model measures it. */
double gp_distance(const struct gp *g, const double *a, const double *b)
{
	double sum = 0;
	for (size_t d = 0; d < g->model->dims; d++) {
		if (g->axes[d].kind == PARZEN_REAL)
			sum += g->model->scales[d] * (a[d] - b[d]) * (a[d] - b[d]);
		else if (a[d] != b[d])
			return INFINITY;
	}
	return sum;
}

/* Was this tried (for how long does not matter), or something that gives the same? */
static bool improve_is_known(const struct gp *g, const double *seen)
{
	size_t width = (g->dims - g->fidelity) * sizeof(double);
	for (size_t i = 0; i < g->model->count; i++) {
		const double *known = g->model->x + i * g->dims;
		if (memcmp(seen, known, width) == 0)
			return true;
		if (g->reach > 0 && gp_distance(g, seen, known) < g->reach)
			return true;
	}
	return false;
}

/* The logarithm of the chance that a task finishes and keeps all limits. */
static double improve_log_weight(const struct gp *g, const double *seen)
{
	double sum = feasible_log_weight(g->feasible, seen);
	for (size_t i = 0; i < g->limit_count; i++)
		sum += feasible_log_weight(g->limits[i], seen);
	return sum;
}

/* The same; adds its slopes. */
static double improve_add_slopes(const struct gp *g, const double *seen, double *slopes)
{
	double sum = feasible_add_slopes(g->feasible, seen, slopes);
	for (size_t i = 0; i < g->limit_count; i++)
		sum += feasible_add_slopes(g->limits[i], seen, slopes);
	return sum;
}

/* -INFINITY where it is no more than `least` (most points are done with cheaply so), and where it was tried
 * already: with noise, even such a point may promise an improvement. */
static double improve_value_of(const struct gp *g, const struct search *s, const double *unit, double least,
			       double *seen)
{
	gp_see(g, s, unit, 1, seen);
	double value = g->seeks ? 0 : gaussian_promise(g->model, seen, g->best, least);
	if (value == -INFINITY || (!s->spec->duplicates && improve_is_known(g, seen)))
		return -INFINITY;
	value += improve_log_weight(g, seen);
	return value > least ? value : -INFINITY;
}

double gp_promise(const struct gp *g, const struct search *s, const double *unit)
{
	double *seen = mem_array(g->dims + 1, sizeof(double));
	gp_see(g, s, unit, 1, seen);
	double value = g->seeks ? 0 : gaussian_promise(g->model, seen, g->best, -INFINITY);
	value += improve_log_weight(g, seen);
	free(seen);
	return value;
}

double gp_promise_of_new(const struct gp *g)
{
	return g->kept_count ? g->kept[0].value : -INFINITY;
}

static double improve_least_kept(const struct gp *g)
{
	return g->kept_count < GP_KEPT ? -INFINITY : g->kept[GP_KEPT - 1].value;
}

/* Among the best so far? Equal ones keep their order; the same configuration is kept once. */
static void improve_keep(struct gp *g, const struct search *s, const double *unit, double value)
{
	size_t at = g->kept_count;
	struct candidate spare = g->kept[GP_KEPT];
	while (at > 0 && value > g->kept[at - 1].value)
		at--;
	if (at == GP_KEPT || value == -INFINITY || (at > 0 && value == g->kept[at - 1].value))
		return;
	size_t tail = (g->kept_count < GP_KEPT ? g->kept_count : GP_KEPT - 1) - at;
	if (g->kept_count < GP_KEPT)
		spare = g->kept[g->kept_count++];
	else
		g->kept[GP_KEPT] = g->kept[GP_KEPT - 1];
	memmove(g->kept + at + 1, g->kept + at, tail * sizeof(*g->kept));
	memcpy(spare.unit, unit, s->dims * sizeof(double));
	spare.value = value;
	g->kept[at] = spare;
}

/* Tries one axis: a step either way, or every other choice. True when something better was found. */
static bool improve_axis(const struct gp *g, const struct search *s, size_t d, double step, double *unit, double *value,
			 double *seen)
{
	const struct parzen_axis *axis = &g->axes[d];
	size_t tries = axis->kind == PARZEN_CHOICE ? (size_t)fmin(axis->cells, 32) : 2;
	double from = unit[d], best = from;
	for (size_t i = 0; i < tries; i++) {
		double to = from + (i ? step : -step);
		if (axis->kind == PARZEN_CHOICE)
			to = parzen_unit(axis, (double)i);
		else if (axis->kind == PARZEN_CELLS) {
			double cell = parzen_coordinate(axis, from),
			       moved = parzen_coordinate(axis, fmin(fmax(to, 0), 1));
			if (moved == cell)
				moved = fmin(fmax(cell + (i ? 1 : -1), 0), axis->cells - 1);
			to = parzen_unit(axis, moved);
		}
		unit[d] = fmin(fmax(to, 0), 1);
		double there = unit[d] == from ? -INFINITY : improve_value_of(g, s, unit, *value, seen);
		if (there > *value) {
			*value = there;
			best = unit[d];
		}
	}
	unit[d] = best;
	return best != from;
}

/* Uphill on all real axes at once. Returns the value reached. */
static double improve_climb_real(const struct gp *g, const struct search *s, double *unit, double value, int steps)
{
	size_t n = g->dims + 1;
	double *at = mem_array(8 * n, sizeof(double)), *seen = at + n, *by_mean = seen + n, *by_variance = by_mean + n;
	double *before = by_variance + n, *step = before + n, *next = step + n, *by_weight = next + n;
	memcpy(at, unit, s->dims * sizeof(double));
	for (size_t d = 0; d < s->dims; d++)
		step[d] = GP_STEP_FIRST;
	for (int i = 0; i < steps; i++) {
		double mean, variance, slope_mean, slope_variance, move = 0;
		gp_see(g, s, at, 1, seen);
		gaussian_predict_slopes(g->model, seen, &mean, &variance, by_mean, by_variance);
		memset(by_weight, 0, n * sizeof(double));
		double there = improve_add_slopes(g, seen, by_weight);
		slope_mean = slope_variance = 0;
		if (!g->seeks) {
			there += gaussian_log_improvement(mean, variance, g->best);
			gaussian_improvement_slopes(mean, variance, g->best, &slope_mean, &slope_variance);
		}
		if (there > value && (g->reach == 0 || !improve_is_known(g, seen))) {
			value = there;
			memcpy(unit, at, s->dims * sizeof(double));
		}
		for (size_t d = 0; d < s->dims; d++) {
			/* An axis that does not apply is seen elsewhere than it stands. */
			bool moves = g->axes[d].kind == PARZEN_REAL && fabs(seen[d] - at[d]) < 1e-9;
			double slope = moves ? slope_mean * by_mean[d] + slope_variance * by_variance[d] + by_weight[d]
					     : 0;
			double change = gaussian_step_up(slope, &before[d], &step[d], GP_STEP_LEAST, GP_STEP_MOST);
			next[d] = fmin(fmax(at[d] + change, 0), 1);
			move = fmax(move, fabs(next[d] - at[d]));
		}
		memcpy(at, next, s->dims * sizeof(double));
		if (move <= 2 * GP_STEP_LEAST)
			break;
	}
	free(at);
	return value;
}

/* Real axes by the slope, the others one by one, in turn until nothing is better. Returns the value reached. */
static double improve_climb(struct gp *g, const struct search *s, double *unit, double value, int steps, double *seen)
{
	for (int round = 0; round < GP_ROUNDS; round++) {
		bool better = false;
		if (g->reals)
			value = improve_climb_real(g, s, unit, value, steps);
		for (double step = GP_CELLS_STEP; g->reals < s->dims && step > GP_CELLS_STEP_LEAST; step /= 2)
			for (size_t d = 0; d < s->dims; d++)
				if (g->axes[d].kind != PARZEN_REAL)
					better = improve_axis(g, s, d, step, unit, &value, seen) || better;
		if (!better)
			break;
	}
	improve_keep(g, s, unit, value);
	return value;
}

/* The best results so far are where the next improvement often is, and no even spread of points hits
 * their surroundings once there are more than a few axes. */
static void improve_keep_near_best(struct gp *g, struct search *s, double *unit, double *seen)
{
	const struct search_trial *best[GP_BEST] = {0};
	size_t count = 0;
	for (size_t i = 0; i < s->trials.len; i++) {
		const struct search_trial *t = s->trials.at[i];
		size_t at = count;
		while (search_has_score(t) && at > 0 && gp_is_better(g, s, t, best[at - 1]))
			at--;
		if (!search_has_score(t) || at == GP_BEST)
			continue;
		count += count < GP_BEST;
		memmove(best + at + 1, best + at, (count - 1 - at) * sizeof(*best));
		best[at] = t;
	}
	for (size_t i = 0; i < count * GP_NEAR; i++) {
		/* From all axes by a tenth to a few by a thousandth. */
		double reach = 0.1 * pow(0.01, rng_unit(&s->rng)), share = rng_unit(&s->rng);
		for (size_t d = 0; d < s->dims; d++) {
			unit[d] = best[i % count]->unit[d];
			if (rng_unit(&s->rng) > share && s->dims > 1)
				continue;
			bool jumps = g->axes[d].kind == PARZEN_CHOICE;
			unit[d] = jumps ? rng_unit(&s->rng) : fmin(fmax(unit[d] + reach * rng_normal(&s->rng), 0), 1);
		}
		improve_keep(g, s, unit, improve_value_of(g, s, unit, improve_least_kept(g), seen));
	}
}

static void improve_keep_even(struct gp *g, struct search *s, double *seen)
{
	double *points = mem_array(GP_POINTS * s->dims + 1, sizeof(double));
	sobol_points(GP_POINTS, rng_next(&s->rng) | 1, s->dims, points);
	for (size_t i = 0; i < GP_POINTS; i++) {
		double *unit = points + i * s->dims;
		for (size_t d = SOBOL_DIMS; d < s->dims; d++)
			unit[d] = rng_unit(&s->rng);
		improve_keep(g, s, unit, improve_value_of(g, s, unit, improve_least_kept(g), seen));
	}
	free(points);
}

static bool improve_is_near(const double *points, size_t count, size_t dims, const double *point)
{
	for (size_t i = 0; i < count; i++) {
		double most = 0;
		for (size_t d = 0; d < dims; d++)
			most = fmax(most, fabs(points[i * dims + d] - point[d]));
		if (most < GP_APART)
			return true;
	}
	return false;
}

void gp_improve(struct gp *g, struct search *s)
{
	double *unit = mem_array(2 * g->dims + 1, sizeof(double)), *seen = unit + g->dims;
	double *starts = mem_array(GP_STARTS * s->dims + 1, sizeof(double)), values[GP_STARTS];
	g->kept_count = 0;
	improve_keep_near_best(g, s, unit, seen);
	improve_keep_even(g, s, seen);
	size_t count = 0;
	for (size_t i = 0; i < g->kept_count && count < GP_STARTS; i++) {
		if (improve_is_near(starts, count, s->dims, g->kept[i].unit))
			continue; /* it would end in the same place */
		values[count] = g->kept[i].value;
		memcpy(starts + count++ * s->dims, g->kept[i].unit, s->dims * sizeof(double));
	}
	bool many = g->model->count > GP_CLIMB_MANY;
	size_t best = 0;
	for (size_t i = 0; i < count; i++) {
		values[i] = improve_climb(g, s, starts + i * s->dims, values[i], many ? GP_CLIMB_SHORT : GP_CLIMB_STEPS,
					  seen);
		best = values[i] > values[best] ? i : best;
	}
	if (count && many && g->reals)
		improve_climb(g, s, starts + best * s->dims, values[best], GP_CLIMB_STEPS, seen);
	free(unit);
	free(starts);
}
