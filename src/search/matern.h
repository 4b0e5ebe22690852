/* The Matern 5/2 kernel of many squared distances at once. The compiler takes several of them in one step, which it
 * cannot do with the exp() of the library; and the result is the same on every machine of a kind, which that of the
 * library need not be. */
#ifndef SEARCH_MATERN_H
#define SEARCH_MATERN_H

#include <stddef.h>

/* Squared distances become (1 + r + r^2 / 3) exp(-r) times the variance, where r is sqrt(5) times the distance. */
void matern_values(double *squared, size_t count, double variance);
/* The same, and its derivative by the squared distance, in ret_slopes. */
void matern_slopes(double *squared, size_t count, double variance, double *ret_slopes);

#endif
