/* Bayesian optimisation with a Gaussian process, for few and costly tasks: the next point is where the
 * logarithm of the expected improvement is largest, among quasi-random points and points near the best results,
 * and by local search from the best of them. What runs is believed to give what the model expects (kriging
 * believer, Ginsbourger et al. 2010). The model sees at most 300 results: the best and the newest. What failed is
 * learnt from by a model of its own (feasible.h). */
#include "search/gp_internal.h"
#include "search/gp_values.h"

#include <math.h>

#define GP_START_APART 1024 /* points of the sequence between one that was refused and the next */
#define GP_START_LEAST 3
#define GP_START_MOST 10
#define GP_FIT_LEAST 2 /* results with a value */
#define GP_RUNNING_MOST 64
#define GP_FIT_FEW 100 /* results that the parameters are found from first */
#define GP_FIT_LAST 10 /* steps with all of them */
#define GP_STEPS_LEAST 4 /* pairs of neighbours that tell something */
#define GP_STEPS_AGAINST 3 /* pairs of equals that one of others outweighs */

const struct search_option gp_options[] = {
	{"startup", SEARCH_OPTION_INT, 0, 0, 1000, NULL,
	 "results of evenly spread points before the model is used; 0: a tenth of the tasks, at least 3, at most 10"},
	{0},
};

/* Tasks are few: those of the start are not spent on learning. More than ten were not better at any budget. */
static size_t startup_of(const struct search_spec *spec)
{
	size_t asked = (size_t)search_option(spec, "startup"), tenth = spec->tasks / 10;
	if (asked)
		return asked;
	return tenth < GP_START_LEAST ? GP_START_LEAST : tenth > GP_START_MOST ? GP_START_MOST : tenth;
}

static int gp_open(struct search *s, struct error *err)
{
	(void)err;
	struct gp *g = s->state = mem_alloc(sizeof(*g));
	g->startup = g->next_fit = startup_of(s->spec);
	g->starts = true;
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
	g->feasible = feasible_new(s->dims, g->unordered);
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
	feasible_free(g->feasible);
	free(g->axes);
	free(g->unordered);
	free(g->values);
	free(g->weighed);
	free(g);
}

/* What the model sees of a point: the middles of cells, one half where a parameter does not apply. */
void gp_see(const struct search *s, const double *unit, double *ret)
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
		double score = gp_score(s, s->trials.at[i]);
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
		bool is_new = k++ >= old, is_good = !is_new && gp_score(s, t) <= limit && good < COUNT_OF(best);
		good += is_good;
		if (is_new || is_good)
			ret[taken++] = t;
	}
	return taken;
}

/* The newest trials that ended, in their order, and what became of them. */
static size_t choose_outcomes(const struct search *s, const struct search_trial **ret, double *ret_labels)
{
	size_t from = s->trials.len, count = 0;
	while (from > 0 && count < GP_OUTCOMES_MOST)
		count += s->trials.at[--from]->state != SEARCH_TRIAL_PENDING;
	for (size_t i = from, at = 0; i < s->trials.len; i++) {
		if (s->trials.at[i]->state == SEARCH_TRIAL_PENDING)
			continue;
		ret_labels[at] = search_has_score(s->trials.at[i]) ? 1 : -1;
		ret[at++] = s->trials.at[i];
	}
	return count;
}

static double *see_all(const struct search *s, const struct search_trial *const *trials, size_t count)
{
	double *x = mem_resize(NULL, count * s->dims + 1, sizeof(double));
	for (size_t i = 0; i < count; i++)
		gp_see(s, trials[i]->unit, x + i * s->dims);
	return x;
}

