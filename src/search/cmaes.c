/* CMA-ES as a strategy: bounds by redrawing, discrete parameters by the margin of Hamano et al. 2022 (CMA-ES
 * with margin), a warm start from TPE's results (Nomura et al. 2021), restarts with twice the
 * population (Auger and Hansen 2005). Results count as they come: every lambda of them, whichever they
 * are, make a generation; those of an older distribution are injected with shortened steps. */
#include "search/cma.h"

#include "search/matrix.h"
#include "search/parzen.h"
#include "search/search_internal.h"
#include "search/tpe.h"

#include <math.h>

#define START_SIGMA (1.0 / 6)
#define WARM_GOOD 0.1 /* of TPE's results, the start is fitted to the best tenth */
#define WARM_ALPHA 0.1 /* and widened by this much of the range */
#define WARM_TASKS_MOST 100
#define POPULATION_MOST 1000

const struct search_option cmaes_options[] = {
	{"population", SEARCH_OPTION_INT, 0, 0, POPULATION_MOST, NULL,
	 "results per generation; 0: 4 + 3 ln n, or as many as run at the same time"},
	{"warm", SEARCH_OPTION_BOOL, 0, 0, 1, NULL,
	 "TPE proposes the first quarter (at most 100), and CMA-ES starts from its results"},
	{"restart", SEARCH_OPTION_BOOL, 1, 0, 1, NULL, "restart with twice the population when it has converged"},
	{0},
};

/* What was really drawn for a trial; its unit has the cells' middles on discrete axes. */
struct draw {
	double *raw;
	size_t generation;
	bool foreign;
};

struct cmaes {
	struct cma *cma;
	size_t lambda, generations, restarts;
	struct parzen_axis *axes;
	bool *fine; /* per axis: not discrete */
	double *widen; /* per axis: A of the margin; 1 on the others */
	VEC(struct draw) draws; /* by the trial's index */
	/* Results waiting for their generation to be complete. */
	VEC(size_t) arrived;
	VEC(double) scores;
	/* The candidate of the running ask. */
	double *raw, *unit;
	/* The warm start: NULL when there is none or it has ended. */
	struct tpe *tpe;
	size_t warm_tasks;
};

static void cmaes_start(struct search *s, const double *mean, double sigma, const double *cov)
{
	struct cmaes *c = s->state;
	cma_free(c->cma);
	c->cma = cma_new(s->dims, c->lambda, mean, sigma, cov);
	for (size_t d = 0; d < s->dims; d++)
		c->widen[d] = 1;
	c->arrived.len = c->scores.len = 0;
}

static size_t cmaes_default_lambda(const struct search *s)
{
	size_t lambda = cma_default_lambda(s->dims), parallel = s->spec->parallel;
	/* As many as run at once, or most results would be a generation late; but 10 generations at least. */
	if (s->spec->tasks && parallel > s->spec->tasks / 10)
		parallel = s->spec->tasks / 10;
	return parallel > lambda ? (parallel < POPULATION_MOST ? parallel : POPULATION_MOST) : lambda;
}

static int cmaes_open(struct search *s, struct error *err)
{
	(void)err;
	struct cmaes *c = s->state = mem_alloc(sizeof(*c));
	if (!s->dims)
		return 0;
	c->lambda = (size_t)search_option(s->spec, "population");
	if (c->lambda < 4)
		c->lambda = cmaes_default_lambda(s);
	c->axes = mem_resize(NULL, s->dims, sizeof(*c->axes));
	c->fine = mem_resize(NULL, s->dims, sizeof(*c->fine));
	c->widen = mem_resize(NULL, s->dims, sizeof(double));
	c->raw = mem_resize(NULL, 2 * s->dims, sizeof(double));
	c->unit = c->raw + s->dims;
	for (size_t d = 0; d < s->dims; d++) {
		c->axes[d] = parzen_axis_of(&s->space->params[s->space->dims[d]]);
		c->fine[d] = c->axes[d].kind == PARZEN_REAL;
		c->raw[d] = 0.5;
	}
	if (search_option(s->spec, "warm") != 0) {
		c->tpe = tpe_new(s->space, 1, 10, 24, true);
		c->warm_tasks = s->spec->tasks / 4 < WARM_TASKS_MOST ? s->spec->tasks / 4 : WARM_TASKS_MOST;
	}
	cmaes_start(s, c->raw, START_SIGMA, NULL);
	return 0;
}

static void cmaes_free(struct search *s)
{
	struct cmaes *c = s->state;
	if (!c)
		return;
	for (size_t i = 0; i < c->draws.len; i++)
		free(c->draws.at[i].raw);
	cma_free(c->cma);
	tpe_free(c->tpe);
	free(c->axes);
	free(c->fine);
	free(c->widen);
	free(c->raw);
	free(c->draws.at);
	free(c->arrived.at);
	free(c->scores.at);
	free(c);
}

