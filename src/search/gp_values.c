/* Values brought to a form that a Gaussian process can explain: see gp_values.h. */
#include "search/gp_values.h"

#include "base/mem.h"
#include "base/num.h"

#include <math.h>

#define POWERS 16
#define POWER_LEAST -1.0

static void values_standardise(double *y, size_t n)
{
	double mean = 0, square = 0;
	for (size_t i = 0; i < n; i++)
		mean += y[i] / (double)n;
	for (size_t i = 0; i < n; i++)
		square += (y[i] - mean) * (y[i] - mean) / (double)n;
	for (size_t i = 0; i < n; i++)
		y[i] = square > 0 ? (y[i] - mean) / sqrt(square) : 0;
}

/* I.-K. Yeo and R. A. Johnson, A new family of power transformations, 2000: equation 2.1 for power < 2. */
static double values_bend(double y, double power)
{
	if (y < 0)
		return -expm1((2 - power) * log1p(-y)) / (2 - power);
	return power == 0 ? log1p(y) : expm1(power * log1p(y)) / power;
}

/* How normal values look when bent: the logarithm of their likelihood (equation 3.1). */
static double values_normality(const double *y, size_t n, double power)
{
	double sum = 0, square = 0, stretch = 0;
	for (size_t i = 0; i < n; i++) {
		double bent = values_bend(y[i], power);
		sum += bent;
		square += bent * bent;
		stretch += copysign(log1p(fabs(y[i])), y[i]);
	}
	double count = (double)n, variance = (square - sum * sum / count) / count;
	return (power - 1) * stretch - count / 2 * log(fmax(variance, 1e-300));
}

double gp_values_even_out(double *y, size_t n, bool bent)
{
	double *sorted = mem_resize(NULL, n, sizeof(double)), best = 1, most = -INFINITY;
	memcpy(sorted, y, n * sizeof(double));
	qsort(sorted, n, sizeof(double), num_compare_reals);
	double quarter = sorted[n / 4], upper = sorted[3 * n / 4];
	double limit = upper > quarter ? upper + 3 * (upper - quarter) : INFINITY;
	free(sorted);
	for (size_t i = 0; i < n; i++)
		y[i] = fmin(y[i], limit);
	values_standardise(y, n);
	if (!bent)
		return 0;
	for (int i = 0; i <= POWERS; i++) {
		double power = 1 + (POWER_LEAST - 1) * i / POWERS, value = values_normality(y, n, power);
		if (value > most) {
			most = value;
			best = power;
		}
	}
	for (size_t i = 0; i < n; i++)
		y[i] = values_bend(y[i], best);
	values_standardise(y, n);
	return most;
}
