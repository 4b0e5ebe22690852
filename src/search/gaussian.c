/* Gaussian process regression: C. E. Rasmussen and C. K. I. Williams, Gaussian processes for machine
 * learning, 2006 (equations 2.25, 2.26, 5.9). Improvement: S. Ament et al., Unexpected improvements to
 * expected improvement, 2023. */
#include "search/gaussian.h"

#include "search/matrix.h"

#include <math.h>

#define FIT_STEPS 50
#define FIT_NOISE_FIRST -4.6 /* its logarithm: a hundredth */
#define FIT_STEP_FIRST 0.2
#define FIT_STEP_LEAST 1e-3
#define FIT_STEP_MOST 1.0
#define THETA_MOST 12.0
#define NOISE_LEAST 1e-8
#define SQRT5 2.23606797749978969641

struct gaussian *gaussian_new(size_t dims, const bool *unordered)
{
	struct gaussian *g = mem_alloc(sizeof(*g));
	g->dims = dims;
	g->unordered = unordered;
	g->theta = mem_alloc((dims + 2) * sizeof(double));
	g->scales = mem_alloc((dims + 2) * sizeof(double));
	return g;
}

void gaussian_free(struct gaussian *g)
{
	if (!g)
		return;
	free(g->theta);
	free(g->x);
	free(g->inverse);
	free(g->alpha);
	free(g->scales);
	free(g->scratch);
	free(g);
}

static double difference(const struct gaussian *g, size_t d, double a, double b)
{
	return g->unordered[d] ? a != b : (a - b) * (a - b);
}

/* r^2 under the scales exp(theta). */
static double distance(const struct gaussian *g, const double *scales, const double *a, const double *b)
{
	double sum = 0;
	for (size_t d = 0; d < g->dims; d++)
		sum += scales[d] * difference(g, d, a[d], b[d]);
	return sum;
}

static double matern(double squared)
{
	double r = SQRT5 * sqrt(squared);
	return (1 + r + r * r / 3) * exp(-r);
}

/* Inverse, alpha and likelihood for the points in g->x. More noise is added where rounding made the
 * matrix indefinite. */
static void condition(struct gaussian *g, const double *y)
{
	size_t n = g->count;
	double *scales = g->scales, *k = g->inverse, log_det = 0, fit = 0;
	for (size_t d = 0; d < g->dims + 2; d++)
		scales[d] = exp(g->theta[d]);
	scales[g->dims + 1] += NOISE_LEAST;
	for (double jitter = 0;; jitter = jitter > 0 ? 10 * jitter : 1e-8) {
		for (size_t i = 0; i < n; i++) {
			for (size_t j = 0; j <= i; j++)
				k[i * n + j] = scales[g->dims] *
					       matern(distance(g, scales, g->x + i * g->dims, g->x + j * g->dims));
			k[i * n + i] += scales[g->dims + 1] + jitter;
		}
		if (matrix_cholesky(k, n))
			break;
	}
	for (size_t i = 0; i < n; i++)
		log_det += 2 * log(k[i * n + i]);
	matrix_invert_lower(k, n);
	for (size_t i = 0; i < n; i++) {
		g->alpha[i] = 0;
		for (size_t j = 0; j < n; j++)
			g->alpha[i] += k[i * n + j] * y[j];
		fit += g->alpha[i] * y[i];
	}
	g->log_likelihood = -(fit + log_det + (double)n * log(2 * M_PI)) / 2;
}

static void take_points(struct gaussian *g, const double *x, size_t count)
{
	g->count = count;
	g->x = mem_resize(g->x, count * g->dims + 1, sizeof(double));
	memcpy(g->x, x, count * g->dims * sizeof(double));
	g->inverse = mem_resize(g->inverse, count * count + 1, sizeof(double));
	g->alpha = mem_resize(g->alpha, count + 1, sizeof(double));
	g->scratch = mem_resize(g->scratch, count + 1, sizeof(double));
}

void gaussian_set(struct gaussian *g, const double *x, const double *y, size_t count)
{
	take_points(g, x, count);
	condition(g, y);
}

