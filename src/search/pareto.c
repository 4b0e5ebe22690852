/* Fronts and volumes: see pareto.h. */
#include "search/pareto.h"

#include <math.h>

bool pareto_dominates(const double *a, const double *b, size_t objectives)
{
	bool better = false;
	for (size_t i = 0; i < objectives; i++) {
		if (a[i] > b[i])
			return false;
		better = better || a[i] < b[i];
	}
	return better;
}

struct row {
	const double *score;
	size_t objectives, index;
};

/* By the first objective, then the second, ...; the index makes the order total. */
static int pareto_compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	for (size_t i = 0; i < x->objectives; i++)
		if (x->score[i] != y->score[i])
			return x->score[i] < y->score[i] ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static struct row *pareto_sorted_rows(const double *scores, size_t count, size_t objectives, const size_t *members)
{
	struct row *rows = mem_resize(NULL, count + 1, sizeof(*rows));
	for (size_t i = 0; i < count; i++) {
		size_t at = members ? members[i] : i;
		rows[i] = (struct row){scores + at * objectives, objectives, at};
	}
	qsort(rows, count, sizeof(*rows), pareto_compare_rows);
	return rows;
}

static bool pareto_equal_rows(const struct row *a, const struct row *b)
{
	for (size_t i = 0; i < a->objectives; i++)
		if (a->score[i] != b->score[i])
			return false;
	return true;
}

/* Two objectives: along the first, the second of the last member of a front is its least, and the
 * fronts' leasts ascend, so that the front a point belongs to is found by bisection. */
static void pareto_rank_two(const struct row *rows, size_t count, uint32_t *ranks)
{
	double *tails = mem_resize(NULL, count + 1, sizeof(*tails));
	size_t fronts = 0;
	for (size_t i = 0; i < count; i++) {
		if (i && pareto_equal_rows(&rows[i - 1], &rows[i])) {
			ranks[rows[i].index] = ranks[rows[i - 1].index];
			continue;
		}
		double second = rows[i].score[rows[i].objectives - 1];
		size_t low = 0, high = fronts;
		while (low < high) {
			size_t middle = (low + high) / 2;
			if (tails[middle] <= second)
				low = middle + 1;
			else
				high = middle;
		}
		tails[low] = second;
		fronts += low == fronts;
		ranks[rows[i].index] = (uint32_t)low;
	}
	free(tails);
}

/* More objectives (Zhang et al. 2015, ENS): in sorted order a point is only dominated by earlier ones;
 * it joins the first front no member of which dominates it. Members of a front are a chain through
 * `before`, the latest first. */
static void pareto_rank_many(const struct row *rows, size_t count, size_t objectives, uint32_t *ranks)
{
	size_t *last = mem_resize(NULL, count + 1, sizeof(*last));
	size_t *before = mem_resize(NULL, count + 1, sizeof(*before));
	size_t fronts = 0;
	for (size_t i = 0; i < count; i++) {
		size_t front = 0;
		for (; front < fronts; front++) {
			size_t k = last[front];
			while (k != SIZE_MAX && !pareto_dominates(rows[k].score, rows[i].score, objectives))
				k = before[k];
			if (k == SIZE_MAX)
				break;
		}
		before[i] = front < fronts ? last[front] : SIZE_MAX;
		last[front] = i;
		fronts += front == fronts;
		ranks[rows[i].index] = (uint32_t)front;
	}
	free(last);
	free(before);
}

void pareto_rank(const double *scores, size_t count, size_t objectives, uint32_t *ret_ranks)
{
	struct row *rows = pareto_sorted_rows(scores, count, objectives, NULL);
	if (objectives == 2)
		pareto_rank_two(rows, count, ret_ranks);
	else if (objectives > 2)
		pareto_rank_many(rows, count, objectives, ret_ranks);
	for (size_t i = 0; i < count && objectives == 1; i++) {
		uint32_t before = i ? ret_ranks[rows[i - 1].index] : 0;
		ret_ranks[rows[i].index] = before + (i && !pareto_equal_rows(&rows[i - 1], &rows[i]));
	}
	free(rows);
}

struct crowd {
	double score;
	size_t at;
};

