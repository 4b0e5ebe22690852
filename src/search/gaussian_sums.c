/* A sum of functions of one axis each, as a part of the kernel (D. Duvenaud, H. Nickisch, C. E. Rasmussen, Additive
 * Gaussian processes, 2011): what is seen at one place of an axis then holds wherever the other axes are, so that many
 * peaks along the axes need few results. All axes weigh the same and have the length scales of the other part. Their
 * function is Wendland's (1995) of one dimension, (1 - r)^3 (3r + 1) for r < 1: as smooth as Matern's 5/2, without an
 * exponential. */
#include "search/gaussian_internal.h"

#include <math.h>

/* Times the distance in length scales: then it is bent at 0 as Matern's is. */
#define SUMS_REACH 0.37267799624996495
#define SUMS_SLOPE (-5.0 / 6) /* by the squared distance, at 0 */

static double sums_part(const struct gaussian *g)
{
	return g->share * g->scales[g->dims] / (double)g->dims;
}

/* 1 - r, at least 0. */
static inline double sums_rest(double reach, double way)
{
	double rest = 1 - reach * fabs(way);
	return rest > 0 ? rest : 0;
}

static inline double sums_value(double rest)
{
	return rest * rest * rest * (4 - 3 * rest);
}

void gaussian_add_sums(const struct gaussian *g, const double *x, size_t count, double *restrict ret)
{
	double part = sums_part(g);
	for (size_t d = 0; d < g->dims; d++) {
		const double *restrict column = g->columns + d * g->count;
		double at = x[d], reach = SUMS_REACH * sqrt(g->scales[d]),
		       other = part * sums_value(sums_rest(reach, 1));
		if (g->unordered[d])
			for (size_t i = 0; i < count; i++)
				ret[i] += column[i] != at ? other : part;
		else
			for (size_t i = 0; i < count; i++)
				ret[i] += part * sums_value(sums_rest(reach, column[i] - at));
	}
}

void gaussian_add_pairs_of_sums(const struct gaussian *g, const double *x, size_t count, const double *restrict weights,
				double *covariances, double *gradient)
{
	gaussian_add_sums(g, x, count, covariances);
	for (size_t d = 0; d < g->dims; d++) {
		const double *restrict column = g->columns + d * g->count;
		double at = x[d], reach = SUMS_REACH * sqrt(g->scales[d]), sums[4] = {0};
		size_t i = 0;
		for (; i + 4 <= count && !g->unordered[d]; i += 4)
			for (size_t k = 0; k < 4; k++) {
				double way = column[i + k] - at, rest = sums_rest(reach, way) * way;
				sums[k] += weights[i + k] * (rest * rest);
			}
		for (; i < count; i++) {
			double way = g->unordered[d] ? column[i] != at : column[i] - at;
			double rest = sums_rest(reach, way) * way;
			sums[0] += weights[i] * (rest * rest);
		}
		gradient[d] += sums_part(g) * SUMS_SLOPE * g->scales[d] * (sums[0] + sums[1] + (sums[2] + sums[3]));
	}
}

void gaussian_add_slopes_of_sums(const struct gaussian *g, const double *x, const double *restrict solved,
				 double *mean_slope, double *variance_slope)
{
	for (size_t d = 0; d < g->dims; d++) {
		const double *restrict column = g->columns + d * g->count, *restrict alpha = g->alpha;
		double at = x[d], reach = SUMS_REACH * sqrt(g->scales[d]), means[2] = {0}, others[2] = {0};
		size_t i = 0;
		for (; i + 2 <= g->count && !g->unordered[d]; i += 2)
			for (size_t k = 0; k < 2; k++) {
				double way = at - column[i + k], rest = sums_rest(reach, way),
				       slope = rest * rest * way;
				means[k] += alpha[i + k] * slope;
				others[k] += solved[i + k] * slope;
			}
		for (; i < g->count && !g->unordered[d]; i++) {
			double way = at - column[i], rest = sums_rest(reach, way);
			means[0] += alpha[i] * (rest * rest * way);
			others[0] += solved[i] * (rest * rest * way);
		}
		double scale = sums_part(g) * SUMS_SLOPE * g->scales[d];
		mean_slope[d] += 2 * scale * (means[0] + means[1]);
		variance_slope[d] += 4 * scale * (others[0] + others[1]);
	}
}
