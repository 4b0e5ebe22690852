/* Spearman's rank correlation (C. Spearman, Am. J. Psychology 15 (1904)): Pearson's on the ranks. */
#include "search/correlation.h"

#include "base/mem.h"

#include <math.h>

struct place {
	double value;
	size_t index;
};

static int correlation_compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	return x->value < y->value ? -1 : x->value > y->value;
}

static void correlation_rank(const double *values, size_t count, struct place *places, double *ret)
{
	for (size_t i = 0; i < count; i++)
		places[i] = (struct place){values[i], i};
	qsort(places, count, sizeof(*places), correlation_compare_places);
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && places[end].value == places[i].value;)
			end++;
		for (size_t k = i; k < end; k++)
			ret[places[k].index] = (double)(i + end - 1) / 2;
	}
}

double correlation_of_ranks(const double *a, const double *b, size_t count)
{
	if (count < 3)
		return NAN;
	struct place *places = mem_resize(NULL, count, sizeof(*places));
	double *ra = mem_resize(NULL, 2 * count, sizeof(*ra)), *rb = ra + count;
	double mean = (double)(count - 1) / 2, ab = 0, aa = 0, bb = 0;
	correlation_rank(a, count, places, ra);
	correlation_rank(b, count, places, rb);
	for (size_t i = 0; i < count; i++) {
		ab += (ra[i] - mean) * (rb[i] - mean);
		aa += (ra[i] - mean) * (ra[i] - mean);
		bb += (rb[i] - mean) * (rb[i] - mean);
	}
	free(places);
	free(ra);
	return aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : NAN;
}