static int pareto_compare_crowd(const void *a, const void *b)
{
	const struct crowd *x = a, *y = b;
	if (x->score != y->score)
		return x->score < y->score ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

void pareto_crowding(const double *scores, size_t objectives, const size_t *members, size_t count, double *ret_distance)
{
	struct crowd *line = mem_resize(NULL, count + 1, sizeof(*line));
	for (size_t i = 0; i < count; i++)
		ret_distance[i] = 0;
	for (size_t m = 0; m < objectives && count; m++) {
		for (size_t i = 0; i < count; i++)
			line[i] = (struct crowd){scores[members[i] * objectives + m], i};
		qsort(line, count, sizeof(*line), pareto_compare_crowd);
		double range = line[count - 1].score - line[0].score;
		ret_distance[line[0].at] = ret_distance[line[count - 1].at] = INFINITY;
		for (size_t i = 1; i + 1 < count && range > 0 && isfinite(range); i++)
			ret_distance[line[i].at] += (line[i + 1].score - line[i - 1].score) / range;
	}
	free(line);
}

/* rows sorted by the first objective. */
static double pareto_volume_two(const struct row *rows, size_t count, const double *reference)
{
	double volume = 0, least = reference[1];
	for (size_t i = 0; i < count; i++) {
		if (rows[i].score[0] >= reference[0] || rows[i].score[1] >= least)
			continue;
		volume += (reference[0] - rows[i].score[0]) * (least - rows[i].score[1]);
		least = rows[i].score[1];
	}
	return volume;
}

static int pareto_compare_third(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	if (x->score[2] != y->score[2])
		return x->score[2] < y->score[2] ? -1 : 1;
	return pareto_compare_rows(a, b);
}

/* Three objectives: upwards along the third, the area of the staircase of what lies below. */
static double pareto_volume_three(struct row *rows, size_t count, const double *reference)
{
	struct row *stairs = mem_resize(NULL, count + 1, sizeof(*stairs));
	size_t steps = 0;
	double volume = 0;
	qsort(rows, count, sizeof(*rows), pareto_compare_third);
	for (size_t i = 0; i < count; i++) {
		size_t at = steps;
		while (at > 0 && pareto_compare_rows(&stairs[at - 1], &rows[i]) > 0)
			at--;
		memmove(stairs + at + 1, stairs + at, (steps - at) * sizeof(*stairs));
		stairs[at] = rows[i];
		steps++;
		double top = i + 1 < count ? fmin(rows[i + 1].score[2], reference[2]) : reference[2];
		if (top > rows[i].score[2])
			volume += (top - rows[i].score[2]) * pareto_volume_two(stairs, steps, reference);
	}
	free(stairs);
	return volume;
}

/* What `point` adds to `others`: its box less what of it they cover (While et al. 2012, exclhv). */
static double pareto_exclusive(const double *point, const double *others, size_t count, size_t objectives,
			       const double *reference)
{
	double box = 1;
	for (size_t m = 0; m < objectives; m++)
		box *= fmax(reference[m] - point[m], 0);
	if (box <= 0 || !count)
		return box;
	double *limited = mem_resize(NULL, count * objectives, sizeof(*limited));
	for (size_t i = 0; i < count; i++)
		for (size_t m = 0; m < objectives; m++)
			limited[i * objectives + m] = fmax(others[i * objectives + m], point[m]);
	struct pareto_front front = {.objectives = objectives};
	for (size_t i = 0; i < count; i++)
		pareto_add(&front, limited + i * objectives, i);
	box -= pareto_hypervolume(front.scores.at, front.ids.len, objectives, reference);
	pareto_clear(&front);
	free(limited);
	return box > 0 ? box : 0;
}

double pareto_hypervolume(const double *scores, size_t count, size_t objectives, const double *reference)
{
	double volume = 0;
	if (objectives > 3) {
		for (size_t i = 0; i < count; i++)
			volume += pareto_exclusive(scores + i * objectives, scores + (i + 1) * objectives,
						   count - i - 1, objectives, reference);
		return volume;
	}
	struct row *rows = pareto_sorted_rows(scores, count, objectives, NULL);
	if (objectives == 1)
		volume = count ? fmax(reference[0] - rows[0].score[0], 0) : 0;
	else
		volume = objectives == 2 ? pareto_volume_two(rows, count, reference)
					 : pareto_volume_three(rows, count, reference);
	free(rows);
	return volume;
}

static void pareto_reference_of(const double *scores, size_t objectives, const size_t *members, size_t count,
				double *ret)
{
	for (size_t m = 0; m < objectives; m++) {
		double worst = -INFINITY;
		for (size_t i = 0; i < count; i++)
			worst = fmax(worst, scores[members[i] * objectives + m]);
		ret[m] = worst == 0 ? 1e-12 : fmax(1.1 * worst, 0.9 * worst);
	}
}

void pareto_greedy(const double *scores, size_t objectives, const size_t *members, size_t count, size_t want,
		   size_t *ret)
{
	double *reference = mem_resize(NULL, objectives, sizeof(double));
	double *bound = mem_resize(NULL, count + 1, sizeof(double));
	double *chosen = mem_resize(NULL, want * objectives + 1, sizeof(double));
	size_t *fresh = mem_resize(NULL, count + 1, sizeof(size_t));
	pareto_reference_of(scores, objectives, members, count, reference);
	for (size_t i = 0; i < count; i++) {
		bound[i] = pareto_exclusive(scores + members[i] * objectives, NULL, 0, objectives, reference);
		fresh[i] = 0;
	}
	/* What a point adds only shrinks as others are chosen: an old value is a bound, and only the best
	 * bound has to be computed again. */
	for (size_t k = 0; k < want;) {
		size_t best = SIZE_MAX;
		for (size_t i = 0; i < count; i++)
			if (fresh[i] != SIZE_MAX && (best == SIZE_MAX || bound[i] > bound[best]))
				best = i;
		const double *row = scores + members[best] * objectives;
		if (fresh[best] < k) {
			bound[best] = pareto_exclusive(row, chosen, k, objectives, reference);
			fresh[best] = k;
			continue;
		}
		memcpy(chosen + k * objectives, row, objectives * sizeof(double));
		ret[k++] = members[best];
		fresh[best] = SIZE_MAX;
	}
	free(reference);
	free(bound);
	free(chosen);
	free(fresh);
}

void pareto_select(const double *scores, size_t count, size_t objectives, size_t want, size_t *ret)
{
	uint32_t *ranks = mem_resize(NULL, count + 1, sizeof(*ranks));
	size_t *members = mem_resize(NULL, count + 1, sizeof(*members));
	pareto_rank(scores, count, objectives, ranks);
	size_t taken = 0;
	for (uint32_t rank = 0; taken < want; rank++) {
		size_t n = 0;
		for (size_t i = 0; i < count; i++)
			if (ranks[i] == rank)
				members[n++] = i;
		if (taken + n <= want)
			memcpy(ret + taken, members, n * sizeof(*members));
		else
			pareto_greedy(scores, objectives, members, n, want - taken, ret + taken);
		taken += taken + n <= want ? n : want - taken;
	}
	free(ranks);
	free(members);
}

bool pareto_add(struct pareto_front *front, const double *score, size_t id)
{
	size_t m = front->objectives, depth = front->depth ? front->depth : 1, above = 0, kept = 0;
	for (size_t i = 0; i < front->ids.len && above < depth; i++)
		above += pareto_dominates(front->scores.at + i * m, score, m);
	if (above >= depth)
		return false;
	for (size_t i = 0; i < front->ids.len; i++) {
		front->above.at[i] += pareto_dominates(score, front->scores.at + i * m, m);
		if (front->above.at[i] >= depth)
			continue;
		memmove(front->scores.at + kept * m, front->scores.at + i * m, m * sizeof(double));
		front->above.at[kept] = front->above.at[i];
		front->ids.at[kept++] = front->ids.at[i];
	}
	front->ids.len = front->above.len = kept;
	front->scores.len = kept * m;
	vec_push(&front->ids, id);
	vec_push(&front->above, above);
	for (size_t i = 0; i < m; i++)
		vec_push(&front->scores, score[i]);
	return true;
}

void pareto_clear(struct pareto_front *front)
{
	free(front->scores.at);
	free(front->ids.at);
	free(front->above.at);
	*front = (struct pareto_front){.objectives = front->objectives, .depth = front->depth};
}
