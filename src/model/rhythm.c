/* See rhythm.h. */
#include "model/rhythm.h"

#include <math.h>

#define RHYTHM_STEPS_LEAST 3

/* Student's t at 95 %, one-sided, for n degrees of freedom (Cornish and Fisher's expansion; within 3 % for n >= 2). */
static double rhythm_student(double n)
{
	double z = 1.6448536, cube = z * z * z;
	return z + (cube + z) / (4 * n) + (5 * cube * z * z + 16 * cube + 3 * z) / (96 * n * n);
}

bool rhythm_left(const int64_t *ended_ms, size_t count, double to_go, int64_t now_ms, struct rhythm_left *ret)
{
	size_t most = count > RHYTHM_STEPS_MOST + 1 ? RHYTHM_STEPS_MOST + 1 : count;
	const int64_t *at = ended_ms + (count - most);
	if (most < RHYTHM_STEPS_LEAST + 1 || !(to_go >= 0))
		return false;
	double n = (double)(most - 1), mean = (double)(at[most - 1] - at[0]) / n, squares = 0;
	for (size_t i = 1; i < most; i++) {
		double off = (double)(at[i] - at[i - 1]) - mean;
		squares += off * off;
	}
	if (!(mean > 0))
		return false;
	/* What is not known: the mean itself, and how the steps to come differ from it. */
	double variance = squares / (n - 1), since = (double)(now_ms - at[most - 1]);
	double off = rhythm_student(n - 1) * sqrt(variance * (to_go + to_go * to_go / n));
	double left = mean * to_go - since;
	ret->step_ms = mean;
	ret->median_ms = left > 0 ? left : 0;
	ret->low_ms = left - off > 0 ? left - off : 0;
	ret->high_ms = left + off > 0 ? left + off : 0;
	return true;
}
