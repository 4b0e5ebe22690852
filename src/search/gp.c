/* Bayesian optimisation with a Gaussian process, for few and costly tasks: the next point is where the
 * logarithm of the expected improvement is largest, among quasi-random points and points near the best results,
 * and by local search from the best of them. What runs is believed to give what the model expects (kriging
 * believer, Ginsbourger et al. 2010). The model sees at most 300 results: the best and the newest. */
#include "search/gaussian.h"
#include "search/gp_values.h"
#include "search/parzen.h"
#include "search/search_internal.h"

#include <math.h>

#define GP_POINTS 1024
#define GP_STARTS 6
#define GP_APART 0.05
#define GP_RESULTS_MOST 300
#define GP_RUNNING_MOST 64
#define GP_FAILED 1.0 /* deviations of the results */
#define GP_KEPT 32 /* candidates kept for the case that one is refused */
#define GP_BEST 5 /* results around which points are tried too */
#define GP_NEAR 60 /* points around each */
#define GP_FIT_FEW 100 /* results that the parameters are found from first */
#define GP_FIT_LAST 10 /* steps with all of them */
#define GP_STEPS_LEAST 4 /* pairs of neighbours that tell something */
#define GP_STEPS_AGAINST 3 /* pairs of equals that one of others outweighs */
#define GP_CLIMB_STEPS 60
#define GP_CLIMB_MANY 150 /* results from which a step costs so much that all but one climb are short */
#define GP_CLIMB_SHORT 20
#define GP_STEP_FIRST 0.02
#define GP_STEP_LEAST 1e-5
#define GP_STEP_MOST 0.1
#define GP_ROUNDS 6
#define GP_CELLS_STEP 0.2
#define GP_CELLS_STEP_LEAST 0.005

const struct search_option gp_options[] = {
	{"startup", SEARCH_OPTION_INT, 10, 2, 1000, NULL, "results of Sobol points before the model is used"},
	{0},
};

struct candidate {
	double value;
	double *unit;
};

struct gp {
	size_t startup, results, next_fit, reals;
	/* What the parameters are to be found from, before the next proposal. */
	const struct search_trial *fit[GP_RESULTS_MOST];
	size_t fit_count;
	struct gaussian *models[2]; /* of the results as they are, and bent */
	struct gaussian *model; /* one of them */
	struct parzen_axis *axes;
	bool *unordered;
	uint32_t next_point;
	struct candidate kept[GP_KEPT + 1]; /* best first */
	size_t kept_count;
	struct space_value *values;
	double best; /* to be improved on, in the model's values */
	double reach; /* around a result: its value most likely repeats there; 0: nowhere */
};

static int gp_open(struct search *s, struct error *err)
{
	(void)err;
	struct gp *g = s->state = mem_alloc(sizeof(*g));
	g->startup = g->next_fit = (size_t)search_option(s->spec, "startup");
	g->axes = mem_array(s->dims + 1, sizeof(*g->axes));
	g->unordered = mem_array(s->dims + 1, sizeof(*g->unordered));
	g->values = mem_array(s->space->count + 1, sizeof(*g->values));
	for (size_t d = 0; d < s->dims; d++) {
		g->axes[d] = parzen_axis_of(&s->space->params[s->space->dims[d]]);
		g->unordered[d] = g->axes[d].kind == PARZEN_CHOICE;
		g->reals += g->axes[d].kind == PARZEN_REAL;
	}
	for (size_t i = 0; i < COUNT_OF(g->kept); i++)
		g->kept[i].unit = mem_array(s->dims + 1, sizeof(double));
	for (size_t i = 0; i < COUNT_OF(g->models); i++)
		g->models[i] = gaussian_new(s->dims, g->unordered);
	g->model = g->models[0];
	return 0;
}

static void gp_free(struct search *s)
{
	struct gp *g = s->state;
	if (!g)
		return;
	for (size_t i = 0; i < COUNT_OF(g->kept); i++)
		free(g->kept[i].unit);
	for (size_t i = 0; i < COUNT_OF(g->models); i++)
		gaussian_free(g->models[i]);
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
	for (size_t i = 0, k = 0; i < s->trials.len; i++) {
		const struct search_trial *t = s->trials.at[i];
		if (!search_has_score(t))
			continue;
		bool is_new = k++ >= old, is_good = !is_new && t->score[0] <= limit && good < COUNT_OF(best);
		good += is_good;
		if (is_new || is_good)
			ret[taken++] = t;
	}
	return taken;
}

