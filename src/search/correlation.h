/* Measures how similar two rankings are. Pure. */
#ifndef SEARCH_CORRELATION_H
#define SEARCH_CORRELATION_H

#include <stddef.h>

/* Spearman's rank correlation of `count` pairs; equal values share the mean of their ranks. NAN for fewer than
 * three pairs, or where one side does not vary. The numbers must not be NaN. */
double correlation_of_ranks(const double *a, const double *b, size_t count);

#endif
