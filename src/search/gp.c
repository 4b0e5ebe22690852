/* Bayesian optimisation with a Gaussian process, for few and costly tasks: the next point is where the
 * logarithm of the expected improvement is largest, among quasi-random points and points near the best results,
 * and by local search from the best of them. What runs is believed to give what the model expects (kriging
 * believer, Ginsbourger et al. 2010). The model sees at most 300 results: the best and the newest. What failed is
 * learnt from by a model of its own (feasible.h), and so is every limit. */
#include "search/gp_internal.h"

#include <math.h>

#define GP_START_APART 1024 /* points of the sequence between one that was refused and the next */
#define GP_START_LEAST 3
#define GP_START_MOST 10
#define GP_FIT_LEAST 2 /* results with a value */
#define GP_FIT_MANY 50 /* results from which more than one start is tried: with fewer it was no better */
#define GP_SUMS_LEAST 20 /* results from which a sum over the axes is tried */
#define GP_SUMS_SHARE 0.8
#define GP_FIT_LAST 10 /* steps with all of them */
#define GP_WIDE_EVERY 4 /* every fourth proposal comes from the model with the wide prior */
#define GP_CHOICES_GAIN 0.1 /* deviations below the best that choices are sought for */

const struct search_option gp_options[] = {
	{"startup", SEARCH_OPTION_INT, 0, 0, 1000, NULL,
	 "results of evenly spread points before the model is used; 0: a tenth of the tasks, at least 3, at most 10"},
	{0},
};

/* Tasks are few: those of the start are not spent on learning. More than ten were not better at any budget. */
static size_t gp_startup_of(const struct search_spec *spec)
{
	size_t asked = (size_t)search_option(spec, "startup"), tenth = spec->tasks / 10;
	if (asked)
		return asked;
	return tenth < GP_START_LEAST ? GP_START_LEAST : tenth > GP_START_MOST ? GP_START_MOST : tenth;
}

static void gp_make_axes(struct gp *g, const struct search *s)
{
	g->axes = mem_array(g->dims + 1, sizeof(*g->axes));
	g->unordered = mem_array(g->dims + 1, sizeof(*g->unordered));
	g->fidelity_axis = -1;
	g->quick = true;
	size_t choices = 0;
	for (size_t d = 0; d < s->dims; d++) {
		g->axes[d] = parzen_axis_of(&s->space->params[s->space->dims[d]]);
		g->unordered[d] = g->axes[d].kind == PARZEN_CHOICE;
		choices += g->unordered[d];
		g->reals += g->axes[d].kind == PARZEN_REAL;
		g->quick = g->quick && !g->axes[d].uneven && !s->space->params[s->space->dims[d]].condition_count;
		if (g->fidelity && (long)s->space->dims[d] == s->spec->fidelity_param)
			g->fidelity_axis = (long)d;
	}
	g->choices = s->objectives == 1 && choices == s->dims;
	g->cells = s->objectives == 1 && !choices && !g->reals && !g->fidelity;
	if (g->fidelity)
		g->axes[s->dims] = (struct parzen_axis){.kind = PARZEN_REAL};
}

struct gp *gp_new(const struct search *s, size_t startup)
{
	struct gp *g = mem_alloc(sizeof(*g));
	g->startup = g->next_fit = startup;
	g->starts = true;
	g->fidelity = s->spec->strategy->capabilities & SEARCH_MULTI_FIDELITY;
	g->dims = s->dims + g->fidelity;
	g->values = mem_array(s->space->count + 1, sizeof(*g->values));
	gp_make_axes(g, s);
	for (size_t i = 0; i < COUNT_OF(g->kept); i++)
		g->kept[i].unit = mem_array(s->dims + 1, sizeof(double));
	for (size_t i = 0; i < COUNT_OF(g->models); i++) {
		g->models[i] = gaussian_new(g->dims, g->unordered);
		g->models[i]->wide = g->models[i]->alike = g->choices;
	}
	g->sums = gaussian_new(g->dims, g->unordered);
	g->sums->share = GP_SUMS_SHARE;
	g->wide = gaussian_new(g->dims, g->unordered);
	g->wide->wide = true;
	g->model = g->usual = g->models[0];
	g->feasible = feasible_new(g->dims, g->unordered, FEASIBLE_FAILURES);
	g->limit_count = s->spec->limit_count;
	g->limits = mem_array(g->limit_count + 1, sizeof(struct feasible *));
	for (size_t i = 0; i < g->limit_count; i++)
		g->limits[i] = feasible_new(g->dims, g->unordered, FEASIBLE_LIMIT);
	return g;
}