/* Points and standardised values of results, with room for what runs; returns what gp_values_even_out does. */
static double collect(const struct search *s, const struct search_trial *const *chosen, size_t n, bool bent,
		      double **ret_x, double **ret_y)
{
	size_t room = n + GP_RUNNING_MOST;
	double *x = mem_resize(NULL, room * (s->dims + 1), sizeof(double)), *y = mem_resize(NULL, room, sizeof(double));
	for (size_t i = 0; i < n; i++) {
		see(s, chosen[i]->unit, x + i * s->dims);
		y[i] = chosen[i]->score[0];
	}
	*ret_x = x;
	*ret_y = y;
	return gp_values_even_out(y, n, bent);
}

/* Of `count` points and values an even part, in their place. Returns how many. */
static size_t thin(double *x, double *y, size_t count, size_t dims)
{
	size_t few = count < GP_FIT_FEW ? count : GP_FIT_FEW;
	for (size_t i = 0; i < few; i++) {
		memmove(x + i * dims, x + i * count / few * dims, dims * sizeof(double));
		y[i] = y[i * count / few];
	}
	return few;
}

/* The parameters, for the results as they are and bent; the more likely of both is asked until they are due again.
 * Where many results are known a part of them decides that and leads near, and all of them only lead the last steps.
 * They follow from the results that were known when they were due, and from nothing else: a replay need not find
 * those that others came after. */
static void find_parameters(struct search *s)
{
	struct gp *g = s->state;
	double most = -INFINITY, *x, *y;
	size_t few = 0;
	for (size_t i = 0; i < COUNT_OF(g->models); i++) {
		double stretch = collect(s, g->fit, g->fit_count, i == 1, &x, &y);
		few = thin(x, y, g->fit_count, s->dims);
		gaussian_fit(g->models[i], x, y, few);
		double likely = g->models[i]->log_likelihood + stretch * (double)few / (double)g->fit_count;
		if (likely > most) {
			most = likely;
			g->model = g->models[i];
		}
		free(x);
		free(y);
	}
	if (few < g->fit_count) {
		collect(s, g->fit, g->fit_count, g->model == g->models[1], &x, &y);
		gaussian_refine(g->model, x, y, g->fit_count, GP_FIT_LAST);
		free(x);
		free(y);
	}
	g->fit_count = 0;
}

/* How far apart two results are that differ in nothing but real parameters, as the model measures it. */
static double distance_of(const struct gp *g, const double *a, const double *b)
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

struct neighbour {
	double distance;
	bool same; /* it has exactly the same value */
};

static int compare_neighbours(const void *a, const void *b)
{
	const struct neighbour *x = a, *y = b;
	return x->distance < y->distance ? -1 : x->distance > y->distance ? 1 : x->same - y->same;
}

/* Steps: how far around a result its value most likely repeats. No smooth model can know, and it would go on refining
 * where nothing changes. The distance up to which results and their nearest neighbours have exactly the same value,
 * three of four; 0 where too few have. */
static double find_steps(const struct search *s, const struct search_trial *const *chosen, const double *x, size_t n)
{
	const struct gp *g = s->state;
	struct neighbour *nearest = mem_resize(NULL, n + 1, sizeof(*nearest));
	double reach = 0, sum = 0, most = GP_STEPS_LEAST - 1;
	for (size_t i = 0; i < n; i++) {
		nearest[i] = (struct neighbour){INFINITY, false};
		for (size_t j = 0; j < n; j++) {
			double distance = i == j ? INFINITY : distance_of(g, x + i * s->dims, x + j * s->dims);
			if (distance < nearest[i].distance)
				nearest[i] = (struct neighbour){distance, chosen[i]->score[0] == chosen[j]->score[0]};
		}
	}
	qsort(nearest, n, sizeof(*nearest), compare_neighbours);
	for (size_t i = 0; i < n && nearest[i].distance < INFINITY; i++) {
		sum += nearest[i].same ? 1 : -GP_STEPS_AGAINST;
		if (sum > most) {
			most = sum;
			reach = nearest[i].distance;
		}
	}
	free(nearest);
	return reach;
}