/* Points and standardised values of results, with room for what runs; returns what gp_values_even_out does. */
static double collect(const struct search *s, const struct search_trial *const *chosen, size_t n, bool bent,
		      double **ret_x, double **ret_y)
{
	size_t room = n + GP_RUNNING_MOST;
	double *x = mem_resize(NULL, room * (s->dims + 1), sizeof(double)), *y = mem_resize(NULL, room, sizeof(double));
	for (size_t i = 0; i < n; i++) {
		gp_see(s, chosen[i]->unit, x + i * s->dims);
		y[i] = gp_score(s, chosen[i]);
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
	/* What failed is sought by fewer parameters than it takes to explain a value: a part of it will do. */
	x = see_all(s, g->fit_outcomes, g->fit_outcome_count);
	few = thin(x, g->fit_labels, g->fit_outcome_count, s->dims);
	feasible_fit(g->feasible, x, g->fit_labels, few);
	free(x);
	g->fit_count = 0;
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
			double distance = i == j ? INFINITY : gp_distance(g, x + i * s->dims, x + j * s->dims);
			if (distance < nearest[i].distance)
				nearest[i] = (struct neighbour){distance,
								gp_score(s, chosen[i]) == gp_score(s, chosen[j])};
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

static void prepare_feasible(struct search *s)
{
	struct gp *g = s->state;
	const struct search_trial *trials[GP_OUTCOMES_MOST];
	double labels[GP_OUTCOMES_MOST];
	size_t count = choose_outcomes(s, trials, labels);
	double *x = see_all(s, trials, count);
	feasible_set(g->feasible, x, labels, count);
	free(x);
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
	/* The newest of what runs or failed: nothing more is to be learnt there. */
	for (size_t i = s->trials.len; i-- > 0 && n < known + GP_RUNNING_MOST;) {
		const struct search_trial *t = s->trials.at[i];
		if (search_has_score(t))
			continue;
		gp_see(s, t->unit, x + n * s->dims);
		gaussian_predict(g->model, x + n * s->dims, &y[n], &variance);
		n++;
	}
	if (n > known)
		gaussian_set(g->model, x, y, n);
	free(x);
	free(y);
	prepare_feasible(s);
}

static void plan_fit(struct search *s)
{
	struct gp *g = s->state;
	g->fit_count = choose_trials(s, g->fit);
	g->fit_outcome_count = choose_outcomes(s, g->fit_outcomes, g->fit_labels);
}

static enum search_answer gp_ask(struct search *s, struct search_trial *trial)
{
	struct gp *g = s->state;
	if (search_take_known(s, trial))
		return SEARCH_PROPOSED;
	if (g->starts) {
		search_random_point(s, trial->unit);
		/* People choose ranges around what they believe in. */
		for (size_t d = 0; d < s->dims && trial->index == 0; d++)
			trial->unit[d] = 0.5;
		if (trial->index == 0 && trial->redraw == 0)
			return SEARCH_PROPOSED;
		sobol_point((uint32_t)trial->index + GP_START_APART * trial->redraw, rng_derive(s->spec->seed, 1) | 1,
			    s->dims, trial->unit);
		return SEARCH_PROPOSED;
	}
	if (trial->redraw == 0) {
		if (s->objectives > 1) { /* other values every time, and so other parameters */
			gp_weigh(s);
			plan_fit(s);
		}
		if (g->fit_count)
			find_parameters(s);
		prepare(s);
		gp_improve(s);
	}
	if (trial->redraw < g->kept_count)
		memcpy(trial->unit, g->kept[trial->redraw].unit, s->dims * sizeof(double));
	else
		search_random_point(s, trial->unit);
	return SEARCH_PROPOSED;
}

/* The parameters are due again whenever a tenth more is known. Failures are knowledge too. */
static void gp_tell(struct search *s, struct search_trial *trial)
{
	struct gp *g = s->state;
	if (!s->dims)
		return;
	g->results += search_has_score(trial);
	g->failures += !search_has_score(trial);
	size_t known = g->results + g->failures;
	if (known < g->next_fit || g->results < GP_FIT_LEAST)
		return;
	g->starts = false;
	if (s->objectives == 1)
		plan_fit(s);
	g->next_fit = known + (known >= 20 ? known / 10 : 1);
}

static void gp_write_state(const struct search *s, struct json *out)
{
	const struct gp *g = s->state;
	json_key_string(out, "phase", g->starts ? "Sobol" : "model");
	json_key_int(out, "results", (int64_t)g->results);
	json_key_int(out, "failures", (int64_t)g->failures);
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
