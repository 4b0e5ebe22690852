/* Limits on metrics: what every strategy makes of results beyond them, and how the model keeps to them. */
#include "drive.h"

#define SQUARE "a: {min: 0.0, max: 1.0}\nb: {min: 0.0, max: 1.0}\n"

static struct search *open_limited(const struct space *space, struct search_spec **ret_spec, const char *search,
				   size_t objectives, const struct search_limit *limits, size_t count)
{
	*ret_spec = drive_spec(search, NULL, space, objectives);
	search_set_limits(*ret_spec, limits, count);
	return drive_open(*ret_spec, space);
}

static void a_result_beyond_a_limit_is_worse_than_any_within(void **state)
{
	(void)state;
	struct space *space = drive_space(SQUARE);
	struct search_spec *spec;
	const struct search_limit limits[] = {{.bound = 10}, {.bound = 0.5, .at_least = true}};
	struct search *search = open_limited(space, &spec, "{strategy: random, tasks: 20}", 1, limits, 2);
	/* value, then the two metrics */
	const double told[][3] = {{900, 10, 0.5}, {1, 11, 0.9},        {1, 9, 0.4},
				  {1, 30, 0.1},   {-1e30, 1e300, 0.5}, {5, 3, 2}};
	struct space_value values[2];
	for (int64_t i = 0; i < (int64_t)COUNT_OF(told); i++) {
		struct search_proposal p = {.values = values};
		assert_int_equal(search_ask(search, i + 1, &p), SEARCH_PROPOSED);
		search_tell(search, i + 1, SEARCH_FINISHED, told[i]);
	}
	struct search_trial *const *t = search->trials.at;
	assert_true(!t[0]->beyond && t[1]->beyond && t[2]->beyond && t[3]->beyond && t[4]->beyond && !t[5]->beyond);
	assert_true(t[0]->score[0] == 900 && t[5]->score[0] == 5);
	for (int i = 1; i <= 4; i++)
		assert_true(t[i]->score[0] > t[0]->score[0] && isfinite(t[i]->score[0]));
	assert_true(t[1]->score[0] < t[2]->score[0] && t[2]->score[0] < t[3]->score[0] &&
		    t[3]->score[0] < t[4]->score[0]); /* the nearer the better */
	assert_true(t[4]->measured[0] == -1e30);
	search_free(search);
	search_spec_free(spec);
	space_free(space);
}

static void a_limit_without_a_value_is_a_failure_unless_it_was_pruned(void **state)
{
	(void)state;
	struct space *space = drive_space(SQUARE);
	struct search_spec *spec;
	const struct search_limit limit = {.bound = 10};
	struct search *search = open_limited(space, &spec, "{strategy: random, tasks: 20}", 1, &limit, 1);
	struct space_value values[2];
	for (int64_t i = 1; i <= 2; i++) {
		struct search_proposal p = {.values = values};
		assert_int_equal(search_ask(search, i, &p), SEARCH_PROPOSED);
		search_tell(search, i, i == 1 ? SEARCH_FINISHED : SEARCH_PRUNED, (double[]){1, NAN});
	}
	assert_int_equal(search->trials.at[0]->state, SEARCH_TRIAL_FAILED);
	assert_int_equal(search->trials.at[1]->state, SEARCH_TRIAL_PRUNED);
	assert_false(search->trials.at[1]->beyond);
	search_free(search);
	search_spec_free(spec);
	space_free(space);
}

static void of_several_repeats_the_worst_counts(void **state)
{
	(void)state;
	struct space *space = drive_space(SQUARE);
	struct search_spec *spec = drive_spec("{strategy: random, tasks: 20}", NULL, space, 1);
	const struct search_limit limit = {.bound = 10};
	spec->repeats = 2;
	search_set_limits(spec, &limit, 1);
	struct search *search = drive_open(spec, space);
	struct space_value values[2];
	for (int64_t i = 1; i <= 2; i++) {
		struct search_proposal p = {.values = values};
		assert_int_equal(search_ask(search, i, &p), SEARCH_PROPOSED);
		search_tell(search, i, SEARCH_FINISHED, (double[]){1, i == 1 ? 11 : 2});
	}
	assert_true(search->trials.at[0]->beyond && search->trials.at[0]->measured[0] == 1);
	search_free(search);
	search_spec_free(spec);
	space_free(space);
}

