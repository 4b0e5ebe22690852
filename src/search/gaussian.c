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
#define THETA_NOISE_LEAST -18.0 /* what NOISE_LEAST is, nearly */
#define NOISE_LEAST 1e-8
#define VARIANCE_LEAST 1e-12
#define PROMISE_ROWS 32
#define SQRT5 2.23606797749978969641

struct gaussian *gaussian_new(size_t dims, const bool *unordered)
{
	struct gaussian *g = mem_alloc(sizeof(*g));
	g->dims = dims;
	g->unordered = unordered;
	g->theta = mem_array(dims + 2, sizeof(double));
	g->scales = mem_array(dims + 2, sizeof(double));
	return g;
}

void gaussian_free(struct gaussian *g)
{
	if (!g)
		return;
	free(g->theta);
	free(g->x);
	free(g->columns);
	free(g->half);
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

/* Squared distances of a point from the first `count` points, axis by axis: so that the compiler can take several
 * points at once. */
static void distances(const struct gaussian *g, const double *x, size_t count, double *restrict ret)
{
	memset(ret, 0, count * sizeof(double));
	for (size_t d = 0; d < g->dims; d++) {
		const double *restrict column = g->columns + d * g->count;
		double at = x[d], scale = g->scales[d];
		if (g->unordered[d])
			for (size_t i = 0; i < count; i++)
				ret[i] += column[i] != at ? scale : 0;
		else
			for (size_t i = 0; i < count; i++)
				ret[i] += scale * ((column[i] - at) * (column[i] - at));
	}
}

static void covariances(const struct gaussian *g, const double *x, size_t count, double *ret)
{
	distances(g, x, count, ret);
	for (size_t i = 0; i < count; i++)
		ret[i] = g->scales[g->dims] * matern(ret[i]);
}

static double *row_of(const struct gaussian *g, size_t i)
{
	return g->half + i * (i + 1) / 2;
}

/* sum -= the rows of the inverse factor, each as often as `weights` says. Four at a time: every number of the sum is
 * fetched and put back once for all four. */
static void subtract_rows(const struct gaussian *g, const double *weights, size_t count, double *restrict sum)
{
	size_t i = 0;
	for (; i + 4 <= count; i += 4) {
		const double *restrict a = row_of(g, i), *restrict b = row_of(g, i + 1), *restrict c = row_of(g, i + 2);
		const double *restrict d = row_of(g, i + 3), *w = weights + i;
		for (size_t j = 0; j <= i; j++)
			sum[j] -= w[0] * a[j] + w[1] * b[j] + (w[2] * c[j] + w[3] * d[j]);
		sum[i + 1] -= w[1] * b[i + 1] + w[2] * c[i + 1] + w[3] * d[i + 1];
		sum[i + 2] -= w[2] * c[i + 2] + w[3] * d[i + 2];
		sum[i + 3] -= w[3] * d[i + 3];
	}
	for (; i < count; i++)
		for (size_t j = 0; j <= i; j++)
			sum[j] -= weights[i] * row_of(g, i)[j];
}

/* The next row of L^-1, where K = L L^T: with k the covariances of the new point, l = L^-1 k is the next row of L and
 * -l^T L^-1 / l_nn that of its inverse. False where rounding made the matrix indefinite. A row follows from those
 * above it and nothing else: rows that are there already are exactly what they would become again. */
static bool add_row(struct gaussian *g, size_t n, double noise)
{
	double *row = row_of(g, n), *k = g->scratch, *l = k + n + 1, rest = g->scales[g->dims] + noise;
	covariances(g, g->x + n * g->dims, n, k);
	for (size_t i = 0; i < n; i++) {
		l[i] = matrix_dot(row_of(g, i), k, i + 1);
		rest -= l[i] * l[i];
	}
	if (!(rest > 0))
		return false;
	double scale = 1 / sqrt(rest);
	memset(row, 0, n * sizeof(double));
	subtract_rows(g, l, n, row);
	for (size_t i = 0; i < n; i++)
		row[i] *= scale;
	row[n] = scale;
	return true;
}

/* The factor for the points in g->x, of which the first `known` have their rows. More noise is added where rounding
 * made the matrix indefinite. */
static void factor(struct gaussian *g, size_t known)
{
	double noise = g->scales[g->dims + 1];
	for (size_t i = known; i < g->count;) {
		if (add_row(g, i, noise)) {
			i++;
			continue;
		}
		noise = fmax(10 * noise, 1e-8);
		g->scales[g->dims + 1] = noise;
		i = 0;
	}
}

/* alpha = L^-T L^-1 (y - mean), and the likelihood. The mean is the most likely one. */
static void condition(struct gaussian *g, const double *y)
{
	size_t n = g->count;
	double *ones = g->scratch, *solved = ones + n, log_det = 0, fit = 0, square = 0;
	for (size_t i = 0; i < n; i++) {
		const double *row = row_of(g, i);
		ones[i] = 0;
		for (size_t j = 0; j <= i; j++)
			ones[i] += row[j];
		solved[i] = matrix_dot(row, y, i + 1);
		fit += ones[i] * solved[i];
		square += ones[i] * ones[i];
		log_det -= 2 * log(row[i]);
	}
	g->mean = square > 0 ? fit / square : 0;
	fit = 0;
	memset(g->alpha, 0, n * sizeof(double));
	for (size_t i = 0; i < n; i++) {
		solved[i] -= g->mean * ones[i];
		fit += solved[i] * solved[i];
		solved[i] = -solved[i];
	}
	subtract_rows(g, solved, n, g->alpha);
	g->log_likelihood = -(fit + log_det + (double)n * log(2 * M_PI)) / 2;
}

/* True when they are those of before. */
static bool take_scales(struct gaussian *g)
{
	bool same = true;
	for (size_t d = 0; d < g->dims + 2; d++) {
		double scale = exp(g->theta[d]) + (d == g->dims + 1 ? NOISE_LEAST : 0);
		same = same && scale == g->scales[d];
		g->scales[d] = scale;
	}
	return same;
}

static void take_points(struct gaussian *g, const double *x, size_t count)
{
	g->count = count;
	g->x = mem_resize(g->x, count * g->dims + 1, sizeof(double));
	memcpy(g->x, x, count * g->dims * sizeof(double));
	g->columns = mem_resize(g->columns, count * g->dims + 1, sizeof(double));
	for (size_t i = 0; i < count * g->dims; i++)
		g->columns[i % g->dims * count + i / g->dims] = x[i];
	g->half = mem_resize(g->half, count * (count + 1) / 2 + 1, sizeof(double));
	g->alpha = mem_resize(g->alpha, count + 1, sizeof(double));
	g->scratch = mem_resize(g->scratch, 3 * count + 1, sizeof(double));
}

void gaussian_set(struct gaussian *g, const double *x, const double *y, size_t count)
{
	size_t same = 0, width = g->dims * sizeof(double);
	if (take_scales(g))
		while (same < g->count && same < count && memcmp(g->x + same * g->dims, x + same * g->dims, width) == 0)
			same++;
	take_points(g, x, count);
	factor(g, same);
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

/* (L L^T)^-1 = L^-T L^-1, its lower triangle. */
static void invert(const struct gaussian *g, double *ret)
{
	memset(ret, 0, g->count * (g->count + 1) / 2 * sizeof(double));
	for (size_t i = 0; i < g->count; i++) {
		const double *restrict row = row_of(g, i);
		for (size_t j = 0; j <= i; j++) {
			double *restrict to = ret + j * (j + 1) / 2, own = row[j];
			for (size_t k = 0; k <= j; k++)
				to[k] += own * row[k];
		}
	}
}

double gaussian_gradient(struct gaussian *g, const double *y, double *gradient)
{
	size_t n = g->count;
	take_scales(g);
	factor(g, 0);
	condition(g, y);
	double *inverse = mem_resize(NULL, n * (n + 1) / 2 + 1, sizeof(double));
	invert(g, inverse);
	const double *scales = g->scales;
	double variance = scales[g->dims];
	memset(gradient, 0, (g->dims + 2) * sizeof(double));
	for (size_t i = 0; i < n; i++) {
		const double *a = g->x + i * g->dims, *row = inverse + i * (i + 1) / 2;
		double own = g->alpha[i] * g->alpha[i] - row[i];
		gradient[g->dims] += own * variance / 2;
		gradient[g->dims + 1] += own * (scales[g->dims + 1] - NOISE_LEAST) / 2;
		for (size_t j = 0; j < i; j++) {
			const double *b = g->x + j * g->dims;
			double weight = g->alpha[i] * g->alpha[j] - row[j];
			double squared = distance(g, scales, a, b), r = SQRT5 * sqrt(squared), fall = exp(-r);
			double slope = -weight * variance * 5.0 / 6 * (1 + r) * fall;
			gradient[g->dims] += weight * variance * (1 + r + r * r / 3) * fall;
			for (size_t d = 0; d < g->dims; d++)
				gradient[d] += slope * scales[d] * difference(g, d, a[d], b[d]);
		}
	}
	free(inverse);
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

/* The next parameter; where a limit stops it, its step does not keep the others going. */
static void move_parameter(struct gaussian *g, size_t d, double slope, double *before, double *step, double *move)
{
	double change = gaussian_step_up(slope, before, step, FIT_STEP_LEAST, FIT_STEP_MOST), at = g->theta[d];
	double least = d == g->dims + 1 ? THETA_NOISE_LEAST : -THETA_MOST;
	g->theta[d] = fmin(fmax(at + change, least), THETA_MOST);
	if (g->theta[d] != at || change == 0)
		*move = fmax(*move, *step);
}

void gaussian_refine(struct gaussian *g, const double *x, const double *y, size_t count, int steps)
{
	size_t n = g->dims + 2;
	double *slope = mem_array(4 * n, sizeof(double)), *before = slope + n, *step = before + n, *best = step + n;
	double most = -INFINITY;
	take_points(g, x, count);
	for (size_t d = 0; d < n; d++)
		step[d] = FIT_STEP_FIRST;
	for (int i = 0; i < steps; i++) {
		double value = gaussian_gradient(g, y, slope), move = 0;
		if (value > most) {
			most = value;
			memcpy(best, g->theta, n * sizeof(double));
		}
		for (size_t d = 0; d < n; d++)
			move_parameter(g, d, slope[d], &before[d], &step[d], &move);
		if (move <= 2 * FIT_STEP_LEAST)
			break;
	}
	memcpy(g->theta, best, n * sizeof(double));
	free(slope);
	take_scales(g);
	factor(g, 0);
	condition(g, y);
}

void gaussian_fit(struct gaussian *g, const double *x, const double *y, size_t count)
{
	for (size_t d = 0; d < g->dims + 2; d++)
		g->theta[d] = d == g->dims + 1 ? FIT_NOISE_FIRST : 0;
	gaussian_refine(g, x, y, count, FIT_STEPS);
}

void gaussian_predict_quickly(struct gaussian *g, const double *x, double *ret_mean, double *ret_most)
{
	double *k = g->scratch, mean = g->mean, nearest = 0;
	covariances(g, x, g->count, k);
	for (size_t i = 0; i < g->count; i++) {
		mean += k[i] * g->alpha[i];
		nearest = fmax(nearest, k[i]);
	}
	*ret_mean = mean;
	*ret_most = g->scales[g->dims] - nearest * nearest / (g->scales[g->dims] + g->scales[g->dims + 1]);
}

/* Leaves L^-1 k behind k. */
double gaussian_variance(struct gaussian *g)
{
	double *k = g->scratch, *solved = k + g->count, variance = g->scales[g->dims];
	for (size_t i = 0; i < g->count; i++) {
		solved[i] = matrix_dot(row_of(g, i), k, i + 1);
		variance -= solved[i] * solved[i];
	}
	return fmax(variance, VARIANCE_LEAST);
}

void gaussian_predict(struct gaussian *g, const double *x, double *ret_mean, double *ret_variance)
{
	gaussian_predict_quickly(g, x, ret_mean, ret_variance);
	*ret_variance = gaussian_variance(g);
}

void gaussian_predict_slopes(struct gaussian *g, const double *x, double *ret_mean, double *ret_variance,
			     double *mean_slope, double *variance_slope)
{
	size_t n = g->count;
	double *by_mean = g->scratch + n, *by_variance = by_mean + n;
	gaussian_predict(g, x, ret_mean, ret_variance);
	memset(by_variance, 0, n * sizeof(double));
	subtract_rows(g, g->scratch + n, n, by_variance); /* what the variance found is no longer needed then */
	distances(g, x, n, by_mean);
	for (size_t i = 0; i < n; i++) {
		double r = SQRT5 * sqrt(by_mean[i]);
		double slope = -5.0 / 3 * g->scratch[i] * (1 + r) / (1 + r + r * r / 3); /* exp(-r) is in it */
		by_mean[i] = slope * g->alpha[i];
		by_variance[i] *= 2 * slope;
	}
	for (size_t d = 0; d < g->dims; d++) {
		const double *column = g->columns + d * n;
		mean_slope[d] = variance_slope[d] = 0;
		for (size_t i = 0; i < n && !g->unordered[d]; i++) {
			double way = g->scales[d] * (x[d] - column[i]);
			mean_slope[d] += way * by_mean[i];
			variance_slope[d] += way * by_variance[i];
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

/* Every row lowers the variance, so that it may be seen early that the rest is not worth while. */
double gaussian_promise(struct gaussian *g, const double *x, double best, double least)
{
	double *k = g->scratch, mean, variance;
	gaussian_predict_quickly(g, x, &mean, &variance);
	if (gaussian_log_improvement(mean, fmax(variance, VARIANCE_LEAST), best) <= least)
		return -INFINITY;
	variance = g->scales[g->dims];
	for (size_t i = 0; i < g->count;) {
		for (size_t end = i + PROMISE_ROWS < g->count ? i + PROMISE_ROWS : g->count; i < end; i++) {
			double solved = matrix_dot(row_of(g, i), k, i + 1);
			variance -= solved * solved;
		}
		double promise = gaussian_log_improvement(mean, fmax(variance, VARIANCE_LEAST), best);
		if (promise <= least || i == g->count)
			return promise > least ? promise : -INFINITY;
	}
	return -INFINITY;
}
