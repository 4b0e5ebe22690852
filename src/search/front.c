/* Fronts of trials: pareto.h does the work on rows of scores. */
#include "search/front.h"

#include "search/pareto.h"

bool front_dominates(const double *a, const double *b, size_t objectives)
{
	return pareto_dominates(a, b, objectives);
}

static double *front_gather(struct search_trial *const *trials, size_t count, size_t objectives)
{
	double *rows = mem_resize(NULL, count * objectives + 1, sizeof(*rows));
	for (size_t i = 0; i < count; i++)
		memcpy(rows + i * objectives, trials[i]->score, objectives * sizeof(*rows));
	return rows;
}

void front_rank(struct search_trial *const *trials, size_t count, size_t objectives, size_t *ret_rank)
{
	double *rows = front_gather(trials, count, objectives);
	uint32_t *ranks = mem_resize(NULL, count + 1, sizeof(*ranks));
	pareto_rank(rows, count, objectives, ranks);
	for (size_t i = 0; i < count; i++)
		ret_rank[i] = ranks[i];
	free(rows);
	free(ranks);
}

void front_crowding(struct search_trial *const *trials, size_t count, size_t objectives, const size_t *rank,
		    double *ret_crowding)
{
	double *rows = front_gather(trials, count, objectives), *distance = mem_resize(NULL, count + 1, sizeof(double));
	size_t *at = mem_resize(NULL, count + 1, sizeof(*at)), last = 0;
	for (size_t i = 0; i < count; i++)
		last = rank[i] > last ? rank[i] : last;
	for (size_t r = 0; r <= last; r++) {
		size_t n = 0;
		for (size_t i = 0; i < count; i++)
			if (rank[i] == r)
				at[n++] = i;
		pareto_crowding(rows, objectives, at, n, distance);
		for (size_t i = 0; i < n; i++)
			ret_crowding[at[i]] = distance[i];
	}
	free(rows);
	free(distance);
	free(at);
}

/* The one to go: of the worst rank the most crowded; of equals the latest. */
static size_t front_worst(const size_t *rank, const double *crowding, size_t count)
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
	size_t *rank = mem_array(count, sizeof(*rank));
	double *crowding = mem_array(count, sizeof(*crowding));
	front_rank(trials, count, objectives, rank);
	while (count > most) {
		front_crowding(trials, count, objectives, rank, crowding);
		size_t gone = front_worst(rank, crowding, count);
		memmove(trials + gone, trials + gone + 1, (count - gone - 1) * sizeof(*trials));
		memmove(rank + gone, rank + gone + 1, (count - gone - 1) * sizeof(*rank));
		count--;
	}
	free(rank);
	free(crowding);
	return count;
}