/* The weak priors of Optuna: inverse squared scales near 1 (x + 1/x), a variance near 1 (gamma with shape
 * 2), little noise (gamma with shape 1.1 and rate 30). */
static double add_prior(const struct gaussian *g, const double *scales, double *gradient)
{
	double sum = 0, variance = scales[g->dims], noise = scales[g->dims + 1];
	for (size_t d = 0; d < g->dims; d++) {
		sum -= 0.1 / scales[d] + 0.1 * scales[d];
		gradient[d] += 0.1 / scales[d] - 0.1 * scales[d];
	}
	gradient[g->dims] += 1 - variance;
	gradient[g->dims + 1] += (0.1 - 30 * noise) * (noise - NOISE_LEAST) / noise;
	return sum + log(variance) - variance + 0.1 * log(noise) - 30 * noise;
}

double gaussian_gradient(struct gaussian *g, const double *y, double *gradient)
{
	size_t n = g->count;
	condition(g, y);
	const double *scales = g->scales;
	double variance = scales[g->dims];
	memset(gradient, 0, (g->dims + 2) * sizeof(double));
	for (size_t i = 0; i < n; i++) {
		const double *a = g->x + i * g->dims;
		double own = g->alpha[i] * g->alpha[i] - g->inverse[i * n + i];
		gradient[g->dims] += own * variance / 2;
		gradient[g->dims + 1] += own * (scales[g->dims + 1] - NOISE_LEAST) / 2;
		for (size_t j = 0; j < i; j++) {
			const double *b = g->x + j * g->dims;
			double weight = g->alpha[i] * g->alpha[j] - g->inverse[i * n + j];
			double squared = distance(g, scales, a, b), r = SQRT5 * sqrt(squared), fall = exp(-r);
			double slope = -weight * variance * 5.0 / 6 * (1 + r) * fall;
			gradient[g->dims] += weight * variance * (1 + r + r * r / 3) * fall;
			for (size_t d = 0; d < g->dims; d++)
				gradient[d] += slope * scales[d] * difference(g, d, a[d], b[d]);
		}
	}
	return g->log_likelihood + add_prior(g, scales, gradient);
}

/* Each parameter has a step of its own that grows while the slope keeps its sign and shrinks when it
 * turns (iRprop-, Igel and Huesken 2003): few evaluations, no line search, always the same. */
double gaussian_step_up(double slope, double *before, double *step, double least, double most)
{
	double turn = slope * *before;
	*step = fmin(fmax(*step * (turn > 0 ? 1.2 : turn < 0 ? 0.5 : 1), least), most);
	*before = turn < 0 ? 0 : slope;
	return *before > 0 ? *step : *before < 0 ? -*step : 0;
}

void gaussian_fit(struct gaussian *g, const double *x, const double *y, size_t count)
{
	size_t n = g->dims + 2;
	double *slope = mem_alloc(4 * n * sizeof(double)), *before = slope + n, *step = before + n, *best = step + n;
	double most = -INFINITY;
	take_points(g, x, count);
	for (size_t d = 0; d < n; d++) {
		g->theta[d] = d == g->dims + 1 ? FIT_NOISE_FIRST : 0;
		step[d] = FIT_STEP_FIRST;
	}
	for (int i = 0; i < FIT_STEPS; i++) {
		double value = gaussian_gradient(g, y, slope), move = 0;
		if (value > most) {
			most = value;
			memcpy(best, g->theta, n * sizeof(double));
		}
		for (size_t d = 0; d < n; d++) {
			double change = gaussian_step_up(slope[d], &before[d], &step[d], FIT_STEP_LEAST, FIT_STEP_MOST);
			g->theta[d] = fmin(fmax(g->theta[d] + change, -THETA_MOST), THETA_MOST);
			move = fmax(move, step[d]);
		}
		if (move <= 2 * FIT_STEP_LEAST)
			break;
	}
	memcpy(g->theta, best, n * sizeof(double));
	free(slope);
	condition(g, y);
}