static void prepare(struct search *s)
{
	struct gp *g = s->state;
	const struct search_trial *chosen[GP_RESULTS_MOST];
	double *x, *y, variance;
	size_t n = choose_trials(s, chosen), known = n;
	collect(s, chosen, n, g->model == g->models[1], &x, &y);
	gaussian_set(g->model, x, y, n);
	g->reach = g->reals && !s->spec->duplicates ? find_steps(s, chosen, x, n) : 0;
	/* To be improved on is what the model expects where it expects the most: the least result may be good luck.
	 * Its mean at a point is the value less the noise times alpha. */
	g->best = INFINITY;
	for (size_t i = 0; i < n; i++)
		g->best = fmin(g->best, y[i] - g->model->scales[s->dims + 1] * g->model->alpha[i]);
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

/* Was this tried, or something that gives the same? */
static bool is_known(const struct gp *g, const double *seen)
{
	for (size_t i = 0; i < g->model->count; i++) {
		const double *known = g->model->x + i * g->model->dims;
		if (memcmp(seen, known, g->model->dims * sizeof(double)) == 0)
			return true;
		if (g->reach > 0 && distance_of(g, seen, known) < g->reach)
			return true;
	}
	return false;
}

/* -INFINITY where it is no more than `least` (most points are done with cheaply so), and where it was tried
 * already: with noise, even such a point may promise an improvement. */
static double value_of(const struct search *s, const double *unit, double least, double *seen)
{
	const struct gp *g = s->state;
	see(s, unit, seen);
	double value = gaussian_promise(g->model, seen, g->best, least);
	return value > -INFINITY && !s->spec->duplicates && is_known(g, seen) ? -INFINITY : value;
}

static double least_kept(const struct gp *g)
{
	return g->kept_count < GP_KEPT ? -INFINITY : g->kept[GP_KEPT - 1].value;
}

/* Among the best so far? Equal ones keep their order; the same configuration is kept once. */
static void keep(struct search *s, const double *unit, double value)
{
	struct gp *g = s->state;
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
static bool improve_axis(const struct search *s, size_t d, double step, double *unit, double *value, double *seen)
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
			double cell = parzen_coordinate(axis, from),
			       moved = parzen_coordinate(axis, fmin(fmax(to, 0), 1));
			if (moved == cell)
				moved = fmin(fmax(cell + (i ? 1 : -1), 0), axis->cells - 1);
			to = parzen_unit(axis, moved);
		}
		unit[d] = fmin(fmax(to, 0), 1);
		double there = unit[d] == from ? -INFINITY : value_of(s, unit, *value, seen);
		if (there > *value) {
			*value = there;
			best = unit[d];
		}
	}
	unit[d] = best;
	return best != from;
}

/* Uphill on all real axes at once. Returns the value reached. */
static double climb_real(const struct search *s, double *unit, double value, int steps)
{
	const struct gp *g = s->state;
	size_t n = s->dims;
	double *at = mem_array(7 * n + 1, sizeof(double)), *seen = at + n, *by_mean = seen + n,
	       *by_variance = by_mean + n;
	double *before = by_variance + n, *step = before + n, *next = step + n;
	memcpy(at, unit, n * sizeof(double));
	for (size_t d = 0; d < n; d++)
		step[d] = GP_STEP_FIRST;
	for (int i = 0; i < steps; i++) {
		double mean, variance, slope_mean, slope_variance, move = 0;
		see(s, at, seen);
		gaussian_predict_slopes(g->model, seen, &mean, &variance, by_mean, by_variance);
		double there = gaussian_log_improvement(mean, variance, g->best);
		gaussian_improvement_slopes(mean, variance, g->best, &slope_mean, &slope_variance);
		if (there > value && (g->reach == 0 || !is_known(g, seen))) {
			value = there;
			memcpy(unit, at, n * sizeof(double));
		}
		for (size_t d = 0; d < n; d++) {
			/* An axis that does not apply is seen elsewhere than it stands. */
			bool moves = g->axes[d].kind == PARZEN_REAL && fabs(seen[d] - at[d]) < 1e-9;
			double slope = moves ? slope_mean * by_mean[d] + slope_variance * by_variance[d] : 0;
			double change = gaussian_step_up(slope, &before[d], &step[d], GP_STEP_LEAST, GP_STEP_MOST);
			next[d] = fmin(fmax(at[d] + change, 0), 1);
			move = fmax(move, fabs(next[d] - at[d]));
		}
		memcpy(at, next, n * sizeof(double));
		if (move <= 2 * GP_STEP_LEAST)
			break;
	}
	free(at);
	return value;
}

