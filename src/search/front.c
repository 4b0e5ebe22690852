/* Non-dominated sorting: see front.h. Populations are about a hundred, so that the plain quadratic
 * algorithms are the fast ones. */
#include "search/front.h"

#include <math.h>

bool front_dominates(const double *a, const double *b, size_t objectives)
{
	bool better = false;
	for (size_t k = 0; k < objectives; k++) {
		if (a[k] > b[k])
			return false;
		better = better || a[k] < b[k];
	}
	return better;
}

void front_rank(struct search_trial *const *trials, size_t count, size_t objectives, size_t *ret_rank)
{
	for (size_t i = 0; i < count; i++)
		ret_rank[i] = SIZE_MAX;
	for (size_t rank = 0, left = count; left; rank++) {
		size_t before = left;
		for (size_t i = 0; i < count; i++) {
			bool free_of = ret_rank[i] == SIZE_MAX;
			for (size_t j = 0; j < count && free_of; j++)
				if (ret_rank[j] >= rank && j != i)
					free_of = !front_dominates(trials[j]->score, trials[i]->score, objectives);
			if (free_of) {
				ret_rank[i] = rank;
				left--;
			}
		}
		if (left == before)
			return; /* not possible for an order; never loop for ever */
	}
}

/* The members of one rank by ascending objective k. */
static void sort_by(struct search_trial *const *trials, size_t *at, size_t n, size_t k)
{
	for (size_t i = 1; i < n; i++) {
		size_t moved = at[i], j = i;
		for (; j && trials[at[j - 1]]->score[k] > trials[moved]->score[k]; j--)
			at[j] = at[j - 1];
		at[j] = moved;
	}
}

void front_crowding(struct search_trial *const *trials, size_t count, size_t objectives,
		    const size_t *rank, double *ret_crowding)
{
	size_t *at = mem_alloc(count * sizeof(*at) + 1), last = 0;
	for (size_t i = 0; i < count; i++) {
		ret_crowding[i] = 0;
		last = rank[i] > last ? rank[i] : last;
	}
	for (size_t r = 0; r <= last; r++) {
		size_t n = 0;
		for (size_t i = 0; i < count; i++)
			if (rank[i] == r)
				at[n++] = i;
		for (size_t k = 0; k < objectives && n; k++) {
			sort_by(trials, at, n, k);
			double low = trials[at[0]]->score[k], high = trials[at[n - 1]]->score[k];
			ret_crowding[at[0]] = ret_crowding[at[n - 1]] = INFINITY;
			for (size_t i = 1; i + 1 < n && high > low && isfinite(high); i++)
				ret_crowding[at[i]] +=
					(trials[at[i + 1]]->score[k] - trials[at[i - 1]]->score[k]) / (high - low);
		}
	}
	free(at);
}

/* The one to go: of the worst rank the most crowded; of equals the latest. */
static size_t worst(const size_t *rank, const double *crowding, size_t count)
{
	size_t found = 0;
	for (size_t i = 1; i < count; i++)
		if (rank[i] > rank[found] || (rank[i] == rank[found] && crowding[i] <= crowding[found]))
			found = i;
	return found;
}

size_t front_cut(struct search_trial **trials, size_t count, size_t objectives, size_t most)
{
	if (count <= most)
		return count;
	size_t *rank = mem_alloc(count * sizeof(*rank));
	double *crowding = mem_alloc(count * sizeof(*crowding));
	front_rank(trials, count, objectives, rank);
	while (count > most) {
		front_crowding(trials, count, objectives, rank, crowding);
		size_t gone = worst(rank, crowding, count);
		memmove(trials + gone, trials + gone + 1, (count - gone - 1) * sizeof(*trials));
		memmove(rank + gone, rank + gone + 1, (count - gone - 1) * sizeof(*rank));
		count--;
	}
	free(rank);
	free(crowding);
	return count;
}
