/* Gaussian process regression: C. E. Rasmussen and C. K. I. Williams, Gaussian processes for machine
 * learning, 2006 (equations 2.25, 2.26, 5.9). Improvement: S. Ament et al., Unexpected improvements to
 * expected improvement, 2023. */
#include "search/gaussian.h"

#include "search/gaussian_internal.h"
#include "search/matern.h"
#include "search/matrix.h"

#include <math.h>

#define FIT_STEPS 50
#define FIT_PATIENCE 10 /* steps that must gain something, or they are the last */
#define FIT_GAIN_LEAST 1e-3
#define FIT_NOISE_FIRST -4.6 /* its logarithm: a hundredth */
#define FIT_STEP_FIRST 0.2
#define FIT_STEP_LEAST 1e-3
#define FIT_STEP_MOST 1.0
#define THETA_MOST 12.0
#define THETA_NOISE_LEAST -18.0 /* what GAUSSIAN_NOISE_LEAST is, nearly */
#define VARIANCE_LEAST 1e-12
#define PROMISE_ROWS 32

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

/* Adds the part of four ordered axes, from `d` on, to the squared distances. */
static void gaussian_add_four(const struct gaussian *g, size_t d, const double *x, size_t count, double *restrict ret)
{
	const double *restrict a = g->columns + d * g->count, *restrict b = a + g->count, *restrict c = b + g->count,
			       *restrict e = c + g->count;
	const double *s = g->scales + d;
	double p = x[d], q = x[d + 1], r = x[d + 2], t = x[d + 3];
	for (size_t i = 0; i < count; i++)
		ret[i] += s[0] * ((a[i] - p) * (a[i] - p)) + s[1] * ((b[i] - q) * (b[i] - q)) +
			(s[2] * ((c[i] - r) * (c[i] - r)) + s[3] * ((e[i] - t) * (e[i] - t)));
}

/* Squared distances of a point from the first `count` points, axis by axis: so that the compiler can take several
 * points at once. */
static void gaussian_distances(const struct gaussian *g, const double *x, size_t count, double *restrict ret)
{
	memset(ret, 0, count * sizeof(double));
	for (size_t d = 0; d < g->dims; d++) {
		const double *restrict column = g->columns + d * g->count;
		double at = x[d], scale = g->scales[d];
		if (d + 4 <= g->dims && !g->unordered[d] && !g->unordered[d + 1] && !g->unordered[d + 2] &&
		    !g->unordered[d + 3]) {
			gaussian_add_four(g, d, x, count, ret);
			d += 3;
			continue;
		}
		if (g->unordered[d])
			for (size_t i = 0; i < count; i++)
				ret[i] += column[i] != at ? scale : 0;
		else
			for (size_t i = 0; i < count; i++)
				ret[i] += scale * ((column[i] - at) * (column[i] - at));
	}
}

static void gaussian_covariances(const struct gaussian *g, const double *x, size_t count, double *ret)
{
	gaussian_distances(g, x, count, ret);
	matern_values(ret, count, g->scales[g->dims] * (1 - g->share));
	if (g->share > 0)
		gaussian_add_sums(g, x, count, ret);
}

static double *gaussian_row_of(const struct gaussian *g, size_t i)
{
	return g->half + i * (i + 1) / 2;
}

/* The rows from..to of the inverse factor times k. Four at a time, each in two sums: every number of k is fetched once
 * for all four. */
