/* Estimates how likely a configuration can be used. A Gaussian process is fitted to labels: above 0 is good, below 0 is
 * not; its mean is used as the threshold of a normal distribution. For failures, tasks that finished have the label 1
 * and tasks that failed -1: it learns regions that fail (out of memory, diverged, too long), and scattered failures only
 * lower the chance a little everywhere. For a limit, a label says how far inside of it a result is. */
#ifndef SEARCH_FEASIBLE_H
#define SEARCH_FEASIBLE_H

#include <stdbool.h>
#include <stddef.h>

struct feasible;

enum feasible_kind {
	FEASIBLE_FAILURES, /* labels are 1 or -1, and chance has a part in them */
	FEASIBLE_LIMIT, /* labels are measured */
};

/* unordered must live longer than the returned object. */
struct feasible *feasible_new(size_t dims, const bool *unordered, enum feasible_kind kind);
void feasible_free(struct feasible *feasible);
/* Fits the parameters to points and their labels. Earlier points do not matter. */
void feasible_fit(struct feasible *feasible, const double *x, const double *labels, size_t count);
/* Conditions on such points. As long as all labels are equal (none has failed), nothing can be learned, and every weight
 * is 1. */
void feasible_set(struct feasible *feasible, const double *x, const double *labels, size_t count);
/* The logarithm of the weight of an improvement at this point: the squared chance that the label is above
 * 0; at most 0. */
double feasible_log_weight(struct feasible *feasible, const double *x);
/* Adds its slopes along every ordered axis to `slopes`. Returns the same. */
double feasible_add_slopes(struct feasible *feasible, const double *x, double *slopes);

#endif
