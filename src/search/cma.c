/* CMA-ES: N. Hansen, The CMA evolution strategy: a tutorial, arXiv:1604.00772; equation numbers are its.
 * Active (negative) weights included. */
#include "search/cma.h"

#include "search/matrix.h"

#include <math.h>

#define EPSILON 1e-8
#define SIGMA_MOST 1e32
#define TOL_X 1e-11
#define TOL_FUN 1e-12
#define TOL_CONDITION 1e14

size_t cma_default_lambda(size_t n)
{
	return 4 + (size_t)floor(3 * log((double)n)); /* (48) */
}

/* (49) to (53). */
static void cma_set_weights(struct cma_constants *k, double n)
{
	double plus = 0, minus = 0, plus_square = 0, minus_square = 0;
	for (size_t i = 0; i < k->lambda; i++) {
		double w = log(((double)k->lambda + 1) / 2) - log((double)i + 1);
		k->weights[i] = w;
		if (i < k->mu) {
			plus += w;
			plus_square += w * w;
		} else {
			minus += w;
			minus_square += w * w;
		}
	}
	double mu_eff_minus = minus_square > 0 ? minus * minus / minus_square : 0;
	k->mu_eff = plus * plus / plus_square;
	k->c1 = 2 / ((n + 1.3) * (n + 1.3) + k->mu_eff);
	k->c_mu = fmin(1 - k->c1 - EPSILON, 2 * (k->mu_eff - 2 + 1 / k->mu_eff) / ((n + 2) * (n + 2) + k->mu_eff));
	double most = fmin(1 + k->c1 / k->c_mu, 1 + 2 * mu_eff_minus / (k->mu_eff + 2));
	most = fmin(most, (1 - k->c1 - k->c_mu) / (n * k->c_mu));
	plus = minus = 0;
	for (size_t i = 0; i < k->lambda; i++) {
		plus += fmax(k->weights[i], 0);
		minus -= fmin(k->weights[i], 0);
	}
	for (size_t i = 0; i < k->lambda; i++)
		k->weights[i] *= k->weights[i] >= 0 ? 1 / plus : most / minus;
}

struct cma_constants cma_constants_make(size_t dims, size_t lambda)
{
	double n = (double)dims;
	struct cma_constants k = {.lambda = lambda, .mu = lambda / 2};
	k.weights = mem_resize(NULL, lambda, sizeof(double));
	cma_set_weights(&k, n);
	k.c_sigma = (k.mu_eff + 2) / (n + k.mu_eff + 5); /* (55) */
	k.d_sigma = 1 + 2 * fmax(0, sqrt((k.mu_eff - 1) / (n + 1)) - 1) + k.c_sigma;
	k.c_c = (4 + k.mu_eff / n) / (n + 4 + 2 * k.mu_eff / n); /* (56) */
	k.chi = sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n));
	return k;
}

void cma_constants_free(struct cma_constants *k)
{
	free(k->weights);
	k->weights = NULL;
}

/* The square root of C; what rounding made negative is lifted. */
static void cma_decompose(struct cma *c)
{
	matrix_eigen(c->cov, c->n, c->scales, c->axes);
	for (size_t i = 0; i < c->n; i++)
		c->scales[i] = sqrt(fmax(c->scales[i], EPSILON * EPSILON));
}

struct cma *cma_new(size_t n, size_t lambda, const double *mean, double sigma, const double *cov)
{
	struct cma *c = mem_alloc(sizeof(*c));
	c->n = n;
	c->k = cma_constants_make(n, lambda);
	c->sigma = sigma;
	c->mean = mem_resize(NULL, n, sizeof(double));
	memcpy(c->mean, mean, n * sizeof(double));
	c->cov = mem_array(n * n, sizeof(double));
	c->axes = mem_array(n * n, sizeof(double));
	c->scales = mem_array(n, sizeof(double));
	c->path_sigma = mem_array(n, sizeof(double));
	c->path_c = mem_array(n, sizeof(double));
	c->best_len = 10 + (size_t)ceil(30 * (double)n / (double)lambda);
	c->best = mem_array(2 * c->best_len, sizeof(double));
	for (size_t i = 0; i < n * n; i++)
		c->cov[i] = cov ? cov[i] : i % (n + 1) == 0;
	cma_decompose(c);
	return c;
}

void cma_free(struct cma *c)
{
	if (!c)
		return;
	cma_constants_free(&c->k);
	free(c->mean);
	free(c->cov);
	free(c->axes);
	free(c->scales);
	free(c->path_sigma);
	free(c->path_c);
	free(c->best);
	free(c);
}

void cma_sample(const struct cma *c, struct rng *rng, double *ret)
{
	size_t n = c->n;
	memcpy(ret, c->mean, n * sizeof(double));
	for (size_t j = 0; j < n; j++) {
		double along = c->sigma * c->scales[j] * rng_normal(rng);
		for (size_t i = 0; i < n; i++)
			ret[i] += along * c->axes[i * n + j];
	}
}

/* C^-1/2 y */
static void cma_whiten(const struct cma *c, const double *y, double *ret)
{
	size_t n = c->n;
	memset(ret, 0, n * sizeof(double));
	for (size_t j = 0; j < n; j++) {
		double along = 0;
		for (size_t i = 0; i < n; i++)
			along += c->axes[i * n + j] * y[i];
		along /= c->scales[j];
		for (size_t i = 0; i < n; i++)
			ret[i] += along * c->axes[i * n + j];
	}
}