/* Fits the first distribution to the best of what TPE found: N(mean, alpha^2 I + covariance). */
static void cmaes_start_warm(struct search *s)
{
	size_t n = s->dims, count = 0, known = 0;
	for (size_t i = 0; i < s->trials.len; i++)
		known += search_has_score(s->trials.at[i]);
	size_t want = (size_t)ceil(WARM_GOOD * (double)known);
	if (want < 2)
		return;
	const struct search_trial **best = mem_array(want, sizeof(*best));
	for (size_t i = 0; i < s->trials.len; i++) {
		const struct search_trial *t = s->trials.at[i];
		size_t at = count;
		while (search_has_score(t) && at > 0 && t->score[0] < best[at - 1]->score[0])
			at--;
		if (!search_has_score(t) || at == want)
			continue;
		count += count < want;
		memmove(best + at + 1, best + at, (count - 1 - at) * sizeof(*best));
		best[at] = t;
	}
	double *mean = mem_array(n, sizeof(double)), *cov = mem_array(2 * n * n, sizeof(double)), log_det = 0;
	for (size_t k = 0; k < count; k++)
		for (size_t i = 0; i < n; i++)
			mean[i] += best[k]->unit[i] / (double)count;
	for (size_t i = 0; i < n * n; i++) {
		for (size_t k = 0; k < count; k++)
			cov[i] += (best[k]->unit[i / n] - mean[i / n]) * (best[k]->unit[i % n] - mean[i % n]) /
				(double)count;
		cov[i] += i % (n + 1) == 0 ? WARM_ALPHA * WARM_ALPHA : 0;
	}
	memcpy(cov + n * n, cov, n * n * sizeof(double));
	if (matrix_cholesky(cov + n * n, n)) {
		for (size_t i = 0; i < n; i++)
			log_det += 2 * log(cov[n * n + i * n + i]);
		double sigma = exp(log_det / (2 * (double)n));
		for (size_t i = 0; i < n * n; i++)
			cov[i] /= sigma * sigma;
		cmaes_start(s, mean, sigma, cov);
	}
	free(best);
	free(mean);
	free(cov);
}

/* The corrected marginal distributions leave every discrete axis a chance to move (sections 4.2, 4.3). */
static void cmaes_keep_margin(struct search *s)
{
	struct cmaes *c = s->state;
	double margin = 1 / ((double)s->dims * (double)c->lambda);
	for (size_t d = 0; d < s->dims; d++) {
		if (c->fine[d])
			continue;
		const struct parzen_axis *axis = &c->axes[d];
		double low, high, scale = c->cma->sigma * sqrt(c->cma->cov[d * s->dims + d]);
		double *mean = &c->cma->mean[d], wide = scale * c->widen[d];
		double cell = parzen_coordinate(axis, *mean);
		parzen_edges(axis, cell, &low, &high);
		if (cell == 0 || cell == axis->cells - 1) { /* only one way to go */
			double limit = cell == 0 ? high : low;
			double reach = wide * matrix_normal_tail(margin);
			if (fabs(*mean - limit) > reach)
				*mean = limit + (*mean > limit ? reach : -reach);
			continue;
		}
		double below = erfc((*mean - low) / wide * M_SQRT1_2) / 2;
		double above = erfc((high - *mean) / wide * M_SQRT1_2) / 2, middle = 1 - below - above;
		below = fmax(below, margin / 2);
		above = fmax(above, margin / 2);
		double excess = (1 - below - above - middle) / (below + middle + above - 3 * margin / 2);
		double p = below + excess * (below - margin / 2), q = above + excess * (above - margin / 2);
		double to_low = matrix_normal_tail(fmin(fmax(p, 1e-10), 0.5 - 1e-10));
		double to_high = matrix_normal_tail(fmin(fmax(q, 1e-10), 0.5 - 1e-10));
		c->widen[d] = (high - low) / ((to_low + to_high) * scale);
		*mean = (low * to_high + high * to_low) / (to_low + to_high);
	}
}

static bool cmaes_is_inside(const struct cmaes *c, size_t dims, const double *x)
{
	for (size_t d = 0; d < dims; d++)
		if (c->fine[d] && !(x[d] >= 0 && x[d] <= 1))
			return false;
	return true;
}

static enum search_answer cmaes_ask(struct search *s, struct search_trial *trial)
{
	struct cmaes *c = s->state;
	if (!s->dims)
		return SEARCH_PROPOSED;
	if (c->tpe) {
		tpe_propose(c->tpe, &s->rng, trial->redraw, trial->unit);
		memcpy(c->unit, trial->unit, s->dims * sizeof(double));
		memcpy(c->raw, trial->unit, s->dims * sizeof(double));
		return SEARCH_PROPOSED;
	}
	for (size_t i = 0; i <= 10 * s->dims; i++) {
		cma_sample(c->cma, &s->rng, c->raw);
		if (cmaes_is_inside(c, s->dims, c->raw))
			break;
	}
	for (size_t d = 0; d < s->dims; d++) {
		if (c->fine[d]) {
			c->unit[d] = c->raw[d] = fmin(fmax(c->raw[d], 0), 1);
		} else {
			double mean = c->cma->mean[d];
			double x = mean + c->widen[d] * (c->raw[d] - mean);
			c->unit[d] = parzen_unit(&c->axes[d], parzen_coordinate(&c->axes[d], x));
		}
	}
	memcpy(trial->unit, c->unit, s->dims * sizeof(double));
	return SEARCH_PROPOSED;
}

