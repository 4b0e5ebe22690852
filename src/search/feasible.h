/* Estimates how likely a configuration fails. A Gaussian process is fitted to tasks that finished (1) and tasks that
 * failed (-1); its mean is used as the threshold of a normal distribution. It learns regions that fail (out of memory,
 * diverged, too long). Scattered failures only lower the chance a little everywhere. */
#ifndef SEARCH_FEASIBLE_H
#define SEARCH_FEASIBLE_H

#include <stdbool.h>
#include <stddef.h>

struct feasible;

/* unordered must live longer than the returned object. */
struct feasible *feasible_new(size_t dims, const bool *unordered);
void feasible_free(struct feasible *feasible);
/* Fits the parameters to points and their labels (1 or -1). Earlier points do not matter. */
void feasible_fit(struct feasible *feasible, const double *x, const double *labels, size_t count);
/* Conditions on such points. As long as none has failed (or none has finished), nothing can be learned, and every
 * weight is 1. */
void feasible_set(struct feasible *feasible, const double *x, const double *labels, size_t count);
/* The logarithm of the weight of an improvement at this point: the squared chance that a task there finishes; at most
 * 0. */
double feasible_log_weight(struct feasible *feasible, const double *x);
/* Adds its slopes along every ordered axis to `slopes`. Returns the same. */
double feasible_add_slopes(struct feasible *feasible, const double *x, double *slopes);

#endif
