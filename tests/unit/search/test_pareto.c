/* Fronts and volumes against brute force on random sets, ties and infinities included. */
#include "base/rng.h"
#include "search/pareto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <math.h>

/* Small whole numbers, so that equal values are common. */
static void random_scores(struct rng *rng, double *scores, size_t count, size_t objectives, bool infinite)
{
	for (size_t i = 0; i < count * objectives; i++)
		scores[i] = (double)rng_below(rng, 12) / 2;
	for (size_t i = 0; infinite && i < count; i++)
		for (size_t m = 0; rng_below(rng, 6) == 0 && m < objectives; m++)
			scores[i * objectives + m] = INFINITY;
}

static void ranks_are_those_of_peeling_fronts(void **state)
{
	(void)state;
	struct rng rng;
	rng_seed(&rng, 1);
	for (int round = 0; round < 600; round++) {
		size_t count = 1 + rng_below(&rng, 40), objectives = 1 + rng_below(&rng, 4), left = count;
		double scores[40 * 4];
		uint32_t ranks[40], want[40];
		random_scores(&rng, scores, count, objectives, true);
		pareto_rank(scores, count, objectives, ranks);
		for (size_t i = 0; i < count; i++)
			want[i] = UINT32_MAX;
		for (uint32_t rank = 0; left; rank++) {
			bool front[40];
			for (size_t i = 0; i < count; i++) {
				front[i] = want[i] == UINT32_MAX;
				for (size_t k = 0; k < count; k++)
					if (want[k] == UINT32_MAX &&
					    pareto_dominates(scores + k * objectives, scores + i * objectives,
							     objectives))
						front[i] = false;
			}
			for (size_t i = 0; i < count; i++)
				if (front[i])
					want[i] = rank, left--;
		}
		assert_memory_equal(ranks, want, count * sizeof(*ranks));
	}
}

/* Counts the unit cells below the reference that some row dominates. */
static double brute_volume(const double *scores, size_t count, size_t objectives, int side)
{
	double volume = 0;
	int cells = 1;
	for (size_t m = 0; m < objectives; m++)
		cells *= side;
	for (int cell = 0; cell < cells; cell++) {
		bool covered = false;
		for (size_t i = 0; i < count && !covered; i++) {
			covered = true;
			for (size_t m = 0, rest = (size_t)cell; m < objectives; m++, rest /= (size_t)side)
				covered = covered && scores[i * objectives + m] <= (double)(rest % (size_t)side);
		}
		volume += covered;
	}
	return volume;
}

static void hypervolume_counts_the_dominated_cells(void **state)
{
	(void)state;
	struct rng rng;
	rng_seed(&rng, 2);
	const double reference[5] = {7, 7, 7, 7, 7};
	for (int round = 0; round < 400; round++) {
		size_t count = rng_below(&rng, 15), objectives = 1 + rng_below(&rng, 5);
		double scores[15 * 5];
		for (size_t i = 0; i < count * objectives; i++)
			scores[i] = (double)rng_below(&rng, 9); /* some lie beyond the reference */
		assert_float_equal(pareto_hypervolume(scores, count, objectives, reference),
				   brute_volume(scores, count, objectives, 7), 1e-9);
	}
}

static void greedy_takes_what_adds_most(void **state)
{
	(void)state;
	struct rng rng;
	rng_seed(&rng, 3);
	for (int round = 0; round < 100; round++) {
		size_t count = 3 + rng_below(&rng, 20), objectives = 2 + rng_below(&rng, 2),
		       want = 1 + rng_below(&rng, 3);
		double scores[30 * 3], chosen[5 * 3], reference[3];
		size_t members[30], got[5];
		for (size_t i = 0; i < count * objectives; i++)
			scores[i] = rng_unit(&rng) - 0.3;
		for (size_t i = 0; i < count; i++)
			members[i] = i;
		pareto_greedy(scores, objectives, members, count, want, got);
		for (size_t m = 0; m < objectives; m++) {
			double worst = -INFINITY;
			for (size_t i = 0; i < count; i++)
				worst = fmax(worst, scores[i * objectives + m]);
			reference[m] = fmax(1.1 * worst, 0.9 * worst);
		}
		for (size_t k = 0; k < want; k++) {
			double best = -1, mine = -1;
			for (size_t i = 0; i < count; i++) {
				memcpy(chosen + k * objectives, scores + i * objectives, objectives * sizeof(double));
				double volume = pareto_hypervolume(chosen, k + 1, objectives, reference);
				best = fmax(best, volume);
				if (i == got[k])
					mine = volume;
			}
			assert_float_equal(mine, best, 1e-12);
			memcpy(chosen + k * objectives, scores + got[k] * objectives, objectives * sizeof(double));
		}
	}
}