/* The least is at (0.9, 0.9); the limit allows a + b <= 1. The best within is at (0.5, 0.5). */
static double run_limited(const char *text, double bound, int tasks, double *ret_beyond)
{
	struct space *space = drive_space(SQUARE);
	struct search_spec *spec;
	const struct search_limit limit = {.bound = bound};
	struct search *search = open_limited(space, &spec, text, 1, &limit, 1);
	struct space_value values[2];
	double best = INFINITY;
	*ret_beyond = 0;
	for (int64_t i = 1; i <= tasks; i++) {
		struct search_proposal p = {.values = values};
		if (search_ask(search, i, &p) != SEARCH_PROPOSED)
			break;
		double a = values[0].real, b = values[1].real, cost = a + b;
		double told[2] = {(a - 0.9) * (a - 0.9) + (b - 0.9) * (b - 0.9), cost};
		search_tell(search, i, SEARCH_FINISHED, told);
		if (cost <= bound)
			best = fmin(best, told[0]);
		else if (2 * i > tasks)
			*ret_beyond += 1;
	}
	search_free(search);
	search_spec_free(spec);
	space_free(space);
	return best;
}

static void the_model_finds_the_best_within_a_limit(void **state)
{
	(void)state;
	double beyond, least = 2 * 0.4 * 0.4;
	double found = run_limited("{strategy: gp, tasks: 40, seed: 3}", 1, 40, &beyond);
	print_message("# least %g, found %g, %g of the last 20 are beyond\n", least, found, beyond);
	assert_true(found < least + 0.02 && found >= least - 1e-9);
	assert_true(beyond <= 15); /* the best lies on the border itself */
	/* As long as nothing is within, it looks for that: a share of 0.005 of the square. */
	found = run_limited("{strategy: gp, tasks: 30, seed: 4}", 0.1, 30, &beyond);
	assert_true(isfinite(found));
}

/* All strategies that learn: with a limit they end within it, and near the best there. */
static void every_strategy_that_learns_keeps_a_limit(void **state)
{
	(void)state;
	for (const struct strategy *s = search_strategies; s->name; s++) {
		char text[100];
		double beyond;
		if (!(s->capabilities & SEARCH_ADAPTIVE) || (s->capabilities & SEARCH_MULTI_FIDELITY))
			continue;
		bool quick = strcmp(s->name, "gp") == 0;
		snprintf(text, sizeof(text), "{strategy: %s, tasks: %d, seed: 5}", s->name, quick ? 40 : 400);
		double found = run_limited(text, 1, quick ? 40 : 400, &beyond);
		print_message("# %s: %g\n", s->name, found);
		assert_true(found >= 0.32 - 1e-9 && found < 0.36);
	}
}

/* The same sequence again, with all but the last asks recalled, gives the same last proposals. */
static void a_search_with_limits_replays(void **state)
{
	(void)state;
	for (int objectives = 1; objectives <= 2; objectives++) {
		struct space *space = drive_space(SQUARE "k: [x, y, z]\n");
		struct search_spec *spec;
		const struct search_limit limits[] = {{.bound = 1}, {.bound = 0.1, .at_least = true}};
		struct search *first = open_limited(space, &spec, "{strategy: gp, tasks: 30, seed: 7}",
						    (size_t)objectives, limits, 2);
		struct space_value all[24][3], again[3];
		double told[24][4];
		for (int64_t i = 1; i <= 24; i++) {
			struct search_proposal p = {.values = all[i - 1]};
			assert_int_equal(search_ask(first, i, &p), SEARCH_PROPOSED);
			double a = all[i - 1][0].real, b = all[i - 1][1].real;
			told[i - 1][0] = (a - 0.9) * (a - 0.9) + b;
			told[i - 1][1] = objectives == 1 ? a + b : 1 - b;
			told[i - 1][2] = objectives == 1 ? a : a + b;
			told[i - 1][3] = a;
			if (i > 2)
				search_tell(first, i - 2, i % 9 ? SEARCH_FINISHED : SEARCH_FAILED, told[i - 3]);
		}
		for (int from = 4; from <= 24; from += 5) {
			struct search *second = drive_open(spec, space);
			for (int64_t i = 1; i <= 24; i++) {
				struct search_proposal p = {.values = again};
				memcpy(again, all[i - 1], sizeof(again));
				assert_int_equal(i < from ? search_recall(second, i, &p) : search_ask(second, i, &p),
						 SEARCH_PROPOSED);
				assert_true(space_equal(space, again, all[i - 1]));
				if (i > 2)
					search_tell(second, i - 2, i % 9 ? SEARCH_FINISHED : SEARCH_FAILED,
						    told[i - 3]);
			}
			search_free(second);
		}
		search_free(first);
		search_spec_free(spec);
		space_free(space);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_result_beyond_a_limit_is_worse_than_any_within),
		cmocka_unit_test(a_limit_without_a_value_is_a_failure_unless_it_was_pruned),
		cmocka_unit_test(of_several_repeats_the_worst_counts),
		cmocka_unit_test(the_model_finds_the_best_within_a_limit),
		cmocka_unit_test(every_strategy_that_learns_keeps_a_limit),
		cmocka_unit_test(a_search_with_limits_replays),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