void gaussian_predict_quickly(struct gaussian *g, const double *x, double *ret_mean, double *ret_most)
{
	double *k = g->scratch, mean = 0, nearest = 0;
	for (size_t i = 0; i < g->count; i++) {
		k[i] = g->scales[g->dims] * matern(distance(g, g->scales, x, g->x + i * g->dims));
		mean += k[i] * g->alpha[i];
		nearest = fmax(nearest, k[i]);
	}
	*ret_mean = mean;
	*ret_most = g->scales[g->dims] - nearest * nearest / (g->scales[g->dims] + g->scales[g->dims + 1]);
}

double gaussian_variance(struct gaussian *g)
{
	size_t n = g->count;
	const double *k = g->scratch;
	double variance = g->scales[g->dims];
	for (size_t i = 0; i < n; i++) { /* the inverse is symmetric: one half is enough */
		const double *row = g->inverse + i * n;
		variance -= k[i] * (2 * matrix_dot(row, k, i) + row[i] * k[i]);
	}
	return fmax(variance, 1e-12);
}

void gaussian_predict(struct gaussian *g, const double *x, double *ret_mean, double *ret_variance)
{
	gaussian_predict_quickly(g, x, ret_mean, ret_variance);
	*ret_variance = gaussian_variance(g);
}

void gaussian_predict_slopes(struct gaussian *g, const double *x, double *ret_mean, double *ret_variance,
			     double *mean_slope, double *variance_slope)
{
	gaussian_predict(g, x, ret_mean, ret_variance);
	memset(mean_slope, 0, g->dims * sizeof(double));
	memset(variance_slope, 0, g->dims * sizeof(double));
	for (size_t i = 0; i < g->count; i++) {
		const double *at = g->x + i * g->dims;
		double r = SQRT5 * sqrt(distance(g, g->scales, x, at));
		double slope = -5.0 / 3 * g->scratch[i] * (1 + r) / (1 + r + r * r / 3); /* exp(-r) is in it */
		double solved = matrix_dot(g->inverse + i * g->count, g->scratch, g->count);
		for (size_t d = 0; d < g->dims; d++) {
			double own = g->unordered[d] ? 0 : slope * g->scales[d] * (x[d] - at[d]);
			mean_slope[d] += own * g->alpha[i];
			variance_slope[d] -= 2 * own * solved;
		}
	}
}

/* exp(x^2) erfc(x) for x > 0.7. */
static double scaled_erfc(double x)
{
	if (x < 25)
		return exp(x * x) * erfc(x);
	double square = x * x;
	return (1 - 0.5 / square * (1 - 1.5 / square)) / (x * sqrt(M_PI));
}

double gaussian_log_improvement(double mean, double variance, double best)
{
	double sigma = sqrt(variance), z = (best - mean) / sigma, log_h;
	if (z > -1) {
		log_h = log(exp(-z * z / 2) / sqrt(2 * M_PI) + z * erfc(-z * M_SQRT1_2) / 2);
	} else if (z > -1e3) {
		/* log(1 - |z| sqrt(pi/2) erfcx(|z|/sqrt 2)), the small difference taken with care */
		double log_ratio = log(scaled_erfc(-z * M_SQRT1_2) * -z) + log(M_PI / 2) / 2;
		double rest = log_ratio > -M_LN2 ? log(-expm1(log_ratio)) : log1p(-exp(log_ratio));
		log_h = -z * z / 2 - log(2 * M_PI) / 2 + rest;
	} else {
		log_h = -z * z / 2 - log(2 * M_PI) / 2 - 2 * log(-z);
	}
	return log(sigma) + log_h;
}

void gaussian_improvement_slopes(double mean, double variance, double best, double *ret_by_mean,
				 double *ret_by_variance)
{
	double sigma = sqrt(variance), z = (best - mean) / sigma;
	double log_improvement = gaussian_log_improvement(mean, variance, best);
	double log_tail = z > -5 ? log(erfc(-z * M_SQRT1_2) / 2) : log(scaled_erfc(-z * M_SQRT1_2) / 2) - z * z / 2;
	*ret_by_mean = -exp(log_tail - log_improvement);
	*ret_by_variance = exp(-z * z / 2 - log(2 * M_PI) / 2 - log_improvement) / (2 * sigma);
}