void gp_free(struct gp *g)
{
	if (!g)
		return;
	for (size_t i = 0; i < COUNT_OF(g->kept); i++)
		free(g->kept[i].unit);
	for (size_t i = 0; i < COUNT_OF(g->models); i++)
		gaussian_free(g->models[i]);
	gaussian_free(g->wide);
	gaussian_free(g->sums);
	feasible_free(g->feasible);
	for (size_t i = 0; i < g->limit_count; i++)
		feasible_free(g->limits[i]);
	free(g->limits);
	free(g->axes);
	free(g->unordered);
	free(g->values);
	free(g->weighed);
	free(g);
}

bool gp_is_ready(const struct gp *g)
{
	return !g->starts;
}

/* The parameters of a model, from a part of the results where there are many; `more` tries more starts than one. Returns
 * how likely it makes them. */
static double gp_fit_few(struct gp *g, const struct search *s, struct gaussian *model, bool bent, bool more)
{
	double *x, *y, stretch = gp_collect(g, s, g->fit, g->fit_count, bent, &x, &y);
	size_t few = gp_thin(x, y, g->fit_count, g->dims);
	if (more)
		gaussian_fit_more(model, x, y, few);
	else
		gaussian_fit(model, x, y, few);
	free(x);
	free(y);
	return model->log_likelihood + stretch * (double)few / (double)g->fit_count;
}

/* Where only a part led near, all of them lead the last steps. */
static void gp_fit_all(struct gp *g, const struct search *s, struct gaussian *model, bool bent)
{
	double *x, *y;
	if (g->fit_count <= GP_FIT_FEW)
		return;
	gp_collect(g, s, g->fit, g->fit_count, bent, &x, &y);
	gaussian_refine(model, x, y, g->fit_count, GP_FIT_LAST);
	free(x);
	free(y);
}

/* What failed is sought by fewer parameters than it takes to explain a value: a part of it will do. */
static void gp_fit_feasible(struct gp *g, const struct search *s)
{
	double *x = gp_see_all(g, s, g->fit_outcomes, g->fit_outcome_count);
	size_t few = gp_thin(x, g->fit_labels, g->fit_outcome_count, g->dims);
	feasible_fit(g->feasible, x, g->fit_labels, few);
	free(x);
	for (size_t i = 0; i < g->limit_count; i++) {
		double margins[GP_RESULTS_MOST];
		size_t count;
		x = gp_margins(g, s, g->fit, g->fit_count, i, margins, &count);
		few = gp_thin(x, margins, count, g->dims);
		feasible_fit(g->limits[i], x, margins, few);
		free(x);
	}
}

/* Is a sum over the axes worth a try? Not for choices, where it was never the more likely one; where there are several
 * objectives every ask fits, and costs enough. */
static bool gp_tries_sums(const struct gp *g, const struct search *s)
{
	return s->objectives == 1 && !g->choices && !g->fidelity && g->dims > 1 && g->fit_count >= GP_SUMS_LEAST;
}

static void gp_choose_priors(struct gp *g)
{
	for (size_t i = 0; i < COUNT_OF(g->models); i++) {
		g->models[i]->brief = g->fit_cells;
		g->models[i]->alike = g->choices || g->fit_cells;
	}
	g->sums->brief = g->sums->alike = g->wide->alike = g->fit_cells;
}

/* The parameters, for the results as they are and bent; the more likely of both is asked until they are due again.
 * They follow from the results that were known when they were due, and from nothing else: a replay need not find
 * those that others came after. */