static void cmaes_accepted(struct search *s, struct search_trial *trial)
{
	struct cmaes *c = s->state;
	if (!s->dims)
		return;
	/* The user's defaults, or what the core drew when all else was refused. */
	bool ours = memcmp(trial->unit, c->unit, s->dims * sizeof(double)) == 0;
	struct draw draw = {.generation = c->generations, .foreign = !ours || c->tpe};
	draw.raw = mem_resize(NULL, s->dims, sizeof(double));
	memcpy(draw.raw, ours ? c->raw : trial->unit, s->dims * sizeof(double));
	vec_push(&c->draws, draw);
	if (!c->tpe)
		return;
	tpe_add(c->tpe, trial->unit);
	if (c->draws.len < c->warm_tasks)
		return;
	tpe_free(c->tpe);
	c->tpe = NULL;
	cmaes_start_warm(s);
}

static void cmaes_update(struct search *s)
{
	struct cmaes *c = s->state;
	const double **points = mem_resize(NULL, c->lambda, sizeof(*points));
	bool *foreign = mem_resize(NULL, c->lambda, sizeof(*foreign)), any = false;
	for (size_t i = 0; i < c->lambda; i++) {
		const struct draw *draw = &c->draws.at[c->arrived.at[i]];
		points[i] = draw->raw;
		foreign[i] = draw->foreign || draw->generation != c->generations;
		any = any || isfinite(c->scores.at[i]);
	}
	if (any) {
		cma_update(c->cma, points, c->scores.at, foreign);
		cmaes_keep_margin(s);
	}
	for (size_t i = 0; i < c->lambda; i++) {
		free(c->draws.at[c->arrived.at[i]].raw);
		c->draws.at[c->arrived.at[i]].raw = NULL;
	}
	c->generations++;
	c->arrived.len = c->scores.len = 0;
	free(points);
	free(foreign);
	if (!cma_is_done(c->cma, c->fine) || search_option(s->spec, "restart") == 0)
		return;
	if (2 * c->lambda <= POPULATION_MOST)
		c->lambda *= 2;
	c->restarts++;
	search_random_point(s, c->raw);
	cmaes_start(s, c->raw, 2 * START_SIGMA, NULL);
}

static void cmaes_tell(struct search *s, struct search_trial *trial)
{
	struct cmaes *c = s->state;
	if (!s->dims)
		return;
	if (c->tpe) {
		tpe_tell(c->tpe, trial->index, search_has_score(trial) ? trial->score : NULL,
			 trial->state == SEARCH_TRIAL_PRUNED);
		return;
	}
	vec_push(&c->arrived, trial->index);
	vec_push(&c->scores, trial->score[0]);
	if (c->arrived.len == c->lambda)
		cmaes_update(s);
}

/* It counts as a point that another distribution drew. */
static void cmaes_corrected(struct search *s, struct search_trial *trial)
{
	struct cmaes *c = s->state;
	if (!s->dims)
		return;
	struct draw *draw = &c->draws.at[trial->index];
	if (draw->raw && memcmp(draw->raw, trial->unit, s->dims * sizeof(double)) != 0) {
		memcpy(draw->raw, trial->unit, s->dims * sizeof(double));
		draw->foreign = true;
	}
	if (c->tpe)
		tpe_correct(c->tpe, trial->index, trial->unit);
}

/* A generation that is complete has moved the distribution. */
static void cmaes_retold(struct search *s, struct search_trial *trial)
{
	struct cmaes *c = s->state;
	if (s->dims && c->tpe)
		tpe_tell(c->tpe, trial->index, trial->score, trial->state == SEARCH_TRIAL_PRUNED);
	for (size_t i = 0; i < c->arrived.len; i++)
		if (c->arrived.at[i] == trial->index)
			c->scores.at[i] = trial->score[0];
}

static void cmaes_write_state(const struct search *s, struct json *out)
{
	const struct cmaes *c = s->state;
	if (!s->dims)
		return;
	json_key_string(out, "phase", c->tpe ? "TPE" : "CMA-ES");
	json_key_int(out, "generation", (int64_t)c->generations);
	json_key_int(out, "population", (int64_t)c->lambda);
	json_key_int(out, "restarts", (int64_t)c->restarts);
	json_key_real(out, "step", c->cma->sigma);
}

const struct strategy_ops cmaes_ops = {
	.open = cmaes_open,
	.free = cmaes_free,
	.ask = cmaes_ask,
	.accepted = cmaes_accepted,
	.added = cmaes_accepted,
	.corrected = cmaes_corrected,
	.tell = cmaes_tell,
	.retold = cmaes_retold,
	.write_state = cmaes_write_state,
};