static double cma_norm(const double *x, size_t n)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += x[i] * x[i];
	return sqrt(sum);
}

/* The order of the scores. */
static void cma_rank_scores(const double *scores, size_t count, size_t *ret)
{
	for (size_t i = 0; i < count; i++) {
		size_t at = i;
		for (; at > 0 && scores[ret[at - 1]] > scores[i]; at--)
			ret[at] = ret[at - 1];
		ret[at] = i;
	}
}

/* Steps y = (x - m) / sigma, best first, and their lengths under C. */
static void cma_take_steps(const struct cma *c, const double *const *points, const size_t *order, const bool *foreign,
			   double *steps, double *lengths)
{
	size_t n = c->n;
	double *white = mem_resize(NULL, n, sizeof(double)), dims = (double)n;
	double most = sqrt(dims) + 2 * dims / (dims + 2);
	for (size_t r = 0; r < c->k.lambda; r++) {
		double *y = steps + r * n;
		for (size_t i = 0; i < n; i++)
			y[i] = (points[order[r]][i] - c->mean[i]) / c->sigma;
		cma_whiten(c, y, white);
		lengths[r] = cma_norm(white, n);
		if (foreign[order[r]] && lengths[r] > most) {
			for (size_t i = 0; i < n; i++)
				y[i] *= most / lengths[r];
			lengths[r] = most;
		}
	}
	free(white);
}

/* (46) and (47). */
static void cma_adapt_covariance(struct cma *c, const double *steps, const double *lengths, bool stalled)
{
	const struct cma_constants *k = &c->k;
	size_t n = c->n;
	double sum = 0, lost = stalled ? k->c_c * (2 - k->c_c) : 0;
	double *weights = mem_resize(NULL, k->lambda, sizeof(double));
	for (size_t r = 0; r < k->lambda; r++) {
		sum += k->weights[r];
		weights[r] = k->weights[r];
		if (weights[r] < 0)
			weights[r] *= (double)n / (lengths[r] * lengths[r] + EPSILON);
	}
	double keep = 1 + k->c1 * lost - k->c1 - k->c_mu * sum;
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j <= i; j++) {
			double rank_mu = 0;
			for (size_t r = 0; r < k->lambda; r++)
				rank_mu += weights[r] * steps[r * n + i] * steps[r * n + j];
			c->cov[i * n + j] = c->cov[j * n + i] = keep * c->cov[i * n + j] +
				k->c1 * c->path_c[i] * c->path_c[j] + k->c_mu * rank_mu;
		}
	}
	free(weights);
	cma_decompose(c);
}

void cma_update(struct cma *c, const double *const *points, const double *scores, const bool *foreign)
{
	const struct cma_constants *k = &c->k;
	size_t n = c->n, *order = mem_resize(NULL, k->lambda, sizeof(size_t));
	double *steps = mem_resize(NULL, k->lambda * (n + 1) + 2 * n, sizeof(double));
	double *lengths = steps + k->lambda * n, *mean = lengths + k->lambda, *white = mean + n;
	cma_rank_scores(scores, k->lambda, order);
	c->generation++;
	c->best[2 * (c->generation % c->best_len)] = scores[order[0]];
	c->best[2 * (c->generation % c->best_len) + 1] = scores[order[k->lambda - 1]];
	cma_take_steps(c, points, order, foreign, steps, lengths);
	memset(mean, 0, n * sizeof(double));
	for (size_t r = 0; r < k->mu; r++) /* (41), (42) */
		for (size_t i = 0; i < n; i++)
			mean[i] += k->weights[r] * steps[r * n + i];
	cma_whiten(c, mean, white);
	for (size_t i = 0; i < n; i++) {
		c->mean[i] += c->sigma * mean[i];
		c->path_sigma[i] = (1 - k->c_sigma) * c->path_sigma[i] +
			sqrt(k->c_sigma * (2 - k->c_sigma) * k->mu_eff) * white[i]; /* (43) */
	}
	double length = cma_norm(c->path_sigma, n);
	c->sigma = fmin(c->sigma * exp(k->c_sigma / k->d_sigma * (length / k->chi - 1)), SIGMA_MOST); /* (44) */
	double grown = sqrt(1 - pow(1 - k->c_sigma, 2 * ((double)c->generation + 1)));
	bool stalled = !(length / grown < (1.4 + 2 / ((double)n + 1)) * k->chi);
	for (size_t i = 0; i < n; i++) /* (45) */
		c->path_c[i] = (1 - k->c_c) * c->path_c[i] +
			(stalled ? 0 : sqrt(k->c_c * (2 - k->c_c) * k->mu_eff) * mean[i]);
	cma_adapt_covariance(c, steps, lengths, stalled);
	free(order);
	free(steps);
}

bool cma_is_done(const struct cma *c, const bool *fine)
{
	double low = INFINITY, high = -INFINITY, least = INFINITY, most = 0;
	for (size_t i = 0; i < 2 * c->best_len; i++) {
		low = fmin(low, c->best[i]);
		high = fmax(high, c->best[i]);
	}
	if (c->generation > c->best_len && high - low < TOL_FUN)
		return true;
	bool small = true, any = false;
	for (size_t i = 0; i < c->n; i++) {
		least = fmin(least, c->scales[i]);
		most = fmax(most, c->scales[i]);
		any = any || fine[i];
		small = small && (!fine[i] || c->sigma * sqrt(fmax(c->cov[i * c->n + i], 0)) < TOL_X);
	}
	return (any && small) || most * most > TOL_CONDITION * least * least;
}