static void gp_find_parameters(struct gp *g, const struct search *s)
{
	double most = -INFINITY;
	gp_choose_priors(g);
	for (size_t i = 0; i < COUNT_OF(g->models); i++) {
		double likely = gp_fit_few(g, s, g->models[i], i == 1, false);
		if (likely > most) {
			most = likely;
			g->usual = g->models[i];
			g->bent = i == 1;
		}
	}
	if (gp_tries_sums(g, s) && gp_fit_few(g, s, g->sums, g->bent, false) > most)
		g->usual = g->sums;
	if (g->fit_count >= GP_FIT_MANY)
		gp_fit_few(g, s, g->usual, g->bent, true);
	gp_fit_all(g, s, g->usual, g->bent);
	if (s->objectives == 1 && !g->choices) {
		gp_fit_few(g, s, g->wide, g->bent, false);
		gp_fit_all(g, s, g->wide, g->bent);
	}
	gp_fit_feasible(g, s);
	g->fit_count = 0;
}

static void gp_prepare_feasible(struct gp *g, const struct search *s, const struct search_trial *const *results,
				size_t result_count)
{
	const struct search_trial *trials[GP_OUTCOMES_MOST];
	double labels[GP_OUTCOMES_MOST], margins[GP_RESULTS_MOST];
	size_t count = gp_choose_outcomes(s, trials, labels);
	double *x = gp_see_all(g, s, trials, count);
	feasible_set(g->feasible, x, labels, count);
	free(x);
	for (size_t i = 0; i < g->limit_count; i++) {
		x = gp_margins(g, s, results, result_count, i, margins, &count);
		feasible_set(g->limits[i], x, margins, count);
		free(x);
	}
}

/* To be improved on is what the model expects where it expects the most: the least result may be good luck. Its mean at a
 * point is the value less the noise times alpha. Of a short run, what the model expects of the full one. */
static void gp_find_best(struct gp *g, const struct search *s, const struct search_trial *const *chosen, double *x,
			 const double *y, size_t n)
{
	g->best = INFINITY;
	for (size_t i = 0; i < n; i++) {
		double mean = y[i] - g->model->scales[g->dims + 1] * g->model->alpha[i];
		double variance;
		if (chosen[i]->beyond)
			continue;
		if (g->fidelity && x[i * g->dims + s->dims] != 1) {
			double level = x[i * g->dims + s->dims];
			x[i * g->dims + s->dims] = 1;
			gaussian_predict_quickly(g->model, x + i * g->dims, &mean, &variance);
			x[i * g->dims + s->dims] = level;
		}
		g->best = fmin(g->best, mean);
	}
	g->seeks = g->best == INFINITY;
	g->best -= g->choices && !g->fidelity ? GP_CHOICES_GAIN : 0;
}

/* Adds the newest of what runs or failed: nothing more is to be learnt there. Returns how many points there are. */
static size_t gp_believe(struct gp *g, const struct search *s, double *x, double *y, size_t known)
{
	size_t n = known;
	for (size_t i = s->trials.len; i-- > 0 && n < known + GP_RUNNING_MOST;) {
		const struct search_trial *t = s->trials.at[i];
		double variance;
		if (search_has_score(t) || t->earlier)
			continue;
		gp_see(g, s, t->unit, gp_level(g, s, t), x + n * g->dims);
		gaussian_predict(g->model, x + n * g->dims, &y[n], &variance);
		n++;
	}
	return n;
}

static void gp_prepare(struct gp *g, const struct search *s)
{
	const struct search_trial *chosen[GP_RESULTS_MOST];
	double *x, *y;
	size_t known = gp_choose_results(g, s, chosen);
	gp_collect(g, s, chosen, known, g->bent, &x, &y);
	gaussian_set(g->model, x, y, known);
	g->reach = g->reals && !s->spec->duplicates ? gp_find_steps(g, s, chosen, x, known) : 0;
	gp_find_best(g, s, chosen, x, y, known);
	size_t n = gp_believe(g, s, x, y, known);
	if (n > known)
		gaussian_set(g->model, x, y, n);
	free(x);
	free(y);
	gp_prepare_feasible(g, s, chosen, known);
}

/* Numbers with steps alone have a prior of their own, once there are as many results as tasks that run: many tasks at once
 * would go to too many places with it. */
static void gp_plan_fit(struct gp *g, const struct search *s)
{
	size_t running = 0;
	for (size_t i = 0; i < s->trials.len && g->cells; i++)
		running += s->trials.at[i]->state == SEARCH_TRIAL_PENDING;
	g->fit_count = gp_choose_results(g, s, g->fit);
	g->fit_cells = g->cells && g->fit_count >= running;
	g->fit_outcome_count = gp_choose_outcomes(s, g->fit_outcomes, g->fit_labels);
}

