/* The population that NSGA-II and GDE3 share: results kept by rank and crowding. Steady state: the moment
 * a result comes it competes, and the worst of one too many leaves, so that no slot ever idles. */
#ifndef SEARCH_CROWD_H
#define SEARCH_CROWD_H

#include "search/search_internal.h"

struct crowd {
	size_t most;
	VEC(const struct search_trial *) members;
	/* Of the members, up to date: */
	uint32_t *ranks;
	double *crowding;
};

struct crowd *crowd_new(size_t most);
void crowd_free(struct crowd *crowd);
/* Is member a to be preferred to member b: the lower rank, then the lonelier? */
bool crowd_prefers(const struct crowd *crowd, size_t a, size_t b);
void crowd_add(struct crowd *crowd, const struct search *search, const struct search_trial *trial);
void crowd_replace(struct crowd *crowd, const struct search *search, size_t member,
		   const struct search_trial *trial);
/* Where the trial with this index is; SIZE_MAX when it is no member. */
size_t crowd_find(const struct crowd *crowd, int64_t index);
/* Members of the strategy's state: population, front. */
void crowd_write(const struct crowd *crowd, struct json *out);

#endif
