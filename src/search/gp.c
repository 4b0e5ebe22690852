/* Bayesian optimisation with a Gaussian process, for few and costly tasks: the next point is where the
 * logarithm of the expected improvement is largest, among 2048 quasi-random points and by local search from
 * the best ten of them (as in Optuna). What runs is believed to give what the model expects (kriging
 * believer, Ginsbourger et al. 2010). The model sees at most 200 results: the best and the newest. */
#include "search/gaussian.h"
#include "search/parzen.h"
#include "search/search_internal.h"

#include <math.h>

#define GP_POINTS 2048
#define GP_STARTS 10
#define GP_RESULTS_MOST 200
#define GP_RUNNING_MOST 64
#define GP_FAILED 1.0 /* deviations of the results */
#define GP_KEPT 32 /* candidates kept for the case that one is refused */
#define GP_STEP 0.1
#define GP_STEP_LEAST 0.002
#define GP_MOVES_MOST 100

const struct search_option gp_options[] = {
	{"startup", SEARCH_OPTION_INT, 10, 2, 1000, NULL, "results of Sobol points before the model is used"},
	{0},
};

struct candidate {
	double value;
	double *unit;
};

struct gp {
	size_t startup, results, next_fit;
	/* What the parameters are to be found from, before the next proposal. */
	const struct search_trial *fit[GP_RESULTS_MOST];
	size_t fit_count;
	struct gaussian *model;
	struct parzen_axis *axes;
	bool *unordered;
	uint32_t next_point;
	struct candidate kept[GP_KEPT + 1]; /* best first */
	size_t kept_count;
	struct space_value *values;
	double best; /* of the standardised results */
};

static int gp_open(struct search *s, struct error *err)
{
	(void)err;
	struct gp *g = s->state = mem_alloc(sizeof(*g));
	g->startup = g->next_fit = (size_t)search_option(s->spec, "startup");
	g->axes = mem_alloc((s->dims + 1) * sizeof(*g->axes));
	g->unordered = mem_alloc((s->dims + 1) * sizeof(*g->unordered));
	g->values = mem_alloc((s->space->count + 1) * sizeof(*g->values));
	for (size_t d = 0; d < s->dims; d++) {
		g->axes[d] = parzen_axis_of(&s->space->params[s->space->dims[d]]);
		g->unordered[d] = g->axes[d].kind == PARZEN_CHOICE;
	}
	for (size_t i = 0; i < COUNT_OF(g->kept); i++)
		g->kept[i].unit = mem_alloc((s->dims + 1) * sizeof(double));
	g->model = gaussian_new(s->dims, g->unordered);
	return 0;
}

static void gp_free(struct search *s)
{
	struct gp *g = s->state;
	if (!g)
		return;
	for (size_t i = 0; i < COUNT_OF(g->kept); i++)
		free(g->kept[i].unit);
	gaussian_free(g->model);
	free(g->axes);
	free(g->unordered);
	free(g->values);
	free(g);
}