/* Real axes by the slope, the others one by one, in turn until nothing is better. Returns the value reached. */
static double climb(struct search *s, double *unit, double value, int steps, double *seen)
{
	const struct gp *g = s->state;
	for (int round = 0; round < GP_ROUNDS; round++) {
		bool better = false;
		if (g->reals)
			value = climb_real(s, unit, value, steps);
		for (double step = GP_CELLS_STEP; g->reals < s->dims && step > GP_CELLS_STEP_LEAST; step /= 2)
			for (size_t d = 0; d < s->dims; d++)
				if (g->axes[d].kind != PARZEN_REAL)
					better = improve_axis(s, d, step, unit, &value, seen) || better;
		if (!better)
			break;
	}
	keep(s, unit, value);
	return value;
}

/* The best results so far are where the next improvement often is, and no even spread of points hits
 * their surroundings once there are more than a few axes. */
static void keep_near_best(struct search *s, double *unit, double *seen)
{
	const struct search_trial *best[GP_BEST] = {0};
	size_t count = 0;
	for (size_t i = 0; i < s->trials.len; i++) {
		const struct search_trial *t = s->trials.at[i];
		size_t at = count;
		while (search_has_score(t) && at > 0 && t->score[0] < best[at - 1]->score[0])
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
			bool jumps = ((const struct gp *)s->state)->axes[d].kind == PARZEN_CHOICE;
			unit[d] = jumps ? rng_unit(&s->rng) : fmin(fmax(unit[d] + reach * rng_normal(&s->rng), 0), 1);
		}
		keep(s, unit, value_of(s, unit, least_kept(s->state), seen));
	}
}

static bool is_near(const double *points, size_t count, size_t dims, const double *point)
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

static void search_improvement(struct search *s)
{
	struct gp *g = s->state;
	double *unit = mem_array(2 * s->dims + 1, sizeof(double)), *seen = unit + s->dims;
	double *starts = mem_array(GP_STARTS * s->dims + 1, sizeof(double)), values[GP_STARTS];
	uint64_t scramble = rng_next(&s->rng) | 1;
	g->kept_count = 0;
	keep_near_best(s, unit, seen);
	for (uint32_t i = 0; i < GP_POINTS; i++) {
		for (size_t d = SOBOL_DIMS; d < s->dims; d++)
			unit[d] = rng_unit(&s->rng);
		sobol_point(i, scramble, s->dims, unit);
		keep(s, unit, value_of(s, unit, least_kept(s->state), seen));
	}
	size_t count = 0;
	for (size_t i = 0; i < g->kept_count && count < GP_STARTS; i++) {
		if (is_near(starts, count, s->dims, g->kept[i].unit))
			continue; /* it would end in the same place */
		values[count] = g->kept[i].value;
		memcpy(starts + count++ * s->dims, g->kept[i].unit, s->dims * sizeof(double));
	}
	bool many = g->model->count > GP_CLIMB_MANY;
	size_t best = 0;
	for (size_t i = 0; i < count; i++) {
		values[i] = climb(s, starts + i * s->dims, values[i], many ? GP_CLIMB_SHORT : GP_CLIMB_STEPS, seen);
		best = values[i] > values[best] ? i : best;
	}
	if (count && many && g->reals)
		climb(s, starts + best * s->dims, values[best], GP_CLIMB_STEPS, seen);
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
		sobol_point((uint32_t)trial->index + GP_POINTS * trial->redraw, rng_derive(s->spec->seed, 1) | 1,
			    s->dims, trial->unit);
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
	json_key_string(out, "values", g->model == g->models[1] ? "bent" : "as they are");
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