static void selection_prefers_lower_ranks(void **state)
{
	(void)state;
	struct rng rng;
	rng_seed(&rng, 4);
	for (int round = 0; round < 200; round++) {
		size_t count = 1 + rng_below(&rng, 30), want = 1 + rng_below(&rng, count), got[30];
		double scores[30 * 2];
		uint32_t ranks[30];
		bool taken[30] = {0};
		random_scores(&rng, scores, count, 2, false);
		pareto_rank(scores, count, 2, ranks);
		pareto_select(scores, count, 2, want, got);
		uint32_t worst = 0;
		for (size_t i = 0; i < want; i++) {
			assert_false(taken[got[i]]);
			taken[got[i]] = true;
			worst = ranks[got[i]] > worst ? ranks[got[i]] : worst;
		}
		for (size_t i = 0; i < count; i++)
			assert_true(taken[i] || ranks[i] >= worst);
	}
}

static void the_kept_front_is_rank_0_of_all(void **state)
{
	(void)state;
	struct rng rng;
	rng_seed(&rng, 5);
	for (int round = 0; round < 300; round++) {
		size_t count = 1 + rng_below(&rng, 40), objectives = 1 + rng_below(&rng, 3);
		double scores[40 * 3];
		uint32_t ranks[40];
		struct pareto_front front = {.objectives = objectives};
		random_scores(&rng, scores, count, objectives, true);
		for (size_t i = 0; i < count; i++)
			pareto_add(&front, scores + i * objectives, i);
		pareto_rank(scores, count, objectives, ranks);
		size_t first = 0;
		for (size_t i = 0; i < count; i++)
			first += ranks[i] == 0;
		assert_int_equal(front.ids.len, first);
		for (size_t i = 0; i < front.ids.len; i++) {
			assert_int_equal(ranks[front.ids.at[i]], 0);
			assert_memory_equal(front.scores.at + i * objectives, scores + front.ids.at[i] * objectives,
					    objectives * sizeof(double));
		}
		pareto_clear(&front);
	}
}

/* What is dominated by as many as are wanted is not needed to choose them: the same rows, in the same order. */
static void a_deep_front_is_enough_to_select_from(void **state)
{
	(void)state;
	struct rng rng;
	rng_seed(&rng, 6);
	for (int round = 0; round < 300; round++) {
		size_t count = 20 + rng_below(&rng, 60), objectives = 1 + rng_below(&rng, 3),
		       want = 1 + rng_below(&rng, 10);
		double scores[80 * 3];
		size_t all[10], kept[10];
		struct pareto_front front = {.objectives = objectives, .depth = 10};
		random_scores(&rng, scores, count, objectives, true);
		for (size_t i = 0; i < count; i++)
			pareto_add(&front, scores + i * objectives, i);
		pareto_select(scores, count, objectives, want, all);
		pareto_select(front.scores.at, front.ids.len, objectives, want, kept);
		assert_true(front.ids.len <= count);
		for (size_t i = 0; i < want; i++)
			assert_int_equal(all[i], front.ids.at[kept[i]]);
		for (size_t i = 0; i < front.ids.len; i++) {
			size_t above = 0;
			for (size_t k = 0; k < count; k++)
				above += pareto_dominates(scores + k * objectives, front.scores.at + i * objectives,
							  objectives);
			assert_int_equal(front.above.at[i], above);
		}
		pareto_clear(&front);
	}
}

/* Four points on a line: the ends are kept at any price, the inner ones have the sides of their box. */
static void crowding_is_the_box_between_the_neighbours(void **state)
{
	(void)state;
	const double scores[] = {0, 10, 1, 6, 3, 5, 10, 0};
	const size_t members[] = {3, 1, 0, 2};
	double distance[4];
	pareto_crowding(scores, 2, members, 4, distance);
	assert_true(distance[0] == INFINITY && distance[2] == INFINITY);
	assert_float_equal(distance[1], 0.3 + 0.5, 1e-12);
	assert_float_equal(distance[3], 0.9 + 0.6, 1e-12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_are_those_of_peeling_fronts),
		cmocka_unit_test(hypervolume_counts_the_dominated_cells),
		cmocka_unit_test(greedy_takes_what_adds_most),
		cmocka_unit_test(selection_prefers_lower_ranks),
		cmocka_unit_test(the_kept_front_is_rank_0_of_all),
		cmocka_unit_test(a_deep_front_is_enough_to_select_from),
		cmocka_unit_test(crowding_is_the_box_between_the_neighbours),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
