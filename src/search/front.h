/* Ranks trials with several objectives: non-dominated sorting and crowding (K. Deb et al., IEEE Trans. Evol. Comp. 6
 * (2002)). With one objective the rank is the order. */
#ifndef SEARCH_FRONT_H
#define SEARCH_FRONT_H

#include "search/search_internal.h"

/* True if a is at least as good as b in every objective, and better in one. */
bool front_dominates(const double *a, const double *b, size_t objectives);
/* ret_rank[i] = 0 for rows that no other dominates, 1 for rows that only those dominate, and so on. */
void front_rank(struct search_trial *const *trials, size_t count, size_t objectives, size_t *ret_rank);
/* The distance to the neighbours within each rank; INFINITY at its ends. */
void front_crowding(struct search_trial *const *trials, size_t count, size_t objectives, const size_t *rank,
		    double *ret_crowding);
/* Keeps the best `most` by rank, then by crowding (the most crowded ones are removed first, one by one, because each
 * removal changes the distances of its neighbours). The remaining ones keep their order. Returns the number kept. */
size_t front_cut(struct search_trial **trials, size_t count, size_t objectives, size_t most);

#endif