/* What the model sees of a point: the middles of cells, one half where a parameter does not apply. */
static void see(const struct search *s, const double *unit, double *ret)
{
	const struct gp *g = s->state;
	space_decode(s->space, unit, g->values);
	space_encode(s->space, g->values, ret);
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

/* The trials that the model is to see: all of them, or the better half of the most and the newest. */
static size_t choose_trials(const struct search *s, const struct search_trial **ret)
{
	size_t known = 0, taken = 0, count = 0;
	double best[GP_RESULTS_MOST / 2], limit = INFINITY; /* ascending */
	for (size_t i = 0; i < s->trials.len; i++) {
		if (!search_has_score(s->trials.at[i]))
			continue;
		known++;
		double score = s->trials.at[i]->score[0];
		size_t at = count;
		while (at > 0 && score < best[at - 1])
			at--;
		if (at == COUNT_OF(best))
			continue;
		count += count < COUNT_OF(best);
		memmove(best + at + 1, best + at, (count - 1 - at) * sizeof(*best));
		best[at] = score;
	}
	if (known > GP_RESULTS_MOST)
		limit = best[COUNT_OF(best) - 1];
	size_t old = known > GP_RESULTS_MOST ? known - GP_RESULTS_MOST / 2 : 0, good = 0;
	for (size_t i = 0, k = 0; i < s->trials.len && taken < GP_RESULTS_MOST; i++) {
		const struct search_trial *t = s->trials.at[i];
		if (!search_has_score(t))
			continue;
		bool is_good = k < old && t->score[0] <= limit && good < GP_RESULTS_MOST / 2;
		good += is_good;
		if (is_good || k++ >= old)
			ret[taken++] = t;
	}
	return taken;
}

/* Mean 0, deviation 1; a result far beyond the others (diverged) is brought nearer, or it would flatten
 * all differences that matter. */
static void standardise(double *y, size_t n)
{
	double *sorted = mem_resize(NULL, n, sizeof(double)), mean = 0, square = 0;
	memcpy(sorted, y, n * sizeof(double));
	qsort(sorted, n, sizeof(double), compare_doubles);
	double quarter = sorted[n / 4], upper = sorted[3 * n / 4];
	double most = upper > quarter ? upper + 3 * (upper - quarter) : INFINITY;
	free(sorted);
	for (size_t i = 0; i < n; i++) {
		y[i] = fmin(y[i], most);
		mean += y[i] / (double)n;
	}
	for (size_t i = 0; i < n; i++)
		square += (y[i] - mean) * (y[i] - mean) / (double)n;
	for (size_t i = 0; i < n; i++)
		y[i] = square > 0 ? (y[i] - mean) / sqrt(square) : 0;
}

/* Points and standardised values of what is known, with room for what runs. */
static void collect(struct search *s, const struct search_trial *const *chosen, size_t n, double **ret_x,
		    double **ret_y)
{
	struct gp *g = s->state;
	size_t room = n + GP_RUNNING_MOST;
	double *x = mem_resize(NULL, room * (s->dims + 1), sizeof(double)), *y = mem_resize(NULL, room, sizeof(double));
	g->best = INFINITY;
	for (size_t i = 0; i < n; i++) {
		see(s, chosen[i]->unit, x + i * s->dims);
		y[i] = chosen[i]->score[0];
	}
	standardise(y, n);
	for (size_t i = 0; i < n; i++)
		g->best = fmin(g->best, y[i]);
	*ret_x = x;
	*ret_y = y;
}

/* The parameters follow from the results that were known when they were due, and from nothing else: a replay need
 * not find those that others came after. */
static void find_parameters(struct search *s)
{
	struct gp *g = s->state;
	double *x, *y;
	collect(s, g->fit, g->fit_count, &x, &y);
	gaussian_fit(g->model, x, y, g->fit_count);
	g->fit_count = 0;
	free(x);
	free(y);
}

static void prepare(struct search *s)
{
	struct gp *g = s->state;
	const struct search_trial *chosen[GP_RESULTS_MOST];
	double *x, *y, variance;
	size_t n = choose_trials(s, chosen), known = n;
	collect(s, chosen, n, &x, &y);
	gaussian_set(g->model, x, y, n);
	/* The newest of what runs or failed. A failure may be bad luck, so that it only counts as somewhat worse
	 * than expected; many of them in one place add up. */
	for (size_t i = s->trials.len; i-- > 0 && n < known + GP_RUNNING_MOST;) {
		const struct search_trial *t = s->trials.at[i];
		if (search_has_score(t))
			continue;
		see(s, t->unit, x + n * s->dims);
		gaussian_predict(g->model, x + n * s->dims, &y[n], &variance);
		y[n] += t->state == SEARCH_TRIAL_PENDING ? 0 : GP_FAILED;
		n++;
	}
	if (n > known)
		gaussian_set(g->model, x, y, n);
	free(x);
	free(y);
}

static double value_of(const struct search *s, const double *unit, double *seen)
{
	const struct gp *g = s->state;
	double mean, variance;
	see(s, unit, seen);
	gaussian_predict(g->model, seen, &mean, &variance);
	return gaussian_log_improvement(mean, variance, g->best);
}

/* Among the best so far? Equal ones keep their order. */
static void keep(struct search *s, const double *unit, double value)
{
	struct gp *g = s->state;
	size_t at = g->kept_count;
	struct candidate spare = g->kept[GP_KEPT];
	while (at > 0 && value > g->kept[at - 1].value)
		at--;
	if (at == GP_KEPT)
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
static bool improve_axis(const struct search *s, size_t d, double step, double *unit, double *value,
			 double *seen)
{
	const struct gp *g = s->state;
	const struct parzen_axis *axis = &g->axes[d];
	size_t tries = axis->kind == PARZEN_CHOICE ? (size_t)fmin(axis->cells, 32) : 2;
	double from = unit[d], best = from;
	for (size_t i = 0; i < tries; i++) {
		double to = from + (i ? step : -step);
		if (axis->kind == PARZEN_CHOICE)
			to = parzen_unit(axis, (double)i);
		else if (axis->kind == PARZEN_CELLS) {
			double cell = parzen_coordinate(axis, from), moved = parzen_coordinate(axis, fmin(fmax(to, 0), 1));
			if (moved == cell)
				moved = fmin(fmax(cell + (i ? 1 : -1), 0), axis->cells - 1);
			to = parzen_unit(axis, moved);
		}
		unit[d] = fmin(fmax(to, 0), 1);
		double there = unit[d] == from ? -INFINITY : value_of(s, unit, seen);
		if (there > *value) {
			*value = there;
			best = unit[d];
		}
	}
	unit[d] = best;
	return best != from;
}

static void climb(struct search *s, double *unit, double value, double *seen)
{
	double step = GP_STEP;
	for (size_t moves = 0; step >= GP_STEP_LEAST && moves < GP_MOVES_MOST; moves++) {
		bool better = false;
		for (size_t d = 0; d < s->dims; d++)
			better = improve_axis(s, d, step, unit, &value, seen) || better;
		if (!better)
			step /= 2;
	}
	keep(s, unit, value);
}

static void search_improvement(struct search *s)
{
	struct gp *g = s->state;
	double *unit = mem_alloc((2 * s->dims + 1) * sizeof(double)), *seen = unit + s->dims;
	double *starts = mem_alloc((GP_STARTS * s->dims + 1) * sizeof(double)), values[GP_STARTS];
	uint64_t scramble = rng_next(&s->rng) | 1;
	g->kept_count = 0;
	for (uint32_t i = 0; i < GP_POINTS; i++) {
		for (size_t d = SOBOL_DIMS; d < s->dims; d++)
			unit[d] = rng_unit(&s->rng);
		sobol_point(i, scramble, s->dims, unit);
		keep(s, unit, value_of(s, unit, seen));
	}
	for (size_t i = 0; i < GP_STARTS; i++) {
		memcpy(starts + i * s->dims, g->kept[i].unit, s->dims * sizeof(double));
		values[i] = g->kept[i].value;
	}
	for (size_t i = 0; i < GP_STARTS; i++)
		climb(s, starts + i * s->dims, values[i], seen);
	free(unit);
	free(starts);
}

static enum search_answer gp_ask(struct search *s, struct search_trial *trial)
{
	struct gp *g = s->state;
	if (search_take_known(s, trial))
		return SEARCH_PROPOSED;
	if (g->results < g->startup || !s->dims) {
		search_random_point(s, trial->unit);
		sobol_point((uint32_t)trial->index + GP_POINTS * trial->redraw, rng_derive(s->spec->seed, 1) | 1, s->dims,
			    trial->unit);
		return SEARCH_PROPOSED;
	}
	if (trial->redraw == 0) {
		if (g->fit_count)
			find_parameters(s);
		prepare(s);
		search_improvement(s);
	}
	if (trial->redraw < g->kept_count)
		memcpy(trial->unit, g->kept[trial->redraw].unit, s->dims * sizeof(double));
	else
		search_random_point(s, trial->unit);
	return SEARCH_PROPOSED;
}

/* The parameters are due again whenever a tenth more is known. */
static void gp_tell(struct search *s, struct search_trial *trial)
{
	struct gp *g = s->state;
	if (!search_has_score(trial) || !s->dims)
		return;
	g->results++;
	if (g->results < g->next_fit)
		return;
	g->fit_count = choose_trials(s, g->fit);
	g->next_fit = g->results + (g->results >= 20 ? g->results / 10 : 1);
}

static void gp_write_state(const struct search *s, struct json *out)
{
	const struct gp *g = s->state;
	json_key_string(out, "phase", g->results < g->startup ? "Sobol" : "model");
	json_key_int(out, "results", (int64_t)g->results);
	json_key(out, "scales"); /* how far one has to go on each axis until values differ */
	json_map(out);
	for (size_t d = 0; d < s->dims; d++)
		json_key_real(out, s->space->params[s->space->dims[d]].name, exp(-g->model->theta[d] / 2));
	json_end(out);
}

const struct strategy_ops gp_ops = {
	.open = gp_open,
	.free = gp_free,
	.ask = gp_ask,
	.tell = gp_tell,
	.write_state = gp_write_state,
	.recalls = true,
};