static void gaussian_multiply_rows(const struct gaussian *g, const double *restrict k, size_t from, size_t to,
				   double *restrict ret)
{
	size_t i = from;
	for (; i + 4 <= to; i += 4) {
		const double *restrict a = gaussian_row_of(g, i), *restrict b = gaussian_row_of(g, i + 1);
		const double *restrict c = gaussian_row_of(g, i + 2), *restrict d = gaussian_row_of(g, i + 3);
		double p[2] = {0}, q[2] = {0}, r[2] = {0}, s[2] = {0};
		size_t j = 0;
		for (; j + 2 <= i + 1; j += 2)
			for (size_t n = 0; n < 2; n++) {
				p[n] += a[j + n] * k[j + n];
				q[n] += b[j + n] * k[j + n];
				r[n] += c[j + n] * k[j + n];
				s[n] += d[j + n] * k[j + n];
			}
		for (; j < i + 4; j++) {
			p[0] += j <= i ? a[j] * k[j] : 0;
			q[0] += j <= i + 1 ? b[j] * k[j] : 0;
			r[0] += j <= i + 2 ? c[j] * k[j] : 0;
			s[0] += d[j] * k[j];
		}
		ret[i] = p[0] + p[1];
		ret[i + 1] = q[0] + q[1];
		ret[i + 2] = r[0] + r[1];
		ret[i + 3] = s[0] + s[1];
	}
	for (; i < to; i++)
		ret[i] = matrix_dot(gaussian_row_of(g, i), k, i + 1);
}

/* sum -= the rows of the inverse factor, each as often as `weights` says. Four at a time: every number of the sum is
 * fetched and put back once for all four. */
static void gaussian_subtract_rows(const struct gaussian *g, const double *weights, size_t count, double *restrict sum)
{
	size_t i = 0;
	for (; i + 4 <= count; i += 4) {
		const double *restrict a = gaussian_row_of(g, i), *restrict b = gaussian_row_of(g, i + 1),
				       *restrict c = gaussian_row_of(g, i + 2);
		const double *restrict d = gaussian_row_of(g, i + 3), *w = weights + i;
		for (size_t j = 0; j <= i; j++)
			sum[j] -= w[0] * a[j] + w[1] * b[j] + (w[2] * c[j] + w[3] * d[j]);
		sum[i + 1] -= w[1] * b[i + 1] + w[2] * c[i + 1] + w[3] * d[i + 1];
		sum[i + 2] -= w[2] * c[i + 2] + w[3] * d[i + 2];
		sum[i + 3] -= w[3] * d[i + 3];
	}
	for (; i < count; i++)
		for (size_t j = 0; j <= i; j++)
			sum[j] -= weights[i] * gaussian_row_of(g, i)[j];
}

/* The next row of L^-1, where K = L L^T: with k the covariances of the new point, l = L^-1 k is the next row of L and
 * -l^T L^-1 / l_nn that of its inverse. False where rounding made the matrix indefinite. A row follows from those
 * above it and nothing else: rows that are there already are exactly what they would become again. */
static bool gaussian_add_row(struct gaussian *g, size_t n, double noise)
{
	double *row = gaussian_row_of(g, n), *k = g->scratch, *l = k + n + 1, rest = g->scales[g->dims] + noise;
	gaussian_covariances(g, g->x + n * g->dims, n, k);
	gaussian_multiply_rows(g, k, 0, n, l);
	for (size_t i = 0; i < n; i++)
		rest -= l[i] * l[i];
	if (!(rest > 0))
		return false;
	double scale = 1 / sqrt(rest);
	memset(row, 0, n * sizeof(double));
	gaussian_subtract_rows(g, l, n, row);
	for (size_t i = 0; i < n; i++)
		row[i] *= scale;
	row[n] = scale;
	return true;
}

/* The factor for the points in g->x, of which the first `known` have their rows. More noise is added where rounding
 * made the matrix indefinite. */
static void gaussian_factor(struct gaussian *g, size_t known)
{
	double noise = g->scales[g->dims + 1];
	for (size_t i = known; i < g->count;) {
		if (gaussian_add_row(g, i, noise)) {
			i++;
			continue;
		}
		noise = fmax(10 * noise, 1e-8);
		g->scales[g->dims + 1] = noise;
		i = 0;
	}
}

