/* How likely a configuration fails: a Gaussian process over who finished (1) and who failed (-1), whose mean is read as
 * the threshold of a normal distribution. Regions that fail (out of memory, diverged, too long) are learnt as such, and
 * failures here and there only lower the chance a little everywhere. */
#ifndef SEARCH_FEASIBLE_H
#define SEARCH_FEASIBLE_H

#include <stdbool.h>
#include <stddef.h>

struct feasible;

/* unordered must outlive it. */
struct feasible *feasible_new(size_t dims, const bool *unordered);
void feasible_free(struct feasible *feasible);
/* Finds the parameters from points and what became of them: 1 or -1. Those before do not matter. */
void feasible_fit(struct feasible *feasible, const double *x, const double *labels, size_t count);
/* Conditions on such points. As long as none has failed (or none has finished) there is nothing to say, and every weight
 * is 1. */
void feasible_set(struct feasible *feasible, const double *x, const double *labels, size_t count);
/* The logarithm of what an improvement at this point is multiplied with: the chance that a task there finishes, squared;
 * at most 0. */
double feasible_log_weight(struct feasible *feasible, const double *x);
/* Adds its slopes along every ordered axis to `slopes`. Returns the same. */
double feasible_add_slopes(struct feasible *feasible, const double *x, double *slopes);

#endif
