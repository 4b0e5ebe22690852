/* What is believed of the parameters of a Gaussian process before there are results. */
#include "search/gaussian_internal.h"

#include <math.h>

#define WIDE_VARIANCE 12.0 /* of theta, in the wide prior */
#define ALIKE_VARIANCE 1.0 /* of theta around its mean over the unordered axes */

/* Where the wide prior of theta has its middle: log length scales are normal around sqrt(2) + log(D) / 2 with the
 * variance 3 (C. Hvarfner, E. O. Hellsten, L. Nardi, Vanilla Bayesian optimization performs great in high dimensions,
 * 2024), and theta is -2 times that. */
double gaussian_wide_middle(const struct gaussian *g)
{
	return -2 * M_SQRT2 - log((double)g->dims);
}

/* A prior of two levels: one scale for all choices (or all others), from which each differs a little. A few results tell
 * how much a choice matters at all, long before they tell it of each. The mean is that of the present ones, so that its slope is 0. */
static double gaussian_add_alike(const struct gaussian *g, double *gradient)
{
	double mean = 0, count = 0, sum = 0;
	for (size_t d = 0; d < g->dims; d++) {
		bool counts = g->unordered[d] == g->unordered[0];
		mean += counts ? g->theta[d] : 0;
		count += counts;
	}
	for (size_t d = 0; d < g->dims; d++) {
		double off = g->unordered[d] == g->unordered[0] ? g->theta[d] - mean / count : 0;
		sum -= off * off / (2 * ALIKE_VARIANCE);
		gradient[d] -= off / ALIKE_VARIANCE;
	}
	return sum;
}

/* The length is gamma distributed with shape 3 and rate 6 (as M. Balandat et al., BoTorch, 2020, have it); it is
 * exp(-theta / 2). */
static double gaussian_add_brief(const struct gaussian *g, double *gradient)
{
	double sum = 0;
	for (size_t d = 0; d < g->dims; d++) {
		double length = exp(-g->theta[d] / 2);
		sum += -g->theta[d] - 6 * length;
		gradient[d] += 3 * length - 1;
	}
	return sum;
}

/* The weak priors of Optuna: inverse squared scales near 1 (x + 1/x), a variance near 1 (gamma with shape
 * 2), little noise (gamma with shape 1.1 and rate 30). */
double gaussian_add_prior(const struct gaussian *g, const double *scales, double *gradient)
{
	double sum = 0, variance = scales[g->dims], noise = scales[g->dims + 1];
	for (size_t d = 0; d < g->dims && g->wide; d++) {
		double off = g->theta[d] - gaussian_wide_middle(g);
		sum -= off * off / (2 * WIDE_VARIANCE);
		gradient[d] -= off / WIDE_VARIANCE;
	}
	for (size_t d = 0; d < g->dims && !g->wide && !g->brief; d++) {
		sum -= 0.1 / scales[d] + 0.1 * scales[d];
		gradient[d] += 0.1 / scales[d] - 0.1 * scales[d];
	}
	if (g->brief && !g->wide)
		sum += gaussian_add_brief(g, gradient);
	if (g->alike)
		sum += gaussian_add_alike(g, gradient);
	gradient[g->dims] += 1 - variance;
	gradient[g->dims + 1] += (0.1 - 30 * noise) * (noise - GAUSSIAN_NOISE_LEAST) / noise;
	return sum + log(variance) - variance + 0.1 * log(noise) - 30 * noise;
}
