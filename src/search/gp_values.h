/* Transforms results before the Gaussian process sees them. */
#ifndef SEARCH_GP_VALUES_H
#define SEARCH_GP_VALUES_H

#include <stdbool.h>
#include <stddef.h>

/* Mean 0, deviation 1. A value far above the others (diverged) is moved closer, because it would hide all important
 * differences. `bent`: then transformed to look as normally distributed as possible, as in HEBO (A. I. Cowen-Rivers et
 * al. 2022), but only so that bad ones move together: a loss that spans decades has its detail where it is small.
 * Returns what that adds to the logarithm of a likelihood of the values. */
double gp_values_even_out(double *values, size_t count, bool bent);

#endif