/* alpha = L^-T L^-1 (y - mean), and the likelihood. The mean is the most likely one. */
static void gaussian_condition(struct gaussian *g, const double *y)
{
	size_t n = g->count;
	double *ones = g->scratch, *solved = ones + n, log_det = 0, fit = 0, square = 0;
	for (size_t i = 0; i < n; i++) {
		const double *row = gaussian_row_of(g, i);
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
	gaussian_subtract_rows(g, solved, n, g->alpha);
	g->log_likelihood = -(fit + log_det + (double)n * log(2 * M_PI)) / 2;
}

/* True when they are those of before. */
static bool gaussian_take_scales(struct gaussian *g)
{
	bool same = true;
	for (size_t d = 0; d < g->dims + 2; d++) {
		double scale = exp(g->theta[d]) + (d == g->dims + 1 ? GAUSSIAN_NOISE_LEAST : 0);
		same = same && scale == g->scales[d];
		g->scales[d] = scale;
	}
	return same;
}

static void gaussian_take_points(struct gaussian *g, const double *x, size_t count)
{
	g->count = count;
	g->x = mem_resize(g->x, count * g->dims + 1, sizeof(double));
	memcpy(g->x, x, count * g->dims * sizeof(double));
	g->columns = mem_resize(g->columns, count * g->dims + 1, sizeof(double));
	for (size_t i = 0; i < count * g->dims; i++)
		g->columns[i % g->dims * count + i / g->dims] = x[i];
	g->half = mem_resize(g->half, count * (count + 1) / 2 + 1, sizeof(double));
	g->alpha = mem_resize(g->alpha, count + 1, sizeof(double));
	g->scratch = mem_resize(g->scratch, 4 * count + 1, sizeof(double));
}

void gaussian_set(struct gaussian *g, const double *x, const double *y, size_t count)
{
	size_t same = 0, width = g->dims * sizeof(double);
	if (gaussian_take_scales(g))
		while (same < g->count && same < count && memcmp(g->x + same * g->dims, x + same * g->dims, width) == 0)
			same++;
	gaussian_take_points(g, x, count);
	gaussian_factor(g, same);
	gaussian_condition(g, y);
}

/* (L L^T)^-1 = L^-T L^-1, its lower triangle. Four rows at a time, as above. */
static void gaussian_invert(const struct gaussian *g, double *ret)
{
	memset(ret, 0, g->count * (g->count + 1) / 2 * sizeof(double));
	size_t i = 0;
	for (; i + 4 <= g->count; i += 4) {
		const double *restrict a = gaussian_row_of(g, i), *restrict b = gaussian_row_of(g, i + 1);
		const double *restrict c = gaussian_row_of(g, i + 2), *restrict d = gaussian_row_of(g, i + 3);
		for (size_t j = 0; j < i + 4; j++) {
			double *restrict to = ret + j * (j + 1) / 2;
			double p = j <= i ? a[j] : 0, q = j <= i + 1 ? b[j] : 0, r = j <= i + 2 ? c[j] : 0, s = d[j];
			size_t both = j < i ? j : i;
			for (size_t k = 0; k <= both; k++)
				to[k] += p * a[k] + q * b[k] + (r * c[k] + s * d[k]);
			for (size_t k = i + 1; k <= j; k++)
				to[k] += (k <= i + 1 ? q * b[k] : 0) + ((k <= i + 2 ? r * c[k] : 0) + s * d[k]);
		}
	}
	for (; i < g->count; i++) {
		const double *restrict row = gaussian_row_of(g, i);
		for (size_t j = 0; j <= i; j++)
			for (size_t k = 0; k <= j; k++)
				ret[j * (j + 1) / 2 + k] += row[j] * row[k];
	}
}

/* The sum of what differs on an axis, each as often as `weights` says. In four sums, as matrix_dot does. */
static double gaussian_weigh_axis(const struct gaussian *g, size_t d, double at, const double *weights, size_t count)
{
	const double *column = g->columns + d * g->count;
	double sums[4] = {0};
	size_t i = 0;
	for (; i + 4 <= count && !g->unordered[d]; i += 4)
		for (size_t k = 0; k < 4; k++)
			sums[k] += weights[i + k] * ((column[i + k] - at) * (column[i + k] - at));
	for (; i < count; i++)
		sums[0] += weights[i] * (g->unordered[d] ? column[i] != at : (column[i] - at) * (column[i] - at));
	return sums[0] + sums[1] + (sums[2] + sums[3]);
}

/* Adds what the pairs of one point with those before it do for the gradient: of each the derivative by its covariance,
 * weighed by how the covariance changes. row is that of the inverse. */
static void gaussian_add_pairs(const struct gaussian *g, size_t i, const double *row, double *gradient)
{
	const double *x = g->x + i * g->dims, own = g->alpha[i];
	double *restrict covariances = g->scratch, *restrict slopes = covariances + g->count;
	double *restrict weights = slopes + g->count;
	gaussian_distances(g, x, i, covariances);
	matern_slopes(covariances, i, g->scales[g->dims] * (1 - g->share), slopes);
	for (size_t j = 0; j < i; j++) {
		weights[j] = own * g->alpha[j] - row[j];
		slopes[j] *= weights[j];
	}
	if (g->share > 0)
		gaussian_add_pairs_of_sums(g, x, i, weights, covariances, gradient);
	gradient[g->dims] += matrix_dot(weights, covariances, i);
	for (size_t d = 0; d < g->dims; d++)
		gradient[d] += g->scales[d] * gaussian_weigh_axis(g, d, x[d], slopes, i);
}

double gaussian_gradient(struct gaussian *g, const double *y, double *gradient)
{
	size_t n = g->count;
	gaussian_take_scales(g);
	gaussian_factor(g, 0);
	gaussian_condition(g, y);
	double *inverse = mem_resize(NULL, n * (n + 1) / 2 + 1, sizeof(double));
	gaussian_invert(g, inverse);
	memset(gradient, 0, (g->dims + 2) * sizeof(double));
	for (size_t i = 0; i < n; i++) {
		const double *row = inverse + i * (i + 1) / 2;
		double own = g->alpha[i] * g->alpha[i] - row[i];
		gradient[g->dims] += own * g->scales[g->dims] / 2;
		gradient[g->dims + 1] += own * (g->scales[g->dims + 1] - GAUSSIAN_NOISE_LEAST) / 2;
		gaussian_add_pairs(g, i, row, gradient);
	}
	free(inverse);
	return g->log_likelihood + gaussian_add_prior(g, g->scales, gradient);
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
static void gaussian_move_parameter(struct gaussian *g, size_t d, double slope, double *before, double *step,
				    double *move)
{
	double change = gaussian_step_up(slope, before, step, FIT_STEP_LEAST, FIT_STEP_MOST), at = g->theta[d];
	double least = d == g->dims + 1 ? THETA_NOISE_LEAST : -THETA_MOST;
	g->theta[d] = fmin(fmax(at + change, least), THETA_MOST);
	if (g->theta[d] != at || change == 0)
		*move = fmax(*move, *step);
}

/* Leaves the best parameters in theta. Returns how likely they are, prior included. */
static double gaussian_climb_likelihood(struct gaussian *g, const double *x, const double *y, size_t count, int steps)
{
	size_t n = g->dims + 2;
	double *slope = mem_array(4 * n, sizeof(double)), *before = slope + n, *step = before + n, *best = step + n;
	double most = -INFINITY;
	gaussian_take_points(g, x, count);
	for (size_t d = 0; d < n; d++)
		step[d] = FIT_STEP_FIRST;
	double before_long = -INFINITY;
	for (int i = 0; i < steps; i++) {
		double value = gaussian_gradient(g, y, slope), move = 0;
		if (i % FIT_PATIENCE == FIT_PATIENCE - 1) {
			if (most < before_long + FIT_GAIN_LEAST)
				break;
			before_long = most;
		}
		if (value > most) {
			most = value;
			memcpy(best, g->theta, n * sizeof(double));
		}
		for (size_t d = 0; d < n; d++)
			gaussian_move_parameter(g, d, slope[d], &before[d], &step[d], &move);
		if (move <= 2 * FIT_STEP_LEAST)
			break;
	}
	memcpy(g->theta, best, n * sizeof(double));
	free(slope);
	return most;
}

/* Conditions the points that are there on the parameters that were found. */
static void gaussian_settle(struct gaussian *g, const double *y)
{
	gaussian_take_scales(g);
	gaussian_factor(g, 0);
	gaussian_condition(g, y);
}

void gaussian_refine(struct gaussian *g, const double *x, const double *y, size_t count, int steps)
{
	gaussian_climb_likelihood(g, x, y, count, steps);
	gaussian_settle(g, y);
}

/* From length scales whose theta is `start`. Returns how likely what is found is. */
static double gaussian_fit_from(struct gaussian *g, const double *x, const double *y, size_t count, double start)
{
	for (size_t d = 0; d < g->dims; d++)
		g->theta[d] = start;
	g->theta[g->dims] = 0;
	g->theta[g->dims + 1] = FIT_NOISE_FIRST;
	return gaussian_climb_likelihood(g, x, y, count, FIT_STEPS);
}

void gaussian_fit(struct gaussian *g, const double *x, const double *y, size_t count)
{
	gaussian_fit_from(g, x, y, count, g->wide ? gaussian_wide_middle(g) : 0);
	gaussian_settle(g, y);
}

void gaussian_fit_more(struct gaussian *g, const double *x, const double *y, size_t count)
{
	static const double starts[] = {2.4, -2.4};
	size_t n = g->dims + 2;
	double *best = mem_array(2 * n, sizeof(double)), *slope = best + n;
	gaussian_take_points(g, x, count);
	double most = gaussian_gradient(g, y, slope);
	memcpy(best, g->theta, n * sizeof(double));
	for (size_t i = 0; i < COUNT_OF(starts); i++) {
		double likely = gaussian_fit_from(g, x, y, count, starts[i]);
		if (likely > most) {
			most = likely;
			memcpy(best, g->theta, n * sizeof(double));
		}
	}
	memcpy(g->theta, best, n * sizeof(double));
	free(best);
	gaussian_settle(g, y);
}

/* In four parts, as matrix_dot does. */
static double gaussian_most(const double *values, size_t count)
{
	double most[4] = {0};
	size_t i = 0;
	for (; i + 4 <= count; i += 4)
		for (size_t k = 0; k < 4; k++)
			most[k] = values[i + k] > most[k] ? values[i + k] : most[k];
	for (; i < count; i++)
		most[0] = values[i] > most[0] ? values[i] : most[0];
	return fmax(fmax(most[0], most[1]), fmax(most[2], most[3]));
}

void gaussian_predict_quickly(struct gaussian *g, const double *x, double *ret_mean, double *ret_most)
{
	double *k = g->scratch;
	gaussian_covariances(g, x, g->count, k);
	double nearest = gaussian_most(k, g->count);
	*ret_mean = g->mean + matrix_dot(k, g->alpha, g->count);
	*ret_most = g->scales[g->dims] - nearest * nearest / (g->scales[g->dims] + g->scales[g->dims + 1]);
}

/* Leaves L^-1 k behind k. */
double gaussian_variance(struct gaussian *g)
{
	double *k = g->scratch, *solved = k + g->count, variance = g->scales[g->dims];
	gaussian_multiply_rows(g, k, 0, g->count, solved);
	for (size_t i = 0; i < g->count; i++)
		variance -= solved[i] * solved[i];
	return fmax(variance, VARIANCE_LEAST);
}

void gaussian_predict(struct gaussian *g, const double *x, double *ret_mean, double *ret_variance)
{
	gaussian_predict_quickly(g, x, ret_mean, ret_variance);
	*ret_variance = gaussian_variance(g);
}

/* The sum of the ways from all points along an axis, each as often as `weights` says. */
static double gaussian_weigh_ways(const struct gaussian *g, size_t d, double at, const double *weights)
{
	const double *column = g->columns + d * g->count;
	double sums[4] = {0};
	size_t i = 0;
	for (; i + 4 <= g->count; i += 4)
		for (size_t k = 0; k < 4; k++)
			sums[k] += weights[i + k] * (at - column[i + k]);
	for (; i < g->count; i++)
		sums[0] += weights[i] * (at - column[i]);
	return sums[0] + sums[1] + (sums[2] + sums[3]);
}

void gaussian_predict_slopes(struct gaussian *g, const double *x, double *ret_mean, double *ret_variance,
			     double *mean_slope, double *variance_slope)
{
	size_t n = g->count;
	double *k = g->scratch, *solved = k + n, *by_variance = solved + n, *by_mean = by_variance + n;
	gaussian_distances(g, x, n, k);
	matern_slopes(k, n, g->scales[g->dims] * (1 - g->share), by_mean);
	if (g->share > 0)
		gaussian_add_sums(g, x, n, k);
	*ret_mean = g->mean + matrix_dot(k, g->alpha, n);
	*ret_variance = gaussian_variance(g);
	memset(by_variance, 0, n * sizeof(double));
	gaussian_subtract_rows(g, solved, n, by_variance);
	memset(mean_slope, 0, g->dims * sizeof(double));
	memset(variance_slope, 0, g->dims * sizeof(double));
	if (g->share > 0)
		gaussian_add_slopes_of_sums(g, x, by_variance, mean_slope, variance_slope);
	for (size_t i = 0; i < n; i++) {
		by_variance[i] *= 4 * by_mean[i];
		by_mean[i] *= 2 * g->alpha[i];
	}
	for (size_t d = 0; d < g->dims; d++) {
		bool moves = !g->unordered[d];
		mean_slope[d] += moves ? g->scales[d] * gaussian_weigh_ways(g, d, x[d], by_mean) : 0;
		variance_slope[d] += moves ? g->scales[d] * gaussian_weigh_ways(g, d, x[d], by_variance) : 0;
	}
}

/* exp(x^2) erfc(x) for x > 0.7. */
static double gaussian_scaled_erfc(double x)
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
		double log_ratio = log(gaussian_scaled_erfc(-z * M_SQRT1_2) * -z) + log(M_PI / 2) / 2;
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
	double log_tail = z > -5 ? log(erfc(-z * M_SQRT1_2) / 2)
				 : log(gaussian_scaled_erfc(-z * M_SQRT1_2) / 2) - z * z / 2;
	*ret_by_mean = -exp(log_tail - log_improvement);
	*ret_by_variance = exp(-z * z / 2 - log(2 * M_PI) / 2 - log_improvement) / (2 * sigma);
}

/* Every row lowers the variance, so that it may be seen early that the rest is not worth while. */
double gaussian_promise(struct gaussian *g, const double *x, double best, double least)
{
	double *k = g->scratch, *solved = k + g->count, mean, variance;
	gaussian_predict_quickly(g, x, &mean, &variance);
	if (gaussian_log_improvement(mean, fmax(variance, VARIANCE_LEAST), best) <= least)
		return -INFINITY;
	variance = g->scales[g->dims];
	for (size_t i = 0; i < g->count;) {
		size_t end = i + PROMISE_ROWS < g->count ? i + PROMISE_ROWS : g->count;
		gaussian_multiply_rows(g, k, i, end, solved);
		for (; i < end; i++)
			variance -= solved[i] * solved[i];
		double promise = gaussian_log_improvement(mean, fmax(variance, VARIANCE_LEAST), best);
		if (promise <= least || i == g->count)
			return promise > least ? promise : -INFINITY;
	}
	return -INFINITY;
}
