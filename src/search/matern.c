/* Matern's kernel: see matern.h. */
#include "search/matern.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define SQRT5 2.23606797749978969641
#define EXP_LEAST -700.0
/* Added to a number below 2^51 it leaves the nearest whole one in the last bits. */
#define ROUNDING 0x1.8p52
#define LN2_HIGH 0x1.62e42fefap-1 /* its last 17 bits are 0: times a small whole number it is exact */
#define LN2_LOW 0x1.cf79abc9e3b39p-40

/* exp(x) = 2^k exp(rest), |rest| <= ln(2) / 2, the second by its series. */
static inline double matern_exp_of(double x)
{
	x = x < EXP_LEAST ? EXP_LEAST : x;
	double shifted = x * M_LOG2E + ROUNDING, k = shifted - ROUNDING;
	double r = x - k * LN2_HIGH - k * LN2_LOW, sum = 1.0 / 6227020800;
	sum = sum * r + 1.0 / 479001600;
	sum = sum * r + 1.0 / 39916800;
	sum = sum * r + 1.0 / 3628800;
	sum = sum * r + 1.0 / 362880;
	sum = sum * r + 1.0 / 40320;
	sum = sum * r + 1.0 / 5040;
	sum = sum * r + 1.0 / 720;
	sum = sum * r + 1.0 / 120;
	sum = sum * r + 1.0 / 24;
	sum = sum * r + 1.0 / 6;
	sum = sum * r + 0.5;
	sum = sum * r + 1;
	sum = sum * r + 1;
	uint64_t power, bits;
	memcpy(&power, &shifted, sizeof(power));
	memcpy(&bits, &sum, sizeof(bits));
	bits += power << 52; /* k more in the exponent */
	memcpy(&sum, &bits, sizeof(sum));
	return sum;
}

void matern_values(double *squared, size_t count, double variance)
{
	for (size_t i = 0; i < count; i++) {
		double r = SQRT5 * sqrt(squared[i]);
		squared[i] = variance * (1 + r + r * r * (1.0 / 3)) * matern_exp_of(-r);
	}
}

void matern_slopes(double *restrict squared, size_t count, double variance, double *restrict ret_slopes)
{
	for (size_t i = 0; i < count; i++) {
		double r = SQRT5 * sqrt(squared[i]), fall = matern_exp_of(-r);
		squared[i] = variance * (1 + r + r * r * (1.0 / 3)) * fall;
		ret_slopes[i] = -5.0 / 6 * variance * (1 + r) * fall;
	}
}
