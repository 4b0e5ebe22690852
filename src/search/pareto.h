/* Several objectives: dominance, fronts, crowding and hypervolume. All scores are minimised and lie in rows of
 * `objectives` numbers; +INFINITY is allowed, NaN is not. */
#ifndef SEARCH_PARETO_H
#define SEARCH_PARETO_H

#include "base/mem.h"

#include <stdbool.h>
#include <stdint.h>

/* True if a is not worse than b in any objective, and better in one. */
bool pareto_dominates(const double *a, const double *b, size_t objectives);
/* Non-dominated sorting: 0 for the front, 1 for the front of the rest, ... Equal rows share a rank. */
void pareto_rank(const double *scores, size_t count, size_t objectives, uint32_t *ret_ranks);
/* Crowding distance (Deb et al. 2002, section III-B) of the rows `members` among themselves. */
void pareto_crowding(const double *scores, size_t objectives, const size_t *members, size_t count,
		     double *ret_distance);
/* The volume that the rows dominate below `reference`; exact for any number of objectives, fast for
 * two and three. */
double pareto_hypervolume(const double *scores, size_t count, size_t objectives, const double *reference);
/* Of the rows `members`, the `want` that greedily add most hypervolume (Guerreiro et al. 2016); the
 * reference is a tenth beyond the worst. Writes `want` of the members, first come best. */
void pareto_greedy(const double *scores, size_t objectives, const size_t *members, size_t count, size_t want,
		   size_t *ret);
/* The `want` best rows: by rank, ties within the last rank by pareto_greedy. want <= count. */
void pareto_select(const double *scores, size_t count, size_t objectives, size_t want, size_t *ret);

/* The front of everything added so far; with `depth`, all rows that fewer than so many others dominate. A caller that
 * wants at most `depth` of the best rows by rank never needs any others. */
struct pareto_front {
	size_t objectives, depth; /* 0 is 1: the front itself */
	VEC(double) scores; /* rows */
	VEC(size_t) ids; /* whose row it is, as given to pareto_add */
	VEC(size_t) above; /* how many dominate it */
};

/* Returns whether the row was added. Rows that are dominated too often are removed. */
bool pareto_add(struct pareto_front *front, const double *score, size_t id);
void pareto_clear(struct pareto_front *front);

#endif
