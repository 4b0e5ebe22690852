/* Which parameters matter, and how the best result improved over time: pure functions of finished runs. */
#ifndef SEARCH_IMPORTANCE_H
#define SEARCH_IMPORTANCE_H

#include "space/space.h"

/* The best tenth of fewer is a single run, which says nothing of a parameter. */
#define IMPORTANCE_RUNS_LEAST 20

struct importance_run {
	int64_t id;
	const struct space_value *values; /* space->count of them */
	const double *scores; /* as the script reported them; a run without numbers is left out */
};

/* `without`: the index of a parameter that is left out (the fidelity: longer runs are better, which says nothing of
 * what to choose); -1: none. A list, the most important first: {"parameter", "importance" (shares that sum to
 * 1), "score" (what they are shares of), "runs" (how many had the parameter and a result)}. Parameters that do not vary are
 * left out; an empty list where fewer than IMPORTANCE_RUNS_LEAST runs have a result. */
void importance_write(const struct space *space, const struct importance_run *runs, size_t count, size_t objectives,
		      const bool *maximise, long without, struct json *out);
/* The score alone, one per parameter of the space (NAN where it says nothing); returns the runs that were
 * counted. */
size_t importance_scores(const struct space *space, const struct importance_run *runs, size_t count, size_t objectives,
			 const bool *maximise, double *ret_scores);

#endif