void gp_propose(struct gp *g, struct search *s, struct search_trial *trial)
{
	if (s->objectives > 1 && trial->redraw == 0)
		gp_weigh(g, s); /* other values every time */
	if (gp_varies(g, trial)) {
		gp_vary(g, s, trial);
		return;
	}
	if (trial->redraw == 0) {
		if (s->objectives > 1) /* and so other parameters */
			gp_plan_fit(g, s);
		if (g->fit_count)
			gp_find_parameters(g, s);
		/* Neither prior is right everywhere, and the likelihood does not tell in time which one is: both have
		 * their turns (docs/studies/search-models.md), but where all axes are choices. */
		bool wide = s->objectives == 1 && !g->choices && trial->index % GP_WIDE_EVERY == GP_WIDE_EVERY - 1;
		g->model = wide ? g->wide : g->usual;
		gp_prepare(g, s);
		gp_improve(g, s);
	}
	if (trial->redraw < g->kept_count)
		memcpy(trial->unit, g->kept[trial->redraw].unit, s->dims * sizeof(double));
	else
		search_random_point(s, trial->unit);
}

/* The parameters are due again whenever a tenth more is known, and a sixth from 50 results on. Failures are knowledge
 * too. */
void gp_tell(struct gp *g, const struct search *s, const struct search_trial *trial)
{
	if (!s->dims)
		return;
	g->results += search_has_score(trial);
	g->failures += !search_has_score(trial) && !trial->earlier;
	size_t known = g->results + g->failures;
	if (known < g->next_fit || g->results < GP_FIT_LEAST)
		return;
	g->starts = false;
	if (s->objectives == 1)
		gp_plan_fit(g, s);
	g->next_fit = known + (known >= 50 ? known / 6 : known >= 20 ? known / 10 : 1);
}

/* Adds members to the open map: what it knows, and the length scales. */
static void gp_write(const struct gp *g, const struct search *s, struct json *out)
{
	json_key_string(out, "phase", g->starts ? "Sobol" : "model");
	json_key_int(out, "results", (int64_t)g->results);
	json_key_int(out, "failures", (int64_t)g->failures);
	json_key_string(out, "values", g->bent ? "bent" : "as they are");
	json_key_string(out, "kernel", g->usual == g->sums ? "mostly a sum" : "product");
	json_key(out, "scales"); /* how far one has to go on each axis until values differ */
	json_map(out);
	for (size_t d = 0; d < s->dims; d++)
		if ((long)d != g->fidelity_axis)
			json_key_real(out, s->space->params[s->space->dims[d]].name, exp(-g->usual->theta[d] / 2));
	json_end(out);
}

/* The strategy. */

static int gp_strategy_open(struct search *s, struct error *err)
{
	(void)err;
	s->state = gp_new(s, gp_startup_of(s->spec));
	return 0;
}

static void gp_strategy_free(struct search *s)
{
	gp_free(s->state);
}

static enum search_answer gp_strategy_ask(struct search *s, struct search_trial *trial)
{
	struct gp *g = s->state;
	if (search_take_known(s, trial))
		return SEARCH_PROPOSED;
	if (gp_is_ready(g)) {
		gp_propose(g, s, trial);
		return SEARCH_PROPOSED;
	}
	search_random_point(s, trial->unit);
	/* People choose ranges around what they believe in. */
	for (size_t d = 0; d < s->dims && trial->index == 0; d++)
		trial->unit[d] = 0.5;
	if (trial->index == 0 && trial->redraw == 0)
		return SEARCH_PROPOSED;
	sobol_point((uint32_t)trial->index + GP_START_APART * trial->redraw, rng_derive(s->spec->seed, 1) | 1, s->dims,
		    trial->unit);
	return SEARCH_PROPOSED;
}

static void gp_strategy_tell(struct search *s, struct search_trial *trial)
{
	gp_tell(s->state, s, trial);
}

static void gp_strategy_write(const struct search *s, struct json *out)
{
	gp_write(s->state, s, out);
}

const struct strategy_ops gp_ops = {
	.open = gp_strategy_open,
	.free = gp_strategy_free,
	.ask = gp_strategy_ask,
	.tell = gp_strategy_tell,
	.write_state = gp_strategy_write,
	.recalls = true,
};
